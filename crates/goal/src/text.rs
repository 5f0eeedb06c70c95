//! GOAL as text: reads it and writes it. `docs/reference/replay.md` has the grammar.
//!
//! A text is read in blocks of whole ranks, several at once, and what they say is told to the schedule's builder in its order. So
//! the text is never in memory as a whole.

use std::io::{self, BufWriter, Read, Write};
use std::mem::take;
use std::thread::{self, ScopedJoinHandle, available_parallelism};

use loggp::{Operation, Placed, Requirement, Schedule, ScheduleBuilder, ScheduleError, Time};

use super::blocks::{Block, Blocks};
use super::ranks::{Ranks, Said};
use super::{GoalError, units};

/// Reads a text, in blocks of about so many bytes.
pub fn read(input: &mut dyn Read, unit: Time, bytes: usize) -> Result<Schedule, GoalError> {
    let mut blocks = Blocks::of(input, bytes);
    let mut last = blocks.next()?.unwrap_or_default();
    let mut builder = Ranks::begin(&mut last, unit)?;
    let cores = available_parallelism().map_or(1, usize::from);
    let (mut now, mut before, mut written) = (vec![take(&mut last)], Vec::new(), 0);
    while !now.is_empty() || !before.is_empty() {
        // While blocks are read, those before are told, and the next ones fetched.
        let (said, next) = thread::scope(|scope| {
            let begin =
                |block| thread::Builder::new().spawn_scoped(scope, move || Ranks::read(block, unit)).ok();
            let begun = now.iter().map(|block| if now.len() > 1 { begin(block) } else { None });
            let begun: Vec<_> = begun.collect();
            for (block, said) in before.drain(..) {
                written += tell(&mut builder, &block, said)?;
                last = block;
            }
            let next = (0..cores).map_while(|_| blocks.next().transpose());
            let next: Vec<Block> = next.collect::<Result<_, _>>()?;
            // One block needs no thread, and where the host gives none, this one does it.
            let end = |(block, begun): (_, Option<ScopedJoinHandle<_>>)| match begun {
                Some(begun) => begun.join().expect("it does not panic"),
                None => Ranks::read(block, unit),
            };
            let said: Vec<_> = now.iter().zip(begun).map(end).collect();
            Ok::<_, GoalError>((said, next))
        })?;
        before = now.into_iter().zip(said).collect();
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

/// Tells a builder what the ranks of a block say. Returns how many there are.
fn tell(
    builder: &mut ScheduleBuilder,
    block: &Block,
    (said, end): (Vec<Said>, Result<(), GoalError>),
) -> Result<usize, GoalError> {
    let (mut ranks, mut begin) = (0, 0);
    for said in said {
        let (place, told) = match said {
            Said::Rank(rank, place) => {
                (ranks, begin) = (ranks + 1, place);
                (place, builder.rank(usize::try_from(rank).unwrap_or(usize::MAX)))
            }
            Said::Operation(placed, place) => (place, builder.place(placed).map(drop)),
            Said::Requirement(requirement, place) => (place, builder.require(requirement)),
            Said::End(place) => (place, builder.end_rank()),
        };
        let name = |operation| Ranks::name(block, begin, operation);
        told.map_err(|why: ScheduleError| block.error(place, why.naming(name)))?;
    }
    end.map(|()| ranks)
}

/// Writes a text.
pub fn write(schedule: &Schedule, out: &mut dyn Write, unit: Time) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for (number, Placed { what, cpu, nic }) in (1..).zip(schedule.operations(rank)) {
            let any = |number: Option<u32>| number.map_or(-1, i64::from);
            match what {
                Operation::Send { to, bytes, tag } => {
                    write!(out, "l{number}: send {bytes}b to {to} tag {tag}")
                }
                Operation::Recv { from, bytes, tag } => {
                    write!(out, "l{number}: recv {bytes}b from {} tag {}", any(from), any(tag))
                }
                Operation::Calc(time) => write!(out, "l{number}: calc {}", units(time, unit)?),
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
