//! Programs and algorithms by their names.

use loggp_model::text::{escaped, nearest_name};
use loggp_programs::{Algorithm, PROGRAMS, Program};

use crate::error::CliError;

/// Returns the program with this name.
pub fn find_program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let near = nearest_name(name, PROGRAMS.iter().map(|program| program.name));
        format!("there is no program {}; {near}`loggp programs` lists all", escaped(name))
    })
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
    let near = nearest_name(name, command.get_subcommands().map(clap::Command::get_name));
    CliError::Request(format!("there is no subcommand {name}; {near}`loggp --help` lists all"))
}
