//! Splitting sets of items, as in figure 10 of LogGP: a search for a tree that ends sooner than the optimal
//! one without splitting.
//!
//! The search looks at the processor that finishes last. Its items come from its source in one message, and
//! processors that have been idle for long could carry some of them. So the search tries such carriers, keeps
//! the best, and goes on until nothing helps. It starts with the optimal tree and each step is an
//! improvement, so it never ends later.

use std::cmp::Reverse;

use loggp_model::params::{Latency, Params, Ports};
use loggp_model::time::Time;
use loggp_schedule::Traffic;

use super::{Detour, ScatterTree, TreeMessage};
use crate::Refusal;

/// Number of carriers that a step of the search tries.
const CARRIERS: usize = 8;

/// Most messages that the search may simulate: enough for a thousand plans with a thousand processors.
const BUDGET: usize = 1 << 20;

/// Adds the detours that help, for a machine with exact latency and single ports.
pub(super) fn improve(mut tree: ScatterTree, params: &Params) -> ScatterTree {
    // The simulation has no request and reply before a long message.
    if !params.is_loggp() {
        return tree;
    }
    let mut finishes = simulate(&tree, params);
    let mut budget = BUDGET / params.P;
    while let Some((better, later)) = best_step(&tree, &finishes, params, &mut budget) {
        (tree, finishes) = (better, later);
    }
    tree
}

/// Returns the best tree with one more detour, and its finishes; `None` if all are worse or the budget is
/// spent.
fn best_step(
    tree: &ScatterTree,
    finishes: &[Time],
    params: &Params,
    budget: &mut usize,
) -> Option<(ScatterTree, Vec<Time>)> {
    let to = (0..params.P).max_by_key(|id| (finishes[*id], Reverse(*id)))?;
    let mut idle: Vec<usize> = (0..params.P).filter(|id| can_carry(tree, *id, to)).collect();
    idle.sort_by_key(|id| finishes[*id]);

    let mut best = None;
    let mut best_score = score(finishes);
    for &carrier in idle.iter().take(CARRIERS) {
        // At least one item stays in the message that comes down the tree.
        for items in (0..).map(|i| 1 << i).take_while(|items| *items < tree.own_items(to)) {
            if *budget == 0 {
                return best;
            }
            *budget -= 1;
            let mut candidate = tree.clone();
            candidate.add_detour(carrier, to, items);
            let finishes = simulate(&candidate, params);
            if score(&finishes) < best_score {
                best_score = score(&finishes);
                best = Some((candidate, finishes));
            }
        }
    }
    best
}

/// Returns whether a processor can carry items of `to`, or more of them. It must not be the source of `to`,
/// and `to` must send nothing, so that it can receive the carried items at any time.
fn can_carry(tree: &ScatterTree, carrier: usize, to: usize) -> bool {
    let is_source = tree.children(carrier).any(|range| range.start == to);
    carrier != to && !is_source && tree.receptions(carrier) <= 1 && tree.messages(to).next().is_none()
}

/// Refuses a detour that is not possible in the tree.
pub(super) fn check(tree: &ScatterTree, Detour { items, carrier, to }: Detour) -> Result<(), Refusal> {
    let P = tree.items_before.len() - 1;
    if let Some(id) = [carrier, to].into_iter().find(|id| *id >= P) {
        refuse!("there is no processor {id} for a detour; give them from 0 to {}", P - 1);
    }
    if !can_carry(tree, carrier, to) {
        refuse!(
            "items for processor {to} cannot come by way of {carrier}, who must be another than its source, and {to} must \
             send nothing itself"
        );
    }
    match tree.own_items(to) {
        own if (1..own).contains(&items) => Ok(()),
        own => refuse!("{items} of {own} items cannot make a detour; give from 1 to {}", own - 1),
    }
}

/// Returns the pair that the search minimizes: the last finish, and the number of processors that finish
/// then.
fn score(finishes: &[Time]) -> (Time, usize) {
    let last = finishes.iter().max().copied().unwrap_or(Time::ZERO);
    (last, finishes.iter().filter(|finish| **finish == last).count())
}

/// Returns every processor's finish, with the machine's own network but without data.
fn simulate(tree: &ScatterTree, params: &Params) -> Vec<Time> {
    let Params { o, g, P, .. } = *params;
    let mut arrivals = vec![Vec::new(); P];
    let mut finishes = vec![Time::ZERO; P];
    // An impossible machine is refused, with the reason, when it runs.
    let Ok(mut traffic) = Traffic::new(*params, Ports::Single, Latency::Exact) else { return finishes };
    let send_all = |traffic: &mut Traffic, id: usize, t: Time| {
        tree.messages(id).for_each(|TreeMessage { to, items }| traffic.send(id, to, items, t));
    };
    send_all(&mut traffic, 0, Time::ZERO);
    while let Some(loggp_model::log::Message { id, to, enter, arrival, .. }) = traffic.next() {
        finishes[id.from] = enter;
        if arrivals[to].is_empty() {
            finishes[to] = arrival + o;
            send_all(&mut traffic, to, arrival + o);
        }
        arrivals[to].push(arrival);
    }
    // A processor that receives several messages sends none, so its receptions can come last.
    for (id, arrivals) in arrivals.iter_mut().enumerate().filter(|(_, arrivals)| arrivals.len() > 1) {
        arrivals.sort();
        let (mut t, mut gap_over) = (Time::ZERO, Time::ZERO);
        for arrival in arrivals {
            let start = t.max(*arrival).max(gap_over);
            (t, gap_over) = (start + o, start + g);
        }
        finishes[id] = t;
    }
    finishes
}

#[cfg(test)]
mod tests {
    use loggp_model::time::US;
    use loggp_schedule::Player;

    use super::super::{ScatterVariant, splits};
    use super::*;
    use crate::{Setting, steps};

    /// Returns the optimal tree for k items of each processor.
    fn optimal(params: &Params, k: usize) -> ScatterTree {
        let setting = Setting { params, levels: &[], ports: Ports::Single, barrier: None, size: k };
        ScatterTree::new(splits(setting, ScatterVariant::Optimal).S, params.P, k)
    }

    /// In figure 10 P5 carries two of P3's items, which reach it with its own. Then P2's message to P3 waits
    /// for a cycle, as one is in transit to P3. With P4, which has the items before P5, the same split ends
    /// when the paper says.
    #[test]
    fn figure_10_ends_as_early_as_the_split_that_is_found() {
        let params = Params::builder(6).L(4 * US).o(US).g(4 * US).G(US).word(1).build().unwrap();
        let tree = optimal(&params, 10);
        let end = |tree: &ScatterTree| simulate(tree, &params).into_iter().max().unwrap();
        let by = |carrier| {
            let mut tree = tree.clone();
            tree.add_detour(carrier, 3, 2);
            end(&tree)
        };
        assert_eq!((end(&tree), by(5), by(4)), (63 * US, 62 * US, 61 * US));
        let found = improve(tree.clone(), &params);
        assert_eq!((end(&found), simulate(&found, &params)[3]), (61 * US, 60 * US));
    }

    /// The simulation agrees with the schedule, even with many carriers for one processor and one carrier for many.
    #[test]
    fn simulation_agrees_with_the_schedule() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..400 {
            let (P, k) = (rng.usize(2..30), rng.usize(1..60));
            let mut any = |most| rng.i64(0..=most) * US;
            let params =
                Params::builder(P).L(any(40)).o(any(10)).g(any(20)).G(any(3)).word(1).build().unwrap();
            let mut tree = optimal(&params, k);
            for _ in 0..3 * P {
                let (carrier, to) = (rng.usize(0..P), rng.usize(0..P));
                if can_carry(&tree, carrier, to) && tree.own_items(to) > 1 {
                    tree.add_detour(carrier, to, rng.usize(1..tree.own_items(to)));
                }
            }
            let schedule = steps::schedule(&params, |id| tree.steps(id, 1)).unwrap();
            let played = Player::new(params).receive_first(true).run(&schedule).unwrap();
            assert_eq!(simulate(&tree, &params), played.finishes, "{params:?} {tree:?}");
        }
    }
}
