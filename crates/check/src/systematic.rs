//! Tries all orders: makes a run for each way in which receives, looks and waits can take messages, and none
//! twice.
//!
//! A *class* is the set of all runs in which some takes get particular messages; each take is settled
//! together with all that it needs ([`History::requirements`]). The first run of a class settles the other
//! takes somehow. Put the takes of that run in an order in which each comes after all that it needs. Every
//! other run of the class has a first take that gets something else, and shares all takes before it. So these
//! runs fall into smaller classes: by that take, by the message that it gets, and by what the message needs.
//! No two of these classes have a run in common. None is overlooked either: a message that is sent without
//! the take can be sent before it, so it occurs in some run in which the take gets its first message. (Enea
//! et al., "Model Checking Distributed Protocols in Must", OOPSLA 2024, revisit receives for the same reason.
//! There, no execution occurs twice because of the way in which each is derived; here, because of a set of
//! the classes.)
//!
//! A class is run on the machine itself if latencies up to L are found for it ([`Script`]), and otherwise on
//! a machine on which they may be longer than all else takes; classes that branch off there may be this
//! machine's again. Only the requests of one processor may make two classes that have a run in common; then
//! an order is run twice and counted once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use super::deadline::Deadline;
use super::history::{History, Take, TakeId};
use super::script::{Script, ScriptResult};
use loggp_model::message::MessageId;
use loggp_model::rules::choice::LatencyRule;
use loggp_trace::Order;

/// The search through all orders.
#[derive(Debug)]
pub(super) struct SystematicSearch {
    stack: Vec<Branch>,
    /// Runs with latencies above L. They are made last, since no run of the machine is found only through
    /// them.
    far: Vec<Branch>,
    /// Hashes of the classes that were found.
    classes: HashSet<u64>,
    /// Hashes of the orders with latencies up to L.
    orders_within: HashSet<u64>,
    /// Hashes of the orders that were run with latencies above L.
    orders_beyond: HashMap<u64, FarOrder>,
    /// The waits that cannot be in vain, unlike looks.
    unending_waits: HashSet<&'static Location<'static>>,
    /// Number of classes that were not run because a look would have to wait for longer than L.
    looks: usize,
    /// Number of classes of which it is not known whether latencies up to L lead to them.
    missed: usize,
    /// `true` if time ran out before all classes of a run were found.
    is_out_of_time: bool,
    /// Reason why some orders may have been overlooked.
    why_overlooked: Option<&'static str>,
}

/// An order that was run with latencies above L.
#[derive(Clone, Copy, Debug)]
struct FarOrder {
    failed: bool,
    /// `true` if no latencies up to L lead to it.
    needs_longer: bool,
}

/// A run that is to be made.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// The takes that are settled in its class.
    steps: Vec<BranchStep>,
    /// Latencies for it, or perhaps for it.
    script: Arc<Script>,
    /// Latencies above L, if those do not do.
    unbounded: Option<Arc<Script>>,
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
    Far,
    /// To see whether latencies up to L do for an order that was run with longer ones.
    Witness,
}

/// A settled take, identified across runs.
#[derive(Clone, Copy, Debug)]
struct BranchStep {
    take: TakeId,
    got: Option<MessageId>,
    /// `true` if there are classes in which it gets something else and all takes before it get the same.
    is_open: bool,
}

/// A take and its message, both by index, and whether there are classes in which it gets something else and
/// all takes before it get the same.
type SettledTake = (usize, Option<usize>, bool);

impl BranchStep {
    fn new(history: &History, (place, got, is_open): SettledTake) -> BranchStep {
        let (take, got) = history.ids((place, got));
        BranchStep { take, got, is_open }
    }
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
        SystematicSearch {
            stack: vec![Branch::default()],
            far: Vec::new(),
            classes: HashSet::new(),
            orders_within: HashSet::new(),
            orders_beyond: HashMap::new(),
            unending_waits: HashSet::new(),
            looks: 0,
            missed: 0,
            is_out_of_time: false,
            why_overlooked: None,
        }
    }

    /// Returns the next runs, at most `most`.
    pub(super) fn next_branches(&mut self, most: usize) -> Vec<Branch> {
        let stack = if self.stack.is_empty() { &mut self.far } else { &mut self.stack };
        stack.split_off(stack.len() - stack.len().min(most))
    }

    /// Puts back runs that were not made.
    pub(super) fn put_back(&mut self, branches: &[Branch]) {
        let is_far = branches.iter().all(|branch| branch.kind == BranchKind::Far);
        if is_far { &mut self.far } else { &mut self.stack }.extend_from_slice(branches);
    }

    /// Notes a run that was made and is too long to learn from.
    pub(super) fn pass_over(&mut self) {
        self.orders_within.insert(0);
        self.why_overlooked = self.why_overlooked.or(Some(TOO_LONG));
    }

    /// Learns from a run that was made: adds the smaller classes within its class, as many as it can in time,
    /// since a long run has many.
    pub(super) fn learn(&mut self, branch: Branch, history: &History, failed: bool, deadline: Deadline) {
        let places: HashMap<TakeId, usize> =
            history.takes.iter().enumerate().map(|(place, take)| (history.id(take), place)).collect();
        let order_hash =
            set_hash(history.takes.iter().map(|take| (history.id(take), history.message_id(take.got))));
        let Branch { steps, script: tried, unbounded, kind } = branch;
        let is_bounded = kind != BranchKind::Far;
        let is_new = is_bounded && self.orders_within.insert(order_hash);
        let place = |step: &BranchStep| {
            let place = *places.get(&step.take)?;
            (history.message_id(history.takes[place].got) == step.got).then_some((place, step.is_open))
        };
        let Some(mut all) = steps.iter().map(place).collect::<Option<Vec<_>>>() else {
            match (kind, unbounded) {
                (BranchKind::Class, unbounded) => {
                    let far = unbounded.map(|script| Branch {
                        steps: steps.clone(),
                        script,
                        kind: BranchKind::Far,
                        ..Branch::default()
                    });
                    self.far.extend(far);
                    if !self.settle_more(history, &places, &steps, &tried, deadline) {
                        self.miss(deadline);
                    }
                }
                (BranchKind::Guess, _) => {
                    let guess = steps.last().and_then(|step| places.get(&step.take));
                    let guess = guess.map(|place| &history.takes[*place]);
                    // What takes a message that a look would not have found cannot be in vain.
                    let waited = |take: &&Take| {
                        let arrival = take.got.map(|got| history.message(got).arrival);
                        arrival.zip(take.empty_after).is_some_and(|(arrival, until)| arrival > until)
                    };
                    match guess.filter(waited) {
                        Some(take) => self.unending_waits.extend(history.location(take)),
                        None => self.miss(deadline),
                    }
                }
                (BranchKind::Witness | BranchKind::Far, _) => (),
            }
            return;
        };
        if kind == BranchKind::Witness && !is_new {
            return;
        }
        if history.takes.len() > MAX_TAKES {
            self.why_overlooked = self.why_overlooked.or(is_bounded.then_some(TOO_LONG));
            return;
        }
        let has_choices = || history.takes.iter().any(|take| !history.alternatives(take).is_empty());
        if history.has_looks_beside_requests() {
            self.why_overlooked = Some("a look does not see what a request has got meanwhile");
        } else if history.has_requests_with_gaps() && has_choices() {
            self.why_overlooked = Some("requests wait for each other's gaps");
        }
        let settled: HashSet<usize> = all.iter().map(|(place, _)| *place).collect();
        let mut rest: Vec<usize> =
            (0..history.takes.len()).filter(|place| !settled.contains(place)).collect();
        rest.sort_by_cached_key(|place| {
            let take = &history.takes[*place];
            let needs = if deadline.is_over() { 0 } else { history.requirements(*place, take.got).len() };
            (needs, history.id(take))
        });
        if deadline.is_over() {
            self.is_out_of_time |= is_bounded;
            return;
        }
        all.extend(rest.into_iter().map(|place| (place, true)));
        if !is_bounded && !self.orders_within.contains(&order_hash) {
            let takes: Vec<_> = all.iter().map(|(place, _)| (*place, history.takes[*place].got)).collect();
            let found = Script::find(history, &takes, true, deadline);
            let needs_longer = matches!(found, ScriptResult::Impossible);
            self.orders_beyond.insert(order_hash, FarOrder { failed, needs_longer });
            let longest = || Arc::new(tried.with_longest());
            let scripts = match found {
                ScriptResult::Script(script) => vec![Arc::new(script), Arc::clone(&tried), longest()],
                ScriptResult::Unknown => vec![Arc::clone(&tried), longest()],
                ScriptResult::Impossible => Vec::new(),
            };
            // On the machine itself, latencies above L are L.
            let kind = BranchKind::Witness;
            self.stack.extend(scripts.into_iter().map(|script| Branch { script, kind, ..Branch::default() }));
        }
        let before = all.iter().map(|(place, is_open)| (*place, history.takes[*place].got, *is_open));
        let before: Vec<SettledTake> = before.collect();
        for (number, (place, _)) in all.iter().enumerate().filter(|(_, (_, is_open))| *is_open) {
            for other in history.alternatives(&history.takes[*place]) {
                if deadline.is_over() {
                    self.is_out_of_time |= is_bounded;
                    return;
                }
                let known = (self.missed, self.is_out_of_time);
                self.add_class(history, &before[..number], (*place, other), deadline);
                if !is_bounded {
                    // The machine's own orders are found without this run.
                    (self.missed, self.is_out_of_time) = known;
                }
            }
        }
    }

    /// Settles one more take of a class whose run got something else than it should, because messages that
    /// are not settled came to its last take or took the room of others. Chooses a take that such a message
    /// comes after, and adds the classes for each thing that it can get. Returns whether there is such a
    /// take.
    fn settle_more(
        &mut self,
        history: &History,
        places: &HashMap<TakeId, usize>,
        steps: &[BranchStep],
        tried: &Script,
        deadline: Deadline,
    ) -> bool {
        let settled = |step: &BranchStep| {
            let got = match step.got {
                Some(got) => Some(history.index_of(&got)?),
                None => None,
            };
            Some((*places.get(&step.take)?, got, step.is_open))
        };
        let is_as_settled = |(place, got, _): &SettledTake| history.takes[*place].got == *got;
        // The first take that got something else, and all takes that do not need it.
        let (mut before, mut new) = (Vec::new(), None);
        let mut kept = HashSet::new();
        for step in steps {
            match settled(step) {
                Some(step) if is_as_settled(&step) => {
                    let is_whole = history.requirements(step.0, step.1).is_subset(&kept);
                    if is_whole {
                        kept.insert(step.0);
                        before.push(step);
                    }
                }
                step if new.is_none() => match step {
                    Some(step) => new = Some(step),
                    None => return false,
                },
                _ => (),
            }
        }
        let Some(new) = new.filter(|new: &SettledTake| !history.takes[new.0].is_wait_for_first()) else {
            return false;
        };
        let settled_takes: HashSet<usize> = before.iter().map(|(place, ..)| *place).collect();
        if history.requirements(new.0, new.1).is_subset(&settled_takes) {
            let all: Vec<SettledTake> = before.iter().copied().chain([new]).collect();
            let got: Vec<_> = all.iter().map(|(place, got, _)| (*place, *got)).collect();
            match Script::find(history, &got, true, deadline) {
                ScriptResult::Impossible => return true,
                ScriptResult::Unknown => return false,
                // More messages are settled in this run than in the one from which the class branched off.
                ScriptResult::Script(script)
                    if all.len() < steps.len() || script.settled_count() > tried.settled_count() =>
                {
                    let is_new = self.classes.insert(set_hash(got.iter().map(|take| history.ids(*take))));
                    if all.len() < steps.len() && !is_new {
                        return true; // the rest without the impossible take is a class that was or will be run
                    }
                    let steps = all.iter().map(|step| BranchStep::new(history, *step)).collect();
                    let script = Arc::new(script);
                    self.stack.push(Branch { steps, script, unbounded: None, kind: BranchKind::Class });
                    return true;
                }
                ScriptResult::Script(_) => (),
            }
        }
        let calls = &history.trace.calls;
        let call = history.takes[new.0].call;
        let next = calls.get(call + 1).filter(|next| next.id == calls[call].id);
        let end = next.unwrap_or(&calls[call]).end;
        let came = history.trace.messages.iter().enumerate().filter(|(_, message)| message.enter <= end);
        let last_before: Vec<usize> = came.filter_map(|(place, _)| history.last_call_before(place)).collect();
        let can_be = |place: &usize| {
            let take = &history.takes[*place];
            let follows = history.is_after(take.call, &history.takes[new.0]);
            !settled_takes.contains(place)
                && !follows
                && last_before.iter().any(|call| history.is_after(*call, take))
                && history.requirements(*place, take.got).is_subset(&settled_takes)
        };
        let is_near = |place: &usize| {
            let mut those = history.trace.messages.iter().enumerate();
            those.any(|(message, its)| {
                its.to == history.takes[new.0].id
                    && its.enter <= end
                    && history
                        .last_call_before(message)
                        .is_some_and(|call| history.is_after(call, &history.takes[*place]))
            })
        };
        let all: Vec<usize> = (0..history.takes.len()).filter(can_be).collect();
        let Some(more) = all.iter().copied().find(is_near).or(all.first().copied()) else { return false };
        before.push(new);
        let take = &history.takes[more];
        for other in [vec![take.got], history.alternatives(take)].concat() {
            self.add_class(history, &before, (more, other), deadline);
        }
        true
    }

    /// Adds the class in which the takes `before` get their messages, and one more take gets something else.
    fn add_class(
        &mut self,
        history: &History,
        before: &[SettledTake],
        (new, other): (usize, Option<usize>),
        deadline: Deadline,
    ) {
        let takes = &history.takes;
        let is_guess = takes[new].is_wait_for_first() && other.is_none();
        let requirements = history.requirements(new, other);
        let is_other =
            |(place, got, _): &SettledTake| requirements.contains(place) && takes[*place].got != *got;
        if requirements.contains(&new)
            || before.iter().any(is_other)
            || (is_guess && history.location(&takes[new]).is_some_and(|at| self.unending_waits.contains(&at)))
        {
            return;
        }
        let mut core: Vec<usize> = requirements.iter().copied().collect();
        core.sort_by_cached_key(|place| {
            (history.requirements(*place, takes[*place].got).len(), history.id(&takes[*place]))
        });
        let core: Vec<_> =
            core.into_iter().map(|place| (place, takes[place].got)).chain([(new, other)]).collect();
        // If another take gets this one's message, this one gets one of several things instead.
        let is_open = takes[new].got == other;
        let is_new = |place: usize| place != new && before.iter().all(|(other, ..)| *other != place);
        let needed =
            core.iter().filter(|(place, _)| is_new(*place)).map(|(place, got)| (*place, *got, false));
        let all: Vec<SettledTake> =
            before.iter().copied().chain(needed).chain([(new, other, is_open)]).collect();
        let got: Vec<(usize, Option<usize>)> = all.iter().map(|(place, got, _)| (*place, *got)).collect();
        if !self.classes.insert(set_hash(got.iter().map(|take| history.ids(*take)))) {
            return;
        }
        let steps: Vec<BranchStep> = all.iter().map(|step| BranchStep::new(history, *step)).collect();
        let script =
            |takes: &[(usize, Option<usize>)], bounded| Script::find(history, takes, bounded, deadline);
        // Without bounds no message waits for room, so such a run may differ from all runs of the machine.
        let unbounded = || match script(&got, false) {
            ScriptResult::Script(script) => Some(Arc::new(script)),
            _ => None,
        };
        match script(&got, true) {
            ScriptResult::Script(script) => {
                let kind = if is_guess { BranchKind::Guess } else { BranchKind::Class };
                let branch = Branch { steps, script: Arc::new(script), unbounded: unbounded(), kind };
                return self.stack.push(branch);
            }
            ScriptResult::Unknown => {
                self.miss(deadline);
                if let Some(script) = unbounded().filter(|_| takes[new].empty_after.is_none()) {
                    self.far.push(Branch { steps, script, unbounded: None, kind: BranchKind::Far });
                }
                return;
            }
            ScriptResult::Impossible => (),
        }
        // Open messages may take the room of settled ones, so the open ones are settled too, one take after
        // the other.
        let may_wait = Script::is_possible_with_waits(history, &got, deadline);
        if may_wait {
            let settled: HashSet<usize> = got.iter().map(|(place, _)| *place).collect();
            let is_next = |place: &usize| {
                !settled.contains(place)
                    && !history.is_after(takes[*place].call, &takes[new])
                    && history.requirements(*place, takes[*place].got).is_subset(&settled)
            };
            if let Some(more) = (0..takes.len()).find(is_next) {
                for other in [vec![takes[more].got], history.alternatives(&takes[more])].concat() {
                    self.add_class(history, &all, (more, other), deadline);
                }
            }
        }
        match (unbounded(), takes[new].empty_after.is_some()) {
            (Some(_), true) => self.looks += usize::from(!may_wait),
            (Some(script), false) => {
                self.far.push(Branch { steps, script, unbounded: None, kind: BranchKind::Far })
            }
            (None, _) => (),
        }
        // Calls after the take may send messages to a take before it, if fewer takes are settled.
        if core.len() == got.len()
            || !self.classes.insert(set_hash(core.iter().map(|take| history.ids(*take))))
        {
            return;
        }
        match script(&core, true) {
            ScriptResult::Script(script) => {
                let steps =
                    core.iter().map(|(place, got)| BranchStep::new(history, (*place, *got, false))).collect();
                let branch =
                    Branch { steps, script: Arc::new(script), unbounded: None, kind: BranchKind::Class };
                self.stack.push(branch);
            }
            ScriptResult::Impossible => (),
            ScriptResult::Unknown => self.miss(deadline),
        }
    }

    /// Notes that it is not known whether latencies up to L lead to a class.
    fn miss(&mut self, deadline: Deadline) {
        self.missed += 1;
        self.is_out_of_time |= deadline.is_over();
    }

    /// Returns the orders covered so far.
    pub(super) fn coverage(&self) -> Coverage {
        let other = |(order, _): &(&u64, &FarOrder)| !self.orders_within.contains(order);
        let others = self.orders_beyond.iter().filter(other).map(|(_, order)| order);
        let (beyond, open): (Vec<_>, Vec<_>) = others.partition(|order| order.needs_longer);
        let failed = |orders: &[&FarOrder]| orders.iter().filter(|order| order.failed).count();
        // An open order may be of a class that was missed.
        let undecided = self.missed.max(open.len());
        Coverage {
            orders: self.orders_within.len(),
            why_incomplete: match undecided {
                _ if self.is_out_of_time || !self.stack.is_empty() => {
                    Some("the check ended before all were tried")
                }
                0 => self.why_overlooked,
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
    let number = |thing| {
        let mut hasher = DefaultHasher::new();
        Hash::hash(&thing, &mut hasher);
        hasher.finish()
    };
    things.map(number).fold(0, u64::wrapping_add)
}

impl Branch {
    /// Returns the order of the run.
    pub(super) fn order(&self) -> Order {
        let script = Arc::clone(&self.script);
        let latency = move |message, to, ready, _| Some(script.latency(message, to, ready));
        Order {
            precedence: self.script.precedence.clone().into(),
            is_unbounded: !self.is_bounded(),
            ..Order::from_rule(LatencyRule::new(latency))
        }
    }

    /// Returns whether no message is under way for longer than L, so that it is a run of the machine.
    pub(super) fn is_bounded(&self) -> bool {
        self.kind != BranchKind::Far
    }
}
