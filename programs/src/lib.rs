//! The papers' programs. A program is one file or one folder, with its algorithm, its prediction and its
//! verification. `math/` has the mathematics that several programs share.

#![allow(non_snake_case)] // L, G and P are the papers' names

/// Returns a refusal; the arguments are those of `format!`.
#[macro_export]
macro_rules! refuse {
    ($($why:tt)+) => {
        return Err(format!($($why)+).into())
    };
}

pub mod all_to_all_broadcast;
pub mod broadcast;
pub mod combining;
mod emulation;
pub mod fft;
pub mod gauss;
pub mod lu;
pub mod math;
pub mod message;
pub mod option;
mod program;
pub mod radix_sort;
pub mod remap;
pub mod rtt;
pub mod scatter;
pub mod stress;
pub mod summation;
pub mod transportation;

pub use emulation::{ComputeTimes, Emulation, Metric, Outcome, PhaseName, Trend};
pub use math::word::Word;
pub use option::{Opt, OptionInfo, OptionValue, ProgramOption, TimeSpan};
pub use program::{Algorithm, Case, Plan, PlanResult, Program, Refusal, Size};

/// All programs, in the papers' order.
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
