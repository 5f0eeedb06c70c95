//! MPI programs, through the command: recorded, checked and made into schedules.

#![allow(non_snake_case)] // P is the papers' name

#[path = "../../../tests/command/requests.rs"]
mod requests;

#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod emulate;
mod libraries;
mod mpi2goal;
mod record;
mod schedule_runs;
mod tolerance;
