//! Finding what a name names, and the nearest name if it names nothing.

use loggp_programs::{Algorithm, PROGRAMS, Program};

use super::failure::Failure;

/// The program with this name.
pub fn program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let nearest = nearest(name, PROGRAMS.iter().map(|program| program.name));
        format!("there is no program {name}; the nearest name is {nearest}; `loggp programs` lists all")
    })
}

/// A program's algorithm with this name.
pub fn algorithm(program: &Program, name: &str) -> Result<&'static Algorithm, Failure> {
    let algorithms = program.algorithms;
    algorithms.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
        Failure::Request(format!(
            "{} has no algorithm {name}; the nearest name is {}; there are {}",
            program.name,
            nearest(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

/// How wide the widest name is.
pub fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0)
}

/// The name that was most likely meant.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    let typed = typed.to_lowercase();
    // Who types a part of a name means a name with that part.
    let distance = |name: &&str| (!name.contains(&typed), strsim::osa_distance(&typed, name));
    names.min_by_key(distance).expect("there are names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_part_of_a_name_or_a_slip_of_the_finger() {
        let names = ["broadcast", "scatter", "optimal", "binomial"];
        for (typed, meant) in [("scater", "scatter"), ("Broad", "broadcast"), ("bionmial", "binomial")] {
            assert_eq!(nearest(typed, names.into_iter()), meant);
        }
    }
}
