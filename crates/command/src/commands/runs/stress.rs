//! `loggp stress`: measures stalls at hot spots and in bursts, which the capacity causes.

use std::io::Write;
use std::slice;

use clap::Args;
use loggp::ClockKind;
use loggp_document::{DocumentBlock, plain};
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_programs::stress::{RATE, STEADY, STRESS};
use loggp_programs::{Algorithm, Case, Emulation};
use loggp_study::Study;
use loggp_study::rows::program_run::{StudyRow, Task};
use loggp_study::rows::stress::{audit, stress_columns};

use super::details::{LATE_NOTE, form_notes};
use super::experiment::Experiment;
use crate::ask::choice::MachineChoice;
use crate::ask::completion_values;
use crate::ask::lookup;
use crate::ask::options::{
    CapacityOption, ClockOptions, DrawOptions, MachineOptions, ReportOptions, clock_text, parse_count,
    parse_seed,
};
use crate::ask::output::Outputs;
use crate::error::CliError;
use crate::number::{Unit, thousands};
use crate::tell::heading::{choice_heading, wire_text};
use crate::tell::report::Report;

/// Send too much to one place, or too much at once on the wall clock, and see who stalls
#[derive(Args)]
#[command(after_help = "Examples:
  loggp stress all-to-one --machine cm5 -P 8 --load 4 --clock virtual
  loggp stress steady --rate 0.5,0.9 -P 8 --load 16 --clock virtual -o latency.svg")]
#[command(mut_arg("P", |P| P.value_name("N,...").help("Numbers of processors [default: 4,8,16]")))]
pub(crate) struct StressCommand {
    /// The patterns: all-to-one, bursts, fft-naive, h-relation, steady [default: all]
    #[arg(value_name = "PATTERN", value_parser = completion_values::algorithm(&STRESS), hide_possible_values = true)]
    patterns: Vec<String>,
    /// How many messages each processor sends
    #[arg(long, value_name = "N,...", value_parser = parse_count, value_delimiter = ',')]
    #[arg(default_value = "1,2,4,8,16,32", allow_negative_numbers = true)]
    load: Vec<usize>,
    /// Of steady: how many messages each processor starts per max(g, 2o), which is the most that it can send and receive
    /// [default: 0.5]
    #[arg(long, value_name = "RATE,...", value_parser = |text: &str| RATE.kind.read(text), value_delimiter = ',')]
    #[arg(allow_negative_numbers = true)]
    rate: Vec<f64>,
    /// Draws receivers and data
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true, default_value = "1")]
    seed: u64,
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten)]
    draws: DrawOptions,
    #[command(flatten, next_help_heading = "Machine")]
    capacity: CapacityOption,
    #[command(flatten, next_help_heading = "Machine")]
    clock: ClockOptions,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    outputs: Outputs,
}

/// The default numbers of processors.
const PROCESSORS: [usize; 3] = [4, 8, 16];

impl StressCommand {
    /// Runs every pattern under every load, even if some fail, and then reports the failures.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let choices = self.choices()?;
        let tasks = self.tasks(&choices)?;
        let first = &choices[0];
        let Emulation { clock, carrier, .. } = tasks[0].study.emulation;
        let wires = wire_text(self.draws.latency, self.draws.ties, self.machine.ports.unwrap_or_default())
            + self.capacity.capacity.setting();
        let heading = choice_heading(first, &parameters(first), &(clock_text(clock, carrier) + &wires));
        let mut experiment = Experiment {
            untimed: Vec::new(),
            tasks,
            heading,
            unit: first.unit,
            ranges: Vec::new(),
            is_single: false,
            has_machines: false,
            details: notes,
            plot: None,
        };
        let mut report =
            Report::new(out, self.report.format, stress_columns()).with_files(self.outputs.open()?);
        experiment.run(&mut report, |_| Ok(()))?;
        report.draw(|rows| plot(rows, &choices))
    }

    /// Returns the machine with each number of processors.
    fn choices(&self) -> Result<Vec<MachineChoice>, CliError> {
        let numbers: Vec<Option<usize>> = match self.machine.P.as_slice() {
            [] => PROCESSORS.into_iter().map(Some).collect(),
            given => given.iter().copied().map(Some).collect(),
        };
        numbers.into_iter().map(|P| MachineChoice::from_options(&self.machine.choice, P)).collect()
    }

    /// Returns the studies of every pattern on every machine under every load.
    fn tasks(&self, choices: &[MachineChoice]) -> Result<Vec<Task>, CliError> {
        let emulation = self.machine.emulation(&self.clock, ClockKind::Wall)?;
        let mut studies = Vec::new();
        for pattern in self.patterns()? {
            for MachineChoice { name: machine, params, .. } in choices {
                for (size, rate) in self.loads(pattern) {
                    let at = if pattern.name == STEADY { format!(", rate {rate}") } else { String::new() };
                    let name = format!("{} with P = {}, load {size}{at}", pattern.name, params.P);
                    let DrawOptions { latency, ties } = self.draws;
                    let case = Case::new(&STRESS, pattern.name, *params).with(&RATE, rate);
                    let case = Case {
                        capacity: self.capacity.capacity,
                        ports: self.machine.ports.unwrap_or(case.ports),
                        latency,
                        ties,
                        size,
                        seed: self.seed,
                        ..case
                    };
                    case.check().map_err(CliError::request)?;
                    let study = Study { emulation: emulation.clone(), ..Study::new(case) };
                    studies.push(Task { name, machine: *machine, study, swept: Vec::new() });
                }
            }
        }
        Ok(studies)
    }

    /// Returns the loads of a pattern, with each rate if it has rates.
    fn loads(&self, pattern: &Algorithm) -> impl Iterator<Item = (usize, f64)> {
        let has_rates = pattern.name == STEADY && !self.rate.is_empty();
        let rates = if has_rates { &self.rate[..] } else { slice::from_ref(&RATE.default) };
        self.load.iter().flat_map(move |size| rates.iter().map(move |rate| (*size, *rate)))
    }

    /// Returns the patterns that are named, or all. Refuses a rate if none of them has one.
    fn patterns(&self) -> Result<Vec<&'static Algorithm>, CliError> {
        let patterns: Vec<&Algorithm> = match self.patterns.as_slice() {
            [] => STRESS.algorithms.iter().collect(),
            names => {
                names.iter().map(|name| lookup::find_algorithm(&STRESS, name)).collect::<Result<_, _>>()?
            }
        };
        match self.rate.is_empty() || patterns.iter().any(|pattern| pattern.name == STEADY) {
            true => Ok(patterns),
            false => Err(CliError::Request(format!("--rate is for the pattern {STEADY}; leave it out"))),
        }
    }
}

/// Returns a machine's parameters as text, without P, which varies.
fn parameters(choice: &MachineChoice) -> String {
    let times: Vec<String> =
        choice.params.times().map(|(name, time)| format!("{name} = {}", choice.unit.show(time))).collect();
    let capacity = choice.params.capacity().map_or("unlimited".into(), thousands);
    format!("{}, capacity {capacity}", times.join(", "))
}

/// Returns the notes below the table.
fn notes(rows: &[StudyRow], _: Unit) -> Vec<DocumentBlock> {
    let mut notes = vec![
        "throughput: messages that the busiest receiver took per max(g, o), at most 1",
        "latency: from when a message was to be started until it was received, on average, and the longest",
        "in transit: the most at once, of the capacity, as the auditor sees it in the trace",
    ];
    if rows.iter().any(StudyRow::is_late) {
        notes.push(LATE_NOTE);
    }
    let notes = form_notes(rows).into_iter().chain(notes.into_iter().map(String::from));
    vec![DocumentBlock::List(notes.map(plain).collect())]
}

/// Plots stalled time over load, with a panel for every number of processors and a line for every pattern.
fn plot(rows: &[StudyRow], choices: &[MachineChoice]) -> Plot {
    let MachineChoice { name, unit, .. } = &choices[0];
    let on = name.map_or(String::new(), |name| format!(" on {name}"));
    let line = |(number, &pattern): (usize, &&'static str), P: usize| {
        let name = |row: &&StudyRow| row.case().algorithm.name == pattern && row.case().params.P == P;
        let point = |row: &StudyRow| {
            let messages = row.answers.outcome.run.messages().max(1) as f64;
            (row.case().size as f64, unit.amount(audit(row).stalled) / messages)
        };
        let mut points: Vec<_> = rows.iter().filter(name).map(point).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        PlotLine::new(pattern, number, Look::Both, points)
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
