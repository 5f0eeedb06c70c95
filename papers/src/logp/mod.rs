//! The exhibits of LogP.

mod broadcast;
mod discussion;
mod distances;
mod fft;
mod hardware;
mod interleavings;
mod lu;
mod multithreading;
mod network_processor;
mod other_models;
mod permutations;
mod protocol;
mod saturation;
mod summation;
mod table_1;

use loggp::trace::Trace;

use super::prelude::{Ran, RunResult, between, in_us};
use super::row::ClaimRule;
use super::{BY_OCR, Paper};

pub(crate) static PAPER: Paper = Paper {
    name: "LogP",
    folder: "logp",
    source: "Culler, Karp, Patterson, Sahay, Schauser, Santos, Subramonian, von Eicken: \
             \"LogP: Towards a Realistic Model of Parallel Computation\", PPoPP 1993",
    text: BY_OCR,
    exhibits: &[
        interleavings::ORDERS,
        discussion::OVERHEAD,
        discussion::REMOTE,
        multithreading::VIRTUAL_PROCESSORS,
        broadcast::FIGURE_3,
        summation::FIGURE_4,
        fft::butterfly::FIGURE_5,
        fft::butterfly::COLUMNS,
        fft::layouts::HYBRID,
        fft::naive_schedule::SCHEDULE,
        fft::remap_times::FIGURE_6,
        fft::computation_rates::FIGURE_7,
        fft::remap_rates::FIGURE_8,
        fft::overlap::OVERLAP,
        lu::LAYOUTS,
        distances::DISTANCES,
        table_1::TABLE_1,
        hardware::PARAMETERS,
        protocol::PROTOCOL,
        saturation::SATURATION,
        network_processor::NETWORK_PROCESSOR,
        permutations::PERMUTATIONS,
        other_models::PRAM,
        other_models::BSP,
    ],
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};

/// Returns when messages to a processor enter the network, in us and in order.
fn enter_times(trace: &Trace, to: usize) -> Vec<Ran<f64>> {
    let messages = trace.messages.iter().filter(|message| message.to == to);
    let mut enters: Vec<f64> = messages.map(|message| in_us(message.enter)).collect();
    enters.sort_by(f64::total_cmp);
    enters.into_iter().map(|enter| trace.ran(|_| enter)).collect()
}

/// Asks for about `factor`, which the paper tells in words and not in digits.
fn about(factor: f64) -> ClaimRule {
    between(0.8 * factor, 1.25 * factor)
        .because("a factor told in words may be a quarter more, or as much less")
}
