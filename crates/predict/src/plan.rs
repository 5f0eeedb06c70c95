//! What is predicted of an algorithm for a machine and a size.

use std::borrow::Cow;

use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::closed_form::{ClosedForm, FormKind, LOGGP};
use crate::{Refusal, Setting};

/// An algorithm in words.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Closed form for its time, and whose it is.
    pub formula: ClosedForm,
}

/// Predicts an algorithm, or refuses the machine and the size.
pub type PredictFn = for<'a> fn(Setting<'a>) -> Result<Box<dyn Predict + 'a>, Refusal>;

/// A program whose steps depend on no data.
#[derive(Debug)]
pub struct StepProgram {
    /// Purpose and source, in one sentence.
    pub about: &'static str,
    /// Meaning and default of its size.
    pub size: Size,
    /// Its algorithms that need nothing but a machine and a size.
    pub algorithms: &'static [(Description, PredictFn)],
}

pub(crate) fn boxed<'a>(plan: Result<impl Predict + 'a, Refusal>) -> Result<Box<dyn Predict + 'a>, Refusal> {
    Ok(Box::new(plan?))
}

/// What is predicted of an algorithm, for a machine and a size.
pub trait Predict: Sync {
    /// Returns the names of the parameters with which its closed forms count. On a machine with others the forms have no
    /// times, so that no form leaves out a parameter without a word.
    fn known_parameters(&self) -> &'static [&'static str] {
        LOGGP
    }

    /// Returns whether its closed form counts with the machine's levels. If not, it is an estimate there.
    fn knows_levels(&self) -> bool {
        false
    }

    /// Returns the time by the closed form, and whether it is exact in this case, a bound or an estimate; `None` where
    /// there is no form.
    ///
    /// The form holds on the papers' machine: every message takes L and is in transit until it arrives, the capacity follows
    /// from L and g, ties go by number, there is no noise, and work is charged. A form reads the case alone, and neither
    /// the model nor a measurement of the run.
    fn form(&self) -> Option<(FormKind, Time)>;

    /// Returns the times of the phases by their closed forms, in the order and under the names of
    /// the run. The list is empty where there are none.
    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        Vec::new()
    }

    /// Returns the predicted trend, or `None` where the run shows none.
    fn trend(&self) -> Option<Trend> {
        None
    }

    /// Returns the run as a schedule that a [player](loggp_schedule::Player) plays, where it lets a reception
    /// go [first](loggp_schedule::Player::receive_first), with the same times. `None` if what processors do
    /// depends on data, on times or on more of the machine than a schedule knows.
    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        None
    }
}

/// Meaning and default of a program's size.
#[derive(Debug)]
pub struct Size {
    /// Unit of the size, such as `items per processor, a word each`.
    pub meaning: &'static str,
    /// Default size.
    pub default: usize,
}

/// Name of a phase.
pub type PhaseName = Cow<'static, str>;

/// A quantity that changes while a program runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Axis along which it changes, such as `step`.
    pub along: &'static str,
    /// Name of the quantity, such as `active processors`.
    pub quantity: &'static str,
    /// Points (x, y): the quantity is y from x to the next point.
    pub points: Vec<(f64, f64)>,
}
