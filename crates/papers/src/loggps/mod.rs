//! The exhibits of LogGPS.

mod elimination;
mod platforms;

use super::Paper;

exhibit_files! {
    protocols: TABLE_1, FIGURE_1, TABLE_2;
    costs: FIGURE_2, TABLE_3, TABLE_4;
    parameters: TABLE_5;
    round_trips: TABLE_6, FIGURE_3, FIGURE_4, FIGURE_5;
    elimination_times: TABLE_7;
    synchronization: FIGURE_6;
    loggp_models: TABLE_8, FIGURE_7, TABLE_9;
    comparison: TABLE_10, FIGURE_8, CLOCK;
}

pub static PAPER: Paper = Paper {
    name: "LogGPS",
    folder: "loggps",
    source: "Ino, Fujimoto, Hagihara: \
             \"LogGPS: A Parallel Computational Model for Synchronization Analysis\", PPoPP 2001",
    exhibits: EXHIBITS,
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};
