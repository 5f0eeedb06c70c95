//! Writes the operations of one rank, call by call.

use loggp_goal::patterns::{AgreementStep, Prerequisite, add_after};
use loggp_model::time::Time;
use loggp_schedule::program::{CallGroup, RankIndex, SpanKind};
use loggp_schedule::{Operation, ScheduleBuilder};
use rustc_hash::FxHashMap;

use super::collectives::{RankCollective, agreement};
use super::communicators::CommunicatorList;
use super::functions::{CalledFunction, group};
use super::knowledge::Channel;
use super::tags::Use;
use super::thread::{CountedTime, Thread, VainLooks};
use super::unseen::add_vain;
use super::{ScheduleOptions, WritingState};
use crate::call::{CollectiveKind, Counts, MpiCall, MpiCallKind, RankCalls, RequestId, Root};
use crate::error::ProgramError;

/// If more operations than this must be over, one that takes no time stands for them.
const MANY: usize = 8;

/// A writer of one rank's operations.
pub(super) struct RankWriter<'a> {
    pub(super) builder: &'a mut ScheduleBuilder,
    pub(super) shared: &'a mut WritingState,
    pub(super) rank: usize,
    /// The number of operations of the ranks before.
    begin: usize,
    pub(super) threads: Vec<Thread>,
    /// The moments that count as computing already, if there are several threads.
    pub(super) computed: CountedTime,
    pub(super) communicators: CommunicatorList,
    pub(super) requests: FxHashMap<RequestId, Posted>,
    /// Messages that a probe found and no receive took so far: the operations that receive these messages.
    pub(super) probed: FxHashMap<(u32, u32), u32>,
    /// The shared numbers of the rank's places.
    places: Vec<u32>,
    pub(super) index: RankIndex,
    /// The numbers of kinds of calls in the index.
    kind_numbers: FxHashMap<SpanKind, u32>,
    pub(super) times: FxHashMap<CallGroup, i64>,
    /// When the rank began and ended.
    ends: (i64, i64),
    is_whole: bool,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub operation: u32,
    /// The other half of a send-receive, or the answer to a synchronous send.
    pub other: Option<u32>,
    /// Where a receive's message comes through.
    pub channel: Option<Channel>,
    /// The length of the message, if it is known already.
    pub bytes: Option<u64>,
    /// True if it is a receive of which it is not known what it takes.
    pub is_open: bool,
}

impl Posted {
    /// Returns a request that is complete when an operation is.
    pub(super) fn new(operation: u32) -> Posted {
        Posted { operation, other: None, channel: None, bytes: None, is_open: false }
    }
}

impl<'a> RankWriter<'a> {
    pub(super) fn new(
        builder: &'a mut ScheduleBuilder,
        shared: &'a mut WritingState,
        rank: usize,
    ) -> RankWriter<'a> {
        let begin = builder.operation_count();
        RankWriter {
            builder,
            shared,
            rank,
            begin,
            threads: Vec::new(),
            computed: CountedTime::default(),
            communicators: CommunicatorList::default(),
            requests: FxHashMap::default(),
            probed: FxHashMap::default(),
            places: Vec::new(),
            index: RankIndex::default(),
            kind_numbers: FxHashMap::default(),
            times: FxHashMap::default(),
            ends: (0, 0),
            is_whole: false,
        }
    }

    pub(super) fn error(&self, why: impl ToString) -> ProgramError {
        ProgramError::of_rank(self.rank, why.to_string())
    }

    /// Adds a piece of the rank's calls.
    pub(super) fn add_calls(&mut self, calls: &RankCalls) -> Result<(), ProgramError> {
        self.communicators.add(
            &calls.communicators,
            &mut self.shared.tags,
            self.rank,
            self.builder.ranks(),
        )?;
        for place in calls.places.iter().skip(self.places.len()) {
            let next = self.shared.places.len() as u32;
            let number = *self.shared.place_numbers.entry(place.clone()).or_insert(next);
            if number == next {
                self.shared.places.push(place.clone());
            }
            self.places.push(number);
        }
        (self.ends, self.is_whole) = ((calls.begin, calls.end), calls.is_whole);
        if let Some(first) = self.threads.iter().filter_map(|thread| thread.computing_since).min() {
            self.computed.forget_before(first);
        }
        calls.calls.iter().try_for_each(|call| self.add_call(call))?;
        // The last piece knows what was not modelled, and whether the program came to its end.
        calls.unmodelled.iter().for_each(|calls| self.shared.unseen.add_calls(calls));
        Ok(())
    }

    fn add_call(&mut self, call: &MpiCall) -> Result<(), ProgramError> {
        let thread = usize::from(call.thread);
        while self.threads.len() <= thread {
            // A thread begins after what the first one did before, if that is known.
            let first = self.threads.first();
            let first = first.filter(|first| first.computing_since.is_some_and(|since| since <= call.begin));
            let before = first.map_or_else(Vec::new, |first| first.before.clone());
            let begin = self.threads.is_empty().then_some(self.ends.0);
            self.threads.push(Thread { before, computing_since: begin, ..Thread::default() });
        }
        if let MpiCallKind::Look { count, inside_ns } = call.kind {
            let none = VainLooks { begin: call.begin, count: 0, inside_ns: 0 };
            let looks = self.threads[thread].looks.get_or_insert(none);
            looks.count = looks.count.saturating_add(count);
            looks.inside_ns = looks.inside_ns.saturating_add(inside_ns);
            return Ok(());
        }
        // What stands for the end of the call before is of that call.
        self.join(thread)?;
        let first = self.count();
        self.add_compute(call)?;
        let (before_call, group) = (self.count(), group(&call.kind));
        let is_own = self.is_own(&call.kind);
        self.add_kind(thread, &call.kind)?;
        if is_own && self.threads[thread].computing_since.is_some() {
            self.threads[thread].computing_since = Some(call.begin);
        } else {
            self.threads[thread].computing_since = Some(call.end);
            *self.times.entry(group).or_default() += call.end.saturating_sub(call.begin);
        }
        if self.shared.options.has_spans {
            let place = self.places.get(call.place as usize).copied().unwrap_or_default();
            let (thread, function) = (call.thread, CalledFunction::of(&call.kind));
            let function = self.shared.function_names.name(function);
            self.add_span(first, SpanKind { place, thread, group, function, has_calc: before_call > first });
        }
        Ok(())
    }

    /// Adds a call of a kind, by its first operation.
    fn add_span(&mut self, first: u32, kind: SpanKind) {
        let spans = &mut self.index.spans;
        let number = *self.kind_numbers.entry(kind).or_insert_with(|| spans.add_kind(kind));
        spans.push(first, number);
    }

    /// Returns the number of the rank's operations so far.
    fn count(&self) -> u32 {
        (self.builder.operation_count() - self.begin) as u32
    }

    /// Adds an operation that waits for those before it in its thread.
    pub(super) fn add(&mut self, thread: usize, what: Operation) -> Result<u32, ProgramError> {
        self.join(thread)?;
        add_after(self.builder, what, &self.threads[thread].before).map_err(|why| self.error(why))
    }

    /// Makes one operation stand for those before, if these are many.
    fn join(&mut self, thread: usize) -> Result<(), ProgramError> {
        let before = &mut self.threads[thread].before;
        if before.len() > MANY {
            let joined = add_after(self.builder, Operation::Calc(Time::ZERO), before);
            *before = vec![(joined.map_err(|why| ProgramError::of_rank(self.rank, why.to_string()))?, false)];
        }
        Ok(())
    }

    /// Makes what follows wait for these alone.
    pub(super) fn go_on_after<const N: usize>(&mut self, thread: usize, all: [Prerequisite; N]) {
        let before = &mut self.threads[thread].before;
        before.clear();
        before.extend(all);
    }

    /// Adds the operations of a call.
    fn add_kind(&mut self, thread: usize, kind: &MpiCallKind) -> Result<(), ProgramError> {
        match kind {
            MpiCallKind::Send { .. } | MpiCallKind::Recv { .. } | MpiCallKind::SendRecv { .. } => {
                self.add_messages(thread, kind)
            }
            MpiCallKind::Start(kinds) => kinds.iter().try_for_each(|kind| match kind {
                MpiCallKind::Collective { .. } => self.add_kind(thread, kind),
                kind => self.add_messages(thread, kind),
            }),
            MpiCallKind::Complete { requests, .. } => {
                requests.iter().for_each(|completed| self.complete(thread, completed));
                Ok(())
            }
            MpiCallKind::Look { .. } => Ok(()),
            MpiCallKind::Probe { message, .. } if self.is_own_message(message) => Ok(()),
            MpiCallKind::Probe { message, .. } => self.probe(thread, message),
            MpiCallKind::Collective { .. } => self.add_collective(thread, kind, None),
            MpiCallKind::StartCollective { made, collective } => {
                self.add_collective(thread, collective, Some(*made))
            }
            MpiCallKind::NewCommunicator { parent, new } => {
                let is_of_some = match new {
                    Some(new) => self.communicators.get(*new, self.rank)?.is_of_some,
                    None => false,
                };
                // If not all ranks of the parent call, those of the new one agree.
                let among = *new.as_ref().filter(|_| is_of_some).unwrap_or(parent);
                let mut steps = agreement(self.shared.options.table).iter();
                steps.try_for_each(|step| self.agree(thread, among, step))
            }
            MpiCallKind::Forget(request) => {
                self.give_up(*request);
                Ok(())
            }
            MpiCallKind::OneSided(what) => self.one_sided(thread, what),
        }
    }

    /// Adds the operations of a collective, and waits for its end if it has no request. A persistent one is `made` as one of its
    /// communicator.
    fn add_collective(
        &mut self,
        thread: usize,
        collective: &MpiCallKind,
        made: Option<u64>,
    ) -> Result<(), ProgramError> {
        let MpiCallKind::Collective { kind, communicator, root, sent, received, request } = collective else {
            return Err(self.error("what a persistent collective starts is none"));
        };
        let which = (*communicator, made);
        let end = self.collective(thread, which, *kind, *root, (sent, received), request.is_some())?;
        match (end, request) {
            (None, _) => (),
            (Some(operation), Some(request)) => {
                self.requests.insert(*request, Posted::new(operation));
            }
            (Some(end), None) => self.go_on_after(thread, [(end, false)]),
        }
        Ok(())
    }

    /// Adds the operations of a step by which ranks agree, and waits for its end.
    pub(super) fn agree(
        &mut self,
        thread: usize,
        communicator: u32,
        step: &AgreementStep,
    ) -> Result<(), ProgramError> {
        let AgreementStep { kind, is_immediate, bytes } = *step;
        let each = Counts::Same(bytes);
        let which = (communicator, None);
        let end = self.collective(thread, which, kind, Root::None, (&each, &each), is_immediate)?;
        end.into_iter().for_each(|end| self.go_on_after(thread, [(end, false)]));
        Ok(())
    }

    /// Adds the operations of a collective. Returns the one that ends it, or `None` if the rank has nothing to do.
    fn collective(
        &mut self,
        thread: usize,
        (communicator, made): (u32, Option<u64>),
        kind: CollectiveKind,
        root: Root,
        (sent, received): (&Counts, &Counts),
        is_immediate: bool,
    ) -> Result<Option<u32>, ProgramError> {
        self.join(thread)?;
        let (operations, rank) = (self.count(), self.rank);
        let communicator = self.communicators.get(communicator, rank)?;
        if communicator.members.len() == 1 && communicator.remote.is_none() {
            return Ok(None);
        }
        let (count, hash) = match made {
            None => (&mut communicator.collectives, &mut communicator.hash),
            Some(made) => {
                let (count, hash) = communicator.persistent.entry(made).or_default();
                (count, hash)
            }
        };
        let number = std::mem::replace(count, *count + 1);
        let of_root = if let Root::Rank(root) = root { u64::from(root) + 1 } else { 0 };
        let what = of_root * u64::from(communicator.remote.is_none()) * 64 + kind as u64;
        *hash = (hash.rotate_left(5) ^ what).wrapping_mul(0x517C_C1B7_2722_0A95);
        let limit = self.shared.knowledge.collectives.get(&(communicator.number, made));
        if limit.is_some_and(|limit| number >= *limit) {
            return Ok(None);
        }
        let tag = match made {
            None => self.shared.tags.of_collective(communicator.number, number),
            // Its starts are one after the other.
            Some(made) => self.shared.tags.tag(Use::Persistent, communicator.number, made as i32),
        };
        let ScheduleOptions { table, combine, .. } = self.shared.options;
        let collective =
            RankCollective { kind, communicator, root, sent, received, tag, is_immediate, table, combine };
        let before = &self.threads[thread].before;
        collective.write(self.builder, operations, before).map_err(|why| ProgramError::of_rank(rank, why))
    }

    /// Ends the rank.
    pub(super) fn finish(mut self) -> Result<RankIndex, ProgramError> {
        let (begin, end) = self.ends;
        if self.threads.is_empty() {
            self.threads.push(Thread { computing_since: Some(begin), ..Thread::default() });
        }
        self.join(0)?;
        let first = self.count();
        for thread in 0..self.threads.len() {
            add_vain(&mut self.shared.unseen, self.threads[thread].looks);
            // Other threads end with their last call.
            let since = self.threads[thread].computing_since.filter(|since| thread == 0 && *since < end);
            since.map_or(Ok(()), |since| self.compute(thread, since, end))?;
        }
        self.shared.flows.is_cut |= !self.is_whole;
        let mut under_way: Vec<RequestId> = self.requests.keys().copied().collect();
        under_way.sort_unstable();
        for request in under_way {
            match self.requests.get(&request) {
                Some(Posted { is_open: true, .. }) if !self.shared.knows_taken => {
                    self.shared.flows.note_open(self.rank as u32);
                }
                _ => self.give_up(request),
            }
        }
        for communicator in self.communicators.iter() {
            let (number, ranks) = (communicator.number, communicator.size());
            if ranks > 1 {
                let counts = &mut self.shared.flows.collectives;
                let rank = (self.rank as u32, ranks);
                counts.add((number, None), rank, (communicator.collectives, communicator.hash));
                for (made, count) in &communicator.persistent {
                    counts.add((number, Some(*made)), rank, *count);
                }
            }
        }
        if self.shared.options.has_spans {
            let has_calc = first < (self.builder.operation_count() - self.begin) as u32;
            let (group, function) = (CallGroup::END, "the end");
            self.add_span(first, SpanKind { place: 0, thread: 0, group, function, has_calc });
        }
        let mut index = self.index;
        index.recorded_ns = end.saturating_sub(begin);
        index.inside_ns = self.times.into_iter().collect();
        index.inside_ns.sort_unstable();
        index.spans.shrink_to_fit();
        Ok(index)
    }
}
