//! The papers' programs. A program is one file of `programs/`, or a folder of it: algorithm, prediction and verification
//! together. What several of them compute lies in `math/`.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod emulation;
pub mod math;
pub mod option;
mod program;
mod programs;

pub use emulation::{Computing, Emulation, Metric, Outcome, PhaseName, Trend};
pub use math::word::Word;
pub use option::{Length, Opt, ProgramOption, Value};
pub use program::{Algorithm, Case, Plan, Planned, Program, Refusal, Size};
pub use programs::*;
