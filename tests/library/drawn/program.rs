//! Programs as data, and their calls on a processor of the machine.

use loggp::{
    AnyTag, Capacity, Group, Latency, Level, Noise, PS, Params, Payload, Ports, Proc, Protocol, Request, Tag,
    Ties, collectives,
};

/// Number of tags: few, so that calls compete for the same messages.
pub(crate) const TAGS: usize = 3;

/// The value of a message, whose bytes are words here.
type Value = Vec<u8>;

/// Returns the tag with this number, for all calls.
fn about(tag: usize) -> Tag<Value> {
    Tag::new(tag as u16)
}

/// Returns the filter for any tag, from one processor or any.
fn any_tag(from: Option<usize>) -> AnyTag<Value> {
    from.map_or(AnyTag::new(), |from| AnyTag::new().from(from))
}

/// Makes a receive with the filter of a pattern. The result is the sender, the tag and the value, or `None`.
macro_rules! receive {
    ($pattern:expr, $filter:ident => $receive:expr) => {
        match $pattern {
            Pattern { from: Some(from), tag: Some(tag) } => {
                let $filter = about(tag).from(from);
                $receive.map(|got| (from, tag, got))
            }
            Pattern { from: None, tag: Some(tag) } => {
                let $filter = about(tag).with_sender();
                $receive.map(|(from, got)| (from, tag, got))
            }
            Pattern { from, tag: None } => {
                let $filter = any_tag(from).with_sender();
                $receive.map(|(from, (tag, got))| (from, usize::from(tag), got))
            }
        }
    };
}

/// A call of a program. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Units of work of a cycle each.
    Work(i64),
    /// `wait_until` this much later.
    Wait(i64),
    /// `barrier`: the machine's own, or else the one made of messages.
    Barrier,
    /// A collective of some processors.
    Together(GroupCall, Vec<usize>),
    Send {
        to: usize,
        tag: usize,
        words: usize,
    },
    SendReceiving {
        to: usize,
        tag: usize,
        words: usize,
        taking: usize,
    },
    /// `send_recv`, or only a `send` if no such message is left to receive.
    SendRecv {
        to: usize,
        tag: usize,
        words: usize,
        from: usize,
    },
    /// Receives until this many matching messages have been received in all, or none is left.
    Recv {
        pattern: Pattern,
        upto: usize,
    },
    /// One `recv_deadline`, with a deadline this much later.
    Until {
        pattern: Pattern,
        wait: i64,
    },
    /// This many `try_recv`, or fewer if one finds a message.
    Poll {
        pattern: Pattern,
        looks: usize,
    },
    /// This many `probe`, or fewer if one sees a message.
    Probe {
        pattern: Pattern,
        looks: usize,
    },
    Put {
        to: usize,
        words: usize,
    },
    /// `get` of so many words, asked for with so many.
    Get {
        to: usize,
        asked: usize,
        back: usize,
    },
    PostGet {
        to: usize,
        asked: usize,
        back: usize,
    },
    Flush(Option<usize>),
    Isend {
        to: usize,
        tag: usize,
        words: usize,
    },
    /// One of the `irecv` calls, if a message is left for it.
    Irecv(Pattern),
    /// `wait` for one of the requests of a kind, if there is one.
    WaitFor {
        how: RequestKind,
        place: usize,
    },
    /// `wait_all` for them.
    WaitAll(RequestKind),
    /// `wait_any` for them, if there is one.
    WaitAny(RequestKind),
    /// This many `test` calls for one of them, or fewer if it is done.
    Test {
        how: RequestKind,
        place: usize,
        looks: usize,
    },
}

use Op::*;

impl Op {
    /// Returns whether the result may depend on the order in which messages arrive.
    pub(crate) fn depends_on_order(&self) -> bool {
        match self {
            Recv { pattern, .. } | Irecv(pattern) => pattern.from.is_none() || pattern.tag.is_none(),
            SendReceiving { .. } | Until { .. } | Poll { .. } | Probe { .. } | Test { .. } | WaitAny(_) => {
                true
            }
            _ => false,
        }
    }
}

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GroupCall {
    Barrier,
    Broadcast,
    AllReduce,
    AllToAll,
}

/// The messages that a receive takes: a sender, or `None` for any, and a tag, or `None` for any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pattern {
    pub from: Option<usize>,
    pub tag: Option<usize>,
}

impl Pattern {
    pub(crate) fn can_take(&self, from: usize, tag: usize) -> bool {
        self.from.is_none_or(|f| f == from) && self.tag.is_none_or(|t| t == tag)
    }

    /// Returns whether the same message may match both patterns.
    fn can_overlap(&self, other: &Pattern) -> bool {
        let differ = |a: Option<usize>, b: Option<usize>| a.zip(b).is_some_and(|(a, b)| a != b);
        !differ(self.from, other.from) && !differ(self.tag, other.tag)
    }
}

/// The call that made a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RequestKind {
    Isend,
    Irecv,
    IrecvFrom,
    IrecvAnyTag,
    Get,
}

impl RequestKind {
    /// The kinds of requests of messages.
    pub(crate) const ALL: [RequestKind; 4] =
        [RequestKind::Isend, RequestKind::Irecv, RequestKind::IrecvFrom, RequestKind::IrecvAnyTag];

    /// Returns whether the first thing that it does is to send.
    pub(crate) fn is_send(self) -> bool {
        matches!(self, RequestKind::Isend | RequestKind::Get)
    }

    /// Returns the call for a receive with this pattern.
    pub(crate) fn of(pattern: Pattern) -> RequestKind {
        match pattern {
            Pattern { tag: None, .. } => RequestKind::IrecvAnyTag,
            Pattern { from: Some(_), .. } => RequestKind::IrecvFrom,
            Pattern { from: None, .. } => RequestKind::Irecv,
        }
    }
}

/// A machine and a program for it: the calls of each processor.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub params: Params,
    pub levels: Vec<Level>,
    pub ports: Ports,
    pub rendezvous: Protocol,
    pub capacity: Capacity,
    pub latency: Latency,
    pub ties: Ties,
    pub noise: Option<Noise>,
    /// Cost of the machine's own barrier, if it has one.
    pub barrier: Option<i64>,
    pub program: Vec<Vec<Op>>,
}

impl Case {
    /// Returns a case without levels and noise, whose machine has no barrier of its own.
    pub(crate) fn new(params: Params, program: &[impl AsRef<[Op]>]) -> Case {
        Case {
            params,
            levels: vec![],
            ports: Ports::Single,
            rendezvous: Protocol::Push,
            capacity: Capacity::Arrived,
            latency: Latency::Exact,
            ties: Ties::Number,
            noise: None,
            barrier: None,
            program: program.iter().map(|calls| calls.as_ref().to_vec()).collect(),
        }
    }

    /// Returns the number of messages that the program sends to a processor, by sender and tag.
    pub(crate) fn sent_to(&self, id: usize) -> Counts {
        let mut counts = vec![[0; TAGS]; self.program.len()];
        for (from, calls) in self.program.iter().enumerate() {
            for op in calls {
                if let Send { to, tag, .. }
                | SendReceiving { to, tag, .. }
                | SendRecv { to, tag, .. }
                | Isend { to, tag, .. } = op
                    && *to == id
                {
                    counts[from][*tag] += 1;
                }
            }
        }
        counts
    }

    /// Returns a processor's calls, and then the receives of all messages left and the waits for its
    /// requests, first for the receives, so that its senders continue.
    pub(crate) fn calls(&self, id: usize) -> Vec<Op> {
        let rest = |tag| Recv { pattern: Pattern { from: None, tag: Some(tag) }, upto: usize::MAX };
        let mut calls = self.program[id].clone();
        calls.extend((0..TAGS).map(rest));
        calls.extend([RequestKind::Irecv, RequestKind::IrecvFrom, RequestKind::IrecvAnyTag].map(WaitAll));
        calls.extend((0..TAGS).map(rest));
        calls.extend([RequestKind::Isend, RequestKind::Get].map(WaitAll));
        calls
    }

    /// Returns whether the program has no collectives, whose messages the oracle does not know.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = |op: &Op| match op {
            Barrier => self.barrier.is_some(),
            Together(..) => false,
            _ => true,
        };
        self.program.iter().flatten().all(plain)
    }

    /// Returns whether the program makes requests.
    pub(crate) fn has_requests(&self) -> bool {
        self.program.iter().flatten().any(|op| matches!(op, Isend { .. } | Irecv(_) | PostGet { .. }))
    }
}

/// Numbers of messages: by sender and tag.
pub(crate) type Counts = Vec<[usize; TAGS]>;

fn count(counts: &Counts, pattern: Pattern) -> usize {
    let all =
        counts.iter().enumerate().flat_map(|(from, tags)| (0..TAGS).map(move |tag| (from, tag, tags[tag])));
    all.filter(|(from, tag, _)| pattern.can_take(*from, *tag)).map(|(.., n)| n).sum()
}

/// The messages to a processor that are still to be received, so that it does not wait for more than are
/// sent.
#[derive(Clone, Debug)]
pub(crate) struct MessageLedger {
    sent: Counts,
    came: Counts,
    /// The receive requests that have not been waited for.
    pending: Vec<Pattern>,
}

impl MessageLedger {
    pub(crate) fn new(case: &Case, id: usize) -> MessageLedger {
        MessageLedger { sent: case.sent_to(id), came: vec![[0; TAGS]; case.program.len()], pending: vec![] }
    }

    /// Returns whether a message is left for such a receive, whichever messages its earlier requests get.
    pub(crate) fn is_left(&self, pattern: Pattern) -> bool {
        let others = self.pending.iter().filter(|other| other.can_overlap(&pattern)).count();
        count(&self.sent, pattern) > count(&self.came, pattern) + others
    }

    /// Returns whether to receive again, until `upto` matching messages have been received.
    pub(crate) fn needs_more(&self, pattern: Pattern, upto: usize) -> bool {
        count(&self.came, pattern) < upto && self.is_left(pattern)
    }

    pub(crate) fn add_received(&mut self, message: Message) {
        self.came[message.from][message.tag] += 1;
    }

    pub(crate) fn add_call(&mut self, pattern: Pattern) {
        self.pending.push(pattern);
    }

    pub(crate) fn remove_call(&mut self, pattern: Pattern) {
        let place = self.pending.iter().position(|other| *other == pattern).expect("it was called for");
        self.pending.remove(place);
    }
}

/// A message that a program received or saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Payload)]
pub(crate) struct Message {
    pub from: usize,
    pub tag: usize,
    /// The length in words; 0 if the message was only seen.
    pub words: usize,
}

/// The state after a call: the local time, and the received message, if any.
#[derive(Clone, Debug, PartialEq, Payload)]
pub(crate) struct Note {
    pub now: i64,
    pub came: Option<Message>,
}

/// The requests of a processor of one kind.
struct Requests<R> {
    patterns: Vec<Pattern>,
    requests: Vec<Request<R>>,
    /// Converts the result of a request to a message.
    open: fn(Pattern, R) -> Option<Message>,
}

/// The calls for requests. Each returns the patterns and messages of the requests that are done.
impl<R> Requests<R> {
    fn new(open: fn(Pattern, R) -> Option<Message>) -> Requests<R> {
        Requests { patterns: vec![], requests: vec![], open }
    }

    fn add(&mut self, pattern: Pattern, request: Request<R>) {
        self.patterns.push(pattern);
        self.requests.push(request);
    }

    fn wait(&mut self, p: &mut Proc, place: usize) -> Vec<(Pattern, Option<Message>)> {
        if self.requests.is_empty() {
            return vec![];
        }
        let place = place % self.requests.len();
        let value = p.wait(self.requests.remove(place));
        self.done(place, value)
    }

    fn done(&mut self, place: usize, value: R) -> Vec<(Pattern, Option<Message>)> {
        let pattern = self.patterns.remove(place);
        vec![(pattern, (self.open)(pattern, value))]
    }

    fn wait_all(&mut self, p: &mut Proc) -> Vec<(Pattern, Option<Message>)> {
        let values = p.wait_all(self.requests.drain(..));
        let done = self.patterns.drain(..).zip(values);
        done.map(|(pattern, value)| (pattern, (self.open)(pattern, value))).collect()
    }

    fn wait_any(&mut self, p: &mut Proc) -> Vec<(Pattern, Option<Message>)> {
        if self.requests.is_empty() {
            return vec![];
        }
        let (place, value) = p.wait_any(&mut self.requests);
        self.done(place, value)
    }

    /// Tests a request. Returns `None` if it is not done, and an empty list if there is no request.
    fn test(&mut self, p: &mut Proc, place: usize) -> Option<Vec<(Pattern, Option<Message>)>> {
        let place = place % self.requests.len().max(1);
        if self.requests.is_empty() {
            return Some(vec![]);
        }
        match p.test(self.requests.remove(place)) {
            Ok(value) => Some(self.done(place, value)),
            Err(request) => {
                self.requests.insert(place, request);
                None
            }
        }
    }
}

/// Applies an expression to the requests of a kind.
macro_rules! for_requests {
    ($live:ident, $how:expr, $call:ident ( $($argument:expr),* )) => {
        match $how {
            RequestKind::Isend => $live.isends.$call($($argument),*),
            RequestKind::Irecv => $live.irecvs.$call($($argument),*),
            RequestKind::IrecvFrom => $live.irecvs_from.$call($($argument),*),
            RequestKind::IrecvAnyTag => $live.irecvs_any_tag.$call($($argument),*),
            RequestKind::Get => $live.gets.$call($($argument),*),
        }
    };
}

/// A processor of the machine that runs a program.
struct LiveProcessor {
    came: MessageLedger,
    notes: Vec<Note>,
    isends: Requests<()>,
    irecvs: Requests<(usize, Value)>,
    irecvs_from: Requests<Value>,
    irecvs_any_tag: Requests<(usize, (u16, Value))>,
    gets: Requests<()>,
}

/// Makes a processor's calls, and returns its notes.
pub(crate) fn run_live(p: &mut Proc, case: &Case) -> Vec<Note> {
    fn message(from: usize, tag: usize, value: &Value) -> Option<Message> {
        Some(Message { from, tag, words: value.len() })
    }
    let mut live = LiveProcessor {
        came: MessageLedger::new(case, p.id()),
        notes: vec![],
        isends: Requests::new(|_, ()| None),
        irecvs: Requests::new(|pattern, (from, value)| message(from, pattern.tag?, &value)),
        irecvs_from: Requests::new(|pattern, value| message(pattern.from?, pattern.tag?, &value)),
        irecvs_any_tag: Requests::new(|_, (from, (tag, value))| message(from, tag.into(), &value)),
        gets: Requests::new(|_, ()| None),
    };
    for op in case.calls(p.id()) {
        live.call(p, &op);
    }
    live.notes
}

impl LiveProcessor {
    /// Records the end of a call.
    fn note(&mut self, p: &Proc, came: Option<Message>) {
        came.into_iter().for_each(|message| self.came.add_received(message));
        self.notes.push(Note { now: p.local_time().as_ps(), came });
    }

    fn received(&mut self, p: &Proc, from: usize, tag: usize, value: &Value) {
        self.note(p, Some(Message { from, tag, words: value.len() }));
    }

    /// Records the end of a call by which requests are done.
    fn done(&mut self, p: &Proc, done: Vec<(Pattern, Option<Message>)>) {
        for (pattern, came) in done {
            if came.is_some() {
                self.came.remove_call(pattern);
            }
            self.note(p, came);
        }
    }

    fn call(&mut self, p: &mut Proc, op: &Op) {
        let value = |words: usize| vec![0_u8; words];
        match *op {
            Work(units) => p.work("work", units as u64, || ()),
            Wait(time) => p.wait_until(p.now() + time * PS),
            Barrier => {
                p.barrier();
                self.note(p, None);
            }
            Together(what, ref who) => self.together(p, what, who),
            Send { to, tag, words } => {
                p.send(to, about(tag), value(words));
                self.note(p, None);
            }
            SendReceiving { to, tag, words, taking } => {
                let take = |p: &mut Proc, (from, got): (usize, Value)| self.received(p, from, taking, &got);
                p.send_receiving(to, about(tag), value(words), about(taking).with_sender(), take);
                self.note(p, None);
            }
            SendRecv { to, tag, words, from } => {
                if !self.came.is_left(Pattern { from: Some(from), tag: Some(tag) }) {
                    return self.call(p, &Send { to, tag, words });
                }
                let got = p.send_recv(to, from, about(tag), value(words));
                self.received(p, from, tag, &got);
            }
            Recv { pattern, upto } => {
                while self.came.needs_more(pattern, upto) {
                    let (from, tag, got) = receive!(pattern, filter => Some(p.recv(filter))).unwrap();
                    self.received(p, from, tag, &got);
                }
            }
            Until { pattern, wait } => {
                let time = p.now() + wait * PS;
                let got = receive!(pattern, filter => p.recv_deadline(filter, time));
                self.note(p, got.map(|(from, tag, got)| Message { from, tag, words: got.len() }));
            }
            Poll { pattern, looks } => {
                for _ in 0..looks {
                    let got = receive!(pattern, filter => p.try_recv(filter));
                    let got = got.map(|(from, tag, got)| Message { from, tag, words: got.len() });
                    self.note(p, got);
                    if got.is_some() {
                        return;
                    }
                }
            }
            Probe { pattern, looks } => {
                for _ in 0..looks {
                    let seen = match pattern {
                        Pattern { from: Some(from), tag: Some(tag) } => p.probe(about(tag).from(from)),
                        Pattern { from: None, tag: Some(tag) } => p.probe(about(tag)),
                        Pattern { from, tag: None } => p.probe(any_tag(from)),
                    };
                    let came = seen.map(|from| Message { from, tag: pattern.tag.unwrap_or(0), words: 0 });
                    self.notes.push(Note { now: p.local_time().as_ps(), came });
                    if seen.is_some() {
                        return;
                    }
                }
            }
            Put { to, words } => {
                p.put(to, words);
                self.note(p, None);
            }
            Get { to, asked, back } => {
                p.get(to, asked, back);
                self.note(p, None);
            }
            PostGet { to, asked, back } => {
                let request = p.post_get(to, asked, back);
                self.gets.add(Pattern { from: None, tag: None }, request);
                self.note(p, None);
            }
            Flush(of) => {
                p.flush(of);
                self.note(p, None);
            }
            Isend { to, tag, words } => {
                let request = p.isend(to, about(tag), value(words));
                self.isends.add(Pattern { from: None, tag: None }, request);
                self.note(p, None);
            }
            Irecv(pattern) => {
                if !self.came.is_left(pattern) {
                    return;
                }
                self.came.add_call(pattern);
                match pattern {
                    Pattern { from, tag: None } => {
                        self.irecvs_any_tag.add(pattern, p.irecv(any_tag(from).with_sender()));
                    }
                    Pattern { from: Some(from), tag: Some(tag) } => {
                        self.irecvs_from.add(pattern, p.irecv(about(tag).from(from)));
                    }
                    Pattern { from: None, tag: Some(tag) } => {
                        self.irecvs.add(pattern, p.irecv(about(tag).with_sender()));
                    }
                }
                self.note(p, None);
            }
            WaitFor { how, place } => {
                let done = for_requests!(self, how, wait(p, place));
                self.done(p, done);
            }
            WaitAll(how) => {
                let done = for_requests!(self, how, wait_all(p));
                self.done(p, done);
            }
            WaitAny(how) => {
                let done = for_requests!(self, how, wait_any(p));
                self.done(p, done);
            }
            Test { how, place, looks } => {
                for _ in 0..looks {
                    if let Some(done) = for_requests!(self, how, test(p, place)) {
                        return self.done(p, done);
                    }
                    self.note(p, None);
                }
            }
        }
    }

    /// Calls a collective. Only the time of its end is recorded.
    fn together(&mut self, p: &mut Proc, what: GroupCall, who: &[usize]) {
        let group = Group::new(who.iter().copied());
        let mut p = p.within(&group);
        let (root, n) = (p.id() == who[0], who.len());
        match what {
            GroupCall::Barrier => p.barrier(),
            GroupCall::Broadcast => assert_eq!(collectives::broadcast(&mut p, 0, root.then_some(7_u8)), 7),
            GroupCall::AllReduce => assert_eq!(collectives::all_reduce(&mut p, 1_u8, |a, b| a + b), n as u8),
            GroupCall::AllToAll => assert_eq!(collectives::all_to_all(&mut p, vec![1_u8; n]), vec![1; n]),
        }
        self.note(&p, None);
    }
}
