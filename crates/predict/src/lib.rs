//! What the papers on the LogP family of models predict of their programs, without a run: closed forms for their times,
//! and for those whose steps depend on no data what each processor does, as a schedule.
//!
//! The programs of the crate `loggp-programs` run these steps on data, and have predictions of their own where the steps
//! depend on data.

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
mod closed_form;
pub mod collectives;
mod machines;
mod model;
mod plan;
pub mod remap;
pub mod scatter;
mod setting;
pub mod steps;
pub mod summation;
pub mod topology;
pub mod trees;

pub use closed_form::{ClosedForm, FormKind, FormTime, LOGGP, LOGGPS, knows_machine};
pub use machines::{Preset, PresetValue, preset, presets};
pub use model::Model;
pub use plan::{Description, PhaseName, Predict, PredictFn, Size, StepProgram, Trend};
pub use setting::{Refusal, Setting};
