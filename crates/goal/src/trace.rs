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
use loggp_schedule::{Operation, ScheduleBuilder, ScheduleError};
use loggp_trace::{Call, CallKind, CallTag, Trace};

use super::text;

/// Writes a trace that passed `check` as a schedule, with a comment on each of its tags.
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
    let too_much = |why: ScheduleError| io::Error::new(io::ErrorKind::InvalidInput, why.to_string());
    let mut writer = RunWriter {
        schedule: ScheduleBuilder::new(trace.params.P).map_err(too_much)?,
        unit,
        noise: trace.noise.as_ref(),
        lengths,
        requests: trace.calls.iter().filter_map(received).collect(),
        tags: HashMap::new(),
        names: Vec::new(),
        rank: RunState::default(),
    };
    let mut calls = trace.calls.chunk_by(|a, b| a.id == b.id).peekable();
    for rank in 0..trace.params.P {
        let calls = calls.next_if(|calls| calls[0].id == rank).unwrap_or_default();
        writer.write_rank(rank, calls).map_err(too_much)?;
    }
    for (number, name) in writer.names.iter().enumerate() {
        writeln!(out, "// tag {number}: {name}")?;
    }
    text::write(&writer.schedule.build().map_err(too_much)?, out, unit)
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

/// A writer of a run's operations into a schedule.
struct RunWriter<'a> {
    schedule: ScheduleBuilder,
    unit: Time,
    /// The noise that lengthened the work of the run.
    noise: Option<&'a Noise>,
    /// The bytes of each message.
    lengths: HashMap<MessageId, usize>,
    /// The message of each request that was waited for, by processor and request.
    requests: HashMap<(usize, u32), MessageId>,
    /// The numbers of tags. Tags in GOAL are small numbers, so each new tag gets the next one.
    tags: HashMap<u64, u32>,
    /// The names of tags, by their numbers.
    names: Vec<String>,
    rank: RunState,
}

/// The state of a rank after the operations so far.
#[derive(Default)]
struct RunState {
    /// Operations that the next one requires.
    before: Vec<u32>,
    /// Operations of requests that are not waited for yet.
    posted: HashMap<u32, u32>,
    /// Computing time that is not written yet, less than a unit.
    owed: Time,
}

impl RunWriter<'_> {
    /// Writes the operations of a rank.
    fn write_rank(&mut self, rank: usize, calls: &[Call]) -> Result<(), ScheduleError> {
        self.schedule.begin_rank(rank)?;
        self.rank = RunState::default();
        calls.iter().try_for_each(|call| self.write_call(call))?;
        self.schedule.end_rank()
    }

    /// Writes the operations of a call.
    fn write_call(&mut self, call: &Call) -> Result<(), ScheduleError> {
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
    fn write_calc(&mut self, call: &Call) -> Result<(), ScheduleError> {
        self.rank.owed += match (self.noise, &call.kind) {
            // Without its noise: the schedule is played with noise of its own.
            (Some(noise), CallKind::Work(_)) => noise.free(call.id, call.start, call.end),
            _ => call.end - call.start,
        }
        .max(Time::ZERO);
        let time = self.rank.owed.as_ps() / self.unit.as_ps() * self.unit;
        if time > Time::ZERO {
            self.rank.owed -= time;
            self.rank.before = vec![self.write_operation(Operation::Calc(time))?];
        }
        Ok(())
    }

    fn write_send(&mut self, to: usize, bytes: usize, tag: &CallTag) -> Result<u32, ScheduleError> {
        let tag = self.tag(tag);
        self.write_operation(Operation::Send { to: to as u32, bytes: bytes as u64, tag })
    }

    fn write_receive(&mut self, message: MessageId, tag: &CallTag) -> Result<u32, ScheduleError> {
        let bytes = self.lengths.get(&message).map_or(0, |bytes| *bytes as u64);
        let tag = Some(self.tag(tag));
        self.write_operation(Operation::Recv { from: Some(message.from as u32), bytes, tag })
    }

    /// Returns the number of a tag.
    fn tag(&mut self, tag: &CallTag) -> u32 {
        *self.tags.entry(tag.number).or_insert_with(|| {
            self.names.push(tag.to_string().replace(char::is_control, " ")); // a name may be any text
            self.names.len() as u32 - 1
        })
    }

    /// Writes an operation and its requirements. Returns its number.
    fn write_operation(&mut self, operation: Operation) -> Result<u32, ScheduleError> {
        let number = self.schedule.add(operation)?;
        self.rank.before.iter().try_for_each(|before| self.schedule.require_done(number, *before))?;
        Ok(number)
    }
}
