//! Random machines and programs, and their runs.

#![allow(dead_code)] // each set of tests uses a part of this folder

pub(crate) mod machines;
pub(crate) mod program;
pub(crate) mod random;

use loggp::{Machine, PS, Proc, Run, RunError, Work};

pub(crate) use program::{Case, Note, run_live};
pub(crate) use random::draw;

impl Case {
    /// Returns the machine of the case, which traces.
    pub(crate) fn machine(&self) -> Machine {
        let machine = Machine::new(self.params).ports(self.ports).capacity(self.capacity);
        let machine = machine.rendezvous(self.rendezvous).latency(self.latency).ties(self.ties);
        let machine = machine.noise(self.noise.clone()).levels(self.levels.iter().copied()).trace(true);
        let machine = machine.work(Work::Charged);
        self.barrier.map(|cost| machine.clone().barrier(cost * PS)).unwrap_or(machine)
    }

    /// Runs the program on a machine.
    pub(crate) fn run_on(&self, machine: &Machine) -> Result<Run<Vec<Note>>, RunError> {
        machine.run(|p: &mut Proc| run_live(p, self))
    }
}
