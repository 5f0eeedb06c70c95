//! Checks a program under many orders of messages: it runs again and again on the virtual clock, and an order
//! under which it fails is reduced to few late messages.
//!
//! A [`Strategy`] chooses the orders; each strategy has a file, which sets latencies and ties and knows
//! nothing of the program. The systematic one, which tries all orders, has a README beside this file.

#![allow(non_snake_case)] // L and P are the papers' names

mod calls;
mod deadline;
mod faults;
mod few_changes;
mod history;
mod late_few;
mod machine;
mod one_end;
mod random;
mod reduction;
mod report;
mod settings;
mod strategy;
mod systematic;
mod timing;
mod trials;

pub use machine::CheckedMachine;
pub use report::{CheckReport, ChoicePoint, DelayedMessage, DistinctResult, Failure, FailureKind};
pub use settings::{Check, TrialResult};
pub use strategy::Strategy;
pub use systematic::Coverage;
