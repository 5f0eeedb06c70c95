//! The exhibits of LogGPS.

use super::Paper;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "LogGPS",
    source: "Ino, Fujimoto, Hagihara: \
             \"LogGPS: A Parallel Computational Model for Synchronization Analysis\", PPoPP 2001",
    exhibits: &[],
    inventory: include_str!("inventory.txt"),
};
