//! A list of programs that are checked in one call, and the threads that check them.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, Command, FromArgMatches};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::entry::Entry;
use super::line_file::{self, lines};
use super::program::Streams;
use super::suppress::Suppressions;
use super::verdict::Verdict;
use super::{CheckMpiCommand, USUAL_RUNS};
use crate::ranks::StartOptions;
use loggp_command::error::CliError;
use loggp_command::host::interrupt;
use loggp_command::tell::progress::ProgressDisplay;

/// The words of a line.
#[derive(Args)]
struct Line {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
    #[command(flatten)]
    start: StartOptions,
}

/// Reads a list of programs: each line is as it stands behind `loggp check`.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, CliError> {
    line_file::read("--programs", path, |text| match parse(text)? {
        entries if entries.is_empty() => {
            Err("it names no program; write one a line, such as -n 3 ./app".into())
        }
        entries => Ok(entries),
    })
}

fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    for (line, text) in lines(text) {
        let say =
            |why: &str| format!("line {line}: {why}; write it as behind `loggp check`, such as -n 3 ./app");
        let words = split(text).ok_or_else(|| say("a quotation mark is not closed"))?;
        let definition =
            Line::augment_args(Command::new("line").no_binary_name(true).disable_help_flag(true));
        let parsed = definition.try_get_matches_from(words).and_then(|words| Line::from_arg_matches(&words));
        let Line { words, start } =
            parsed.map_err(|why| say(why.to_string().lines().next().unwrap_or_default()))?;
        entries.push(Entry { start, words });
    }
    Ok(entries)
}

/// Splits a line into words, of which those with spaces stand in quotation marks. Returns `None` if one is not closed.
fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut open) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match open {
            Some(mark) if c == mark => open = None,
            None if c == '"' || c == '\'' => {
                open = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    open.is_none().then_some(words)
}

impl CheckMpiCommand {
    /// Checks several programs, as many at once as there are cores. The verdicts are in the order of the list.
    pub(super) fn check_all(&self, entries: &[Entry], suppressions: &Suppressions) -> Vec<Verdict> {
        let cores = cores();
        let progress = ProgressDisplay::for_runs(entries.len()).with_time();
        progress.set_current("programs");
        let next = AtomicUsize::new(0);
        let verdicts: Vec<Mutex<Option<Verdict>>> = entries.iter().map(|_| Mutex::default()).collect();
        let check = self.orders.silent_check(USUAL_RUNS, 1);
        let work = |core: usize| {
            // Ranks compute where the thread is that runs them.
            let mut own = CpuSet::new();
            own.set(core);
            let _: Result<_, _> = sched_setaffinity(None, &own);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(entry) = entries.get(index).filter(|_| !interrupt::is_stopped()) else { return };
                let streams = Streams::new(true, false);
                let verdict = match streams {
                    Ok(streams) => self.judge(entry, streams, suppressions, &check),
                    Err(why) => Verdict::unchecked(entry, why),
                };
                *verdicts[index].lock().expect("nobody panics with it") = Some(verdict);
                progress.finish_one();
            }
        };
        std::thread::scope(|scope| {
            for core in cores.into_iter().take(entries.len()) {
                scope.spawn(move || work(core));
            }
        });
        let verdicts =
            verdicts.into_iter().map(|verdict| verdict.into_inner().expect("nobody panics with it"));
        verdicts.flatten().collect() // those that a signal has left out are not there
    }
}

/// Returns the cores on which this process may run.
fn cores() -> Vec<usize> {
    let may = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| may.is_set(*core)).collect();
    if cores.is_empty() { vec![0] } else { cores }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_behind_the_command() {
        let entries = parse("# all\n\n-n 3 ./app 'a b' -n 7\n-- mpirun -n 2 ./b\n").unwrap();
        assert_eq!(
            entries.iter().map(Entry::text).collect::<Vec<_>>(),
            ["-n 3 ./app 'a b' -n 7", "-- mpirun -n 2 ./b"]
        );
        assert_eq!(entries[0].words, ["./app", "a b", "-n", "7"]);
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        let why = |text: &str| parse(text).err().unwrap_or_default();
        assert!(why("-n 3 './app").starts_with("line 1: a quotation mark is not closed; "));
        assert!(why("\n-n none ./app").starts_with("line 2: "));
        assert!(why("-n 3").starts_with("line 1: "));
    }
}
