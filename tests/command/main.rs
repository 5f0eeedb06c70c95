//! Tests of the command and of what it is made of, without annexes, through their public interfaces.

#![allow(non_snake_case)] // L, G and P are the papers' names

#[path = "../alone/busy.rs"]
mod busy;
#[path = "../../crates/model/src/tests/cases.rs"]
mod cases;
#[path = "../whole/documents.rs"]
mod documents;
#[path = "../library/drawn/mod.rs"]
mod drawn;
mod requests;

mod absent;
mod analysis;
mod calibrate;
mod command;
mod doctor;
mod installed;
mod loggps;
mod map;
mod matrix;
mod new;
mod numbers;
mod patterns;
mod readers;
mod refusals;
mod replay;
mod stress;
mod sweep;
mod tables;
mod tune;
