//! The papers' programs, one file each: algorithm, prediction and verification together.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod broadcast;
pub mod calibrate;
pub mod fft;
mod program;
pub mod scatter;
pub mod stress;
mod timeline;

pub use program::{Algorithm, Case, Figure, Outcome, Program, ProgramOption, Size};
pub use timeline::timeline;

/// All programs, in the order in which the papers have them.
pub static PROGRAMS: &[&dyn Program] = &[&broadcast::Broadcast, &fft::Fft, &scatter::Scatter];

/// The document's example, which `cargo test` runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/programs.md")]
struct Programs;
