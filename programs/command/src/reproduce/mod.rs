//! `loggp reproduce`: makes the papers' figures and tables again, and a page of them.

mod folder;
mod markdown;
mod record;
mod report;
mod selection;
mod work;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::ClockKind;
use loggp_papers::Agreement;

use super::failure::Failure;
use super::interrupt;
use super::known;
use super::options::{self, ClockOptions, Format};
use super::output::{ending, unknown};
use folder::Folder;
use markdown::Markdown;
use record::{Asked, Record};
use selection::Selected;
use work::Work;

/// The arguments.
#[derive(Args)]
#[command(
    after_help = "An interrupted command is given again as it was: what is done already is not done anew."
)]
#[command(mut_arg("clock", |clock| {
    clock.help("The clock of what is to be measured; on the virtual clock nothing is [default: wall]")
}))]
pub struct Reproduce {
    /// What is made: ids, or patterns such as 'loggp-*' [default: everything]
    #[arg(value_name = "ID")]
    #[arg(value_parser = known::exhibit(), hide_possible_values = true)]
    ids: Vec<String>,
    /// List what there is instead: the paper, what it shows, and how long it takes on two cores
    #[arg(long, conflicts_with_all = ["output", "full", "force", "seed", "repeat", "clock", "carrier", "dilation", "cores"])]
    list: bool,
    /// How the list is written
    #[arg(long, value_enum, default_value = "table", requires = "list")]
    format: Format,
    /// The folder of the page and of the files beside it [default: reproduced]; or FILE.md, which gets everything in the
    /// folder as Markdown, with the pictures in a folder beside it. May be given twice, for both
    #[arg(short, long, value_name = "FOLDER|FILE.md")]
    output: Vec<PathBuf>,
    /// Take the papers' own sizes, where the usual ones are smaller
    #[arg(long)]
    full: bool,
    /// Make anew what is there already
    #[arg(long)]
    force: bool,
    /// Makes the data
    #[arg(long, value_name = "N", value_parser = options::seed, allow_negative_numbers = true)]
    #[arg(default_value = "1")]
    seed: u64,
    /// Repeat what is measured so many times, and report the median, the least and the most
    #[arg(long, value_name = "N", value_parser = options::repeat, allow_negative_numbers = true)]
    #[arg(default_value = "3")]
    repeat: usize,
    /// On which clock what is to be measured runs.
    #[command(flatten)]
    clock: ClockOptions,
}

impl Reproduce {
    /// Makes what is asked for, a line each, and the page.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let selected = selection::select(&self.ids)?;
        if self.list {
            return selection::list(out, selected, self.format);
        }
        let emulation = self.clock.emulation(ClockKind::Wall)?;
        let asked = Asked::of(self.full, self.seed, self.repeat, &emulation);
        let (to, markdown) = self.outputs()?;
        let markdown = markdown.map(Markdown::at).transpose()?;
        let mut folder = Folder::open(to)?;
        let mut work = Work::of(&selected, self.full, |exhibit| !self.is_made(&folder, exhibit.id, &asked));
        interrupt::set_writes("exhibit", "; the same command goes on from there");
        let (mut unexplained, mut failed) = (Vec::new(), Vec::new());
        let width = selected.iter().map(|Selected { exhibit, .. }| exhibit.id.len()).max().unwrap_or(0);
        for Selected { paper, exhibit } in &selected {
            if !self.is_made(&folder, exhibit.id, &asked) {
                match work.make(exhibit, &asked, &emulation) {
                    Ok((finding, took)) => {
                        folder.write(Record::new(paper, exhibit, &asked, took, finding))?;
                    }
                    // What this computer cannot do keeps nobody from the rest.
                    Err(failure) => {
                        work.aside(|| failure.warn());
                        failed.push(exhibit.id);
                        continue;
                    }
                }
            }
            let record = folder.record(exhibit.id).expect("it was made");
            if !record.finding.is_explained() {
                unexplained.push(exhibit.id);
            }
            work.aside(|| line(out, record, width))?;
        }
        drop(work);
        folder.write_page()?;
        writeln!(out, "\n{}", folder.page().display())?;
        if let Some(markdown) = markdown {
            markdown.write(folder.records())?;
        }
        match (&unexplained[..], &failed[..]) {
            ([], []) => Ok(()),
            (ids, []) => Err(Failure::Run(format!(
                "{}: what differs there has no known reason, or a result was wrong; see the page",
                ids.join(", ")
            ))),
            (_, ids) => Err(Failure::Run(format!("{} could not be made", ids.join(", ")))),
        }
    }

    /// The folder, and the file for Markdown.
    fn outputs(&self) -> Result<(&Path, Option<&Path>), Failure> {
        let (files, folders): (Vec<&Path>, Vec<&Path>) = self
            .output
            .iter()
            .map(PathBuf::as_path)
            .partition(|path| path.extension().is_some() && !path.is_dir());
        match (&folders[..], &files[..]) {
            (_, [path, ..]) if ending(path) != "md" => {
                Err(unknown(path, ".md for Markdown, or of a folder in none"))
            }
            ([] | [_], [] | [_]) => {
                Ok((folders.first().copied().unwrap_or(Path::new("reproduced")), files.first().copied()))
            }
            _ => Err(Failure::request("-o takes one folder and one FILE.md; give each once")),
        }
    }

    /// Whether the folder has this already, as it is asked for.
    fn is_made(&self, folder: &Folder, id: &str, asked: &Asked) -> bool {
        let made = folder.record(id).filter(|record| record.asked == *asked);
        made.is_some_and(|_| !self.force || folder.is_new(id))
    }
}

/// Says in a line what came of an exhibit.
fn line(out: &mut dyn Write, record: &Record, width: usize) -> Result<(), Failure> {
    let counts = [(Agreement::Equal, "equal"), (Agreement::Within, "within"), (Agreement::Differs, "differ")];
    let counts = counts.map(|(agreement, name)| format!("{:>3} {name}", record.finding.count(agreement)));
    writeln!(out, "{:width$}  {}  {}, {}", record.id, counts.join("  "), record.place, record.title)?;
    Ok(out.flush()?)
}
