//! Scatter: processor 0 has k items for every processor, and each must get its own.
//!
//! All algorithms are those of Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: Incorporating Long
//! Messages into the LogP Model", section 4. An item is a word. The paper simplifies to o = 0 and counts
//! times in units of G; here they are written out for L, o, g and G. Except in the short-message algorithm
//! processors send each other the *sets* of items of many processors, and everything follows from how they
//! split what they own: a processor that owns n sets sends S(n) of them to a new source, and goes on with
//! the others until only its own is left.
//!
//! The paper counts a processor's time until it could begin another communication (its "communication
//! finishing time"), and the machine until its last message enters the network. It makes no difference where
//! L + 2o >= g, since then the last to finish always is a receiver.

mod split;

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use loggp::{Params, Proc, RunError, Tag, Time, Work};

use crate::option::{Number, Perhaps, Written};
use crate::{Algorithm, Case, Emulation, Opt, Outcome, Plan, Planned, Program, Size};

/// One-to-all personalized communication.
pub static SCATTER: Program = Program {
    name: "scatter",
    about: "one processor has items for all, and each gets its own (LogGP, section 4)",
    algorithms: &[
        Algorithm {
            name: "optimal",
            about: "always splits where that ends soonest, and never splits a processor's set of items",
            formula: "t(n) = min over s of (sk-1)G + max(L+2o + t(s), max(g, o-(sk-1)G) + t(n-s)) (LogGP, section 4.7)",
            plan: |case| Scatter::plan(case, Way::Optimal),
        },
        Algorithm {
            name: "binomial",
            about: "always splits in halves",
            formula: "max(L+2o, g) (ceil(log2 P) - 1) + L+2o + ((P-1)k - ceil(log2 P))G (LogGP, lemma 2), \
                      and no more if P is no power of two",
            plan: |case| Scatter::plan(case, Way::Binomial),
        },
        Algorithm {
            name: "long",
            about: "the source sends everyone a message of k items",
            formula: "(P-2) max((k-1)G + g, o) + (k-1)G + L+2o (LogGP, table 2)",
            plan: |case| Scatter::plan(case, Way::Long),
        },
        Algorithm {
            name: "short",
            about: "the source sends every item by itself",
            formula: "((P-1)k - 1) max(g, o) + L+2o (LogGP, table 2)",
            plan: |case| Scatter::plan(case, Way::Short),
        },
        Algorithm {
            name: "fixed",
            about: "always splits in the same ratio, alpha",
            formula: "t(n) of optimal with s = max(floor(n alpha), 1) (LogGP, section 4.6)",
            plan: |case| Scatter::plan(case, Way::Fixed { alpha: case.get(&ALPHA) }),
        },
        Algorithm {
            name: "split",
            about: "as optimal, and idle processors carry some of the items of those that finish last",
            formula: "none: the paper shows an example (LogGP, figure 10)",
            plan: |case| Scatter::plan(case, Way::Split { detour: case.get(&DETOUR) }),
        },
    ],
    size: Size { meaning: "items per processor, a word each", default: 128 },
    options: &[&ALPHA, &DETOUR],
    work: Work::Charged,
};

/// The splitting ratio.
pub static ALPHA: Opt<f64> = Opt::new(
    "alpha",
    "RATIO",
    "the splitting ratio of `fixed`; halves are the best in LogGP's figure 12",
    0.5,
    &Number { can_be: |alpha| 0.0 < alpha && alpha < 1.0, refusal: "give a ratio between 0 and 1" },
)
.for_algorithms(&["fixed"]);

/// The detour of figure 10, to be told.
pub static DETOUR: Opt<Option<Detour>> = Opt::new(
    "detour",
    "N:BY:TO",
    "items that `split` sends by way of another processor, as 2:5:3 in LogGP's figure 10; a search finds some unless told",
    None,
    &Perhaps(&Written { read: detour, write: |Detour { items, carrier, to }| format!("{items}:{carrier}:{to}") }),
)
.for_algorithms(&["split"]);

/// Some of a processor's items, and by way of whom they come to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detour {
    /// How many of the items.
    pub items: usize,
    /// By way of whom.
    pub carrier: usize,
    /// To whom.
    pub to: usize,
}

/// Reads a detour.
fn detour(text: &str) -> Result<Detour, String> {
    let numbers: Option<Vec<usize>> = text.split(':').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[items, carrier, to]) => Ok(Detour { items, carrier, to }),
        _ => Err("give a number of items, by way of whom, and to whom, as in 2:5:3".into()),
    }
}

/// The tag of all messages but the short ones.
const ITEMS: Tag<Vec<u8>> = Tag::named(0, "items");

/// An item by itself, by its number.
const ITEM: Tag<Vec<u8>> = Tag::named(1, "item");

/// The algorithms.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Optimal,
    Binomial,
    Long,
    Short,
    Fixed { alpha: f64 },
    Split { detour: Option<Detour> },
}

/// A case that was read.
struct Scatter<'a> {
    case: &'a Case,
    way: Way,
}

impl Scatter<'_> {
    fn plan(case: &Case, way: Way) -> Planned<'_> {
        case.check_room(case.params.P.saturating_mul(case.params.word.get()))?;
        if let Way::Split { detour: Some(detour) } = way {
            split::check(&Tree::new(splits(case, way).S, case.params.P, case.size), detour)?;
        }
        Ok(Box::new(Scatter { case, way }))
    }
}

impl Plan for Scatter<'_> {
    fn formula(&self) -> Option<Time> {
        let Params { L, o, g, P, .. } = self.case.params;
        let G = self.case.params.G()?;
        if P == 1 {
            return Some(Time::ZERO);
        }
        let (p, k) = (P as i64, self.case.size as i64);
        Some(match self.way {
            Way::Short => ((p - 1) * k - 1) * g.max(o) + L + 2 * o,
            Way::Long => (p - 2) * o.max((k - 1) * G + g) + (k - 1) * G + L + 2 * o,
            Way::Binomial => {
                let levels = i64::from(P.next_power_of_two().ilog2());
                (levels - 1) * g.max(L + 2 * o) + L + 2 * o + ((p - 1) * k - levels) * G
            }
            Way::Optimal | Way::Fixed { .. } => splits(self.case, self.way).t[P],
            Way::Split { .. } => return None,
        })
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Scatter { case, way } = *self;
        let machine = case.machine(emulation);
        let set = case.size * case.params.word.get();
        let mut items = vec![0; case.params.P * set];
        fastrand::Rng::with_seed(case.seed).fill(&mut items);
        let run = if way == Way::Short {
            machine.run_across(|p| short(p, case.size, &items))
        } else {
            let mut tree = Tree::new(splits(case, way).S, case.params.P, case.size);
            match way {
                Way::Split { detour: Some(Detour { items, carrier, to }) } => tree.detour(carrier, to, items),
                Way::Split { detour: None } => tree = split::improve(tree, &case.params),
                _ => (),
            }
            machine.run_across(|p| scatter(p, &tree, &items))
        };
        let (run, results) = run?.take_results();
        Ok(Outcome::new(run, verify(&results, &items, set)))
    }
}

/// Every processor must have its own set of items.
fn verify(results: &[Vec<u8>], items: &[u8], set: usize) -> Result<(), String> {
    let mut pairs = results.iter().zip(items.chunks(set));
    match pairs.position(|(result, set)| result != set) {
        None => Ok(()),
        Some(id) => Err(format!("processor {id} has other items than processor 0 had for it")),
    }
}

/// The short-message algorithm (section 4.2). The tag says which item it is, as messages may overtake.
fn short(p: &mut Proc, k: usize, items: &[u8]) -> Vec<u8> {
    let word = p.params().word.get();
    if p.id() > 0 {
        return (0..k).flat_map(|item| p.recv_from(0, ITEM.step(item))).collect();
    }
    let mut sets = items.chunks(k * word);
    let mine = sets.next().expect("there is a processor").to_vec();
    for (to, set) in (1..).zip(sets) {
        for (item, bytes) in (0..).zip(set.chunks(word)) {
            p.send(to, ITEM.step(item), bytes.to_vec());
        }
    }
    mine
}

/// Every other algorithm: what each processor does by the tree. Only processor 0 looks at the source's items.
fn scatter(p: &mut Proc, tree: &Tree, items: &[u8]) -> Vec<u8> {
    let (id, word) = (p.id(), p.params().word.get());
    let mut parts: Vec<(usize, Vec<u8>)> = (0..tree.receptions(id)).map(|_| p.recv(ITEMS)).collect();
    parts.sort_by_key(|(from, _)| tree.detours.contains_key(&(*from, id)).then_some(*from));
    let parts = parts.into_iter().map(|(_, part)| part);
    let mut mine =
        parts.reduce(|all, part| [all, part].concat()).unwrap_or_else(|| tree.lay_out(items, word));
    for Message { to, items } in tree.sends(id) {
        p.send(to, ITEMS, mine.split_off(mine.len() - items * word));
    }
    mine
}

/// How many sets go to a new source, and how long a scatter takes then.
struct Splits {
    /// S(n), how many of n sets are sent first.
    S: Vec<usize>,
    /// t(n), how long the owner of n sets needs until everyone has his.
    t: Vec<Time>,
}

/// The splits that the algorithm makes. On a LogGPS machine, of which the paper knows nothing, the optimal
/// ones are as right as any and may not be the fastest.
fn splits(case: &Case, way: Way) -> Splits {
    let sent = |n: usize, s: usize| s.clamp(1, n - 1)..s.clamp(1, n - 1) + 1;
    match way {
        Way::Long => fastest(case, |n| sent(n, 1)),
        Way::Binomial => fastest(case, |n| sent(n, n / 2)),
        Way::Fixed { alpha } => fastest(case, |n| sent(n, (n as f64 * alpha) as usize)),
        _ => fastest(case, |n| 1..n),
    }
}

/// The fastest splits among those that are allowed, and the smallest among equally fast ones: sections 4.5
/// and 4.7, where all of 0 < s < n are.
fn fastest(case: &Case, allowed: impl Fn(usize) -> Range<usize>) -> Splits {
    let P = case.params.P;
    let mut S = vec![0; P + 1];
    let mut t = vec![Time::ZERO; P + 1];
    for n in 2..=P {
        S[n] = allowed(n).start;
        t[n] = Time::MAX;
        for s in allowed(n) {
            let (sent, kept) = ends(case, n, s, &t);
            if sent >= t[n] {
                break; // it only grows with s: t is monotone
            }
            if sent.max(kept) < t[n] {
                (S[n], t[n]) = (s, sent.max(kept));
            }
        }
    }
    Splits { S, t }
}

/// When those have their items to whom s of n sets go, and when those have theirs who stay with the owner.
///
/// The last item of the s sets goes on (sk-1)G after the first. L + 2o later the new source begins. The old one
/// begins again when the gap is over and the overhead, which may overlap, too; or it has nothing left to do.
fn ends(case: &Case, n: usize, s: usize, t: &[Time]) -> (Time, Time) {
    let Params { L, o, g, .. } = case.params;
    let G = case.params.G().unwrap_or(g.max(o)); // without one, as for a train of short messages
    let stream = (s as i64 * case.size as i64 - 1) * G;
    let kept = if n - s > 1 { o.max(stream + g) + t[n - s] } else { Time::ZERO };
    (stream + L + 2 * o + t[s], kept)
}

/// Which numbers of n sets can be sent first so that all ends as soon as it can. The optimal algorithm takes the
/// smallest, S(n) (section 4.5).
///
/// # Panics
///
/// If the machine has fewer than n processors.
pub fn best_splits(case: &Case, n: usize) -> Vec<usize> {
    let t = splits(case, Way::Optimal).t;
    let end = |s: usize| {
        let (sent, kept) = ends(case, n, s, &t);
        sent.max(kept)
    };
    (1..n).filter(|s| end(*s) == t[n]).collect()
}

/// Who sends whom how many items: a tree, and detours from it.
///
/// When a processor becomes a source it owns the sets of a range of processors, of which it is the first, and
/// each new source gets the last sets of the range. Without detours every item leaves the tree at its own
/// processor. With a detour some leave it at a carrier's, who sends them on after all its other messages.
#[derive(Clone, Debug)]
struct Tree {
    /// The items in a set.
    k: usize,
    /// S(n).
    S: Vec<usize>,
    /// How many sets each processor owns when it becomes a source.
    owned: Vec<usize>,
    /// How many items a carrier sends on to another processor, which has nobody to send to: by the two.
    detours: BTreeMap<(usize, usize), usize>,
    /// How many items leave the tree at processors before each.
    before: Vec<usize>,
}

/// A message of a tree.
struct Message {
    to: usize,
    items: usize,
}

impl Tree {
    /// The tree, without detours.
    fn new(S: Vec<usize>, P: usize, k: usize) -> Tree {
        let before = (0..=P).map(|id| id * k).collect();
        let mut tree = Tree { k, S, owned: vec![P; P], detours: BTreeMap::new(), before };
        for id in 0..P {
            let ranges: Vec<_> = tree.children(id).collect();
            for Range { start, end } in ranges {
                tree.owned[start] = end - start;
            }
        }
        tree
    }

    /// Lets a carrier have so many more of the items of `to`.
    fn detour(&mut self, carrier: usize, to: usize, items: usize) {
        *self.detours.entry((carrier, to)).or_default() += items;
        self.before[carrier + 1..].iter_mut().for_each(|before| *before += items);
        self.before[to + 1..].iter_mut().for_each(|before| *before -= items);
    }

    /// The processors to which a source sends, in order, each with the range of those whose sets it gets.
    fn children(&self, id: usize) -> impl Iterator<Item = Range<usize>> {
        let mut n = self.owned[id];
        iter::from_fn(move || {
            let end = id + n;
            n -= self.S[n]; // S(1) = 0
            (id + n < end).then_some(id + n..end)
        })
    }

    /// What a processor sends for others, in order of their numbers: to whom, and how many items.
    fn carries(&self, id: usize) -> impl DoubleEndedIterator<Item = Message> {
        self.detours.range((id, 0)..(id + 1, 0)).map(|(&(_, to), &items)| Message { to, items })
    }

    /// All that a processor sends, in order.
    fn sends(&self, id: usize) -> impl Iterator<Item = Message> {
        let items = |range: &Range<usize>| self.before[range.end] - self.before[range.start];
        let sets = self.children(id).map(move |range| Message { to: range.start, items: items(&range) });
        sets.chain(self.carries(id).rev())
    }

    /// How many messages a processor receives.
    fn receptions(&self, id: usize) -> usize {
        usize::from(id > 0) + self.detours.keys().filter(|(_, to)| *to == id).count()
    }

    /// How many of its own items a processor gets from its source.
    fn own(&self, id: usize) -> usize {
        let carried: usize = self.carries(id).map(|message| message.items).sum();
        self.before[id + 1] - self.before[id] - carried
    }

    /// The source's items in the order in which they leave the tree, so that every message is the end of
    /// what its sender owns: for each processor the first of its own, and then those that it carries.
    fn lay_out(&self, items: &[u8], word: usize) -> Vec<u8> {
        let mut sets: Vec<&[u8]> = items.chunks(self.k * word).collect();
        let mut take = |id: usize, items: usize| {
            let taken;
            (taken, sets[id]) = sets[id].split_at(items * word);
            taken
        };
        let ids = 0..self.owned.len();
        let own: Vec<&[u8]> = ids.map(|id| take(id, self.own(id))).collect();
        let mut order = Vec::with_capacity(items.len());
        for (id, own) in own.into_iter().enumerate() {
            order.extend(own);
            for Message { to, items } in self.carries(id) {
                order.extend(take(to, items));
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::US;

    fn optimal(L: i64, o: i64, g: i64, G: i64, P: usize, k: usize) -> Splits {
        let params = Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap();
        splits(&Case { size: k, ..Case::new(&SCATTER, "optimal", params) }, Way::Optimal)
    }

    #[test]
    fn wrong_items_are_noticed() {
        let items = [1, 2, 3, 4, 5, 6];
        assert_eq!(verify(&[vec![1, 2], vec![3, 4], vec![5, 6]], &items, 2), Ok(()));
        for wrong in [vec![4, 3], vec![3], vec![3, 4, 5], vec![5, 6]] {
            let refusal = verify(&[vec![1, 2], wrong, vec![5, 6]], &items, 2).unwrap_err();
            assert!(refusal.starts_with("processor 1 has other items"), "{refusal}");
        }
    }

    #[test]
    fn splits_are_those_of_section_4_6() {
        let params = Params::builder(320).L(30 * US).g(10 * US).G(US).build().unwrap();
        let case = Case { size: 1, ..Case::new(&SCATTER, "optimal", params) };
        let Splits { S, .. } = splits(&case, Way::Optimal);
        assert_eq!((S[5], S[320]), (1, 150));
        assert_eq!((best_splits(&case, 5), best_splits(&case, 320)), (vec![1], vec![150]));
    }

    /// The recurrence word for word, with every s tried.
    #[test]
    fn no_split_is_missed() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let mut any = |most| rng.i64(0..=most);
            let (L, o, g, G, k) = (any(60), any(20), any(40), any(3), any(30) + 1);
            let splits = optimal(L, o, g, G, 50, k as usize);
            let mut t = vec![0, 0];
            for n in 2..=50 {
                let time = |s: &usize| {
                    let rest = n - s;
                    let kept = if rest > 1 { g.max(o - (*s as i64 * k - 1) * G) + t[rest] } else { 0 };
                    (*s as i64 * k - 1) * G + kept.max(L + 2 * o + t[*s])
                };
                let best = (1..n).min_by_key(time).unwrap();
                assert_eq!((splits.S[n], splits.t[n]), (best, time(&best) * US), "{L} {o} {g} {G} {k} n={n}");
                t.push(time(&best));
            }
        }
    }

    #[test]
    fn a_detour_changes_who_carries_and_not_how_much() {
        let mut tree = Tree::new(optimal(4, 1, 4, 1, 6, 10).S, 6, 10);
        tree.detour(4, 3, 2);
        let sends = |id| tree.sends(id).map(|m| (m.to, m.items)).collect::<Vec<_>>();
        assert_eq!(sends(0), [(4, 22), (2, 18), (1, 10)]);
        assert_eq!(sends(2), [(3, 8)]);
        assert_eq!(sends(4), [(5, 10), (3, 2)]);
        assert_eq!((tree.own(3), tree.own(4), tree.receptions(3)), (8, 10, 2));
    }
}
