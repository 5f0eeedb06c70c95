//! An exhaustive search through the scatters on a few processors, with which the paper's optimal ones are
//! compared.

use std::collections::HashSet;

/// A machine of the simplified LogGP (section 4.1): latency and gap, and a G of 1 per item.
#[derive(Clone, Copy)]
pub struct SimplifiedMachine {
    pub L: u32,
    pub g: u32,
}

/// State of a scatter: all that decides how it can go on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ScatterState {
    /// Time at which each processor may send again.
    free: Vec<u32>,
    /// Time at which each processor has each item; [`NEVER`] if it is not on its way.
    has: Vec<Vec<u32>>,
    /// Time at which the last message was begun; the next begins no earlier.
    last: u32,
}

const NEVER: u32 = u32::MAX;

/// Returns the least time of any scatter of k items for each of P processors, by section 4.5's footnote on
/// when a scatter ends. A processor may send any items that it has, its own too, as often as it likes, and
/// reception takes no time; so the paper's rules are at least as strict.
pub fn least_time(machine: SimplifiedMachine, P: usize, k: usize) -> u32 {
    let mut has = vec![vec![NEVER; (P - 1) * k]; P];
    has[0].fill(0);
    let start = ScatterState { free: vec![0; P], has, last: 0 };
    let is_possible = |end: &u32| can_finish(machine, k, *end, start.clone(), &mut HashSet::new());
    (0..).find(is_possible).expect("every scatter ends")
}

/// Returns whether a scatter in this state can end by `end`.
fn can_finish(
    machine: SimplifiedMachine,
    k: usize,
    end: u32,
    state: ScatterState,
    visited: &mut HashSet<ScatterState>,
) -> bool {
    let (P, items) = (state.free.len(), state.has[0].len());
    let missing = |item: usize| state.has[item / k + 1][item] == NEVER;
    if !(0..items).any(missing) {
        return true;
    }
    // At best all missing items are sent at once.
    let after = machine.L.max(machine.g);
    if state.last + after > end || !visited.insert(state.clone()) {
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
                    // A message with nothing new for its receiver is of no use.
                    let is_new = |item: usize| state.has[to][item] > out + machine.L;
                    if !chosen().any(is_new) {
                        continue;
                    }
                    let mut next = state.clone();
                    (next.free[from], next.last) = (out + machine.g, begin);
                    chosen().for_each(|item| next.has[to][item] = next.has[to][item].min(out + machine.L));
                    if can_finish(machine, k, end, next, visited) {
                        return true;
                    }
                }
            }
            part = (part - 1) & known;
        }
    }
    false
}
