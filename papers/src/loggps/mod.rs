//! The exhibits of LogGPS.

mod comparison;
mod costs;
mod elimination;
mod elimination_times;
mod loggp_models;
mod parameters;
mod platforms;
mod protocols;
mod round_trips;
mod synchronization;

use super::{BY_OCR, Paper};

pub(crate) static PAPER: Paper = Paper {
    name: "LogGPS",
    folder: "loggps",
    source: "Ino, Fujimoto, Hagihara: \
             \"LogGPS: A Parallel Computational Model for Synchronization Analysis\", PPoPP 2001",
    text: BY_OCR,
    exhibits: &[
        protocols::TABLE_1,
        protocols::FIGURE_1,
        protocols::TABLE_2,
        costs::FIGURE_2,
        costs::TABLE_3,
        costs::TABLE_4,
        parameters::TABLE_5,
        round_trips::TABLE_6,
        round_trips::FIGURE_3,
        round_trips::FIGURE_4,
        round_trips::FIGURE_5,
        elimination_times::TABLE_7,
        synchronization::FIGURE_6,
        loggp_models::TABLE_8,
        loggp_models::FIGURE_7,
        loggp_models::TABLE_9,
        comparison::TABLE_10,
        comparison::FIGURE_8,
        comparison::CLOCK,
    ],
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};
