//! A trace held against the rules of the machine, by code that shares none with them.

mod auditor;
mod calls;
mod deed;
mod flight;
mod messages;
mod noise;
mod processors;
mod room;
mod waits;

pub use auditor::{Audit, Rule, Violation, audit};
