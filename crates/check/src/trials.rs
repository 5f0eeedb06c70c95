//! Makes the runs of a check, several at once, and reports what they show.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loggp_model::error::{Cause, RunError};
use loggp_model::message::RawTag;
use loggp_model::time::Time;
use loggp_trace::CallKind;
use loggp_trace::audit::audit;
use loggp_trace::{ObservedRun, Order};
use parking_lot::Mutex;

use super::deadline::Deadline;
use super::history::History;
use super::machine::CheckedMachine;
use super::reduction::Reduction;
use super::report::{CheckReport, ChoicePoint, DelayedMessage, DistinctResult, Failure, FailureKind};
use super::settings::{Check, TrialResult};
use super::strategy::{OrderGenerator, Strategy};
use super::systematic::{Branch, SystematicSearch};

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
        self.run_each_trial(usual, P, &trial)
    }

    fn run_each_trial<R: PartialEq + Send + Sync>(
        &self,
        usual: &Order,
        P: usize,
        trial: Trial<R>,
    ) -> Result<CheckReport<R>, RunError> {
        if self.strategy == Strategy::Systematic && !self.faults.is_none() {
            let why = "the systematic strategy has no faults, which are drawn; give another, or no faults";
            return Err(loggp_model::params::ParamsError::new(why).into());
        }
        let mut trials = Trials::new(self, P);
        while trials.wants_more() {
            let mut batch = trials.next_batch(usual).into_iter();
            if batch.as_slice().is_empty() {
                break;
            }
            let ran = trials.run_all(batch.as_slice(), trial);
            // Branches whose runs there is no time to learn from.
            let mut left = Vec::new();
            for (mut ran, planned) in ran.into_iter().zip(batch.by_ref()) {
                let (run, seen) = (trials.report.runs, ran.seen.take());
                if let Some(wrong) = trials.add_run((ran, seen.as_ref()), &planned, &mut left)? {
                    let (first, failed) = (trials.report.results.first(), (&planned.order, seen));
                    let is_first = |result: R| first.is_none_or(|first| first.result == result);
                    let trial = |order: &Order| Ok(trial(order)?.map(is_first));
                    let failure = reduced_failure(run, wrong, failed, trials.deadline, &trial);
                    trials.report.failure = Some(failure?);
                    break;
                }
            }
            if let Some(search) = &mut trials.search {
                left.extend(batch.filter_map(|planned| planned.branch));
                search.put_back(left);
            }
        }
        trials.report.coverage = trials.search.map(|search| search.coverage());
        let choices = trials.choices.into_values();
        trials.report.choices = choices.filter(|choices| choices.with_choice > 0).collect();
        Ok(trials.report)
    }

    /// Returns whether a run is audited: one of every `audits` runs, at another position in each group, so
    /// that each strategy of a mixture has its share.
    pub(super) fn is_audited(&self, run: usize) -> bool {
        self.audits > 0 && run % self.audits == run / self.audits % self.audits
    }
}

/// A function that makes a run under an order. It is behind a pointer, so that a check of each program is compiled
/// with little more than the program.
type Trial<'t, R> = &'t (dyn Fn(&Order) -> TrialResult<R> + Sync);

/// The runs of a check.
struct Trials<'c, R> {
    check: &'c Check,
    deadline: Deadline,
    drawing: OrderGenerator,
    /// The search of the systematic strategy.
    search: Option<SystematicSearch>,
    choices: Choices,
    report: CheckReport<R>,
}

/// The choices of receives, by file, line and column of their calls.
type Choices = BTreeMap<(&'static str, u32, u32), ChoicePoint>;

/// A run to be made: its order, and the branch that the systematic strategy wants to examine.
struct PlannedRun {
    order: Order,
    branch: Option<Branch>,
}

impl PlannedRun {
    /// Returns whether no message is under way for longer than the machine allows.
    fn is_bounded(&self) -> bool {
        self.branch.as_ref().is_none_or(Branch::is_bounded)
    }
}

impl<'c, R: PartialEq + Send + Sync> Trials<'c, R> {
    fn new(check: &'c Check, P: usize) -> Trials<'c, R> {
        let Check { strategy, seed, faults, .. } = *check;
        Trials {
            check,
            deadline: Deadline::after(check.time, check.stop),
            drawing: OrderGenerator { strategy, P, seed, faults, longest: Time::ZERO, messages: Vec::new() },
            search: (strategy == Strategy::Systematic).then(SystematicSearch::new),
            choices: Choices::new(),
            report: CheckReport::new(strategy, seed, faults),
        }
    }

    /// Returns whether more runs are to be made.
    fn wants_more(&self) -> bool {
        let CheckReport { runs, failure, .. } = &self.report;
        failure.is_none() && *runs < self.check.runs && (*runs == 0 || !self.deadline.is_over())
    }

    /// Returns the next runs to be made.
    fn next_batch(&mut self, usual: &Order) -> Vec<PlannedRun> {
        let first = self.report.runs;
        let most = if first == 0 { 1 } else { BATCH.min(self.check.runs - first) };
        if let Some(search) = &mut self.search {
            let planned = |branch: Branch| PlannedRun { order: branch.order(), branch: Some(branch) };
            return search.next_branches(most).into_iter().map(planned).collect();
        }
        let order = |run| if run == 0 { usual.clone() } else { self.drawing.order(run) };
        (first..first + most).map(|run| PlannedRun { order: order(run), branch: None }).collect()
    }

    /// Makes these runs, several at once, or as many of the first ones as there is time for.
    fn run_all(&self, batch: &[PlannedRun], trial: Trial<R>) -> Vec<TrialRun<R>> {
        let (check, deadline, first) = (self.check, self.deadline, self.report.runs);
        let usual = self.report.results.first().map(|distinct| &distinct.result);
        let compared = |order: &Order| {
            let tried = trial(order)?;
            Ok(tried.map(|result| Some(result).filter(|result| Some(result) != usual)))
        };
        let ran: Vec<Mutex<Option<TrialRun<R>>>> = batch.iter().map(|_| Mutex::default()).collect();
        make_several(batch.len(), check.cores, &|index| {
            let (planned, run) = (&batch[index], first + index);
            if first > 0 && deadline.is_over() {
                return false;
            }
            let see = check.strategy == Strategy::Systematic || run == 0;
            let is_audited = check.is_audited(run) && planned.is_bounded();
            let became = run_one(&planned.order, see, is_audited, deadline, &compared);
            let has_failed = planned.is_bounded() && !matches!(became.result, Ok(Ok(_)));
            *ran[index].lock() = Some(became);
            (check.on_run)(run + 1);
            !has_failed
        });
        ran.into_iter().map_while(Mutex::into_inner).collect()
    }

    /// Adds a run to the report. Returns what is wrong with the run, if anything is. Adds the run's branch to
    /// `left` if there is no time to learn from the run.
    fn add_run(
        &mut self,
        (ran, seen): (TrialRun<R>, Option<&ObservedRun>),
        planned: &PlannedRun,
        left: &mut Vec<Branch>,
    ) -> Result<Option<FailureKind>, RunError> {
        let TrialRun { result, is_audited, violation, .. } = ran;
        self.report.runs += 1;
        let tried = match result {
            Err(error) if matches!(error.cause, Cause::Params(_) | Cause::Host(_)) => return Err(error),
            tried => tried,
        };
        if let Some(seen) = seen {
            self.report.audited += usize::from(is_audited);
            let may_be_any = self.check.may_differ || self.report.results.is_empty();
            let failed = !matches!(&tried, Ok(Ok(other)) if may_be_any || other.is_none());
            self.examine(seen, planned, failed, left);
        }
        if !planned.is_bounded() {
            return Ok(None); // this run's latencies are beyond those of the machine
        }
        Ok(match tried {
            _ if violation.is_some() => violation.map(FailureKind::BrokenRule),
            Err(error) => Some(FailureKind::RunFailed(error)),
            Ok(Err(why)) => Some(FailureKind::WrongResult(why)),
            Ok(Ok(None)) => {
                self.report.results[0].runs += 1;
                None
            }
            Ok(Ok(Some(result))) => self.add_result(result, &planned.order),
        })
    }

    /// Reads the choices of a run, and from which orders the search may go on.
    fn examine(&mut self, seen: &ObservedRun, planned: &PlannedRun, failed: bool, left: &mut Vec<Branch>) {
        let trace = &seen.trace;
        let is_first = self.report.runs == 1;
        if is_first {
            self.report.messages = trace.messages.len();
            let levels = trace.levels.iter().map(|level| level.params.L);
            self.drawing.longest = levels.fold(trace.params.L, Time::max);
            self.drawing.messages = trace.messages.iter().map(|message| message.id).collect();
        }
        if !is_first && self.deadline.is_over() {
            left.extend(planned.branch.clone());
        } else if trace.messages.len() <= MAX_EXAMINED_MESSAGES {
            self.report.examined += 1;
            let history = History::new(seen);
            add_choices(&mut self.choices, &history, self.deadline);
            if let (Some(search), Some(branch)) = (&mut self.search, &planned.branch) {
                search.learn(branch, &history, failed, self.deadline);
            }
        } else if let Some(search) = self.search.as_mut().filter(|_| planned.is_bounded()) {
            search.pass_over();
        }
    }

    /// Adds a result to the report. Returns a failure if it differs from that of the first run and must not.
    fn add_result(&mut self, result: R, order: &Order) -> Option<FailureKind> {
        let (report, may_differ) = (&mut self.report, self.check.may_differ);
        let is_failure = !may_differ && !report.results.is_empty();
        match report.results.iter().position(|distinct| distinct.result == result) {
            Some(known) => report.results[known].runs += 1,
            None if is_failure || report.results.len() < CheckReport::<R>::MAX_RESULTS => {
                report.results.push(DistinctResult { result, runs: 1, order: order.clone() });
                return is_failure.then_some(FailureKind::DifferentResult);
            }
            None => report.unlisted += 1,
        }
        None
    }
}

/// Makes so many runs on several cores, in order, until one says that no further one is to begin. All before that one are
/// made, so that the first failure is the one reported.
fn make_several(runs: usize, cores: usize, make: &(dyn Fn(usize) -> bool + Sync)) {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= runs || is_over.load(Ordering::Relaxed) {
                return;
            }
            if !make(index) {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        // If the host refuses threads, this one makes the runs.
        (1..cores.min(runs)).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
}

/// Makes a run under one order, traced if it is to be examined or audited. A run that failed is not audited,
/// nor one that ends after the deadline.
fn run_one<R>(
    order: &Order,
    see: bool,
    is_audited: bool,
    deadline: Deadline,
    trial: Trial<Option<R>>,
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
///
/// A trial's result is whether it is that of the first run.
fn reduced_failure(
    run: usize,
    wrong: FailureKind,
    (order, seen): (&Order, Option<ObservedRun>),
    deadline: Deadline,
    trial: &dyn Fn(&Order) -> TrialResult<bool>,
) -> Result<Failure, RunError> {
    let wrong_with = |tried: TrialResult<bool>| match tried {
        Err(error) => Some(FailureKind::RunFailed(error)),
        Ok(Err(why)) => Some(FailureKind::WrongResult(why)),
        Ok(Ok(is_first)) => (!is_first).then_some(FailureKind::DifferentResult),
    };
    let see = |order: &Order| {
        let (seen, sight) = order.observed();
        let tried = trial(&seen);
        match sight.take() {
            Some(seen) => Ok((wrong_with(tried), seen.trace)),
            // Even a run that could be made before may not begin: a program may not start again.
            None => Err(tried.err().unwrap_or_else(|| Cause::Host("a run has not begun".into()).into())),
        }
    };
    let mut tries = 0;
    let trace = seen.map_or_else(|| Ok(see(order)?.1), |seen| Ok::<_, RunError>(seen.trace))?;
    let latencies = trace.messages.iter().map(|message| (message.id, message.latency)).collect();
    let reduced = match wrong {
        FailureKind::BrokenRule(_) => order.clone(),
        _ => Reduction::reduce(order, latencies, deadline, &mut |order| {
            tries += 1;
            wrong_with(trial(order)).is_some_and(|other| other.is_like(&wrong))
        }),
    };
    let (again, trace) = see(&reduced)?;
    let late = trace.messages.iter().filter(|message| message.latency > Time::ZERO);
    let late =
        late.map(|message| DelayedMessage { message: message.id, to: message.to, latency: message.latency });
    Ok(Failure {
        run,
        delayed: late.collect(),
        kind: again.filter(|again| again.is_like(&wrong)).unwrap_or(wrong),
        tries,
        order: reduced,
        trace,
    })
}

/// Counts the choices of a run's receives, by their locations in the program, as far as there is time.
fn add_choices(all: &mut Choices, history: &History, deadline: Deadline) {
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
