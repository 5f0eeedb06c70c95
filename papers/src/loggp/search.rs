//! An exhaustive search through the scatters on a few processors, with which the paper's optimal ones are
//! compared.

use std::collections::HashSet;

/// A machine of the simplified LogGP (section 4.1): latency and gap, and a G of 1 per item.
#[derive(Clone, Copy)]
pub(super) struct SimplifiedMachine {
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
pub(super) fn least_time(machine: SimplifiedMachine, P: usize, k: usize) -> u32 {
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

/// A search through the scatters of k items for each processor, in which every item is passed on and never
/// copied. By lemma 1 a fastest scatter is among these; so the search has room for more processors.
pub(super) struct PassingSearch {
    machine: SimplifiedMachine,
    /// Time by which the scatter is to end.
    end: u32,
    /// All orders of the processors but the source.
    orders: Vec<Vec<usize>>,
    /// States from which it cannot end in time.
    failed: HashSet<PassingState>,
}

/// State of such a scatter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PassingState {
    /// Time at which the last message was begun; the next begins no earlier.
    last: u32,
    /// Time at which each processor may send again.
    free: Vec<u32>,
    /// Items that each processor has or will have for others: when they arrive, and how many for whom.
    items: Vec<Vec<(u32, Vec<u8>)>>,
}

impl PassingSearch {
    /// Returns the least time of such a scatter of k items among P processors.
    pub(super) fn least_time(machine: SimplifiedMachine, P: usize, k: u8) -> u32 {
        (0..).find(|end| PassingSearch::can_end_by(machine, P, k, *end)).expect("every scatter ends")
    }

    /// Returns whether any such scatter of k items among P processors ends by `end`.
    pub(super) fn can_end_by(machine: SimplifiedMachine, P: usize, k: u8, end: u32) -> bool {
        let mut orders = vec![vec![0]];
        for id in 1..P {
            let longer = |order: &Vec<usize>| {
                let order = order.clone();
                (1..=order.len()).map(move |index| {
                    let mut order = order.clone();
                    order.insert(index, id);
                    order
                })
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        let mut items = vec![Vec::new(); P];
        items[0].push((0, (0..P).map(|to| if to == 0 { 0 } else { k }).collect()));
        let mut search = PassingSearch { machine, end, orders, failed: HashSet::new() };
        search.can_finish(PassingState { last: 0, free: vec![0; P], items })
    }

    fn can_finish(&mut self, state: PassingState) -> bool {
        let after = self.machine.L.max(self.machine.g);
        let count = |items: &[(u32, Vec<u8>)]| {
            items.iter().flat_map(|(_, counts)| counts).map(|count| u32::from(*count)).sum::<u32>()
        };
        if state.items.iter().all(Vec::is_empty) {
            return true;
        }
        // At best all that a processor has for others leaves it in one message.
        let is_late = |id: usize| match state.items[id].iter().map(|(arrival, _)| *arrival).min() {
            Some(first) => first.max(state.free[id]) + count(&state.items[id]) - 1 + after > self.end,
            None => false,
        };
        if (0..state.free.len()).any(is_late) || !self.failed.insert(self.canonical(&state)) {
            return false;
        }
        (0..state.free.len())
            .any(|from| self.sends(&state, from).into_iter().any(|next| self.can_finish(next)))
    }

    /// Returns the states after each message that a processor can send in time.
    fn sends(&self, state: &PassingState, from: usize) -> Vec<PassingState> {
        let (P, SimplifiedMachine { L, g }) = (state.free.len(), self.machine);
        let all = |to: usize| state.items[from].iter().map(|(_, counts)| counts[to]).sum::<u8>();
        let most: Vec<u8> = (0..P).map(all).collect();
        let mut chosen = vec![0; P];
        let mut results = Vec::new();
        // Count through all numbers of items for each.
        while let Some(index) = (0..P).find(|to| chosen[*to] < most[*to]) {
            chosen[index] += 1;
            chosen[..index].fill(0);
            let (ready, left) = take(&state.items[from], &chosen);
            let begin = ready.max(state.free[from]);
            let out = begin + chosen.iter().map(|count| u32::from(*count)).sum::<u32>() - 1;
            // A message that could have been begun earlier comes earlier in the order.
            if begin < state.last || out + L.max(g) > self.end {
                continue;
            }
            for to in (0..P).filter(|to| *to != from) {
                let mut next = state.clone();
                (next.last, next.free[from], next.items[from]) = (begin, out + g, left.clone());
                let mut passed = chosen.clone();
                passed[to] = 0;
                if passed.iter().any(|count| *count > 0) {
                    next.items[to].push((out + L, passed));
                }
                results.push(next);
            }
        }
        results
    }

    /// Returns the same for all states that differ only in the processors' numbers, or in times that have
    /// passed.
    fn canonical(&self, state: &PassingState) -> PassingState {
        let last = state.last;
        let reorder = |order: &Vec<usize>| {
            let counts = |counts: &Vec<u8>| order.iter().map(|id| counts[*id]).collect::<Vec<u8>>();
            let items = |id: &usize| {
                let items = state.items[*id].iter();
                let mut items: Vec<_> =
                    items.map(|(arrival, all)| (last.max(*arrival), counts(all))).collect();
                items.sort_unstable();
                items
            };
            let free = order.iter().map(|id| state.free[*id].max(last)).collect();
            PassingState { last, free, items: order.iter().map(items).collect() }
        };
        self.orders.iter().map(reorder).min().expect("there is an order")
    }
}

/// Takes this many items for each from those of a processor, the earliest first. Returns when the last of
/// them is there, and the rest.
fn take(items: &[(u32, Vec<u8>)], chosen: &[u8]) -> (u32, Vec<(u32, Vec<u8>)>) {
    let (mut items, mut chosen, mut ready) = (items.to_vec(), chosen.to_vec(), 0);
    items.sort_unstable();
    for (arrival, counts) in &mut items {
        for (count, missing) in counts.iter_mut().zip(&mut chosen) {
            let taken = (*count).min(*missing);
            (*count, *missing) = (*count - taken, *missing - taken);
            if taken > 0 {
                ready = *arrival;
            }
        }
    }
    items.retain(|(_, counts)| counts.iter().any(|count| *count > 0));
    (ready, items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_search_finds_what_the_search_of_all_does() {
        for (P, k, L, g) in
            [(2, 2, 3, 3), (3, 1, 3, 1), (3, 2, 2, 2), (3, 2, 4, 2), (4, 1, 3, 2), (4, 1, 1, 3)]
        {
            let machine = SimplifiedMachine { L, g };
            let found = PassingSearch::least_time(machine, P, k as u8);
            assert_eq!(found, least_time(machine, P, k), "P = {P}, k = {k}, L = {L}, g = {g}");
        }
    }
}
