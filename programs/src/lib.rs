//! The papers' programs. A program is one file or one folder, with its algorithm, its prediction and its
//! verification; steps that depend on no data, and their times, are in the file of the same name in `loggp-predict`. `math/`
//! has the mathematics that several programs share.

#![allow(non_snake_case)] // L, G and P are the papers' names

// It has `refuse!`, which every program uses.
#[macro_use]
extern crate loggp_predict;

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
pub mod steps;
pub mod stress;
pub mod summation;
mod times;
pub mod transportation;

pub use emulation::{Emulation, Metric, Outcome};
pub use loggp_predict::{
    ClosedForm, Description, FormKind, FormTime, LOGGP, LOGGPS, PhaseName, Predict, Refusal, Setting, Size,
    Trend, refuse,
};
pub use math::word::Word;
pub use option::{Opt, OptionInfo, OptionValue, ProgramOption, TimeSpan};
pub use program::{Algorithm, Case, CasePlan, Plan, PlanResult, Program};
pub use times::ComputeTimes;

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
