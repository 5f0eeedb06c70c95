//! Reads and writes GOAL's text form. `docs/reference/replay.md` has the grammar.
//!
//! A text is read in blocks of whole ranks, several at once, and their statements are added to the schedule's
//! builder in order. So the text is never in memory as a whole.

use std::io::{self, BufWriter, Read, Write};
use std::mem::take;
use std::thread::{self, ScopedJoinHandle, available_parallelism};

use loggp_model::time::Time;
use loggp_schedule::{Operation, PlacedOperation, Requirement, Schedule, ScheduleBuilder, ScheduleError};

use super::blocks::{BlockReader, TextBlock};
use super::ranks::{RankParser, Statement};
use super::{GoalError, not_in_goal, units};

/// Reads a text in blocks of about `bytes` bytes.
pub(crate) fn read(input: &mut dyn Read, unit: Time, bytes: usize) -> Result<Schedule, GoalError> {
    let mut blocks = BlockReader::new(input, bytes);
    let mut last = blocks.next()?.unwrap_or_default();
    let mut builder = RankParser::read_header(&mut last, unit)?;
    let cores = available_parallelism().map_or(1, usize::from);
    let (mut now, mut before, mut written) = (vec![take(&mut last)], Vec::new(), 0);
    while !now.is_empty() || !before.is_empty() {
        // While these blocks are parsed, the statements of the blocks before are added, and the next blocks
        // are read.
        let (statements, next) = thread::scope(|scope| {
            let spawn = |block| {
                thread::Builder::new().spawn_scoped(scope, move || RankParser::read_ranks(block, unit)).ok()
            };
            let threads = now.iter().map(|block| if now.len() > 1 { spawn(block) } else { None });
            let threads: Vec<_> = threads.collect();
            for (block, statements) in before.drain(..) {
                written += add_statements(&mut builder, &block, statements)?;
                last = block;
            }
            let next = (0..cores).map_while(|_| blocks.next().transpose());
            let next: Vec<TextBlock> = next.collect::<Result<_, _>>()?;
            // A single block needs no thread, and if the host gives none, this thread parses the block.
            let parsed = |(block, thread): (_, Option<ScopedJoinHandle<_>>)| match thread {
                Some(thread) => thread.join().expect("it does not panic"),
                None => RankParser::read_ranks(block, unit),
            };
            let statements: Vec<_> = now.iter().zip(threads).map(parsed).collect();
            Ok::<_, GoalError>((statements, next))
        })?;
        before = now.into_iter().zip(statements).collect();
        now = next;
    }
    if written < builder.ranks() {
        let ranks = builder.ranks();
        let why = format!(
            "the file ends after {written} ranks, and num_ranks says {ranks}; write all, also those that do nothing"
        );
        return Err(last.error(last.text.len(), why));
    }
    builder.build().map_err(|why| last.error(last.text.len(), why.to_string()))
}

/// Adds the statements of a block to a builder. Returns the number of ranks in the block.
fn add_statements(
    builder: &mut ScheduleBuilder,
    block: &TextBlock,
    (statements, end): (Vec<Statement>, Result<(), GoalError>),
) -> Result<usize, GoalError> {
    let (mut ranks, mut begin) = (0, 0);
    for statement in statements {
        let (position, result) = match statement {
            Statement::Rank(rank, position) => {
                (ranks, begin) = (ranks + 1, position);
                (position, builder.begin_rank(usize::try_from(rank).unwrap_or(usize::MAX)))
            }
            Statement::Operation(placed, position) => (position, builder.add_placed(placed).map(drop)),
            Statement::Requirement(requirement, position) => (position, builder.require(requirement)),
            Statement::End(position) => (position, builder.end_rank()),
        };
        let name = |operation| RankParser::operation_name(block, begin, operation);
        result.map_err(|why: ScheduleError| block.error(position, why.sentence_naming(name)))?;
    }
    end.map(|()| ranks)
}

/// Writes a schedule as text. `unit` is the length of a unit of `calc`; a computation that is not a whole
/// number of units is an error.
pub fn write(schedule: &Schedule, out: impl Write, unit: Time) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for (number, PlacedOperation { operation: what, cpu, nic }) in (1..).zip(schedule.operations(rank)) {
            let any = |number: Option<u32>| number.map_or(-1, i64::from);
            match what {
                Operation::Send { to, bytes, tag } => {
                    write!(out, "l{number}: send {bytes}b to {to} tag {tag}")
                }
                Operation::Recv { from, bytes, tag } => {
                    write!(out, "l{number}: recv {bytes}b from {} tag {}", any(from), any(tag))
                }
                Operation::Calc(time) => write!(out, "l{number}: calc {}", units(time, unit)?),
                other => return Err(not_in_goal(&other)),
            }?;
            if cpu > 0 {
                write!(out, " cpu {cpu}")?;
            }
            if nic > 0 && !matches!(what, Operation::Calc(_)) {
                write!(out, " nic {nic}")?;
            }
            writeln!(out)?;
        }
        for Requirement { later, earlier, begun } in schedule.requirements_of(rank) {
            let requires = if begun { "irequires" } else { "requires" };
            writeln!(out, "l{} {requires} l{}", later + 1, earlier + 1)?;
        }
        writeln!(out, "}}")?;
    }
    out.flush()
}
