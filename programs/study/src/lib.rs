//! A study asks three things of a case: what the paper's formula says, what the model says, and what a run on the wall
//! clock measures. It answers in numbers; who wants text writes them.

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod analysis;
pub mod calibration;
pub mod loggps;
pub mod range;
pub mod real;
pub mod sweep;

use loggp::{Cause, ClockKind, RunError, Time, Trace, Work};

use loggp_programs::{Case, Computing, Emulation, Outcome, PhaseName, Refusal, Trend};

/// A case, and how often and on which clock it is run.
#[derive(Clone, Debug)]
pub struct Study {
    /// The case.
    pub case: Case,
    /// The clock and what belongs to it. On the wall clock the case runs on the virtual one too, for the model.
    pub emulation: Emulation,
    /// How often it is run; the run with the median time is reported.
    pub repeat: usize,
}

/// What a study found.
#[derive(Debug)]
pub struct Answers {
    /// The three times.
    pub prediction: Prediction,
    /// The same of its phases, where it has phases.
    pub phases: Vec<Phase>,
    /// What was to change while it ran, where the program says that.
    pub trend: Option<Trend>,
    /// The run with the median time: the measured one if there is one, or else the model's.
    pub outcome: Outcome,
    /// What is wrong with the result of one of the runs, in one sentence.
    pub wrong: Option<String>,
}

/// The time of a run by formula, by model and by measurement.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// What the paper's closed form says.
    pub formula: Option<Time>,
    /// What the virtual clock says.
    pub model: Option<Time>,
    /// What the wall clock says.
    pub measured: Option<Times>,
}

/// A phase of a run.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name.
    pub phase: PhaseName,
    /// Its three times; what was measured is that of the run with the median time.
    pub prediction: Prediction,
}

/// The times of all runs of the same.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Half of them are no longer.
    pub median: Time,
    /// The shortest.
    pub min: Time,
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
}

/// The runs of a case on one clock.
struct Runs {
    /// The one with the median time.
    median: Outcome,
    /// The times of all.
    times: Times,
    /// What is wrong with the result of one.
    wrong: Option<String>,
}

impl Study {
    /// One run on the virtual clock.
    pub fn of(case: Case) -> Study {
        Study { case, emulation: Emulation::default(), repeat: 1 }
    }

    /// The same on the wall clock.
    #[must_use]
    pub fn measured(self) -> Study {
        let emulation = Emulation { clock: ClockKind::Wall, ..self.emulation };
        Study { emulation, ..self }
    }

    /// How many runs it takes.
    pub fn runs(&self) -> usize {
        self.clocks().count() * self.repeat
    }

    /// The clocks on which it runs. The model comes first: what fails there need not be measured.
    fn clocks(&self) -> impl Iterator<Item = ClockKind> {
        let wall = self.emulation.clock == ClockKind::Wall;
        [Some(ClockKind::Virtual), wall.then_some(ClockKind::Wall)].into_iter().flatten()
    }

    /// Asks all three.
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
        let mut by_clock = Vec::new();
        for clock in self.clocks() {
            let reported = clock == self.emulation.clock;
            let emulation =
                Emulation { clock, trace: reported && self.emulation.trace, ..self.emulation.clone() };
            let mut outcomes = Vec::new();
            for _ in 0..self.repeat.max(1) {
                // Both see the host as it is now.
                if let Some(free) = free.as_ref().filter(|_| reported) {
                    // On a real machine messages cost something whatever the parameters say.
                    let clock = if emulation.over.is_some() { ClockKind::Virtual } else { clock };
                    computing.push(free.plan()?.run(&Emulation {
                        clock,
                        trace: false,
                        ..emulation.clone()
                    })?);
                }
                outcomes.push(plan.run(&emulation)?);
                done();
            }
            by_clock.push(Runs::of(outcomes));
        }
        let case = Case { computing: Computing::of(&computing), ..self.case.clone() };
        let plan = case.plan()?;

        let measured = if by_clock.len() > 1 { by_clock.pop() } else { None };
        let model = by_clock.remove(0);
        let prediction = Prediction {
            formula: plan.formula(),
            model: Some(model.times.median),
            measured: measured.as_ref().map(|measured| measured.times),
        };
        let phases = phases(&plan.phases(), &model, measured.as_ref());
        let Runs { median: mut outcome, mut wrong, .. } = model;
        if let Some(measured) = measured {
            outcome = measured.median;
            wrong = wrong.or(measured.wrong);
        }
        Ok(Answers { prediction, phases, trend: plan.trend(), outcome, wrong })
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
    fn of(mut outcomes: Vec<Outcome>) -> Runs {
        outcomes.sort_by_key(|outcome| outcome.run.time);
        let last = outcomes.len() - 1;
        let (min, max) = (outcomes[0].run.time, outcomes[last].run.time);
        let wrong = outcomes.iter().find_map(|outcome| outcome.verified.clone().err());
        let median = outcomes.swap_remove(last / 2);
        Runs { times: Times { median: median.run.time, min, max }, median, wrong }
    }
}

/// What was predicted for the phases of a run, and what became of them.
fn phases(formulas: &[(PhaseName, Option<Time>)], model: &Runs, measured: Option<&Runs>) -> Vec<Phase> {
    let time = |runs: &Runs, name: &PhaseName| {
        let phases = &runs.median.phases;
        phases.iter().find(|(other, _)| other == name).map(|(_, time)| *time)
    };
    let phase = |(name, model): &(PhaseName, Time)| {
        let formula = formulas.iter().find(|(other, _)| other == name).and_then(|(_, time)| *time);
        let measured = measured.and_then(|runs| time(runs, name)).map(Times::one);
        Phase { phase: name.clone(), prediction: Prediction { formula, model: Some(*model), measured } }
    };
    model.median.phases.iter().map(phase).collect()
}

impl Times {
    /// The time of a single run.
    pub fn one(time: Time) -> Times {
        Times { median: time, min: time, max: time }
    }
}

impl Prediction {
    /// How far the model is from the formula.
    pub fn error_formula(&self) -> Option<f64> {
        error(self.model?, self.formula?)
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
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failed::Refused(refusal) => Some(refusal),
            Failed::Run(error) => Some(error),
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

/// The documents' examples, which `cargo test` runs. They are links to the documents of the project, so that the packaged
/// crate has them too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/analysis.md")]
    struct Analysis;
}
