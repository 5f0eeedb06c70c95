//! Finding what a name names.

use loggp::{near, outside};
use loggp_programs::{Algorithm, PROGRAMS, Program};

use super::failure::Failure;

/// The program with this name.
pub fn program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let near = near(name, PROGRAMS.iter().map(|program| program.name));
        format!("there is no program {}; {near}`loggp programs` lists all", outside(name))
    })
}

/// A program's algorithm with this name.
pub fn algorithm(program: &Program, name: &str) -> Result<&'static Algorithm, Failure> {
    let algorithms = program.algorithms;
    algorithms.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
        Failure::Request(format!(
            "{} has no algorithm {}; {}there are {}",
            program.name,
            outside(name),
            near(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

/// How wide the widest name is.
pub fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0)
}
