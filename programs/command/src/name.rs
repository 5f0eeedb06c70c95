//! Finding what a name names, and the nearest name if it names nothing.

use loggp_programs::{Algorithm, PROGRAMS, Program};

use super::failure::Failure;

/// The program with this name.
pub fn program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).copied().ok_or_else(|| {
        let near = near(name, PROGRAMS.iter().map(|program| program.name));
        format!("there is no program {name}; {near}`loggp programs` lists all")
    })
}

/// A program's algorithm with this name.
pub fn algorithm(program: &Program, name: &str) -> Result<&'static Algorithm, Failure> {
    let algorithms = program.algorithms;
    algorithms.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
        Failure::Request(format!(
            "{} has no algorithm {name}; {}there are {}",
            program.name,
            near(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

/// How wide the widest name is.
pub fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0)
}

/// Names the name that was most likely meant, if one is near, as a part of a sentence.
pub fn near<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let typed = typed.to_lowercase();
    // Who types a part of a name means a name with that part.
    let distance = |name: &&str| (!name.contains(&typed), strsim::osa_distance(&typed, name));
    let nearest = names.map(|name| (distance(&name), name)).min();
    match nearest {
        Some(((is_other, distance), name))
            if !typed.is_empty() && (!is_other || 2 * distance <= typed.len()) =>
        {
            format!("the nearest name is {name}; ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_part_of_a_name_or_a_slip_of_the_finger() {
        let names = ["broadcast", "scatter", "optimal", "binomial"];
        for (typed, meant) in [("scater", "scatter"), ("Broad", "broadcast"), ("bionmial", "binomial")] {
            assert_eq!(near(typed, names.into_iter()), format!("the nearest name is {meant}; "));
        }
        assert!(["nosuch", ""].iter().all(|typed| near(typed, names.into_iter()).is_empty()));
    }
}
