//! Studies of the papers' programs: for a case, the time by its formula, by the model, and by a run
//! on the wall clock. The answers are numbers, and rows of them with their headings; printing them is up to the caller.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod analysis;
pub mod calibration;
pub mod fastest;
pub mod loggps;
pub mod machine_file;
pub mod parallel;
pub mod pictures;
pub mod range;
pub mod real;
pub mod rows;
pub mod sweep;
pub mod tuning;

use std::sync::Arc;

use loggp::link::Link;
use loggp::trace::Trace;
use loggp::{Cause, ClockKind, Machine, Params, RunError, Time, Work};
use loggp_programs::{Case, CasePlan, ComputeTimes, Emulation, FormTime, Outcome, PhaseName, Refusal, Trend};

use parallel::run_in_order;

/// A case, the clock on which it runs, and the number of runs.
#[derive(Clone, Debug)]
pub struct Study {
    pub case: Case,
    /// The clock and its settings. On the wall clock the case runs on the virtual clock too, for the model.
    pub emulation: Emulation,
    /// Number of runs; the one with the median time is reported.
    pub repeat: usize,
    /// If true, each run has its own seed for all that is random.
    pub distinct_seeds: bool,
    /// Number of runs that are made at the same time.
    pub parallel_runs: usize,
    /// If true, a study of a real machine runs on the emulated wall clock too.
    pub includes_wall_clock: bool,
}

/// The answers of a study.
#[derive(Debug)]
pub struct Answers {
    /// Times of the run.
    pub prediction: Prediction,
    /// Times of its phases, if it has phases.
    pub phases: Vec<PhasePrediction>,
    /// Predicted trend, if the program has one.
    pub trend: Option<Trend>,
    /// Times of all runs on the reported clock, from the shortest.
    pub times: Vec<Time>,
    /// Seeds of the run with the median time as options of the command, if each run has its own.
    pub random_options: Option<String>,
    /// The run with the median time: the measured one if there is one, else the model's. On a real machine
    /// its host report is that of the wall clock, if that was run too.
    pub outcome: Outcome,
    /// True if this computer was on time in that run, or in all runs if each has its own seed; `None` where
    /// time does not pass.
    pub on_time: Option<bool>,
    /// Error in the result of a run, in one sentence.
    pub wrong: Option<String>,
}

/// The time of a run by formula, by model and by measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prediction {
    /// Time by the closed form.
    pub formula: Option<Time>,
    /// The closed form: exact, a bound or an estimate, and whose. `None` for a phase.
    pub form: Option<FormTime>,
    /// Time on the virtual clock.
    pub model: Option<Time>,
    /// Times of all runs on the virtual clock, if each has its own seed.
    pub models: Option<TimeSummary>,
    /// Time on the emulated wall clock, if a real machine is measured and `with_wall_clock` is set.
    pub wall: Option<Time>,
    /// Times measured on the wall clock or on a real machine.
    pub measured: Option<TimeSummary>,
}

/// The times of a phase of a run.
#[derive(Clone, Debug)]
pub struct PhasePrediction {
    pub name: PhaseName,
    /// Times of the phase; the measured one is from the run with the median time.
    pub prediction: Prediction,
}

/// The quartiles of the times of several runs.
#[derive(Clone, Copy, Debug)]
pub struct TimeSummary {
    /// Median.
    pub median: Time,
    /// Shortest time.
    pub min: Time,
    /// First quartile.
    pub lower: Time,
    /// Third quartile.
    pub upper: Time,
    /// Longest time.
    pub max: Time,
}

/// The reason why a study has no answers.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The case is not possible.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// A run failed.
    #[error("{0}")]
    Run(#[source] Box<RunError>),
    /// The run with these seeds failed.
    #[error("{0}, with {1}")]
    SeededRun(#[source] Box<RunError>, String),
}

/// The outcome of a run, and its seeds as options if each run has its own.
type SeededOutcome = (Outcome, Option<String>);

struct ClockRuns {
    /// Outcome of the run with the median time.
    outcome: Outcome,
    /// Seeds of that run, if each run has its own.
    random_options: Option<String>,
    /// Times of all runs, from the shortest.
    times: Vec<Time>,
    summary: TimeSummary,
    /// True if this computer was on time in the median run, or in all runs if each has its own seed.
    on_time: Option<bool>,
    /// Error in the result of a run.
    wrong: Option<String>,
}

impl Study {
    /// Makes a study of one run on the virtual clock.
    pub fn new(case: Case) -> Study {
        Study {
            case,
            emulation: Emulation::default(),
            repeat: 1,
            distinct_seeds: false,
            parallel_runs: 1,
            includes_wall_clock: false,
        }
    }

    /// Moves the study to the wall clock.
    #[must_use]
    pub fn measured(self) -> Study {
        let emulation = Emulation { clock: ClockKind::Wall, ..self.emulation };
        Study { emulation, ..self }
    }

    /// Returns the number of runs on all clocks.
    pub fn runs(&self) -> usize {
        self.emulations().len() * self.repeat
    }

    /// Returns the emulations to run. The model comes first: a case that fails there need not be measured.
    fn emulations(&self) -> Vec<Emulation> {
        let on = |clock| Emulation { clock, trace: false, link: None, ..self.emulation.clone() };
        let model = (self.emulation.clock == ClockKind::Wall).then(|| on(ClockKind::Virtual));
        let wall = (self.includes_wall_clock && self.emulation.link.is_some()).then(|| on(ClockKind::Wall));
        [model, wall, Some(self.emulation.clone())].into_iter().flatten().collect()
    }

    /// Runs the study.
    pub fn run(&self) -> Result<Answers, StudyError> {
        self.run_with_progress(|| ())
    }

    /// Runs the study, and calls `done` after each run.
    pub fn run_with_progress(&self, mut done: impl FnMut()) -> Result<Answers, StudyError> {
        let plan = self.case.plan()?;
        // A formula needs the cost of computing on this computer, unless the case sets it; LogGPS has no
        // formulas.
        let needs = self.case.work == Work::Measured && self.case.params.is_loggp();
        let free = needs.then(|| self.case.without_message_costs());
        let mut computing = Vec::new();
        let mut runs = |emulation: &Emulation, free: Option<&Case>| {
            let run = |number: &usize| self.run_once(&plan, *number, free, emulation);
            let mut outcomes = Vec::new();
            run_in_order(
                0..self.repeat.max(1),
                self.parallel_runs,
                run,
                |_, result| -> Result<(), StudyError> {
                    let (free, outcome) = result?;
                    computing.extend(free);
                    outcomes.push(outcome);
                    done();
                    Ok(())
                },
            )?;
            Ok(ClockRuns::from_outcomes(outcomes))
        };
        let mut emulations = self.emulations();
        let reported = emulations.pop().expect("it runs at least on one clock");
        let mut predicted = Vec::new();
        for emulation in &emulations {
            let mut model = || runs(emulation, None);
            predicted.extend(match &self.emulation.link {
                Some(link) if emulation.clock == ClockKind::Wall => run_on_process_0(link, model)?,
                _ => Some(model()?),
            });
        }
        let reported = runs(&reported, free.as_ref())?;
        let case = Case { compute_times: ComputeTimes::from_runs(&computing), ..self.case.clone() };
        Ok(self.answers(&case.plan()?, predicted, reported))
    }

    /// Returns the answers that runs on the clocks before the last one, and on the last one, give.
    fn answers(&self, plan: &CasePlan, predicted: Vec<ClockRuns>, reported: ClockRuns) -> Answers {
        let mut all = predicted.into_iter().chain([reported]);
        let model = all.next().expect("the model has run");
        let (wall, measured) = match (all.next(), all.next()) {
            (wall, Some(measured)) => (wall, Some(measured)),
            (measured, None) => (None, measured),
        };
        let prediction = Prediction {
            model: Some(model.summary.median),
            models: self.distinct_seeds.then_some(model.summary),
            wall: wall.as_ref().map(|wall| wall.summary.median),
            measured: measured.as_ref().map(|measured| measured.summary),
            ..Prediction::from_form(plan.form())
        };
        let phases = phases(&plan.phases(), &model, wall.as_ref(), measured.as_ref());
        let wrong = [Some(&model), wall.as_ref(), measured.as_ref()].into_iter().flatten();
        let wrong = wrong.filter_map(|runs| runs.wrong.clone()).next();
        let ClockRuns { mut outcome, random_options, times, mut on_time, .. } = measured.unwrap_or(model);
        if let Some(wall) = wall {
            (outcome.run.host, on_time) = (wall.outcome.run.host, wall.on_time);
        }
        let trend = plan.trend();
        Answers { prediction, phases, trend, times, random_options, outcome, on_time, wrong }
    }

    /// Makes one of the runs. First makes it with messages that cost nothing, if `free` is given, so that
    /// both see the host in the same state.
    fn run_once(
        &self,
        plan: &CasePlan,
        number: usize,
        free: Option<&Case>,
        emulation: &Emulation,
    ) -> Result<(Option<Outcome>, SeededOutcome), StudyError> {
        let free = free.map(|free| -> Result<Outcome, StudyError> {
            // On a real machine messages always cost something.
            let clock = if emulation.link.is_some() { ClockKind::Virtual } else { emulation.clock };
            Ok(free.plan()?.run(&Emulation { clock, trace: false, ..emulation.clone() })?)
        });
        let free = free.transpose()?;
        if !self.distinct_seeds {
            return Ok((free, (plan.run(emulation)?, None)));
        }
        let case = self.case.with_seeds_plus(number as u64);
        let outcome = case.plan()?.run(emulation).map_err(|error| match StudyError::from(error) {
            StudyError::Run(error) => StudyError::SeededRun(error, case.random_options()),
            failed => failed,
        })?;
        Ok((free, (outcome, Some(case.random_options()))))
    }
}

/// Runs something on process 0 that needs this computer for itself, while the other processes wait. They
/// return an error if it failed.
fn run_on_process_0(
    link: &Arc<dyn Link>,
    run: impl FnOnce() -> Result<ClockRuns, StudyError>,
) -> Result<Option<ClockRuns>, StudyError> {
    let meeting =
        Machine::new(Params::builder(link.P()).build().map_err(RunError::from)?).with_link(link.clone());
    meeting.measure_across(|_| ())?;
    let runs = (link.id() == 0).then(run).transpose();
    let message = runs.as_ref().err().map(ToString::to_string);
    let failure = meeting.measure_across(|_| message.clone())?.results.swap_remove(0);
    match failure {
        Some(message) if link.id() > 0 => Err(RunError::from(Cause::OtherProcess(message)).into()),
        _ => runs,
    }
}

impl Answers {
    /// Takes the trace of the run, if it was traced.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.outcome.run.trace.take()
    }

    /// Returns the time by which this is compared, the measured one if there is one, or else the model's; or why there
    /// is none: the time of a wrong result counts for nothing.
    pub fn right_time(&self) -> Result<Time, String> {
        if let Some(why) = &self.wrong {
            return Err(format!("its result is wrong: {why}"));
        }
        let measured = self.prediction.measured.map(|times| times.median);
        measured.or(self.prediction.model).ok_or_else(|| "it was not run".into())
    }
}

impl StudyError {
    /// Returns the text of `Display`, with times as `show` writes them.
    pub fn text(&self, show: &dyn Fn(Time) -> String) -> String {
        let text = |error: &RunError| {
            let mut text = String::new();
            error.write(&mut text, show).expect("a string can be written");
            text
        };
        match self {
            StudyError::Refused(why) => why.to_string(),
            StudyError::Run(error) => text(error),
            StudyError::SeededRun(error, seeds) => format!("{}, with {seeds}", text(error)),
        }
    }

    /// Returns the first line, without what each processor did.
    pub fn summary(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().into()
    }
}

impl ClockRuns {
    /// Summarizes at least one outcome.
    fn from_outcomes(mut outcomes: Vec<SeededOutcome>) -> ClockRuns {
        outcomes.sort_by_key(|(outcome, _)| outcome.run.time);
        let times: Vec<Time> = outcomes.iter().map(|(outcome, _)| outcome.run.time).collect();
        let summary = TimeSummary::from_sorted(&times);
        let wrong = outcomes.iter().find_map(|(outcome, drawn)| {
            let why = outcome.verified.as_ref().err()?;
            Some(drawn.as_ref().map_or_else(|| why.clone(), |drawn| format!("{why}, with {drawn}")))
        });
        let on_time = |(outcome, _): &SeededOutcome| outcome.run.host.as_ref().map(|host| host.on_time);
        let late =
            outcomes.iter().filter(|(_, drawn)| drawn.is_some()).any(|run| on_time(run) == Some(false));
        let median = outcomes.swap_remove((times.len() - 1) / 2);
        let on_time = on_time(&median).map(|on_time| on_time && !late);
        let (outcome, random_options) = median;
        ClockRuns { outcome, random_options, times, summary, on_time, wrong }
    }
}

/// Returns the times of the phases by formula, model, wall clock and measurement.
fn phases(
    formulas: &[(PhaseName, Option<Time>)],
    model: &ClockRuns,
    wall: Option<&ClockRuns>,
    measured: Option<&ClockRuns>,
) -> Vec<PhasePrediction> {
    let time = |runs: &ClockRuns, name: &PhaseName| {
        let phases = &runs.outcome.phases;
        phases.iter().find(|(other, _)| other == name).map(|(_, time)| *time)
    };
    let phase = |(name, model): &(PhaseName, Time)| {
        let formula = formulas.iter().find(|(other, _)| other == name).and_then(|(_, time)| *time);
        let measured = measured.and_then(|runs| time(runs, name)).map(TimeSummary::from_single);
        let wall = wall.and_then(|runs| time(runs, name));
        let prediction = Prediction { formula, model: Some(*model), wall, measured, ..Prediction::default() };
        PhasePrediction { name: name.clone(), prediction }
    };
    model.outcome.phases.iter().map(phase).collect()
}

impl TimeSummary {
    /// Summarizes sorted times: each quarter ends with the last of an equal number.
    fn from_sorted(all: &[Time]) -> TimeSummary {
        let at = |quarters: usize| all[(quarters * all.len()).div_ceil(4).max(1) - 1];
        TimeSummary { median: at(2), min: at(0), lower: at(1), upper: at(3), max: at(4) }
    }

    /// Summarizes the time of a single run.
    pub fn from_single(time: Time) -> TimeSummary {
        TimeSummary::from_sorted(&[time])
    }
}

impl Prediction {
    /// Returns the prediction by a closed form alone.
    pub fn from_form(form: Option<FormTime>) -> Prediction {
        Prediction { formula: form.map(|form| form.time), form, ..Prediction::default() }
    }

    /// Returns the relative deviation of the model from the formula, or `None` if one is missing.
    pub fn error_formula(&self) -> Option<f64> {
        relative_error(self.model?, self.formula?)
    }

    /// Returns the relative deviation of the measurement from the emulated wall clock, or `None` if one is
    /// missing.
    pub fn error_wall(&self) -> Option<f64> {
        relative_error(self.measured?.median, self.wall?)
    }

    /// Returns the relative deviation of the measurement from the model, or `None` if one is missing.
    pub fn error_model(&self) -> Option<f64> {
        relative_error(self.measured?.median, self.model?)
    }
}

/// Returns time/expected - 1, or `None` if `expected` is zero.
pub fn relative_error(time: Time, expected: Time) -> Option<f64> {
    (expected != Time::ZERO).then(|| time.as_ps() as f64 / expected.as_ps() as f64 - 1.0)
}

impl From<String> for StudyError {
    fn from(why: String) -> StudyError {
        StudyError::Refused(why.into())
    }
}

impl From<RunError> for StudyError {
    fn from(error: RunError) -> StudyError {
        match error.cause {
            Cause::Params(why) => why.to_string().into(),
            _ => StudyError::Run(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use loggp::US;
    use loggp_programs::broadcast::BROADCAST;

    use super::*;

    /// Quartiles are of all runs, not only of the median run.
    #[test]
    fn late_run_among_seeded_runs_is_reported() {
        let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        let case = Case::new(&BROADCAST, "optimal", params);
        let emulation = Emulation { clock: ClockKind::Wall, ..Emulation::default() };
        let run = |on_time: bool, drawn: Option<&str>| {
            let mut outcome = case.plan().unwrap().run(&emulation).unwrap();
            outcome.run.host.as_mut().unwrap().on_time = on_time;
            outcome.run.time = if on_time { 10 * US } else { 20 * US };
            (outcome, drawn.map(String::from))
        };
        let on_time = |late: bool, drawn| {
            ClockRuns::from_outcomes(vec![run(true, drawn), run(!late, drawn), run(true, drawn)]).on_time
        };
        let seed = Some("--latency random:1");
        assert_eq!((on_time(false, seed), on_time(true, seed)), (Some(true), Some(false)));
        // Repetitions of one run should take the same time, so the median run decides.
        assert_eq!((on_time(false, None), on_time(true, None)), (Some(true), Some(true)));
    }
}

/// Examples of the project's documents, run by `cargo test`. `docs/` is a link, so that the packaged crate
/// has them too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/analysis.md")]
    struct AnalysisPage;
}
