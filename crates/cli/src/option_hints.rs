//! Hints for unknown options: those that had another name once, and those that only some programs have.

use loggp_programs::{PROGRAMS, Program};

/// The old names, and a hint for each.
const RENAMED: &[(&str, &str)] = &[
    ("--all", "leave it out of reproduce, which makes all unless told; man takes -o FOLDER"),
    ("--anew", "it is called --force now"),
    ("--keys", "it is called --key-bits now"),
    ("--late", "it is called --receiver-delay now"),
    ("--markdown", "give -o FILE.md"),
    ("--out", "give -o FILE"),
    ("--model", "it is called --find now, of calibrate"),
    ("--piece", "it is called --chunk now"),
    ("--plot", "give -o FILE.svg"),
    ("--replay", "give the pattern to `loggp replay`"),
    ("--to", "give -o FOLDER"),
    ("--unit", "a pattern computes nothing; leave it out"),
    ("--w", "it is called --imbalance now"),
];

/// Returns a sentence on an unknown option, or `None` if there is nothing to say.
pub fn hint(option: &str) -> Option<String> {
    replacement(option).or_else(|| owners(option))
}

/// Returns a sentence on the replacement of an option, or `None` if it was not renamed.
fn replacement(option: &str) -> Option<String> {
    let (name, hint) = RENAMED.iter().find(|(name, _)| *name == option)?;
    Some(format!("there is no {name}; {hint}"))
}

/// Returns a sentence that names the programs that have this option, or `None` if there are none.
fn owners(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let has = |program: &&&Program| program.option(name).is_some();
    let owners: Vec<&str> = PROGRAMS.iter().filter(has).map(|program| program.name).collect();
    (!owners.is_empty()).then(|| format!("{option} is for {}; leave it out", owners.join(" and ")))
}
