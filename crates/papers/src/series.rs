//! A series: cases along a quantity, each with what is asked of it.

use std::rc::Rc;

use loggp::{Time, Trace};

use loggp_programs::Case;
use loggp_study::{Answers, Prediction};

/// Cases along a quantity; or one alone.
pub struct Series {
    /// What it is called in tables, legends and [`Sheet::of`](super::Sheet::of).
    pub(crate) name: String,
    /// The quantity; empty if there is one case.
    pub(crate) along: &'static str,
    /// The cases, from left to right.
    pub(crate) points: Vec<Point>,
}

/// A case of a series.
pub(crate) struct Point {
    /// Where it stands.
    pub x: f64,
    /// The case.
    pub case: Case,
    /// What is asked of it.
    pub ask: Ask,
}

/// What is asked of a case. Each asks for what stands above it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ask {
    /// The formula.
    Formula,
    /// The model.
    Model,
    /// What happened in the model's run.
    Trace,
    /// The wall clock, where anything is to be measured.
    Measure,
}

impl Series {
    /// One case, of which the model is asked.
    pub fn one(name: impl Into<String>, case: Case) -> Series {
        Series { name: name.into(), along: "", points: vec![Point { x: 0.0, case, ask: Ask::Model }] }
    }

    /// Cases along a quantity, of which the model is asked.
    pub fn over(
        name: impl Into<String>,
        along: &'static str,
        values: impl IntoIterator<Item = usize>,
        case: impl Fn(usize) -> Case,
    ) -> Series {
        Series::along(name, along, values.into_iter().map(|value| (value as f64, case(value))))
    }

    /// The same along what is no whole number.
    pub fn along(
        name: impl Into<String>,
        along: &'static str,
        cases: impl IntoIterator<Item = (f64, Case)>,
    ) -> Series {
        let points = cases.into_iter().map(|(x, case)| Point { x, case, ask: Ask::Model });
        Series { name: name.into(), along, points: points.collect() }
    }

    /// The same, and what happened is noted.
    #[must_use]
    pub fn traced(self) -> Series {
        self.asked(Ask::Trace, |_| true)
    }

    /// The same, and the wall clock is asked too.
    #[must_use]
    pub fn measured(self) -> Series {
        self.measured_if(|_| true)
    }

    /// The same, and the wall clock is asked where it is to.
    #[must_use]
    pub fn measured_if(self, is_to: impl Fn(f64) -> bool) -> Series {
        self.asked(Ask::Measure, is_to)
    }

    /// The same, and only the formula is asked where the model would take too long.
    #[must_use]
    pub fn formula_if(self, is_to: impl Fn(f64) -> bool) -> Series {
        self.asked(Ask::Formula, is_to)
    }

    fn asked(mut self, ask: Ask, is_to: impl Fn(f64) -> bool) -> Series {
        self.points.iter_mut().filter(|point| is_to(point.x)).for_each(|point| point.ask = ask);
        self
    }
}

/// What came of a series.
pub struct Ran {
    /// The series' name.
    pub name: String,
    /// The quantity; empty if there is one case.
    pub along: &'static str,
    /// What came of each case, from left to right.
    pub points: Vec<Told>,
}

/// What came of a case.
#[derive(Clone)]
pub struct Told {
    /// Where it stands in its series.
    pub x: f64,
    /// What formula, model and measurement say.
    pub prediction: Prediction,
    /// The run; nothing where the formula alone was asked.
    pub(crate) answers: Option<Rc<Answers>>,
}

impl Ran {
    /// The last case that was run.
    ///
    /// # Panics
    ///
    /// If none was.
    pub fn last(&self) -> &Told {
        let ran = self.points.iter().rev().find(|told| told.answers.is_some());
        ran.unwrap_or_else(|| panic!("no case of {} was run", self.name))
    }

    /// The case at x.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn at(&self, x: f64) -> &Told {
        let point = self.points.iter().find(|told| told.x == x);
        point.unwrap_or_else(|| panic!("{} has no case at {x}", self.name))
    }

    /// x and something of each case that was run.
    pub fn each(&self, what: impl Fn(&Told) -> f64) -> Vec<(f64, f64)> {
        self.points.iter().filter(|told| told.answers.is_some()).map(|told| (told.x, what(told))).collect()
    }

    /// The model's time of each case in a unit, such as US.
    pub fn model(&self, unit: Time) -> Vec<(f64, f64)> {
        self.each(|told| told.model().in_units(unit))
    }

    /// How many times as long each case takes as that of another series, by the model.
    pub fn over(&self, other: &Ran) -> Vec<f64> {
        let pairs = self.points.iter().zip(&other.points);
        pairs.map(|(one, other)| one.model().in_units(other.model())).collect()
    }
}

impl Told {
    /// What the model says.
    ///
    /// # Panics
    ///
    /// If the formula alone was asked.
    pub fn model(&self) -> Time {
        self.prediction.model.expect("the model was asked")
    }

    /// What the formula says.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn formula(&self) -> Time {
        self.prediction.formula.expect("the algorithm has a formula")
    }

    /// The run.
    ///
    /// # Panics
    ///
    /// If the formula alone was asked.
    pub fn answers(&self) -> &Answers {
        self.answers.as_ref().expect("it was run")
    }

    /// What happened in the model's run.
    ///
    /// # Panics
    ///
    /// If the series was not [traced](Series::traced).
    pub fn trace(&self) -> &Trace {
        self.answers().outcome.run.trace.as_ref().expect("the run was traced")
    }

    /// What formula, model and measurement say of a phase.
    ///
    /// # Panics
    ///
    /// If there is no such phase.
    pub fn phase(&self, name: &str) -> Prediction {
        let phase = self.answers().phases.iter().find(|phase| phase.phase == name);
        phase.unwrap_or_else(|| panic!("there is no phase {name}")).prediction
    }

    /// A metric of the run; not a number where it has none of that name.
    pub fn metric(&self, name: &str) -> f64 {
        self.answers().outcome.metric(name).unwrap_or(f64::NAN)
    }
}
