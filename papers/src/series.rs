//! Series: cases along a quantity, each with how much is run of it.

use std::rc::Rc;

use loggp::Time;
use loggp::trace::Trace;
use loggp_programs::Case;
use loggp_study::{Answers, Prediction};

use super::answer::sealed::Sealed;
use super::answer::{Answer, Ran, RunResult};

/// Cases along a quantity, or a single case.
pub struct CaseSeries {
    /// Name in tables, legends and [`Sheet::series`](super::Sheet::series).
    pub(crate) name: String,
    /// Name of the quantity; empty for a single case.
    pub(crate) along: &'static str,
    /// Cases, from left to right.
    pub(crate) points: Vec<SeriesPoint>,
}

/// A case of a series.
pub(crate) struct SeriesPoint {
    pub x: f64,
    pub case: Case,
    pub depth: StudyDepth,
}

/// The runs that are made of a case. Each variant includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StudyDepth {
    Formula,
    Model,
    /// The model, with a trace.
    Trace,
    /// The wall clock, if the lab measures.
    Measure,
}

impl CaseSeries {
    /// Returns a series of a single case, for the model.
    pub fn from_case(name: impl Into<String>, case: Case) -> CaseSeries {
        CaseSeries::from_cases(name, "", [(0.0, case)])
    }

    /// Returns a series of one case per value of a quantity, for the model.
    pub fn from_values(
        name: impl Into<String>,
        along: &'static str,
        values: impl IntoIterator<Item = usize>,
        case: impl Fn(usize) -> Case,
    ) -> CaseSeries {
        CaseSeries::from_cases(name, along, values.into_iter().map(|value| (value as f64, case(value))))
    }

    /// Returns a series of cases with their values of a quantity, for the model.
    pub fn from_cases(
        name: impl Into<String>,
        along: &'static str,
        cases: impl IntoIterator<Item = (f64, Case)>,
    ) -> CaseSeries {
        let points = cases.into_iter().map(|(x, case)| SeriesPoint { x, case, depth: StudyDepth::Model });
        CaseSeries { name: name.into(), along, points: points.collect() }
    }

    /// Has all cases traced.
    #[must_use]
    pub fn traced(self) -> CaseSeries {
        self.with_depth(StudyDepth::Trace, |_| true)
    }

    /// Has all cases measured on the wall clock.
    #[must_use]
    pub fn measured(self) -> CaseSeries {
        self.measured_if(|_| true)
    }

    /// Has the cases measured for whose value `applies` holds.
    #[must_use]
    pub fn measured_if(self, applies: impl Fn(f64) -> bool) -> CaseSeries {
        self.with_depth(StudyDepth::Measure, applies)
    }

    /// Reduces the cases for whose value `applies` holds to their formula, where the model would take too
    /// long.
    #[must_use]
    pub fn formula_if(self, applies: impl Fn(f64) -> bool) -> CaseSeries {
        self.with_depth(StudyDepth::Formula, applies)
    }

    fn with_depth(mut self, depth: StudyDepth, applies: impl Fn(f64) -> bool) -> CaseSeries {
        self.points.iter_mut().filter(|point| applies(point.x)).for_each(|point| point.depth = depth);
        self
    }
}

/// Results of a series.
pub struct SeriesResult {
    pub name: String,
    /// Name of the quantity; empty for a single case.
    pub along: &'static str,
    /// Results of the cases, from left to right.
    pub points: Vec<CaseResult>,
}

/// Result of a case.
#[derive(Clone)]
pub struct CaseResult {
    /// Value of the series' quantity.
    pub x: f64,
    pub prediction: Prediction,
    /// The run; `None` where only the formula was computed.
    pub(crate) answers: Option<Rc<Answers>>,
}

impl SeriesResult {
    /// Returns the last case that was run.
    ///
    /// # Panics
    ///
    /// If no case was run.
    pub fn last_result(&self) -> &CaseResult {
        let point = self.points.iter().rev().find(|result| result.answers.is_some());
        point.unwrap_or_else(|| panic!("no case of {} was run", self.name))
    }

    /// Returns the case at x.
    ///
    /// # Panics
    ///
    /// If there is no case at x.
    pub fn at(&self, x: f64) -> &CaseResult {
        let point = self.points.iter().find(|result| result.x == x);
        point.unwrap_or_else(|| panic!("{} has no case at {x}", self.name))
    }

    /// Returns x and a value computed by `what` of each case that was run.
    pub fn map_points<A: Answer<f64>>(&self, what: impl Fn(&CaseResult) -> A) -> Vec<(f64, f64)> {
        self.points
            .iter()
            .filter(|result| result.answers.is_some())
            .map(|result| (result.x, what(result).into_value()))
            .collect()
    }

    /// Returns a value computed by `what` of each case that was run.
    pub fn map_runs<T>(&self, what: impl Fn(&CaseResult) -> T) -> Vec<Ran<T>> {
        let runs = self.points.iter().filter(|result| result.answers.is_some());
        runs.map(|result| result.ran(&what)).collect()
    }

    /// Returns x and the model's time of each case, in multiples of `unit`.
    pub fn model_times(&self, unit: Time) -> Vec<(f64, f64)> {
        self.map_points(|result| result.model().in_units(unit))
    }

    /// Returns whether the model's time is the formula's, for each case.
    pub fn formula_checks(&self) -> Vec<Ran<bool>> {
        self.map_runs(|result| result.model() == result.formula())
    }

    /// Returns the model's time of each case over that of the same case of another series.
    pub fn ratios_to(&self, other: &SeriesResult) -> Vec<Ran<f64>> {
        let pairs = self.points.iter().zip(&other.points);
        pairs.map(|(one, other)| one.ran(|one| one.model().in_units(other.model()))).collect()
    }
}

impl Sealed for CaseResult {}

impl RunResult for CaseResult {
    fn assert_run(&self) {
        assert!(self.answers.is_some(), "only the formula was computed");
    }
}

impl CaseResult {
    /// Returns the model's time.
    ///
    /// # Panics
    ///
    /// If only the formula was computed.
    pub fn model(&self) -> Time {
        self.prediction.model.expect("the model was asked")
    }

    /// Returns the formula's time.
    ///
    /// # Panics
    ///
    /// If the algorithm has no formula.
    pub fn formula(&self) -> Time {
        self.prediction.formula.expect("the algorithm has a formula")
    }

    /// Returns the run.
    ///
    /// # Panics
    ///
    /// If only the formula was computed.
    pub fn answers(&self) -> &Answers {
        self.answers.as_ref().expect("it was run")
    }

    /// Returns the trace of the model's run.
    ///
    /// # Panics
    ///
    /// If the series was not [traced](CaseSeries::traced).
    pub fn trace(&self) -> &Trace {
        self.answers().outcome.run.trace.as_ref().expect("the run was traced")
    }

    /// Returns the times of a phase by formula, model and measurement.
    ///
    /// # Panics
    ///
    /// If there is no such phase.
    pub fn phase(&self, name: &str) -> Prediction {
        let phase = self.answers().phases.iter().find(|phase| phase.name == name);
        phase.unwrap_or_else(|| panic!("there is no phase {name}")).prediction
    }

    /// Returns the model's time of a phase, in multiples of `unit`.
    ///
    /// # Panics
    ///
    /// If there is no such phase.
    pub fn phase_time(&self, name: &str, unit: Time) -> Ran<f64> {
        self.ran(|result| result.phase(name).model.expect("the model was run").in_units(unit))
    }

    /// Returns a metric of the run, or NaN if it has none of that name.
    pub fn metric(&self, name: &str) -> Ran<f64> {
        self.ran(|result| result.answers().outcome.metric(name).unwrap_or(f64::NAN))
    }
}
