//! The collectives of MPI as schedules, by the algorithms of its libraries; and usual patterns of communication, which are
//! names for more of them.

mod algorithm;
mod call;
mod collective;
mod member;
pub mod methods;
mod rules;
mod table;
mod usual;

use loggp_schedule::{Operation, Requirement, ScheduleBuilder, ScheduleError};

pub use algorithm::{CollectiveAlgorithm, Method};
pub use call::{CollectiveCall, CollectiveKind, Member, Sizes};
pub use collective::{
    CollectiveLibrary, collective_choices, collective_names, is_pattern, method_schedule, needs_library,
    pattern_schedule, what_runs,
};
pub use methods::{METHODS, find as find_method, of as methods_of};
pub use rules::{CollectiveRules, write_pattern};
pub use table::{AgreementStep, CollectiveTable, TableError};
pub use usual::{PATTERNS, find_pattern};

/// An operation that others wait for, and whether it needs only have begun.
pub type Prerequisite = (u32, bool);

/// Adds an operation that waits for those in `before`.
pub fn add_after(
    builder: &mut ScheduleBuilder,
    what: Operation,
    before: &[Prerequisite],
) -> Result<u32, ScheduleError> {
    let later = builder.add(what)?;
    for &(earlier, begun) in before {
        builder.require(Requirement { later, earlier, begun })?;
    }
    Ok(later)
}

type WriteResult = Result<(), ScheduleError>;
