//! Makes the runs of a check, several at once, and reports what they show.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::deadline::Deadline;
use super::history::History;
use super::machine::CheckedMachine;
use super::reduction::Reduction;
use super::report::{CheckReport, ChoicePoint, DelayedMessage, DistinctResult, Failure, FailureKind};
use super::settings::{Check, TrialResult};
use super::strategy::{OrderGenerator, Strategy};
use super::systematic::{Branch, SystematicSearch};
use loggp_model::error::{Cause, RunError};
use loggp_model::message::RawTag;
use loggp_model::time::Time;
use loggp_trace::CallKind;
use loggp_trace::audit::audit;
use loggp_trace::{ObservedRun, Order};

/// A run of a check, under one order.
struct TrialRun<R> {
    /// The result is `None` if it equals that of the first run, since results are large and most are equal.
    result: TrialResult<Option<R>>,
    seen: Option<ObservedRun>,
    is_audited: bool,
    /// The first violation, if the run was audited and broke a rule.
    violation: Option<String>,
}

/// Number of runs that are begun before their outcomes are looked at. It does not depend on the number of
/// cores, so that the report does not either.
const BATCH: usize = 256;

/// The most messages of a run whose choices are examined; of more it would take too long.
const MAX_EXAMINED_MESSAGES: usize = 20_000;

impl Check {
    /// Runs a program on a machine many times, on the virtual clock. Whatever the program does outside the
    /// machine happens in every run.
    ///
    /// # Errors
    ///
    /// Returns an error if the parameters make no machine, or if this computer cannot hold it.
    pub fn run<M: CheckedMachine, R: PartialEq + Send + Sync>(
        &self,
        machine: &M,
        program: impl Fn(&mut M::Proc<'_>) -> R + Sync,
    ) -> Result<CheckReport<Vec<R>>, RunError> {
        self.run_verified(machine, program, |_| Ok(()))
    }

    /// Runs a program like [`run`](Check::run) and verifies the results. `verify` returns a sentence on what
    /// is wrong with them. If results [may differ](Check::results_may_differ), it alone decides whether they
    /// are right.
    pub fn run_verified<M: CheckedMachine, R: PartialEq + Send + Sync>(
        &self,
        machine: &M,
        program: impl Fn(&mut M::Proc<'_>) -> R + Sync,
        verify: impl Fn(&[R]) -> Result<(), String> + Sync,
    ) -> Result<CheckReport<Vec<R>>, RunError> {
        self.run_each(machine, |machine| machine.results(&program), verify)
    }

    /// Runs a program like [`run_verified`](Check::run_verified), where processors may
    /// [crash](Check::crashes): those that did have no result. Results may differ, so the verification alone
    /// decides whether they are right.
    pub fn run_surviving<M: CheckedMachine, R: PartialEq + Send + Sync>(
        &self,
        machine: &M,
        program: impl Fn(&mut M::Proc<'_>) -> R + Sync,
        verify: impl Fn(&[Option<R>]) -> Result<(), String> + Sync,
    ) -> Result<CheckReport<Vec<Option<R>>>, RunError> {
        let check = self.clone().results_may_differ(true);
        check.run_each(machine, |machine| machine.surviving_results(&program), verify)
    }

    /// Checks a program that `run` runs on a machine.
    #[doc(hidden)]
    pub fn run_each<M: CheckedMachine, R: PartialEq + Send + Sync>(
        &self,
        machine: &M,
        run: impl Fn(&M) -> Result<Vec<R>, RunError> + Sync,
        verify: impl Fn(&[R]) -> Result<(), String> + Sync,
    ) -> Result<CheckReport<Vec<R>>, RunError> {
        let usual = machine.usual_order(self.strategy == Strategy::Systematic)?;
        self.run_trials(&usual, machine.processors(), |order| {
            let results = run(&machine.under(order))?;
            Ok(verify(&results).map(|()| results))
        })
    }

    /// Checks a program of `P` processors that `trial` runs under an order, on the virtual clock. The first
    /// run has the order `usual`.
    ///
    /// # Errors
    ///
    /// Returns an error if the parameters make no machine, or if this computer cannot hold it.
    pub fn run_trials<R: PartialEq + Send + Sync>(
        &self,
        usual: &Order,
        P: usize,
        trial: impl Fn(&Order) -> TrialResult<R> + Sync,
    ) -> Result<CheckReport<R>, RunError> {
        let deadline = Deadline::after(self.time);
        if self.strategy == Strategy::Systematic && !self.faults.is_none() {
            let why = "the systematic strategy has no faults, which are drawn; give another, or no faults";
            return Err(loggp_model::params::ParamsError::new(why).into());
        }
        let (strategy, seed, faults) = (self.strategy, self.seed, self.faults);
        let mut drawing =
            OrderGenerator { strategy, P, seed, faults, longest: Time::ZERO, messages: Vec::new() };
        let mut systematic = (self.strategy == Strategy::Systematic).then(SystematicSearch::new);
        let mut checked = CheckReport::new(strategy, seed, faults);
        let mut choices = BTreeMap::new();
        while checked.runs < self.runs && (checked.runs == 0 || !deadline.is_over()) {
            let first = checked.runs;
            let most = if first == 0 { 1 } else { BATCH.min(self.runs - first) };
            let branches: Vec<Branch> = systematic.as_mut().map_or(Vec::new(), |all| all.next_branches(most));
            let orders: Vec<Order> = match &systematic {
                Some(_) => branches.iter().map(Branch::order).collect(),
                None if first == 0 => vec![usual.clone()],
                None => (first..first + most).map(|run| drawing.order(run)).collect(),
            };
            if orders.is_empty() {
                break;
            }
            let usual = checked.results.first().map(|class| &class.result);
            let compared = |order: &Order| {
                let tried = trial(order)?;
                Ok(tried.map(|result| Some(result).filter(|result| Some(result) != usual)))
            };
            let is_bounded = |place: usize| branches.get(place).is_none_or(Branch::is_bounded);
            let ran = self.run_all(first, &orders, &is_bounded, &compared, deadline);
            // Branches whose runs there is no time to learn from.
            let mut left = Vec::new();
            let mut branches = branches.iter();
            for (place, TrialRun { result: tried, seen, is_audited, violation }) in
                ran.into_iter().enumerate()
            {
                let branch = branches.next();
                let run = checked.runs;
                checked.runs += 1;
                let tried = match tried {
                    Err(error) if matches!(error.cause, Cause::Params(_) | Cause::Host(_)) => {
                        return Err(error);
                    }
                    tried => tried,
                };
                if let Some(ObservedRun { trace, locations }) = &seen {
                    if run == 0 {
                        checked.messages = trace.messages.len();
                        let levels = trace.levels.iter().map(|level| level.params.L);
                        drawing.longest = levels.fold(trace.params.L, Time::max);
                        drawing.messages = trace.messages.iter().map(|message| message.id).collect();
                    }
                    checked.audited += usize::from(is_audited);
                    if run > 0 && deadline.is_over() {
                        left.extend(branch.cloned());
                    } else if trace.messages.len() <= MAX_EXAMINED_MESSAGES {
                        checked.examined += 1;
                        let history = History::new(trace, locations);
                        add_choices(&mut choices, &history, deadline);
                        if let (Some(systematic), Some(branch)) = (&mut systematic, branch) {
                            let may_be_any = self.may_differ || checked.results.is_empty();
                            let failed = !matches!(&tried, Ok(Ok(other)) if may_be_any || other.is_none());
                            systematic.learn(branch.clone(), &history, failed, deadline);
                        }
                    } else if let Some(systematic) = systematic.as_mut().filter(|_| is_bounded(place)) {
                        systematic.pass_over();
                    }
                }
                if !is_bounded(place) {
                    continue; // this run's latencies are beyond those of the machine
                }
                let order = &orders[place];
                let wrong = match tried {
                    _ if violation.is_some() => violation.map(FailureKind::BrokenRule),
                    Err(error) => Some(FailureKind::RunFailed(error)),
                    Ok(Err(why)) => Some(FailureKind::WrongResult(why)),
                    Ok(Ok(None)) => {
                        checked.results[0].runs += 1;
                        None
                    }
                    Ok(Ok(Some(result))) => self.add_result(&mut checked, result, order),
                };
                if let Some(wrong) = wrong {
                    checked.failure =
                        Some(reduced_failure(run, wrong, order, &checked.results, deadline, &trial));
                    break;
                }
            }
            if let Some(systematic) = &mut systematic {
                systematic.put_back(&[left, branches.as_slice().to_vec()].concat());
            }
            if checked.failure.is_some() {
                break;
            }
        }
        checked.coverage = systematic.map(|systematic| systematic.coverage());
        checked.choices =
            choices.into_values().filter(|choices: &ChoicePoint| choices.with_choice > 0).collect();
        Ok(checked)
    }

    /// Adds a result to the report. Returns a failure if it differs from that of the first run and must not.
    fn add_result<R: PartialEq>(
        &self,
        checked: &mut CheckReport<R>,
        result: R,
        order: &Order,
    ) -> Option<FailureKind> {
        match checked.results.iter().position(|class| class.result == result) {
            Some(place) => checked.results[place].runs += 1,
            None if !self.may_differ && !checked.results.is_empty() => {
                checked.results.push(DistinctResult { result, runs: 1, order: order.clone() });
                return Some(FailureKind::DifferentResult);
            }
            None if checked.results.len() < CheckReport::<R>::MAX_RESULTS => {
                checked.results.push(DistinctResult { result, runs: 1, order: order.clone() });
            }
            None => checked.unlisted += 1,
        }
        None
    }

    /// Returns whether a run is audited: one of every `audits` runs, at another place each time, so that each
    /// strategy of a mixture has its share.
    pub(super) fn is_audited(&self, run: usize) -> bool {
        self.audits > 0 && run % self.audits == run / self.audits % self.audits
    }

    /// Makes a run under each of these orders, several at once, or under as many of the first ones as there
    /// is time for.
    fn run_all<R: Send>(
        &self,
        first: usize,
        orders: &[Order],
        is_bounded: &(dyn Fn(usize) -> bool + Sync),
        trial: &(impl Fn(&Order) -> TrialResult<Option<R>> + Sync),
        deadline: Deadline,
    ) -> Vec<TrialRun<R>> {
        let ran: Vec<Mutex<Option<TrialRun<R>>>> = orders.iter().map(|_| Mutex::default()).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            loop {
                // All runs before one that failed are made, so that the first failure is the one reported.
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= orders.len()
                    || failed.load(Ordering::Relaxed)
                    || (first > 0 && deadline.is_over())
                {
                    return;
                }
                let run = first + place;
                let see = self.strategy == Strategy::Systematic || run == 0;
                let is_audited = self.is_audited(run) && is_bounded(place);
                let became = run_one(&orders[place], see, is_audited, deadline, trial);
                if is_bounded(place) && !matches!(became.result, Ok(Ok(_))) {
                    failed.store(true, Ordering::Relaxed);
                }
                *ran[place].lock() = Some(became);
                (self.on_run)(run + 1);
            }
        };
        let cores = self.cores.min(orders.len());
        std::thread::scope(|scope| {
            // If the host refuses threads, this one makes the runs.
            (1..cores).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        ran.into_iter().map_while(Mutex::into_inner).collect()
    }
}

/// Makes a run under one order, traced if it is to be examined or audited. What failed is not audited, nor
/// what took all the time.
fn run_one<R>(
    order: &Order,
    see: bool,
    is_audited: bool,
    deadline: Deadline,
    trial: &impl Fn(&Order) -> TrialResult<Option<R>>,
) -> TrialRun<R> {
    if !(see || is_audited) {
        return TrialRun { result: trial(order), seen: None, is_audited, violation: None };
    }
    let (order, sight) = order.observed();
    let tried = trial(&order);
    let seen = sight.take();
    let ended = seen.as_ref().filter(|_| is_audited && tried.is_ok() && !deadline.is_over());
    let is_audited = ended.is_some();
    let violation = ended.and_then(|seen| audit(&seen.trace).violations.first().map(ToString::to_string));
    TrialRun { result: tried, seen, is_audited, violation }
}

/// Reduces the order of a run that failed, and returns the failure under the reduced order.
fn reduced_failure<R: PartialEq>(
    run: usize,
    wrong: FailureKind,
    order: &Order,
    classes: &[DistinctResult<R>],
    deadline: Deadline,
    trial: &impl Fn(&Order) -> TrialResult<R>,
) -> Failure {
    let wrong_with = |tried: TrialResult<R>| match tried {
        Err(error) => Some(FailureKind::RunFailed(error)),
        Ok(Err(why)) => Some(FailureKind::WrongResult(why)),
        Ok(Ok(result)) => (result != classes.first()?.result).then_some(FailureKind::DifferentResult),
    };
    let see = |order: &Order| {
        let (seen, sight) = order.observed();
        let tried = trial(&seen);
        (wrong_with(tried), sight.take().map(|seen| seen.trace))
    };
    let mut tries = 0;
    let (_, trace) = see(order);
    let latencies = trace.iter().flat_map(|trace| &trace.messages);
    let latencies = latencies.map(|message| (message.id, message.latency)).collect();
    let reduced = match wrong {
        FailureKind::BrokenRule(_) => order.clone(),
        _ => Reduction::reduce(order, latencies, deadline, &mut |order| {
            tries += 1;
            wrong_with(trial(order)).is_some_and(|other| other.is_like(&wrong))
        }),
    };
    let (again, trace) = see(&reduced);
    let trace = trace.expect("a run that failed has begun");
    let late = trace.messages.iter().filter(|message| message.latency > Time::ZERO);
    let late =
        late.map(|message| DelayedMessage { message: message.id, to: message.to, latency: message.latency });
    Failure {
        run,
        delayed: late.collect(),
        kind: again.filter(|again| again.is_like(&wrong)).unwrap_or(wrong),
        tries,
        order: reduced,
        trace,
    }
}

/// Counts the choices of a run's receives, by their locations in the program, as far as there is time.
fn add_choices(
    all: &mut BTreeMap<(&'static str, u32, u32), ChoicePoint>,
    history: &History,
    deadline: Deadline,
) {
    let trace = history.trace;
    for take in history.takes.iter().filter(|take| history.is_wild(take)) {
        if deadline.is_over() {
            return;
        }
        let Some(got) = take.got else { continue };
        let Some(at) = history.location(take) else { continue };
        let about = match &trace.calls[take.posted].kind {
            CallKind::Receive { tag, .. } | CallKind::Probe { tag, .. } | CallKind::Irecv { tag, .. }
                if !RawTag::from_number(tag.number).is_wild() =>
            {
                tag.about()
            }
            CallKind::Wait { .. } => "the first of several requests".into(),
            _ => "any tag".into(),
        };
        let key = (at.file(), at.line(), at.column());
        let choices = all.entry(key).or_insert_with(|| ChoicePoint {
            location: at,
            about,
            taken: 0,
            with_choice: 0,
            senders: BTreeMap::new(),
        });
        choices.taken += 1;
        choices.with_choice += usize::from(history.has_choice(take));
        *choices.senders.entry(trace.messages[got].id.from).or_default() += 1;
    }
}
