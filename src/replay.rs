//! A recorded run, made again from the calls in its trace: under the same parameters, or under others.
//!
//! The machine runs a program that makes the recorded calls, on the virtual clock. So what a call costs is said by the
//! rules, and nowhere else. Only the values are missing: a message counts for as many bytes as it did and holds none.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::error::RunError;
use crate::machine::limits;
use crate::machine::{Machine, Run};
use crate::message::{MessageId, Pack, Payload, RawTag, Tag, Unpack};
use crate::params::Model;
use crate::params::{MOST_WORDS, Noise, Params, ParamsError};
use crate::proc::{Proc, Request};
use crate::trace::{Call, CallKind, CallTag, Trace, Until, send_after_gap};

/// A recorded run that is to be made again without its program: what would it have taken if?
///
/// Under the parameters that it had, every processor does the same at the same picosecond. Under others, everyone calls the
/// same in the same order. Work takes as long as it took, and the noise lengthens it where it falls then. A receive that got a message waits for one of the same source
/// and tag, whether it named the source or not; one that got nothing is a wait for as long. A moment is a moment: who
/// waited until one does so again.
///
/// ```
/// use loggp::{Machine, Params, Replay, Tag, US};
///
/// const WORD: Tag<u64> = Tag::new(0);
///
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).trace(true).run(|p| match p.id() {
///     0 => { p.work("think", 5, || ()); p.send(1, WORD, 42); }
///     _ => { p.recv(WORD); }
/// })?;
/// let trace = run.trace.unwrap();
/// assert_eq!(Replay::of(&trace).run()?.time, (5 + 2 + 6 + 2) * US);
///
/// let twice = Params { L: 12 * US, ..params };
/// assert_eq!(Replay::of(&trace).params(twice).run()?.time, (5 + 2 + 12 + 2) * US);
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a setting gives back the replay that has it"]
pub struct Replay<'a> {
    /// The run that was.
    trace: &'a Trace,
    /// The parameters of the run that is to be.
    params: Params,
    /// By which model it costs what.
    model: Model,
    /// The longest piece of a message in words, if messages go in pieces.
    longest: Option<usize>,
    /// Whether it is traced.
    traced: bool,
}

/// What a message of a replay carries: nothing, for so many bytes.
struct Blank(usize);

impl Payload for Blank {
    fn bytes(&self) -> usize {
        self.0
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.0.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<Blank> {
        usize::unpack(from).map(Blank)
    }
}

/// More messages than this are not made of a trace's by cutting them in pieces: they would fill the host's memory.
const MOST_PIECES: usize = 1 << 27;

impl<'a> Replay<'a> {
    /// A replay of a run as it was.
    pub fn of(trace: &'a Trace) -> Replay<'a> {
        Replay { trace, params: trace.params, model: Model::default(), longest: None, traced: false }
    }

    /// Sets the parameters. P has to be what it was.
    pub fn params(self, params: Params) -> Replay<'a> {
        Replay { params, ..self }
    }

    /// Cuts every message that is longer than so many words in pieces of so many, and a rest: they are sent one after the
    /// other, and received so (LogGPS, section 4.5, method M2). With S words none waits for its receiver.
    pub fn fragments(self, words: usize) -> Replay<'a> {
        Replay { longest: Some(words), ..self }
    }

    /// Sets the model by which messages cost what they cost.
    pub fn model(self, model: Model) -> Replay<'a> {
        Replay { model, ..self }
    }

    /// Sets whether the replay is traced. An audit does not know the costs of [`Model::LogGP1`] and [`Model::LogGP2`].
    pub fn trace(self, trace: bool) -> Replay<'a> {
        Replay { traced: trace, ..self }
    }

    /// Makes the run again, on the virtual clock.
    ///
    /// # Errors
    ///
    /// If the trace holds no calls, or none that can be made again; if P is another; and if the run cannot end: where
    /// messages wait for their receivers that did not before, the program may be one that deadlocks.
    pub fn run(&self) -> Result<Run<()>, RunError> {
        let trace = self.trace;
        // A few bytes can say that there are millions of processors: then nothing is made for each of them.
        limits::check(ClockKind::Virtual, Carrier::Coroutine, self.params.P, STACK)?;
        let is_same = self.params == trace.params && self.model == Model::LogGPS && self.longest.is_none();
        let (params, surcharge) = self.model.of(self.params)?;
        let pieces = Pieces { longest: self.longest.map(|words| words.saturating_mul(params.word.get())) };
        let calls = self.check(&pieces, is_same)?;
        let lengths = self.longest.map(|_| trace.lengths()).unwrap_or_default();
        let requests = requests(trace);
        let mut machine = Machine::new(params).ports(trace.ports).surcharge(surcharge).trace(self.traced);
        // What was drawn for a message is no other message's, which it might get if there are more of them now.
        machine = match is_same {
            true => machine.repeat(trace),
            false => machine.latency(trace.latency).ties(trace.ties).noise(trace.noise.clone()),
        };
        machine = machine.levels(trace.levels.iter().copied());
        if let Some(cost) = trace.barrier {
            machine = machine.barrier(cost);
        }
        machine.stack(STACK).run(|p| {
            let (noise, posted) = (trace.noise.as_ref(), HashMap::new());
            let mut player = Player {
                pieces: &pieces,
                lengths: &lengths,
                requests: &requests,
                noise,
                posted,
                send_after_gap: (0, None),
            };
            let calls = &trace.calls[calls[p.id()].clone()];
            for place in 0..calls.len() {
                player.call(p, calls, place);
            }
        })
    }

    /// Refuses what cannot be made again. Returns where each processor's calls are.
    fn check(&self, pieces: &Pieces, is_same: bool) -> Result<Vec<Range<usize>>, ParamsError> {
        let Replay { trace, params, .. } = self;
        let refuse = |sentence: String| Err(ParamsError::new(sentence));
        if trace.calls.is_empty() && !trace.activities.is_empty() {
            return refuse(
                "the trace holds no calls: it is of a schedule that was played, or was recorded long ago; record a run of a program".into(),
            );
        }
        if !trace.faults.crashed.is_empty() {
            return refuse("the trace is of a run in which a processor crashed: nobody knows what it was about to call; give one of a run without crashes".into());
        }
        if !(trace.faults.is_empty() || is_same) {
            return refuse("the trace is of a run in which messages were lost or came twice, which can be made again only as it was; leave its parameters as they are".into());
        }
        let (was, P) = (trace.params.P, params.P);
        if P != was {
            return refuse(format!("the trace is of {was} processors and not of {P}; give P = {was}"));
        }
        if self.longest == Some(0) {
            return refuse("a message cannot go in pieces of 0 words; give at least 1".into());
        }
        let mut ranges = vec![0..0; P];
        let mut messages = 0_usize;
        let mut place = 0;
        for calls in trace.calls.chunk_by(|a, b| a.id == b.id) {
            let id = calls[0].id;
            let Some(range) = ranges.get_mut(id).filter(|range| range.end == 0) else {
                return refuse(format!(
                    "the trace's calls are not in the order of {P} processors: here is one of processor {id}"
                ));
            };
            *range = place..place + calls.len();
            place = range.end;
            for call in calls {
                messages = messages.saturating_add(self.check_call(call, pieces)?);
            }
        }
        if self.longest.is_some() && messages > MOST_PIECES {
            return refuse(format!(
                "so short pieces would be more than {MOST_PIECES} messages; give longer ones"
            ));
        }
        Ok(ranges)
    }

    /// Refuses a call that cannot be made. Returns how many messages it sends.
    fn check_call(&self, call: &Call, pieces: &Pieces) -> Result<usize, ParamsError> {
        let P = self.params.P;
        let refuse = |why: String| {
            let (id, start, name) = (call.id, call.start, call.what.name());
            Err(ParamsError::new(format!("processor {id}'s {name} at {start} cannot be made again: {why}")))
        };
        let (other, tag, bytes) = match &call.what {
            CallKind::Send { to, tag, bytes, .. } => (Some(*to), Some(tag), *bytes),
            CallKind::Receive { tag, got, .. } => (got.as_ref().map(|got| got.message.from), Some(tag), 0),
            CallKind::Isend { to, tag, bytes, .. } => (Some(*to), Some(tag), *bytes),
            CallKind::Irecv { tag, .. } => (None, Some(tag), 0),
            CallKind::Wait { transfer, .. } => (Some(transfer.message.from), None, 0),
            CallKind::SendRecv(both) => (Some(both.to.max(both.from)), Some(&both.tag), both.bytes),
            CallKind::Barrier if self.trace.barrier.is_none() => {
                return refuse("the machine has no barrier of its own".into());
            }
            _ => (None, None, 0),
        };
        if let Some(other) = other.filter(|other| *other >= P) {
            return refuse(format!("there is no processor {other}"));
        }
        let is_receive = matches!(call.what, CallKind::Receive { .. } | CallKind::Irecv { .. });
        let can_be = |tag: RawTag| tag.can_be_sent() || (is_receive && tag == RawTag::ANY);
        if let Some(tag) = tag.filter(|tag| !can_be(RawTag::numbered(tag.number))) {
            return refuse(format!("no program can send a message {tag}"));
        }
        if bytes / self.params.word.get() >= MOST_WORDS {
            return refuse(format!("a message of {bytes} bytes is longer than any can be"));
        }
        Ok(pieces.count(bytes))
    }
}

/// A replay's processors call nothing that takes more: a little above the least.
const STACK: usize = 64 << 10;

/// The message of each processor's each request for a receive, which its wait says.
type Requests = HashMap<(usize, u32), MessageId>;

fn requests(trace: &Trace) -> Requests {
    let done = |call: &Call| match &call.what {
        CallKind::Wait { request, sends: false, transfer } => Some(((call.id, *request), transfer.message)),
        _ => None,
    };
    trace.calls.iter().filter_map(done).collect()
}

/// In which pieces messages go.
struct Pieces {
    /// The bytes of the longest piece, if messages go in pieces.
    longest: Option<usize>,
}

impl Pieces {
    /// How many there are of a message.
    fn count(&self, bytes: usize) -> usize {
        self.longest.map_or(1, |longest| bytes.div_ceil(longest).max(1))
    }

    /// For how many bytes each counts.
    fn of(&self, bytes: usize) -> impl Iterator<Item = Blank> + use<> {
        let longest = self.longest.unwrap_or(usize::MAX);
        (0..self.count(bytes)).map(move |n| Blank((bytes - n * longest).min(longest)))
    }
}

/// Makes one processor's calls.
struct Player<'a> {
    /// In which pieces messages go.
    pieces: &'a Pieces,
    /// For how many bytes each message counts, if messages go in pieces.
    lengths: &'a HashMap<MessageId, usize>,
    /// The messages that requests are for.
    requests: &'a Requests,
    /// The noise, which lengthens work again.
    noise: Option<&'a Noise>,
    /// How it waits for its requests, for which it has not waited: each stands for one for each piece.
    posted: HashMap<u32, Wait>,
    /// The place up to which [`send_after_gap`](Player::send_after_gap) knows the answer, and the answer.
    send_after_gap: (usize, Option<(usize, usize)>),
}

/// Waits for the requests that stand for one.
type Wait = Box<dyn FnOnce(&mut Proc)>;

/// Waits for all of these requests, when it is called.
fn wait_for<T: 'static>(requests: Vec<Request<T>>) -> Wait {
    Box::new(|p| drop(p.wait_all(requests)))
}

impl Player<'_> {
    /// How many pieces there are of a message.
    fn count(&self, id: MessageId) -> usize {
        self.pieces.count(self.lengths.get(&id).copied().unwrap_or(0))
    }

    /// The send before which the call at `place` receives while the gap runs: its receiver, and how many bytes its first
    /// piece has.
    fn send_after_gap(&mut self, calls: &[Call], place: usize) -> Option<(usize, usize)> {
        if self.send_after_gap.0 <= place {
            let next = send_after_gap(&calls[place..]).and_then(|(after, send)| match send.what {
                CallKind::Send { to, bytes, .. } => {
                    Some((place + after, Some((to, self.pieces.of(bytes).next()?.0))))
                }
                _ => None,
            });
            self.send_after_gap = next.unwrap_or((calls.len(), None));
        }
        self.send_after_gap.1
    }

    /// Makes the call at `place`.
    fn call(&mut self, p: &mut Proc, calls: &[Call], place: usize) {
        let call = &calls[place];
        match &call.what {
            CallKind::Work(kind) => {
                let took = match self.noise {
                    None => call.end - call.start,
                    Some(noise) => noise.free(call.id, call.start, call.end),
                };
                p.computes_for(kind.clone(), took);
            }
            CallKind::WaitUntil(time) => p.wait_until(*time),
            CallKind::Send { to, tag, bytes, .. } => {
                self.pieces.of(*bytes).for_each(|piece| p.send(*to, blank(tag), piece));
            }
            CallKind::Receive { tag, until, got: Some(got), .. } => {
                let send = if *until == Until::GapOver { self.send_after_gap(calls, place) } else { None };
                for _ in 0..self.count(got.message) {
                    match send {
                        Some(send) => p.recv_in_gap(send, got.message.from, blank(tag)),
                        None => receive(p, got.message.from, tag),
                    }
                }
            }
            CallKind::Receive { until: Until::GapOver, got: None, .. } => {
                if let Some((to, bytes)) = self.send_after_gap(calls, place) {
                    p.wait_for_gap(to, bytes);
                }
            }
            CallKind::Receive { until: Until::Moment(time), got: None, .. } if *time > p.now() => {
                p.wait_until(*time);
            }
            CallKind::Receive { got: None, .. } | CallKind::Probe { .. } | CallKind::Test { .. } => {
                p.wait_until(p.now() + p.params().cycle);
            }
            CallKind::SendRecv(both) => {
                let (to, from, tag) = (both.to, both.from, blank(&both.tag));
                let mut left = self.count(both.got.message);
                for piece in self.pieces.of(both.bytes) {
                    if left == 0 {
                        p.send(to, tag, piece);
                        continue;
                    }
                    left -= 1;
                    p.send_recv(to, piece, from, tag);
                }
                (0..left).for_each(|_| _ = p.recv_from(from, tag));
            }
            CallKind::Barrier => drop(p.own_barrier()),
            CallKind::Isend { request, to, tag, bytes } => {
                let sends = self.pieces.of(*bytes).map(|piece| p.isend(*to, blank(tag), piece)).collect();
                self.posted.insert(*request, wait_for(sends));
            }
            CallKind::Irecv { request, tag, .. } => {
                let Some(message) = self.requests.get(&(call.id, *request)) else { return };
                let (from, pieces) = (message.from, 0..self.count(*message));
                let wait = if RawTag::numbered(tag.number).is_wild() {
                    wait_for(pieces.map(|_| p.irecv_any_tag::<Blank>(Some(from))).collect())
                } else {
                    wait_for(pieces.map(|_| p.irecv_from(from, blank(tag))).collect())
                };
                self.posted.insert(*request, wait);
            }
            CallKind::Wait { request, .. } => {
                if let Some(wait) = self.posted.remove(request) {
                    wait(p);
                }
            }
        }
    }
}

/// Receives a message, or a piece of one.
fn receive(p: &mut Proc, from: usize, tag: &CallTag) {
    if RawTag::numbered(tag.number).is_wild() {
        _ = p.recv_any_tag::<Blank>(Some(from));
    } else {
        _ = p.recv_from(from, blank(tag));
    }
}

/// A recorded tag, for messages without values. Its name is known only if the run is of this process: a name from a file
/// would have to live for ever.
fn blank(tag: &CallTag) -> Tag<Blank> {
    let name = match tag.name {
        Some(Cow::Borrowed(name)) => Some(name),
        _ => None,
    };
    Tag::of(RawTag::numbered(tag.number), name)
}
