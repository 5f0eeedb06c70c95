//! The schedule of a recorded program.
//!
//! The time between calls is computing, and the time within calls comes from the machine. Blocking calls go in a row; an
//! immediate send lets its rank go on when it begins; a receive is posted where its call stands; a wait makes what
//! follows require the requests that it found completed. A receive takes the message that it took in the run.
//! Collectives become messages by an algorithm.

mod collective_counts;
mod collectives;
mod communicators;
mod computing;
mod flows;
pub mod functions;
mod knowledge;
mod messages;
mod one_sided;
mod rank;
mod tags;
mod thread;
mod unseen;

use loggp_goal::patterns::CollectiveTable;
use loggp_model::time::{NS, Time};
use loggp_schedule::ScheduleBuilder;
use loggp_schedule::program::{ProgramSchedule, Unseen};
use rustc_hash::FxHashMap;

pub use self::collectives::{RankCollective, agreement};
pub use self::communicators::{CommunicatorList, KnownCommunicator};
pub use self::tags::TagTable;

use self::flows::Flows;
use self::functions::FunctionNames;
use self::knowledge::Knowledge;
use self::rank::RankWriter;
use crate::call::{Place, Unmodelled};
use crate::error::ProgramError;
use crate::source::CallSource;

/// How a program becomes a schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleOptions {
    /// The length of a unit to which computations are rounded.
    pub unit: Time,
    /// Which algorithms collectives take; `None` if the usual patterns.
    pub table: Option<&'static CollectiveTable>,
    /// The time that a rank computes for each byte that a reduction combines, if there is a table.
    pub combine: Time,
    /// True if the calls of each operation are wanted.
    pub has_spans: bool,
}

impl Default for ScheduleOptions {
    fn default() -> ScheduleOptions {
        ScheduleOptions { unit: NS, table: None, combine: Time::ZERO, has_spans: false }
    }
}

/// What the writers of all ranks share.
struct WritingState {
    options: ScheduleOptions,
    /// Whether the source says which messages receives took.
    knows_taken: bool,
    tags: TagTable,
    flows: Flows,
    /// What is known from an earlier reading.
    knowledge: Knowledge,
    places: Vec<Place>,
    place_numbers: FxHashMap<Place, u32>,
    function_names: FunctionNames,
    unseen: Unseen,
}

/// Reads a program and returns its schedule. What one rank does depends on what others did, and on what it did later. So a
/// program is read twice if it posts receives that any message would do, or cancels some; and once more if its messages
/// were not all received, or are sent synchronously.
pub fn read(source: &mut dyn CallSource, options: ScheduleOptions) -> Result<ProgramSchedule, ProgramError> {
    let (mut read, mut flows, mut known) = read_once(source, options, EarlierFacts::default())?;
    known.0 = flows.take_fates();
    if !known.0.fates.is_empty() || !known.0.one_tag.is_empty() {
        drop(read);
        (read, flows, known) = read_once(source, options, known)?;
    }
    let (mut knowledge, tags) = known;
    let (is_new, warnings) = flows.compare(&tags, &mut knowledge)?;
    if is_new {
        drop(read);
        // What is known is told apart by tags.
        read = read_once(source, options, (knowledge, tags))?.0;
    }
    source.unread().iter().for_each(|calls| read.unseen.add_calls(calls));
    read.warnings.splice(0..0, source.warnings().into_iter().chain(warnings));
    Ok(read)
}

/// The facts from earlier readings.
type EarlierFacts = (Knowledge, TagTable);

fn read_once(
    source: &mut dyn CallSource,
    options: ScheduleOptions,
    (knowledge, tags): EarlierFacts,
) -> Result<(ProgramSchedule, Flows, EarlierFacts), ProgramError> {
    let P = source.ranks();
    let mut shared = WritingState {
        options,
        knows_taken: source.knows_taken(),
        tags,
        flows: Flows::default(),
        knowledge,
        places: vec![Place::default()],
        place_numbers: FxHashMap::from_iter([(Place::default(), 0)]),
        function_names: FunctionNames::default(),
        unseen: Unseen::default(),
    };
    let mut builder = ScheduleBuilder::new(P).map_err(|why| ProgramError::of_program(why.to_string()))?;
    let mut ranks = Vec::with_capacity(P);
    for rank in 0..P {
        let of_rank = |why: loggp_schedule::ScheduleError| ProgramError::of_rank(rank, why.to_string());
        builder.begin_rank(rank).map_err(of_rank)?;
        let mut writer = RankWriter::new(&mut builder, &mut shared, rank);
        source.read_rank(rank, &mut |calls| writer.add_calls(calls))?;
        ranks.push(writer.finish()?);
    }
    let schedule = builder.build().map_err(|why| ProgramError::of_program(why.to_string()))?;
    let WritingState { tags, flows, knowledge, places, unseen, .. } = shared;
    let mut warnings: Vec<String> = Vec::new();
    if flows.is_cut {
        warnings.push("the recording ends before MPI_Finalize; what came before is there".into());
    }
    let left_out = unseen.calls.iter().map(|Unmodelled { name, count, .. }| {
        format!("{name} is not modelled: {count} calls are computing time")
    });
    warnings.extend(left_out);
    Ok((ProgramSchedule { schedule, ranks, places, warnings, unseen }, flows, (knowledge, tags)))
}
