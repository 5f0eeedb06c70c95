//! The exhibits of LogP.

use loggp::{Params, US, preset};

use super::Paper;

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
    source: "Culler, Karp, Patterson, Sahay, Schauser, Santos, Subramonian, von Eicken: \
             \"LogP: Towards a Realistic Model of Parallel Computation\", PPoPP 1993",
    exhibits: EXHIBITS,
    inventory: include_str!("inventory.txt"),
};

/// Returns a machine with L, o and g in cycles, as captions give them.
fn caption_machine(P: usize, [L, o, g]: [i64; 3]) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).build().expect("a paper's machine can be")
}

/// Returns the CM-5 of section 4.1.4 with P processors.
fn cm5(P: usize) -> Params {
    preset_machine("cm5", P)
}

/// Returns a preset whose parameters are all known, with P processors.
fn preset_machine(machine: &str, P: usize) -> Params {
    let preset = preset(machine).expect("it is one of the papers' machines");
    preset.builder().P(P).build().expect("a paper's machine can be")
}
