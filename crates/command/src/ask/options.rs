//! The options that subcommands share: of a program, of its machine, of its runs and of the report.

use std::error::Error;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use loggp::{
    Capacity, Carrier, ClockKind, Dilation, Latency, Machine, Noise, Ports, Protocol, Ties, Time, TimeError,
    Work,
};
use loggp_programs::{Emulation, option};

use super::completion_values;
use super::format::Format;
use super::levels::LevelOptions;
use super::real_machine::RealMachineOptions;
use super::shard::Shard;
use crate::error::{CliError, no_text};
use crate::host::source;

/// The options of a machine. The numbers here put options into their order in the help, where those of several
/// structs take turns.
#[derive(Args)]
#[command(next_help_heading = "Machine", next_display_order = 4)]
pub struct MachineOptions {
    #[command(flatten)]
    pub choice: ChoiceOptions,
    /// Number of processors [default: the machine's, or 8 with --params alone]
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', action = clap::ArgAction::Set)]
    pub P: Vec<usize>,
    /// Whether long messages to and from a processor share a port [default: as the machine's file says, or single]
    #[arg(long, value_parser = one_of::<Ports>(PORTS), display_order = 10)]
    pub ports: Option<Ports>,
    /// Stack of each processor, in bytes
    #[arg(long, value_name = "BYTES", value_parser = parse_stack, allow_negative_numbers = true, display_order = 11)]
    pub stack: Option<usize>,
    /// Run also where this computer has fewer guard pages than processors: Linux before 6.13 has about 32,000
    #[arg(long, display_order = 11)]
    pub unguarded_stacks: bool,
}

/// The options that choose a machine and its parameters.
#[derive(Args, Clone)]
pub struct ChoiceOptions {
    /// One of the papers' machines: `loggp machines` lists them; or a file with one as `loggp machines --format json` has
    /// it, and - for stdin [default: cs2-elan, unless --params is given]. `run`, `compare` and `sweep` take several, with commas,
    /// cm5,cs2-elan, or each with its own --machine
    #[arg(long = "machine", id = "machine", value_name = "NAME|FILE", value_parser = completion_values::machine(), hide_possible_values = true)]
    pub machines: Vec<String>,
    /// Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles. L=6us alone is the same
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub params: Option<String>,
    /// How long a cycle lasts [default: the machine's, or 1us]
    #[arg(long, value_name = "TIME", value_parser = parse_length, allow_hyphen_values = true)]
    pub cycle: Option<Time>,
}

/// The options that draw how messages come.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "Machine", next_display_order = 8)]
pub struct DrawOptions {
    /// How long a message is under way: exactly L, or anything up to L, as the seed draws it [default seed: 1]
    #[arg(long, value_name = "exact|random[:SEED]|exponential[:SEED]", default_value = "exact", value_parser = parse_drawn::<Latency>)]
    pub latency: Latency,
    /// Who goes first among processors that act at the same time: the lower number, each in turn, or anyone
    #[arg(long, value_name = "number|rotation|random[:SEED]", default_value = "number", value_parser = parse_drawn::<Ties>)]
    pub ties: Ties,
}

/// The option of what the capacity counts.
#[derive(Args, Clone, Copy, Default)]
pub struct CapacityOption {
    /// Until when a message is in transit, of which there are at most C at once
    #[arg(long, value_parser = one_of::<Capacity>(Capacity::MEANINGS), default_value = "arrived", display_order = 10)]
    pub capacity: Capacity,
}

/// The option of who moves long messages.
#[derive(Args, Clone, Copy, Default)]
pub struct RendezvousOption {
    /// Who moves a message of more than S words [default: as the machine's file says, or push]
    #[arg(long, value_parser = one_of::<Protocol>(Protocol::MEANINGS), display_order = 10)]
    pub rendezvous: Option<Protocol>,
}

/// The options of the clock.
#[derive(Args, Clone, Copy, Default)]
#[command(next_display_order = 12)]
pub struct ClockOptions {
    /// The clock: only what the model says, or what this computer measures too [default: virtual to run and to sweep,
    /// wall to compare, calibrate and stress]
    #[arg(long, value_parser = one_of::<ClockKind>(CLOCKS))]
    pub clock: Option<ClockKind>,
    /// What a processor is on the wall clock [default: a thread]
    #[arg(long, value_parser = one_of::<Carrier>(CARRIERS))]
    pub carrier: Option<Carrier>,
    /// Slow the machine down by this factor on the wall clock [default: auto, what this computer holds]
    #[arg(long, value_name = "auto|N", value_parser = parse_dilation, allow_negative_numbers = true)]
    pub dilation: Option<Dilation>,
    #[command(flatten)]
    pub cores: CoreOptions,
}

/// The option of this computer's cores.
#[derive(Args, Clone, Copy, Default)]
pub struct CoreOptions {
    /// How many of this computer's cores it may use: first for as many runs at once, where work is charged on the virtual
    /// clock, and then for each run [default: all, but one for a run on the virtual clock]
    #[arg(long, value_name = "N", value_parser = parse_positive, allow_negative_numbers = true, display_order = 15)]
    pub cores: Option<usize>,
}

/// Returns the number of this computer's cores that the command may use.
pub fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The options of a program on a machine, whatever is done with it.
#[derive(Args)]
#[command(next_help_heading = "Machine", next_display_order = 0)]
pub struct ProgramOptions {
    /// Problem size
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    #[arg(help_heading = "Program")]
    pub size: Option<usize>,
    /// Makes the data, and draws --noise that has no seed of its own
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true, default_value = "1")]
    #[arg(help_heading = "Program")]
    pub seed: u64,
    /// The machine has a barrier of its own, which takes so long; a bare number counts cycles [default: a barrier
    /// is made of messages]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, display_order = 17)]
    pub barrier: Option<String>,
    #[command(flatten)]
    pub rendezvous: RendezvousOption,
    #[command(flatten)]
    pub capacity: CapacityOption,
    #[command(flatten)]
    pub levels: LevelOptions,
    /// What computing costs: this computer's time, or the machine's rates [default: as the program says]
    #[arg(long, value_parser = one_of::<Work>(WORK), display_order = 22)]
    pub work: Option<Work>,
}

/// The options of a program's runs.
#[derive(Args, Default)]
#[command(next_help_heading = "Machine", next_display_order = 2)]
#[command(mut_arg("on", |on| {
    on.conflicts_with_all(["clock", "carrier", "dilation", "cores", "latency", "ties", "ports", "rendezvous", "capacity", "barrier", "noise", "levels", "level"])
}))]
pub struct RunOptions {
    /// Run it so many times, and report the run with the median time
    #[arg(long, value_name = "N", value_parser = parse_repeat, allow_negative_numbers = true)]
    #[arg(default_value = "1", help_heading = "Program")]
    pub repeat: usize,
    /// Run it so many times, each with the next seeds of --latency, --ties and --noise, and report how far the times are apart
    #[arg(long, value_name = "N", value_parser = parse_repeat, allow_negative_numbers = true)]
    #[arg(help_heading = "Program", conflicts_with_all = ["repeat", "repeat_from", "on"])]
    pub seeds: Option<usize>,
    #[command(flatten)]
    pub draws: DrawOptions,
    #[command(flatten)]
    pub clock: ClockOptions,
    /// The noise of the processors: every 10 ms the operating system takes 25 us, or what a file in LogGOPSim's form says; it
    /// begins at a place for each processor that --seed draws
    #[arg(long, value_name = "10ms:25us,...|FILE", value_parser = parse_noise, display_order = 18)]
    pub noise: Option<NoiseOption>,
    /// The order of messages of a recorded run, and its noise, in place of --latency, --ties and --noise: one that `loggp check` found, say
    #[arg(long, value_name = "FILE", conflicts_with_all = ["latency", "ties", "noise", "on"], display_order = 19)]
    pub repeat_from: Option<PathBuf>,
    /// Only this part of the runs, such as 2/4: `loggp merge` puts the rows of all four together
    #[arg(long, value_name = "I/N", help_heading = "Program", display_order = 23)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub on: RealMachineOptions,
    /// Beside a real machine ask the emulated one too: on process 0, while the others wait
    #[arg(long, value_name = "CLOCK", requires = "on")]
    #[arg(value_parser = PossibleValuesParser::new([PossibleValue::new("wall").help(CLOCKS[1].1)]))]
    pub also: Option<String>,
}

/// The option of a report of rows.
#[derive(Args)]
pub struct ReportOptions {
    /// How rows are written: for people, or one JSON object or CSV line per row
    #[arg(long, value_enum, default_value = "table", help_heading = "Report", display_order = 16)]
    pub format: Format,
}

/// The options of an experiment with a program.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pub program: ProgramOptions,
    #[command(flatten)]
    pub machine: MachineOptions,
    #[command(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// A value of an option: its name, and its meaning for the help.
pub type NamedValue = (&'static str, &'static str);

pub const CLOCKS: &[NamedValue] = &[
    ("virtual", "Time jumps: exact, repeatable and fast"),
    ("wall", "Time passes: processors are threads that wait, and the run is measured"),
];
pub const CARRIERS: &[NamedValue] = &[
    ("thread", "A thread of its own, pinned to a core"),
    ("coroutine", "A coroutine on its core's one thread, so that far more of them can act at once"),
];
pub const PORTS: &[NamedValue] = &[("single", "One for both directions"), ("dual", "One for each direction")];
const WORK: &[NamedValue] =
    &[("measured", "This computer's time for it"), ("charged", "The machine's rates")];

impl MachineOptions {
    /// Returns how the machine runs on a clock, by default `usual`, with its stack.
    pub fn emulation(&self, clock: &ClockOptions, usual: ClockKind) -> Result<Emulation, CliError> {
        Ok(Emulation {
            stack: self.stack,
            unguarded_stacks: self.unguarded_stacks,
            ..clock.emulation(usual)?
        })
    }

    /// Returns the number of processors, if it is given. Refuses several numbers.
    pub fn one_P(&self) -> Result<Option<usize>, CliError> {
        match self.P[..] {
            [] => Ok(None),
            [P] => Ok(Some(P)),
            _ => Err(CliError::request(
                "-P is one number of processors here; `loggp sweep --over P=4,8` takes several",
            )),
        }
    }
}

impl ClockOptions {
    /// Returns how a machine runs, by default on the clock `usual`. Refuses options of the wall clock on the
    /// virtual one.
    pub fn emulation(&self, usual: ClockKind) -> Result<Emulation, CliError> {
        let clock = self.clock.unwrap_or(usual);
        let [_, only @ .., _] = self.given_options();
        if let Some((name, _)) = only.iter().find(|(_, given)| *given && clock == ClockKind::Virtual) {
            return Err(CliError::Request(format!("{name} is for the wall clock; give --clock wall too")));
        }
        let dilation = self.dilation.unwrap_or_default();
        let carrier = self.carrier.unwrap_or_default();
        Ok(Emulation { clock, carrier, dilation, cores: self.cores.cores, ..Emulation::default() })
    }

    /// Returns each option, and whether it is given.
    pub fn given_options(&self) -> [(&'static str, bool); 4] {
        [
            ("--clock", self.clock.is_some()),
            ("--carrier", self.carrier.is_some()),
            ("--dilation", self.dilation.is_some()),
            ("--cores", self.cores.cores.is_some()),
        ]
    }
}

/// Returns the clock as text, with the carrier if it is not the default.
pub fn clock_text(clock: ClockKind, carrier: Carrier) -> String {
    let on = if carrier == Carrier::Coroutine && clock == ClockKind::Wall { " on coroutines" } else { "" };
    format!("{clock} clock{on}")
}

/// Returns a parser for values with these names.
pub fn one_of<T>(all: &'static [NamedValue]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    let names = all.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|given| given.parse::<T>())
}

/// Reads a whole number, such as `4096` or `4k`.
pub fn parse_count(text: &str) -> Result<usize, String> {
    option::parse_count(text)
        .ok_or_else(|| "give a whole number: 4096, or 4k or 4KiB, which are the same; 4kB is 4000".into())
}

/// Reads a whole number from 1.
pub fn parse_positive(text: &str) -> Result<usize, String> {
    option::parse_count(text).filter(|number| *number > 0).ok_or_else(|| "give a whole number from 1".into())
}

pub fn parse_dilation(text: &str) -> Result<Dilation, String> {
    const LEAST: f64 = 1e-6;
    const MOST: f64 = 1e6;
    match text.parse() {
        Ok(Dilation::Fixed(dilation)) if !(LEAST..=MOST).contains(&dilation) => None,
        read => read.ok(),
    }
    .ok_or_else(|| format!("give auto, or a number from {LEAST} to {MOST}"))
}

pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// Reads a setting that may be drawn. A seed that is not given is 1.
fn parse_drawn<T: FromStr>(text: &str) -> Result<T, T::Err> {
    text.parse().or_else(|why| format!("{text}:1").parse().map_err(|_| why))
}

/// Reads a number of repetitions.
pub fn parse_repeat(text: &str) -> Result<usize, String> {
    parse_within(text, 1..=1000, "a whole number")
}

/// Reads the size of a stack in bytes, which must suffice for a program to end in good order.
fn parse_stack(text: &str) -> Result<usize, String> {
    parse_within(text, Machine::LEAST_STACK..=1 << 30, "a number of bytes")
}

fn parse_within(text: &str, range: RangeInclusive<usize>, what: &str) -> Result<usize, String> {
    let number = option::parse_count(text).filter(|number| range.contains(number));
    number.ok_or_else(|| format!("give {what} from {} to {}", range.start(), range.end()))
}

/// The value of `--noise`: periods, or a file that is read later, with settings behind them.
#[derive(Clone)]
pub struct NoiseOption {
    /// The periods as text, or the file's name.
    name: String,
    settings: Vec<String>,
    periods: Option<Noise>,
}

impl NoiseOption {
    /// Returns the noise, reading its file if it has one. `seed` draws it unless its settings have one.
    pub fn read(&self, seed: u64) -> Result<Noise, CliError> {
        let NoiseOption { name, settings, periods } = self;
        let noise = match periods {
            Some(noise) => Ok(noise.clone()),
            None => {
                /// Limit of the bytes of a record, which are millions of detours.
                const LONGEST: u64 = 1 << 28;
                let record = source::read_source(Path::new(name), LONGEST, "; record for a shorter time");
                let record = record
                    .and_then(|record| String::from_utf8(record).map_err(|why| no_text(&why.utf8_error())));
                let record = record.map_err(|why| {
                    CliError::Request(format!(
                        "--noise {name}: it is no period with the length of its detour, such as 10ms:25us, and no file \
                         with a record: {why}"
                    ))
                })?;
                Noise::parse_record(&record)
            }
        };
        let set = |noise: Noise, setting: &String| noise.set(setting);
        let noise = noise.and_then(|noise| settings.iter().try_fold(noise.seed(seed), set));
        noise.map_err(|why| CliError::Request(format!("--noise {name}: {why}")))
    }
}

/// Reads the value of `--noise`. A text with a colon is a file's name only if the file exists.
pub fn parse_noise(text: &str) -> Result<NoiseOption, String> {
    let is_setting = |part: &&str| part.trim() == "together" || part.trim().starts_with("seed:");
    let settings: Vec<String> = text.rsplit(',').take_while(is_setting).map(String::from).collect();
    let name = text.rsplitn(settings.len() + 1, ',').last().unwrap_or_default().to_string();
    let periods = match text.parse::<Noise>() {
        Err(why) if name.contains(':') && !Path::new(&name).exists() => return Err(why.to_string()),
        read => read.ok(),
    };
    Ok(NoiseOption { name, settings, periods })
}

/// Reads the length of time for which runs are started.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time above 0 in s, ms or us, such as 30s".to_string();
    let time: loggp::Time = text.parse().map_err(|_| wrong())?;
    match time.as_ps() {
        ps if ps > 0 => Ok(Duration::from_nanos((ps / 1000).max(1) as u64)),
        _ => Err(wrong()),
    }
}

/// Reads a time above 0 with its unit.
pub fn parse_length(text: &str) -> Result<Time, String> {
    match text.parse() {
        Ok(time) if time <= Time::ZERO => Err("it lasts longer than 0; give at least 1ps".into()),
        read => read.map_err(|why: TimeError| why.to_string()),
    }
}
