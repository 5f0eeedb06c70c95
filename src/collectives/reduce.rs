//! Reductions: the values of all processors combined into one.

use loggp_model::message::{Collective, Pack, Payload, Unpack};
use loggp_predict::collectives::{MessageCost, Tree, TreePlace};
use loggp_schedule::rounds::Nodes;

use super::call::{BegunCollective, check_root, combine, words_of};
use super::levels::{level_steps, planning_params};
use crate::proc::Proc;

/// Combines the values of all processors, in the order of their numbers, and gives the result to the root.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. This is the optimal broadcast backwards (Karp et al., sections 4 and 5.2): a
/// processor receives the combined values of its children, and sends those of its whole interval to its
/// parent.
///
/// **Time**, for values of k words: the least t with F(t) >= P, where F(t) = F(t-d) + F(t-D), D = L + 2o +
/// (k-1)G + c, d = max((k-1)G + g, o + c), and F counts at least the node itself. For root 0 it is exact if k
/// = 1, all call at once and no earlier gap is running, and a bound for longer values. For other roots the
/// same holds where nothing stalls, but processors may be ready in another order than they are received in.
/// Where g is above L + 2o + c (D < d) and the root is neither the first nor the last processor, d replaces D
/// and gives a bound.
///
/// All must expect the same tree, so k is the length of the type's values ([`Payload::SIZE`]), or 1 if they
/// differ.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(5).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::reduce(p, 2, p.id().to_string(), |a, b| a + &b)
/// })?;
/// assert_eq!(run.results[2].as_deref(), Some("01234"));
/// assert_eq!(run.results[0], None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn reduce<T: Payload>(p: &mut Proc, root: usize, value: T, op: impl FnMut(T, T) -> T) -> Option<T> {
    let k = words_of::<T>(p, 1);
    let mut op = op;
    reduce_units(p, root, value, k, 1, &mut op)
}

/// Reduces values of about `k` words, where each `op` takes `units` units of work.
#[track_caller]
pub(super) fn reduce_units<T: Payload>(
    p: &mut Proc,
    root: usize,
    value: T,
    k: usize,
    units: u64,
    op: &mut dyn FnMut(T, T) -> T,
) -> Option<T> {
    check_root(p, root);
    let steps = level_steps(p);
    if !steps.is_empty() {
        let mut on_the_way = steps.iter().rev().filter(|step| step.is_on_path_of(root));
        return on_the_way.try_fold(value, |value, step| {
            reduce_units(&mut p.within(&step.group), step.rank(root), value, k, units, op)
        });
    }
    let call = BegunCollective::begin(p, Collective::Reduce);
    let TreePlace { children, parent } = place_in_tree(p, &call, root, k, units);
    let mut all = value;
    for child in children.into_iter().rev() {
        let part = call.recv(p, child, 0);
        all = combine(p, units, (child, part), (call.id, all), &mut *op);
    }
    match parent {
        None => Some(all),
        Some(parent) => {
            call.send(p, parent, 0, all);
            None
        }
    }
}

fn place_in_tree(p: &Proc, call: &BegunCollective, root: usize, k: usize, units: u64) -> TreePlace {
    let (P, cost, c) = (call.P, MessageCost::new(planning_params(p), k), p.charged_cost("combine", units));
    let d = cost.gap.max(cost.recv + c);
    let mut D = cost.transit + c;
    if root > 0 && root < P - 1 {
        // Otherwise a child might need more processors than a side has.
        D = D.max(d);
    }
    Tree::new(P, D, d).place(P, root, call.id)
}

/// Combines the values of all processors, in the order of their numbers, and gives the result to all.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. This is a butterfly: in step i processors whose numbers differ in bit i exchange
/// their combined values. If P is not a power of two, the first 2(P - 2^R) processors first combine in pairs,
/// and one of each pair gets the result at the end.
///
/// **Time**, for values of k words and P = 2^R, R >= 1: (R-1) ((k-1)G + max(L + 2o + c, g)) + L + 2o +
/// (k-1)G + c. Exact if all call at once, no earlier gap is running, and no port has to carry two messages at
/// once: (k-1)G <= L, or the ports are dual. For other P, (R+1) ((k-1)G + max(L + 2o + c, g)) + L + 2o +
/// (k-1)G with R = floor(log2 P) is a bound if k = 1 or the ports are dual.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::all_reduce(p, p.id() as u64, |a, b| a + b)
/// })?;
/// assert_eq!((run.results, run.time), (vec![28; 8], 3 * (11 * US)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_reduce<T: Payload + Clone>(p: &mut Proc, value: T, op: impl FnMut(T, T) -> T) -> T {
    all_reduce_units(p, value, 1, op)
}

/// The largest value, its place, and the data given with the value: see [`all_max`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum<V, T> {
    /// The largest value.
    pub value: V,
    /// The place that was given with the value; the first one if values are equal.
    pub place: usize,
    /// The data given with the value.
    pub with: T,
}

impl<V: Payload, T: Payload> Payload for Maximum<V, T> {
    const SIZE: Option<usize> = <(V, u64, T)>::SIZE;

    fn bytes(&self) -> usize {
        self.value.bytes() + size_of::<u64>() + self.with.bytes()
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.value.pack(to);
        self.place.pack(to);
        self.with.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<Maximum<V, T>> {
        Some(Maximum { value: V::unpack(from)?, place: usize::unpack(from)?, with: T::unpack(from)? })
    }
}

/// Gives to all processors the largest value of all, with its place and data. Of equal values, the one with
/// the first place is taken. A value that cannot be compared, such as NaN, is taken only if there is no other
/// before it.
///
/// **Time**: that of [`all_reduce`], for the words of the value, a place of 8 bytes and the data.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).word(32).build()?;
/// let run = Machine::new(params).run(|p| {
///     let largest = collectives::all_max(p, [2.5, 7.0, 7.0, 1.0][p.id()], 10 + p.id(), 'a');
///     (largest.value, largest.place)
/// })?;
/// assert_eq!((run.results, run.time), (vec![(7.0, 11); 4], 2 * (11 * US)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_max<V, T>(p: &mut Proc, value: V, place: usize, with: T) -> Maximum<V, T>
where
    V: Payload + Clone + PartialOrd,
    T: Payload + Clone,
{
    all_reduce(p, Maximum { value, place, with }, |a, b| {
        let second = b.value > a.value || b.value == a.value && b.place < a.place;
        if second { b } else { a }
    })
}

/// Reduces to all, where each `op` takes `units` units of work.
#[track_caller]
pub(super) fn all_reduce_units<T: Payload + Clone>(
    p: &mut Proc,
    value: T,
    units: u64,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    const BEFORE: usize = 0;
    const AFTER: usize = 1;
    let call = BegunCollective::begin(p, Collective::AllReduce);
    let (id, P) = (call.id, call.P);
    let nodes = Nodes::new(P, true);
    let mut all = value;
    // The even processor of a pair sends its value to the odd one and waits for the result.
    let Some(node) = nodes.node(id) else {
        call.send(p, id + 1, BEFORE, all);
        return call.recv(p, id + 1, AFTER);
    };
    let partner = nodes.partner(id);
    if let Some(partner) = partner {
        let part = call.recv(p, partner, BEFORE);
        all = combine(p, units, (partner, part), (id, all), &mut op);
    }
    // Nodes are in the order of their processors.
    for bit in 0..nodes.count.ilog2() {
        let other = node ^ 1 << bit;
        let part = call.swap(p, nodes.rank(other), all.clone(), AFTER + 1 + bit as usize);
        all = combine(p, units, (other, part), (node, all), &mut op);
    }
    if let Some(partner) = partner {
        call.send(p, partner, AFTER, all.clone());
    }
    all
}
