//! Broadcast: one processor's value reaches all.

use loggp_model::message::{Collective, Payload};
use loggp_predict::collectives::broadcast_tree;

use super::call::{BegunCollective, check_root};
use super::levels::{level_steps, planning_params};
use crate::proc::Proc;

/// Gives the value of the root to every processor. The root gives `Some`, the others `None`.
///
/// Uses the optimal tree of Karp et al. (section 3.2) for a value of k words. No processor has to know k
/// before it has the value: it receives the value from any sender, and then computes its children.
///
/// **Time**: the least t with F(t) >= P, where F(t) = F(t-d) + F(t-D), D = L + 2o + (k-1)G, d = max((k-1)G +
/// g, o), and F counts at least the node itself. Exact if all call at once and no earlier gap is running.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// // LogP's figure 3, with another root.
/// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::broadcast(p, 5, (p.id() == 5).then_some(42_u64))
/// })?;
/// assert_eq!((run.results, run.time), (vec![42; 8], 24 * US));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn broadcast<T: Payload + Clone>(p: &mut Proc, root: usize, value: Option<T>) -> T {
    check_root(p, root);
    let mut value = value;
    let steps = level_steps(p);
    if steps.is_empty() {
        let call = BegunCollective::begin(p, Collective::Broadcast);
        return broadcast_in(p, &call, root, value);
    }
    for step in steps.iter().filter(|step| step.is_on_path_of(root)) {
        value = Some(broadcast(&mut p.within(&step.group), step.rank(root), value));
    }
    value.expect("the last step reaches all")
}

/// Broadcasts within a call.
#[track_caller]
pub(super) fn broadcast_in<T: Payload + Clone>(
    p: &mut Proc,
    call: &BegunCollective,
    root: usize,
    value: Option<T>,
) -> T {
    let (id, P) = (call.id, call.P);
    let value = match call.root_value(p, root, value, "value") {
        Some(value) => value,
        None => call.recv_any(p, 0).1,
    };
    // Places in the tree count from the root.
    let params = planning_params(p);
    let place = broadcast_tree(params, P, params.words(value.bytes())).place(P, 0, (id + P - root) % P);
    for child in place.children {
        call.send(p, (root + child) % P, 0, value.clone());
    }
    value
}
