//! The machine against the oracle, and nothing else: what `.ci/mutants` runs for each mutant.

#![allow(non_snake_case)] // P is the papers' name

#[path = "../../src/cases.rs"]
mod cases;
mod oracle;
