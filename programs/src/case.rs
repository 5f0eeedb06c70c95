//! What to run, and how.

use loggp::{ClockKind, Dilation, Latency, Machine, Params, Ports, Time, Work};

use crate::costs::Costs;
use crate::program::{Algorithm, Planned, Program, Refusal};

/// What to run: a program's algorithm, how much of it, and on which machine. It makes the machine itself, so that a
/// formula and a run never speak of two.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub program: &'static Program,
    /// Its algorithm.
    pub algorithm: &'static Algorithm,
    /// The machine's parameters.
    pub params: Params,
    /// The machine's ports.
    pub ports: Ports,
    /// How long messages are under way.
    pub latency: Latency,
    /// What computing costs.
    pub work: Work,
    /// What computing costs where work is measured, as rehearsals have found.
    pub costs: Costs,
    /// The cost of the machine's barrier, if its hardware has one.
    pub barrier: Option<Time>,
    /// The size, as the program means it.
    pub size: usize,
    /// Makes the data.
    pub seed: u64,
    /// The values of the program's options, all of them.
    pub options: Vec<(&'static str, String)>,
}

/// How a case is run. None of it changes what the model says.
#[derive(Clone, Debug, Default)]
pub struct Emulation {
    /// The clock.
    pub clock: ClockKind,
    /// How much slower than it should the machine runs on the wall clock.
    pub dilation: Dilation,
    /// How many of the host's cores the wall clock may use; all unless told.
    pub cores: Option<usize>,
    /// The bytes of each processor's stack, if not as usual.
    pub stack: Option<usize>,
    /// Whether it notes what happens.
    pub trace: bool,
}

impl Case {
    /// A program's algorithm on a machine with these parameters, and with everything else as it is unless
    /// told.
    ///
    /// # Panics
    ///
    /// If the program has no algorithm with this name.
    pub fn new(program: &'static Program, algorithm: &str, params: Params) -> Case {
        let Some(algorithm) = program.algorithm(algorithm) else {
            panic!("{} has no algorithm {algorithm}", program.name);
        };
        Case {
            program,
            algorithm,
            params,
            ports: Ports::default(),
            latency: Latency::default(),
            work: program.work,
            costs: Costs::default(),
            barrier: None,
            size: program.size.default,
            seed: 1,
            options: program.options.iter().map(|option| (option.name, option.default.into())).collect(),
        }
    }

    /// Reads the case; or says why it cannot be.
    pub fn plan(&self) -> Planned<'_> {
        (self.algorithm.plan)(self)
    }

    /// The machine that it runs on.
    pub fn machine(&self, emulation: &Emulation) -> Machine {
        let Emulation { clock, dilation, cores, stack, trace } = *emulation;
        let mut machine = Machine::new(self.params)
            .ports(self.ports)
            .latency(self.latency)
            .work(self.work)
            .clock(clock)
            .dilation(dilation)
            .trace(trace);
        if let Some(cost) = self.barrier {
            machine = machine.barrier(cost);
        }
        if let Some(cores) = cores {
            machine = machine.cores(cores);
        }
        if let Some(bytes) = stack {
            machine = machine.stack(bytes);
        }
        machine
    }

    /// Whether a formula needs to know what computing costs on this computer: where work is charged the case says
    /// it, and for LogGPS the papers have no formulas.
    pub fn needs_rehearsal(&self) -> bool {
        self.work == Work::Measured && self.params.is_loggp()
    }

    /// The same case, with what its computing costs on this computer, by so many threads at once, where a formula
    /// needs to know that.
    pub fn rehearsed(&self, threads: usize) -> Result<Case, Refusal> {
        let plan = self.plan()?;
        let costs = if self.needs_rehearsal() { plan.rehearse(threads) } else { Costs::default() };
        Ok(Case { costs, ..self.clone() })
    }

    /// Refuses data of no words, and data that a host may not have room for: P times the size, in words.
    pub(crate) fn check_size(&self) -> Result<(), Refusal> {
        const MOST: u128 = 1 << 32;
        let Params { P, word, .. } = self.params;
        let bytes = P as u128 * self.size as u128 * word as u128;
        match self.size {
            0 => Err("a size of 0 leaves nothing to send; give at least 1".into()),
            _ if bytes > MOST => Err(format!(
                "the processors would hold {bytes} bytes of data, which is too much; give a size of at most {}",
                MOST / (P as u128 * word as u128)
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// Refuses a machine on which even a message of a word waits for its receiver: where all send at once, all
    /// would wait.
    pub(crate) fn check_eager(&self) -> Result<(), Refusal> {
        match self.params.is_synchronous(1) && self.params.P > 1 {
            true => {
                Err("all processors send at once, and with S = 0 each would wait for the others to receive; \
                     give S of at least 1"
                    .into())
            }
            false => Ok(()),
        }
    }

    /// The same case with another value for an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Case {
        let option = self.options.iter_mut().find(|(other, _)| *other == name);
        option.unwrap_or_else(|| panic!("there is no option {name}")).1 = value.to_string();
        self
    }

    /// The value of an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn option(&self, name: &str) -> &str {
        let option = self.options.iter().find(|(other, _)| *other == name);
        &option.unwrap_or_else(|| panic!("there is no option {name}")).1
    }
}

impl Emulation {
    /// On this clock.
    pub fn on(clock: ClockKind) -> Emulation {
        Emulation { clock, ..Emulation::default() }
    }

    /// On the virtual clock, with a trace.
    pub fn traced() -> Emulation {
        Emulation { trace: true, ..Emulation::default() }
    }
}
