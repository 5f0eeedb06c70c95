//! A search through all scatters on a few processors, against which the paper's optimal ones are held.

use std::collections::HashSet;

/// The simplified LogGP of section 4.1: latency and gap, and a G of 1 per item.
#[derive(Clone, Copy)]
pub struct Machine {
    pub L: u32,
    pub g: u32,
}

/// Who has what and when may who send: all that decides how a scatter goes on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// For each processor: when it may send again.
    free: Vec<u32>,
    /// For each processor and item: when it has that; [`NEVER`] if it is not on its way.
    has: Vec<Vec<u32>>,
    /// When the last message was begun: the next is begun no earlier.
    last: u32,
}

const NEVER: u32 = u32::MAX;

/// The least time of any scatter of k items for each of P processors, by section 4.5's footnote on when one ends. A processor may
/// send any items that it has, its own too, and any of them as often as it likes; nobody waits to receive, so that the paper's
/// rules are at least as strict.
pub fn least(machine: Machine, P: usize, k: usize) -> u32 {
    (0..).find(|end| is_possible(machine, P, k, *end)).expect("every scatter ends")
}

/// Whether some scatter ends by then.
fn is_possible(machine: Machine, P: usize, k: usize, end: u32) -> bool {
    let source: Vec<u32> = vec![0; (P - 1) * k];
    let mut has = vec![vec![NEVER; (P - 1) * k]; P];
    has[0] = source;
    let state = State { free: vec![0; P], has, last: 0 };
    goes_on(machine, k, end, state, &mut HashSet::new())
}

/// Whether a scatter can go on from a state so that it ends in time.
fn goes_on(machine: Machine, k: usize, end: u32, state: State, seen: &mut HashSet<State>) -> bool {
    let (P, items) = (state.free.len(), state.has[0].len());
    let missing = |item: usize| state.has[item / k + 1][item] == NEVER;
    if !(0..items).any(missing) {
        return true;
    }
    // What is missing is at best on its way at once.
    let after = machine.L.max(machine.g);
    if state.last + after > end || !seen.insert(state.clone()) {
        return false;
    }
    for from in 0..P {
        let known: u32 =
            (0..items).filter(|item| state.has[from][*item] != NEVER).map(|item| 1 << item).sum();
        let mut part = known;
        while part > 0 {
            let chosen = || (0..items).filter(|item| part >> item & 1 == 1);
            let ready = chosen().map(|item| state.has[from][item]).fold(state.free[from], u32::max);
            let begin = ready.max(state.last);
            let out = begin + part.count_ones() - 1;
            if out + after <= end {
                for to in (0..P).filter(|to| *to != from) {
                    // A message with nothing new for its receiver helps nobody.
                    let is_new = |item: usize| state.has[to][item] > out + machine.L;
                    if !chosen().any(is_new) {
                        continue;
                    }
                    let mut next = state.clone();
                    (next.free[from], next.last) = (out + machine.g, begin);
                    chosen().for_each(|item| next.has[to][item] = next.has[to][item].min(out + machine.L));
                    if goes_on(machine, k, end, next, seen) {
                        return true;
                    }
                }
            }
            part = (part - 1) & known;
        }
    }
    false
}
