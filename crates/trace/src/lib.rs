//! What is left of a run of the loggp machine: its trace, the forms of a file that a trace has, the causes of waits and
//! the critical path, the audit by the rules, and the order of its messages.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod audit;
mod bound;
#[cfg(test)]
#[path = "../../model/src/tests/cases.rs"]
mod cases;
mod chrome;
mod compact;
mod error;
mod machine;
mod order;
pub mod path;
mod read;
mod recording;
mod trace;

pub use error::{TraceError, json_reason};
#[doc(no_inline)]
pub use loggp_model::log::{
    Activity, ActivityKind, Call, CallKind, CallTag, Faults, Message, Progress, Rendezvous, SendRecv,
    Transfer, Until,
};
pub use order::{Order, RunObserver};
pub use recording::{ObservedRun, Recording};
pub use trace::{Caption, Trace, send_after_gap};

#[cfg(test)]
mod any_trace;
#[cfg(test)]
extern crate self as loggp_trace; // tests of the draw crate draw traces too
#[cfg(test)]
mod tests;
