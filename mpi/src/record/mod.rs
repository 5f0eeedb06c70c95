//! `loggp record`: runs an MPI program and writes down what it calls.

pub(crate) mod attend;
pub(crate) mod library;
mod list;
pub(crate) mod start;

use std::ffi::OsString;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Args;
use loggp_mpi_trace::recording::RecordingError;
use loggp_mpi_trace::recording::merge::RankFiles;
use tempfile::TempDir;

use attend::End;
use loggp_command::annex::Execute;
use loggp_command::error::{CliError, system_reason};
use loggp_command::host::draft::{Draft, is_stdout};
use loggp_command::host::interrupt;
use loggp_command::number::count;
use start::Launch;

/// Run an MPI program and record its calls, which other subcommands replay and analyze
#[derive(Args)]
#[command(override_usage = "loggp record -o FILE -- COMMAND...
       loggp record --merge -o FILE RANK-FILES...
       loggp record --list FILE
       loggp record --build [--mpicc MPICC] [-o FOLDER]")]
#[command(after_help = "Examples:
  loggp record --list ring.mpi
  loggp record -o run.mpi -- mpirun -n 4 ./app")]
pub(crate) struct RecordCommand {
    /// The command that starts the program, such as mpirun -n 4 ./app; with --merge or --list, files
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
    /// Write the recording to a file, such as run.mpi; with --build, the library to a folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Make one file of those that the recorder wrote for each rank
    #[arg(long, conflicts_with_all = ["list", "build"])]
    merge: bool,
    /// Print the calls of a recording, a line each
    #[arg(long, conflicts_with = "build")]
    list: bool,
    /// Build the library that records, for the MPI of --mpicc, beside this command
    #[arg(long)]
    build: bool,
    /// The compiler of the MPI for which the library is built
    #[arg(long, value_name = "MPICC", default_value = "mpicc", requires = "build")]
    mpicc: OsString,
}

impl Execute for RecordCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.build {
            return match self.words.is_empty() {
                true => library::build(&self.mpicc, self.output.as_deref(), out),
                false => Err(CliError::request("--build takes no command; give it by itself")),
            };
        }
        if self.list {
            return match &self.words[..] {
                [file] if self.output.is_none() => list::print(Path::new(file), out),
                _ => Err(CliError::request(
                    "--list takes one recording, and prints it; give no more than that",
                )),
            };
        }
        let Some(path) = &self.output else {
            return Err(CliError::request("where is it to be written? give -o FILE, such as -o run.mpi"));
        };
        if self.words.is_empty() {
            let sentence = match self.merge {
                true => "which files? give those of all ranks, such as loggp-mpi.*",
                false => "what is to be recorded? give a command, such as -- mpirun -n 4 ./app",
            };
            return Err(CliError::request(sentence));
        }
        if is_stdout(path) {
            return Err(CliError::request("stdout is the program's own; give -o FILE, such as -o run.mpi"));
        }
        let draft = Draft::create(path, "output")?;
        if self.merge {
            let files: Vec<PathBuf> = self.words.iter().map(PathBuf::from).collect();
            return print_summary(&merge(&files, draft)?, path, out);
        }
        self.record(draft, path, out)
    }
}

impl RecordCommand {
    /// Runs the program and merges what its ranks wrote.
    fn record(&self, draft: Draft, path: &Path, out: &mut dyn Write) -> Result<(), CliError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let refuse = |why: std::io::Error| {
            CliError::Request(format!("{} cannot be written: {}", parent.display(), system_reason(&why)))
        };
        // The ranks on all hosts write there, so that it is where the result is to be.
        let folder = tempfile::Builder::new().prefix(".loggp-ranks-").tempdir_in(parent).map_err(refuse)?;
        let prefix = folder.path().canonicalize().map_err(refuse)?.join("rank");
        let variables = [("LOGGP_RECORD", prefix.as_os_str().to_owned())];
        let end = Launch::prepare(&self.words)?.run(variables, &[], Stdio::inherit())?;
        let is_unseen = prefix.with_extension("unseen").exists();
        let mut files: Vec<PathBuf> = Vec::new();
        for file in fs::read_dir(folder.path()).map_err(refuse)? {
            files.push(file.map_err(refuse)?.path());
        }
        files.retain(|file| file.extension().is_some_and(|rank| rank != "unseen"));
        let merged = match files.is_empty() {
            true if is_unseen => Err(CliError::request(UNSEEN)),
            true if matches!(end, End::Interrupted { .. }) => {
                Err(CliError::request("no rank had come through MPI_Init"))
            }
            true => Err(CliError::request(NO_RANK)),
            false => merge_or_keep(&files, folder, draft).and_then(|merged| {
                print_summary(&merged, path, out)?;
                warn_of_shared_cores(&merged, out)
            }),
        };
        let (status, ended) = describe(end, &self.words[0].to_string_lossy());
        if status == 0 {
            return merged;
        }
        let recorded = match merged {
            Ok(()) => format!("what it called before is in {}", path.display()),
            Err(error) => error.into_sentence().unwrap_or_default(),
        };
        out.flush()?;
        Err(CliError::Program(status, format!("{ended}; {recorded}")))
    }
}

const NO_RANK: &str = "no rank was recorded: either the program does not call MPI_Init, or it is linked \
                       statically, or with another MPI than the recorder, or asks dlsym for MPI's functions";

const UNSEEN: &str = "no rank was recorded: the program asks dlsym for MPI's functions, which the recorder \
                      does not see; a program is recorded that is linked with its MPI";

/// Returns the exit status for how a program ended, and a sentence on it.
pub(crate) fn describe(end: End, program: &str) -> (u8, String) {
    let (status, sentence) = match end {
        End::Exited(status) => {
            let status = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
            (status, format!("{program} ended with exit status {status}"))
        }
        End::Interrupted { signal, is_killed } => {
            let how = if is_killed { "did not end, and was killed" } else { "was ended too" };
            (128 + signal, format!("{}; {program} {how}", interrupt::name_signal(signal)))
        }
    };
    (u8::try_from(status).unwrap_or(1), sentence)
}

/// Makes one file of those of the ranks. If it cannot be written, they are kept, and the error says where.
fn merge_or_keep(files: &[PathBuf], mut folder: TempDir, draft: Draft) -> Result<RankFiles, CliError> {
    folder.disable_cleanup(true);
    let shown = folder.path().display();
    let command = format!("loggp record --merge -o FILE {shown}/*");
    let kept = format!("what the ranks wrote is in {shown}: `{command}` makes one file of it");
    interrupt::set_kept(Some(kept.clone()));
    let merged = merge(files, draft);
    interrupt::set_kept(None);
    if let Err(CliError::Run(why)) = merged {
        return Err(CliError::Run(format!("{why}; {kept}")));
    }
    folder.disable_cleanup(false);
    merged
}

/// Makes one file of those of the ranks.
fn merge(files: &[PathBuf], draft: Draft) -> Result<RankFiles, CliError> {
    let files = RankFiles::read(files).map_err(refuse)?;
    draft.write(|file| {
        files.write(&mut BufWriter::new(file))?;
        // A full disk may be told only here, and after this the ranks' files are removed.
        file.sync_all()
    })?;
    Ok(files)
}

/// Prints what is in a file that was made of those of the ranks.
fn print_summary(files: &RankFiles, path: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    let (summary, facts) = (files.summary(), files.facts());
    let bytes = fs::metadata(path).map_or(0, |file| file.len());
    writeln!(
        out,
        "{}: {} of {} with {}",
        path.display(),
        count(summary.ranks, "rank"),
        facts.program,
        facts.library
    )?;
    writeln!(
        out,
        "{} in {:.6} s, {} of {} between two ranks, recorded in {}",
        count(summary.calls as usize, "call"),
        summary.duration_ns as f64 / 1e9,
        count(summary.messages as usize, "message"),
        count(summary.bytes as usize, "byte"),
        count(bytes as usize, "byte"),
    )?;
    if !summary.unmodelled.is_empty() {
        let names = summary.unmodelled.iter().map(|(name, count)| format!("{name} ({count})"));
        writeln!(out, "not modelled, and taken for computing: {}", names.collect::<Vec<_>>().join(", "))?;
    }
    if !summary.unfinished.is_empty() {
        let ranks = join(&summary.unfinished);
        writeln!(out, "without MPI_Finalize, recorded up to where it ended: rank {ranks}")?;
    }
    let missing = summary.stopped.iter().map(|(why, ranks)| {
        let ranks = join(ranks);
        let path = path.display();
        format!("what rank {ranks} called later is missing in {path}, since it could not be written: {why}")
    });
    match missing.collect::<Vec<_>>() {
        missing if missing.is_empty() => Ok(()),
        missing => Err(CliError::Run(missing.join("; "))),
    }
}

/// Says so if this host had more ranks than it has cores: they waited for each other, which a replay takes for computing.
fn warn_of_shared_cores(files: &RankFiles, out: &mut dyn Write) -> Result<(), CliError> {
    let cores = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let ranks = files.facts().hosts.iter().filter(|host| *host == own.trim()).count();
    if ranks > cores {
        writeln!(
            out,
            "{} on {}: they waited for each other's computing, which a replay takes for their own; record with as many \
             ranks as cores, or emulate",
            count(ranks, "rank"),
            count(cores, "core"),
        )?;
    }
    Ok(())
}

fn join(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn refuse(error: RecordingError) -> CliError {
    CliError::Request(error.to_string())
}
