//! `loggp reproduce`: reproduces the papers' figures and tables, and makes a page of them.

mod folder;
mod html;
mod record;
mod report;
mod selection;
mod single;
mod sums;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::{Lab, Verdict, exhibits};
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use loggp::ClockKind;

use folder::ReportFolder;
use loggp_command::annex::Execute;
use loggp_command::ask::completion_values::completed;
use loggp_command::ask::format::Format;
use loggp_command::ask::options::{self, ClockOptions};
use loggp_command::ask::shard::{Shard, shard_items};
use loggp_command::error::CliError;
use loggp_command::host::draft::is_stdout;
use loggp_command::host::interrupt;
use loggp_command::tell::progress::ProgressDisplay;
use record::{ExhibitRecord, ReproduceSettings};
use selection::SelectedExhibit;
use single::SingleFile;

/// Make the papers' figures and tables again on both clocks, and a page of them: paper, formula, model and
/// measurement
#[derive(Args)]
#[command(
    after_help = "An interrupted command is given again as it was: what is done already is not done anew.

Examples:
  loggp reproduce --list
  loggp reproduce logp-fig3 --clock virtual -o figures -o figure-3.md"
)]
#[command(mut_arg("clock", |clock| {
    clock.help("The clock of what is to be measured; on the virtual clock nothing is [default: wall]")
}))]
pub(crate) struct ReproduceCommand {
    /// What is made: ids, or patterns such as 'loggp-*' [default: everything]
    #[arg(value_name = "ID")]
    #[arg(value_parser = exhibit(), hide_possible_values = true)]
    ids: Vec<String>,
    /// List what there is instead: the paper, and what it shows
    #[arg(long, conflicts_with_all = ["output", "full", "force", "seed", "repeat", "clock", "carrier", "dilation", "cores"])]
    list: bool,
    /// How the list is written
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The folder of the page and of the files beside it [default: reproduced]; or FILE.html, which gets the page of everything
    /// in the folder, - for that on stdout, or FILE.md, which gets its summary, with a page for each paper in a folder beside it.
    /// May be given several times
    #[arg(short, long, value_name = "FOLDER|FILE.html|FILE.md")]
    output: Vec<PathBuf>,
    /// Take the papers' own sizes, where the usual ones are smaller
    #[arg(long)]
    full: bool,
    /// Make anew what is there already
    #[arg(long)]
    force: bool,
    /// Only this part of them, such as 2/4. The folders of all parts, copied into one, are a folder of all: the same command without
    /// a shard makes its page
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Makes the data
    #[arg(long, value_name = "N", value_parser = options::parse_seed, allow_negative_numbers = true)]
    #[arg(default_value = "1")]
    seed: u64,
    /// Repeat what is measured so many times, and report the median, the least and the most
    #[arg(long, value_name = "N", value_parser = options::parse_repeat, allow_negative_numbers = true)]
    #[arg(default_value = "3")]
    repeat: usize,
    #[command(flatten)]
    clock: ClockOptions,
}

/// Ids of the exhibits that are not as they should be.
#[derive(Default)]
struct MadeExhibits {
    /// Exhibits with a row that is not as it is known to be, or with a wrong result.
    unexpected: Vec<&'static str>,
    /// Exhibits that could not be made.
    failed: Vec<&'static str>,
}

impl Execute for ReproduceCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let selected = shard_items(self.shard, selection::select(&self.ids)?);
        if self.list {
            return selection::list(out, selected, self.format.unwrap_or(Format::Table));
        }
        if self.format.is_some() {
            return Err(CliError::request(
                "--format is for --list; a report has -o FILE.html and -o FILE.md",
            ));
        }
        let emulation = self.clock.emulation(ClockKind::Wall)?;
        let settings = ReproduceSettings::new(self.full, self.seed, self.repeat, &emulation);
        let lab = Lab {
            full: settings.full,
            seed: settings.seed,
            repeat: settings.repeat,
            emulation: emulation.clone(),
            ..Lab::new(&|| ())
        };
        let (to, files) = self.outputs()?;
        let singles = files.iter().map(|path| SingleFile::create(path)).collect::<Result<Vec<_>, _>>()?;
        let mut folder = ReportFolder::open(to)?;
        let outcome = self.make(&selected, &lab, &settings, &mut folder, out)?;
        let page = folder.write_page()?;
        writeln!(out)?;
        let sums = sums::sentences(&folder.records).into_iter().chain(sums::sizes_note(&folder.records));
        sums.into_iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
        writeln!(out, "\n{}", page.display())?;
        singles.into_iter().try_for_each(|single| single.write(&folder.records))?;
        files.iter().try_for_each(|file| writeln!(out, "{}", file.display()))?;
        match (&outcome.unexpected[..], &outcome.failed[..]) {
            ([], []) => Ok(()),
            (ids, []) => Err(CliError::Run(format!(
                "{}: a row there is not as it is known to be, or a result was wrong; see the page",
                ids.join(", ")
            ))),
            (_, ids) => Err(CliError::Run(format!("{} could not be made", ids.join(", ")))),
        }
    }
}

impl ReproduceCommand {
    /// Makes the exhibits that the folder does not have, and prints a line for each one.
    fn make(
        &self,
        selected: &[SelectedExhibit],
        lab: &Lab,
        settings: &ReproduceSettings,
        folder: &mut ReportFolder,
        out: &mut dyn Write,
    ) -> Result<MadeExhibits, CliError> {
        let to_do = selected.iter().filter(|(_, exhibit)| !self.is_made(folder, exhibit.id, settings));
        let cases = to_do.map(|(_, exhibit)| exhibit.case_count(lab)).sum();
        let bar = ProgressDisplay::with_template(
            cases,
            "{bar:24} {pos} of {len} cases, {elapsed}, {eta} left, now {wide_msg}",
        );
        interrupt::set_written_item("exhibit", "; the same command goes on from there");
        let mut outcome = MadeExhibits::default();
        let width = selected.iter().map(|(_, exhibit)| exhibit.id.len()).max().unwrap_or(0);
        for (paper, exhibit) in selected {
            if !self.is_made(folder, exhibit.id, settings) {
                let begin = Instant::now();
                bar.set_current(exhibit.id);
                let lab = Lab { progress: &|| bar.finish_one(), ..lab.with_empty_summary() };
                match exhibit.make(&lab) {
                    Ok(finding) => {
                        let took = begin.elapsed().as_secs_f64();
                        folder.write(ExhibitRecord::new(paper, exhibit, settings, took, finding))?;
                    }
                    // An exhibit that this computer cannot make does not stop the others.
                    Err(failure) => {
                        bar.suspend(|| CliError::Run(format!("{}: {failure}", exhibit.id)).warn());
                        outcome.failed.push(exhibit.id);
                        continue;
                    }
                }
            }
            let record = folder.record(exhibit.id).expect("it was made");
            if !record.finding.is_as_expected() {
                outcome.unexpected.push(exhibit.id);
            }
            bar.suspend(|| write_line(out, record, width))?;
        }
        Ok(outcome)
    }

    /// Returns the folder, and the single files.
    fn outputs(&self) -> Result<(&Path, Vec<&Path>), CliError> {
        let (files, folders): (Vec<&Path>, Vec<&Path>) = self
            .output
            .iter()
            .map(PathBuf::as_path)
            .partition(|path| is_stdout(path) || path.extension().is_some() && !path.is_dir());
        match folders[..] {
            [] => Ok((Path::new("reproduced"), files)),
            [folder] => Ok((folder, files)),
            _ => Err(CliError::request("-o takes one folder; give it once, beside FILE.html and FILE.md")),
        }
    }

    /// Returns whether the folder has this exhibit already, made with the same settings.
    fn is_made(&self, folder: &ReportFolder, id: &str, settings: &ReproduceSettings) -> bool {
        let made = folder.record(id).filter(|record| record.asked == *settings);
        made.is_some_and(|_| !self.force || folder.new.contains(id))
    }
}

/// Returns a parser for the id of an exhibit, or a wildcard pattern.
fn exhibit() -> impl TypedValueParser<Value = String> {
    let names = exhibits().map(|(paper, exhibit)| (exhibit.id, format!("{}: {}", paper.name, exhibit.title)));
    completed(StringValueParser::new(), names)
}

/// Writes a line on the outcome of an exhibit.
fn write_line(out: &mut dyn Write, record: &ExhibitRecord, width: usize) -> Result<(), CliError> {
    let counts = Verdict::ALL.map(|(mark, name, _)| (record.finding.count(mark), name));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    writeln!(out, "{:width$}  {}, {}: {counts}", record.id, record.place, record.title)?;
    Ok(out.flush()?)
}
