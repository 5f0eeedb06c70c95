//! The search by force: at every point each processor that can go on does, in every way.

use std::collections::BTreeSet;

use super::{OrderProgram, ProgramStep};

/// A message: its sender, its number among those of the sender, its receiver and its tag.
type PendingMessage = (usize, usize, usize, u16);

/// The state of a run.
#[derive(Clone)]
struct SearchState {
    /// Each processor's next step, the sender of its last received message, and the number of messages it has
    /// sent.
    positions: Vec<(usize, usize, usize)>,
    /// Messages that were not received yet.
    under_way: Vec<PendingMessage>,
    /// Messages that each processor has received.
    received: Vec<Vec<(usize, usize)>>,
}

/// Returns the number of orders of a program, and of runs.
pub fn count(program: &OrderProgram) -> (usize, usize) {
    let P = program.len();
    let begin =
        SearchState { positions: vec![(0, 0, 0); P], under_way: Vec::new(), received: vec![Vec::new(); P] };
    let (mut orders, mut runs) = (BTreeSet::new(), 0);
    explore(program, begin, &mut orders, &mut runs);
    (orders.len(), runs)
}

fn explore(
    program: &OrderProgram,
    mut state: SearchState,
    orders: &mut BTreeSet<Vec<Vec<(usize, usize)>>>,
    runs: &mut usize,
) {
    // A send makes no difference, whenever it happens.
    for (id, steps) in program.iter().enumerate() {
        let (next, last, sent) = &mut state.positions[id];
        while let Some(step) = steps.get(*next).filter(|step| step.is_send()) {
            let (to, tag) = match *step {
                ProgramStep::Send(to, tag) => (to, tag),
                ProgramStep::Answer(tag) => (*last, tag),
                _ => break,
            };
            state.under_way.push((id, *sent, to, tag));
            (*next, *sent) = (*next + 1, *sent + 1);
        }
    }
    let mut is_over = true;
    for (id, steps) in program.iter().enumerate() {
        let (next, last, _) = state.positions[id];
        let (from, tag) = match steps.get(next) {
            Some(ProgramStep::Recv(tag)) => (None, *tag),
            Some(ProgramStep::RecvFrom(from, tag)) => (Some(*from), *tag),
            Some(ProgramStep::RecvAgain(tag)) => (Some(last), *tag),
            _ => continue,
        };
        for (place, message) in state.under_way.iter().enumerate() {
            let (sender, number, to, about) = *message;
            if to == id && about == tag && from.is_none_or(|from| from == sender) {
                is_over = false;
                let mut then = state.clone();
                then.under_way.swap_remove(place);
                then.received[id].push((sender, number));
                (then.positions[id].0, then.positions[id].1) = (next + 1, sender);
                explore(program, then, orders, runs);
            }
        }
    }
    if is_over {
        *runs += 1;
        orders.insert(state.received);
    }
}
