//! The exhibits of LogGP.

mod bandwidth;
mod fft;
mod messages;
mod optimal_schedules;
mod radix_sort;
mod remap;
mod scatter;
mod schedules;
mod search;
mod splits;
mod table1;
mod table3;

use super::prelude::{Params, US};
use super::{BY_OCR, Paper};

pub(crate) static PAPER: Paper = Paper {
    name: "LogGP",
    folder: "loggp",
    source: "Alexandrov, Ionescu, Schauser, Scheiman: \
             \"LogGP: Incorporating Long Messages into the LogP Model\", SPAA 1995",
    text: BY_OCR,
    exhibits: &[
        messages::FIGURE_1,
        table1::TABLE_1,
        bandwidth::FIGURE_2,
        bandwidth::FIGURE_3,
        remap::FIGURE_4,
        fft::FIGURE_5,
        radix_sort::FIGURE_6,
        schedules::FIGURE_7,
        schedules::FIGURE_8,
        splits::TABLE_2,
        splits::THEOREMS,
        table3::TABLE_3,
        optimal_schedules::FIGURE_9,
        optimal_schedules::FIGURE_10,
        scatter::FIGURE_11,
        scatter::FIGURE_12,
    ],
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};

/// Returns a machine with times in cycles and a G of a cycle per item.
fn machine_in_cycles(P: usize, L: i64, o: i64, g: i64) -> Params {
    let params = Params::builder(P).L(L * US).o(o * US).g(g * US).G(US);
    params.build().expect("such a machine can be")
}

/// Returns a machine of the simplified LogGP (section 4.1): no o, and a G of 1 per item.
fn simplified_machine(P: usize, L: i64, g: i64) -> Params {
    machine_in_cycles(P, L, 0, g)
}
