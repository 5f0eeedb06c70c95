//! The exhibits of LogGP.

mod common;
mod search;

use super::Paper;

exhibit_files! {
    messages: FIGURE_1;
    table1: TABLE_1;
    bandwidth: FIGURE_2, FIGURE_3;
    remap: FIGURE_4;
    fft: FIGURE_5;
    radix_sort: FIGURE_6;
    schedules: FIGURE_7, FIGURE_8;
    splits: TABLE_2, THEOREMS;
    table3: TABLE_3;
    optimal_schedules: FIGURE_9, FIGURE_10;
    scatter: FIGURE_11, FIGURE_12;
}

pub static PAPER: Paper = Paper {
    name: "LogGP",
    source: "Alexandrov, Ionescu, Schauser, Scheiman: \
             \"LogGP: Incorporating Long Messages into the LogP Model\", SPAA 1995",
    exhibits: EXHIBITS,
    inventory: include_str!("inventory.txt"),
};
