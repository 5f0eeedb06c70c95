//! Tests that inspect their whole process or need the whole computer: its threads, its mappings, its
//! allocations and its lateness. They run one after the other.

#![allow(non_snake_case)] // P is the papers' name

mod allocations;
mod busy;
#[path = "../../crates/model/src/tests/cases.rs"]
mod cases;
#[path = "../library/child.rs"]
mod child;
#[path = "../library/drawn/mod.rs"]
mod drawn;
mod pretended;
mod size;
mod wall;

use std::sync::Mutex;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Locks out the other tests as long as the guard lives.
fn alone() -> impl Drop {
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
