//! What came of the programs that were checked, as the exit status and in the files that other tools read.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::entry::Entry;
use super::junit::{self, TestCase, TestOutcome};
use super::sarif::{self, FoundFault, Level};
use super::{Checked, text_of};
use loggp_command::error::CliError;
use loggp_command::host::draft::Draft;
use loggp_command::host::interrupt;
use loggp_command::number::count;
use loggp_emulate::FaultKind;

/// What came of a program.
pub(super) struct Verdict {
    /// How it is started, as it stands on the command line.
    pub(super) start: String,
    pub(super) took: Duration,
    /// The check, or why there is none.
    pub(super) checked: Result<Checked, CliError>,
}

impl Verdict {
    pub(super) fn unchecked(entry: &Entry, why: CliError) -> Verdict {
        Verdict { start: entry.text(), took: Duration::ZERO, checked: Err(why) }
    }

    fn outcome(&self) -> TestOutcome {
        match &self.checked {
            Ok(checked) if checked.has_passed() => TestOutcome::Right,
            Ok(checked) => {
                let kind = checked.faults().next().map_or("failed run", |fault| fault.kind.name());
                let failure = checked.report.failure.as_ref().map(|failure| text_of(&failure.kind));
                let all = failure.into_iter().chain(checked.notes.iter().map(ToString::to_string));
                TestOutcome::Wrong(kind.into(), all.collect::<Vec<_>>().join("\n"))
            }
            Err(_) => TestOutcome::Unchecked(self.why_unchecked().unwrap_or_default()),
        }
    }

    /// Returns why the program could not be checked, if so.
    pub(super) fn why_unchecked(&self) -> Option<String> {
        match &self.checked {
            Err(CliError::Request(why) | CliError::Run(why) | CliError::Program(_, why)) => Some(why.clone()),
            Err(_) => Some("it could not be checked".into()),
            Ok(_) => None,
        }
    }
}

/// The files that other tools read.
pub(super) struct ReviewFiles {
    sarif: Option<Draft>,
    junit: Option<Draft>,
}

impl ReviewFiles {
    /// Opens the files, before the runs.
    pub(super) fn create(sarif: Option<&Path>, junit: Option<&Path>) -> Result<ReviewFiles, CliError> {
        let sarif = sarif.map(|path| Draft::create(path, "sarif")).transpose()?;
        let junit = junit.map(|path| Draft::create(path, "junit")).transpose()?;
        Ok(ReviewFiles { sarif, junit })
    }

    /// Writes them.
    pub(super) fn write(self, verdicts: &[Verdict]) -> Result<(), CliError> {
        let checked = || verdicts.iter().filter_map(|verdict| verdict.checked.as_ref().ok());
        if let Some(draft) = self.sarif {
            let found = checked().flat_map(|checked| {
                let found = checked.faults().map(|fault| (fault, Level::Error));
                let warnings = checked.warnings.iter().map(|warning| (warning, Level::Warning));
                let left_out = checked.left_out.iter().map(|(fault, _)| (fault, Level::Suppressed));
                let program = &*checked.name;
                let all = found.chain(warnings).chain(left_out);
                all.map(move |(fault, level)| FoundFault { program, fault, level })
            });
            let root = std::env::current_dir().unwrap_or_default();
            let text = format!("{:#}\n", sarif::write(&found.collect::<Vec<_>>(), &root));
            draft.write(|mut file| file.write_all(text.as_bytes()))?;
        }
        if let Some(draft) = self.junit {
            let case = |verdict: &'_ Verdict| -> (TestOutcome, Vec<String>) {
                let stderr = verdict.checked.as_ref().map(|checked| checked.found.stderr.clone());
                (verdict.outcome(), stderr.unwrap_or_default())
            };
            let outcomes: Vec<_> = verdicts.iter().map(case).collect();
            let cases = verdicts.iter().zip(outcomes.iter()).map(|(verdict, (outcome, stderr))| TestCase {
                name: &verdict.start,
                took: verdict.took,
                outcome,
                stderr,
            });
            let text = junit::write(&cases.collect::<Vec<_>>());
            draft.write(|mut file| file.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// Returns how the command ends: with the error of the only program, or with how many are wrong.
pub(super) fn end(verdicts: Vec<Verdict>, seed: u64) -> Result<(), CliError> {
    let all = verdicts.len();
    let checked = || verdicts.iter().filter_map(|verdict| verdict.checked.as_ref().ok());
    let runs = checked().map(|checked| checked.report.runs).sum();
    if let Some(stopped) = interrupt::stopped(&format!("{} by seed {seed}", count(runs, "run"))) {
        return Err(stopped);
    }
    let wrong = checked().filter(|checked| !checked.has_passed()).count();
    let unchecked = all - checked().count();
    let notes: Vec<FaultKind> = checked().flat_map(|checked| &checked.notes).map(|note| note.kind).collect();
    let first = checked().find_map(|checked| checked.report.failure.as_ref()).map(|failure| failure.run);
    if all == 1 {
        let only = verdicts.into_iter().next().map(|verdict| verdict.checked);
        let are_leaks = notes.iter().all(|kind| *kind == FaultKind::ResourceLeak);
        let what = if are_leaks { "leak" } else { "fault" };
        return match (only, first, notes.len()) {
            (Some(Err(why)), ..) => Err(why),
            (_, Some(run), _) => Err(CliError::Run(format!("run {run} of the check failed"))),
            (_, None, 0) => Ok(()),
            (_, None, notes) => Err(CliError::Run(format!("{} found", count(notes, what)))),
        };
    }
    let programs = count(all, "program");
    match (wrong, unchecked) {
        (0, 0) => Ok(()),
        (0, unchecked) => Err(CliError::Request(format!("{unchecked} of {programs} could not be checked"))),
        (wrong, 0) => Err(CliError::Run(format!("{wrong} of {programs} failed"))),
        (wrong, unchecked) => {
            Err(CliError::Run(format!("{wrong} of {programs} failed, and {unchecked} could not be checked")))
        }
    }
}
