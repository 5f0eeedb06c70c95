//! The machine that `calibrate` and `stress` measure, as the command line has it.
//!
//! They do not run a program of the papers, so they have fewer options than `run` and `compare`; and they
//! measure, so their clock is the wall clock unless told.

use clap::Args;
use loggp::{Dilation, Machine, Time};

use super::choice::{Choice, gives_P};
use super::failure::Failure;
use super::options::{ClockOption, Format, PortsOption, cores, cycle, dilation};

/// Which machine, and on which clock.
#[derive(Args)]
#[command(next_help_heading = "Machine")]
pub struct Bench {
    /// One of the papers' machines: `loggp machines` lists them [default: cs2-elan, unless --params is given]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles
    #[arg(long, value_name = "NAME=VALUE,...")]
    params: Option<String>,
    /// How long a cycle lasts [default: the machine's, or 1us]
    #[arg(long, value_name = "TIME", value_parser = cycle, allow_negative_numbers = true)]
    cycle: Option<Time>,
    /// Whether long messages to and from a processor share a port
    #[arg(long, value_enum, default_value_t)]
    ports: PortsOption,
    /// The clock on which the machine runs
    #[arg(long, value_enum, default_value = "wall")]
    pub clock: ClockOption,
    /// How much slower than it should the machine runs on the wall clock [default: auto, what this computer
    /// holds]
    #[arg(long, value_name = "auto|N", value_parser = dilation, allow_negative_numbers = true)]
    dilation: Option<Dilation>,
    /// How many of this computer's cores the wall clock may use [default: all]
    #[arg(long, value_name = "N", value_parser = cores, allow_negative_numbers = true)]
    cores: Option<usize>,

    /// How rows are written: for people, or one JSON object or CSV line per row
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub format: Format,
}

impl Bench {
    /// The machine with so many processors. If -P says nothing and --params neither, it has the usual number.
    pub fn choose(&self, P: Option<usize>, usual: usize) -> Result<Choice, Failure> {
        let P = P.or((!self.gives_P()).then_some(usual));
        Choice::named(self.machine.as_deref(), self.params.as_deref(), self.cycle, P)
    }

    /// Whether --params gives the number of processors.
    pub fn gives_P(&self) -> bool {
        self.params.as_deref().is_some_and(gives_P)
    }

    /// Whether the machine finds its dilation itself.
    pub fn chooses_dilation(&self) -> bool {
        self.dilation.unwrap_or_default() == Dilation::Auto
    }

    /// A chosen machine with its settings, but for the clock. Refuses what only the wall clock has, on the
    /// other.
    pub fn machine(&self, choice: &Choice) -> Result<Machine, Failure> {
        let only = [("--dilation", self.dilation.is_some()), ("--cores", self.cores.is_some())];
        if let Some((name, _)) = only.iter().find(|(_, given)| *given && self.clock == ClockOption::Virtual) {
            let sentence = format!("{name} is for the wall clock; leave it out, or --clock virtual");
            return Err(Failure::Request(sentence));
        }
        let machine = Machine::new(choice.params)
            .ports(self.ports.into())
            .dilation(self.dilation.unwrap_or_default())
            .cores(self.cores.unwrap_or(usize::MAX));
        Ok(machine)
    }

    /// What stands above a table: the machine with its parameters, the clock and the unit of times.
    pub fn heading(&self, choice: &Choice, parameters: &str) -> String {
        let Choice { preset, unit, .. } = choice;
        let on = preset.map_or(String::new(), |preset| format!("{}: ", preset.name));
        let ports = if self.ports == PortsOption::Dual { ", dual ports" } else { "" };
        let clock = self.clock.name();
        format!("{on}{parameters}\n{clock} clock{ports}, times in {}", unit.name)
    }
}
