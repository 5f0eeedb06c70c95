//! A list of faults that a check leaves out, by kind and place.

use std::path::Path;

use loggp_emulate::{Fault, FaultKind};
use loggp_schedule::program::Place;

use super::line_file::{self, lines};
use loggp_command::error::CliError;

/// A list of faults that are left out.
#[derive(Default)]
pub(super) struct Suppressions {
    file: String,
    rules: Vec<Rule>,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    line: usize,
    /// `None` if it is any.
    kind: Option<FaultKind>,
    /// A function, a file, a file and a line, all of them as a report shows them, or `*`.
    place: String,
}

impl Suppressions {
    /// Reads a list: a line has a kind, a colon and a place.
    pub(super) fn read(path: &Path) -> Result<Suppressions, CliError> {
        let rules = line_file::read("--suppress", path, parse)?;
        Ok(Suppressions { file: path.display().to_string(), rules })
    }

    /// Parts faults from those that are left out, each of which is with the line that says so, such as `leaks.txt:3`.
    pub(super) fn part(&self, faults: impl IntoIterator<Item = Fault>) -> (Vec<Fault>, Vec<(Fault, String)>) {
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for fault in faults {
            match self.rule_for(&fault) {
                Some(rule) => left_out.push((fault, rule)),
                None => kept.push(fault),
            }
        }
        (kept, left_out)
    }

    fn rule_for(&self, fault: &Fault) -> Option<String> {
        let rule = self.rules.iter().find(|rule| rule.covers(fault))?;
        Some(format!("{}:{}", self.file, rule.line))
    }
}

fn parse(text: &str) -> Result<Vec<Rule>, String> {
    lines(text)
        .map(|(line, text)| {
            let (kind, place) = text.split_once(':').ok_or_else(|| {
                format!(
                    "line {line} has no colon; write a kind and a place, such as resource leak: main.c:12"
                )
            })?;
            let (kind, place) = (kind.trim(), place.trim());
            if place.is_empty() {
                return Err(format!(
                    "line {line} has no place; write a function, a file, a file and a line, or *"
                ));
            }
            let known = FaultKind::named(kind);
            if known.is_none() && kind != "*" {
                let names: Vec<&str> = FaultKind::all().map(FaultKind::name).collect();
                return Err(format!(
                    "line {line}: there is no kind {kind}; there are {}, and * is any",
                    names.join(", ")
                ));
            }
            Ok(Rule { line, kind: known, place: place.into() })
        })
        .collect()
}

impl Rule {
    fn covers(&self, fault: &Fault) -> bool {
        let is_there = |place: &Place| {
            let is_file = |file: &str| {
                let rest = file.strip_suffix(&*self.place);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            let is_source = |(file, line): &(String, u32)| {
                let name = file.rsplit('/').next().unwrap_or(file);
                let shown = format!("{} ({name}:{line})", place.function);
                is_file(file) || is_file(&format!("{file}:{line}")) || shown == self.place
            };
            // Where no line is known, the function is that of a library, or the library with an address.
            let is_library = place.function.split_once('+').is_some_and(|(library, _)| library == self.place);
            place.function == self.place || is_library || place.source.as_ref().is_some_and(is_source)
        };
        let is_kind = |kind| kind == fault.kind || kind == FaultKind::MessageRace && fault.may_be_race;
        self.kind.is_none_or(is_kind) && (self.place == "*" || fault.places.iter().any(is_there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(function: &str, source: Option<(&str, u32)>) -> Fault {
        let source = source.map(|(file, line)| (file.to_owned(), line));
        let places = vec![Place { function: function.into(), source }];
        Fault { places, ..Fault::new(FaultKind::ResourceLeak, "rank 0 makes a type") }
    }

    #[test]
    fn a_fault_is_left_out_by_kind_and_place() {
        let fault = fault("make", Some(("/home/me/src/types.c", 12)));
        let covers = |line: &str| parse(line).unwrap()[0].covers(&fault);
        for line in [
            "resource leak: make",
            "*: types.c",
            "*: make (types.c:12)",
            "resource leak : src/types.c:12",
            "resource leak: *",
        ] {
            assert!(covers(line), "{line}");
        }
        for line in [
            "crash: make",
            "*: make (types.c:13)",
            "resource leak: ypes.c",
            "resource leak: types.c:1",
            "*: mak",
        ] {
            assert!(!covers(line), "{line}");
        }
    }

    #[test]
    fn a_library_is_a_place() {
        let fault = fault("libboost_mpi.so.1+0x1234", None);
        assert!(parse("*: libboost_mpi.so.1").unwrap()[0].covers(&fault));
    }

    #[test]
    fn a_line_that_means_nothing_is_refused() {
        let why = |text: &str| parse(text).unwrap_err();
        assert!(why("# comment\n\nleak").starts_with("line 3 has no colon"));
        assert!(
            why("leak: main").starts_with("line 1: there is no kind leak; there are invalid parameter, ")
        );
        assert!(why("crash:").starts_with("line 1 has no place"));
    }
}
