//! The papers' programs: each with every algorithm on drawn machines, verified, and its time beside the closed forms.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod case;
#[path = "../../../crates/model/src/tests/cases.rs"]
mod cases;
mod closed_forms;
mod every_program;
mod fft;
mod gauss;
mod karp;
mod kernels;
mod lu;
mod radix_sort;
mod remap;
mod rtt;
mod transportation;
