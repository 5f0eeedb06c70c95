//! The library through its public API: one program, since each costs a link, and builds for itself what is generic.
//!
//! What cannot stand beside other tests in a process is in `tests/alone`. `src/cases.rs` says how many cases are drawn.

#![allow(non_snake_case)] // L, S, G, T and P are the papers' names

mod audit;
#[path = "../../src/cases.rs"]
mod cases;
mod check;
mod child;
mod collectives;
mod derive;
mod examples;
mod faults;
mod faulty;
mod formula;
mod layers;
mod levels;
#[cfg(target_os = "linux")]
mod limits;
mod link;
mod machine;
mod misbehaved;
mod noise;
mod oracle;
mod protocols;
mod public_api;
mod recorded;
mod requests;
