//! Reads and writes GOAL's binary form, which LogGOPSim takes. `docs/reference/replay.md` has the layout.
//!
//! All numbers are little-endian and packed. A rank is a list of nodes, each with two stretches of an
//! appendix: the nodes that wait for its end, and those that wait for its beginning.

use std::io::{self, BufReader, BufWriter, Read, Write};

use loggp_model::time::Time;
use loggp_schedule::{Operation, PlacedOperation, Requirement, Schedule};

use super::{GoalError, length, new_builder, not_in_goal, units};

/// The first number of a file.
pub(crate) const MAGIC: u64 = 4223;
/// Size of the part before the table of ranks, in bytes.
const HEAD: u64 = 8 + 4 + 1 + 1;
/// Size of a node, in bytes.
const NODE: usize = 4 + 1 + 4 + 8 + 4 + 1 + 1 + 4 * 4;

const SEND: u8 = 1;
const RECV: u8 = 2;
const CALC: u8 = 3;

/// A reader of numbers, which counts bytes.
struct ByteReader<'a> {
    input: BufReader<&'a mut dyn Read>,
    /// The number of bytes read.
    read: u64,
}

impl ByteReader<'_> {
    fn error<T>(&self, why: impl Into<String>) -> Result<T, GoalError> {
        Err(GoalError::Binary { byte: self.read, why: why.into() })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], GoalError> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => self.read += N as u64,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return self.error("the file ends here, and says that there is more; write it anew");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, GoalError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, GoalError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
}

/// The counts of a node's requirements.
struct NodeCounts {
    /// The number of nodes that it waits for, as the file states.
    needs: u32,
    /// The number of nodes that name it as a follower.
    found: u32,
    /// The number of nodes that wait for its end, and for its beginning.
    followers: [u32; 2],
}

/// Takes a number off a node's bytes.
fn number<const N: usize>(node: &mut &[u8]) -> [u8; N] {
    let (number, rest) = node.split_first_chunk().expect("a node has all its numbers");
    *node = rest;
    *number
}

/// Reads a file. Memory grows with the bytes that are really there, not with the counts that the file states.
pub(crate) fn read(input: BufReader<&mut dyn Read>, unit: Time) -> Result<Schedule, GoalError> {
    let mut bytes = ByteReader { input, read: 0 };
    if bytes.u64()? != MAGIC {
        bytes.read = 0;
        return bytes.error(format!("a binary schedule begins with the number {MAGIC}, and this does not"));
    }
    let ranks = bytes.u32()?;
    let mut builder = new_builder(ranks.into()).or_else(|why| bytes.error(why))?;
    // The highest processor and interface, which follow from the nodes too.
    bytes.take::<2>()?;
    let mut table = Vec::new();
    for _ in 0..ranks {
        table.push((bytes.u64()?, bytes.u64()?));
    }
    let mut followed: Vec<NodeCounts> = Vec::new();
    for (rank, (start, end)) in table.into_iter().enumerate() {
        // The table counts from after the magic number.
        let here = bytes.read - 8;
        if start != here {
            return bytes.error(format!(
                "rank {rank} begins at byte {start} by the table, and the one before ends at {here}; write all in a row"
            ));
        }
        builder.begin_rank(rank).or_else(|why| bytes.error(why.to_string()))?;
        let nodes = bytes.u32()?;
        let roots = bytes.u32()?;
        for _ in 0..roots {
            bytes.u32()?;
        }
        followed.clear();
        let mut in_appendix: u64 = 0;
        for _ in 0..nodes {
            let node = &mut &bytes.take::<NODE>()?[..];
            let (needs, [kind]) = (u32::from_le_bytes(number(node)), number(node));
            let (peer, size) = (u32::from_le_bytes(number(node)), u64::from_le_bytes(number(node)));
            let (tag, [cpu, nic]) = (u32::from_le_bytes(number(node)), number(node));
            let any = |number: u32| (number != u32::MAX).then_some(number);
            let what = match kind {
                SEND => Operation::Send { to: peer, bytes: size, tag },
                RECV => Operation::Recv { from: any(peer), bytes: size, tag: any(tag) },
                CALC => match length(size, unit) {
                    Some(time) => Operation::Calc(time),
                    None => {
                        return bytes
                            .error(format!("{size} units of {unit} are after the end of time; give fewer"));
                    }
                },
                other => {
                    return bytes.error(format!("an operation is of kind 1, 2 or 3, and this of {other}"));
                }
            };
            builder
                .add_placed(PlacedOperation { operation: what, cpu, nic })
                .or_else(|why| bytes.error(why.to_string()))?;
            let mut followers = [0; 2];
            for followers in &mut followers {
                *followers = u32::from_le_bytes(number(node));
                let first = u32::from_le_bytes(number(node));
                if *followers > 0 && u64::from(first) != in_appendix {
                    return bytes.error(format!(
                        "its followers begin at place {first} of the appendix, and place {in_appendix} is next; write them in a row"
                    ));
                }
                in_appendix += u64::from(*followers);
            }
            followed.push(NodeCounts { needs, found: 0, followers });
        }
        for earlier in 0..nodes {
            let followers = followed[earlier as usize].followers;
            for (count, begun) in followers.into_iter().zip([false, true]) {
                for _ in 0..count {
                    let later = bytes.u32()?;
                    let requirement = Requirement { later, earlier, begun };
                    builder.require(requirement).or_else(|why| bytes.error(why.to_string()))?;
                    followed[later as usize].found += 1;
                }
            }
        }
        if let Some((odd, NodeCounts { needs, found, .. })) =
            (0..).zip(&followed).find(|(_, node)| node.needs != node.found)
        {
            return bytes.error(format!(
                "operation {odd} of rank {rank} says that it waits for {needs}, and {found} say that it waits for them"
            ));
        }
        if end != bytes.read - 8 {
            return bytes.error(format!("rank {rank} ends at byte {end} by the table, and does so here"));
        }
    }
    if bytes.input.read(&mut [0])? > 0 {
        return bytes.error("the last rank ends here, and there is more; leave that out");
    }
    builder.build().or_else(|why| bytes.error(why.to_string()))
}

/// Writes a schedule in binary form, which LogGOPSim takes as it is. `unit` is the length of a unit of
/// `calc`; a computation that is not a whole number of units is an error.
pub fn write(schedule: &Schedule, out: impl Write, unit: Time) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let ranks = schedule.ranks();
    let operations = || (0..ranks).flat_map(|rank| schedule.operations(rank));
    let cpu = operations().map(|placed| placed.cpu).max().unwrap_or(0);
    let nic = operations().map(|placed| placed.nic).max().unwrap_or(0);
    out.write_all(&MAGIC.to_le_bytes())?;
    out.write_all(&(ranks as u32).to_le_bytes())?;
    out.write_all(&[cpu, nic])?;
    let mut start = HEAD - 8 + 16 * ranks as u64;
    for rank in 0..ranks {
        let nodes = schedule.operations(rank).len() as u64;
        let (needs, followers) = count_needs(schedule, rank);
        let roots = needs.iter().filter(|needs| **needs == 0).count() as u64;
        let end = start + 8 + 4 * roots + NODE as u64 * nodes + 4 * followers.len() as u64;
        out.write_all(&start.to_le_bytes())?;
        out.write_all(&end.to_le_bytes())?;
        start = end;
    }
    for rank in 0..ranks {
        write_rank(schedule, rank, &mut out, unit)?;
    }
    out.flush()
}

/// Returns for each operation of a rank the number of operations that it waits for, and the requirements
/// sorted by the earlier operation, those for its end first.
fn count_needs(schedule: &Schedule, rank: usize) -> (Vec<u32>, Vec<Requirement>) {
    let mut needs = vec![0; schedule.operations(rank).len()];
    let requirements: Vec<Requirement> = schedule.requirements_of(rank).collect();
    requirements.iter().for_each(|requirement| needs[requirement.later as usize] += 1);
    (needs, requirements)
}

fn write_rank(schedule: &Schedule, rank: usize, out: &mut impl Write, unit: Time) -> io::Result<()> {
    let (needs, requirements) = count_needs(schedule, rank);
    let roots: Vec<u32> = (0..needs.len() as u32).filter(|node| needs[*node as usize] == 0).collect();
    for number in [needs.len() as u32, roots.len() as u32].iter().chain(&roots) {
        out.write_all(&number.to_le_bytes())?;
    }
    let mut index = 0;
    for (number, PlacedOperation { operation: what, cpu, nic }) in schedule.operations(rank).enumerate() {
        let (kind, peer, size, tag) = match what {
            Operation::Send { to, bytes, tag } => (SEND, to, bytes, tag),
            Operation::Recv { from, bytes, tag } => {
                (RECV, from.unwrap_or(u32::MAX), bytes, tag.unwrap_or(u32::MAX))
            }
            Operation::Calc(time) => (CALC, 0, units(time, unit)? as u64, 0),
            other => return Err(not_in_goal(&other)),
        };
        out.write_all(&needs[number].to_le_bytes())?;
        out.write_all(&[kind])?;
        out.write_all(&peer.to_le_bytes())?;
        out.write_all(&size.to_le_bytes())?;
        out.write_all(&tag.to_le_bytes())?;
        out.write_all(&[cpu, nic])?;
        for begun in [false, true] {
            let followers = requirements[index..].iter();
            let followers =
                followers.take_while(|other| (other.earlier as usize, other.begun) == (number, begun));
            let count = followers.count();
            out.write_all(&(count as u32).to_le_bytes())?;
            out.write_all(&(index as u32).to_le_bytes())?;
            index += count;
        }
    }
    requirements.iter().try_for_each(|requirement| out.write_all(&requirement.later.to_le_bytes()))
}
