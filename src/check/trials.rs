//! The runs of a check, one after the other or several at once, and what each of them shows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::history::History;
use super::reduction::Reduction;
use super::report::{Checked, Choices, Class, Failure, Late, Wrong};
use super::settings::{Check, Tried};
use super::strategy::{Drawing, Strategy};
use super::systematic::{Branch, Systematic};
use crate::audit::audit;
use crate::clock::ClockKind;
use crate::error::{Cause, RunError};
use crate::machine::{Machine, Order, Run, Seen};
use crate::message::RawTag;
use crate::proc::Proc;
use crate::time::Time;
use crate::trace::CallKind;

/// A run under an order.
struct Ran<R> {
    /// No result is one that equals that of the first run: there are many, and they are large.
    tried: Tried<Option<R>>,
    seen: Option<Seen>,
    /// The rule that it broke, if it was audited and broke one.
    broken: Option<String>,
}

/// So many runs are begun before it is looked at what became of them. The report does not depend on cores, so neither
/// does this.
const AT_ONCE: usize = 256;

/// Of more messages than this nobody finds out which others each receive could have taken: it would take too long.
const MOST_LOOKED_AT: usize = 20_000;

impl Check {
    /// Runs a program on a machine, on the virtual clock. What it does outside the machine it does in every run.
    ///
    /// # Errors
    ///
    /// If there is no such machine, or this computer cannot hold it.
    pub fn run<R: PartialEq + Send + Sync>(
        &self,
        machine: &Machine,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Checked<Vec<R>>, RunError> {
        self.run_verified(machine, program, |_| Ok(()))
    }

    /// The same with a verification of the results: if it finds something wrong, it says what, in one sentence. Where
    /// results [may differ](Check::results_may_differ) it alone says whether they are right.
    pub fn run_verified<R: PartialEq + Send + Sync>(
        &self,
        machine: &Machine,
        program: impl Fn(&mut Proc) -> R + Sync,
        verify: impl Fn(&[R]) -> Result<(), String> + Sync,
    ) -> Result<Checked<Vec<R>>, RunError> {
        self.run_each(machine, |machine| machine.run_once(&program), verify)
    }

    /// The same for a program whose processors may [crash](Check::crashes): those that did have no result. Results may differ;
    /// the verification alone says whether they are right.
    pub fn run_surviving<R: PartialEq + Send + Sync>(
        &self,
        machine: &Machine,
        program: impl Fn(&mut Proc) -> R + Sync,
        verify: impl Fn(&[Option<R>]) -> Result<(), String> + Sync,
    ) -> Result<Checked<Vec<Option<R>>>, RunError> {
        let check = self.clone().results_may_differ(true);
        check.run_each(machine, |machine| machine.run_surviving(&program), verify)
    }

    /// Checks what `run` runs on a machine.
    fn run_each<R: PartialEq + Send + Sync>(
        &self,
        machine: &Machine,
        run: impl Fn(&Machine) -> Result<Run<R>, RunError> + Sync,
        verify: impl Fn(&[R]) -> Result<(), String> + Sync,
    ) -> Result<Checked<Vec<R>>, RunError> {
        if machine.has_noise() {
            let why = "a check tries orders of messages, and noise is none; leave it out";
            return Err(crate::params::ParamsError::new(why).into());
        }
        let machine = machine.clone().clock(ClockKind::Virtual).cores(1);
        let usual = machine.order();
        self.trials(&usual, machine.params().P, |order| {
            let run = run(&machine.clone().ordered(order))?;
            Ok(verify(&run.results).map(|()| run.results))
        })
    }

    /// Checks whatever runs a program of `P` processors under an order, on the virtual clock. The first run is under
    /// `usual`.
    ///
    /// # Errors
    ///
    /// If there is no such machine, or this computer cannot hold it.
    pub fn trials<R: PartialEq + Send + Sync>(
        &self,
        usual: &Order,
        P: usize,
        trial: impl Fn(&Order) -> Tried<R> + Sync,
    ) -> Result<Checked<R>, RunError> {
        let began = Instant::now();
        let in_time = || self.time.is_none_or(|time| began.elapsed() < time);
        if self.strategy == Strategy::Systematic && !self.faults.is_none() {
            let why = "the systematic strategy has no faults, which are drawn; give another, or no faults";
            return Err(crate::params::ParamsError::new(why).into());
        }
        let (strategy, seed, faults) = (self.strategy, self.seed, self.faults);
        let mut drawing = Drawing { strategy, P, seed, faults, longest: Time::ZERO, messages: Vec::new() };
        let mut systematic = (self.strategy == Strategy::Systematic).then(Systematic::new);
        let mut checked = Checked::new(strategy, seed, faults);
        let mut choices = BTreeMap::new();
        while checked.runs < self.runs && (checked.runs == 0 || in_time()) {
            let first = checked.runs;
            let most = if first == 0 { 1 } else { AT_ONCE.min(self.runs - first) };
            let branches: Vec<Branch> = systematic.as_mut().map_or(Vec::new(), |all| all.next(most));
            let orders: Vec<Order> = match &systematic {
                Some(_) => branches.iter().map(Branch::order).collect(),
                None if first == 0 => vec![usual.clone()],
                None => (first..first + most).map(|run| drawing.order(run)).collect(),
            };
            if orders.is_empty() {
                break;
            }
            let usual = checked.classes.first().map(|class| &class.result);
            let compared = |order: &Order| {
                let tried = trial(order)?;
                Ok(tried.map(|result| Some(result).filter(|result| Some(result) != usual)))
            };
            let is_bounded = |place: usize| branches.get(place).is_none_or(Branch::is_bounded);
            let ran = self.run_all(first, &orders, &is_bounded, &compared, &|| first == 0 || in_time());
            let mut branches = branches.iter();
            for (place, Ran { tried, seen, broken }) in ran.into_iter().enumerate() {
                let branch = branches.next();
                let run = checked.runs;
                checked.runs += 1;
                let tried = match tried {
                    Err(error) if matches!(error.cause, Cause::Params(_) | Cause::Host(_)) => {
                        return Err(error);
                    }
                    tried => tried,
                };
                if let Some(Seen { trace, places }) = &seen {
                    if run == 0 {
                        checked.messages = trace.messages.len();
                        let levels = trace.levels.iter().map(|level| level.params.L);
                        drawing.longest = levels.fold(trace.params.L, Time::max);
                        drawing.messages = trace.messages.iter().map(|message| message.id).collect();
                    }
                    checked.audited += usize::from(self.is_audited(run) && is_bounded(place));
                    checked.seen += 1;
                    if systematic.is_some() || trace.messages.len() <= MOST_LOOKED_AT {
                        let history = History::of(trace, places);
                        adds_choices(&mut choices, &history);
                        if let (Some(systematic), Some(branch)) = (&mut systematic, branch) {
                            let may_be_any = self.may_differ || checked.classes.is_empty();
                            let failed = !matches!(&tried, Ok(Ok(other)) if may_be_any || other.is_none());
                            systematic.learns(branch.clone(), &history, failed, &in_time);
                        }
                    }
                }
                if !is_bounded(place) {
                    continue; // it says nothing of this machine
                }
                let order = &orders[place];
                let wrong = match tried {
                    _ if broken.is_some() => broken.map(Wrong::Rule),
                    Err(error) => Some(Wrong::Failed(error)),
                    Ok(Err(why)) => Some(Wrong::NotRight(why)),
                    Ok(Ok(None)) => {
                        checked.classes[0].runs += 1;
                        None
                    }
                    Ok(Ok(Some(result))) => self.differs(&mut checked, result, order),
                };
                if let Some(wrong) = wrong {
                    checked.failure = Some(failure(run, wrong, order, &checked.classes, &trial));
                    break;
                }
            }
            if let Some(systematic) = &mut systematic {
                systematic.puts_back(branches.as_slice());
            }
            if checked.failure.is_some() {
                break;
            }
        }
        checked.coverage = systematic.map(|systematic| systematic.coverage());
        checked.choices = choices.into_values().filter(|choices: &Choices| choices.chosen > 0).collect();
        Ok(checked)
    }

    /// Notes a result. Returns what is wrong with it, if it must not differ from the first one's.
    fn differs<R: PartialEq>(&self, checked: &mut Checked<R>, result: R, order: &Order) -> Option<Wrong> {
        match checked.classes.iter().position(|class| class.result == result) {
            Some(place) => checked.classes[place].runs += 1,
            None if !self.may_differ && !checked.classes.is_empty() => {
                checked.classes.push(Class { result, runs: 1, order: order.clone() });
                return Some(Wrong::Differs);
            }
            None if checked.classes.len() < Checked::<R>::MOST => {
                checked.classes.push(Class { result, runs: 1, order: order.clone() });
            }
            None => checked.others += 1,
        }
        None
    }

    /// Returns whether a run is held against the rules: one of each `audits`, at another place each time, so that each strategy
    /// of a mixture has its share.
    pub(super) fn is_audited(&self, run: usize) -> bool {
        self.audits > 0 && run % self.audits == run / self.audits % self.audits
    }

    /// Runs under each of these orders, several at once; as many of the first ones as there is time for.
    fn run_all<R: Send>(
        &self,
        first: usize,
        orders: &[Order],
        is_bounded: &(dyn Fn(usize) -> bool + Sync),
        trial: &(impl Fn(&Order) -> Tried<Option<R>> + Sync),
        in_time: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Ran<R>> {
        let ran: Vec<Mutex<Option<Ran<R>>>> = orders.iter().map(|_| Mutex::default()).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            loop {
                // All before a run that failed are made: the first one that fails is told.
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= orders.len() || failed.load(Ordering::Relaxed) || !in_time() {
                    return;
                }
                let run = first + place;
                let see = self.strategy == Strategy::Systematic || run == 0;
                let is_audited = self.is_audited(run) && is_bounded(place);
                let became = run_one(&orders[place], see, is_audited, trial);
                if is_bounded(place) && !matches!(became.tried, Ok(Ok(_))) {
                    failed.store(true, Ordering::Relaxed);
                }
                *ran[place].lock() = Some(became);
                (self.tell)(run + 1);
            }
        };
        let cores = self.cores.min(orders.len());
        std::thread::scope(|scope| {
            // Where the host gives no thread, there is this one.
            (1..cores).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        ran.into_iter().map_while(Mutex::into_inner).collect()
    }
}

/// Runs under one order, and looks at it if it is to be looked at.
fn run_one<R>(
    order: &Order,
    see: bool,
    is_audited: bool,
    trial: &impl Fn(&Order) -> Tried<Option<R>>,
) -> Ran<R> {
    if !(see || is_audited) {
        return Ran { tried: trial(order), seen: None, broken: None };
    }
    let (order, sight) = order.seen();
    let tried = trial(&order);
    let seen = sight.take();
    let ended = seen.as_ref().filter(|_| is_audited && tried.is_ok());
    let broken = ended.and_then(|seen| audit(&seen.trace).violations.first().map(ToString::to_string));
    Ran { tried, seen, broken }
}

impl Machine {
    /// Runs a program a thousand times under other orders of messages, and says whether it always comes to the same
    /// results. [`Check`] has more settings.
    ///
    /// # Errors
    ///
    /// If there is no such machine, or this computer cannot hold it.
    pub fn check<R: PartialEq + Send + Sync>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Checked<Vec<R>>, RunError> {
        Check::new().run(self, program)
    }
}

/// Reduces the order of a run that failed.
fn failure<R: PartialEq>(
    run: usize,
    wrong: Wrong,
    order: &Order,
    classes: &[Class<R>],
    trial: &impl Fn(&Order) -> Tried<R>,
) -> Failure {
    let wrong_with = |tried: Tried<R>| match tried {
        Err(error) => Some(Wrong::Failed(error)),
        Ok(Err(why)) => Some(Wrong::NotRight(why)),
        Ok(Ok(result)) => (result != classes.first()?.result).then_some(Wrong::Differs),
    };
    let see = |order: &Order| {
        let (seen, sight) = order.seen();
        let tried = trial(&seen);
        (wrong_with(tried), sight.take().map(|seen| seen.trace))
    };
    let mut tries = 0;
    let (_, trace) = see(order);
    let latencies = trace.iter().flat_map(|trace| &trace.messages);
    let latencies = latencies.map(|message| (message.id, message.latency)).collect();
    let reduced = match wrong {
        Wrong::Rule(_) => order.clone(),
        _ => Reduction::of(order, latencies, &mut |order| {
            tries += 1;
            wrong_with(trial(order)).is_some_and(|other| other.is_like(&wrong))
        }),
    };
    let (again, trace) = see(&reduced);
    let trace = trace.expect("a run that failed has begun");
    let late = trace.messages.iter().filter(|message| message.latency > Time::ZERO);
    let late = late.map(|message| Late { message: message.id, to: message.to, latency: message.latency });
    Failure {
        run,
        late: late.collect(),
        wrong: again.filter(|again| again.is_like(&wrong)).unwrap_or(wrong),
        tries,
        order: reduced,
        trace,
    }
}

/// Adds what the receives of a run could have taken.
fn adds_choices(all: &mut BTreeMap<(&'static str, u32, u32), Choices>, history: &History) {
    let trace = history.trace;
    for take in history.takes.iter().filter(|take| history.is_wild(take)) {
        let Some(got) = take.got else { continue };
        let Some(at) = history.at(take) else { continue };
        let about = match &trace.calls[take.posted].what {
            CallKind::Receive { tag, .. } | CallKind::Probe { tag, .. } | CallKind::Irecv { tag, .. }
                if !RawTag::numbered(tag.number).is_wild() =>
            {
                tag.about()
            }
            CallKind::Wait { .. } => "the first of several requests".into(),
            _ => "any tag".into(),
        };
        let key = (at.file(), at.line(), at.column());
        let choices = all.entry(key).or_insert_with(|| Choices {
            at,
            about,
            taken: 0,
            chosen: 0,
            senders: BTreeMap::new(),
        });
        choices.taken += 1;
        choices.chosen += usize::from(history.had_a_choice(take));
        *choices.senders.entry(trace.messages[got].id.from).or_default() += 1;
    }
}
