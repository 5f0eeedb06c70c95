//! Schedules from traces of MPI programs by liballprof, the tracer that comes with LogGOPSim, one file for
//! each rank.
//!
//! A line is a call: its name, its start, its arguments and its end, with colons between them. A datatype is
//! `kind,size,extent`, a communicator `name,rank,size`, and times are microseconds. The time between two
//! calls is computation; the time within a call is ignored, since the model determines it. A rank begins with
//! the end of `MPI_Init`, because the ranks' clocks differ. Collectives become their usual patterns
//! (`collective`). The start of `MPI_Init` and the end of `MPI_Finalize` are not known, and are dashes.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use loggp::Time;
use loggp::schedule::{Operation, Schedule, ScheduleBuilder, ScheduleError};

mod call;

use self::call::MpiCall;
use super::patterns::{PatternWriter, Prerequisite, add_after};

/// The MPI library of a program. Each has its own numbers for the same things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MpiLibrary {
    /// Open MPI: -1 is any source and -2 no process, and a request has 8 bytes.
    #[default]
    OpenMpi,
    /// MPICH and its kin: -2 is any source and -1 no process, and a request has 4 bytes.
    Mpich,
}

impl MpiLibrary {
    /// Returns the number for any source.
    fn any_source(self) -> i64 {
        if self == MpiLibrary::OpenMpi { -1 } else { -2 }
    }

    /// Returns the size of a request in an array, in bytes.
    fn request_size(self) -> u64 {
        if self == MpiLibrary::OpenMpi { 8 } else { 4 }
    }
}

/// An error in a trace.
#[derive(Debug, thiserror::Error)]
#[error("rank {rank}, line {line}: {why}")]
pub struct MpiTraceError {
    /// The rank whose trace it is.
    pub rank: usize,
    /// The line, from 1.
    pub line: u64,
    /// The error, in one sentence.
    pub why: String,
}

/// The pattern of a collective, and the places of its count, its root and its communicator. The start of the call
/// is argument 0, and a datatype stands behind its count.
type CollectiveShape = (&'static str, Option<usize>, Option<usize>, usize);

/// Returns the shape of a collective, or `None` for other calls.
fn collective(name: &str) -> Option<CollectiveShape> {
    Some(match name {
        "MPI_Barrier" => ("dissemination", None, None, 1),
        "MPI_Bcast" => ("binomial-broadcast", Some(2), Some(4), 5),
        "MPI_Reduce" => ("binomial-reduce", Some(3), Some(6), 7),
        "MPI_Allreduce" => ("dissemination", Some(3), None, 6),
        "MPI_Scan" | "MPI_Exscan" => ("ring", Some(3), None, 6),
        "MPI_Gather" => ("binomial-gather", Some(2), Some(7), 8),
        // Sizes that are sent are known at the root alone, those that are received everywhere.
        "MPI_Scatter" => ("binomial-scatter", Some(5), Some(7), 8),
        "MPI_Allgather" => ("all-gather", Some(5), None, 7),
        "MPI_Alltoall" => ("all-to-all", Some(5), None, 7),
        _ => return None,
    })
}

/// Prefixes of calls that send and receive nothing: their time counts as computation.
const LOCAL: [&str; 17] = [
    "MPI_Comm_",
    "MPI_Type_",
    "MPI_Op_",
    "MPI_Group_",
    "MPI_Info_",
    "MPI_Errhandler_",
    "MPI_Test",
    "MPI_Probe",
    "MPI_Iprobe",
    "MPI_Get_",
    "MPI_Wtime",
    "MPI_Wtick",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Address",
    "MPI_Pcontrol",
    "MPI_Cart_",
];

/// The longest line in bytes.
const LONGEST: u64 = 1 << 20;
/// The longest name of a call in bytes.
const LONGEST_NAME: usize = 64;
/// The first tag of collectives; tags of the program are below it.
const COLLECTIVE_TAGS: u32 = 1 << 30;
/// Stands for an unknown moment.
const UNKNOWN: &str = "-";
/// The number for any tag.
const ANY_TAG: i64 = -1;

/// Reads the traces of a program, in the order of ranks, and returns its schedule. Computations are rounded
/// to whole units of time.
pub fn read<R: BufRead>(
    traces: impl ExactSizeIterator<Item = io::Result<R>>,
    mpi: MpiLibrary,
    unit: Time,
) -> Result<Schedule, MpiTraceError> {
    let P = traces.len();
    let at = |rank, line| move |why: ScheduleError| MpiTraceError { rank, line, why: why.to_string() };
    let mut builder = ScheduleBuilder::new(P).map_err(at(0, 1))?;
    for (rank, trace) in traces.enumerate() {
        builder.begin_rank(rank).map_err(at(rank, 1))?;
        let begin = builder.operation_count();
        let mut this = RankReader {
            builder: &mut builder,
            id: rank,
            P,
            mpi,
            unit: unit.as_ps().max(1),
            carried_ps: 0,
            begin,
            before: Vec::new(),
            posted: HashMap::new(),
            collectives: 0,
            computing_since: None,
            ended: false,
        };
        let (mut line, mut number) = (Vec::new(), 0);
        let unreadable = |why, line| MpiTraceError { rank, line, why: format!("it cannot be read: {why}") };
        let mut trace = trace.map_err(|why| unreadable(why, 1))?;
        loop {
            line.clear();
            number += 1;
            let mut part = trace.by_ref().take(LONGEST);
            let read = part.read_until(b'\n', &mut line).map_err(|why| unreadable(why, number))?;
            let refuse = |why| MpiTraceError { rank, line: number, why };
            match read as u64 {
                0 if this.ended => break,
                0 => {
                    return Err(refuse(
                        "the trace ends here, without MPI_Finalize; give one that is whole".into(),
                    ));
                }
                LONGEST => return Err(refuse(format!("a line has less than {LONGEST} bytes"))),
                _ => this.read_line(String::from_utf8_lossy(&line).trim()).map_err(refuse)?,
            }
        }
    }
    builder.build().map_err(at(P - 1, 1))
}

/// The reader of one rank's trace.
struct RankReader<'a> {
    builder: &'a mut ScheduleBuilder,
    id: usize,
    /// The number of ranks.
    P: usize,
    mpi: MpiLibrary,
    /// Length of a unit of computation, in ps.
    unit: i64,
    /// The rest of past computations below a unit, in ps.
    carried_ps: i64,
    /// The number of operations of the ranks before.
    begin: usize,
    /// The operations that the next one waits for.
    before: Vec<Prerequisite>,
    /// The operations of requests that were not waited for, by request.
    posted: HashMap<u64, u32>,
    /// The number of collectives so far.
    collectives: u32,
    /// The start of the current computation, in ps of the rank's clock; `None` before the end of `MPI_Init`.
    computing_since: Option<i128>,
    /// True after `MPI_Finalize`.
    ended: bool,
}

impl RankReader<'_> {
    /// Reads a line.
    fn read_line(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        } else if self.ended {
            return Err("a call comes after MPI_Finalize; give the trace of one run".into());
        }
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !(name.starts_with("MPI_") && name.len() <= LONGEST_NAME && name.bytes().all(is_in_name)) {
            return Err("a line is a call, such as MPI_Barrier:10.5:0,0,8:11.5, or begins with #".into());
        }
        let call = MpiCall { name, arguments: parts.collect() };
        if LOCAL.iter().any(|local| name.starts_with(local)) {
            return Ok(());
        }
        // Before `MPI_Init` and after `MPI_Finalize` there is no clock, and the tracer writes a dash.
        let end = || call.moment(call.arguments.len().saturating_sub(1));
        let is_begin = matches!(name, "MPI_Init" | "MPI_Init_thread");
        let begin = if is_begin && call.argument(0)? == UNKNOWN { end()? } else { call.moment(0)? };
        if name == "MPI_Finalize" {
            self.ended = true;
            return self.add_compute(begin);
        }
        let end = end()?;
        if end < begin {
            return Err(format!("{name} ends before it begins"));
        }
        if !is_begin {
            self.add_compute(begin)?;
            self.read_call(&call)?;
        }
        self.computing_since = Some(end);
        Ok(())
    }

    /// Adds a computation until the given moment, in ps.
    fn add_compute(&mut self, until: i128) -> Result<(), String> {
        let since = self.computing_since.unwrap_or(until);
        if until < since {
            return Err("the call begins before the last one ended".into());
        }
        let ps = i64::try_from(until - since).ok().and_then(|ps| ps.checked_add(self.carried_ps));
        let ps = ps.ok_or("it computes for longer than a schedule can")?;
        self.carried_ps = ps % self.unit;
        match ps - self.carried_ps {
            0 => Ok(()),
            ps => self.add_all([Operation::Calc(Time::from_ps(ps))]),
        }
    }

    /// Adds the operations of a call.
    fn read_call(&mut self, call: &MpiCall) -> Result<(), String> {
        if let Some(shape) = collective(call.name) {
            return self.add_collective(call, shape);
        }
        match call.name {
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Rsend" => self.add_all(self.send(call, 2, 4, 6)?),
            "MPI_Isend" | "MPI_Ibsend" | "MPI_Issend" | "MPI_Irsend" => {
                let Some(send) = self.send(call, 2, 4, 6)? else { return Ok(()) };
                let operation = self.add(send)?;
                self.posted.insert(call.number(7, "a request")?, operation);
                // Later operations wait only until the send has begun.
                self.before = vec![(operation, true)];
                Ok(())
            }
            "MPI_Recv" => self.add_all(self.receive(call, 2, 4, 6)?),
            "MPI_Irecv" => {
                let Some(receive) = self.receive(call, 2, 4, 6)? else { return Ok(()) };
                let operation = self.add(receive)?;
                self.posted.insert(call.number(7, "a request")?, operation);
                Ok(())
            }
            "MPI_Sendrecv" => {
                let both = [self.send(call, 2, 4, 11)?, self.receive(call, 7, 9, 11)?];
                self.add_all(both.into_iter().flatten())
            }
            "MPI_Sendrecv_replace" => {
                let both = [self.send(call, 2, 4, 8)?, self.receive(call, 2, 6, 8)?];
                self.add_all(both.into_iter().flatten())
            }
            "MPI_Wait" => {
                self.wait(call.number(1, "a request")?);
                Ok(())
            }
            "MPI_Waitall" => {
                let (n, first): (u64, u64) = (call.number(1, "a count")?, call.number(2, "a request")?);
                // Looks only at requests that were posted, since the count may be any number.
                let until = first.saturating_add(n.saturating_mul(self.mpi.request_size()));
                let mut all: Vec<u64> = self.posted.keys().copied().collect();
                all.retain(|one| {
                    (first..until).contains(one) && (one - first).is_multiple_of(self.mpi.request_size())
                });
                all.sort_unstable();
                all.into_iter().for_each(|one| self.wait(one));
                Ok(())
            }
            name => Err(format!(
                "{name} cannot be read; calls that can are sends, receives, Sendrecv, Wait, Waitall, Barrier, Bcast, Reduce, \
                 Allreduce, Scan, Exscan, Gather, Scatter, Allgather, Alltoall, and those that send nothing"
            )),
        }
    }

    /// Returns a send, or `None` if it is to no process. The tag stands behind the rank.
    fn send(
        &self,
        call: &MpiCall,
        count: usize,
        to: usize,
        comm: usize,
    ) -> Result<Option<Operation>, String> {
        self.check_world(call, comm)?;
        let bytes = call.bytes(count)?;
        let tag = to + 1;
        let Some(to) = self.peer(call, to)? else { return Ok(None) };
        let tag = self.tag(call, tag)?.ok_or_else(|| format!("{}: no message has any tag", call.name))?;
        Ok(Some(Operation::Send { to, bytes, tag }))
    }

    /// Returns a receive, or `None` if it is from no process. The tag stands behind the rank.
    fn receive(
        &self,
        call: &MpiCall,
        count: usize,
        from: usize,
        comm: usize,
    ) -> Result<Option<Operation>, String> {
        self.check_world(call, comm)?;
        let (bytes, tag) = (call.bytes(count)?, self.tag(call, from + 1)?);
        let from = match call.number::<i64>(from, "a rank")? {
            any if any == self.mpi.any_source() => None,
            _ => match self.peer(call, from)? {
                None => return Ok(None),
                from => from,
            },
        };
        Ok(Some(Operation::Recv { from, bytes, tag }))
    }

    /// Returns the other rank of a send or receive, or `None` for no process.
    fn peer(&self, call: &MpiCall, place: usize) -> Result<Option<u32>, String> {
        match call.number::<i64>(place, "a rank")? {
            ..0 => Ok(None),
            peer if (peer as u64) < self.P as u64 => Ok(Some(peer as u32)),
            peer => Err(format!(
                "{}: there is no rank {peer}; there are traces of ranks 0 to {}",
                call.name,
                self.P - 1
            )),
        }
    }

    /// Returns a tag, or `None` for any.
    fn tag(&self, call: &MpiCall, place: usize) -> Result<Option<u32>, String> {
        match call.number::<i64>(place, "a tag")? {
            ANY_TAG => Ok(None),
            tag => match u32::try_from(tag) {
                Ok(tag) if tag < COLLECTIVE_TAGS => Ok(Some(tag)),
                _ => {
                    Err(format!("{}: {tag} is no tag; tags are from 0 to {}", call.name, COLLECTIVE_TAGS - 1))
                }
            },
        }
    }

    /// Returns an error unless a communicator has all ranks in their order.
    fn check_world(&self, call: &MpiCall, place: usize) -> Result<(), String> {
        match call.comm(place)? {
            (rank, size) if (rank, size) == (self.id, self.P) => Ok(()),
            (_, size) if size != self.P => Err(format!(
                "{} is on a communicator of {size} ranks, and there are {}; only those of all can be read",
                call.name, self.P
            )),
            (rank, _) => Err(format!(
                "{} is on a communicator in which this is rank {rank}; only those with the ranks in their order can be read",
                call.name
            )),
        }
    }

    fn add_collective(
        &mut self,
        call: &MpiCall,
        (pattern, count, root, comm): CollectiveShape,
    ) -> Result<(), String> {
        let alone = call.comm(comm)?.1 == 1;
        if alone {
            return Ok(());
        }
        self.check_world(call, comm)?;
        let bytes = count.map_or(Ok(1), |count| call.bytes(count))?;
        let root = root.map_or(Ok(Some(0)), |root| self.peer(call, root))?;
        let root = root.ok_or_else(|| format!("{}: its root is no rank", call.name))? as usize;
        let tag = COLLECTIVE_TAGS + self.collectives;
        self.collectives += 1;
        let operations = (self.builder.operation_count() - self.begin) as u32;
        let (P, id, before) = (self.P, (self.id + self.P - root) % self.P, &self.before);
        let rank = PatternWriter { builder: self.builder, id, P, bytes, root, members: &[], tag, before };
        let end = rank.write_collective(pattern, operations).map_err(|why| why.to_string())?;
        self.before = vec![(end, false)];
        Ok(())
    }

    /// Adds operations that begin together. If there are any, all later operations wait for them.
    fn add_all(&mut self, all: impl IntoIterator<Item = Operation>) -> Result<(), String> {
        let all: Vec<Prerequisite> =
            all.into_iter().map(|what| Ok((self.add(what)?, false))).collect::<Result<_, String>>()?;
        if !all.is_empty() {
            self.before = all;
        }
        Ok(())
    }

    /// Makes later operations wait for a request, if it exists.
    fn wait(&mut self, request: u64) {
        self.before.extend(self.posted.remove(&request).map(|operation| (operation, false)));
    }

    /// Adds an operation that waits for those in `before`.
    fn add(&mut self, what: Operation) -> Result<u32, String> {
        add_after(self.builder, what, &self.before).map_err(|why| why.to_string())
    }
}
