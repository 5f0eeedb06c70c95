//! Reductions: the values of all processors combined into one.

use super::call::{Call, check_root, combine};
use super::costs::{MessageCost, words_of};
use super::levels::{plan, steps};
use super::tree::{Place, Tree};
use crate::message::{Collective, Pack, Payload, Unpack};
use crate::proc::Proc;

/// Combines the values of all processors, in the order of their numbers, and gives the result to the root.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. The optimal broadcast backwards (Karp et al., sections 4 and 5.2): a processor
/// receives from its children what they have, and sends the rest of its interval on.
///
/// **Time**, for values of k words: the least t with F(t) >= P, where F(t) = F(t-d) + F(t-D), D = L + 2o +
/// (k-1)G + c, d = max((k-1)G + g, o + c), and F counts at least the node itself. For root 0 exact if k = 1,
/// all come at once and no gap from before is running, and for longer values a bound. For other roots the
/// same where nothing stalls, but processors may be ready in another order than they are received in. Where g
/// is above L + 2o + c (D < d) and the root is neither the first nor the last processor, d stands for D, and
/// makes a bound.
///
/// All must expect the same tree, so k is that of the type ([`Payload::SIZE`]), and 1 if its values differ.
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
    reduce_by(p, root, value, k, 1, &mut op)
}

/// Reduces values of about k words, where `op` is so many units of work.
#[track_caller]
pub(super) fn reduce_by<T: Payload>(
    p: &mut Proc,
    root: usize,
    value: T,
    k: usize,
    units: u64,
    op: &mut dyn FnMut(T, T) -> T,
) -> Option<T> {
    check_root(p, root);
    let steps = steps(p);
    if !steps.is_empty() {
        let mut on_the_way = steps.iter().rev().filter(|step| step.is_on_the_way_of(root));
        return on_the_way.try_fold(value, |value, step| {
            reduce_by(&mut p.within(&step.group), step.rank(root), value, k, units, op)
        });
    }
    let call = Call::begin(p, Collective::Reduce);
    let Place { children, parent } = place_in_tree(p, &call, root, k, units);
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

/// The processor's place in the tree.
fn place_in_tree(p: &Proc, call: &Call, root: usize, k: usize, units: u64) -> Place {
    let (P, cost, c) = (call.P, MessageCost::of(plan(p), k), p.charge("combine", units));
    let d = cost.gap.max(cost.recv + c);
    let mut D = cost.way + c;
    if root > 0 && root < P - 1 {
        D = D.max(d); // or a child might need more than a side has
    }
    Tree::new(P, D, d).place(P, root, call.id)
}

/// Combines the values of all processors, in the order of their numbers, and gives the result to all.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. A butterfly: in step i processors whose numbers differ in bit i exchange what
/// they have. If P is no power of two, the first 2(P - 2^R) processors pair up before, and one of each pair
/// gets the result after.
///
/// **Time**, for values of k words and P = 2^R, R >= 1: (R-1) ((k-1)G + max(L + 2o + c, g)) + L + 2o +
/// (k-1)G + c. Exact if all come at once, no gap from before is running, and no port has to carry two messages
/// at once: (k-1)G <= L, or the ports are dual. For other P, (R+1) ((k-1)G + max(L + 2o + c, g)) + L + 2o +
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
    all_reduce_by(p, value, 1, op)
}

/// A largest value, where it is, and what came with it: see [`all_max`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum<V, T> {
    /// The largest value.
    pub value: V,
    /// Its place, as whoever gave it counts places; of equal values the first.
    pub place: usize,
    /// What came with it.
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

/// Gives to all processors the largest value of all, its place, and what came with it. Where values are equal, that with
/// the first place is taken; one that is comparable to none, such as NaN, is taken only where there is no other before it.
///
/// **Time**: that of [`all_reduce`], for the words of the value, a place of 8 bytes and what comes with them.
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

/// Reduces to all, where `op` is so many units of work.
#[track_caller]
pub(super) fn all_reduce_by<T: Payload + Clone>(
    p: &mut Proc,
    value: T,
    units: u64,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    const BEFORE: usize = 0;
    const AFTER: usize = 1;
    let call = Call::begin(p, Collective::AllReduce);
    let (id, P) = (call.id, call.P);
    let size = 1 << P.ilog2();
    let paired = 2 * (P - size);
    let mut all = value;
    // An even one of a pair hands its value over and waits for the result.
    if id < paired && id.is_multiple_of(2) {
        call.send(p, id + 1, BEFORE, all);
        return call.recv(p, id + 1, AFTER);
    }
    if id < paired {
        let part = call.recv(p, id - 1, BEFORE);
        all = combine(p, units, (id - 1, part), (id, all), &mut op);
    }
    // The others are the butterfly's nodes, in the same order.
    let node = if id < paired { id / 2 } else { id - paired / 2 };
    let processor = |node: usize| if node < paired / 2 { 2 * node + 1 } else { node + paired / 2 };
    for bit in 0..size.ilog2() {
        let other = node ^ 1 << bit;
        let part = call.swap(p, processor(other), all.clone(), AFTER + 1 + bit as usize);
        all = combine(p, units, (other, part), (node, all), &mut op);
    }
    if id < paired {
        call.send(p, id - 1, AFTER, all.clone());
    }
    all
}
