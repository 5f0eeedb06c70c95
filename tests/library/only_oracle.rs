//! Only the tests of the machine against the oracle, which `docs/results/make/mutants` runs for each mutant.

#![allow(non_snake_case)] // P is the papers' name

#[path = "../../crates/model/src/tests/cases.rs"]
mod cases;
mod drawn;
mod oracle;
