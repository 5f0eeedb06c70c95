//! Closed forms for the time of an algorithm: whose each is, and how its time stands to the model's.

use std::fmt;

use loggp_model::params::{Level, Parameter, Params};
use loggp_model::time::Time;

use crate::Predict;

/// The closed form of an algorithm as text, with whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedForm {
    /// A paper's: its place there, and the form.
    Paper(&'static str, &'static str),
    /// One that stands in no paper.
    Ours(&'static str),
    /// The reason why there is none.
    None(&'static str),
}

/// A case's time by its closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormTime {
    pub time: Time,
    pub kind: FormKind,
    /// The place of the form in a paper, or `ours`: see [`ClosedForm::source`].
    pub source: &'static str,
}

/// The source of a form that stands in no paper.
const OURS: &str = "ours";

/// The parameters of LogP's and LogGP's machines.
pub const LOGGP: &[&str] = &["L", "o", "g", "G", "P", "word"];
/// The parameters of LogGPS's machines, LogGP's among them.
pub const LOGGPS: &[&str] = &["L", "o", "g", "G", "O_s", "O_r", "G_s", "G_l", "R", "P", "word", "s", "S"];

/// The relation of a closed form's time to the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// The form's time is the model's, to the picosecond.
    Exact,
    /// The model takes no more.
    UpperBound,
    /// The model takes no less.
    LowerBound,
    /// The model may take more or less.
    Estimate,
}

impl FormKind {
    /// Returns whether the model may take so much more than the form, a part of it.
    pub fn allows(self, error: f64) -> bool {
        match self {
            FormKind::Exact => error == 0.0,
            FormKind::UpperBound => error <= 0.0,
            FormKind::LowerBound => error >= 0.0,
            FormKind::Estimate => true,
        }
    }
}

impl ClosedForm {
    /// Returns the form without whose it is, or `None` if there is none.
    pub fn text(&self) -> Option<&'static str> {
        match self {
            ClosedForm::Paper(_, text) | ClosedForm::Ours(text) => Some(text),
            ClosedForm::None(_) => None,
        }
    }

    /// Returns whose it is: a place in a paper, or `ours`; `None` if there is none.
    pub fn source(&self) -> Option<&'static str> {
        match self {
            ClosedForm::Paper(place, _) => Some(place),
            ClosedForm::Ours(_) => Some(OURS),
            ClosedForm::None(_) => None,
        }
    }

    /// Returns the reason why there is none, or `None` if there is one.
    pub fn why_missing(&self) -> Option<&'static str> {
        if let ClosedForm::None(why) = self { Some(why) } else { None }
    }
}

impl FormTime {
    /// Returns the time by a plan's closed form; `None` where there is no form, and on a machine with parameters that it does
    /// not know. `is_usual` is false if anything but the parameters and the levels makes an estimate of every form.
    pub fn new(
        plan: &dyn Predict,
        formula: &ClosedForm,
        params: &Params,
        levels: &[Level],
        is_usual: bool,
    ) -> Option<FormTime> {
        let (kind, time) = knows_machine(plan, params, levels).then(|| plan.form())??;
        let is_certain = is_usual
            && (levels.is_empty() || plan.knows_levels())
            && levels.iter().map(|level| &level.params).chain([params]).all(|params| params.C.is_none());
        let source = formula.source().unwrap_or(OURS);
        Some(FormTime { time, kind: if is_certain { kind } else { FormKind::Estimate }, source })
    }
}

/// Returns whether a plan's closed forms know all parameters of a machine.
pub fn knows_machine(plan: &dyn Predict, params: &Params, levels: &[Level]) -> bool {
    let known = plan.known_parameters();
    let knows = |params: &Params| {
        let mut there = Parameter::ALL.iter().filter(|parameter| parameter.number(params).is_some());
        // A capacity of its own makes an estimate of a form.
        there.all(|parameter| parameter.name == "C" || known.contains(&parameter.name))
    };
    knows(params) && (!plan.knows_levels() || levels.iter().all(|level| knows(&level.params)))
}

impl fmt::Display for ClosedForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClosedForm::Paper(place, text) => write!(f, "{text} ({place})"),
            ClosedForm::Ours(text) => write!(f, "{text} ({OURS})"),
            ClosedForm::None(why) => write!(f, "none: {why}"),
        }
    }
}

impl fmt::Display for FormTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.source)
    }
}

impl FormKind {
    /// Returns its name, without an article.
    pub fn name(self) -> &'static str {
        match self {
            FormKind::Exact => "exact",
            FormKind::UpperBound => "upper bound",
            FormKind::LowerBound => "lower bound",
            FormKind::Estimate => "estimate",
        }
    }
}

impl fmt::Display for FormKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormKind::Exact => f.write_str("exact"),
            FormKind::Estimate => f.write_str("an estimate"),
            FormKind::UpperBound => f.write_str("an upper bound"),
            FormKind::LowerBound => f.write_str("a lower bound"),
        }
    }
}
