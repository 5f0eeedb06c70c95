//! The tuning of a collective of MPI: its algorithms with fan-outs and segments, and what libraries take.

use std::io::Write;

use clap::Args;
use loggp::schedule::Player;
use loggp::{Latency, Ports, Ties, Time};
use loggp_goal::patterns::{CollectiveKind, collective_choices, what_runs};
use loggp_model::text::nearest_name;
use loggp_study::parallel::run_in_order;
use loggp_study::rows::tuned::{PatternRow, pattern_columns};

use super::TuneOptions;
use crate::annex::{is_without, libraries};
use crate::ask::choice::MachineChoice;
use crate::ask::completion_values::completed;
use crate::ask::levels::LevelOptions;
use crate::ask::options::{ChoiceOptions, PORTS, all_cores, one_of, parse_count};
use crate::ask::rank_machine::machine_for;
use crate::commands::runs::map::without_text;
use crate::commands::schedules::schedule::pattern_schedule;
use crate::commands::schedules::schedule_run::play_error;
use crate::error::CliError;
use crate::number::count;
use crate::tell::heading::{choice_heading, parameters, wire_text};
use crate::tell::progress::ProgressDisplay;
use crate::tell::report::Report;

/// A collective of MPI: which algorithm, fan-out and segments are fastest, and how near Open MPI's and
/// MPICH's choices come
#[derive(Args)]
#[command(before_help = "loggp tune collective: on the virtual clock, and combining takes no time")]
#[command(after_help = "Examples:
  loggp tune collective bcast -P 16 --size 64k
  loggp tune collective allreduce -P 12 --size 1k --machine myrinet --format json")]
pub(super) struct CollectiveArgs {
    /// The collective: bcast, allreduce, alltoall and so on, MPI's names in small letters
    #[arg(value_name = "COLLECTIVE", value_parser = completed(clap::builder::StringValueParser::new(),
        kinds().map(|kind| (kind.name(), ""))), hide_possible_values = true)]
    collective: String,
    /// Number of ranks
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    #[arg(default_value = "8")]
    P: usize,
    /// Bytes of the whole message in a broadcast and in reductions, and otherwise what a rank gives each other one
    #[arg(long, value_name = "BYTES", value_parser = parse_count, allow_negative_numbers = true, default_value = "1")]
    size: usize,
    #[command(flatten, next_help_heading = "Machine")]
    choice: ChoiceOptions,
    #[command(flatten, next_help_heading = "Machine")]
    levels: LevelOptions,
    /// Whether long messages to and from a rank share a port
    #[arg(long, value_parser = one_of::<Ports>(PORTS), default_value = "single", help_heading = "Machine")]
    ports: Ports,
    #[command(flatten)]
    own: TuneOptions,
}

/// Returns the kinds of collectives that can be tuned.
fn kinds() -> impl Iterator<Item = CollectiveKind> {
    CollectiveKind::ALL.into_iter().filter(|kind| !kind.is_of_neighbors())
}

impl CollectiveArgs {
    /// Plays all ways to do the collective, and lists them from the fastest.
    pub(super) fn tune(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let CollectiveArgs { P, size, ports, own, .. } = self;
        let kind = self.kind()?;
        let patterns = collective_choices(kind, *P, *size as u64, libraries());
        // What a library takes can always be done, so that it tells whether the request is right.
        let first = libraries().first().map(|library| format!("{}:{}", kind.name(), library.name));
        let first = pattern_schedule(first.as_ref().unwrap_or(&patterns[0]), *P, *size)?;
        let choice = machine_for(&self.choice, &self.levels, first.ranks())?;
        let files = own.open()?;
        let progress = ProgressDisplay::for_runs(patterns.len());
        let play = |pattern: &String| {
            progress.set_current(pattern.clone());
            let schedule = pattern_schedule(pattern, *P, *size);
            let time = schedule.map(|schedule| {
                let play = Player::new(choice.params).machine(choice.machine()).ports(*ports).run(&schedule);
                play.map(|report| report.time).map_err(play_error)
            });
            progress.finish_one();
            time
        };
        let (mut tried, mut refused) = (Vec::new(), Vec::new());
        let threads = own.cores.cores.unwrap_or_else(all_cores);
        run_in_order(patterns.into_iter(), threads, play, |pattern, time| {
            match time {
                Ok(time) => tried.push((pattern, time?)),
                Err(why) => refused.push((pattern, why.into_sentence().unwrap_or_default())),
            }
            Ok::<_, CliError>(())
        })?;
        drop(progress);
        let mut without = without_text(refused.iter().map(|(pattern, why)| (&**pattern, &**why)));
        if libraries().is_empty() {
            without += &format!("; Open MPI's and MPICH's choices are not compared: {}", is_without("mpi"));
        }
        CliError::warn_all(
            refused.iter().map(|(pattern, why)| CliError::Request(format!("{pattern}: {why}"))).collect(),
        );
        tried.sort_by_key(|(_, time)| *time);
        let tried_count = tried.len();
        let rows = self.rows(tried, &choice);
        // What ran as one of the others is none to choose.
        let is_other = |ran: &String| rows.iter().any(|row| row.pattern == format!("{}:{ran}", kind.name()));
        let choices = rows.iter().filter(|row| !row.ran.as_ref().is_some_and(is_other));
        let named: Vec<(String, f64)> = choices.map(|row| (row.pattern.clone(), row.slower)).collect();
        let listed = rows.len();
        let notes = TuneOptions::notes(
            &named,
            tried_count - listed,
            rows.first().map_or("", |row| &row.command),
            &without,
        );

        let machine = choice_heading(
            &choice,
            &parameters(&choice.params, &choice.unit).join(", "),
            &format!("virtual clock{}", wire_text(Latency::Exact, Ties::Number, *ports)),
        );
        let heading = format!("{}, {}\n{machine}", kind.name(), count(*size, "byte"));
        let mut report = Report::new(out, own.report.format, pattern_columns()).with_files(files);
        rows.into_iter().try_for_each(|row| report.add(row))?;
        report.finish(&heading, choice.unit, |_| notes)
    }

    /// Returns the kind of the collective.
    fn kind(&self) -> Result<CollectiveKind, CliError> {
        kinds().find(|kind| kind.name() == self.collective).ok_or_else(|| {
            let names: Vec<&str> = kinds().map(CollectiveKind::name).collect();
            let near = nearest_name(&self.collective, names.iter().copied());
            CliError::Request(format!(
                "there is no collective {}; {near}there are {}",
                self.collective,
                names.join(", ")
            ))
        })
    }

    /// Returns the rows to list, of patterns from the fastest: the first of each algorithm, or all.
    fn rows(&self, tried: Vec<(String, Time)>, choice: &MachineChoice) -> Vec<PatternRow> {
        let least = tried.first().map_or(Time::ZERO, |(_, time)| *time);
        let algorithm = |pattern: &str| pattern.split([':', '/']).nth(1).unwrap_or_default().to_string();
        let mut rows: Vec<PatternRow> = Vec::new();
        for (pattern, time) in tried {
            if !self.own.all && rows.iter().any(|row| algorithm(&row.pattern) == algorithm(&pattern)) {
                continue;
            }
            let begin = format!("loggp replay {pattern}");
            let command =
                TuneOptions::command_line(&begin, &["collective", &self.collective], std::iter::empty());
            let slower = TuneOptions::slower(time, least);
            let (machine, machine_params) = (choice.name, choice.machine());
            let ran = what_runs(&pattern, self.P, self.size as u64, libraries());
            rows.push(PatternRow {
                machine,
                machine_params,
                pattern,
                ran,
                size: self.size,
                time,
                slower,
                command,
            });
        }
        rows
    }
}
