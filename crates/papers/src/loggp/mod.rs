//! The exhibits of LogGP.

mod common;
mod fft;
mod messages;
mod radix_sort;
mod remap;
mod scatter;
mod schedules;
mod search;
mod splits;
mod table1;
mod table3;

use super::Paper;

pub static PAPER: Paper = Paper {
    name: "LogGP",
    source: "Alexandrov, Ionescu, Schauser, Scheiman: \
             \"LogGP: Incorporating Long Messages into the LogP Model\", SPAA 1995",
    exhibits: &[
        messages::FIGURE_1,
        table1::TABLE_1,
        messages::FIGURE_2,
        messages::FIGURE_3,
        remap::FIGURE_4,
        fft::FIGURE_5,
        radix_sort::FIGURE_6,
        schedules::FIGURE_7,
        schedules::FIGURE_8,
        splits::TABLE_2,
        splits::THEOREMS,
        table3::TABLE_3,
        schedules::FIGURE_9,
        schedules::FIGURE_10,
        scatter::FIGURE_11,
        scatter::FIGURE_12,
    ],
    inventory: include_str!("inventory.txt"),
};
