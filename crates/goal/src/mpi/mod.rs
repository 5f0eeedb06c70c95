//! What an MPI program did, as a schedule: traces of liballprof, the tracer that comes with LogGOPSim, one file a rank.
//!
//! A line is a call: its name, when it began, its arguments and when it ended, with colons between them. A datatype is
//! `kind,size,extent`, a communicator `name,rank,size`, and times are microseconds. The time between two calls is computing; what a
//! call takes is for the model to say. A rank begins with the end of `MPI_Init`, because the ranks' clocks differ. Collectives
//! become the pattern that is usual for them (`COLLECTIVES`). When `MPI_Init` begins and `MPI_Finalize` ends is not known, and a dash
//! stands for it.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use loggp::{Operation, Schedule, ScheduleBuilder, ScheduleError, Time};

mod call;

use self::call::Call;
use super::patterns::{Before, Collective, add_behind};

/// Whose MPI the program used. Each has numbers of its own for the same things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI: -1 is any source and -2 nobody, and a request has 8 bytes.
    #[default]
    OpenMpi,
    /// MPICH and its kin: -2 is any source and -1 nobody, and a request has 4 bytes.
    Mpich,
}

impl Mpi {
    /// What stands for any source.
    fn any_source(self) -> i64 {
        if self == Mpi::OpenMpi { -1 } else { -2 }
    }

    /// How far apart requests are in an array.
    fn request(self) -> u64 {
        if self == Mpi::OpenMpi { 8 } else { 4 }
    }
}

/// What is wrong with a trace.
#[derive(Debug, thiserror::Error)]
#[error("rank {rank}, line {line}: {why}")]
pub struct TraceError {
    /// Whose trace it is.
    pub rank: usize,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, in one sentence.
    pub why: String,
}

/// The pattern of a collective, and where its arguments are: length, datatype, root and communicator. The beginning is argument 0.
struct Shape {
    name: &'static str,
    pattern: &'static str,
    count: Option<usize>,
    root: Option<usize>,
    comm: usize,
}

/// The collectives that can be read. A datatype stands behind its count.
const COLLECTIVES: [Shape; 10] = [
    shape("MPI_Barrier", "dissemination", None, None, 1),
    shape("MPI_Bcast", "binomial-broadcast", Some(2), Some(4), 5),
    shape("MPI_Reduce", "binomial-reduce", Some(3), Some(6), 7),
    shape("MPI_Allreduce", "dissemination", Some(3), None, 6),
    shape("MPI_Scan", "ring", Some(3), None, 6),
    shape("MPI_Exscan", "ring", Some(3), None, 6),
    shape("MPI_Gather", "binomial-gather", Some(2), Some(7), 8),
    // What is sent is said at the root alone, and what is received everywhere.
    shape("MPI_Scatter", "binomial-scatter", Some(5), Some(7), 8),
    shape("MPI_Allgather", "all-gather", Some(5), None, 7),
    shape("MPI_Alltoall", "all-to-all", Some(5), None, 7),
];

const fn shape(
    name: &'static str,
    pattern: &'static str,
    count: Option<usize>,
    root: Option<usize>,
    comm: usize,
) -> Shape {
    Shape { name, pattern, count, root, comm }
}

/// Calls that send and receive nothing: what they take is computing.
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

/// No line is longer.
const LONGEST: u64 = 1 << 20;
/// Nor is a name of MPI.
const LONGEST_NAME: usize = 64;
/// Tags of messages are below this, and those of collectives from here on.
const OF_COLLECTIVES: u32 = 1 << 30;
/// What stands for a moment that is not known.
const UNKNOWN: &str = "-";
/// What stands for any tag.
const ANY_TAG: i64 = -1;

/// The schedule of a program with these traces, rank by rank. Computing takes whole units of time.
pub fn read<R: BufRead>(
    traces: impl ExactSizeIterator<Item = io::Result<R>>,
    mpi: Mpi,
    unit: Time,
) -> Result<Schedule, TraceError> {
    let P = traces.len();
    let at = |rank, line| move |why: ScheduleError| TraceError { rank, line, why: why.to_string() };
    let mut builder = ScheduleBuilder::new(P).map_err(at(0, 1))?;
    for (rank, trace) in traces.enumerate() {
        builder.rank(rank).map_err(at(rank, 1))?;
        let begin = builder.operations();
        let mut this = Rank {
            builder: &mut builder,
            id: rank,
            P,
            mpi,
            unit: unit.as_ps().max(1),
            owed: 0,
            begin,
            before: Vec::new(),
            posted: HashMap::new(),
            collectives: 0,
            since: None,
            ended: false,
        };
        let (mut line, mut number) = (Vec::new(), 0);
        let unreadable = |why, line| TraceError { rank, line, why: format!("it cannot be read: {why}") };
        let mut trace = trace.map_err(|why| unreadable(why, 1))?;
        loop {
            line.clear();
            number += 1;
            let mut part = trace.by_ref().take(LONGEST);
            let read = part.read_until(b'\n', &mut line).map_err(|why| unreadable(why, number))?;
            let refuse = |why| TraceError { rank, line: number, why };
            match read as u64 {
                0 if this.ended => break,
                0 => {
                    return Err(refuse(
                        "the trace ends here, without MPI_Finalize; give one that is whole".into(),
                    ));
                }
                LONGEST => return Err(refuse(format!("a line has less than {LONGEST} bytes"))),
                _ => this.line(String::from_utf8_lossy(&line).trim()).map_err(refuse)?,
            }
        }
    }
    builder.build().map_err(at(P - 1, 1))
}

/// A rank that is read.
struct Rank<'a> {
    /// Where its operations go.
    builder: &'a mut ScheduleBuilder,
    /// Its number.
    id: usize,
    /// How many there are.
    P: usize,
    /// Whose MPI it used.
    mpi: Mpi,
    /// How long a unit of computing is, in picoseconds.
    unit: i64,
    /// How much longer it has computed than the units that it got.
    owed: i64,
    /// How many operations the ranks before it have.
    begin: usize,
    /// What the next operation waits for.
    before: Vec<Before>,
    /// The operations of requests that were not waited for.
    posted: HashMap<u64, u32>,
    /// How many collectives there were.
    collectives: u32,
    /// Since when it computes, in picoseconds of its clock; nothing before it has begun.
    since: Option<i128>,
    /// Whether it is through.
    ended: bool,
}

impl Rank<'_> {
    /// Reads a line.
    fn line(&mut self, text: &str) -> Result<(), String> {
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
        let call = Call { name, parts: parts.collect() };
        if LOCAL.iter().any(|local| name.starts_with(local)) {
            return Ok(());
        }
        // Outside of MPI there is no clock: for when it begins and ends the tracer has a dash.
        let end = || call.moment(call.parts.len().saturating_sub(1));
        let is_begin = matches!(name, "MPI_Init" | "MPI_Init_thread");
        let begin = if is_begin && call.part(0)? == UNKNOWN { end()? } else { call.moment(0)? };
        if name == "MPI_Finalize" {
            self.ended = true;
            return self.compute(begin);
        }
        let end = end()?;
        if end < begin {
            return Err(format!("{name} ends before it begins"));
        }
        if !is_begin {
            self.compute(begin)?;
            self.call(&call)?;
        }
        self.since = Some(end);
        Ok(())
    }

    /// Computes until then.
    fn compute(&mut self, until: i128) -> Result<(), String> {
        let since = self.since.unwrap_or(until);
        if until < since {
            return Err("the call begins before the last one ended".into());
        }
        let ps = i64::try_from(until - since).ok().and_then(|ps| ps.checked_add(self.owed));
        let ps = ps.ok_or("it computes for longer than a schedule can")?;
        self.owed = ps % self.unit;
        match ps - self.owed {
            0 => Ok(()),
            ps => self.does([Operation::Calc(Time::from_ps(ps))]),
        }
    }

    /// Does what a call does.
    fn call(&mut self, call: &Call) -> Result<(), String> {
        if let Some(shape) = COLLECTIVES.iter().find(|shape| shape.name == call.name) {
            return self.collective(call, shape);
        }
        match call.name {
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Rsend" => self.does(self.send(call, 2, 4, 5, 6)?),
            "MPI_Isend" | "MPI_Ibsend" | "MPI_Issend" | "MPI_Irsend" => {
                let Some(send) = self.send(call, 2, 4, 5, 6)? else { return Ok(()) };
                let operation = self.add(send)?;
                self.posted.insert(call.number(7, "a request")?, operation);
                // What follows need not wait until it has been sent.
                self.before = vec![(operation, true)];
                Ok(())
            }
            "MPI_Recv" => self.does(self.receive(call, 2, 4, 5, 6)?),
            "MPI_Irecv" => {
                let Some(receive) = self.receive(call, 2, 4, 5, 6)? else { return Ok(()) };
                let operation = self.add(receive)?;
                self.posted.insert(call.number(7, "a request")?, operation);
                Ok(())
            }
            "MPI_Sendrecv" => {
                let both = [self.send(call, 2, 4, 5, 11)?, self.receive(call, 7, 9, 10, 11)?];
                self.does(both.into_iter().flatten())
            }
            "MPI_Sendrecv_replace" => {
                let both = [self.send(call, 2, 4, 5, 8)?, self.receive(call, 2, 6, 7, 8)?];
                self.does(both.into_iter().flatten())
            }
            "MPI_Wait" => {
                self.wait(call.number(1, "a request")?);
                Ok(())
            }
            "MPI_Waitall" => {
                let (n, first): (u64, u64) = (call.number(1, "a count")?, call.number(2, "a request")?);
                // There are no more requests than were posted, whatever a trace says.
                let until = first.saturating_add(n.saturating_mul(self.mpi.request()));
                let mut all: Vec<u64> = self.posted.keys().copied().collect();
                all.retain(|one| {
                    (first..until).contains(one) && (one - first).is_multiple_of(self.mpi.request())
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

    /// A send, unless it is to nobody.
    fn send(
        &self,
        call: &Call,
        count: usize,
        to: usize,
        tag: usize,
        comm: usize,
    ) -> Result<Option<Operation>, String> {
        self.check_world(call, comm)?;
        let bytes = call.bytes(count)?;
        let Some(to) = self.peer(call, to)? else { return Ok(None) };
        let tag = self.tag(call, tag)?.ok_or_else(|| format!("{}: no message has any tag", call.name))?;
        Ok(Some(Operation::Send { to, bytes, tag }))
    }

    /// A receive, unless it is from nobody.
    fn receive(
        &self,
        call: &Call,
        count: usize,
        from: usize,
        tag: usize,
        comm: usize,
    ) -> Result<Option<Operation>, String> {
        self.check_world(call, comm)?;
        let (bytes, tag) = (call.bytes(count)?, self.tag(call, tag)?);
        let from = match call.number::<i64>(from, "a rank")? {
            any if any == self.mpi.any_source() => None,
            _ => match self.peer(call, from)? {
                None => return Ok(None),
                from => from,
            },
        };
        Ok(Some(Operation::Recv { from, bytes, tag }))
    }

    /// A rank that it sends to or receives from; nothing for nobody.
    fn peer(&self, call: &Call, place: usize) -> Result<Option<u32>, String> {
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

    /// A tag; nothing for any.
    fn tag(&self, call: &Call, place: usize) -> Result<Option<u32>, String> {
        match call.number::<i64>(place, "a tag")? {
            ANY_TAG => Ok(None),
            tag => match u32::try_from(tag) {
                Ok(tag) if tag < OF_COLLECTIVES => Ok(Some(tag)),
                _ => {
                    Err(format!("{}: {tag} is no tag; tags are from 0 to {}", call.name, OF_COLLECTIVES - 1))
                }
            },
        }
    }

    /// Refuses a communicator that is not of all ranks, in their order.
    fn check_world(&self, call: &Call, place: usize) -> Result<(), String> {
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

    fn collective(&mut self, call: &Call, shape: &Shape) -> Result<(), String> {
        let alone = call.comm(shape.comm)?.1 == 1;
        if alone {
            return Ok(());
        }
        self.check_world(call, shape.comm)?;
        let bytes = shape.count.map_or(Ok(1), |count| call.bytes(count))?;
        let root = shape.root.map_or(Ok(Some(0)), |root| self.peer(call, root))?;
        let root = root.ok_or_else(|| format!("{}: its root is no rank", call.name))? as usize;
        let tag = OF_COLLECTIVES + self.collectives;
        self.collectives += 1;
        let collective = Collective { pattern: shape.pattern, P: self.P, root, bytes, tag };
        let operations = (self.builder.operations() - self.begin) as u32;
        let end = collective.write(self.builder, self.id, &self.before, operations);
        let end = end.map_err(|why| why.to_string())?;
        self.before = vec![(end, false)];
        Ok(())
    }

    /// Does these at once, if there are any, before all that follows.
    fn does(&mut self, all: impl IntoIterator<Item = Operation>) -> Result<(), String> {
        let all: Vec<Before> =
            all.into_iter().map(|what| Ok((self.add(what)?, false))).collect::<Result<_, String>>()?;
        if !all.is_empty() {
            self.before = all;
        }
        Ok(())
    }

    /// What follows waits for a request, if it is one.
    fn wait(&mut self, request: u64) {
        self.before.extend(self.posted.remove(&request).map(|operation| (operation, false)));
    }

    /// Adds an operation behind what is to be done before.
    fn add(&mut self, what: Operation) -> Result<u32, String> {
        add_behind(self.builder, what, &self.before).map_err(|why| why.to_string())
    }
}
