//! A study asks three things of a case: what the paper's formula says, what the model says, and what a run on the wall
//! clock measures. It answers in numbers; who wants text writes them.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod analysis;
pub mod at_once;
pub mod calibration;
pub mod loggps;
pub mod range;
pub mod real;
pub mod sweep;

use std::sync::Arc;

use loggp::{Cause, ClockKind, Link, Machine, Params, RunError, Time, Trace, Work};

use at_once::in_order;
use loggp_programs::{Case, Computing, Emulation, Outcome, PhaseName, Plan, Refusal, Trend};

/// A case, and how often and on which clock it is run.
#[derive(Clone, Debug)]
pub struct Study {
    /// The case.
    pub case: Case,
    /// The clock and what belongs to it. On the wall clock the case runs on the virtual one too, for the model.
    pub emulation: Emulation,
    /// How often it is run; the run with the median time is reported.
    pub repeat: usize,
    /// Whether each of these runs draws what is drawn by a seed of its own.
    pub seeds: bool,
    /// How many of these runs are made at once.
    pub at_once: usize,
    /// Whether beside a real machine the wall clock is asked too.
    pub wall_too: bool,
}

/// What a study found.
#[derive(Debug)]
pub struct Answers {
    /// Its times.
    pub prediction: Prediction,
    /// The same of its phases, where it has phases.
    pub phases: Vec<Phase>,
    /// What was to change while it ran, where the program says that.
    pub trend: Option<Trend>,
    /// The times of all runs on the clock that is reported, from the shortest.
    pub times: Vec<Time>,
    /// What was drawn by the seeds of the run with the median time, in the words of the command, if each run has its own.
    pub drawn: Option<String>,
    /// The run with the median time: the measured one if there is one, or else the model's. How this computer held it, on a
    /// real machine, is how it held the wall clock, if that was asked too.
    pub outcome: Outcome,
    /// Whether this computer held the run, and if each draws anew all of them, as all count; nothing where time does not pass.
    pub held: Option<bool>,
    /// What is wrong with the result of one of the runs, in one sentence.
    pub wrong: Option<String>,
}

/// The time of a run by formula, by model and by measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prediction {
    /// What the paper's closed form says.
    pub formula: Option<Time>,
    /// What the virtual clock says.
    pub model: Option<Time>,
    /// The same of all runs, if each draws anew.
    pub models: Option<Times>,
    /// What the wall clock says, where a real machine is measured and it is asked too.
    pub wall: Option<Time>,
    /// What was measured, on the wall clock or on a real machine.
    pub measured: Option<Times>,
}

/// A phase of a run.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name.
    pub phase: PhaseName,
    /// Its times; what was measured is that of the run with the median time.
    pub prediction: Prediction,
}

/// The times of all runs of the same.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Half of them are no longer.
    pub median: Time,
    /// The shortest.
    pub min: Time,
    /// A quarter of them are no longer.
    pub lower: Time,
    /// Three quarters of them are no longer.
    pub upper: Time,
    /// The longest.
    pub max: Time,
}

/// Why there are no answers.
#[derive(Debug)]
pub enum Failed {
    /// The case cannot be.
    Refused(Refusal),
    /// A run of it failed.
    Run(Box<RunError>),
    /// The run that drew this failed.
    Drawn(Box<RunError>, String),
}

/// What became of a run, and what it drew, if each draws anew.
type Ran = (Outcome, Option<String>);

/// The runs of a case on one clock.
struct Runs {
    /// The one with the median time.
    median: Outcome,
    /// What that one drew, if each draws anew.
    drawn: Option<String>,
    /// The times of all, from the shortest.
    all: Vec<Time>,
    /// What is said of these.
    times: Times,
    /// Whether this computer held the one with the median time, and if each draws anew all of them.
    held: Option<bool>,
    /// What is wrong with the result of one.
    wrong: Option<String>,
}

impl Study {
    /// One run on the virtual clock.
    pub fn of(case: Case) -> Study {
        Study { case, emulation: Emulation::default(), repeat: 1, seeds: false, at_once: 1, wall_too: false }
    }

    /// The same on the wall clock.
    #[must_use]
    pub fn measured(self) -> Study {
        let emulation = Emulation { clock: ClockKind::Wall, ..self.emulation };
        Study { emulation, ..self }
    }

    /// How many runs it takes.
    pub fn runs(&self) -> usize {
        self.emulations().len() * self.repeat
    }

    /// How it runs for each of the times. The model comes first: what fails there need not be measured.
    fn emulations(&self) -> Vec<Emulation> {
        let on = |clock| Emulation { clock, trace: false, over: None, ..self.emulation.clone() };
        let model = (self.emulation.clock == ClockKind::Wall).then(|| on(ClockKind::Virtual));
        let wall = (self.wall_too && self.emulation.over.is_some()).then(|| on(ClockKind::Wall));
        [model, wall, Some(self.emulation.clone())].into_iter().flatten().collect()
    }

    /// Asks all.
    pub fn run(&self) -> Result<Answers, Failed> {
        self.run_with(|| ())
    }

    /// The same, and tells after each run that it is done.
    pub fn run_with(&self, mut done: impl FnMut()) -> Result<Answers, Failed> {
        let plan = self.case.plan()?;
        // A formula must know what computing costs on this computer, unless the case says it; LogGPS has no formulas.
        let needs = self.case.work == Work::Measured && self.case.params.is_loggp();
        let free = needs.then(|| self.case.free());
        let mut computing = Vec::new();
        let mut runs = |emulation: &Emulation, free: Option<&Case>| {
            let run = |number: &usize| self.once(&*plan, *number, free, emulation);
            let mut outcomes = Vec::new();
            in_order(0..self.repeat.max(1), self.at_once, run, |_, ran| -> Result<(), Failed> {
                let (free, outcome) = ran?;
                computing.extend(free);
                outcomes.push(outcome);
                done();
                Ok(())
            })?;
            Ok(Runs::of(outcomes))
        };
        let mut emulations = self.emulations();
        let reported = emulations.pop().expect("it runs at least on one clock");
        let mut predicted = Vec::new();
        for emulation in &emulations {
            let mut model = || runs(emulation, None);
            predicted.extend(match &self.emulation.over {
                Some(link) if emulation.clock == ClockKind::Wall => alone(link, model)?,
                _ => Some(model()?),
            });
        }
        let reported = runs(&reported, free.as_ref())?;
        let case = Case { computing: Computing::of(&computing), ..self.case.clone() };
        let plan = case.plan()?;

        let mut all = predicted.into_iter().chain([reported]);
        let model = all.next().expect("the model has run");
        let (wall, measured) = match (all.next(), all.next()) {
            (wall, Some(measured)) => (wall, Some(measured)),
            (measured, None) => (None, measured),
        };
        let prediction = Prediction {
            formula: plan.formula(),
            model: Some(model.times.median),
            models: self.seeds.then_some(model.times),
            wall: wall.as_ref().map(|wall| wall.times.median),
            measured: measured.as_ref().map(|measured| measured.times),
        };
        let phases = phases(&plan.phases(), &model, wall.as_ref(), measured.as_ref());
        let wrong = [Some(&model), wall.as_ref(), measured.as_ref()].into_iter().flatten();
        let wrong = wrong.filter_map(|runs| runs.wrong.clone()).next();
        let Runs { median: mut outcome, drawn, all: times, mut held, .. } = measured.unwrap_or(model);
        if let Some(wall) = wall {
            (outcome.run.host, held) = (wall.median.run.host, wall.held);
        }
        Ok(Answers { prediction, phases, trend: plan.trend(), times, drawn, outcome, held, wrong })
    }

    /// One of the runs, and what it drew if each draws anew; and before it the same with messages that cost nothing, if that is
    /// asked for: both see the host as it is now.
    fn once(
        &self,
        plan: &dyn Plan,
        number: usize,
        free: Option<&Case>,
        emulation: &Emulation,
    ) -> Result<(Option<Outcome>, Ran), Failed> {
        let free = free.map(|free| -> Result<Outcome, Failed> {
            // On a real machine messages cost something whatever the parameters say.
            let clock = if emulation.over.is_some() { ClockKind::Virtual } else { emulation.clock };
            Ok(free.plan()?.run(&Emulation { clock, trace: false, ..emulation.clone() })?)
        });
        let free = free.transpose()?;
        if !self.seeds {
            return Ok((free, (plan.run(emulation)?, None)));
        }
        let case = self.case.drawn_anew(number as u64);
        let outcome = case.plan()?.run(emulation).map_err(|error| match Failed::from(error) {
            Failed::Run(error) => Failed::Drawn(error, case.drawn()),
            failed => failed,
        })?;
        Ok((free, (outcome, Some(case.drawn()))))
    }
}

/// Has process 0 run something that needs this computer for itself, while the others wait. They learn whether that failed.
fn alone(link: &Arc<dyn Link>, run: impl FnOnce() -> Result<Runs, Failed>) -> Result<Option<Runs>, Failed> {
    let meeting = Machine::new(Params::builder(link.p()).build().map_err(RunError::from)?).over(link.clone());
    meeting.run_across(|_| ())?;
    let ran = (link.id() == 0).then(run).transpose();
    let why = ran.as_ref().err().map(ToString::to_string);
    let told = meeting.run_across(|_| why.clone())?.results.swap_remove(0);
    match told {
        Some(why) if link.id() > 0 => Err(RunError::from(Cause::Elsewhere(why)).into()),
        _ => ran,
    }
}

impl Answers {
    /// What happened, if the study was to note that.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.outcome.run.trace.take()
    }
}

impl Runs {
    /// From what became of them; there is at least one.
    fn of(mut outcomes: Vec<Ran>) -> Runs {
        outcomes.sort_by_key(|(outcome, _)| outcome.run.time);
        let all: Vec<Time> = outcomes.iter().map(|(outcome, _)| outcome.run.time).collect();
        let times = Times::of(&all);
        let wrong = outcomes.iter().find_map(|(outcome, drawn)| {
            let why = outcome.verified.as_ref().err()?;
            Some(drawn.as_ref().map_or_else(|| why.clone(), |drawn| format!("{why}, with {drawn}")))
        });
        let held = |(outcome, _): &Ran| outcome.run.host.as_ref().map(|host| host.held);
        let late = outcomes.iter().filter(|(_, drawn)| drawn.is_some()).any(|run| held(run) == Some(false));
        let median = outcomes.swap_remove((all.len() - 1) / 2);
        let held = held(&median).map(|held| held && !late);
        let (median, drawn) = median;
        Runs { times, all, median, drawn, held, wrong }
    }
}

/// What was predicted for the phases of a run, and what became of them.
fn phases(
    formulas: &[(PhaseName, Option<Time>)],
    model: &Runs,
    wall: Option<&Runs>,
    measured: Option<&Runs>,
) -> Vec<Phase> {
    let time = |runs: &Runs, name: &PhaseName| {
        let phases = &runs.median.phases;
        phases.iter().find(|(other, _)| other == name).map(|(_, time)| *time)
    };
    let phase = |(name, model): &(PhaseName, Time)| {
        let formula = formulas.iter().find(|(other, _)| other == name).and_then(|(_, time)| *time);
        let measured = measured.and_then(|runs| time(runs, name)).map(Times::one);
        let wall = wall.and_then(|runs| time(runs, name));
        let prediction = Prediction { formula, model: Some(*model), wall, measured, models: None };
        Phase { phase: name.clone(), prediction }
    };
    model.median.phases.iter().map(phase).collect()
}

impl Times {
    /// Of these, from the shortest: each quarter ends with the last of as many.
    fn of(all: &[Time]) -> Times {
        let at = |quarters: usize| all[(quarters * all.len()).div_ceil(4).max(1) - 1];
        Times { median: at(2), min: at(0), lower: at(1), upper: at(3), max: at(4) }
    }

    /// The time of a single run.
    pub fn one(time: Time) -> Times {
        Times::of(&[time])
    }
}

impl Prediction {
    /// How far the model is from the formula.
    pub fn error_formula(&self) -> Option<f64> {
        error(self.model?, self.formula?)
    }

    /// How far the measurement is from the emulated wall clock.
    pub fn error_wall(&self) -> Option<f64> {
        error(self.measured?.median, self.wall?)
    }

    /// How far the measurement is from the model.
    pub fn error_model(&self) -> Option<f64> {
        error(self.measured?.median, self.model?)
    }
}

/// time/expected - 1; nothing where nothing was to take no time.
fn error(time: Time, expected: Time) -> Option<f64> {
    (expected != Time::ZERO).then(|| time.as_ps() as f64 / expected.as_ps() as f64 - 1.0)
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failed::Refused(refusal) => refusal.fmt(f),
            Failed::Run(error) => error.fmt(f),
            Failed::Drawn(error, drawn) => write!(f, "{error}, with {drawn}"),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failed::Refused(refusal) => Some(refusal),
            Failed::Run(error) | Failed::Drawn(error, _) => Some(error),
        }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        Failed::Refused(refusal)
    }
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Failed {
        match error.cause {
            Cause::Params(why) => Failed::Refused(why.to_string().into()),
            _ => Failed::Run(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use loggp::US;
    use loggp_programs::broadcast::BROADCAST;

    use super::*;

    /// Quartiles are of all runs, and not of the median run alone.
    #[test]
    fn a_late_run_among_others_that_draw_anew_is_told() {
        let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        let case = Case::new(&BROADCAST, "optimal", params);
        let emulation = Emulation { clock: ClockKind::Wall, ..Emulation::default() };
        let run = |held: bool, drawn: Option<&str>| {
            let mut outcome = case.plan().unwrap().run(&emulation).unwrap();
            outcome.run.host.as_mut().unwrap().held = held;
            outcome.run.time = if held { 10 * US } else { 20 * US };
            (outcome, drawn.map(String::from))
        };
        let held =
            |late: bool, drawn| Runs::of(vec![run(true, drawn), run(!late, drawn), run(true, drawn)]).held;
        let seed = Some("--latency random:1");
        assert_eq!((held(false, seed), held(true, seed)), (Some(true), Some(false)));
        // Runs of the same take as long as their median if that was in time.
        assert_eq!((held(false, None), held(true, None)), (Some(true), Some(true)));
    }
}

/// The documents' examples, which `cargo test` runs. They are links to the documents of the project, so that the packaged
/// crate has them too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/analysis.md")]
    struct Analysis;
}
