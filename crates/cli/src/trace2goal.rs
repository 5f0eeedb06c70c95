//! `loggp trace2goal`: a recorded run as a GOAL schedule, the form in which LogGOPSim reads them.
//!
//! A schedule says which computations, sends and receives there are and what each has to wait for. So the calls of a
//! processor follow one another, a request is waited for where its wait was, and what depends on time alone is computing:
//! waits for a moment, and looks in vain.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use loggp::{Call, CallKind, CallTag, MessageId, Noise, Time, Trace};

use super::audit::read;
use super::draft::Draft;
use super::failure::Failure;
use super::options::length;
use super::output::{ending, unknown};

/// The arguments.
#[derive(Args)]
pub struct Trace2Goal {
    /// A file that `loggp run --trace` wrote
    trace: PathBuf,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = length)]
    unit: Time,
    /// Write it to FILE.goal [default: to stdout]
    #[arg(short, long, value_name = "FILE.goal")]
    output: Option<PathBuf>,
}

impl Trace2Goal {
    /// Reads the trace, and prints or writes the schedule.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let refuse = |why: String| Failure::Request(format!("{}: {why}", self.trace.display()));
        let schedule = |out: &mut dyn Write| {
            let trace = read(&self.trace)?;
            check(&trace).map_err(refuse)?;
            if trace
                .calls
                .iter()
                .any(|call| matches!(call.what, CallKind::Isend { .. } | CallKind::Irecv { .. }))
            {
                let sentence = "what the calls for requests and the waits for them cost, and that messages travel while \
                                their processor computes: GOAL has neither, so the schedule takes another time than the run";
                Failure::request(sentence).warn();
            }
            Ok::<(), Failure>(convert(&trace, self.unit, out)?)
        };
        let Some(path) = &self.output else { return schedule(out) };
        if ending(path) != "goal" {
            return Err(unknown(path, ".goal"));
        }
        let draft = Draft::create(path, "output")?;
        let mut text = Vec::new();
        schedule(&mut text)?;
        draft.write(|mut file| file.write_all(&text))
    }
}

/// Writes a trace that can be one as a schedule.
pub fn convert(trace: &Trace, unit: Time, out: &mut dyn Write) -> io::Result<()> {
    let mut tags = Tags::default();
    let mut lengths = trace.lengths();
    let mut requests = HashMap::new();
    for call in &trace.calls {
        if let CallKind::Wait { request, sends, transfer } = &call.what {
            requests.insert((call.id, *request), (*sends, transfer.message));
        }
    }
    // A message that nobody is said to have sent is as long as it was.
    for message in &trace.messages {
        lengths.entry(message.id).or_insert(message.words.saturating_mul(trace.params.word.get()));
    }
    writeln!(out, "num_ranks {}", trace.params.P)?;
    let mut calls = trace.calls.chunk_by(|a, b| a.id == b.id).peekable();
    for rank in 0..trace.params.P {
        writeln!(out, "\nrank {rank} {{")?;
        let (before, posted, noise) = (Vec::new(), HashMap::new(), trace.noise.as_ref());
        let mut writer = Rank { out, noise, last: 0, before, posted, owed: Time::ZERO };
        for call in calls.next_if(|calls| calls[0].id == rank).unwrap_or_default() {
            writer.call(call, unit, &mut tags, &lengths, &requests)?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// Refuses a run that is no schedule.
pub fn check(trace: &Trace) -> Result<(), String> {
    if trace.calls.is_empty() && !trace.activities.is_empty() {
        return Err("the trace holds no calls: it is of a schedule that was played, or was recorded long ago; record a run of a program".into());
    }
    if !trace.calls.is_sorted_by_key(|call| call.id) {
        return Err("the trace's calls are not in the order of the processors".into());
    }
    if let Some(call) = trace.calls.iter().find(|call| call.what == CallKind::Barrier) {
        let (id, start) = (call.id, call.start);
        return Err(format!(
            "processor {id} waits in the machine's own barrier at {start}, and GOAL has none; run the program on a machine \
             without one"
        ));
    }
    Ok(())
}

/// GOAL's tags are small numbers: each tag gets the next one.
#[derive(Default)]
struct Tags(HashMap<u64, usize>);

impl Tags {
    /// The number of a tag, and whether it is new.
    fn number(&mut self, tag: &CallTag) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(tag.number).or_insert(next);
        (number, number == next)
    }
}

/// The message of each request: whether it is sent, and its name.
type Requests = HashMap<(usize, u32), (bool, MessageId)>;

/// Writes the operations of one rank.
struct Rank<'a> {
    /// Where they go.
    out: &'a mut dyn Write,
    /// The noise that lengthened its work.
    noise: Option<&'a Noise>,
    /// The last one's number.
    last: usize,
    /// Those for which the next one waits.
    before: Vec<usize>,
    /// Those of requests that were not waited for.
    posted: HashMap<u32, usize>,
    /// How much longer it has computed than the units written say.
    owed: Time,
}

impl Rank<'_> {
    /// Writes what a call is.
    fn call(
        &mut self,
        call: &Call,
        unit: Time,
        tags: &mut Tags,
        lengths: &HashMap<MessageId, usize>,
        requests: &Requests,
    ) -> io::Result<()> {
        let bytes = |id: MessageId| lengths.get(&id).copied().unwrap_or(0);
        match &call.what {
            CallKind::Send { to, tag, bytes, .. } => {
                self.goes_on(&format!("send {bytes}b to {to}"), tag, tags)
            }
            CallKind::Receive { tag, got: Some(got), .. } => {
                let (from, bytes) = (got.message.from, bytes(got.message));
                self.goes_on(&format!("recv {bytes}b from {from}"), tag, tags)
            }
            CallKind::SendRecv(both) => {
                let got = bytes(both.got.message);
                let send = self.add(&format!("send {}b to {}", both.bytes, both.to), &both.tag, tags)?;
                let receive = self.add(&format!("recv {got}b from {}", both.from), &both.tag, tags)?;
                self.before = vec![send, receive];
                Ok(())
            }
            CallKind::Isend { request, to, tag, bytes } => {
                let operation = self.add(&format!("send {bytes}b to {to}"), tag, tags)?;
                self.posted.insert(*request, operation);
                Ok(())
            }
            CallKind::Irecv { request, tag, .. } => {
                let Some((_, message)) = requests.get(&(call.id, *request)) else { return Ok(()) };
                let (from, bytes) = (message.from, bytes(*message));
                let operation = self.add(&format!("recv {bytes}b from {from}"), tag, tags)?;
                self.posted.insert(*request, operation);
                Ok(())
            }
            CallKind::Wait { request, .. } => {
                self.before.extend(self.posted.remove(request));
                Ok(())
            }
            CallKind::Barrier => Ok(()),
            // What neither sends nor receives takes time.
            _ => self.calc(call, unit),
        }
    }

    /// Computes for as long as a call took, in whole units: what is left goes to the next one.
    fn calc(&mut self, call: &Call, unit: Time) -> io::Result<()> {
        self.owed += match (self.noise, &call.what) {
            // The schedule's player has noise of its own.
            (Some(noise), CallKind::Work(_)) => noise.free(call.id, call.start, call.end),
            _ => call.end - call.start,
        }
        .max(Time::ZERO);
        let units = self.owed.as_ps() / unit.as_ps();
        if units == 0 {
            return Ok(());
        }
        self.owed -= units * unit;
        let operation = self.write(&format!("calc {units}"))?;
        self.before = vec![operation];
        Ok(())
    }

    /// Sends or receives, before all that follows.
    fn goes_on(&mut self, what: &str, tag: &CallTag, tags: &mut Tags) -> io::Result<()> {
        self.before = vec![self.add(what, tag, tags)?];
        Ok(())
    }

    /// Sends or receives, and says what about where the tag is new. Returns the operation's number.
    fn add(&mut self, what: &str, tag: &CallTag, tags: &mut Tags) -> io::Result<usize> {
        let (number, is_new) = tags.number(tag);
        if is_new {
            let said = tag.to_string().replace(char::is_control, " "); // a name may be any text
            writeln!(self.out, "// tag {number}: {said}")?;
        }
        self.write(&format!("{what} tag {number}"))
    }

    /// Writes an operation, and what it waits for. Returns its number.
    fn write(&mut self, what: &str) -> io::Result<usize> {
        self.last += 1;
        let number = self.last;
        writeln!(self.out, "l{number}: {what}")?;
        for before in &self.before {
            writeln!(self.out, "l{number} requires l{before}")?;
        }
        Ok(number)
    }
}
