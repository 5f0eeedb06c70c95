//! The papers' programs, one file each: algorithm, prediction and verification together.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod broadcast;
mod program;
pub mod scatter;

pub use program::{Algorithm, Case, Outcome, Program, Size};

/// All programs, in the order in which the papers have them.
pub static PROGRAMS: &[&dyn Program] = &[&broadcast::Broadcast, &scatter::Scatter];
