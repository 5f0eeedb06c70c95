//! The settings with which exhibits are made: sizes, clocks and repetitions; and the cache of their results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use loggp::{ClockKind, SEC, Time, US};
use loggp_programs::{Case, Emulation};
use loggp_study::{Answers, Prediction, Study, StudyError};

use super::finding::RunSummary;
use super::series::{CaseResult, CaseSeries, SeriesPoint, SeriesResult, StudyDepth};

/// The longest case that is measured at the papers' own sizes, by the model.
const MOST_MEASURED: Time = SEC;

/// The settings with which exhibits are made, and the results so far.
pub struct Lab<'a> {
    /// True for cases of the papers' own sizes.
    pub full: bool,
    /// Seed of the input data.
    pub seed: u64,
    /// Repetitions of a run on the wall clock; the median is reported.
    pub repeat: usize,
    /// Clock and settings of measured runs. On the virtual clock nothing is measured.
    pub emulation: Emulation,
    /// Called after every case.
    pub progress: &'a dyn Fn(),
    /// Summary of the runs so far.
    pub summary: RefCell<RunSummary>,
    /// Results of cases so far, which exhibits share.
    pub cache: Rc<RefCell<HashMap<String, Rc<Answers>>>>,
}

impl<'a> Lab<'a> {
    /// Returns a lab at the usual sizes that measures nothing.
    pub fn new(progress: &'a dyn Fn()) -> Lab<'a> {
        let (summary, cache) = (RefCell::default(), Rc::default());
        Lab { full: false, seed: 1, repeat: 1, emulation: Emulation::default(), progress, summary, cache }
    }

    /// Returns a lab with the same settings and cache and an empty summary.
    pub fn with_empty_summary(&self) -> Lab<'a> {
        let (emulation, cache) = (self.emulation.clone(), Rc::clone(&self.cache));
        Lab { emulation, cache, summary: RefCell::default(), ..*self }
    }

    /// Returns `quick` at the usual sizes and `full` at the papers' own.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// Returns whether runs are measured on the wall clock.
    pub fn is_wall(&self) -> bool {
        self.emulation.clock == ClockKind::Wall
    }

    pub(crate) fn run_series(&self, series: &CaseSeries) -> Result<SeriesResult, StudyError> {
        let points = series.points.iter().map(|point| self.run_point(point)).collect::<Result<_, _>>()?;
        Ok(SeriesResult { name: series.name.clone(), along: series.along, points })
    }

    /// Makes the runs of a case that its depth includes.
    fn run_point(&self, SeriesPoint { x, case, depth }: &SeriesPoint) -> Result<CaseResult, StudyError> {
        let case = Case { seed: self.seed, ..case.clone() };
        let result = match depth {
            StudyDepth::Formula => {
                let prediction = Prediction::from_form(case.plan()?.form());
                CaseResult { x: *x, prediction, answers: None }
            }
            _ => {
                let answers = self.run_case(case, *depth)?;
                CaseResult { x: *x, prediction: answers.prediction, answers: Some(answers) }
            }
        };
        (self.progress)();
        Ok(result)
    }

    /// Runs a case on the virtual clock.
    pub fn run_model(&self, case: Case) -> Result<Rc<Answers>, StudyError> {
        self.run_case(Case { seed: self.seed, ..case }, StudyDepth::Model)
    }

    /// Returns the answers for a case, from the cache if they are there.
    fn run_case(&self, case: Case, depth: StudyDepth) -> Result<Rc<Answers>, StudyError> {
        let is_measured = depth == StudyDepth::Measure && self.is_wall() && self.is_short(&case)?;
        let key = format!("{is_measured} {} {case:?}", depth == StudyDepth::Trace);
        if let Some(known) = self.cache.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let study = match depth {
            StudyDepth::Trace => Study { emulation: Emulation::with_trace(), ..Study::new(case) },
            _ if is_measured => {
                Study { emulation: self.emulation.clone(), repeat: self.repeat, ..Study::new(case) }
            }
            _ => Study::new(case),
        };
        let answers = Rc::new(study.run()?);
        self.record_study(&study, &answers);
        self.cache.borrow_mut().insert(key, Rc::clone(&answers));
        Ok(answers)
    }

    /// Returns whether a case can be measured in a minute or so: a run on the wall clock takes the model's time
    /// many times over. At the usual sizes all cases can.
    fn is_short(&self, case: &Case) -> Result<bool, StudyError> {
        if !self.full {
            return Ok(true);
        }
        let answers = self.run_case(case.clone(), StudyDepth::Model)?;
        Ok(answers.prediction.model.is_none_or(|time| time <= MOST_MEASURED))
    }

    /// Adds a study to the summary.
    fn record_study(&self, study: &Study, answers: &Answers) {
        let mut summary = self.summary.borrow_mut();
        summary.virtual_runs += study.repeat;
        if let Some(wrong) = &answers.wrong {
            let Case { program, algorithm, .. } = &study.case;
            summary.wrong.push(format!("{} {}: {wrong}", program.name, algorithm.name));
        }
        let Some(host) = &answers.outcome.run.host else { return };
        summary.wall_runs += 1;
        summary.late += usize::from(!host.on_time);
        summary.dilation = summary.dilation.max(host.dilation);
        summary.latest_us = summary.latest_us.max(host.lateness.max.in_units(US));
        if host.on_time {
            summary.farthest = summary.farthest.max(answers.prediction.error_model().unwrap_or(0.0).abs());
        }
    }
}
