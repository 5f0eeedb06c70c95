//! The replay of a recorded run from the calls in its trace, under the same parameters or others.
//!
//! The machine runs a program that makes the recorded calls, on the virtual clock, so the rules determine the
//! cost of each call as in any run. Only the values are missing: a message counts for its recorded bytes, but
//! holds none.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use loggp_model::error::RunError;
use loggp_model::log::{Call, CallKind, CallParts, CallTag, SendRecv, Transfer, Until};
use loggp_model::message::{MessageId, Pack, Payload, RawTag, Tag, Unpack};
use loggp_model::params::{LeveledParams, MAX_WORDS, Noise, Params, ParamsError, innermost_params};
use loggp_predict::Model;
use loggp_trace::{Trace, send_after_gap};

use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::machine::limits;
use crate::machine::{Machine, Run};
use crate::proc::{Proc, Request};

/// A replay of a recorded run without its program, to find its time under other parameters.
///
/// Under the recorded parameters, every processor does the same at the same picosecond. Under others, every
/// processor makes the same calls in the same order. Work takes as long as recorded, and is lengthened by the
/// noise at its new time. A receive that got a message waits for one of the same source and tag, even if it
/// did not name the source; a receive that got none waits for the recorded time. Waits until a moment keep
/// that moment.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
/// use loggp::replay::Replay;
///
/// const WORD: Tag<u64> = Tag::new(0);
///
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).trace(true).run(|p| match p.id() {
///     0 => { p.work("think", 5, || ()); p.send(1, WORD, 42); }
///     _ => { p.recv(WORD); }
/// })?;
/// let trace = run.trace.unwrap();
/// assert_eq!(Replay::new(&trace).run()?.time, (5 + 2 + 6 + 2) * US);
///
/// let twice = Params { L: 12 * US, ..params };
/// assert_eq!(Replay::new(&trace).params(twice).run()?.time, (5 + 2 + 12 + 2) * US);
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a setting gives back the replay that has it"]
pub struct Replay<'a> {
    trace: &'a Trace,
    machine: LeveledParams,
    model: Model,
    /// Length of the longest piece in words, if messages are sent in pieces.
    longest: Option<usize>,
    is_traced: bool,
}

/// A payload without a value that counts for this many bytes.
struct BlankPayload(usize);

impl Payload for BlankPayload {
    fn bytes(&self) -> usize {
        self.0
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.0.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<BlankPayload> {
        usize::unpack(from).map(BlankPayload)
    }
}

/// The most messages that may result from cutting messages in pieces: more would fill the host's memory.
const MAX_PIECES: usize = 1 << 27;

impl<'a> Replay<'a> {
    /// Creates a replay of a run as it was.
    pub fn new(trace: &'a Trace) -> Replay<'a> {
        Replay { trace, machine: trace.machine(), model: Model::default(), longest: None, is_traced: false }
    }

    /// Sets the parameters, and leaves the levels as they are. P must be that of the trace.
    pub fn params(self, params: Params) -> Replay<'a> {
        Replay { machine: LeveledParams { params, ..self.machine }, ..self }
    }

    /// Sets the parameters of the machine and of its levels. P must be that of the trace.
    pub fn machine(self, machine: LeveledParams) -> Replay<'a> {
        Replay { machine, ..self }
    }

    /// Cuts every message of more than `words` words in pieces of that length and a rest, which are sent and
    /// received one after the other (LogGPS, section 4.5, method M2). With `words` = S, no message waits for
    /// its receiver.
    pub fn fragments(self, words: usize) -> Replay<'a> {
        Replay { longest: Some(words), ..self }
    }

    /// Sets the model of the messages' costs.
    pub fn model(self, model: Model) -> Replay<'a> {
        Replay { model, ..self }
    }

    /// Sets whether the replay is traced. An audit does not know the costs of [`Model::LogGP1`] and
    /// [`Model::LogGP2`].
    pub fn trace(self, trace: bool) -> Replay<'a> {
        Replay { is_traced: trace, ..self }
    }

    /// Runs the replay, on the virtual clock.
    ///
    /// # Errors
    ///
    /// If the trace has no calls, or calls that cannot be replayed; if P differs; and if the run cannot end:
    /// a program may deadlock when messages wait for their receivers that did not before.
    pub fn run(&self) -> Result<Run<()>, RunError> {
        let trace = self.trace;
        // A few bytes of a trace can claim millions of processors, so check before anything is made for each
        // of them.
        let LeveledParams { params, levels } = &self.machine;
        limits::check(ClockKind::Virtual, Carrier::Coroutine, params.P, STACK, true)?;
        let is_same = *params == trace.params
            && *levels == trace.levels
            && self.model == Model::LogGPS
            && self.longest.is_none();
        let (params, surcharge) = self.model.apply(*params)?;
        let pieces = Pieces { longest: self.longest.map(|words| words.saturating_mul(params.word.get())) };
        let calls = self.check(&pieces, is_same)?;
        let lengths = self.longest.map(|_| trace.lengths()).unwrap_or_default();
        let requests = request_messages(trace);
        let synchronous = synchronous_requests(trace);
        let keeps_order = trace.calls.iter().any(|call| call.kind.tag().is_some_and(is_scoped));
        let mut machine =
            Machine::new(params).with_transport(trace.transport()).surcharge(surcharge).trace(self.is_traced);
        // The recorded draws fit only the recorded messages, so a changed run draws anew.
        machine = match is_same {
            true => machine.order(trace),
            false => machine.latency(trace.latency).ties(trace.ties).noise(trace.noise.clone()),
        };
        machine = machine.levels(levels.iter().copied());
        if let Some(cost) = trace.barrier {
            machine = machine.barrier(cost);
        }
        // SAFETY: the program below is not the user's, calls nothing deep, and has plenty of this stack.
        machine = unsafe { machine.stack(STACK).unguarded_stacks(true) };
        machine.run(|p| {
            if keeps_order {
                p.keep_order();
            }
            let mut player = CallPlayer {
                pieces: &pieces,
                lengths: &lengths,
                requests: &requests,
                synchronous: &synchronous,
                trace,
                noise: trace.noise.as_ref(),
                waits: HashMap::new(),
                send_after_gap: (0, None),
            };
            let calls = &trace.calls[calls[p.id()].clone()];
            for index in 0..calls.len() {
                player.make_call(p, calls, index);
            }
        })
    }

    /// Refuses a trace that cannot be replayed. Returns the range of each processor's calls.
    fn check(&self, pieces: &Pieces, is_same: bool) -> Result<Vec<Range<usize>>, ParamsError> {
        let Replay { trace, machine: LeveledParams { params, levels }, .. } = self;
        let refuse = |sentence: String| Err(ParamsError::new(sentence));
        if self.model != Model::LogGPS && !levels.is_empty() {
            return refuse("the machine has levels, and the models with which LogGPS is compared have none; leave the model out".into());
        }
        if trace.calls.is_empty() && !trace.activities.is_empty() {
            return refuse(
                "the trace holds no calls: it is of a schedule that was played, or was recorded long ago; record a run of a program".into(),
            );
        }
        if !trace.faults.crashed.is_empty() {
            return refuse("the trace is of a run in which a processor crashed: nobody knows what it was about to call; give one of a run without crashes".into());
        }
        if trace.faults.ended_early {
            let sentence = "the trace is of a run that could end before its programs, or with messages left: nobody knows \
                            what they were about to call; give one of a run that ends with them";
            return refuse(sentence.into());
        }
        let is_in_gap = |call: &Call| {
            matches!(call.kind, CallKind::Receive { until: Until::GapOver, received: Some(_), .. })
        };
        if trace.capacity.lasts_until_received() && trace.calls.iter().any(is_in_gap) {
            return refuse("the trace is of a run in which processors may have received while their messages stalled, and nobody knows when they would again; give one in which a message is in transit until it arrives".into());
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
        let mut index = 0;
        for calls in trace.calls.chunk_by(|a, b| a.id == b.id) {
            let id = calls[0].id;
            let Some(range) = ranges.get_mut(id).filter(|range| range.end == 0) else {
                return refuse(format!(
                    "the trace's calls are not in the order of {P} processors: here is one of processor {id}"
                ));
            };
            *range = index..index + calls.len();
            index = range.end;
            for call in calls {
                messages = messages.saturating_add(self.check_call(call, pieces)?);
            }
        }
        if self.longest.is_some() && messages > MAX_PIECES {
            return refuse(format!(
                "so short pieces would be more than {MAX_PIECES} messages; give longer ones"
            ));
        }
        Ok(ranges)
    }

    /// Refuses a call that cannot be replayed. Returns the number of messages that it sends.
    fn check_call(&self, call: &Call, pieces: &Pieces) -> Result<usize, ParamsError> {
        let P = self.machine.params.P;
        let refuse = |why: String| {
            let (id, start, name) = (call.id, call.start, call.kind.name());
            Err(ParamsError::new(format!("processor {id}'s {name} at {start} cannot be made again: {why}")))
        };
        if call.kind == CallKind::Barrier && self.trace.barrier.is_none() {
            return refuse("the machine has no barrier of its own".into());
        }
        let CallParts { tag, to_send, from, received, .. } = call.kind.parts();
        let one_sided = match &call.kind {
            CallKind::OneSided { to, bytes, back, .. } => Some((*to, back.unwrap_or(0).max(*bytes))),
            CallKind::Flush { to: Some(to) } => Some((*to, 0)),
            _ => None,
        };
        let (to, bytes) = to_send.or(one_sided).unzip();
        let others = [to, from, received.map(|got| got.message.from)];
        if let Some(other) = others.into_iter().flatten().find(|other| *other >= P) {
            return refuse(format!("there is no processor {other}"));
        }
        let can_be = |tag: RawTag| tag.can_be_sent() || (to_send.is_none() && tag == RawTag::ANY);
        if let Some(tag) = tag.filter(|tag| !can_be(RawTag::from_number(tag.number))) {
            return refuse(format!("no program can send a message {tag}"));
        }
        let bytes = bytes.unwrap_or(0);
        if bytes / self.machine.params.word.get() >= MAX_WORDS {
            return refuse(format!("a message of {bytes} bytes is longer than any can be"));
        }
        Ok(pieces.count(bytes))
    }
}

/// Stack size in bytes, a little above the minimum: a replay's processors need no more.
const STACK: usize = 64 << 10;

/// The message of each receive request, by processor and request number, as recorded by the wait.
type RequestMessages = HashMap<(usize, u32), MessageId>;

fn request_messages(trace: &Trace) -> RequestMessages {
    let received = |call: &Call| {
        let CallParts { request, received, .. } = call.kind.parts();
        Some(((call.id, request?), received?.message))
    };
    trace.calls.iter().filter_map(received).collect()
}

fn is_scoped(tag: &CallTag) -> bool {
    RawTag::from_number(tag.number).is_scoped()
}

/// Returns whether a send asked its receiver although its message was not too long to go without.
fn is_synchronous(trace: &Trace, from: usize, (to, bytes): (usize, usize), sent: &Transfer) -> bool {
    let params = innermost_params(&trace.params, &trace.levels, from, to);
    let is_long = params.gps().is_some_and(|gps| trace.params.words(bytes) > gps.S);
    sent.rendezvous.is_some() && !is_long
}

/// Returns the requests of synchronous sends, by processor and request number.
fn synchronous_requests(trace: &Trace) -> HashSet<(usize, u32)> {
    let mut posted = HashMap::new();
    let mut synchronous = HashSet::new();
    for Call { id, kind, .. } in &trace.calls {
        match kind {
            CallKind::Isend { request, to, bytes, .. } => _ = posted.insert((*id, *request), (*to, *bytes)),
            CallKind::Wait { request, is_send: true, transfer } if transfer.rendezvous.is_some() => {
                let sent = posted.get(&(*id, *request));
                if sent.is_some_and(|sent| is_synchronous(trace, *id, *sent, transfer)) {
                    synchronous.insert((*id, *request));
                }
            }
            _ => (),
        }
    }
    synchronous
}

/// The cutting of messages in pieces.
struct Pieces {
    /// Length of the longest piece in bytes, or `None` if messages are not cut.
    longest: Option<usize>,
}

impl Pieces {
    /// Returns the number of pieces of a message of this many bytes.
    fn count(&self, bytes: usize) -> usize {
        self.longest.map_or(1, |longest| bytes.div_ceil(longest).max(1))
    }

    /// Returns the pieces of a message of this many bytes.
    fn split(&self, bytes: usize) -> impl Iterator<Item = BlankPayload> + use<> {
        let longest = self.longest.unwrap_or(usize::MAX);
        (0..self.count(bytes)).map(move |n| BlankPayload((bytes - n * longest).min(longest)))
    }
}

/// The replay of one processor's calls.
struct CallPlayer<'a> {
    pieces: &'a Pieces,
    /// The bytes of each message, if messages go in pieces.
    lengths: &'a HashMap<MessageId, usize>,
    requests: &'a RequestMessages,
    /// The requests of synchronous sends.
    synchronous: &'a HashSet<(usize, u32)>,
    trace: &'a Trace,
    noise: Option<&'a Noise>,
    /// The waits for the requests not yet waited for, by recorded request. A request stands for those of all
    /// pieces.
    waits: HashMap<u32, WaitFn>,
    /// The index up to which the last result of [`send_after_gap`](CallPlayer::send_after_gap) holds, and
    /// that result.
    send_after_gap: (usize, Option<(usize, usize)>),
}

/// A function that waits for all requests of one recorded request.
type WaitFn = Box<dyn FnOnce(&mut Proc)>;

/// Returns a function that waits for all of these requests.
fn wait_all_fn<T: 'static>(requests: Vec<Request<T>>) -> WaitFn {
    Box::new(|p| drop(p.wait_all(requests)))
}

impl CallPlayer<'_> {
    /// Returns the number of pieces of a recorded message.
    fn count(&self, id: MessageId) -> usize {
        self.pieces.count(self.lengths.get(&id).copied().unwrap_or(0))
    }

    /// Returns the send whose gap the call at `index` uses for receiving: its receiver, and the bytes of its
    /// first piece.
    fn send_after_gap(&mut self, calls: &[Call], index: usize) -> Option<(usize, usize)> {
        if self.send_after_gap.0 <= index {
            let next = send_after_gap(&calls[index..]).and_then(|(after, send)| match send.kind {
                CallKind::Send { to, bytes, .. } => {
                    Some((index + after, Some((to, self.pieces.split(bytes).next()?.0))))
                }
                _ => None,
            });
            self.send_after_gap = next.unwrap_or((calls.len(), None));
        }
        self.send_after_gap.1
    }

    /// Makes a recorded exchange, as long as both sides have pieces; the rest is only sent or received.
    fn exchange(&self, p: &mut Proc, both: &SendRecv) {
        let (to, from, tag) = (both.to, both.from, blank_tag(&both.tag));
        let mut left = self.count(both.received.message);
        for piece in self.pieces.split(both.bytes) {
            if left == 0 {
                p.send(to, tag, piece);
                continue;
            }
            left -= 1;
            p.send_recv(to, from, tag, piece);
        }
        (0..left).for_each(|_| _ = p.recv(tag.from(from)));
    }

    /// Makes the recorded call at `index`.
    fn make_call(&mut self, p: &mut Proc, calls: &[Call], index: usize) {
        let call = &calls[index];
        match &call.kind {
            CallKind::Work(kind) => {
                let took = match self.noise {
                    None => call.end - call.start,
                    Some(noise) => noise.free(call.id, call.start, call.end),
                };
                p.compute_for(kind.clone(), took);
            }
            CallKind::WaitUntil(time) => p.wait_until(*time),
            CallKind::Send { to, tag, bytes, sent }
                if is_synchronous(self.trace, call.id, (*to, *bytes), sent) =>
            {
                self.pieces.split(*bytes).for_each(|piece| p.send_synchronously(*to, blank_tag(tag), piece));
            }
            CallKind::Send { to, tag, bytes, .. } => {
                self.pieces.split(*bytes).for_each(|piece| p.send(*to, blank_tag(tag), piece));
            }
            CallKind::Receive { tag, until, received: Some(got), .. } => {
                let send = if *until == Until::GapOver { self.send_after_gap(calls, index) } else { None };
                for _ in 0..self.count(got.message) {
                    match send {
                        Some(send) => p.recv_in_gap(send, got.message.from, blank_tag(tag)),
                        None => drop(p.recv(blank_tag(tag).from(got.message.from))),
                    }
                }
            }
            CallKind::Receive { until: Until::GapOver, received: None, .. } => {
                if let Some((to, bytes)) = self.send_after_gap(calls, index) {
                    p.wait_for_gap(to, bytes);
                }
            }
            CallKind::Receive { until: Until::Moment(time), received: None, .. } if *time > p.now() => {
                p.wait_until(*time);
            }
            CallKind::Receive { received: None, .. } | CallKind::Probe { .. } | CallKind::Test { .. } => {
                p.wait_until(p.now() + p.params().cycle);
            }
            CallKind::SendRecv(both) => self.exchange(p, both),
            CallKind::Barrier => drop(p.try_hardware_barrier()),
            CallKind::Isend { request, to, tag, bytes } => {
                let asks = self.synchronous.contains(&(call.id, *request));
                let post = |piece| p.post_send(*to, blank_tag(tag), piece, asks);
                let sends = self.pieces.split(*bytes).map(post).collect();
                self.waits.insert(*request, wait_all_fn(sends));
            }
            CallKind::Irecv { request, tag, .. } => {
                let Some(message) = self.requests.get(&(call.id, *request)) else {
                    // It was withdrawn, but its call took its time.
                    let nothing: Tag<BlankPayload> = Tag::from_raw(RawTag::NOTHING, None);
                    let request = p.irecv(nothing);
                    p.withdraw(&request);
                    return;
                };
                let filter = blank_tag(tag).from(message.from);
                let wait = wait_all_fn((0..self.count(*message)).map(|_| p.irecv(filter)).collect());
                self.waits.insert(*request, wait);
            }
            CallKind::OneSided { to, bytes, back: None, .. } => p.put(*to, *bytes),
            CallKind::OneSided { to, bytes, back: Some(back), request: None, .. } => {
                p.get(*to, *bytes, *back)
            }
            CallKind::OneSided { to, bytes, back: Some(back), request: Some(request), .. } => {
                let get = p.post_get(*to, *bytes, *back);
                self.waits.insert(*request, wait_all_fn(vec![get]));
            }
            CallKind::Flush { to } => p.flush(*to),
            CallKind::Wait { request, .. } => {
                if let Some(wait) = self.waits.remove(request) {
                    wait(p);
                }
            }
        }
    }
}

/// Returns the recorded tag, for messages without values. It has its name only if this process recorded the
/// run: a name from a file is not `'static`.
fn blank_tag(tag: &CallTag) -> Tag<BlankPayload> {
    let name = match tag.name {
        Some(Cow::Borrowed(name)) => Some(name),
        _ => None,
    };
    Tag::from_raw(RawTag::from_number(tag.number), name)
}
