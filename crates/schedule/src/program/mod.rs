//! A program as a schedule: which call each operation belongs to, where in the source it stands, how long it took in the
//! program's own run, and what the schedule does not say.
//!
//! Whoever reads a program makes a [`ProgramSchedule`] of it. Reports name messages and computing by it, and a play is compared
//! with the program's own times.

mod comparison;
mod index;
mod schedule;
mod times;
mod unseen;
mod watch;

pub use self::comparison::Comparison;
pub use self::index::{CallGroup, CallSpan, RankIndex, SpanKind, SpanList};
pub use self::schedule::{Place, ProgramSchedule};
pub use self::times::{RankComparison, TimePair};
pub use self::unseen::{Unmodelled, Unseen};
pub use self::watch::PlayWatch;
