//! The papers' programs, one file each: algorithm, prediction and verification together.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod all_to_all_broadcast;
pub mod broadcast;
pub mod calibrate;
pub mod combining;
mod costs;
pub mod fft;
mod memory;
mod program;
pub mod radix_sort;
pub mod remap;
pub mod scatter;
pub mod stress;
pub mod summation;
mod timeline;
mod word;

pub use costs::Costs;
pub use program::{Algorithm, Case, Figure, Outcome, Program, ProgramOption, Size};
pub use timeline::timeline;
pub use word::Word;

/// All programs, in the order in which the papers have them.
pub static PROGRAMS: &[&dyn Program] = &[
    &broadcast::Broadcast,
    &summation::Summation,
    &all_to_all_broadcast::AllToAllBroadcast,
    &combining::Combining,
    &scatter::Scatter,
    &remap::Remap,
    &fft::Fft,
    &radix_sort::RadixSort,
];

/// The document's example, which `cargo test` runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/programs.md")]
struct Programs;
