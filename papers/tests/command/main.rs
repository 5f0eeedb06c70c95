//! `loggp reproduce`, through the command.

#![allow(non_snake_case)] // P is the papers' name

#[path = "../../../tests/command/requests.rs"]
mod requests;

mod refusals;
mod reproduce;
