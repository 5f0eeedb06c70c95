//! The papers' programs. A program is one file or one folder, with its algorithm, its prediction and its
//! verification. `math/` has the mathematics that several programs share.

#![allow(non_snake_case)] // L, G and P are the papers' names
#![cfg_attr(not(feature = "machine"), allow(dead_code))] // runs use the rest

/// Returns a refusal; the arguments are those of `format!`.
#[macro_export]
macro_rules! refuse {
    ($($why:tt)+) => {
        return Err(format!($($why)+).into())
    };
}

pub mod all_to_all_broadcast;
pub mod broadcast;
mod closed_form;
#[cfg(feature = "machine")]
pub mod combining;
#[cfg(feature = "machine")]
mod emulation;
#[cfg(feature = "machine")]
pub mod fft;
#[cfg(feature = "machine")]
pub mod gauss;
#[cfg(feature = "machine")]
pub mod lu;
pub mod math;
#[cfg(feature = "machine")]
pub mod message;
pub mod option;
mod program;
#[cfg(feature = "machine")]
pub mod radix_sort;
pub mod remap;
#[cfg(feature = "machine")]
pub mod rtt;
pub mod scatter;
pub mod steps;
#[cfg(feature = "machine")]
pub mod stress;
pub mod summation;
mod times;
#[cfg(feature = "machine")]
pub mod transportation;

pub use closed_form::{ClosedForm, FormKind, FormTime, LOGGP, LOGGPS};
#[cfg(feature = "machine")]
pub use emulation::{Emulation, Metric, Outcome};
pub use math::word::Word;
pub use option::{Opt, OptionInfo, OptionValue, ProgramOption, TimeSpan};
pub use program::{Algorithm, Case, CasePlan, Plan, PlanResult, Program, Refusal, Size};
pub use times::{ComputeTimes, PhaseName, Trend};

/// All programs, in the papers' order. Without the machine they are those whose runs are schedules.
pub static PROGRAMS: &[&Program] = &[
    &broadcast::BROADCAST,
    &summation::SUMMATION,
    &all_to_all_broadcast::ALL_TO_ALL_BROADCAST,
    #[cfg(feature = "machine")]
    &combining::COMBINING,
    &scatter::SCATTER,
    &remap::REMAP,
    #[cfg(feature = "machine")]
    &fft::FFT,
    #[cfg(feature = "machine")]
    &radix_sort::RADIX_SORT,
    #[cfg(feature = "machine")]
    &lu::LU,
    #[cfg(feature = "machine")]
    &gauss::GAUSS,
    #[cfg(feature = "machine")]
    &transportation::TRANSPORTATION,
    #[cfg(feature = "machine")]
    &rtt::RTT,
    #[cfg(feature = "machine")]
    &message::MESSAGE,
    #[cfg(feature = "machine")]
    &stress::STRESS,
];
