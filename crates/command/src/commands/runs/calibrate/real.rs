//! `loggp calibrate --on mpi`: LogGPS's parameters of a real machine, level by level, and their errors for
//! each length of messages.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loggp::Time;
use loggp::link::Link;
use loggp::params::Protocol;
use loggp_document::{DocumentBlock, plain};
use loggp_study::StudyError;
use loggp_study::real::{CalibrationProgress, ProcessPlace, RealLevel, nested_groups, read_places};
use loggp_study::rows::finding::{LengthRow, length_columns};
use loggp_study::rows::machine;
use loggp_study::rows::{Field, Object};

use super::{CalibrateCommand, MOST_DECIMALS};
use crate::ask::format::Format;
use crate::ask::output::OutputFiles;
use crate::error::{CliError, say};
use crate::number::{Unit, percent, rough, rough_time, thousands};
use crate::tell::heading::parameters;
use crate::tell::progress::ProgressDisplay;
use crate::tell::report::Report;

/// Time that calibration has, unless another is asked for.
const USUAL: Duration = Duration::from_secs(60);

/// The progress of a calibration on stderr: a line that changes on a terminal, and else a new line now and then.
#[derive(Default)]
struct CalibrationDisplay {
    line: Option<ProgressDisplay>,
    /// When the last line was written.
    written: Option<Instant>,
}

impl CalibrationDisplay {
    fn show(&mut self, progress: CalibrationProgress) {
        const PAUSE: Duration = Duration::from_secs(5);
        let CalibrationProgress { other, round, rounds, left } = progress;
        let step = match left {
            None => "the first round trips".into(),
            Some(left) => format!("round {round} of {rounds}, some {} left", rough_time(left)),
        };
        let text = format!("processes 0 and {other}: {step}");
        if io::stderr().is_terminal() {
            let line = self.line.get_or_insert_with(|| ProgressDisplay::with_template(0, "{msg}"));
            line.set_current(text);
            line.finish_one();
        } else if self.written.is_none_or(|last| last.elapsed() > PAUSE) {
            say("calibrating ", &text);
            self.written = Some(Instant::now());
        }
    }
}

/// Measures the machine, and prints the parameters and their errors.
pub(super) fn calibrate(
    command: &CalibrateCommand,
    link: &Arc<dyn Link>,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    if link.P() < 2 {
        return Err(CliError::request(
            "a process alone has nobody to send to; start at least 2, as in `mpirun -n 2`",
        ));
    }
    let OutputFiles { rows, .. } = command.outputs.open()?;
    let places = read_places(link).map_err(StudyError::from)?;
    let grouped = nested_groups(&places);
    let time = command.time.unwrap_or(USUAL);
    let mut display = CalibrationDisplay::default();
    let levels = RealLevel::measure_levels(link, &grouped.sizes, time, |progress| display.show(progress))
        .map_err(StudyError::from)?;
    drop(display);
    let unit = Unit::default_for(&levels[0].params);
    let found = |real: &RealLevel| {
        let with = format!("processes 0 and {}", real.other);
        format!("{with}: {}, {} ports\n", parameters(&real.params, &unit).join(", "), real.ports)
    };
    let heading = format!(
        "{}\n{}round trips, floods and exchanges, times in {}, buffers written just before or cold",
        link.name(),
        levels.iter().map(found).collect::<String>(),
        unit.name
    );
    let (machines, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|(format, _)| *format == Format::Json);
    let files = OutputFiles { rows, ..OutputFiles::default() };
    let mut report = Report::new(out, command.report.format, length_columns())
        .with_decimals(MOST_DECIMALS)
        .with_files(files);
    for real in &levels {
        for measured in &real.measured {
            report.add(LengthRow { other: real.other, measured: *measured })?;
        }
    }
    report.finish(&heading, unit, |_| {
        let scattered = grouped.scattered.map(|group| {
            format!("{group} are no level: their processes do not follow one another in equal numbers")
        });
        let notes = levels.iter().flat_map(|real| level_notes(real, &unit)).chain(scattered);
        notes.map(|text| DocumentBlock::Paragraph(plain(text))).collect()
    })?;
    for (_, file) in machines {
        let machine = machine_object(&levels, link.name(), &places, &report.rows);
        file.write(|file| Ok(serde_json::to_writer(file, &machine)?))?;
    }
    Ok(())
}

/// Returns the notes below the table on a level.
fn level_notes(real: &RealLevel, unit: &Unit) -> Vec<String> {
    let share = |(middle, worst): (f64, f64)| {
        let [middle, worst] = [middle, worst].map(|error| percent(error).trim_start_matches('+').to_string());
        format!("within {middle} in the middle and {worst} at most")
    };
    let held_out = [(true, "from 4 KiB on"), (false, "below")]
        .map(|(long, which)| real.held_out_error(long).map(|error| format!("{} {which}", share(error))));
    let held_out: Vec<String> = held_out.into_iter().flatten().collect();
    let doubts = real.doubts.iter().map(|(name, doubt)| format!("{name} {}", rough(unit.amount(*doubt))));
    let doubts: Vec<String> = doubts.collect();
    let mut notes = Vec::new();
    if !held_out.is_empty() {
        notes.push(format!(
            "floods and exchanges between processes 0 and {}, of lengths that were not fitted, are {}",
            real.other,
            held_out.join(", and ")
        ));
    }
    notes.push(format!("from one repetition to another differ, in {}: {}", unit.name, doubts.join(", ")));
    if let Some(whole) = real.whole {
        let longest = |cold: bool| {
            let all = real.measured.iter().map(|it| it.experiment).filter(|it| it.cold == cold);
            all.map(|it| it.bytes).max().map(thousands)
        };
        let cold = longest(true).map_or("no cold ones".into(), |bytes| format!("cold ones of up to {bytes}"));
        notes.push(format!(
            "there was time for {} rounds, fewer repetitions, and messages of up to {} bytes, {cold}; all would take some {}, \
             which --for gives them",
            real.rounds,
            longest(false).expect("something was measured"),
            rough_time(whole)
        ));
    }
    if let Some(rendezvous) = real.rendezvous {
        let (who, computes) = match rendezvous == Protocol::Pull {
            true => ("the receiver pulls", "its receiver gets them"),
            false => ("the sender pushes", "its receiver gets none of them"),
        };
        notes.push(format!(
            "{who} messages of more than S words (--rendezvous {rendezvous}): while process 0 computes, {computes}"
        ));
    }
    if real.has_overlap {
        notes.push(
            "half a round trip is shorter than two overheads: they overlap, and L is no less than 0".into(),
        );
    }
    notes
}

/// Returns the machine as a JSON object, with the times from which its parameters were made.
fn machine_object(levels: &[RealLevel], link: String, places: &[ProcessPlace], rows: &[LengthRow]) -> Object {
    let (outermost, within) = levels.split_first().expect("all processes are a level");
    let mut machine = machine::machine_object(Some("mpi"), &outermost.params, &[]);
    let mut say = |name: &'static str, value: Field| machine.0.push((name.into(), value));
    let doubts = |real: &RealLevel| {
        let doubt = |(name, doubt): &(&'static str, Time)| (format!("doubts.{name}").into(), (*doubt).into());
        real.doubts.iter().map(doubt).collect::<Vec<_>>()
    };
    let level = |real: &RealLevel| {
        let mut level = machine::level_object(&real.level());
        level.0.extend(doubts(real));
        level
    };
    say("ports", outermost.ports.to_string().into());
    if let Some(rendezvous) = outermost.rendezvous {
        say("rendezvous", rendezvous.to_string().into());
    }
    say("levels", Field::Rows(within.iter().map(level).collect()));
    say("link", link.into());
    let process = |(rank, placed): (usize, &ProcessPlace)| {
        let text = |text: &Option<String>| text.as_deref().map_or(Field::Null, Field::from);
        let setting =
            |(name, value): &(String, String)| (format!("settings.{name}").into(), value.as_str().into());
        let mut process = vec![
            ("process".into(), rank.into()),
            ("host".into(), placed.host.as_str().into()),
            ("cores".into(), text(&placed.cores)),
            ("socket".into(), text(&placed.socket)),
        ];
        process.extend(placed.settings.iter().map(setting));
        Object(process)
    };
    say("processes", Field::Rows(places.iter().enumerate().map(process).collect()));
    machine.0.extend(doubts(outermost));
    machine.0.push(("measured".into(), length_columns().objects(rows)));
    machine
}
