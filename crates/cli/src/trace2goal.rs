//! `loggp trace2goal`: converts a recorded run into a schedule in GOAL, which LogGOPSim reads.
//!
//! A schedule lists computations, sends and receives, and the requirements of each. The calls of a processor
//! require one another in order, a request is required where it was waited for, and calls that only take time
//! become computations: waits for a moment, and probes that found no message.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use loggp::trace::{Call, CallKind, CallTag, Trace};
use loggp::{MessageId, Noise, Time};

use super::audit::read_trace;
use super::draft::Draft;
use super::error::CliError;
use super::options::parse_length;
use super::output::{extension, unknown_extension};

/// Write the trace of a run as a GOAL schedule, which LogGOPSim reads
#[derive(Args)]
#[command(after_help = "Examples:
  loggp trace2goal scatter.json
  loggp trace2goal scatter.json -o scatter.goal")]
pub struct Trace2GoalCommand {
    /// A file that `loggp run --trace` wrote
    trace: PathBuf,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = parse_length)]
    unit: Time,
    /// Write it to FILE.goal [default: to stdout]
    #[arg(short, long, value_name = "FILE.goal")]
    output: Option<PathBuf>,
}

impl Trace2GoalCommand {
    /// Converts the trace, and prints or writes the schedule.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let refuse = |why: String| CliError::Request(format!("{}: {why}", self.trace.display()));
        let schedule = |out: &mut dyn Write| {
            let trace = read_trace(&self.trace)?;
            check(&trace).map_err(refuse)?;
            if trace
                .calls
                .iter()
                .any(|call| matches!(call.kind, CallKind::Isend { .. } | CallKind::Irecv { .. }))
            {
                let sentence = "what the calls for requests and the waits for them cost, and that messages travel while \
                                their processor computes: GOAL has neither, so the schedule takes another time than the run";
                CliError::request(sentence).warn();
            }
            Ok::<(), CliError>(convert(&trace, self.unit, out)?)
        };
        let Some(path) = &self.output else { return schedule(out) };
        if extension(path) != "goal" {
            return Err(unknown_extension(path, ".goal"));
        }
        let draft = Draft::create(path, "output")?;
        let mut text = Vec::new();
        schedule(&mut text)?;
        draft.write(|mut file| file.write_all(&text))
    }
}

/// Writes a trace that passed `check` as a schedule.
pub fn convert(trace: &Trace, unit: Time, out: &mut dyn Write) -> io::Result<()> {
    let mut tags = TagNumbers::default();
    let mut lengths = trace.lengths();
    let mut requests = HashMap::new();
    for call in &trace.calls {
        if let CallKind::Wait { request, is_send, transfer } = &call.kind {
            requests.insert((call.id, *request), (*is_send, transfer.message));
        }
    }
    // A message without a send among the calls has the length of its arrival.
    for message in &trace.messages {
        lengths.entry(message.id).or_insert(message.words.saturating_mul(trace.params.word.get()));
    }
    writeln!(out, "num_ranks {}", trace.params.P)?;
    let mut calls = trace.calls.chunk_by(|a, b| a.id == b.id).peekable();
    for rank in 0..trace.params.P {
        writeln!(out, "\nrank {rank} {{")?;
        let (before, posted, noise) = (Vec::new(), HashMap::new(), trace.noise.as_ref());
        let mut writer = RankWriter { out, noise, last: 0, before, posted, owed: Time::ZERO };
        for call in calls.next_if(|calls| calls[0].id == rank).unwrap_or_default() {
            writer.write_call(call, unit, &mut tags, &lengths, &requests)?;
        }
        writeln!(out, "}}")?;
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

/// The numbers of tags. Tags in GOAL are small numbers, so each new tag gets the next one.
#[derive(Default)]
struct TagNumbers(HashMap<u64, usize>);

impl TagNumbers {
    /// Returns the number of a tag, and whether it is new.
    fn number(&mut self, tag: &CallTag) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(tag.number).or_insert(next);
        (number, number == next)
    }
}

/// For each processor and request: whether it sends, and its message.
type WaitedRequests = HashMap<(usize, u32), (bool, MessageId)>;

/// A writer of the operations of one rank.
struct RankWriter<'a> {
    out: &'a mut dyn Write,
    /// The noise that lengthened the work of the run.
    noise: Option<&'a Noise>,
    /// Number of the last operation.
    last: usize,
    /// Operations that the next one requires.
    before: Vec<usize>,
    /// Operations of requests that are not waited for yet.
    posted: HashMap<u32, usize>,
    /// Computing time that is not written yet, less than a unit.
    owed: Time,
}

impl RankWriter<'_> {
    /// Writes the operations of a call.
    fn write_call(
        &mut self,
        call: &Call,
        unit: Time,
        tags: &mut TagNumbers,
        lengths: &HashMap<MessageId, usize>,
        requests: &WaitedRequests,
    ) -> io::Result<()> {
        let bytes = |id: MessageId| lengths.get(&id).copied().unwrap_or(0);
        match &call.kind {
            CallKind::Send { to, tag, bytes, .. } => {
                self.write_ordered_transfer(&format!("send {bytes}b to {to}"), tag, tags)
            }
            CallKind::Receive { tag, received: Some(got), .. } => {
                let (from, bytes) = (got.message.from, bytes(got.message));
                self.write_ordered_transfer(&format!("recv {bytes}b from {from}"), tag, tags)
            }
            CallKind::SendRecv(both) => {
                let got = bytes(both.received.message);
                let send =
                    self.write_transfer(&format!("send {}b to {}", both.bytes, both.to), &both.tag, tags)?;
                let receive =
                    self.write_transfer(&format!("recv {got}b from {}", both.from), &both.tag, tags)?;
                self.before = vec![send, receive];
                Ok(())
            }
            CallKind::Isend { request, to, tag, bytes } => {
                let operation = self.write_transfer(&format!("send {bytes}b to {to}"), tag, tags)?;
                self.posted.insert(*request, operation);
                Ok(())
            }
            CallKind::Irecv { request, tag, .. } => {
                let Some((_, message)) = requests.get(&(call.id, *request)) else { return Ok(()) };
                let (from, bytes) = (message.from, bytes(*message));
                let operation = self.write_transfer(&format!("recv {bytes}b from {from}"), tag, tags)?;
                self.posted.insert(*request, operation);
                Ok(())
            }
            CallKind::Wait { request, .. } => {
                self.before.extend(self.posted.remove(request));
                Ok(())
            }
            CallKind::Barrier => Ok(()),
            // Other calls only take time.
            _ => self.write_calc(call, unit),
        }
    }

    /// Writes a computation as long as a call, in whole units. The rest is carried over to the next one.
    fn write_calc(&mut self, call: &Call, unit: Time) -> io::Result<()> {
        self.owed += match (self.noise, &call.kind) {
            // Without its noise: the schedule is played with noise of its own.
            (Some(noise), CallKind::Work(_)) => noise.free(call.id, call.start, call.end),
            _ => call.end - call.start,
        }
        .max(Time::ZERO);
        let units = self.owed.as_ps() / unit.as_ps();
        if units == 0 {
            return Ok(());
        }
        self.owed -= units * unit;
        let operation = self.write_operation(&format!("calc {units}"))?;
        self.before = vec![operation];
        Ok(())
    }

    /// Writes a send or a receive that all later operations require.
    fn write_ordered_transfer(&mut self, what: &str, tag: &CallTag, tags: &mut TagNumbers) -> io::Result<()> {
        self.before = vec![self.write_transfer(what, tag, tags)?];
        Ok(())
    }

    /// Writes a send or a receive, with a comment on its tag if that is new. Returns its number.
    fn write_transfer(&mut self, what: &str, tag: &CallTag, tags: &mut TagNumbers) -> io::Result<usize> {
        let (number, is_new) = tags.number(tag);
        if is_new {
            let name = tag.to_string().replace(char::is_control, " "); // a name may be any text
            writeln!(self.out, "// tag {number}: {name}")?;
        }
        self.write_operation(&format!("{what} tag {number}"))
    }

    /// Writes an operation and its requirements. Returns its number.
    fn write_operation(&mut self, what: &str) -> io::Result<usize> {
        self.last += 1;
        let number = self.last;
        writeln!(self.out, "l{number}: {what}")?;
        for before in &self.before {
            writeln!(self.out, "l{number} requires l{before}")?;
        }
        Ok(number)
    }
}
