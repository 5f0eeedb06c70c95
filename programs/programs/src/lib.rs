//! The papers' programs. A program is one file of `programs/`, or a folder of it: algorithm, prediction and verification
//! together. What several of them compute lies in `math/`.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod costs;
mod emulation;
pub mod math;
mod program;
mod programs;

pub use costs::Costs;
pub use emulation::{Course, Emulation, Figure, Outcome, PhaseName};
pub use math::word::Word;
pub use program::{Algorithm, Case, Plan, Planned, Program, ProgramOption, Refusal, Size};
pub use programs::*;

/// All programs, in the order in which the papers have them.
pub static PROGRAMS: &[&Program] = &[
    &broadcast::BROADCAST,
    &summation::SUMMATION,
    &all_to_all_broadcast::ALL_TO_ALL_BROADCAST,
    &combining::COMBINING,
    &scatter::SCATTER,
    &remap::REMAP,
    &fft::FFT,
    &radix_sort::RADIX_SORT,
    &lu::LU,
    &gauss::GAUSS,
    &transportation::TRANSPORTATION,
    &rtt::RTT,
    &message::MESSAGE,
    &stress::STRESS,
];

/// The documents' examples, which `cargo test` runs. They are links to the documents of the project, so that the packaged
/// crate has them too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../docs/programs.md")]
    struct Programs;
}
