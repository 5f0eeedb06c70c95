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
//! A class is run on the machine itself if latencies up to L are found for it ([`Script`]), and else on one on which latencies
//! have no bound: what branches off there may be this machine's again. Only the requests of one processor may make a class that has a
//! run in common with another one; then an order is run twice, and counted once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use super::history::{History, TakeId};
use super::script::{Found, Script};
use crate::machine::Order;
use crate::message::MessageId;
use crate::params::Ties;
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
    /// Whether it may have overlooked some: a look did not see what a request got meanwhile.
    is_unsure: bool,
}

/// A run that is to be made.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// What its class has in common.
    steps: Vec<Step>,
    /// The latencies for it.
    script: Arc<Script>,
    /// Latencies for it if those do not do: they have no bound.
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
    /// To see a class with latencies that have no bound.
    Unbounded,
    /// The same of a class in which a take gets what it never gets on the machine.
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

/// How much the systematic strategy has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How many orders there are that differ in what a receive, a look or a wait takes.
    pub orders: usize,
    /// Whether these are all.
    pub is_done: bool,
    /// How many more there are, at least, in which a message is under way for longer than L.
    pub beyond: usize,
    /// How many of those fail.
    pub beyond_failed: usize,
}

/// In a run with more takes nobody looks for other classes: to find out what each take needs grows with the cube of their number.
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
            is_unsure: false,
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
        let Branch { steps, unbounded, kind, script: script_of } = branch;
        let is_bounded = !matches!(kind, Kind::Unbounded | Kind::Far);
        if is_bounded {
            let new = self.within.insert(of_all);
            if std::env::var("DBG").is_ok() && new { eprintln!("within {:?}", history.takes.iter().map(|take| (history.id(take), history.name(take.got))).collect::<Vec<_>>());
            for m in &history.trace.messages { eprintln!("    {:?} {} {} {}", m.id, m.latency, m.enter, m.arrival); } }
        }
        let place = |step: &Step| {
            let place = *places.get(&step.take)?;
            (history.name(history.takes[place].got) == step.got).then_some((place, step.is_open))
        };
        let Some(mut all) = steps.iter().map(place).collect::<Option<Vec<_>>>() else {
            match (kind, unbounded) {
                (Kind::Class, Some(script)) => {
                    self.stack.push(Branch { steps, script, kind: Kind::Unbounded, ..Branch::default() });
                }
                (Kind::Class | Kind::Unbounded, _) => {
                    if std::env::var("DBG").is_ok() {
                        eprintln!("deviates {kind:?} {:?}", script_of.latencies);
                        for m in &history.trace.messages { eprintln!("    {:?} {} {} {}", m.id, m.latency, m.enter, m.arrival); }
                        for s in &steps { eprintln!("   {:?} {:?} is {:?}", s.take, s.got, places.get(&s.take).map(|p| history.name(history.takes[*p].got))); }
                    }
                    self.missed += 1
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
        self.is_unsure |= history.looks_beside_requests();
        let misses = usize::from(kind != Kind::Far);
        if history.takes.len() > MOST_TAKES {
            self.missed += misses;
            return;
        }
        let settled: HashSet<usize> = all.iter().map(|(place, _)| *place).collect();
        let mut rest: Vec<usize> =
            (0..history.takes.len()).filter(|place| !settled.contains(place)).collect();
        rest.sort_by_cached_key(|place| {
            let take = &history.takes[*place];
            (history.needs(take, take.got).len(), history.id(take))
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
        for (number, (place, _)) in all.iter().enumerate().filter(|(_, (_, is_open))| *is_open) {
            for other in history.others(&history.takes[*place]) {
                if !in_time() {
                    self.missed += misses;
                    return;
                }
                self.adds_class(history, &all[..number], (*place, other));
            }
        }
    }

    /// Adds the class in which these takes get what they got, and another one something else.
    fn adds_class(
        &mut self,
        history: &History,
        before: &[(usize, bool)],
        (new, other): (usize, Option<usize>),
    ) {
        let takes = &history.takes;
        let is_guess = takes[new].waits() && other.is_none();
        let mut needs = history.needs(&takes[new], other);
        if needs.contains(&new)
            || (is_guess && history.at(&takes[new]).is_some_and(|at| self.waits.contains(&at)))
        {
            return;
        }
        let mut all = before.to_vec();
        all.iter().for_each(|(place, _)| _ = needs.remove(place));
        all.extend(needs.into_iter().map(|place| (place, false)));
        let got = all.iter().map(|(place, _)| (*place, takes[*place].got)).chain([(new, other)]);
        let got: Vec<(usize, Option<usize>)> = got.collect();
        let named = |(place, got): &(usize, Option<usize>)| (history.id(&takes[*place]), history.name(*got));
        if !self.classes.insert(number_of(got.iter().map(named))) {
            return;
        }
        let is_open = all.iter().map(|(_, is_open)| *is_open).chain([false]);
        let steps = got.iter().map(named).zip(is_open);
        let steps = steps.map(|((take, got), is_open)| Step { take, got, is_open }).collect();
        let is_look = takes[new].in_vain.is_some();
        let script = |takes: &[(usize, Option<usize>)], bounded| Script::of(history, takes, bounded);
        // On a machine without bounds no message waits for room, so that it need not come to what the machine comes to.
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
        let core = history.needs(&takes[new], other).into_iter().map(|place| (place, takes[place].got));
        let core: Vec<_> = core.chain([(new, other)]).collect();
        match (script(&core, true), unbounded()) {
            (Found::Nothing, None) => (), // no latencies at all do that
            (Found::Nothing, Some(_)) if is_look => self.looks += 1,
            (Found::Nothing, Some(script)) => {
                self.far.push(Branch { steps, script, unbounded: None, kind: Kind::Far });
            }
            (_, Some(script)) => {
                self.stack.push(Branch { steps, script, unbounded: None, kind: Kind::Unbounded });
            }
            (Found::Script(script), None) if self.classes.insert(number_of(core.iter().map(named))) => {
                let steps = core.iter().map(named).map(|(take, got)| Step { take, got, is_open: false }).collect();
                let (script, kind) = (Arc::new(script), Kind::Class);
                self.stack.push(Branch { steps, script, unbounded: None, kind });
            }
            (Found::Script(_), None) => (),
            (Found::Unknown, None) => self.missed += 1,
        }
    }

    /// How much it has seen.
    pub(super) fn coverage(&self) -> Coverage {
        let beyond = || self.beyond.iter().filter(|(order, _)| !self.within.contains(order));
        Coverage {
            orders: self.within.len(),
            is_done: self.stack.is_empty() && self.missed == 0 && !self.is_unsure,
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
        let order = Order::ruled(Rule::new(latency), Ties::Number);
        if self.is_bounded() { order } else { order.unbounded() }
    }

    /// Whether it is a run of the machine.
    pub(super) fn is_bounded(&self) -> bool {
        !matches!(self.kind, Kind::Unbounded | Kind::Far)
    }
}
