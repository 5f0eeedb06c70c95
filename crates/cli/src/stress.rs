//! `loggp stress`: what the capacity does to hot spots and bursts.

use std::io::Write;
use std::mem::take;
use std::slice;

use clap::Args;
use loggp::{Audit, ClockKind, Time, US};
use loggp_document::{Block, plain};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::stress::{LATENCY, LONGEST_LATENCY, RATE, STEADY, STRESS, THROUGHPUT};
use loggp_programs::{Algorithm, Case};
use loggp_study::Study;

use super::choice::{Choice, gives};
use super::column::Column;
use super::failure::Failure;
use super::field::Field;
use super::heading::machine_heading;
use super::known;
use super::name;
use super::number::thousands;
use super::options::{MachineOptions, count, seed};
use super::output::Outputs;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Row, Task};
use super::studies::{LATE, end, run_all, warn};

/// The arguments.
#[derive(Args)]
#[command(mut_arg("P", |P| P.value_name("N,...").help("Numbers of processors [default: 4,8,16]")))]
pub struct Stress {
    /// The patterns: all-to-one, bursts, fft-naive, h-relation, steady [default: all]
    #[arg(value_name = "PATTERN", value_parser = known::stress(), hide_possible_values = true)]
    patterns: Vec<String>,
    /// How many messages each processor sends
    #[arg(long, value_name = "N,...", value_parser = count, value_delimiter = ',')]
    #[arg(default_value = "1,2,4,8,16,32", allow_negative_numbers = true)]
    load: Vec<usize>,
    /// Of steady: how many messages each processor starts per max(g, 2o), which is the most that it can send and receive
    /// [default: 0.5]
    #[arg(long, value_name = "RATE,...", value_parser = |text: &str| RATE.kind.read(text), value_delimiter = ',')]
    #[arg(allow_negative_numbers = true)]
    rate: Vec<f64>,
    /// Draws receivers and data
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, default_value = "1")]
    seed: u64,
    /// On which machine and clock.
    #[command(flatten)]
    machine: MachineOptions,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

/// The usual numbers of processors.
const PROCESSORS: [usize; 3] = [4, 8, 16];

impl Stress {
    /// Runs every pattern under every load, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let choices = self.choices()?;
        let studies = self.studies(&choices)?;
        let mut files = self.outputs.open()?;
        let Choice { unit, .. } = choices[0];
        let clock = studies[0].study.emulation.clock;
        let heading = machine_heading(&choices[0], &parameters(&choices[0]), clock, &self.machine);
        let mut report = Report::new(out, self.machine.format, columns()).files(take(&mut files.rows));
        let failed = run_all(studies, &mut report)?;
        report.finish(&heading, unit, MOST_DECIMALS, notes)?;
        warn(&report.rows);
        // A picture has every run, or is not drawn.
        end(failed)?;
        files.draw(|| plot(&report.rows, &choices))
    }

    /// The machine, with every number of processors.
    fn choices(&self) -> Result<Vec<Choice>, Failure> {
        let numbers: Vec<Option<usize>> = match self.machine.P.as_slice() {
            [] if gives(&self.machine.choice, "P") => vec![None],
            [] => PROCESSORS.into_iter().map(Some).collect(),
            given => given.iter().copied().map(Some).collect(),
        };
        numbers.into_iter().map(|P| Choice::of(&self.machine.choice, P)).collect()
    }

    /// Every pattern on every machine under every load.
    fn studies(&self, choices: &[Choice]) -> Result<Vec<Task>, Failure> {
        let emulation = self.machine.emulation(ClockKind::Wall)?;
        let mut studies = Vec::new();
        for pattern in self.patterns()? {
            for Choice { name: machine, params, .. } in choices {
                for (size, rate) in self.loads(pattern) {
                    let at = if pattern.name == STEADY { format!(", rate {rate}") } else { String::new() };
                    let name = format!("{} with P = {}, load {size}{at}", pattern.name, params.P);
                    let MachineOptions { ports, latency, ties, .. } = self.machine;
                    let case = Case::new(&STRESS, pattern.name, *params).with(&RATE, rate);
                    let case = Case {
                        ports: ports.unwrap_or(case.ports),
                        latency,
                        ties,
                        size,
                        seed: self.seed,
                        ..case
                    };
                    case.check().map_err(Failure::request)?;
                    let study = Study { emulation: emulation.clone(), ..Study::of(case) };
                    studies.push(Task { name, machine: *machine, study, at: None });
                }
            }
        }
        Ok(studies)
    }

    /// The loads of a pattern, at every rate if it has one.
    fn loads(&self, pattern: &Algorithm) -> impl Iterator<Item = (usize, f64)> {
        let has_rates = pattern.name == STEADY && !self.rate.is_empty();
        let rates = if has_rates { &self.rate[..] } else { slice::from_ref(&RATE.default) };
        self.load.iter().flat_map(move |size| rates.iter().map(move |rate| (*size, *rate)))
    }

    /// The patterns that were named, or all. Refuses a rate that none of them has.
    fn patterns(&self) -> Result<Vec<&'static Algorithm>, Failure> {
        let patterns: Vec<&Algorithm> = match self.patterns.as_slice() {
            [] => STRESS.algorithms.iter().collect(),
            names => names.iter().map(|name| name::algorithm(&STRESS, name)).collect::<Result<_, _>>()?,
        };
        match self.rate.is_empty() || patterns.iter().any(|pattern| pattern.name == STEADY) {
            true => Ok(patterns),
            false => Err(Failure::Request(format!("--rate is for the pattern {STEADY}; leave it out"))),
        }
    }
}

/// What a run showed, in microseconds, as a time.
fn latency(row: &Row, name: &str) -> Option<Field> {
    let us = row.answers.outcome.metric(name)?;
    Some(Field::Measured(Time::from_ps((us * US.as_ps() as f64).round() as i64)))
}

/// The columns of the report.
fn columns() -> Vec<Column<'static, Row>> {
    let mut columns = vec![Column::new("pattern", |row: &Row| row.case().algorithm.name).titled("pattern")];
    columns.extend(row::machine(|row: &Row| (row.task.machine, row.case().params), false));
    columns.extend([
        Column::shown("P", |row: &Row| row.case().params.P),
        Column::new("load", |row: &Row| row.case().size).titled("load"),
        Column::new("rate", |row: &Row| (row.case().algorithm.name == STEADY).then(|| row.case().get(&RATE)))
            .titled("rate")
            .optional(),
    ]);
    columns.extend(row::asked());
    columns.extend(row::clock());
    let [formula, model, _, measured, min, max, error_model, _, error_formula] =
        row::prediction(|row: &Row| row.answers.prediction, false);
    columns.extend([formula, model, measured, min.json_only(), max.json_only(), error_model, error_formula]);
    columns.extend([
        row::verified(),
        row::messages(),
        Column::new("stalls.count", |row: &Row| audit(row).stalls).titled("stalls"),
        Column::new("stalls.ns", |row: &Row| audit(row).stalled).titled("stalled"),
        Column::new("stalls.longest_ns", |row: &Row| audit(row).longest_stall).titled("longest"),
        Column::new("stalls.shortest_ns", |row: &Row| audit(row).shortest_stall).titled("shortest"),
        Column::new("stalls.unfairness", |row: &Row| {
            let Audit { longest_stall, shortest_stall, .. } = audit(row);
            longest_stall.zip(*shortest_stall).map(|(long, short)| long.in_units(short))
        }),
        Column::new("stalls.max_in_transit", |row: &Row| {
            let audit = audit(row);
            Field::Of(audit.most_in_transit_from.max(audit.most_in_transit_to), audit.capacity)
        })
        .titled("in transit"),
        Column::new("stalls.capacity", |row: &Row| audit(row).capacity),
        Column::new("throughput", |row: &Row| row.answers.outcome.metric(THROUGHPUT)).titled("throughput"),
        Column::new("latency.mean_ns", |row: &Row| latency(row, LATENCY)).titled("latency"),
        Column::new("latency.longest_ns", |row: &Row| latency(row, LONGEST_LATENCY)).titled("at most"),
        row::dilation().untitled(),
        row::cores().untitled(),
        row::held(),
    ]);
    columns.extend(row::lateness().map(Column::untitled));
    columns
}

/// What the auditor saw.
fn audit(row: &Row) -> &Audit {
    row.answers.outcome.audit.as_ref().expect("stress is audited")
}

/// A machine's parameters, but for P, of which there are several.
fn parameters(choice: &Choice) -> String {
    let times: Vec<String> =
        choice.params.times().map(|(name, time)| format!("{name} = {}", choice.unit.show(time))).collect();
    let capacity = choice.params.capacity().map_or("unlimited".into(), thousands);
    format!("{}, capacity {capacity}", times.join(", "))
}

/// What must be said below the table.
fn notes(rows: &[Row]) -> Vec<Block> {
    let mut notes = vec![
        "throughput: messages that the busiest receiver took per max(g, o), at most 1",
        "latency: from when a message was to be started until it was received, on average, and the longest",
        "in transit: the most at once, of the capacity, as the auditor sees it in the trace",
    ];
    if rows.iter().any(Row::is_late) {
        notes.push(LATE);
    }
    vec![Block::List(notes.into_iter().map(plain).collect())]
}

/// Stalled time over load: a panel for every number of processors, and a line for every pattern.
fn plot(rows: &[Row], choices: &[Choice]) -> Plot {
    let Choice { name, unit, .. } = &choices[0];
    let on = name.map_or(String::new(), |name| format!(" on {name}"));
    let line = |(number, &pattern): (usize, &&'static str), P: usize| {
        let name = |row: &&Row| row.case().algorithm.name == pattern && row.case().params.P == P;
        let point = |row: &Row| {
            let messages = row.answers.outcome.run.messages().max(1) as f64;
            (row.case().size as f64, unit.amount(audit(row).stalled) / messages)
        };
        let mut points: Vec<_> = rows.iter().filter(name).map(point).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Line::new(pattern, number, Look::Both, points)
    };
    let mut patterns: Vec<&'static str> = rows.iter().map(|row| row.case().algorithm.name).collect();
    patterns.dedup();
    let panels = choices.iter().map(|choice| {
        let P = choice.params.P;
        (format!("P = {}", thousands(P)), patterns.iter().enumerate().map(move |pattern| line(pattern, P)))
    });
    let clock = rows[0].task.study.emulation.clock;
    Plot::new(
        format!("Capacity stalls under load{on}"),
        format!("{clock} clock: {}", parameters(&choices[0])),
    )
    .x("messages sent by each processor", Scale::Points)
    .y(format!("stalled time per message [{}]", unit.name), Scale::Linear)
    .panels(panels)
}
