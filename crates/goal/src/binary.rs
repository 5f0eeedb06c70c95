//! GOAL as bytes, as LogGOPSim takes it: reads it and writes it. `docs/reference/replay.md` has the layout.
//!
//! All numbers are little-endian and packed. A rank is its nodes, each with two stretches of an appendix: the nodes that
//! wait for its end, and those that wait for its beginning.

use std::io::{self, BufReader, BufWriter, Read, Write};

use loggp::{Operation, Placed, Requirement, Schedule, Time};

use super::{GoalError, begin, length, units};

/// What a file begins with.
pub const MAGIC: u64 = 4223;
/// The bytes of a file before the table of ranks.
const HEAD: u64 = 8 + 4 + 1 + 1;
/// The bytes of a node.
const NODE: usize = 4 + 1 + 4 + 8 + 4 + 1 + 1 + 4 * 4;

const SEND: u8 = 1;
const RECV: u8 = 2;
const CALC: u8 = 3;

/// Reads numbers and counts bytes.
struct Bytes<'a> {
    input: BufReader<&'a mut dyn Read>,
    /// How many were read.
    read: u64,
}

impl Bytes<'_> {
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

/// A node, as far as what follows it is concerned.
struct Node {
    /// For how many others it says that it waits.
    needs: u32,
    /// How many say that it waits for them.
    found: u32,
    /// How many wait for its end, and how many for its beginning.
    followers: [u32; 2],
}

/// Takes a number out of a node's bytes.
fn number<const N: usize>(node: &mut &[u8]) -> [u8; N] {
    let (number, rest) = node.split_first_chunk().expect("a node has all its numbers");
    *node = rest;
    *number
}

/// Reads a file. Memory grows with what is really there.
pub fn read(input: BufReader<&mut dyn Read>, unit: Time) -> Result<Schedule, GoalError> {
    let mut bytes = Bytes { input, read: 0 };
    if bytes.u64()? != MAGIC {
        bytes.read = 0;
        return bytes.error(format!("a binary schedule begins with the number {MAGIC}, and this does not"));
    }
    let ranks = bytes.u32()?;
    let mut builder = begin(ranks.into()).or_else(|why| bytes.error(why))?;
    // The last processor and the last interface, which the nodes tell too.
    bytes.take::<2>()?;
    let mut table = Vec::new();
    for _ in 0..ranks {
        table.push((bytes.u64()?, bytes.u64()?));
    }
    let mut followed: Vec<Node> = Vec::new();
    for (rank, (start, end)) in table.into_iter().enumerate() {
        // The table counts from behind the magic number.
        let here = bytes.read - 8;
        if start != here {
            return bytes.error(format!(
                "rank {rank} begins at byte {start} by the table, and the one before ends at {here}; write all in a row"
            ));
        }
        builder.rank(rank).or_else(|why| bytes.error(why.to_string()))?;
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
            builder.place(Placed { what, cpu, nic }).or_else(|why| bytes.error(why.to_string()))?;
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
            followed.push(Node { needs, found: 0, followers });
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
        if let Some((odd, Node { needs, found, .. })) =
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

/// Writes a file.
pub fn write(schedule: &Schedule, out: &mut dyn Write, unit: Time) -> io::Result<()> {
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
        let (needs, followers) = needs(schedule, rank);
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

/// For how many others each operation of a rank waits, and all requirements: by what is waited for, ends before beginnings.
fn needs(schedule: &Schedule, rank: usize) -> (Vec<u32>, Vec<Requirement>) {
    let mut needs = vec![0; schedule.operations(rank).len()];
    let mut requirements: Vec<Requirement> = schedule.requirements_of(rank).collect();
    requirements.sort_by_key(|requirement| (requirement.earlier, requirement.begun));
    requirements.iter().for_each(|requirement| needs[requirement.later as usize] += 1);
    (needs, requirements)
}

fn write_rank(schedule: &Schedule, rank: usize, out: &mut impl Write, unit: Time) -> io::Result<()> {
    let (needs, requirements) = needs(schedule, rank);
    let roots: Vec<u32> = (0..needs.len() as u32).filter(|node| needs[*node as usize] == 0).collect();
    for number in [needs.len() as u32, roots.len() as u32].iter().chain(&roots) {
        out.write_all(&number.to_le_bytes())?;
    }
    let mut place = 0;
    for (number, Placed { what, cpu, nic }) in schedule.operations(rank).enumerate() {
        let (kind, peer, size, tag) = match what {
            Operation::Send { to, bytes, tag } => (SEND, to, bytes, tag),
            Operation::Recv { from, bytes, tag } => {
                (RECV, from.unwrap_or(u32::MAX), bytes, tag.unwrap_or(u32::MAX))
            }
            Operation::Calc(time) => (CALC, 0, units(time, unit)? as u64, 0),
        };
        out.write_all(&needs[number].to_le_bytes())?;
        out.write_all(&[kind])?;
        out.write_all(&peer.to_le_bytes())?;
        out.write_all(&size.to_le_bytes())?;
        out.write_all(&tag.to_le_bytes())?;
        out.write_all(&[cpu, nic])?;
        for begun in [false, true] {
            let followers = requirements[place..].iter();
            let followers =
                followers.take_while(|other| (other.earlier as usize, other.begun) == (number, begun));
            let count = followers.count();
            out.write_all(&(count as u32).to_le_bytes())?;
            out.write_all(&(place as u32).to_le_bytes())?;
            place += count;
        }
    }
    requirements.iter().try_for_each(|requirement| out.write_all(&requirement.later.to_le_bytes()))
}
