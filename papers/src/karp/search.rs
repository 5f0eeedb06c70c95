//! Exhaustive searches, with which the paper's optimal algorithms are compared.

use std::collections::{HashMap, HashSet};

/// The least times of all broadcast trees, for every number of processors from 1 on, in cycles.
pub(crate) struct BestTrees {
    /// Least time by which all have the datum.
    pub time: Vec<i64>,
    /// Least sum of the times at which they have it.
    pub sum: Vec<i64>,
}

impl BestTrees {
    /// Searches all trees of up to P processors. A child has the datum D after its parent began to send, and
    /// the next child d later. Every tree of n processors is a first child with a tree of m, and the rest of
    /// the tree, which begins d later.
    pub(crate) fn up_to(P: usize, D: i64, d: i64) -> BestTrees {
        let (mut time, mut sum) = (vec![0], vec![0]);
        for n in 2..=P {
            let value_at = |values: &[i64], m: usize| values[m - 1];
            let splits = 1..n;
            let least_time = splits.clone().map(|m| {
                let rest = if n - m > 1 { d + value_at(&time, n - m) } else { 0 };
                (D + value_at(&time, m)).max(rest)
            });
            let least_time = least_time.min().expect("there is a split");
            let least_sum = splits.map(|m| {
                let others = (n - m - 1) as i64;
                value_at(&sum, m) + m as i64 * D + value_at(&sum, n - m) + others * d
            });
            let least_sum = least_sum.min().expect("there is a split");
            time.push(least_time);
            sum.push(least_sum);
        }
        BestTrees { time, sum }
    }
}

/// A search for the most operands that one processor can have summed at the end of cycle T with the help of
/// others. All that it may do in a cycle is tried; of the paper's lemmas only one is used, that each
/// processor sends once.
pub(crate) struct SummationSearch {
    /// L, o and g of the machine, in cycles.
    times: [i64; 3],
    /// Results so far, by T and number of helpers.
    found: HashMap<(i64, usize), i64>,
}

impl SummationSearch {
    pub(crate) fn new(times: [i64; 3]) -> SummationSearch {
        SummationSearch { times, found: HashMap::new() }
    }

    /// Returns the most operands summed by T with this number of helpers.
    pub(crate) fn most_operands(&mut self, T: i64, helpers: usize) -> i64 {
        if let Some(most) = self.found.get(&(T, helpers)) {
            return *most;
        }
        let most = self.search(0, T, helpers, 0, None) + 1;
        self.found.insert((T, helpers), most);
        most
    }

    /// Returns the most operands added from time t on, with `pending` sums received and not added yet, and
    /// the last reception begun at `last`.
    fn search(&mut self, t: i64, T: i64, helpers: usize, pending: i64, last: Option<i64>) -> i64 {
        const NEVER: i64 = i64::MIN / 2;
        let [L, o, g] = self.times;
        if t > T || pending > T - t {
            return NEVER;
        }
        let mut most = if t == T { 0 } else { NEVER };
        if t < T {
            most = most.max(self.search(t + 1, T, helpers, pending, last)); // idle
            most = most.max(1 + self.search(t + 1, T, helpers, pending, last)); // an operand of its own
        }
        if t < T && pending > 0 {
            most = most.max(self.search(t + 1, T, helpers, pending - 1, last));
        }
        if last.is_none_or(|last| t >= last + g) && t >= L + o {
            for theirs in 1..=helpers {
                let sum = self.most_operands(t - L - o, theirs - 1);
                let rest = self.search(t + o, T, helpers - theirs, pending + 1, Some(t));
                most = most.max(sum + rest);
            }
        }
        most
    }
}

/// A search of all schedules, in which a processor may also idle, and send and receive as often as it likes.
/// It uses none of the paper's lemmas. L + o must be at least a cycle, and so must g.
pub(crate) struct ScheduleSearch {
    L: u8,
    o: u8,
    g: u8,
}

/// State of a processor at the start of a cycle; times are in cycles from then.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SearchState {
    /// Number of values that it has: copies of the datum, or sums that were not added up yet.
    values: u8,
    /// Number of values that the reception in progress will bring.
    coming: u8,
    /// Time for which it sends or receives.
    busy: u8,
    /// Time until it may send again.
    send_gap: u8,
    /// Time until it may receive again.
    receive_gap: u8,
    /// Times until the messages for it arrive, in order.
    arrivals: Vec<u8>,
}

/// The act of a processor in a cycle.
#[derive(Clone)]
struct CycleMove {
    /// Its state after the cycle.
    next: SearchState,
    sends: bool,
    adds: bool,
}

impl ScheduleSearch {
    pub(crate) fn new(times: [i64; 3]) -> ScheduleSearch {
        let [L, o, g] = times.map(|time| time as u8);
        ScheduleSearch { L, o, g }
    }

    /// Returns the least time of any broadcast among P processors.
    pub(crate) fn broadcast_time(&self, P: usize) -> i64 {
        self.least_budget(P, |_| 1)
    }

    /// Returns the least sum of information times of any broadcast among P processors.
    pub(crate) fn broadcast_sum(&self, P: usize) -> i64 {
        self.least_budget(P, |missing| missing)
    }

    /// Returns the least budget of a broadcast, from which a cycle takes a part that depends on how many
    /// processors lack the datum in it.
    fn least_budget(&self, P: usize, cost: impl Fn(i64) -> i64 + Copy) -> i64 {
        let mut all = vec![SearchState::default(); P];
        all[P - 1].values = 1;
        let is_enough = |budget: &i64| self.can_inform(all.clone(), *budget, cost, &mut HashSet::new());
        (0..).find(is_enough).expect("every broadcast ends")
    }

    fn can_inform(
        &self,
        all: Vec<SearchState>,
        budget: i64,
        cost: impl Fn(i64) -> i64 + Copy,
        failed: &mut HashSet<(Vec<SearchState>, i64)>,
    ) -> bool {
        // A reception that takes no time may come first.
        let has_it = |one: &&SearchState| one.values > 0 || self.o == 0 && one.arrivals.first() == Some(&0);
        let missing = (all.len() - all.iter().filter(has_it).count()) as i64;
        let rest = budget - cost(missing);
        if missing == 0 {
            return true;
        }
        if rest < 0 || !failed.insert((all.clone(), budget)) {
            return false;
        }
        let moves = |one: &SearchState| {
            let mut moves = self.moves(one, false);
            // Nobody has a use for two copies.
            moves.iter_mut().for_each(|one| one.next.values = one.next.values.min(1));
            moves
        };
        self.next_states(&all, moves).into_iter().any(|(mut next, _)| {
            next.sort_unstable();
            self.can_inform(next, rest, cost, failed)
        })
    }

    /// Returns the most operands that P processors can have summed on one of them at the end of cycle T.
    pub(crate) fn most_operands(&self, T: i64, P: usize) -> i64 {
        let most = self.most_additions(vec![SearchState::default(); P], T, &mut HashMap::new());
        most.map_or(1, |most| most + 1)
    }

    /// Returns the most additions in the rest of the time, after which the first processor has one sum and
    /// nobody else has any. Returns `None` if that cannot be.
    fn most_additions(
        &self,
        all: Vec<SearchState>,
        rest: i64,
        found: &mut HashMap<(Vec<SearchState>, i64), Option<i64>>,
    ) -> Option<i64> {
        let count = |one: &SearchState| i64::from(one.values + one.coming) + one.arrivals.len() as i64;
        // What another processor has must reach the first, and be added there.
        let trip = i64::from(self.L + 2 * self.o) + 1;
        let is_lost = |one: &SearchState| count(one) > 0 && rest < trip + count(one) - 1;
        if count(&all[0]) > rest + 1 || all[1..].iter().any(is_lost) {
            return None;
        }
        if rest == 0 {
            return (all[0].values == 1).then_some(0);
        }
        if let Some(most) = found.get(&(all.clone(), rest)) {
            return *most;
        }
        let nexts = self.next_states(&all, |one| self.moves(one, true)).into_iter();
        let most = nexts.filter_map(|(mut next, added)| {
            next[1..].sort_unstable();
            Some(self.most_additions(next, rest - 1, found)? + added)
        });
        let most = most.max();
        found.insert((all, rest), most);
        most
    }

    /// Returns the states that may follow in a cycle, and the number of additions until then.
    fn next_states(
        &self,
        all: &[SearchState],
        moves: impl Fn(&SearchState) -> Vec<CycleMove>,
    ) -> HashSet<(Vec<SearchState>, i64)> {
        let mut together: Vec<Vec<CycleMove>> = vec![Vec::new()];
        for moves in all.iter().map(moves) {
            let with = |before: &Vec<CycleMove>| {
                let before = before.clone();
                moves
                    .iter()
                    .map(move |one| [&before[..], std::slice::from_ref(one)].concat())
                    .collect::<Vec<_>>()
            };
            together = together.iter().flat_map(with).collect();
        }
        let mut results = HashSet::new();
        for moves in together {
            let added = moves.iter().filter(|one| one.adds).count() as i64;
            let mut states = HashSet::from([moves.iter().map(|one| one.next.clone()).collect::<Vec<_>>()]);
            for from in (0..moves.len()).filter(|from| moves[*from].sends) {
                let send = |states: Vec<SearchState>| {
                    (0..states.len()).filter(move |to| *to != from).map(move |to| {
                        let mut states = states.clone();
                        // Times count from the end of this cycle.
                        states[to].arrivals.push(self.L + self.o - 1);
                        states[to].arrivals.sort_unstable();
                        states
                    })
                };
                states = states.into_iter().flat_map(send).collect();
            }
            results.extend(states.into_iter().map(|states| (states, added)));
        }
        results
    }

    /// Returns all that a processor may do in a cycle: in a summation it may add, and what it sends is gone.
    fn moves(&self, state: &SearchState, is_summation: bool) -> Vec<CycleMove> {
        let mut moves = vec![CycleMove { next: state.clone(), sends: false, adds: false }];
        if state.busy == 0 {
            // What takes no time leaves the cycle for more.
            let takes_time = |one: &CycleMove| one.next.busy > 0;
            let received: Vec<CycleMove> = moves.iter().filter_map(|one| self.receive(one)).collect();
            moves.extend(received);
            let idle = |moves: &[CycleMove]| moves.iter().filter(|one| !takes_time(one)).cloned().collect();
            let idlers: Vec<CycleMove> = idle(&moves);
            moves.extend(idlers.iter().flat_map(|one| self.send(one, is_summation)));
            let idlers: Vec<CycleMove> = if is_summation { idle(&moves) } else { Vec::new() };
            moves.extend(idlers.iter().flat_map(add));
        }
        moves.iter_mut().for_each(|one| one.next.pass_cycle());
        moves
    }

    fn receive(&self, one: &CycleMove) -> Option<CycleMove> {
        let mut next = one.next.clone();
        if next.receive_gap > 0 || next.arrivals.first() != Some(&0) {
            return None;
        }
        next.arrivals.remove(0);
        (next.receive_gap, next.busy) = (self.g, self.o);
        if self.o == 0 {
            next.values += 1
        } else {
            next.coming = 1
        }
        Some(CycleMove { next, ..one.clone() })
    }

    /// Returns the sends: of a value that the processor has, or of an operand of its own.
    fn send(&self, one: &CycleMove, is_summation: bool) -> Vec<CycleMove> {
        let values = one.next.values;
        let left = match is_summation {
            _ if one.next.send_gap > 0 => vec![],
            true => vec![Some(values), values.checked_sub(1)],
            false => vec![(values > 0).then_some(values)],
        };
        let send = |values| {
            let next = SearchState { values, send_gap: self.g, busy: self.o, ..one.next.clone() };
            CycleMove { next, sends: true, adds: false }
        };
        left.into_iter().flatten().map(send).collect()
    }
}

/// Returns the additions: of two operands of the processor's own, of one to a value, and of two values.
fn add(one: &CycleMove) -> Vec<CycleMove> {
    let values = one.next.values;
    let after = [Some(values + 1), (values > 0).then_some(values), (values > 1).then(|| values - 1)];
    let add =
        |values| CycleMove { next: SearchState { values, ..one.next.clone() }, adds: true, ..one.clone() };
    after.into_iter().flatten().map(add).collect()
}

impl SearchState {
    fn pass_cycle(&mut self) {
        if self.busy == 1 {
            (self.values, self.coming) = (self.values + self.coming, 0);
        }
        for time in [&mut self.busy, &mut self.send_gap, &mut self.receive_gap] {
            *time = time.saturating_sub(1);
        }
        self.arrivals.iter_mut().for_each(|time| *time = time.saturating_sub(1));
    }
}
