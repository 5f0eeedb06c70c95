//! The exhibits of LogGP.

mod common;
mod remap;

use super::Paper;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "LogGP",
    source: "Alexandrov, Ionescu, Schauser, Scheiman: \
             \"LogGP: Incorporating Long Messages into the LogP Model\", SPAA 1995",
    exhibits: &[remap::FIGURE_4],
    inventory: include_str!("inventory.txt"),
};
