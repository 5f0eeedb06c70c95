//! `loggp replay`: plays a schedule from a file, by the papers' rules or by LogGOPSim's.

use std::io::{self, Write};
use std::mem::take;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::{Caption, Latency, NS, Noise, Params, Played, Player, Ports, Rules, Schedule, Ties, Time};
use loggp_document::Block;
use loggp_goal::patterns::Pattern;
use loggp_study::analysis::Along;

use super::choice::{Choice, gives};
use super::column::{Column, table};
use super::draft;
use super::failure::Failure;
use super::field::Field;
use super::formula::{self, Over};
use super::heading::{headed, noise_said, wires};
use super::known;
use super::number::Unit;
use super::options::{AskedNoise, ChoiceOptions, Format, Named, PORTS, count, length, noise, one_of, seed};
use super::output::{Files, Outputs};
use super::report::Report;
use super::row::{self, MOST_DECIMALS};
use super::schedule::{no_pattern, of_pattern};
use super::timeline::Drawn;

/// The arguments.
#[derive(Args)]
#[command(next_help_heading = "Machine")]
#[command(mut_arg("params", |params| {
    params.help("Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles. Without --machine \
                 a word is a byte")
}))]
pub struct ReplayCommand {
    /// A schedule in GOAL, as text or as bytes, as LogGOPSim's generator and txt2bin write them; - for stdin; or a pattern:
    /// `loggp schedule --help` lists them
    #[arg(value_name = "FILE.goal|-|PATTERN", value_parser = known::pattern(), hide_possible_values = true)]
    schedule: String,
    /// Number of ranks of a pattern [default: 8]
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = count, allow_negative_numbers = true)]
    P: Option<usize>,
    /// Bytes of a pattern's messages; of the whole, where parts of it are sent [default: 1]
    #[arg(long, value_name = "BYTES", value_parser = count, allow_negative_numbers = true)]
    size: Option<usize>,
    /// Which machine.
    #[command(flatten)]
    choice: ChoiceOptions,
    /// Whose rules hold: docs/reference/replay.md has the differences
    #[arg(long, value_parser = one_of::<Rules>(RULES), default_value = "papers")]
    rules: Rules,
    /// Whether long messages to and from a rank share a port
    #[arg(long, value_parser = one_of::<Ports>(PORTS), default_value = "single")]
    ports: Ports,
    /// The noise of the ranks' processors: every 10 ms the operating system takes 25 us, or what a file in LogGOPSim's form
    /// says
    #[arg(long, value_name = "10ms:25us,...|FILE", value_parser = noise)]
    noise: Option<AskedNoise>,
    /// Draws for each rank where its noise begins [default: 1]
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, requires = "noise")]
    seed: Option<u64>,
    /// How long a unit of a file's computations is [default: 1ns]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true)]
    #[arg(help_heading = "Schedule")]
    unit: Option<Time>,
    /// Play it along a parameter, say its critical path at each value as a formula, and from which value on that is
    /// another: L=1us..100us:log:7, L=1us..100us:10 or S=4,8,16
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: Option<String>,
    /// How it is written: for people, as a JSON object, or as a CSV line
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    /// Write what each rank did to a file, which `loggp timeline`, `analyze` and `audit` read: FILE.json or, with fewer bytes,
    /// FILE.loggp
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
    /// Draw what each rank did when: FILE.svg, or FILE.html, a page to look into it
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    timeline: Option<PathBuf>,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

const RULES: &[Named] = &[
    ("papers", "LogP's, LogGP's and LogGPS's, as the machine has them"),
    ("loggopsim", "LogGOPSim's: no capacity, g at both ends, a message is received when it comes"),
];

/// So many ranks' ends are shown in a table.
const MOST_SHOWN: usize = 16;

/// A schedule that was played.
struct Row {
    /// What it is called.
    name: String,
    /// By whose rules.
    rules: Rules,
    /// The noise, if there is any.
    noise: Option<String>,
    /// With which ports.
    ports: Ports,
    /// The machine's name, if it has one.
    machine: Option<&'static str>,
    /// The machine's parameters.
    params: Params,
    /// How many operations and requirements it has.
    operations: usize,
    requirements: usize,
    /// How it went.
    replayed: Played,
    /// How it goes along a parameter, if that was asked for.
    over: Option<Over>,
}

impl ReplayCommand {
    /// Reads the schedule, plays it, and says how it went.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let files = self.outputs.open()?;
        let drawn = Drawn::of(self.trace.as_deref(), self.timeline.as_deref())?;
        if (drawn.is_asked() || self.over.is_some()) && self.rules != Rules::Papers {
            let sentence = "--trace, --timeline and --over are for the papers' rules; leave out --rules loggopsim, or them";
            return Err(Failure::request(sentence));
        }
        let name = &self.schedule;
        if Pattern::named(name).is_some() {
            if self.unit.is_some() {
                return Err(Failure::Request(format!(
                    "--unit is for a file, and {name} is a pattern, which computes nothing; leave it out"
                )));
            }
            let (P, size) = (self.P.unwrap_or(8), self.size.unwrap_or(1));
            let schedule = of_pattern(name, P, size)?;
            return self.play(
                &format!("{name}, {}", super::number::count(size, "byte")),
                &schedule,
                (files, drawn),
                out,
            );
        }
        for (option, given) in [("-P", self.P.is_some()), ("--size", self.size.is_some())] {
            if given {
                return Err(Failure::Request(format!(
                    "{option} is for a pattern, and {name} is a file; leave it out"
                )));
            }
        }
        self.play(name, &read(Path::new(name), self.unit.unwrap_or(NS))?, (files, drawn), out)
    }

    /// Plays a schedule, and says how it went.
    fn play(
        &self,
        name: &str,
        schedule: &Schedule,
        (mut files, drawn): (Files, Drawn),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if gives(&self.choice, "P") {
            return Err(Failure::request(
                "the schedule says how many ranks there are; leave P out of --params",
            ));
        }
        let mut choice = Choice::of(&self.choice, Some(schedule.ranks()))?;
        if self.choice.machine.is_none() && choice.name.is_none() && !gives(&self.choice, "word") {
            choice.params.word = NonZeroUsize::MIN;
        }
        let noise = self.noise.as_ref().map(|noise| noise.read(self.seed.unwrap_or(1))).transpose()?;
        let player = |params| Player::new(params).ports(self.ports).noise(noise.clone());
        let replay = player(choice.params).rules(self.rules).trace(drawn.is_asked());
        let mut replayed = replay.run(schedule).map_err(|error| match error.cause {
            loggp::Cause::Params(why) => Failure::request(why),
            loggp::Cause::Host(why) => Failure::Request(why),
            _ => Failure::run(error),
        })?;
        let again = |params| Ok(player(params).trace(true).run(schedule)?.trace.expect("it is traced"));
        let params = Params { P: schedule.ranks(), ..choice.params };
        let over = |over: &String| Over::read(over, params, |range| Along::of_runs(params, range, &again));
        let over = self.over.as_ref().map(over).transpose()?;
        let mut trace = replayed.trace.take();
        let played = Row {
            over,
            name: name.into(),
            rules: self.rules,
            noise: noise.as_ref().map(Noise::to_string),
            ports: self.ports,
            machine: choice.name,
            params: choice.params,
            operations: schedule.len(),
            requirements: schedule.requirements(),
            replayed,
        };
        let unit = choice.unit;
        let parameters = super::heading::parameters(&choice.params, &unit).join(", ");
        let rules = match self.rules {
            Rules::Papers => "",
            _ => ", LogGOPSim's rules",
        };
        let wires = wires(Latency::Exact, Ties::Number, self.ports);
        let wires = wires + &noise_said(noise.as_ref());
        let machine = headed(&choice, &parameters, &format!("virtual clock{wires}"));
        let heading = format!("{name}\n{machine}{rules}");
        if let Some(trace) = &mut trace {
            trace.caption = Some(Caption { title: name.into(), about: machine, formula: None });
            drawn.write(trace, unit)?;
        }
        let mut report = Report::new(out, self.format, columns()).files(take(&mut files.rows));
        report.add(played)?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| {
            let over = |row: &Row| row.over.as_ref().map_or_else(Vec::new, |over| formula::over(over, unit));
            rows.iter().flat_map(|row| finishes(row, unit).into_iter().chain(over(row))).collect()
        })
    }
}

/// Reads a schedule.
fn read(path: &Path, unit: Time) -> Result<Schedule, Failure> {
    let name = path.display();
    let read = if path == Path::new("-") {
        loggp_goal::read(io::stdin().lock(), unit)
    } else {
        if !path.exists() && path.extension().is_none() {
            return Err(Failure::Request(format!(
                "there is no file {name}, and {}",
                no_pattern(&name.to_string())
            )));
        }
        let file = draft::source(path);
        let file = file.map_err(|error| Failure::Request(format!("{name} cannot be read: {error}")))?;
        loggp_goal::read(file, unit)
    };
    read.map_err(|error| Failure::Request(format!("{name}: {error}")))
}

/// When each rank was done, where there are few.
fn finishes(played: &Row, unit: Unit) -> Option<Block> {
    let finishes: Vec<(usize, Time)> = played.replayed.finishes.iter().copied().enumerate().collect();
    let columns = [
        Column::shown("rank", |(rank, _): &(usize, Time)| *rank),
        Column::shown("done", |(_, finish): &(usize, Time)| *finish),
    ];
    if finishes.len() > MOST_SHOWN { None } else { table(&columns, &finishes, unit, usize::MAX) }
}

/// What is said of it.
fn columns() -> Vec<Column<'static, Row>> {
    let mut columns = vec![Column::new("schedule", |played: &Row| played.name.clone())];
    columns.extend(row::machine(|played: &Row| (played.machine, played.params), true));
    columns.extend([
        Column::new("cycle_ns", |played: &Row| played.params.cycle),
        Column::new("ports", |played: &Row| played.ports),
        Column::new("rules", |played: &Row| played.rules),
        Column::new("noise", |played: &Row| played.noise.clone()),
        Column::new("ranks", |played: &Row| played.replayed.finishes.len()).titled("ranks"),
        Column::new("operations", |played: &Row| played.operations).titled("operations"),
        Column::new("requirements", |played: &Row| played.requirements),
        Column::new("time_ns", |played: &Row| played.replayed.time).titled("time"),
        Column::new("messages", |played: &Row| played.replayed.messages).titled("messages"),
        Column::new("stalls.count", |played: &Row| played.replayed.stalls).titled("stalls"),
        Column::new("stalls.ns", |played: &Row| played.replayed.stalled).titled("stalled").optional(),
        Column::new("events", |played: &Row| played.replayed.events).titled("events"),
        Column::new("finishes_ns", |played: &Row| {
            let finishes = &played.replayed.finishes;
            match finishes.len() {
                0..=MOST_SHOWN => Field::Times(finishes.clone()),
                _ => Field::Absent,
            }
        })
        .json_only(),
    ]);
    columns.extend(formula::columns_over(|played: &Row| played.over.as_ref()));
    columns
}
