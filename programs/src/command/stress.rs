//! `loggp stress`: what the capacity does to hot spots and bursts.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::{Host, Machine, Params, RunError, Time};
use loggp_programs::stress::{Load, PATTERNS, Pattern, Stressed};
use loggp_programs::study::{Ns, Prediction, Times};
use serde::Serialize;

use super::bench::Bench;
use super::choice::Choice;
use super::csv::write_values;
use super::failure::Failure;
use super::late::{self, is_late};
use super::name::nearest;
use super::number::{Unit, percent, rough, thousands};
use super::options::{ClockOption, Format, count, seed};
use super::plot::{Line, Look, Panel, Plot, PlotFile, Scale};
use super::row::{Lateness, in_ps};
use super::table::Table;

/// The arguments.
#[derive(Args)]
pub struct Stress {
    /// The patterns: all-to-one, bursts, fft-naive, h-relation [default: all]
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// How many messages each processor sends
    #[arg(long, value_name = "N,...", value_parser = count, value_delimiter = ',')]
    #[arg(default_value = "1,2,4,8,16,32", allow_negative_numbers = true)]
    load: Vec<usize>,
    /// Numbers of processors [default: 4,8,16]
    #[arg(short = 'P', value_name = "N,...", value_parser = count, value_delimiter = ',')]
    #[arg(allow_negative_numbers = true)]
    P: Vec<usize>,
    /// Draws receivers and data
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, default_value = "1")]
    seed: u64,
    /// On which machine and clock.
    #[command(flatten)]
    bench: Bench,
    /// Draw the stalled time over the load into an SVG file
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    plot: Option<PathBuf>,
}

/// What became of a pattern under a load.
#[derive(Serialize)]
struct Row {
    /// The pattern.
    pattern: &'static str,
    /// The paper's machine, if one was named.
    machine: Option<&'static str>,
    /// The machine's parameters, P among them.
    #[serde(serialize_with = "in_ps")]
    params: Params,
    /// How many messages each processor sends.
    load: usize,
    /// The clock.
    clock: &'static str,
    /// The three times, and how far they are apart.
    #[serde(flatten)]
    prediction: Prediction,
    /// Whether everyone got its data, and nothing broke the rules.
    verified: bool,
    /// How many messages were sent.
    messages: u64,
    /// What the capacity did.
    stalls: Stalls,
    /// How many messages the busiest receiver took per max(g, o).
    throughput: Option<f64>,
    /// How much slower than the machine itself the emulation ran.
    dilation: f64,
    /// How many of this computer's cores it ran on.
    cores: usize,
    /// Whether this computer ended the run in time; nothing where time does not pass.
    held: Option<bool>,
    /// How late this computer was; nothing where time does not pass.
    lateness_ns: Option<Lateness>,
}

/// What the capacity did to a run, as the auditor sees it in the trace.
#[derive(Serialize)]
struct Stalls {
    /// How often a processor stalled.
    count: usize,
    /// How long the processors stalled, all together.
    ns: Ns,
    /// The longest stall.
    longest_ns: Option<Ns>,
    /// The shortest stall.
    shortest_ns: Option<Ns>,
    /// longest / shortest.
    unfairness: Option<f64>,
    /// The most messages in transit from one processor, or to one, at once.
    max_in_transit: usize,
    /// How many may be; nothing where any number may be.
    capacity: Option<usize>,
}

/// The titles of CSV.
const TITLES: [&str; 33] = [
    "pattern",
    "machine",
    "params.L",
    "params.o",
    "params.g",
    "params.G",
    "params.P",
    "params.word",
    "load",
    "clock",
    "formula_ns",
    "model_ns",
    "measured_ns",
    "error_model",
    "error_formula",
    "verified",
    "messages",
    "stalls.count",
    "stalls.ns",
    "stalls.longest_ns",
    "stalls.shortest_ns",
    "stalls.unfairness",
    "stalls.max_in_transit",
    "stalls.capacity",
    "throughput",
    "dilation",
    "cores",
    "held",
    "lateness_ns.p50",
    "lateness_ns.p90",
    "lateness_ns.p99",
    "lateness_ns.max",
    "lateness_ns.finish",
];

/// The usual numbers of processors.
const PROCESSORS: [usize; 3] = [4, 8, 16];

impl Stress {
    /// Runs every pattern under every load, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let patterns = self.patterns()?;
        let choices = self.choices()?;
        for choice in &choices {
            for (pattern, messages) in patterns.iter().flat_map(|p| self.load.iter().map(move |m| (p, *m))) {
                pattern.check(&self.load(choice, messages)).map_err(Failure::Request)?;
            }
        }
        let file = self.plot.as_deref().map(PlotFile::at).transpose()?;

        let (mut rows, mut failed) = (Vec::new(), Vec::new());
        for pattern in patterns {
            for choice in &choices {
                let machine = self.bench.machine(choice)?;
                for &messages in &self.load {
                    let what = name(pattern.name, choice.params.P, messages);
                    match self.run(pattern, choice, &machine, messages) {
                        Ok((row, wrong)) => {
                            failed.extend(wrong.map(|why| format!("{what} is wrong: {why}")));
                            self.write_line(out, &row, rows.is_empty())?;
                            rows.push(row);
                        }
                        Err(error) => failed.push(format!("{what} failed: {error}")),
                    }
                }
            }
        }
        if self.bench.format == Format::Table && !rows.is_empty() {
            let heading = self.bench.heading(&choices[0], &parameters(&choices[0]));
            write!(out, "{heading}\n\n{}\n{}", table(&rows, choices[0].unit), self.notes(&rows))?;
        }
        out.flush()?;
        let late: Vec<String> = rows.iter().filter(|row| is_late(row.held)).map(Row::name).collect();
        late::warn(&late);
        // A plot has every run, or is not drawn.
        if !failed.is_empty() {
            return Err(Failure::Run(failed.join("\n")));
        }
        file.map_or(Ok(()), |file| file.write(&self.plot(&rows, &choices)))
    }

    /// The patterns that were named, or all.
    fn patterns(&self) -> Result<Vec<&'static Pattern>, Failure> {
        let named = |name: &String| {
            let find = PATTERNS.iter().find(|pattern| pattern.name == name);
            find.ok_or_else(|| {
                let names: Vec<&str> = PATTERNS.iter().map(|pattern| pattern.name).collect();
                Failure::Request(format!(
                    "there is no pattern {name}; the nearest name is {}; there are {}",
                    nearest(name, names.iter().copied()),
                    names.join(", ")
                ))
            })
        };
        match self.patterns.is_empty() {
            true => Ok(PATTERNS.iter().collect()),
            false => self.patterns.iter().map(named).collect(),
        }
    }

    /// The machine, with every number of processors.
    fn choices(&self) -> Result<Vec<Choice>, Failure> {
        let numbers: Vec<Option<usize>> = match self.P.as_slice() {
            [] if self.bench.gives_P() => vec![None],
            [] => PROCESSORS.into_iter().map(Some).collect(),
            given => given.iter().copied().map(Some).collect(),
        };
        numbers.into_iter().map(|P| self.bench.choose(P, 2)).collect()
    }

    fn load(&self, choice: &Choice, messages: usize) -> Load {
        Load { params: choice.params, messages, seed: self.seed }
    }

    /// Runs a pattern on the virtual clock, and on the wall clock if that was asked for. Returns what there
    /// is to report, and what is wrong with it.
    fn run(
        &self,
        pattern: &Pattern,
        choice: &Choice,
        machine: &Machine,
        messages: usize,
    ) -> Result<(Row, Option<String>), RunError> {
        let load = self.load(choice, messages);
        let run = |clock: ClockOption| pattern.run(&load, &machine.clone().clock(clock.into()));
        let model = run(ClockOption::Virtual)?;
        let measured = match self.bench.clock {
            ClockOption::Virtual => None,
            ClockOption::Wall => Some(run(ClockOption::Wall)?),
        };
        let once = |stressed: &Stressed| {
            let time = stressed.run.time;
            Times::one(time)
        };
        let prediction = Prediction {
            formula: pattern.formula(&load),
            model: Some(model.run.time),
            measured: measured.as_ref().map(once),
        };
        let wrong =
            [Some(&model), measured.as_ref()].into_iter().flatten().find_map(|s| s.verified.clone().err());
        let seen = measured.unwrap_or(model);
        let host = seen.run.host.as_ref();
        let row = Row {
            pattern: pattern.name,
            machine: choice.preset.map(|preset| preset.name),
            params: choice.params,
            load: messages,
            clock: self.bench.clock.name(),
            prediction,
            verified: wrong.is_none(),
            messages: seen.run.messages(),
            stalls: Stalls::of(&seen),
            throughput: seen.throughput,
            dilation: host.map_or(1.0, |host: &Host| host.dilation),
            cores: host.map_or(1, |host| host.cores),
            held: host.map(|host| host.held),
            lateness_ns: host.map(Lateness::of),
        };
        Ok((row, wrong))
    }

    /// Writes a row for programs, which need not wait for the others.
    fn write_line(&self, out: &mut dyn Write, row: &Row, first: bool) -> Result<(), Failure> {
        match self.bench.format {
            Format::Table => return Ok(()),
            Format::Json => writeln!(out, "{}", serde_json::to_string(row).map_err(Failure::run)?)?,
            Format::Csv => {
                if first {
                    writeln!(out, "{}", TITLES.join(","))?;
                }
                write_values(out, &TITLES, row)?;
            }
        }
        Ok(out.flush()?)
    }

    /// What must be said below a table.
    fn notes(&self, rows: &[Row]) -> String {
        let mut notes = String::from(
            "throughput: messages that the busiest receiver took per max(g, o), at most 1\n\
             in transit: the most at once, of the capacity, as the auditor sees it in the trace\n",
        );
        if self.bench.clock == ClockOption::Wall {
            notes += "vs model: of several that send at the same moment, the model takes them by number, and the \
                      wall clock as they come\n";
        }
        if rows.iter().any(|row| is_late(row.held)) {
            notes += &format!("{}\n", late::NOTE);
        }
        notes
    }

    /// Stalled time over load: a panel for every number of processors, and a line for every pattern.
    fn plot(&self, rows: &[Row], choices: &[Choice]) -> Plot {
        let Choice { preset, unit, .. } = &choices[0];
        let on = preset.map_or(String::new(), |preset| format!(" on {}", preset.name));
        let line = |(number, &pattern): (usize, &&'static str), P: usize| {
            let here = rows.iter().filter(|row| row.pattern == pattern && row.params.P == P);
            let mut points: Vec<_> = here
                .map(|row| (row.load as f64, unit.amount(row.stalls.ns.0) / row.messages.max(1) as f64))
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            Line { label: pattern.into(), number, look: Look::Both, points }
        };
        let mut patterns: Vec<&'static str> = rows.iter().map(|row| row.pattern).collect();
        patterns.dedup();
        let panel = |choice: &Choice| Panel {
            caption: format!("P = {}", thousands(choice.params.P)),
            lines: patterns.iter().enumerate().map(|pattern| line(pattern, choice.params.P)).collect(),
            levels: Vec::new(),
        };
        Plot {
            title: format!("Capacity stalls under load{on}"),
            subtitle: format!("{} clock: {}", self.bench.clock.name(), parameters(&choices[0])),
            x: "messages sent by each processor".into(),
            x_scale: Scale::Points,
            y: format!("stalled time per message [{}]", unit.name),
            y_scale: Scale::Linear,
            panels: choices.iter().map(panel).collect(),
        }
    }
}

impl Row {
    /// What messages call it.
    fn name(&self) -> String {
        name(self.pattern, self.params.P, self.load)
    }
}

/// What messages call a pattern with so many processors, each of which sends so many messages.
fn name(pattern: &str, P: usize, messages: usize) -> String {
    format!("{pattern} with P = {P}, load {messages}")
}

impl Stalls {
    /// What the auditor saw.
    fn of(stressed: &Stressed) -> Stalls {
        let audit = &stressed.audit;
        let ratio = |(longest, shortest): (Time, Time)| longest.as_ps() as f64 / shortest.as_ps() as f64;
        Stalls {
            count: audit.stalls,
            ns: Ns(audit.stalled),
            longest_ns: audit.longest_stall.map(Ns),
            shortest_ns: audit.shortest_stall.map(Ns),
            unfairness: audit.longest_stall.zip(audit.shortest_stall).map(ratio),
            max_in_transit: audit.most_in_transit_from.max(audit.most_in_transit_to),
            capacity: audit.capacity,
        }
    }
}

/// A machine's parameters, but for P, of which there are several.
fn parameters(choice: &Choice) -> String {
    let times: Vec<String> =
        choice.params.times().map(|(name, time)| format!("{name} = {}", choice.unit.show(time))).collect();
    let capacity = choice.params.capacity().map_or("unlimited".into(), thousands);
    format!("{}, capacity {capacity}", times.join(", "))
}

/// The rows as a table, with times in this unit.
fn table(rows: &[Row], unit: Unit) -> Table {
    const MOST_DECIMALS: usize = 2;
    let times = |row: &Row| {
        let Prediction { formula, model, .. } = row.prediction;
        [formula, model, Some(row.stalls.ns.0)]
    };
    let exact = rows.iter().flat_map(times).flatten().map(|time| unit.decimals(time)).max().unwrap_or(0);
    let decimals = exact.min(MOST_DECIMALS);
    let time = |time: Option<Time>| time.map_or("-".into(), |time| unit.number(time, decimals));
    let ns = |ns: Option<Ns>| time(ns.map(|ns| ns.0));
    let in_transit = |stalls: &Stalls| match stalls.capacity {
        Some(capacity) => format!("{} of {}", thousands(stalls.max_in_transit), thousands(capacity)),
        None => thousands(stalls.max_in_transit),
    };
    let error = |error: Option<f64>| error.map_or("-".into(), percent);
    let number = |number: Option<f64>| number.map_or("-".into(), rough);

    let mut table = Table::new();
    let rows = || rows.iter();
    table.words("pattern", rows().map(|row| row.pattern.into()));
    table.numbers("P", rows().map(|row| thousands(row.params.P)));
    table.numbers("load", rows().map(|row| thousands(row.load)));
    table.numbers("messages", rows().map(|row| thousands(row.messages)));
    table.numbers("stalls", rows().map(|row| thousands(row.stalls.count)));
    table.numbers("stalled", rows().map(|row| ns(Some(row.stalls.ns))));
    table.numbers("shortest", rows().map(|row| ns(row.stalls.shortest_ns)));
    table.numbers("longest", rows().map(|row| ns(row.stalls.longest_ns)));
    table.numbers("in transit", rows().map(|row| in_transit(&row.stalls)));
    table.numbers("throughput", rows().map(|row| number(row.throughput)));
    table.numbers("formula", rows().map(|row| time(row.prediction.formula)));
    table.numbers("model", rows().map(|row| time(row.prediction.model)));
    if rows().any(|row| row.prediction.measured.is_some()) {
        table.numbers("measured", rows().map(|row| time(row.prediction.measured.map(|times| times.median))));
        table.numbers("vs model", rows().map(|row| error(row.prediction.error_model())));
        late::mark(&mut table, rows().map(|row| row.held));
    }
    table.words("verified", rows().map(|row| if row.verified { "yes" } else { "NO" }.into()));
    table
}
