//! The options that all commands which run programs share, as the command line has them.

use clap::{Args, ValueEnum};
use loggp::{ClockKind, Dilation, Latency, Machine, Ports, Time, US, Work, parse_time};

use super::failure::Failure;
use super::own::OwnOptions;

/// How a program shall be run.
#[derive(Args)]
#[command(next_help_heading = "Machine")]
pub struct Options {
    /// One of the papers' machines: `loggp machines` lists them [default: cs2-elan, unless --params is given]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Number of processors
    #[arg(short = 'P', value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub P: Option<usize>,
    /// Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub params: Option<String>,
    /// How long a cycle lasts [default: the machine's, or 1us]
    #[arg(long, value_name = "TIME", value_parser = cycle, allow_negative_numbers = true)]
    pub cycle: Option<Time>,
    /// How long a message is under way: exactly L, or anything up to L
    #[arg(long, value_name = "exact|random:SEED", value_parser = latency, default_value = "exact")]
    pub latency: Latency,
    /// Whether long messages to and from a processor share a port
    #[arg(long, value_enum, default_value_t)]
    pub ports: PortsOption,
    /// The machine has a barrier of its own, which takes so long; a bare number counts cycles [default: a barrier
    /// is made of messages]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub barrier: Option<String>,
    /// What computing costs: this computer's time, or the machine's rates [default: as the program says]
    #[arg(long, value_enum)]
    pub work: Option<WorkOption>,
    /// Stack of each processor, in bytes
    #[arg(long, value_name = "BYTES", value_parser = stack, allow_negative_numbers = true)]
    pub stack: Option<usize>,
    /// The clock: only what the model says, or what this computer measures too [default: virtual to run, wall to
    /// compare]
    #[arg(long, value_enum)]
    pub clock: Option<ClockOption>,
    /// How much slower than it should the machine runs on the wall clock [default: auto, what this computer holds]
    #[arg(long, value_name = "auto|N", value_parser = dilation, allow_negative_numbers = true)]
    pub dilation: Option<Dilation>,
    /// How many of this computer's cores the wall clock may use [default: all]
    #[arg(long, value_name = "N", value_parser = cores, allow_negative_numbers = true)]
    pub cores: Option<usize>,

    /// How much of it: `loggp programs` tells what that means [default: as the program says]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    #[arg(help_heading = "Program")]
    pub size: Option<usize>,
    /// Makes the data
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, default_value = "1")]
    #[arg(help_heading = "Program")]
    pub seed: u64,
    /// What only some programs have.
    #[command(flatten)]
    pub own: OwnOptions,
    /// Run it so many times, and report the run with the median time
    #[arg(long, value_name = "N", value_parser = repeat, allow_negative_numbers = true)]
    #[arg(default_value = "1", help_heading = "Program")]
    pub repeat: usize,

    /// How rows are written: for people, or one JSON object or CSV line per row
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub format: Format,
}

/// A clock.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClockOption {
    /// Time jumps: exact, repeatable and fast
    Virtual,
    /// Time passes: processors are threads that wait, and the run is measured
    Wall,
}

/// How many ports a processor has.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PortsOption {
    /// One for both directions
    #[default]
    Single,
    /// One for each direction
    Dual,
}

/// What computing costs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WorkOption {
    /// This computer's time for it
    Measured,
    /// The machine's rates
    Charged,
}

/// How rows are written.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns for people
    #[default]
    Table,
    /// A JSON object a line
    Json,
    /// Comma-separated values, under a line of titles
    Csv,
}

impl Options {
    /// The clock that was asked for, or the usual one. Refuses what only the wall clock has, on the other.
    pub fn clock_or(&self, usual: ClockOption) -> Result<ClockOption, Failure> {
        let clock = self.clock.unwrap_or(usual);
        let only = [("--dilation", self.dilation.is_some()), ("--cores", self.cores.is_some())];
        match only.iter().find(|(_, given)| *given && clock == ClockOption::Virtual) {
            Some((name, _)) => {
                Err(Failure::Request(format!("{name} is for the wall clock; give --clock wall too")))
            }
            None => Ok(clock),
        }
    }
}

impl ClockOption {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            ClockOption::Virtual => "virtual",
            ClockOption::Wall => "wall",
        }
    }
}

impl From<ClockOption> for ClockKind {
    fn from(clock: ClockOption) -> ClockKind {
        match clock {
            ClockOption::Virtual => ClockKind::Virtual,
            ClockOption::Wall => ClockKind::Wall,
        }
    }
}

impl From<PortsOption> for Ports {
    fn from(ports: PortsOption) -> Ports {
        match ports {
            PortsOption::Single => Ports::Single,
            PortsOption::Dual => Ports::Dual,
        }
    }
}

impl From<WorkOption> for Work {
    fn from(work: WorkOption) -> Work {
        match work {
            WorkOption::Measured => Work::Measured,
            WorkOption::Charged => Work::Charged,
        }
    }
}

/// Reads a number of things.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a whole number, and no unit".into())
}

/// Reads a number of cores.
pub fn cores(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|cores| *cores > 0).ok_or_else(|| "give a whole number from 1".into())
}

/// Reads a dilation.
pub fn dilation(text: &str) -> Result<Dilation, String> {
    const LEAST: f64 = 1e-6;
    const MOST: f64 = 1e6;
    let in_range = |dilation: &f64| (LEAST..=MOST).contains(dilation);
    match text {
        "auto" => Ok(Dilation::Auto),
        _ => text
            .parse()
            .ok()
            .filter(in_range)
            .map(Dilation::Fixed)
            .ok_or_else(|| format!("give auto, or a number from {LEAST} to {MOST}")),
    }
}

/// Reads a seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// Reads how often.
fn repeat(text: &str) -> Result<usize, String> {
    const MOST: usize = 1000;
    let in_range = |n: &usize| (1..=MOST).contains(n);
    text.parse().ok().filter(in_range).ok_or_else(|| format!("give a whole number from 1 to {MOST}"))
}

/// Reads the size of a stack: enough for a program to end in good order, and no more than adds up.
fn stack(text: &str) -> Result<usize, String> {
    const LEAST: usize = Machine::LEAST_STACK;
    const MOST: usize = 1 << 30;
    let in_range = |bytes: &usize| (LEAST..=MOST).contains(bytes);
    text.parse().ok().filter(in_range).ok_or_else(|| format!("give a number of bytes from {LEAST} to {MOST}"))
}

/// Reads the length of a cycle, which cannot be told in cycles.
pub fn cycle(text: &str) -> Result<Time, String> {
    if !text.ends_with('s') || text.contains("cycle") {
        return Err("a cycle needs a length and its unit, as in 25ns".into());
    }
    let cycle = parse_time(text, US)?;
    if cycle > Time::ZERO { Ok(cycle) } else { Err("a cycle lasts longer than 0; give at least 1ps".into()) }
}

/// Reads `exact` or `random:7`.
fn latency(text: &str) -> Result<Latency, String> {
    match text.split_once(':') {
        None if text == "exact" => Ok(Latency::Exact),
        Some(("random", seed)) if let Ok(seed) = seed.parse() => Ok(Latency::Random { seed }),
        _ => Err("give exact, or random with a seed, as in random:1".into()),
    }
}
