//! The machines and timelines that the exhibits of LogGP share.

use loggp::{Params, Time, US, preset};

use crate::pictures::timeline::draw_timeline;

/// Returns a Meiko CS-2 of table 1 with P processors.
pub fn cs2(name: &str, P: usize) -> Params {
    let machine = preset(name).expect("table 1's machines are among the papers'");
    machine.builder().P(P).build().expect("table 1 has all parameters")
}

/// Returns a machine with times in cycles and a G of a cycle per item.
pub fn machine_in_cycles(P: usize, L: i64, o: i64, g: i64) -> Params {
    let params = Params::builder(P).L(L * US).o(o * US).g(g * US).G(US);
    params.build().expect("such a machine can be")
}

/// Returns a machine of the simplified LogGP (section 4.1): no o, and a G of 1 per item.
pub fn simplified_machine(P: usize, L: i64, g: i64) -> Params {
    machine_in_cycles(P, L, 0, g)
}

/// Draws a timeline in cycles, as SVG.
pub fn draw_cycles(trace: &loggp::trace::Trace, title: &str) -> String {
    draw_timeline(trace, title, ("cycles", US)).expect("the paper's schedules are small")
}

/// Converts a time to microseconds, which are also cycles.
pub fn in_us(time: Time) -> f64 {
    time.in_units(US)
}
