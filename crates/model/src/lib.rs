//! The heart of the loggp machine: time, parameters, messages, the rules of the LogP family of models, and the log of
//! a run.
//!
//! There is no stack, no thread and no file here, and no form of a file. Whoever plays a program (the machine's
//! clocks, a schedule, a kept order, a check) drives the same [`rules`]. The crate `loggp` names again what its users
//! need; what is hidden in this crate's documentation is for the project's other crates.

#![allow(non_snake_case)] // L, G and P are the papers' names
#![allow(rustdoc::private_intra_doc_links)] // who reads of the rules reads their source

pub mod agenda;
pub mod error;
pub mod log;
pub mod message;
pub mod panics;
pub mod params;
pub mod prefetch;
pub mod rules;
pub mod text;
pub mod time;
pub mod transport;

#[cfg(test)]
#[path = "tests/cases.rs"]
mod cases;
