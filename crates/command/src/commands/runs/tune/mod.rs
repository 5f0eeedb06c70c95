//! `loggp tune`: which algorithm of a program, or of a collective of MPI, is fastest on a machine, and with
//! which options.

mod collective;
mod program;

use std::io::Write;

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use loggp::Time;
use loggp_document::{DocumentBlock, plain};
use loggp_study::relative_error;

use crate::annex::COLLECTIVE;
use crate::ask::arguments::{self, without_options};
use crate::ask::options::{CoreOptions, ReportOptions};
use crate::ask::output::{OutputFiles, Outputs};
use crate::ask::program_args::ProgramArgs;
use crate::error::CliError;
use crate::number::percent;
use crate::tell::words::are_fastest;
use collective::CollectiveArgs;
use program::TuneArgs;

/// Say which algorithm and which options are fastest on a machine, by formula where it is exact, and by model
#[derive(Args)]
#[command(after_help = "Examples:
  loggp tune broadcast --machine cm5 -P 16
  loggp tune collective allreduce --machine myrinet -P 16 --size 64k --format json")]
pub(crate) struct TuneCommand {
    #[command(subcommand)]
    subject: TuneSubject,
}

/// The subject that is tuned.
enum TuneSubject {
    Program(Box<ProgramArgs<TuneArgs>>),
    Collective(Box<CollectiveArgs>),
}

/// The options that are not those of the command that runs the fastest.
#[derive(Args)]
struct TuneOptions {
    /// List each choice of options, and not only the fastest of each algorithm
    #[arg(long, help_heading = "Report")]
    all: bool,
    #[command(flatten)]
    cores: CoreOptions,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    outputs: Outputs,
}

impl TuneCommand {
    /// Lists what was tried from the fastest.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        match &self.subject {
            TuneSubject::Program(args) => program::tune(args, out),
            TuneSubject::Collective(args) => args.tune(out),
        }
    }
}

impl Subcommand for TuneSubject {
    fn augment_subcommands(command: Command) -> Command {
        let collective = CollectiveArgs::augment_args(Command::new(COLLECTIVE));
        ProgramArgs::<TuneArgs>::augment_subcommands(command).subcommand(collective)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        TuneSubject::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

impl FromArgMatches for TuneSubject {
    fn from_arg_matches(matches: &ArgMatches) -> Result<TuneSubject, Error> {
        Ok(match matches.subcommand() {
            Some((COLLECTIVE, matches)) => {
                TuneSubject::Collective(Box::new(CollectiveArgs::from_arg_matches(matches)?))
            }
            _ => TuneSubject::Program(Box::new(ProgramArgs::from_arg_matches(matches)?)),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = TuneSubject::from_arg_matches(matches)?;
        Ok(())
    }
}

impl TuneOptions {
    /// Opens the files of the report.
    fn open(&self) -> Result<OutputFiles, CliError> {
        match self.outputs.has_picture() {
            true => Err(CliError::request(
                "tune draws nothing; `loggp sweep` with --over twice draws who is the fastest where",
            )),
            false => self.outputs.open(),
        }
    }

    /// Returns the part of the time of the fastest by which something takes longer.
    fn slower(time: Time, least: Time) -> f64 {
        relative_error(time, least).unwrap_or(0.0)
    }

    /// Returns a command line that begins so, with the arguments of this command but for these words and
    /// options and those of its own.
    fn command_line(begin: &str, words: &[&str], options: impl Iterator<Item = &'static str>) -> String {
        let own = TuneOptions::augment_args(Command::new("tune"));
        let own = own.args(options.map(|name| Arg::new(name).long(name)));
        let is_unwanted = |word: &str| word == "tune" || words.contains(&word);
        format!("{begin}{}", without_options(arguments::words(), &own, is_unwanted))
    }

    /// Returns who is the fastest among named ones from the fastest, and the command that runs it. There are
    /// `unlisted` more that are not listed. `without` says who was not compared.
    fn notes(named: &[(String, f64)], unlisted: usize, command: &str, without: &str) -> Vec<DocumentBlock> {
        let (equal, rest) = named.split_at(named.iter().take_while(|(_, slower)| *slower == 0.0).count());
        let equal: Vec<&str> = equal.iter().map(|(name, _)| name.as_str()).collect();
        if equal.is_empty() {
            return Vec::new();
        }
        let fastest = are_fastest(&equal);
        let next = rest.first().map_or(String::new(), |(name, slower)| {
            format!("; next comes {name}, which takes {} longer", percent(*slower).trim_start_matches('+'))
        });
        let unlisted = match unlisted {
            0 => String::new(),
            more => format!("; {more} more choices of options are no faster, and --all lists them"),
        };
        let note = DocumentBlock::List(vec![plain(fastest + &next + &unlisted + without)]);
        vec![note, DocumentBlock::Code(vec![format!("  {command}")])]
    }
}
