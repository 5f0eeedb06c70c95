//! What a check says: for people, as JSON or as CSV; and the runs that it keeps.

use std::io::Write;
use std::path::Path;

use loggp::check::Failure;
use loggp::trace::{Caption, Trace};
use loggp_document::printable;
use loggp_emulate::Fault;
use loggp_schedule::program::Place;
use loggp_study::rows::{Columns, Field};

use super::verdict::Verdict;
use super::{Buffering, CheckMpiCommand, Checked, text_of};
use loggp_command::ask::format::Format;
use loggp_command::ask::orders::own_path;
use loggp_command::ask::output::write_trace;
use loggp_command::error::CliError;
use loggp_command::host::draft::Draft;
use loggp_command::number::Unit;
use loggp_command::tell::report::Report;

/// The faults that a check does not look for, and what finds them.
const NOT_LOOKED_FOR: &str = "not looked for: races in memory between threads (ThreadSanitizer finds them), loads from windows, and races in files";

impl CheckMpiCommand {
    /// Writes the traces of the run that failed, and of one that is right if there is one.
    pub(super) fn keep_traces(&self, checked: &mut Checked, path: &Path) -> Result<(), CliError> {
        let Some(failure) = &mut checked.report.failure else { return Ok(()) };
        let caption = |about: &str| {
            Some(Caption { title: checked.name.clone(), about: about.into(), ..Caption::default() })
        };
        failure.trace.caption = caption(text_of(&failure.kind).lines().next().unwrap_or_default());
        let failed = if self.orders.trace.is_some() { path.into() } else { own_path(path, &failure.trace) };
        let mut keep = |path: &Path, trace: &Trace| {
            write_trace(Draft::create(path, "trace")?, path, trace)?;
            checked.traces.push(path.display().to_string());
            Ok::<(), CliError>(())
        };
        keep(&failed, &failure.trace)?;
        if let Some(right) = &mut checked.right {
            right.caption = caption("right: the same in another order");
            let ending = failed.extension().unwrap_or_default().to_string_lossy();
            let name = format!("{}-right.{ending}", failed.with_extension("").display());
            keep(Path::new(&name), right)?;
        }
        Ok(())
    }

    /// Writes what the checks have found.
    pub(super) fn report(&self, out: &mut dyn Write, verdicts: &[Verdict]) -> Result<(), CliError> {
        if self.format == Format::Table {
            let mut is_first = true;
            for verdict in verdicts {
                if !std::mem::take(&mut is_first) {
                    writeln!(out)?;
                }
                match (&verdict.checked, verdicts) {
                    (Ok(checked), _) => self.print(out, checked)?,
                    // The only one is an error of the command.
                    (Err(_), [_]) => (),
                    (Err(_), _) => {
                        let why = verdict.why_unchecked().unwrap_or_default();
                        writeln!(out, "{}: not checked: {}", verdict.start, printable(&why))?;
                    }
                }
            }
            return Ok(out.flush()?);
        }
        let mut report = Report::new(out, self.format, columns());
        let is_shown = |verdict: &&Verdict| verdicts.len() > 1 || verdict.checked.is_ok();
        verdicts.iter().filter(is_shown).try_for_each(|verdict| report.add(verdict))?;
        report.finish("", Unit::US, |_| Vec::new())
    }

    /// Returns a sentence on what the runs of a right program have assumed of the MPI.
    fn text_of_assumed(&self) -> String {
        let runs = if self.synchronize { "in all runs" } else { "in one run" };
        let sends = match self.buffering {
            Buffering::Usual => "in one run sends wait for their receivers",
            Buffering::None => "in all runs but the first, sends wait for their receivers",
            Buffering::Eager => "sends of short messages are taken not to wait for their receivers",
        };
        format!("{runs} collectives wait for all, and {sends}")
    }

    fn print(&self, out: &mut dyn Write, checked: &Checked) -> Result<(), CliError> {
        let Checked { name, start, report, found, left_out, has_choices, assumed, traces, .. } = checked;
        writeln!(out, "{name}: {report}")?;
        checked.notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
        checked.warnings.iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))?;
        if report.has_passed() && !has_choices {
            writeln!(
                out,
                "no call takes a message of anyone or looks for one, so that there are no other orders"
            )?;
        }
        if report.has_passed() {
            writeln!(out, "{}", self.text_of_assumed())?;
        }
        if !found.stderr.is_empty() {
            writeln!(out, "the last lines of its stderr:")?;
            found.stderr.iter().try_for_each(|line| writeln!(out, "  {}", printable(line)))?;
        }
        for (fault, rule) in left_out {
            let fault = fault.to_string();
            writeln!(out, "left out, as {rule} says: {}", fault.lines().next().unwrap_or_default())?;
        }
        writeln!(out, "{NOT_LOOKED_FOR}")?;
        if let Some(failed) = traces.first() {
            let options = [
                (assumed.synchronizes, " --synchronize"),
                (assumed.is_unbuffered, " --buffering none"),
                (self.tries_all_looks(), " --strategy systematic"),
            ];
            let strict = options.into_iter().filter(|(is_set, _)| *is_set).map(|(_, option)| option);
            let strict: String = strict.collect();
            writeln!(
                out,
                "\nthe run is in {failed}; this makes it again:\n  loggp check{strict} --repeat-from {failed} {start}"
            )?;
        }
        if let [failed, right] = &traces[..] {
            let page = Path::new(failed).with_extension("html");
            let page = page.display();
            writeln!(
                out,
                "this shows it above a run that is right:\n  loggp timeline {failed} {right} -o {page} --open"
            )?;
        }
        Ok(())
    }
}

/// The columns of a program.
fn columns<'a>() -> Columns<'a, &'a Verdict> {
    let mut columns = Columns::<&Verdict>::new();
    let name =
        |verdict: &&Verdict| checked(verdict).map_or(verdict.start.clone(), |checked| checked.name.clone());
    let kind = |verdict: &&Verdict| Some(checked(verdict)?.faults().next()?.kind.name());
    columns.add("program", name);
    columns.add("strategy", |verdict| Some(checked(verdict)?.report.strategy.to_string()));
    columns.add("seed", |verdict| Some(checked(verdict)?.report.seed));
    columns.add("runs", |verdict| Some(checked(verdict)?.report.runs));
    columns.add("messages", |verdict| Some(checked(verdict)?.report.messages));
    columns.add("passed", |verdict| match checked(verdict) {
        Some(checked) => Field::Bool(checked.has_passed()),
        None => Field::Null,
    });
    columns.add("fault.run", |verdict| Some(failure(verdict)?.run));
    columns.add("fault.kind", kind);
    columns.add("fault.why", |verdict| checked(verdict)?.why());
    columns.add("fault.trace", |verdict| Some(checked(verdict)?.traces.first()?.clone()));
    columns.add("fault.right", |verdict| Some(checked(verdict)?.traces.get(1)?.clone()));
    columns.add("fault.stderr", stderr_of).json_only();
    columns.add("start", |verdict| verdict.start.clone());
    columns.add("not_checked", |verdict| verdict.why_unchecked());
    let faults =
        |verdict: &&Verdict| checked(verdict).map_or(Field::Absent, |checked| list(checked.faults()));
    columns.add("faults", faults).json_only();
    let warnings =
        |verdict: &&Verdict| checked(verdict).map_or(Field::Absent, |checked| list(&checked.warnings));
    columns.add("warnings", warnings).json_only();
    columns.add("left_out", left_out_of).json_only();
    columns
}

fn checked<'a>(verdict: &&'a Verdict) -> Option<&'a Checked> {
    verdict.checked.as_ref().ok()
}

fn failure<'a>(verdict: &&'a Verdict) -> Option<&'a Failure> {
    checked(verdict)?.report.failure.as_ref()
}

fn list<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> Field {
    fault_columns().objects(&faults.into_iter().collect::<Vec<_>>())
}

/// The columns of a fault.
fn fault_columns<'a>() -> Columns<'a, &'a Fault> {
    let mut columns = Columns::<&Fault>::new();
    columns.add("kind", |fault| fault.kind.name());
    columns.add("sentence", |fault| fault.sentence.clone());
    columns.add("rank", |fault| fault.rank);
    columns.add("places", |fault| place_columns().objects(&fault.places.iter().collect::<Vec<_>>()));
    columns
}

/// The columns of a place.
fn place_columns<'a>() -> Columns<'a, &'a Place> {
    let source = |place: &&Place| place.source.clone();
    let mut columns = Columns::<&Place>::new();
    columns.add("function", |place| place.function.clone());
    columns.add("file", move |place| source(place).map(|(file, _)| file));
    columns.add("line", move |place| source(place).map(|(_, line)| line as usize));
    columns
}

fn stderr_of(verdict: &&Verdict) -> Field {
    match checked(verdict).map(|checked| &checked.found.stderr[..]) {
        None | Some([]) => Field::Absent,
        Some(lines) => Field::Text(lines.join("\n")),
    }
}

/// Returns the faults that were left out, each with the line that says so.
fn left_out_of(verdict: &&Verdict) -> Field {
    let mut columns = Columns::<&(Fault, String)>::new();
    columns.add("kind", |(fault, _)| fault.kind.name());
    columns.add("sentence", |(fault, _)| fault.sentence.clone());
    columns.add("by", |(_, rule)| rule.clone());
    match checked(verdict).map(|checked| &checked.left_out[..]) {
        None | Some([]) => Field::Absent,
        Some(all) => columns.objects(&all.iter().collect::<Vec<_>>()),
    }
}
