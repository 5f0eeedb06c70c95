//! The library through its public API, in one program, because each program must be linked and instantiates
//! generics.
//!
//! Tests that need a process of their own are in `tests/alone`. `src/cases.rs` has the numbers of random
//! cases.

#![allow(non_snake_case)] // L, S, G, T and P are the papers' names

mod audit;
mod capacity;
#[path = "../../crates/model/src/tests/cases.rs"]
mod cases;
mod checks;
mod child;
mod collectives;
mod derive;
mod drawn;
mod examples;
mod extremes;
mod faults;
mod levels;
#[cfg(target_os = "linux")]
mod limits;
mod link;
mod machine;
mod misbehaved;
mod mpi;
mod noise;
mod one_sided;
mod oracle;
mod recorded;
mod requests;
mod traffic;
