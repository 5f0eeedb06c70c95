//! Sweeps: studies of a program's algorithms along one quantity.

use loggp::{Params, ParamsBuilder};

use super::range::{Quantity, Range, SweepPoint};
use super::{Answers, Study, StudyError};
use loggp_programs::{Algorithm, Case, Refusal};

/// Studies of every algorithm at every point of a range.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Quantity and points of the sweep.
    pub range: Range,
    /// Studies that can be run, each with its point.
    pub studies: Vec<(SweepPoint, Study)>,
    /// Points that are refused, and why: a point may be no machine, or its machine may not suit an algorithm.
    pub refused: Vec<(SweepPoint, Refusal)>,
}

impl Sweep {
    /// Makes a sweep. `machine` has all parameters except the swept one, and `study` makes a study that lacks
    /// only the point.
    pub fn new(
        range: Range,
        algorithms: &[&'static Algorithm],
        machine: &ParamsBuilder,
        study: impl Fn(Params) -> Result<Study, Refusal>,
    ) -> Sweep {
        let mut sweep = Sweep { range, studies: Vec::new(), refused: Vec::new() };
        for point in &sweep.range.points {
            for algorithm in algorithms {
                match study_at(point, sweep.range.quantity, algorithm, machine, &study) {
                    Ok(study) => sweep.studies.push((point.clone(), study)),
                    Err(refusal) => sweep.refused.push((point.clone(), refusal)),
                }
            }
        }
        sweep
    }

    /// Runs all studies.
    pub fn run(&self) -> Result<Vec<Answers>, StudyError> {
        self.studies.iter().map(|(_, study)| study.run()).collect()
    }
}

/// Makes the study of an algorithm at a point.
fn study_at(
    point: &SweepPoint,
    quantity: Quantity,
    algorithm: &'static Algorithm,
    machine: &ParamsBuilder,
    study: impl Fn(Params) -> Result<Study, Refusal>,
) -> Result<Study, Refusal> {
    let params = match quantity {
        Quantity::Parameter(parameter) => {
            machine.clone().set(&format!("{}={}", parameter.name, point.value)).and_then(ParamsBuilder::build)
        }
        _ => machine.clone().build(),
    };
    let study = study(params.map_err(|why| why.to_string())?)?;
    let case = Case { algorithm, ..study.case };
    let case = match quantity {
        Quantity::Size => Case { size: point.number as usize, ..case },
        Quantity::Option(option) => case.with_value(option.value_of(point.number)?),
        _ => case,
    };
    case.check()?;
    Ok(Study { case, ..study })
}
