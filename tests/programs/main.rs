//! Tests of the programs, the studies, the documents and the command, through their public interfaces.

#![allow(non_snake_case)] // L, G and P are the papers' names

#[path = "../alone/busy.rs"]
mod busy;
mod case;
#[path = "../../crates/model/src/cases.rs"]
mod cases;
#[path = "../../crates/cli/src/documents.rs"]
mod documents;
mod requests;

mod analysis;
mod calibrate;
#[cfg(target_os = "linux")]
mod check_mpi;
mod closed_forms;
mod command;
mod doctor;
mod every_program;
mod faults;
mod fft;
mod formula;
mod gauss;
mod installed;
mod karp;
mod kernels;
mod loggps;
mod lu;
mod map;
mod mpi2goal;
mod new;
mod numbers;
mod one_sided_tolerance;
mod outside;
mod patterns;
mod radix_sort;
mod readers;
mod record;
mod refusals;
mod remap;
mod replay;
mod reproduce;
mod rtt;
mod schedule_runs;
mod shown;
mod stress;
mod sweep;
mod tables;
mod tolerance;
mod transportation;
mod tune;
