//! The exhibits of LogP.

use loggp::trace::Trace;

use super::Paper;
use super::prelude::in_us;

exhibit_files! {
    discussion: OVERHEAD, REMOTE;
    broadcast: FIGURE_3;
    summation: FIGURE_4;
    fft: HYBRID, SCHEDULE, FIGURE_6, FIGURE_7, FIGURE_8, OVERLAP;
    lu: LAYOUTS;
    networks: DISTANCES, TABLE_1;
    protocol: PROTOCOL;
    saturation: SATURATION;
}

pub static PAPER: Paper = Paper {
    name: "LogP",
    folder: "logp",
    source: "Culler, Karp, Patterson, Sahay, Schauser, Santos, Subramonian, von Eicken: \
             \"LogP: Towards a Realistic Model of Parallel Computation\", PPoPP 1993",
    exhibits: EXHIBITS,
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};

/// Returns when messages to a processor enter the network, in us and in order.
fn enter_times(trace: &Trace, to: usize) -> Vec<f64> {
    let messages = trace.messages.iter().filter(|message| message.to == to);
    let mut enters: Vec<f64> = messages.map(|message| in_us(message.enter)).collect();
    enters.sort_by(f64::total_cmp);
    enters
}
