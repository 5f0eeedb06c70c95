//! MPI programs: what they called, as a recorder wrote it down, and the schedule that it becomes.
//!
//! A front end reads a file and returns the [`RankCalls`](call::RankCalls) of each rank; everything behind it
//! is the same for all.

#![allow(non_snake_case)] // P is the papers' name

pub mod allprof;
pub mod call;
pub mod error;
pub mod libraries;
pub mod recorder;
pub mod recording;
pub mod schedule;
pub mod source;
