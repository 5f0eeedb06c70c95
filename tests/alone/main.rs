//! Tests that look at all of their process, or need all of the computer: its threads, its mappings, what it allocates, and
//! how late it is. They run one after the other.

#![allow(non_snake_case)] // P is the papers' name

mod allocations;
#[path = "../../src/cases.rs"]
mod cases;
mod pretended;
mod size;
mod wall;

use std::sync::Mutex;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Nobody else runs as long as this lives.
fn alone() -> impl Drop {
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
