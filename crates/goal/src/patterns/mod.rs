//! The collectives of MPI as schedules, as its libraries do them; and usual patterns of communication, which are names
//! for more of them.

mod algorithm;
mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod call;
mod collective;
mod gather;
mod member;
pub mod methods;
mod neighbors;
mod rabenseifner;
mod reduce;
mod reduce_scatter;
mod rules;
mod scan;
mod table;
mod trees;
mod usual;

use loggp_schedule::{Operation, Requirement, ScheduleBuilder, ScheduleError};

pub use algorithm::{Algorithm, Method};
pub use call::{CollectiveCall, CollectiveKind, Member, Sizes};
pub use collective::{
    collective_choices, collective_names, is_pattern, method_schedule, pattern_schedule, what_runs,
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
