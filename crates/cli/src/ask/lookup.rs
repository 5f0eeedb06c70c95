//! Programs and algorithms by their names.

use std::sync::OnceLock;

use clap::error::ErrorKind;
use loggp_goal::patterns::CollectiveKind;
use loggp_model::text::{escaped, nearest_name};
use loggp_programs::{Algorithm, PROGRAMS, Program};

use super::arguments::command_name;
use crate::error::CliError;

/// One's own programs and then the papers', where there are any of one's own. It is a static because clap makes the
/// subcommands by functions that are given nothing.
static ALL_PROGRAMS: OnceLock<Vec<&'static Program>> = OnceLock::new();

/// The subcommand of `tune` for collectives, whose name no program can have.
pub(crate) const COLLECTIVE: &str = "collective";

/// Adds programs of one's own before the papers'. Refuses two programs of the same name, and one without an algorithm.
pub(crate) fn add_programs(own: &[&'static Program]) -> Result<(), CliError> {
    let all = [own, PROGRAMS].concat();
    for (i, program) in own.iter().enumerate() {
        let refuse = |why: &str| Err(CliError::Request(format!("the program {}: {why}", program.name)));
        if program.name == COLLECTIVE || all[i + 1..].iter().any(|other| other.name == program.name) {
            return refuse("the command has another of this name; give it a name of its own");
        }
        if program.algorithms.is_empty() {
            return refuse("it has no algorithm; give it one at least");
        }
    }
    if !own.is_empty() {
        ALL_PROGRAMS.get_or_init(|| all);
    }
    Ok(())
}

/// Returns all programs, one's own first.
pub(crate) fn programs() -> &'static [&'static Program] {
    ALL_PROGRAMS.get().map_or(PROGRAMS, |all| all)
}

/// Returns whether the command has something of this name where programs are.
pub(crate) fn is_program(name: &str) -> bool {
    name == COLLECTIVE || programs().iter().any(|program| program.name == name)
}

/// Returns whether there are programs of one's own.
pub(crate) fn has_own_programs() -> bool {
    ALL_PROGRAMS.get().is_some()
}

/// Returns the program with this name.
pub(crate) fn find_program(name: &str) -> Result<&'static Program, String> {
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
pub(crate) fn no_program() -> String {
    format!("no program is named; `{} programs` lists all", command_name())
}

/// Returns the collective that is called so, whatever stands between its words: `all-reduce` is `allreduce`.
pub(crate) fn find_collective(name: &str) -> Option<CollectiveKind> {
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
    let near = match programs().iter().any(|program| program.name == name) {
        true => format!("for the program there is `{} run {name}`; ", command_name()),
        false => nearest_name(name, command.get_subcommands().map(clap::Command::get_name)),
    };
    let sentence = format!("there is no subcommand {name}; {near}`{} --help` lists all\n", command_name());
    CliError::CommandLine(
        clap::Error::raw(ErrorKind::InvalidSubcommand, sentence).format(&mut command.clone()),
    )
}
