//! Command lines in documents and of exhibits are valid, and so is every option.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::error::ErrorKind;

use crate::documents::documents;

/// Returns the definition of the command with all annexes.
fn whole_command() -> clap::Command {
    drop(loggp_command::annex::add(loggp_cli::ANNEXES));
    loggp_command::definition()
}

#[test]
fn document_commands_are_valid() {
    let documents = documents();
    for document in &documents {
        document.commands().for_each(|shown| assert_valid(&document.name, &shown.line));
    }
    assert!(documents.iter().flat_map(|document| document.commands()).count() > 80);
}

/// Each option in a document's tables belongs to a subcommand that the document shows.
#[test]
fn options_in_document_tables_exist() {
    let command = whole_command();
    // A check of an MPI program has options of its own.
    let name = |line: &str| match line.split_whitespace().nth(1)? {
        "check" if line.contains(" -n ") => Some("check-mpi".to_owned()),
        name => Some(name.to_owned()),
    };
    let mut checked = 0;
    for document in documents() {
        let shown = document.commands().filter_map(|shown| name(&shown.line));
        let mut known = BTreeSet::new();
        for name in shown.collect::<BTreeSet<_>>() {
            options(command.find_subcommand(&name).expect("it can be given"), &mut known);
        }
        if known.is_empty() {
            options(&command, &mut known);
        }
        for option in &document.listed_options {
            assert!(known.contains(&option[2..]), "{}: {option} is no option: {known:?}", document.name);
            checked += 1;
        }
    }
    assert!(checked > 12, "{checked}");
}

/// Of every option of every command that is given twice the last counts.
#[test]
fn of_an_option_given_twice_the_last_counts() {
    const VALUES: [&str; 9] = ["1", "1us", "x.json", "L=1", "1/2", "1ms:1us", "L", "2x2", "256"];
    let full = whole_command();
    let mut checked = 0;
    for name in full.get_subcommands().map(clap::Command::get_name) {
        let mut command = full.find_subcommand(name).expect("it is there").clone();
        command.build();
        let program = command.find_subcommand("lu").cloned();
        let words = [Some("loggp"), Some(name), program.as_ref().map(|_| "lu")];
        for option in program.as_ref().unwrap_or(&command).get_arguments() {
            let Some(long) = option.get_long().filter(|long| *long != "help") else { continue };
            let known = option.get_possible_values();
            let known = known.iter().map(|value| value.get_name().to_string());
            let values = known.chain(VALUES.map(String::from)).map(|value| format!("--{long}={value}"));
            let given: Vec<String> = match option.get_action().takes_values() {
                true => values.collect(),
                false => vec![format!("--{long}")],
            };
            let read = given.iter().map(|given| {
                let line = words.iter().flatten().copied().chain([given.as_str(); 2]);
                full.clone().try_get_matches_from(line).err()
            });
            let is_value = |kind| matches!(kind, ErrorKind::InvalidValue | ErrorKind::ValueValidation);
            for error in read.filter(|read| !read.as_ref().is_some_and(|why| is_value(why.kind()))).take(1) {
                let said = error.map_or(String::new(), |why| why.to_string());
                assert!(!said.contains("multiple times"), "{name}: {said}");
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

/// The whole command has the subcommands and options of `options.txt`, which changes on purpose only: `LOGGP_WRITE_OPTIONS=1` writes it.
#[test]
fn the_command_has_the_options_of_its_list() {
    let mut command = whole_command();
    command.build();
    let mut listed = String::new();
    list_options(&command, "", &mut listed);
    if std::env::var_os("LOGGP_WRITE_OPTIONS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/whole/options.txt"), &listed)
            .unwrap();
    }
    let known: BTreeSet<&str> = include_str!("options.txt").lines().collect();
    let found: BTreeSet<&str> = listed.lines().collect();
    let differing: Vec<_> = known.symmetric_difference(&found).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Adds a line for a command and each of its subcommands: its name, and all its options.
fn list_options(command: &clap::Command, name: &str, listed: &mut String) {
    let mut options: Vec<String> = command
        .get_arguments()
        .map(|option| match option.get_long() {
            Some(long) => format!("--{long}"),
            None => option.get_id().to_string(),
        })
        .collect();
    options.sort();
    *listed += &format!("loggp{name}: {}\n", options.join(" "));
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        list_options(subcommand, &format!("{name} {}", subcommand.get_name()), listed);
    }
}

/// Collects the names of a command's options, and those of its subcommands.
fn options(command: &clap::Command, known: &mut BTreeSet<String>) {
    let mut command = command.clone();
    command.build();
    known.extend(command.get_arguments().filter_map(|option| option.get_long()).map(String::from));
    command.get_subcommands().for_each(|command| options(command, known));
}

/// Asserts that a command line is valid.
fn assert_valid(place: &str, line: &str) {
    let words: Vec<OsString> = line.split_whitespace().map(|word| word.trim_matches('\'').into()).collect();
    let read = loggp_command::read(&words, &whole_command());
    if let Err(error) = read {
        assert!(!error.use_stderr(), "{place}: {line}: {error}");
    }
}

#[test]
fn exhibit_commands_are_valid() {
    let lab = loggp_papers::Lab::new(&|| ());
    for (_, exhibit) in loggp_papers::exhibits() {
        exhibit.commands(&lab).iter().for_each(|line| assert_valid(exhibit.id, line));
    }
}
