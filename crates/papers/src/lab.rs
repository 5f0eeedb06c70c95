//! Where exhibits are made: how large, on which clocks, how often.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use loggp::{ClockKind, Host, US};

use loggp_programs::{Case, Emulation};
use loggp_study::{Answers, Failed, Prediction, Study};

use super::finding::Held;
use super::series::{Ask, Point, Ran, Series, Told};

/// Where exhibits are made.
pub struct Lab<'a> {
    /// Whether at the papers' own sizes.
    pub full: bool,
    /// Makes the data.
    pub seed: u64,
    /// How often a run on the wall clock is repeated; the median is reported.
    pub repeat: usize,
    /// How measured runs are run: on the wall clock, or on the virtual clock alone, and then nothing is measured.
    pub emulation: Emulation,
    /// Is told after every case.
    pub progress: &'a dyn Fn(),
    /// How this computer has held the runs so far.
    pub held: RefCell<Held>,
    /// What came of cases so far: exhibits share them.
    pub known: Rc<RefCell<HashMap<String, Rc<Answers>>>>,
}

impl<'a> Lab<'a> {
    /// A lab at the usual sizes, in which nothing is measured.
    pub fn new(progress: &'a dyn Fn()) -> Lab<'a> {
        let (held, known) = (RefCell::default(), Rc::default());
        Lab { full: false, seed: 1, repeat: 1, emulation: Emulation::default(), progress, held, known }
    }

    /// The same, in which nothing was held yet.
    pub fn again(&self) -> Lab<'a> {
        let (emulation, known) = (self.emulation.clone(), Rc::clone(&self.known));
        Lab { emulation, known, held: RefCell::default(), ..*self }
    }

    /// This at the usual sizes, and that at the papers' own.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// Whether anything is to be measured.
    pub fn is_wall(&self) -> bool {
        self.emulation.clock == ClockKind::Wall
    }

    /// Runs the cases of a series.
    pub(crate) fn run(&self, series: &Series) -> Result<Ran, Failed> {
        let points = series.points.iter().map(|point| self.ask(point)).collect::<Result<_, _>>()?;
        Ok(Ran { name: series.name.clone(), along: series.along, points })
    }

    /// Asks of a case what is to be asked of it.
    fn ask(&self, Point { x, case, ask }: &Point) -> Result<Told, Failed> {
        let case = Case { seed: self.seed, ..case.clone() };
        let told = match ask {
            Ask::Formula => {
                let formula = case.plan()?.formula();
                let prediction = Prediction { formula, ..Prediction::default() };
                Told { x: *x, prediction, answers: None }
            }
            _ => {
                let answers = self.answers(case, *ask)?;
                Told { x: *x, prediction: answers.prediction, answers: Some(answers) }
            }
        };
        (self.progress)();
        Ok(told)
    }

    /// What formula and model say of a case.
    pub fn model(&self, case: Case) -> Result<Rc<Answers>, Failed> {
        self.answers(Case { seed: self.seed, ..case }, Ask::Model)
    }

    /// What comes of a case, which may be known.
    fn answers(&self, case: Case, ask: Ask) -> Result<Rc<Answers>, Failed> {
        let is_measured = ask == Ask::Measure && self.is_wall();
        let key = format!("{is_measured} {} {case:?}", ask == Ask::Trace);
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let study = match ask {
            Ask::Trace => Study { emulation: Emulation::traced(), ..Study::of(case) },
            _ if is_measured => {
                Study { emulation: self.emulation.clone(), repeat: self.repeat, ..Study::of(case) }
            }
            _ => Study::of(case),
        };
        let answers = Rc::new(study.run()?);
        self.note(&study, &answers);
        self.known.borrow_mut().insert(key, Rc::clone(&answers));
        Ok(answers)
    }

    /// Notes how a study went.
    fn note(&self, study: &Study, answers: &Answers) {
        let mut held = self.held.borrow_mut();
        held.virtual_runs += study.repeat;
        if let Some(wrong) = &answers.wrong {
            let Case { program, algorithm, .. } = &study.case;
            held.wrong.push(format!("{} {}: {wrong}", program.name, algorithm.name));
        }
        drop(held);
        if let Some(host) = &answers.outcome.run.host {
            self.note_host(host, answers.prediction.error_model());
        }
    }

    /// Notes a run on the wall clock, and how far it is from the model, if that is known.
    pub fn note_host(&self, host: &Host, off: Option<f64>) {
        let mut held = self.held.borrow_mut();
        held.wall_runs += 1;
        held.late += usize::from(!host.held);
        held.dilation = held.dilation.max(host.dilation);
        held.latest_us = held.latest_us.max(host.lateness.max.in_units(US));
        if host.held {
            held.farthest = held.farthest.max(off.unwrap_or(0.0).abs());
        }
    }
}
