//! Where exhibits are made: how large, on which clocks, how often.

use std::cell::RefCell;

use loggp::{ClockKind, Host, Trace};

use super::finding::Held;
use loggp_programs::Case;
use loggp_programs::Emulation;
use loggp_study::{Answers, Failed, Study};

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
    /// Is told after every run, and how much of the exhibit is done by then, if that is known.
    pub progress: &'a dyn Fn(Option<f64>),
    /// How this computer has held the runs so far.
    pub held: RefCell<Held>,
}

impl Lab<'_> {
    /// This at the usual sizes, and that at the papers' own.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// How much of the exhibit is done, from 0 to 1.
    pub fn done(&self, part: f64) {
        (self.progress)(Some(part));
    }

    /// What formula and model say of a case.
    pub fn model(&self, case: Case) -> Result<Answers, Failed> {
        self.study(Study::of(self.seeded(case)))
    }

    /// The same, and what happened.
    pub fn traced(&self, case: Case) -> Result<(Answers, Trace), Failed> {
        let study = Study { emulation: Emulation::traced(), ..Study::of(self.seeded(case)) };
        let mut answers = self.study(study)?;
        let trace = answers.take_trace().expect("the run was traced");
        Ok((answers, trace))
    }

    /// What formula, model and the wall clock say of a case. The wall clock says nothing where none is wanted.
    pub fn measured(&self, case: Case) -> Result<Answers, Failed> {
        let repeat = if self.is_wall() { self.repeat } else { 1 };
        self.study(Study { case: self.seeded(case), emulation: self.emulation.clone(), repeat })
    }

    /// Whether anything is to be measured.
    pub fn is_wall(&self) -> bool {
        self.emulation.clock == ClockKind::Wall
    }

    /// Notes a run on the wall clock that no study made.
    pub fn note(&self, host: &Host) {
        let mut held = self.held.borrow_mut();
        held.wall_runs += 1;
        held.late += usize::from(!host.held);
        held.dilation = held.dilation.max(host.dilation);
        held.latest_us = held.latest_us.max(host.lateness.max.in_units(loggp::US));
    }

    /// Runs a study, and notes how that went.
    fn study(&self, study: Study) -> Result<Answers, Failed> {
        let answers = study.run_with(|| (self.progress)(None))?;
        match &answers.outcome.run.host {
            None => self.held.borrow_mut().virtual_runs += study.repeat,
            Some(host) => {
                self.note(host);
                self.held.borrow_mut().virtual_runs += study.repeat;
            }
        }
        if let Some(wrong) = &answers.wrong {
            let Case { program, algorithm, .. } = &study.case;
            self.held.borrow_mut().wrong.push(format!("{} {}: {wrong}", program.name, algorithm.name));
        }
        Ok(answers)
    }

    /// The case with the report's seed.
    fn seeded(&self, case: Case) -> Case {
        Case { seed: self.seed, ..case }
    }
}
