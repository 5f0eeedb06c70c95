//! What the exhibits of LogGP share: its machines, and how its plots are drawn.

use loggp::{Params, Time, US, preset};

use crate::pictures::timeline::timeline as draw_timeline;

/// A Meiko CS-2 with so many processors, by table 1.
pub fn cs2(name: &str, P: usize) -> Params {
    let machine = preset(name).expect("table 1's machines are among the papers'");
    machine.builder().P(P).build().expect("table 1 has all parameters")
}

/// A machine whose times are in cycles, and whose G is a cycle per item.
pub fn cycles(P: usize, L: i64, o: i64, g: i64) -> Params {
    let params = Params::builder(P).L(L * US).o(o * US).g(g * US).G(US);
    params.build().expect("such a machine can be")
}

/// The simplified LogGP (section 4.1): no o, and a G of 1 per item.
pub fn simplified(P: usize, L: i64, g: i64) -> Params {
    cycles(P, L, 0, g)
}

/// A timeline in cycles as SVG.
pub fn timeline(trace: &loggp::Trace, title: &str) -> String {
    draw_timeline(trace, title, ("cycles", US)).expect("the paper's schedules are small")
}

/// A time in cycles, or in microseconds.
pub fn amount(time: Time) -> f64 {
    time.in_units(US)
}
