//! Recorded runs as schedules.
//!
//! A schedule lists computations, sends and receives, and the requirements of each. The calls of a processor
//! require one another in order, a request is required where it was waited for, and calls that only take time
//! become computations: waits for a moment, and probes that found no message.

use std::collections::HashMap;
use std::io::{self, Write};

use loggp_model::message::MessageId;
use loggp_model::params::Noise;
use loggp_model::time::Time;
use loggp_trace::{Call, CallKind, CallTag, Trace};

/// Writes a trace that passed `check` as a schedule.
pub fn write(trace: &Trace, unit: Time, out: &mut dyn Write) -> io::Result<()> {
    let mut lengths = trace.lengths();
    // A message without a send among the calls has the length of its arrival.
    for message in &trace.messages {
        lengths.entry(message.id).or_insert(message.words.saturating_mul(trace.params.word.get()));
    }
    let received = |call: &Call| match &call.kind {
        CallKind::Wait { request, transfer, .. } => Some(((call.id, *request), transfer.message)),
        _ => None,
    };
    writeln!(out, "num_ranks {}", trace.params.P)?;
    let mut writer = ScheduleWriter {
        out,
        unit,
        noise: trace.noise.as_ref(),
        lengths,
        requests: trace.calls.iter().filter_map(received).collect(),
        tags: HashMap::new(),
        rank: RankState::default(),
    };
    let mut calls = trace.calls.chunk_by(|a, b| a.id == b.id).peekable();
    for rank in 0..trace.params.P {
        writeln!(writer.out, "\nrank {rank} {{")?;
        writer.rank = RankState::default();
        for call in calls.next_if(|calls| calls[0].id == rank).unwrap_or_default() {
            writer.write_call(call)?;
        }
        writeln!(writer.out, "}}")?;
    }
    Ok(())
}

/// Refuses a run that cannot be a schedule.
pub fn check(trace: &Trace) -> Result<(), String> {
    if trace.calls.is_empty() && !trace.activities.is_empty() {
        return Err("the trace holds no calls: it is of a schedule that was played, or was recorded long ago; record a run of a program".into());
    }
    if !trace.calls.is_sorted_by_key(|call| call.id) {
        return Err("the trace's calls are not in the order of the processors".into());
    }
    if let Some(call) = trace.calls.iter().find(|call| call.kind == CallKind::Barrier) {
        let (id, start) = (call.id, call.start);
        return Err(format!(
            "processor {id} waits in the machine's own barrier at {start}, and GOAL has none; run the program on a machine \
             without one"
        ));
    }
    Ok(())
}

/// A writer of a schedule's operations.
struct ScheduleWriter<'a> {
    out: &'a mut dyn Write,
    unit: Time,
    /// The noise that lengthened the work of the run.
    noise: Option<&'a Noise>,
    /// The bytes of each message.
    lengths: HashMap<MessageId, usize>,
    /// The message of each request that was waited for, by processor and request.
    requests: HashMap<(usize, u32), MessageId>,
    /// The numbers of tags. Tags in GOAL are small numbers, so each new tag gets the next one.
    tags: HashMap<u64, usize>,
    rank: RankState,
}

/// The state of a rank after the operations so far.
#[derive(Default)]
struct RankState {
    /// Number of the last operation.
    last: usize,
    /// Operations that the next one requires.
    before: Vec<usize>,
    /// Operations of requests that are not waited for yet.
    posted: HashMap<u32, usize>,
    /// Computing time that is not written yet, less than a unit.
    owed: Time,
}

impl ScheduleWriter<'_> {
    /// Writes the operations of a call.
    fn write_call(&mut self, call: &Call) -> io::Result<()> {
        match &call.kind {
            CallKind::Send { to, tag, bytes, .. } => {
                self.rank.before = vec![self.write_send(*to, *bytes, tag)?];
            }
            CallKind::Receive { tag, received: Some(got), .. } => {
                self.rank.before = vec![self.write_receive(got.message, tag)?];
            }
            CallKind::SendRecv(both) => {
                let send = self.write_send(both.to, both.bytes, &both.tag)?;
                let receive = self.write_receive(both.received.message, &both.tag)?;
                self.rank.before = vec![send, receive];
            }
            CallKind::Isend { request, to, tag, bytes } => {
                let send = self.write_send(*to, *bytes, tag)?;
                self.rank.posted.insert(*request, send);
            }
            CallKind::Irecv { request, tag, .. } => {
                if let Some(message) = self.requests.get(&(call.id, *request)) {
                    let receive = self.write_receive(*message, tag)?;
                    self.rank.posted.insert(*request, receive);
                }
            }
            CallKind::Wait { request, .. } => self.rank.before.extend(self.rank.posted.remove(request)),
            CallKind::Barrier => (),
            // Other calls only take time.
            _ => self.write_calc(call)?,
        }
        Ok(())
    }

    /// Writes a computation as long as a call, in whole units. The rest is carried over to the next one.
    fn write_calc(&mut self, call: &Call) -> io::Result<()> {
        self.rank.owed += match (self.noise, &call.kind) {
            // Without its noise: the schedule is played with noise of its own.
            (Some(noise), CallKind::Work(_)) => noise.free(call.id, call.start, call.end),
            _ => call.end - call.start,
        }
        .max(Time::ZERO);
        let units = self.rank.owed.as_ps() / self.unit.as_ps();
        if units > 0 {
            self.rank.owed -= units * self.unit;
            self.rank.before = vec![self.write_operation(&format!("calc {units}"))?];
        }
        Ok(())
    }

    fn write_send(&mut self, to: usize, bytes: usize, tag: &CallTag) -> io::Result<usize> {
        self.write_transfer(&format!("send {bytes}b to {to}"), tag)
    }

    fn write_receive(&mut self, message: MessageId, tag: &CallTag) -> io::Result<usize> {
        let bytes = self.lengths.get(&message).copied().unwrap_or(0);
        self.write_transfer(&format!("recv {bytes}b from {}", message.from), tag)
    }

    /// Writes a send or a receive, with a comment on its tag if that is new. Returns its number.
    fn write_transfer(&mut self, what: &str, tag: &CallTag) -> io::Result<usize> {
        let next = self.tags.len();
        let number = *self.tags.entry(tag.number).or_insert(next);
        if number == next {
            let name = tag.to_string().replace(char::is_control, " "); // a name may be any text
            writeln!(self.out, "// tag {number}: {name}")?;
        }
        self.write_operation(&format!("{what} tag {number}"))
    }

    /// Writes an operation and its requirements. Returns its number.
    fn write_operation(&mut self, what: &str) -> io::Result<usize> {
        self.rank.last += 1;
        let number = self.rank.last;
        writeln!(self.out, "l{number}: {what}")?;
        for before in &self.rank.before {
            writeln!(self.out, "l{number} requires l{before}")?;
        }
        Ok(number)
    }
}
