//! Sweeps: studies of a program's algorithms along one quantity, or over two.

use std::slice;

use loggp::{Params, ParamsBuilder};
use loggp_programs::{Algorithm, Case, Refusal};

use super::range::{Quantity, Range, SweepPoint};
use super::{Answers, Study, StudyError};

/// A sweep: what makes the study of any algorithm at any point of its ranges, and between the points.
pub struct Sweep<'a> {
    /// Quantities and their values. All values of the first are taken at each value of the next.
    pub ranges: Vec<Range>,
    /// The machine, with all parameters except those that are swept.
    machine: &'a ParamsBuilder,
    make_study: Box<dyn Fn(Params) -> Result<Study, Refusal> + Sync + 'a>,
}

/// A point of a sweep: the value of each of its ranges.
pub type SweepValues = Vec<SweepPoint>;

/// Studies of algorithms at all points of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepStudies {
    /// Studies that can be run, each with its point.
    pub studies: Vec<(SweepValues, Study)>,
    /// Points at which an algorithm is refused, and why: a point may be no machine, or its machine may not suit it.
    pub refused: Vec<(SweepValues, &'static Algorithm, Refusal)>,
}

impl<'a> Sweep<'a> {
    /// Makes a sweep. `machine` has all parameters except the swept ones, and `make_study` makes a study that
    /// lacks only the point.
    pub fn new(
        ranges: Vec<Range>,
        machine: &'a ParamsBuilder,
        make_study: impl Fn(Params) -> Result<Study, Refusal> + Sync + 'a,
    ) -> Sweep<'a> {
        Sweep { ranges, machine, make_study: Box::new(make_study) }
    }

    /// Returns the studies of these algorithms at every point, those of a point beside each other.
    pub fn studies(&self, algorithms: &[&'static Algorithm]) -> SweepStudies {
        let mut all = SweepStudies::default();
        for point in self.points() {
            for algorithm in algorithms {
                match self.study_at(&point, algorithm) {
                    Ok(study) => all.studies.push((point.clone(), study)),
                    Err(refusal) => all.refused.push((point.clone(), algorithm, refusal)),
                }
            }
        }
        all
    }

    /// Returns all points.
    fn points(&self) -> Vec<SweepValues> {
        let add = |points: Vec<SweepValues>, range: &Range| -> Vec<SweepValues> {
            let with = |value: &SweepPoint| {
                points.iter().map(|point| [&point[..], slice::from_ref(value)].concat()).collect::<Vec<_>>()
            };
            range.points.iter().flat_map(with).collect()
        };
        self.ranges.iter().fold(vec![Vec::new()], add)
    }

    /// Returns the study of an algorithm at a point, which may lie between those of the ranges.
    pub fn study_at(&self, point: &[SweepPoint], algorithm: &'static Algorithm) -> Result<Study, Refusal> {
        let values = || self.ranges.iter().map(|range| range.quantity).zip(point);
        let set = |machine: ParamsBuilder, (quantity, point): (Quantity, &SweepPoint)| match quantity {
            Quantity::Parameter(parameter) => machine.set(&format!("{}={}", parameter.name(), point.value)),
            _ => Ok(machine),
        };
        let params = values().try_fold(self.machine.clone(), set).and_then(ParamsBuilder::build);
        let study = (self.make_study)(params.map_err(|why| why.to_string())?)?;
        let mut case = Case { algorithm, ..study.case };
        for (quantity, point) in values() {
            case = match quantity {
                Quantity::Size => Case { size: point.number as usize, ..case },
                Quantity::Option(option) => case.with_value(option.value_of(point.number)?),
                Quantity::Parameter(_) => case,
            };
        }
        case.check()?;
        Ok(Study { case, ..study })
    }
}

impl SweepStudies {
    /// Runs all studies.
    pub fn run(&self) -> Result<Vec<Answers>, StudyError> {
        self.studies.iter().map(|(_, study)| study.run()).collect()
    }
}
