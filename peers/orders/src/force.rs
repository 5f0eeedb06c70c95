//! By force: every processor that can go on does, one after the other in every way.

use std::collections::BTreeSet;

use super::{Program, Step};

/// A message: its sender, how many that had sent before, its receiver and what it is about.
type Message = (usize, usize, usize, u16);

/// How far a run has come.
#[derive(Clone)]
struct State {
    /// Each processor's next step, whom it received from last, and how many messages it has sent.
    at: Vec<(usize, usize, usize)>,
    /// The messages that nobody has taken.
    under_way: Vec<Message>,
    /// What each processor has taken.
    taken: Vec<Vec<(usize, usize)>>,
}

/// How many orders a program has, and how many runs there are.
pub fn count(program: &Program) -> (usize, usize) {
    let P = program.len();
    let begin = State { at: vec![(0, 0, 0); P], under_way: Vec::new(), taken: vec![Vec::new(); P] };
    let (mut orders, mut runs) = (BTreeSet::new(), 0);
    go_on(program, begin, &mut orders, &mut runs);
    (orders.len(), runs)
}

fn go_on(
    program: &Program,
    mut state: State,
    orders: &mut BTreeSet<Vec<Vec<(usize, usize)>>>,
    runs: &mut usize,
) {
    // What is sent now or later makes no difference.
    for (id, steps) in program.iter().enumerate() {
        let (next, last, sent) = &mut state.at[id];
        while let Some(step) = steps.get(*next).filter(|step| step.sends()) {
            let (to, tag) = match *step {
                Step::Send(to, tag) => (to, tag),
                Step::Answer(tag) => (*last, tag),
                _ => break,
            };
            state.under_way.push((id, *sent, to, tag));
            (*next, *sent) = (*next + 1, *sent + 1);
        }
    }
    let mut is_over = true;
    for (id, steps) in program.iter().enumerate() {
        let (next, last, _) = state.at[id];
        let (from, tag) = match steps.get(next) {
            Some(Step::Recv(tag)) => (None, *tag),
            Some(Step::RecvFrom(from, tag)) => (Some(*from), *tag),
            Some(Step::RecvAgain(tag)) => (Some(last), *tag),
            _ => continue,
        };
        for (place, message) in state.under_way.iter().enumerate() {
            let (sender, number, to, about) = *message;
            if to == id && about == tag && from.is_none_or(|from| from == sender) {
                is_over = false;
                let mut then = state.clone();
                then.under_way.swap_remove(place);
                then.taken[id].push((sender, number));
                (then.at[id].0, then.at[id].1) = (next + 1, sender);
                go_on(program, then, orders, runs);
            }
        }
    }
    if is_over {
        *runs += 1;
        orders.insert(state.taken);
    }
}
