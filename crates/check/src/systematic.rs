//! Tries all orders: makes a run for each way in which receives, looks and waits can take messages, and none
//! twice.
//!
//! A *class* is the set of all runs in which some takes get particular messages; each of these takes is
//! *settled*, together with its requirements ([`History::requirements`]). After the first run of a class, sort
//! its takes topologically by requirements. Any other run of the class agrees with this one up to some take
//! and differs there. So the other runs fall into smaller classes, by that take and by what it gets. The
//! README beside this file says why none is missed.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

use loggp_model::message::MessageId;
use loggp_model::rules::choice::LatencyRule;
use loggp_trace::{Message, Order};

use super::deadline::Deadline;
use super::history::{History, Pair, Take, TakeId};
use super::timing::{SolveResult, Timing};

/// The search through all orders.
#[derive(Debug, Default)]
pub(super) struct SystematicSearch {
    stack: Vec<Branch>,
    /// Branches with latencies above L. They are run last, since every order of the machine is found without
    /// them.
    beyond: Vec<Branch>,
    /// Hashes of the classes that were found.
    classes: HashSet<u64>,
    /// Hashes of the orders with latencies up to L.
    orders_within: HashSet<u64>,
    /// The orders that were run with latencies above L, by their hashes.
    orders_beyond: HashMap<u64, OrderBeyond>,
    /// The waits that never give up, unlike looks.
    unending_waits: HashSet<&'static Location<'static>>,
    /// Number of classes that were not run because a look would have to wait for longer than L.
    looks: usize,
    /// Number of classes of which it is not known whether latencies up to L lead to them.
    missed: usize,
    /// `true` if time ran out before all classes of a run were found.
    is_out_of_time: bool,
    /// Reason why some orders may have been overlooked.
    why_overlooked: Option<&'static str>,
    /// Reason why a program may do something else in another run of an order, if time decides what it does.
    why_time_decides: Option<&'static str>,
}

/// An order that was run with latencies above L.
#[derive(Clone, Copy, Debug)]
struct OrderBeyond {
    failed: bool,
    /// `true` if no latencies up to L lead to the order.
    needs_longer: bool,
}

/// A class that is to be run.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// The settled takes.
    steps: Vec<SettledTake<TakeId, MessageId>>,
    /// Latencies that lead to the class, or perhaps do.
    timing: Arc<Timing>,
    /// Latencies above L, in case the others lead elsewhere.
    beyond: Option<Arc<Timing>>,
    kind: BranchKind,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BranchKind {
    /// To examine a class.
    #[default]
    Class,
    /// To examine a class that may have no run.
    Guess,
    /// To examine a class with latencies above L.
    Beyond,
    /// To see whether latencies up to L lead to an order that was run with longer ones.
    Witness,
}

/// A settled take and what it gets: by index in one run, by id across runs.
#[derive(Clone, Copy, Debug)]
struct SettledTake<T = usize, M = usize> {
    take: T,
    got: Option<M>,
    /// `true` if there are classes in which the take gets something else and all takes before get the same.
    is_open: bool,
}

/// A run that was made, from which classes branch off.
struct ExaminedRun<'h> {
    history: &'h History<'h>,
    /// The index of each take.
    indices: HashMap<TakeId, usize>,
    /// `true` if no message was under way for longer than L.
    is_bounded: bool,
    deadline: Deadline,
}

/// The orders that the systematic strategy has covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Number of orders that differ in what a receive, a look or a wait takes.
    pub orders: usize,
    /// Reason why there may be more, or `None` if there are no more.
    pub why_incomplete: Option<&'static str>,
    /// Lower bound of the number of further orders in which a message is under way for longer than L.
    pub beyond: usize,
    /// Number of those in which the program fails.
    pub beyond_failed: usize,
    /// Lower bound of the number of orders, or sets of them, of which it is not known whether latencies up to
    /// L lead to them.
    pub undecided: usize,
    /// Number of those in which the program fails, if only latencies above L do.
    pub undecided_failed: usize,
}

impl Coverage {
    /// Returns whether these are all orders with latencies up to L.
    pub fn is_complete(&self) -> bool {
        self.why_incomplete.is_none()
    }
}

/// The most takes of a run in which other classes are searched for. There are at least as many classes as
/// takes, and the time for each grows with the square of their number.
const MAX_TAKES: usize = 1000;

/// Reason why orders may be overlooked if a run has more takes.
const TOO_LONG: &str = "a run has too many receives to find out what else each could take";

impl SystematicSearch {
    pub(super) fn new() -> SystematicSearch {
        SystematicSearch { stack: vec![Branch::default()], ..SystematicSearch::default() }
    }

    /// Returns the next branches to run, at most `most`.
    pub(super) fn next_branches(&mut self, most: usize) -> Vec<Branch> {
        let stack = if self.stack.is_empty() { &mut self.beyond } else { &mut self.stack };
        stack.split_off(stack.len() - stack.len().min(most))
    }

    /// Puts back branches that were not run.
    pub(super) fn put_back(&mut self, branches: Vec<Branch>) {
        let are_beyond = branches.iter().all(|branch| branch.kind == BranchKind::Beyond);
        if are_beyond { &mut self.beyond } else { &mut self.stack }.extend(branches);
    }

    /// Notes a run that was made and is too long to learn from.
    pub(super) fn pass_over(&mut self) {
        self.orders_within.insert(0);
        self.why_overlooked = self.why_overlooked.or(Some(TOO_LONG));
    }

    /// Learns from the run of a branch: adds the classes that branch off from this run, as many as
    /// there is time for, since a long run has many.
    pub(super) fn learn(&mut self, branch: &Branch, history: &History, failed: bool, deadline: Deadline) {
        let run = &ExaminedRun::new(history, branch.is_bounded(), deadline);
        let order = set_hash((0..history.takes.len()).map(|take| history.ids(history.pair(take))));
        let is_new = run.is_bounded && self.orders_within.insert(order);
        self.why_time_decides = self.why_time_decides.or(history.why_time_decides());
        let own = |step| run.find(step).filter(|step| run.is_own(step));
        let Some(settled) = branch.steps.iter().map(own).collect::<Option<Vec<SettledTake>>>() else {
            return self.learn_from_other_class(run, branch);
        };
        if branch.kind == BranchKind::Witness && !is_new {
            return;
        }
        if history.takes.len() > MAX_TAKES {
            self.why_overlooked = self.why_overlooked.or(run.is_bounded.then_some(TOO_LONG));
            return;
        }
        let has_choices = || history.takes.iter().any(|take| !history.races(take).is_empty());
        if history.has_looks_beside_requests() {
            self.why_overlooked = Some("a look does not see what a request has got meanwhile");
        } else if history.has_requests_with_gaps() && has_choices() {
            self.why_overlooked = Some("requests wait for each other's gaps");
        }
        let settled_takes = takes_of(&settled);
        let rest = (0..history.takes.len()).filter(|take| !settled_takes.contains(take));
        let rest = run.sorted(rest).into_iter().map(|take| run.own_step(take, true));
        let steps: Vec<SettledTake> = settled.iter().copied().chain(rest).collect();
        if deadline.is_over() {
            self.is_out_of_time |= run.is_bounded;
            return;
        }
        if !run.is_bounded && !self.orders_within.contains(&order) {
            let (timing, needs_longer) = run.find_witnesses(&steps, &branch.timing);
            self.orders_beyond.insert(order, OrderBeyond { failed, needs_longer });
            let kind = BranchKind::Witness;
            self.stack.extend(timing.into_iter().map(|timing| Branch { timing, kind, ..Branch::default() }));
        }
        self.add_backtrack_points(run, &steps);
    }

    /// Adds, for each step of a run that is open and for each message that its take races with, the class in
    /// which the take gets that message and all steps before stay.
    fn add_backtrack_points(&mut self, run: &ExaminedRun, steps: &[SettledTake]) {
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.is_open) {
            for other in run.history.races(&run.history.takes[step.take]) {
                if run.deadline.is_over() {
                    self.is_out_of_time |= run.is_bounded;
                    return;
                }
                let known = (self.missed, self.is_out_of_time);
                self.add_class(run, &steps[..number], (step.take, other));
                if !run.is_bounded {
                    // The machine's own orders are found without this run.
                    (self.missed, self.is_out_of_time) = known;
                }
            }
        }
    }

    /// Learns from a run that is no member of its branch's class, since messages that are not settled came
    /// too early or took the room of others.
    fn learn_from_other_class(&mut self, run: &ExaminedRun, branch: &Branch) {
        match branch.kind {
            BranchKind::Class => {
                self.beyond.extend(branch.beyond.clone().map(|timing| Branch {
                    steps: branch.steps.clone(),
                    timing,
                    kind: BranchKind::Beyond,
                    ..Branch::default()
                }));
                if !self.settle_more(run, branch) {
                    self.miss(run);
                }
            }
            BranchKind::Guess => {
                let guess = branch.steps.last().and_then(|step| run.indices.get(&step.take));
                let guess = guess.map(|take| &run.history.takes[*take]);
                // A wait is not in vain if it takes a message that a look would not have found.
                let has_waited = |take: &&Take| {
                    let arrival = take.got.map(|got| run.history.message(got).arrival);
                    arrival.zip(take.empty_after).is_some_and(|(arrival, until)| arrival > until)
                };
                match guess.filter(has_waited) {
                    Some(take) => self.unending_waits.extend(run.history.location(take)),
                    None => self.miss(run),
                }
            }
            BranchKind::Witness | BranchKind::Beyond => (),
        }
    }

    /// Tries a class again whose run got something else. Settles the first take that did, with all steps that
    /// do not require it, if that is a new class or gives latencies to more messages. Otherwise settles one
    /// more take in each way: one that happens before a message which may have come in the way. Returns
    /// whether the class was replaced or turned out to have no run.
    fn settle_more(&mut self, run: &ExaminedRun, branch: &Branch) -> bool {
        let (history, takes) = (run.history, &run.history.takes);
        let Some((mut steps, new)) = run.first_difference(&branch.steps) else { return false };
        if takes[new.take].is_wait_for_first() {
            return false;
        }
        steps.push(new);
        let (before, is_shorter) = (&steps[..steps.len() - 1], steps.len() < branch.steps.len());
        if history.requirements(new.pair()).is_subset(&takes_of(before)) {
            match run.timing(&steps, true) {
                SolveResult::Impossible => return true,
                SolveResult::Unknown => return false,
                // More messages are settled in this run than in the one from which the class branched off.
                SolveResult::Found(timing)
                    if is_shorter || timing.settled_count() > branch.timing.settled_count() =>
                {
                    // Without the take that differs, the rest may be a class that was found before.
                    if self.insert_class(run, &steps) || !is_shorter {
                        self.stack.push(run.branch(&steps, timing, BranchKind::Class));
                    }
                    return true;
                }
                SolveResult::Found(_) => (),
            }
        }
        let Some(more) = run.cause_to_settle(before, &takes[new.take]) else { return false };
        self.settle_in_each_way(run, &steps, more);
        true
    }

    /// Adds the classes in which the steps stay and one more take gets what it got or races with.
    fn settle_in_each_way(&mut self, run: &ExaminedRun, steps: &[SettledTake], more: usize) {
        let take = &run.history.takes[more];
        for other in [vec![take.got], run.history.races(take)].concat() {
            self.add_class(run, steps, (more, other));
        }
    }

    /// Adds the class in which the steps `before` stay and one more take gets something else, if there is such
    /// a class. What the new pair requires is settled too.
    fn add_class(&mut self, run: &ExaminedRun, before: &[SettledTake], (new, other): Pair) {
        let take = &run.history.takes[new];
        let is_guess = take.is_wait_for_first() && other.is_none();
        let requirements = run.history.requirements((new, other));
        let is_against = |step: &SettledTake| requirements.contains(&step.take) && !run.is_own(step);
        if requirements.contains(&new)
            || before.iter().any(is_against)
            || (is_guess && run.history.location(take).is_some_and(|at| self.unending_waits.contains(&at)))
        {
            return;
        }
        let needed = run.sorted(requirements.iter().copied()).into_iter();
        let needed: Vec<SettledTake> = needed.map(|take| run.own_step(take, false)).collect();
        // If another take gets this one's message, this one gets one of several things instead.
        let last = SettledTake { take: new, got: other, is_open: take.got == other };
        let added = needed.iter().filter(|step| before.iter().all(|other| other.take != step.take));
        let steps: Vec<SettledTake> = before.iter().chain(added).copied().chain([last]).collect();
        if !self.insert_class(run, &steps) {
            return;
        }
        let is_wait = take.empty_after.is_none();
        match run.timing(&steps, true) {
            SolveResult::Found(timing) => {
                let kind = if is_guess { BranchKind::Guess } else { BranchKind::Class };
                let beyond = run.timing_beyond(&steps);
                return self.stack.push(Branch { beyond, ..run.branch(&steps, timing, kind) });
            }
            SolveResult::Unknown => {
                self.miss(run);
                if is_wait {
                    self.add_beyond(run, &steps);
                }
                return;
            }
            SolveResult::Impossible => (),
        }
        // Messages that are not settled may take the room of settled ones, so they are settled too, one take
        // after the other.
        let may_wait = Timing::is_possible_with_waits(run.history, &pairs(&steps), run.deadline);
        if let Some(more) = may_wait.then(|| run.next_take(&steps, take)).flatten() {
            self.settle_in_each_way(run, &steps, more);
        }
        if is_wait {
            self.add_beyond(run, &steps);
        } else if !may_wait {
            self.looks += usize::from(run.timing_beyond(&steps).is_some());
        }
        // Calls after the take may send messages to a take before it, if fewer takes are settled.
        if needed.len() + 1 < steps.len() {
            self.add_alone(run, &[needed, vec![SettledTake { is_open: false, ..last }]].concat());
        }
    }

    /// Adds the class of a take and its requirements alone, if latencies up to L lead to it.
    fn add_alone(&mut self, run: &ExaminedRun, steps: &[SettledTake]) {
        if self.insert_class(run, steps) {
            match run.timing(steps, true) {
                SolveResult::Found(timing) => {
                    self.stack.push(run.branch(steps, timing, BranchKind::Class));
                }
                SolveResult::Impossible => (),
                SolveResult::Unknown => self.miss(run),
            }
        }
    }

    /// Adds a class with latencies above L, if any lead to it.
    fn add_beyond(&mut self, run: &ExaminedRun, steps: &[SettledTake]) {
        if let SolveResult::Found(timing) = run.timing(steps, false) {
            self.beyond.push(run.branch(steps, timing, BranchKind::Beyond));
        }
    }

    /// Notes a class. Returns whether it is new.
    fn insert_class(&mut self, run: &ExaminedRun, steps: &[SettledTake]) -> bool {
        self.classes.insert(set_hash(steps.iter().map(|step| run.history.ids(step.pair()))))
    }

    /// Notes that it is not known whether latencies up to L lead to a class.
    fn miss(&mut self, run: &ExaminedRun) {
        self.missed += 1;
        self.is_out_of_time |= run.deadline.is_over();
    }

    /// Returns the orders covered so far.
    pub(super) fn coverage(&self) -> Coverage {
        let others = self.orders_beyond.iter().filter(|(order, _)| !self.orders_within.contains(order));
        let (beyond, open): (Vec<_>, Vec<_>) =
            others.map(|(_, order)| order).partition(|order| order.needs_longer);
        let failed = |orders: &[&OrderBeyond]| orders.iter().filter(|order| order.failed).count();
        // An open order may be of a class that was missed.
        let undecided = self.missed.max(open.len());
        Coverage {
            orders: self.orders_within.len(),
            why_incomplete: match undecided {
                _ if self.is_out_of_time || !self.stack.is_empty() => {
                    Some("the check ended before all were tried")
                }
                0 => self.why_overlooked.or(self.why_time_decides),
                _ => Some("it takes too long to find out whether latencies lead to some"),
            },
            beyond: beyond.len() + self.looks,
            beyond_failed: failed(&beyond),
            undecided,
            undecided_failed: failed(&open),
        }
    }
}

/// Returns a hash of a set, independent of the order of its elements.
fn set_hash(things: impl Iterator<Item = impl Hash>) -> u64 {
    let hash = |thing| {
        let mut hasher = DefaultHasher::new();
        Hash::hash(&thing, &mut hasher);
        hasher.finish()
    };
    things.map(hash).fold(0, u64::wrapping_add)
}

/// Returns the takes of some steps.
fn takes_of(steps: &[SettledTake]) -> HashSet<usize> {
    steps.iter().map(|step| step.take).collect()
}

/// Returns the pairs of some steps.
fn pairs(steps: &[SettledTake]) -> Vec<Pair> {
    steps.iter().map(SettledTake::pair).collect()
}

impl SettledTake {
    fn pair(&self) -> Pair {
        (self.take, self.got)
    }
}

impl<'h> ExaminedRun<'h> {
    fn new(history: &'h History<'h>, is_bounded: bool, deadline: Deadline) -> ExaminedRun<'h> {
        let indices = history.takes.iter().enumerate().map(|(index, take)| (history.id(take), index));
        ExaminedRun { history, indices: indices.collect(), is_bounded, deadline }
    }

    /// Returns a branch's step in this run, or `None` if its take or its message does not occur here.
    fn find(&self, step: &SettledTake<TakeId, MessageId>) -> Option<SettledTake> {
        let got = match step.got {
            Some(got) => Some(self.history.index_of(&got)?),
            None => None,
        };
        Some(SettledTake { take: *self.indices.get(&step.take)?, got, is_open: step.is_open })
    }

    /// Returns whether the step's take got the same in this run.
    fn is_own(&self, step: &SettledTake) -> bool {
        self.history.takes[step.take].got == step.got
    }

    /// Returns a take with what it got in this run.
    fn own_step(&self, take: usize, is_open: bool) -> SettledTake {
        SettledTake { take, got: self.history.takes[take].got, is_open }
    }

    /// Sorts takes topologically by requirements: a take has more of them than each of its requirements.
    /// After the deadline, nobody needs the order.
    fn sorted(&self, takes: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut takes: Vec<usize> = takes.collect();
        takes.sort_by_cached_key(|take| {
            let requirements = (!self.deadline.is_over()).then(|| self.requirements(*take).len());
            (requirements, self.history.id(&self.history.takes[*take]))
        });
        takes
    }

    /// Returns the requirements of a take for what it got in this run.
    fn requirements(&self, take: usize) -> Rc<HashSet<usize>> {
        self.history.requirements(self.history.pair(take))
    }

    /// Returns the first of a branch's steps that is not as in this run, after the steps that are and do not
    /// require another. Returns `None` if its take or its message does not occur here.
    fn first_difference(
        &self,
        steps: &[SettledTake<TakeId, MessageId>],
    ) -> Option<(Vec<SettledTake>, SettledTake)> {
        let (mut same, mut kept, mut different) = (Vec::new(), HashSet::new(), None);
        for step in steps {
            let found = self.find(step);
            if let Some(step) = found.filter(|step| self.is_own(step)) {
                if self.requirements(step.take).is_subset(&kept) {
                    kept.insert(step.take);
                    same.push(step);
                }
            } else if different.is_none() {
                different = Some(found?);
            }
        }
        Some((same, different?))
    }

    /// Returns whether a take can be settled after others, before the take `new`.
    fn can_be_next(&self, take: usize, settled: &HashSet<usize>, new: &Take) -> bool {
        !settled.contains(&take)
            && !self.history.happens_before(new, self.history.takes[take].call)
            && self.requirements(take).is_subset(settled)
    }

    /// Returns the first take that can be settled after these steps, of which `new` is the last.
    fn next_take(&self, steps: &[SettledTake], new: &Take) -> Option<usize> {
        let settled = takes_of(steps);
        (0..self.history.takes.len()).find(|take| self.can_be_next(*take, &settled, new))
    }

    /// Returns a take that can be settled before the take `new` and that happens before a message which
    /// entered before the end of `new`, if possible before a message to the same processor.
    fn cause_to_settle(&self, before: &[SettledTake], new: &Take) -> Option<usize> {
        let (history, calls) = (self.history, &self.history.trace.calls);
        let end = calls.get(new.call + 1).filter(|next| next.id == new.id).unwrap_or(&calls[new.call]).end;
        let came = history.trace.messages.iter().enumerate().filter(|(_, message)| message.enter <= end);
        let origin = |(index, message): (_, &Message)| Some((history.last_call_before(index)?, message.to));
        let came: Vec<(usize, usize)> = came.filter_map(origin).collect();
        let is_cause = |take: usize, is_near: bool| {
            let mut came = came.iter().filter(|(_, to)| !is_near || *to == new.id);
            came.any(|(call, _)| history.happens_before(&history.takes[take], *call))
        };
        let settled = takes_of(before);
        let can_be = |take: &usize| is_cause(*take, false) && self.can_be_next(*take, &settled, new);
        (0..history.takes.len()).filter(can_be).min_by_key(|take| !is_cause(*take, true))
    }

    /// Finds latencies that lead to the class of these steps.
    fn timing(&self, steps: &[SettledTake], is_bounded: bool) -> SolveResult<Timing> {
        Timing::find(self.history, &pairs(steps), is_bounded, self.deadline)
    }

    /// Finds latencies without a bound. No message waits for room then, so a run under them may differ from
    /// all runs of the machine.
    fn timing_beyond(&self, steps: &[SettledTake]) -> Option<Arc<Timing>> {
        match self.timing(steps, false) {
            SolveResult::Found(timing) => Some(Arc::new(timing)),
            _ => None,
        }
    }

    /// Returns latencies that may lead to the order of this run on the machine itself, where those above L
    /// are L, and whether it is certain that none do. `tried` has the latencies of this run.
    fn find_witnesses(&self, steps: &[SettledTake], tried: &Arc<Timing>) -> (Vec<Arc<Timing>>, bool) {
        let tried = [Arc::clone(tried), Arc::new(tried.with_longest())];
        match self.timing(steps, true) {
            SolveResult::Found(timing) => ([Arc::new(timing)].into_iter().chain(tried).collect(), false),
            SolveResult::Unknown => (tried.to_vec(), false),
            SolveResult::Impossible => (Vec::new(), true),
        }
    }

    /// Returns the branch for the class of these steps.
    fn branch(&self, steps: &[SettledTake], timing: Timing, kind: BranchKind) -> Branch {
        let across_runs = |step: &SettledTake| {
            let (take, got) = self.history.ids(step.pair());
            SettledTake { take, got, is_open: step.is_open }
        };
        let steps = steps.iter().map(across_runs).collect();
        Branch { steps, timing: Arc::new(timing), beyond: None, kind }
    }
}

impl Branch {
    /// Returns the order of the run.
    pub(super) fn order(&self) -> Order {
        let timing = Arc::clone(&self.timing);
        let latency = move |message, to, ready, _| Some(timing.latency(message, to, ready));
        Order {
            precedence: self.timing.precedence.clone().into(),
            is_unbounded: !self.is_bounded(),
            ..Order::from_rule(LatencyRule::new(latency))
        }
    }

    /// Returns whether no message is under way for longer than L, so that the run is one of the machine's.
    pub(super) fn is_bounded(&self) -> bool {
        self.kind != BranchKind::Beyond
    }
}
