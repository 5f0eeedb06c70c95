//! Random machines.

use loggp::params::LogGps;
use loggp::{Level, PS, Params, Ports, Time};

/// Draws parameters. Times are small and often equal, so that much happens at the same time.
pub(crate) fn draw_params(rng: &mut fastrand::Rng, P: usize) -> Params {
    loop {
        let unit = [0, 1, 1, 1, 2, 2, 5, 5][rng.usize(0..8)];
        let time = |rng: &mut fastrand::Rng, most: i64| rng.i64(-1..=most).max(0) * unit * PS;
        let (L, o, g, G) = (time(rng, 12), time(rng, 4), time(rng, 8), time(rng, 3));
        let (O_s, O_r, G_s, G_l) =
            (time(rng, 1), time(rng, 1), time(rng, 2), time(rng, 5) - time(rng, 2) - time(rng, 2));
        let params = Params::builder(P).word(1).cycle(rng.i64(1..=3) * PS).o(o);
        let params = match rng.usize(0..10) {
            // LogP, with a capacity of 1 or 2.
            0..3 => {
                let g = g.max(PS);
                params.g(g).L(Time::from_ps(rng.i64(0..=2 * g.as_ps())))
            }
            3..6 => params.g(g).L(L).G(G),
            _ => {
                let s = rng.usize(0..6);
                let S = if rng.bool() { usize::from(u16::MAX) } else { s + rng.usize(0..5) };
                let g = if rng.bool() { g } else { Time::ZERO };
                let R = if rng.bool() { time(rng, 9) } else { Time::ZERO };
                params.g(g).L(L).gps(LogGps { s, S, O_s, O_r, G_s, G_l }).R(R)
            }
        };
        // Some have an explicit capacity, or no limit.
        let params = match rng.usize(0..8) {
            0 => params.C(rng.usize(1..=3)),
            1 => params.C(Params::NO_LIMIT),
            _ => params,
        };
        // No G_l may take back more from a word than its other costs.
        if let Ok(params) = params.build() {
            return params;
        }
    }
}

/// Returns the length of the longest message that does not arrive before its send is called.
pub(crate) fn longest(params: &Params, most: usize) -> usize {
    let Some(gps) = params.gps() else { return most };
    let fits = |words: usize| {
        let (short, long) = (words.min(gps.s) as i64, words.saturating_sub(gps.s) as i64);
        let k = words as i64;
        params.o + k * gps.O_s + params.L + short * gps.G_s + long * gps.G_l >= Time::ZERO
    };
    (0..=most).take_while(|words| fits(*words)).last().unwrap()
}

/// Draws levels within a machine; half of the machines have none.
pub(crate) fn draw_levels(rng: &mut fastrand::Rng, params: &Params) -> Vec<Level> {
    let mut levels = vec![];
    let mut P = params.P;
    while levels.len() < 2 && rng.bool() {
        let sizes: Vec<usize> = (1..P).filter(|size| P.is_multiple_of(*size)).collect();
        let [_, ..] = sizes[..] else { break };
        P = sizes[rng.usize(0..sizes.len())];
        let drawn = loop {
            let drawn = Params { cycle: params.cycle, ..draw_params(rng, P) };
            if drawn.is_loggp() == params.is_loggp() {
                break drawn;
            }
        };
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        levels.push(Level::new(drawn).ports(ports).one_port(rng.bool()));
    }
    levels
}
