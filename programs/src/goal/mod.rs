//! Schedules in GOAL, the form in which LogGOPSim and its generator write them, and patterns that need no file.

pub mod patterns;
