//! The papers' programs, and studies of them. A program is one file, or one and a folder of its name: algorithm,
//! prediction and verification together.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod all_to_all_broadcast;
pub mod broadcast;
pub mod combining;
mod costs;
mod dense;
pub mod digits;
pub mod draw;
mod emulation;
pub mod fft;
pub mod gauss;
pub mod goal;
pub mod lu;
mod median;
mod memory;
pub mod message;
mod program;
pub mod radix_sort;
pub mod remap;
pub mod reproduce;
pub mod rtt;
pub mod scatter;
pub mod study;
pub mod summation;
pub mod transportation;
mod trees;
mod word;

pub use costs::Costs;
pub use emulation::{Course, Emulation, Figure, Outcome, PhaseName};
pub use program::{Algorithm, Case, Plan, Planned, Program, ProgramOption, Refusal, Size};
pub use study::calibration::Calibration;
pub use study::range::Range;
pub use study::stress::STRESS;
pub use study::sweep::Sweep;
pub use study::{Answers, Study};
pub use word::Word;

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
];

/// The documents' examples, which `cargo test` runs. They are links to the documents of the project, so that the packaged
/// crate has them too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/programs.md")]
    struct Programs;
    #[doc = include_str!("../docs/analysis.md")]
    struct Analysis;
}
