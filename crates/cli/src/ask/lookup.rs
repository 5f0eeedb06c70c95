//! Programs and algorithms by their names.

use clap::error::ErrorKind;
use loggp_goal::patterns::CollectiveKind;
use loggp_model::text::{escaped, nearest_name};
use loggp_programs::{Algorithm, PROGRAMS, Program};

use crate::error::CliError;

/// Returns the program with this name.
pub(crate) fn find_program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let near = match CollectiveKind::ALL.iter().any(|kind| kind.name() == name) {
            true => format!("for the collective there is `loggp tune collective {name}`; {}", like(name)),
            false => nearest_name(name, PROGRAMS.iter().map(|program| program.name)),
        };
        format!("there is no program {}; {near}`loggp programs` lists all", escaped(name))
    })
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
pub(crate) fn find_algorithm(program: &Program, name: &str) -> Result<&'static Algorithm, CliError> {
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
pub(crate) fn name_list(
    title: &str,
    names: impl Iterator<Item = (&'static str, &'static str)> + Clone,
) -> String {
    let width = names.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = names.map(|(name, about)| format!("\n  {name:width$}  {about}"));
    format!("{title}:{}", lines.collect::<String>())
}

/// Returns a sentence with a capital at its beginning.
pub(crate) fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the error for a name that no subcommand has, with the nearest one.
pub(crate) fn unknown_subcommand(name: &str, command: &clap::Command) -> CliError {
    let near = nearest_name(name, command.get_subcommands().map(clap::Command::get_name));
    let sentence = format!("there is no subcommand {name}; {near}`loggp --help` lists all\n");
    CliError::CommandLine(
        clap::Error::raw(ErrorKind::InvalidSubcommand, sentence).format(&mut command.clone()),
    )
}
