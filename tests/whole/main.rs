//! Tests of the whole command, with all annexes: what the documents show of it, what it does where files, clocks and limits are not
//! as usual, and how it answers somebody who has only its help.

#![allow(non_snake_case)] // P is the papers' name

#[path = "../../crates/model/src/tests/cases.rs"]
mod cases;
mod documents;
mod faults;
mod lines;
mod outside;
#[path = "../command/requests.rs"]
mod requests;
mod shown;
