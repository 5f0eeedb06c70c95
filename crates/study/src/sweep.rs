//! A sweep: studies of a program's algorithms along one quantity.

use loggp::{Params, ParamsBuilder};

use super::range::{Point, Quantity, Range};
use super::{Answers, Failed, Study};
use loggp_programs::{Algorithm, Case, Refusal};

/// Studies along a range: of every algorithm at every point.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What is swept.
    pub range: Range,
    /// What can be run, and where in the range it is.
    pub studies: Vec<(Point, Study)>,
    /// What cannot be, and why: a point may be no machine, and a machine may be none for an algorithm.
    pub refused: Vec<(Point, Refusal)>,
}

impl Sweep {
    /// These algorithms along a range, on a machine that has all parameters but the swept one, and in studies that have
    /// all but the point.
    pub fn of(
        range: Range,
        algorithms: &[&'static Algorithm],
        machine: &ParamsBuilder,
        study: impl Fn(Params) -> Result<Study, Refusal>,
    ) -> Sweep {
        let mut sweep = Sweep { range, studies: Vec::new(), refused: Vec::new() };
        for point in &sweep.range.points {
            for algorithm in algorithms {
                match at(point, sweep.range.quantity, algorithm, machine, &study) {
                    Ok(study) => sweep.studies.push((point.clone(), study)),
                    Err(refusal) => sweep.refused.push((point.clone(), refusal)),
                }
            }
        }
        sweep
    }

    /// Runs all that can be.
    pub fn run(&self) -> Result<Vec<Answers>, Failed> {
        self.studies.iter().map(|(_, study)| study.run()).collect()
    }
}

/// The study of an algorithm at a point.
fn at(
    point: &Point,
    quantity: Quantity,
    algorithm: &'static Algorithm,
    machine: &ParamsBuilder,
    study: impl Fn(Params) -> Result<Study, Refusal>,
) -> Result<Study, Refusal> {
    let params = match quantity {
        Quantity::Time(name) | Quantity::Count(name) => {
            machine.clone().set(&format!("{name}={}", point.value)).and_then(ParamsBuilder::build)
        }
        _ => machine.clone().build(),
    };
    let study = study(params.map_err(|why| why.to_string())?)?;
    let case = Case { algorithm, ..study.case };
    let case = match quantity {
        Quantity::Size => Case { size: point.number as usize, ..case },
        Quantity::Own(option) => case.set(option.at(point.number)?),
        _ => case,
    };
    case.check()?;
    Ok(Study { case, ..study })
}
