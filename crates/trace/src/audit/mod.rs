//! Audits a trace: compares it with the rules of the machine, by code that shares none with the machine.

mod auditor;
mod calls;
mod flight;
mod messages;
mod noise;
mod one_sided;
mod processors;
mod promises;
mod rooms;
mod waits;

pub use auditor::{Audit, AuditRule, Violation, audit};
