//! Programs and algorithms by their names.

use clap::error::ErrorKind;
use loggp_goal::patterns::CollectiveKind;
use loggp_model::text::{escaped, nearest_name};
use loggp_programs::{Algorithm, Program};

use super::arguments::command_name;
use crate::annex::{COLLECTIVE, programs};
use crate::error::CliError;

/// Returns whether the command has something of this name where programs are.
pub fn is_program(name: &str) -> bool {
    name == COLLECTIVE || programs().iter().any(|program| program.name == name)
}

/// Returns the program with this name.
pub fn find_program(name: &str) -> Result<&'static Program, String> {
    programs().iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let near = match find_collective(name) {
            Some(kind) => {
                let collective = kind.name();
                format!(
                    "for the collective there is `{} tune collective {collective}`; {}",
                    command_name(),
                    like(collective)
                )
            }
            None => nearest_name(name, programs().iter().map(|program| program.name)),
        };
        format!("there is no program {}; {near}`{} programs` lists all", escaped(name), command_name())
    })
}

/// Returns what is wrong with a request in which no program stands.
pub fn no_program() -> String {
    format!("no program is named; `{} programs` lists all", command_name())
}

/// Returns the collective that is called so, whatever stands between its words: `all-reduce` is `allreduce`.
pub fn find_collective(name: &str) -> Option<CollectiveKind> {
    let letters = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    CollectiveKind::ALL.into_iter().find(|kind| letters(kind.name()) == letters(name))
}

/// Returns the program that does nearly what a collective does, as part of a sentence.
fn like(collective: &str) -> String {
    let program = match collective {
        "bcast" => "broadcast",
        "allreduce" => "combining",
        "reduce" => "summation",
        "scatter" | "scatterv" => "scatter",
        "allgather" | "allgatherv" => "all-to-all-broadcast",
        _ => return String::new(),
    };
    format!("the program {program} is like it; ")
}

/// Returns the program's algorithm with this name.
pub fn find_algorithm(program: &Program, name: &str) -> Result<&'static Algorithm, CliError> {
    let algorithms = program.algorithms;
    algorithms.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
        CliError::Request(format!(
            "{} has no algorithm {}; {}there are {}",
            program.name,
            escaped(name),
            nearest_name(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

/// Returns a list of names with their meanings for a help, below a title.
pub fn name_list(title: &str, names: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> String {
    let width = names.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = names.map(|(name, about)| format!("\n  {name:width$}  {about}"));
    format!("{title}:{}", lines.collect::<String>())
}

/// Returns a sentence with a capital at its beginning.
pub fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the error for a name that no subcommand has, with the nearest one.
pub fn unknown_subcommand(name: &str, command: &clap::Command) -> CliError {
    let near = match programs().iter().any(|program| program.name == name) {
        true => format!("for the program there is `{} run {name}`; ", command_name()),
        false => nearest_name(name, command.get_subcommands().map(clap::Command::get_name)),
    };
    let sentence = format!("there is no subcommand {name}; {near}`{} --help` lists all\n", command_name());
    CliError::CommandLine(
        clap::Error::raw(ErrorKind::InvalidSubcommand, sentence).format(&mut command.clone()),
    )
}
