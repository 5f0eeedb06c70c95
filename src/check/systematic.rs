//! All orders: a run for each way in which receives, looks and waits can take messages, and no way twice.
//!
//! A *class* is all runs in which some takes get given messages; with a take it settles all that the take needs
//! ([`History::needs`]). The first run of a class that is made settles the rest somehow. Put that run's takes in an order in which each comes
//! after all that it needs. Every other run of the class has a first take that gets something else, and shares all takes before. So all
//! others fall into smaller classes: by that take, by the message that it gets, and by what the message needs. No two of them have
//! a run in common. And none is overlooked: a message that is sent without the take can be sent before it, so it is
//! seen in some run in which the take gets what it got first. (Enea et al., "Model Checking Distributed Protocols in Must", OOPSLA 2024, revisit
//! receives for the same reason. That nothing is done twice follows there from how an execution was come by, and here from a set of the
//! classes.)
//!
//! A class is run on the machine itself if latencies up to L are found for it ([`Script`]), and else on one on which they may
//! be longer than all else takes: what branches off there may be this machine's again. Only the requests of one processor may make a
//! class that has a run in common with another one; then an order is run twice, and counted once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use super::history::{History, TakeId};
use super::script::{Found, Script};
use crate::machine::Order;
use crate::message::MessageId;
use crate::rules::choice::Rule;

/// Goes through all orders.
#[derive(Debug)]
pub(super) struct Systematic {
    /// The runs to be made.
    stack: Vec<Branch>,
    /// Runs that are no run of the machine, and from which none branches off that is not found without them.
    far: Vec<Branch>,
    /// The classes that were found.
    classes: HashSet<u64>,
    /// What the runs of the machine took.
    within: HashSet<u64>,
    /// What runs took in which messages are under way for longer than L, and whether one failed.
    beyond: HashMap<u64, bool>,
    /// The waits that do not end before anything is there, as looks do.
    waits: HashSet<&'static Location<'static>>,
    /// How many classes were not run: a look would have to wait for longer than L.
    looks: usize,
    /// How many classes could not be run.
    missed: usize,
    /// Whether the time was over before all was learnt from a run.
    ended: bool,
    /// Why it may have overlooked some, if it may.
    overlooks: Option<&'static str>,
}

/// A run that is to be made.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// What its class has in common.
    steps: Vec<Step>,
    /// The latencies for it.
    script: Arc<Script>,
    /// Latencies for it if those do not do: longer ones.
    unbounded: Option<Arc<Script>>,
    /// What kind of a run it is.
    kind: Kind,
}

/// What a run is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// To see a class.
    #[default]
    Class,
    /// To see a class of which it is not known that it has a run.
    Guess,
    /// To see a class with latencies above L.
    Far,
    /// To see whether latencies up to L do for a run that was made with others.
    Witness,
}

/// What a take gets.
#[derive(Clone, Copy, Debug)]
struct Step {
    take: TakeId,
    got: Option<MessageId>,
    /// Whether there are classes in which it gets something else and all before it is as here.
    is_open: bool,
}

/// A take, what it gets, and whether there are classes in which it gets something else and all before it is as here.
type Settled = (usize, Option<usize>, bool);

impl Step {
    fn of(history: &History, (place, got, is_open): Settled) -> Step {
        let (take, got) = history.named((place, got));
        Step { take, got, is_open }
    }
}

/// How much the systematic strategy has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How many orders there are that differ in what a receive, a look or a wait takes.
    pub orders: usize,
    /// Why there may be more, if there may be.
    pub more: Option<&'static str>,
    /// How many more there are, at least, in which a message is under way for longer than L.
    pub beyond: usize,
    /// How many of those fail.
    pub beyond_failed: usize,
}

impl Coverage {
    /// Whether these are all orders with latencies up to L.
    pub fn is_done(&self) -> bool {
        self.more.is_none()
    }
}

/// In a run with more takes nobody looks for other classes: there are as many as takes and more, and each takes time that grows with
/// the square of their number.
const MOST_TAKES: usize = 1000;

impl Systematic {
    pub(super) fn new() -> Systematic {
        Systematic {
            stack: vec![Branch::default()],
            far: Vec::new(),
            classes: HashSet::new(),
            within: HashSet::new(),
            beyond: HashMap::new(),
            waits: HashSet::new(),
            looks: 0,
            missed: 0,
            ended: false,
            overlooks: None,
        }
    }

    /// The next runs, so many at most.
    pub(super) fn next(&mut self, most: usize) -> Vec<Branch> {
        let stack = if self.stack.is_empty() { &mut self.far } else { &mut self.stack };
        stack.split_off(stack.len() - stack.len().min(most))
    }

    /// Takes back runs that were not made.
    pub(super) fn puts_back(&mut self, branches: &[Branch]) {
        let is_far = branches.iter().all(|branch| branch.kind == Kind::Far);
        if is_far { &mut self.far } else { &mut self.stack }.extend_from_slice(branches);
    }

    /// Finds the classes within that of a run that was made, as many as it can in time: of a long run there are many.
    pub(super) fn learns(
        &mut self,
        branch: Branch,
        history: &History,
        failed: bool,
        in_time: &dyn Fn() -> bool,
    ) {
        let places: HashMap<TakeId, usize> =
            history.takes.iter().enumerate().map(|(place, take)| (history.id(take), place)).collect();
        let of_all = number_of(history.takes.iter().map(|take| (history.id(take), history.name(take.got))));
        let Branch { steps, script: tried, unbounded, kind } = branch;
        let is_bounded = kind != Kind::Far;
        if is_bounded {
            self.within.insert(of_all);
        }
        let place = |step: &Step| {
            let place = *places.get(&step.take)?;
            (history.name(history.takes[place].got) == step.got).then_some((place, step.is_open))
        };
        let Some(mut all) = steps.iter().map(place).collect::<Option<Vec<_>>>() else {
            match (kind, unbounded) {
                (Kind::Class, unbounded) => {
                    let far = unbounded.map(|script| Branch {
                        steps: steps.clone(),
                        script,
                        kind: Kind::Far,
                        ..Branch::default()
                    });
                    self.far.extend(far);
                    if !in_time() {
                        self.ended = true;
                    } else if !self.settles_more(history, &places, &steps, &tried) {
                        self.missed += 1;
                    }
                }
                (Kind::Guess, _) => {
                    let guess = steps.last().and_then(|step| places.get(&step.take));
                    self.waits.extend(guess.and_then(|place| history.at(&history.takes[*place])));
                }
                (Kind::Witness | Kind::Far, _) => (),
            }
            return;
        };
        if kind == Kind::Witness {
            return;
        }
        let has_choices = || history.takes.iter().any(|take| !history.others(take).is_empty());
        if history.looks_beside_requests() {
            self.overlooks = Some("a look does not see what a request has got meanwhile");
        } else if history.has_requests_with_gaps() && has_choices() {
            self.overlooks = Some("requests wait for each other's gaps");
        }
        if history.takes.len() > MOST_TAKES {
            let why = "a run has too many receives to find out what else each could take";
            self.overlooks = self.overlooks.or(is_bounded.then_some(why));
            return;
        }
        let settled: HashSet<usize> = all.iter().map(|(place, _)| *place).collect();
        let mut rest: Vec<usize> =
            (0..history.takes.len()).filter(|place| !settled.contains(place)).collect();
        rest.sort_by_cached_key(|place| {
            let take = &history.takes[*place];
            (history.needs(*place, take.got).len(), history.id(take))
        });
        all.extend(rest.into_iter().map(|place| (place, true)));
        if !is_bounded && !self.within.contains(&of_all) {
            self.beyond.insert(of_all, failed);
            let takes: Vec<_> = all.iter().map(|(place, _)| (*place, history.takes[*place].got)).collect();
            if let Found::Script(script) = Script::of(history, &takes, true) {
                let branch = Branch { script: Arc::new(script), kind: Kind::Witness, ..Branch::default() };
                self.stack.push(branch);
            }
        }
        let before = all.iter().map(|(place, is_open)| (*place, history.takes[*place].got, *is_open));
        let before: Vec<Settled> = before.collect();
        for (number, (place, _)) in all.iter().enumerate().filter(|(_, (_, is_open))| *is_open) {
            for other in history.others(&history.takes[*place]) {
                if !in_time() {
                    self.ended |= is_bounded;
                    return;
                }
                let missed = self.missed;
                self.adds_class(history, &before[..number], (*place, other));
                if !is_bounded {
                    self.missed = missed; // what the machine comes to is found without this run
                }
            }
        }
    }

    /// A class was run, and its last take got something else, because of messages that are not settled: these came to it, or took the
    /// room of others. Settles one of the takes that such a message follows: adds the classes within for each thing
    /// that it can get. Returns whether there is one.
    fn settles_more(
        &mut self,
        history: &History,
        places: &HashMap<TakeId, usize>,
        steps: &[Step],
        tried: &Script,
    ) -> bool {
        let settled = |step: &Step| {
            let got = match step.got {
                Some(got) => Some(history.place(&got)?),
                None => None,
            };
            Some((*places.get(&step.take)?, got, step.is_open))
        };
        let is_as_settled = |(place, got, _): &Settled| history.takes[*place].got == *got;
        // The first one that got something else, and all that do not need it.
        let (mut before, mut new) = (Vec::new(), None);
        let mut kept = HashSet::new();
        for step in steps {
            match settled(step) {
                Some(step) if is_as_settled(&step) => {
                    let is_whole = history.needs(step.0, step.1).is_subset(&kept);
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
        let Some(new) = new.filter(|new: &Settled| !history.takes[new.0].waits()) else { return false };
        let of_run: HashSet<usize> = before.iter().map(|(place, ..)| *place).collect();
        if history.needs(new.0, new.1).is_subset(&of_run) {
            let all: Vec<Settled> = before.iter().copied().chain([new]).collect();
            let got: Vec<_> = all.iter().map(|(place, got, _)| (*place, *got)).collect();
            match Script::of(history, &got, true) {
                Found::Nothing => return true,
                Found::Unknown => return false,
                // More messages are settled in this run than in that from which the class branched off.
                Found::Script(script) if all.len() < steps.len() || script.settles() > tried.settles() => {
                    let is_new = self.classes.insert(number_of(got.iter().map(|take| history.named(*take))));
                    if all.len() < steps.len() && !is_new {
                        return true; // what is left when what cannot be is left out was or will be seen
                    }
                    let steps = all.iter().map(|step| Step::of(history, *step)).collect();
                    let script = Arc::new(script);
                    self.stack.push(Branch { steps, script, unbounded: None, kind: Kind::Class });
                    return true;
                }
                Found::Script(_) => (),
            }
        }
        let calls = &history.trace.calls;
        let call = history.takes[new.0].call;
        let next = calls.get(call + 1).filter(|next| next.id == calls[call].id);
        let end = next.unwrap_or(&calls[call]).end;
        let came = history.trace.messages.iter().enumerate().filter(|(_, message)| message.enter <= end);
        let last_before: Vec<usize> = came.filter_map(|(place, _)| history.before(place)).collect();
        let can_be = |place: &usize| {
            let take = &history.takes[*place];
            let follows = history.calls.follows(take.call, history.takes[new.0].call);
            !of_run.contains(place)
                && !follows
                && last_before.iter().any(|call| history.calls.follows(*call, take.call))
                && history.needs(*place, take.got).is_subset(&of_run)
        };
        let is_near = |place: &usize| {
            let mut those = history.trace.messages.iter().enumerate();
            those.any(|(message, its)| {
                its.to == history.takes[new.0].id
                    && its.enter <= end
                    && history
                        .before(message)
                        .is_some_and(|call| history.calls.follows(call, history.takes[*place].call))
            })
        };
        let all: Vec<usize> = (0..history.takes.len()).filter(can_be).collect();
        let Some(more) = all.iter().copied().find(is_near).or(all.first().copied()) else { return false };
        before.push(new);
        let take = &history.takes[more];
        for other in [vec![take.got], history.others(take)].concat() {
            self.adds_class(history, &before, (more, other));
        }
        true
    }

    /// Adds the class in which these takes get these, and another one something else.
    fn adds_class(&mut self, history: &History, before: &[Settled], (new, other): (usize, Option<usize>)) {
        let takes = &history.takes;
        let is_guess = takes[new].waits() && other.is_none();
        let needs = history.needs(new, other);
        let is_other = |(place, got, _): &Settled| needs.contains(place) && takes[*place].got != *got;
        if needs.contains(&new)
            || before.iter().any(is_other)
            || (is_guess && history.at(&takes[new]).is_some_and(|at| self.waits.contains(&at)))
        {
            return;
        }
        let mut core: Vec<usize> = needs.iter().copied().collect();
        core.sort_by_cached_key(|place| {
            (history.needs(*place, takes[*place].got).len(), history.id(&takes[*place]))
        });
        let core: Vec<_> =
            core.into_iter().map(|place| (place, takes[place].got)).chain([(new, other)]).collect();
        // What the new take gets where another one gets what it got is one of several things.
        let is_open = takes[new].got == other;
        let is_new = |place: usize| place != new && before.iter().all(|(other, ..)| *other != place);
        let needed =
            core.iter().filter(|(place, _)| is_new(*place)).map(|(place, got)| (*place, *got, false));
        let all: Vec<Settled> = before.iter().copied().chain(needed).chain([(new, other, is_open)]).collect();
        let got: Vec<(usize, Option<usize>)> = all.iter().map(|(place, got, _)| (*place, *got)).collect();
        if !self.classes.insert(number_of(got.iter().map(|take| history.named(*take)))) {
            return;
        }
        let steps: Vec<Step> = all.iter().map(|step| Step::of(history, *step)).collect();
        let script = |takes: &[(usize, Option<usize>)], bounded| Script::of(history, takes, bounded);
        // On a machine without these bounds no message waits for room, so that it need not come to what the machine comes to.
        let unbounded = || match script(&got, false) {
            Found::Script(script) => Some(Arc::new(script)),
            _ => None,
        };
        match script(&got, true) {
            Found::Script(script) => {
                let kind = if is_guess { Kind::Guess } else { Kind::Class };
                let branch = Branch { steps, script: Arc::new(script), unbounded: unbounded(), kind };
                return self.stack.push(branch);
            }
            Found::Unknown => {
                self.missed += 1;
                return;
            }
            Found::Nothing => (),
        }
        // What is open may take the room of what is settled: so it is settled too, one take after the other.
        if Script::may_be_with_others(history, &got) {
            let settled: HashSet<usize> = got.iter().map(|(place, _)| *place).collect();
            let is_next = |place: &usize| {
                !settled.contains(place)
                    && !history.calls.follows(takes[*place].call, takes[new].call)
                    && history.needs(*place, takes[*place].got).is_subset(&settled)
            };
            if let Some(more) = (0..takes.len()).find(is_next) {
                for other in [vec![takes[more].got], history.others(&takes[more])].concat() {
                    self.adds_class(history, &all, (more, other));
                }
            }
        }
        match (unbounded(), takes[new].in_vain.is_some()) {
            (Some(_), true) => self.looks += 1,
            (Some(script), false) => {
                self.far.push(Branch { steps, script, unbounded: None, kind: Kind::Far })
            }
            (None, _) => (),
        }
        // What follows the take may come to another one before that, where less is settled.
        if core.len() == got.len()
            || !self.classes.insert(number_of(core.iter().map(|take| history.named(*take))))
        {
            return;
        }
        match script(&core, true) {
            Found::Script(script) => {
                let steps =
                    core.iter().map(|(place, got)| Step::of(history, (*place, *got, false))).collect();
                let branch = Branch { steps, script: Arc::new(script), unbounded: None, kind: Kind::Class };
                self.stack.push(branch);
            }
            Found::Nothing => (),
            Found::Unknown => self.missed += 1,
        }
    }

    /// How much it has seen.
    pub(super) fn coverage(&self) -> Coverage {
        let beyond = || self.beyond.iter().filter(|(order, _)| !self.within.contains(order));
        Coverage {
            orders: self.within.len(),
            more: match self.missed {
                _ if self.ended || !self.stack.is_empty() => Some("the check ended before all were tried"),
                0 => self.overlooks,
                _ => Some("it takes too long to find out whether latencies lead to some"),
            },
            beyond: beyond().count() + self.looks,
            beyond_failed: beyond().filter(|(_, failed)| **failed).count(),
        }
    }
}

/// Tells sets of things apart.
fn number_of(things: impl Iterator<Item = impl Hash>) -> u64 {
    let number = |thing| {
        let mut hasher = DefaultHasher::new();
        Hash::hash(&thing, &mut hasher);
        hasher.finish()
    };
    things.map(number).fold(0, u64::wrapping_add)
}

impl Branch {
    /// The order of the run.
    pub(super) fn order(&self) -> Order {
        let script = Arc::clone(&self.script);
        let latency = move |message, to, ready, _| Some(script.latency(message, to, ready));
        let order = Order::ruled(Rule::new(latency)).preceded_by(self.script.precedence.clone());
        if self.is_bounded() { order } else { order.unbounded() }
    }

    /// Whether it is a run of the machine.
    pub(super) fn is_bounded(&self) -> bool {
        self.kind != Kind::Far
    }
}
