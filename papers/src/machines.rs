//! Machines of several papers' exhibits, and their times as numbers.

use loggp::{Params, Time, US, preset};

/// Returns a machine of the papers with P processors.
pub(crate) fn preset_machine(name: &str, P: usize) -> Params {
    let preset = preset(name).expect("it is one of the papers' machines");
    preset.builder().P(P).build().expect("a paper's machine leaves nothing open")
}

/// Returns the CM-5 of LogP, section 4.1.4, with P processors.
pub(crate) fn cm5(P: usize) -> Params {
    preset_machine("cm5", P)
}

/// Returns a machine with L, o and g in cycles of a microsecond.
pub(crate) fn cycle_machine(P: usize, [L, o, g]: [i64; 3]) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).build().expect("these are parameters")
}

/// Converts a time to microseconds, which are also such cycles.
pub(crate) fn in_us(time: Time) -> f64 {
    time.in_units(US)
}
