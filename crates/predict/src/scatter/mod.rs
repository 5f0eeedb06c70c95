//! Scatter: processor 0 has k items for every processor, and each gets its own.
//!
//! All algorithms are those of Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: Incorporating Long
//! Messages into the LogP Model", section 4. An item is a word. The paper simplifies to o = 0 and counts
//! times in units of G; here they are written out for L, o, g and G. Except in the short-message algorithm
//! processors send each other the *sets* of items of many processors, and everything follows from how they
//! split the sets that they own: a processor that owns n sets sends S(n) of them to a new source, and goes on
//! with the others until only its own is left.
//!
//! The paper counts a processor's time until it could begin another communication (its "communication
//! finishing time"), and the machine until its last message enters the network. It makes no difference where
//! L + 2o >= g, since then the last to finish always is a receiver.

mod split;

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::plan::boxed;
use crate::steps::{self, Step};
use crate::{ClosedForm, Description, FormKind, Predict, Refusal, Setting, Size, StepProgram};

/// Purpose and source of the program.
pub const ABOUT: &str = "one processor has items for all, and each gets its own (LogGP, section 4)";
/// Meaning and default of its size.
pub const SIZE: Size = Size { meaning: "items per processor, a word each", default: 128 };

/// The program.
pub static SCATTER: StepProgram = StepProgram {
    about: ABOUT,
    size: SIZE,
    algorithms: &[
        (OPTIMAL, |s| boxed(Scatter::new(s, ScatterVariant::Optimal))),
        (BINOMIAL, |s| boxed(Scatter::new(s, ScatterVariant::Binomial))),
        (LONG, |s| boxed(Scatter::new(s, ScatterVariant::Long))),
        (SHORT, |s| boxed(Scatter::new(s, ScatterVariant::Short))),
    ],
};

/// The algorithm `optimal`.
pub const OPTIMAL: Description = Description {
    name: "optimal",
    about: "always splits where that ends soonest, and never splits a processor's set of items",
    formula: ClosedForm::Paper(
        "LogGP, section 4.7",
        "t(n) = min over s of (sk-1)G + max(L+2o + t(s), max(g, o-(sk-1)G) + t(n-s))",
    ),
};

/// The algorithm `binomial`.
pub const BINOMIAL: Description = Description {
    name: "binomial",
    about: "always splits in halves",
    formula: ClosedForm::Paper(
        "LogGP, lemma 2",
        "max(L+2o, g) (ceil(log2 P) - 1) + L+2o + ((P-1)k - ceil(log2 P))G, and no more if P is no power of two",
    ),
};

/// The algorithm `long`.
pub const LONG: Description = Description {
    name: "long",
    about: "the source sends everyone a message of k items",
    formula: ClosedForm::Paper("LogGP, table 2", "(P-2) max((k-1)G + g, o) + (k-1)G + L+2o"),
};

/// The algorithm `short`.
pub const SHORT: Description = Description {
    name: "short",
    about: "the source sends every item by itself",
    formula: ClosedForm::Paper("LogGP, table 2", "((P-1)k - 1) max(g, o) + L+2o"),
};

/// The algorithm `fixed`.
pub const FIXED: Description = Description {
    name: "fixed",
    about: "always splits in the same ratio, alpha",
    formula: ClosedForm::Paper("LogGP, section 4.6", "t(n) of optimal with s = max(floor(n alpha), 1)"),
};

/// The algorithm `split`.
pub const SPLIT: Description = Description {
    name: "split",
    about: "as optimal, and idle processors carry some of the items of those that finish last",
    formula: ClosedForm::None("the paper shows an example (LogGP, figure 10)"),
};

/// Items of a processor that reach it by way of a carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detour {
    /// Number of items.
    pub items: usize,
    /// Processor that carries the items.
    pub carrier: usize,
    /// Processor that the items are for.
    pub to: usize,
}

/// The algorithms.
#[derive(Clone, Copy, PartialEq)]
pub enum ScatterVariant {
    Optimal,
    Binomial,
    Long,
    Short,
    Fixed { alpha: f64 },
    Split { detour: Option<Detour> },
}

/// A scatter.
#[derive(Clone, Copy)]
pub struct Scatter<'a> {
    setting: Setting<'a>,
    variant: ScatterVariant,
}

impl<'a> Scatter<'a> {
    /// Returns the scatter, or refuses it.
    pub fn new(setting: Setting<'a>, variant: ScatterVariant) -> Result<Scatter<'a>, Refusal> {
        setting.check_room(setting.params.P.saturating_mul(setting.params.word.get()))?;
        let scatter = Scatter { setting, variant };
        if let ScatterVariant::Split { detour: Some(detour) } = variant {
            split::check(&scatter.whole_tree(), detour)?;
        }
        Ok(scatter)
    }

    /// Returns the algorithm.
    pub fn variant(&self) -> ScatterVariant {
        self.variant
    }

    /// Returns the tree without detours.
    fn whole_tree(&self) -> ScatterTree {
        let Setting { params, size, .. } = self.setting;
        ScatterTree::new(splits(self.setting, self.variant).S, params.P, size)
    }

    /// Returns the messages of any algorithm but the short one.
    pub fn tree(&self) -> ScatterTree {
        let mut tree = self.whole_tree();
        match self.variant {
            ScatterVariant::Split { detour: Some(Detour { items, carrier, to }) } => {
                tree.add_detour(carrier, to, items);
                tree
            }
            ScatterVariant::Split { detour: None } => split::improve(tree, self.setting.params),
            _ => tree,
        }
    }

    /// Returns what a processor does in the short-message algorithm (section 4.2): processor 0 sends every
    /// item by itself, with its number, as messages may overtake.
    pub fn short_steps(&self, id: usize) -> impl Iterator<Item = Step> + use<> {
        let (k, P, bytes) = (self.setting.size, self.setting.params.P, self.setting.params.word.get());
        let receivers = if id == 0 { 1..P } else { id..id + 1 };
        receivers.flat_map(move |to| {
            (0..k).map(move |item| match id {
                0 => Step::Send { to, bytes, number: Some(item) },
                _ => Step::Receive { from: Some(0), number: Some(item) },
            })
        })
    }
}

impl Predict for Scatter<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let Params { L, o, g, P, .. } = *self.setting.params;
        let G = self.setting.params.G()?;
        let exact = |time: Time| Some((FormKind::Exact, time));
        if P == 1 {
            return exact(Time::ZERO);
        }
        let (p, k) = (P as i64, self.setting.size as i64);
        exact(match self.variant {
            ScatterVariant::Short => ((p - 1) * k - 1) * g.max(o) + L + 2 * o,
            ScatterVariant::Long => (p - 2) * o.max((k - 1) * G + g) + (k - 1) * G + L + 2 * o,
            ScatterVariant::Binomial => {
                let levels = i64::from(P.next_power_of_two().ilog2());
                let time = (levels - 1) * g.max(L + 2 * o) + L + 2 * o + ((p - 1) * k - levels) * G;
                // Else the two halves differ, and the lemma counts the later start and the larger half.
                let is_exact = P.is_power_of_two() || L + 2 * o <= g;
                let kind = if is_exact { FormKind::Exact } else { FormKind::UpperBound };
                return Some((kind, time));
            }
            ScatterVariant::Split { .. } => return None,
            _ => splits(self.setting, self.variant).t[P],
        })
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Setting { params, levels, .. } = self.setting;
        let schedule = || match self.variant {
            ScatterVariant::Short => steps::schedule(params, |id| self.short_steps(id)),
            _ => {
                let tree = self.tree();
                steps::schedule(params, |id| tree.steps(id, params.word.get()))
            }
        };
        levels.is_empty().then(schedule)
    }
}

/// The splits of all numbers of sets, and their times.
struct Splits {
    /// S(n), the number of sets of n that are sent first.
    S: Vec<usize>,
    /// t(n), the time from n sets at one owner until each is at its processor.
    t: Vec<Time>,
}

/// Returns the splits of the algorithm. The paper says nothing of LogGPS machines: there the optimal ones are
/// right, and may not be the fastest.
fn splits(setting: Setting, variant: ScatterVariant) -> Splits {
    let sent = |n: usize, s: usize| s.clamp(1, n - 1)..s.clamp(1, n - 1) + 1;
    match variant {
        ScatterVariant::Long => fastest_splits(setting, |n| sent(n, 1)),
        ScatterVariant::Binomial => fastest_splits(setting, |n| sent(n, n / 2)),
        ScatterVariant::Fixed { alpha } => fastest_splits(setting, |n| sent(n, (n as f64 * alpha) as usize)),
        _ => fastest_splits(setting, |n| 1..n),
    }
}

/// Returns the fastest of the allowed splits, and the smallest of equally fast ones (sections 4.5 and 4.7,
/// where all 0 < s < n are allowed).
fn fastest_splits(setting: Setting, allowed: impl Fn(usize) -> Range<usize>) -> Splits {
    let P = setting.params.P;
    let mut S = vec![0; P + 1];
    let mut t = vec![Time::ZERO; P + 1];
    for n in 2..=P {
        S[n] = allowed(n).start;
        t[n] = Time::MAX;
        for s in allowed(n) {
            let (sent, kept) = split_ends(setting, n, s, &t);
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

/// Returns two times for a split in which s of n sets are sent: when the new source's processors have their
/// items, and when the owner's have theirs.
///
/// The last item of the s sets follows (sk-1)G after the first. L + 2o later the new source begins. The owner
/// begins again when the gap is over, and the overhead, which may overlap it; or it has nothing left to do.
fn split_ends(setting: Setting, n: usize, s: usize, t: &[Time]) -> (Time, Time) {
    let Params { L, o, g, .. } = *setting.params;
    let G = setting.params.G().unwrap_or(g.max(o)); // without one, as for a train of short messages
    let stream = (s as i64 * setting.size as i64 - 1) * G;
    let kept = if n - s > 1 { o.max(stream + g) + t[n - s] } else { Time::ZERO };
    (stream + L + 2 * o + t[s], kept)
}

/// Returns all numbers of n sets that can be sent first without a later end. The optimal algorithm takes the
/// smallest, S(n) (section 4.5).
///
/// # Panics
///
/// If the machine has fewer than n processors.
pub fn best_splits(setting: Setting, n: usize) -> Vec<usize> {
    let t = splits(setting, ScatterVariant::Optimal).t;
    let end = |s: usize| {
        let (sent, kept) = split_ends(setting, n, s, &t);
        sent.max(kept)
    };
    (1..n).filter(|s| end(*s) == t[n]).collect()
}

/// The messages of a scatter: a tree, and detours from it.
///
/// When a processor becomes a source it owns the sets of a range of processors, of which it is the first, and
/// each new source gets the last sets of the range. Without detours every item leaves the tree at its own
/// processor. With a detour some leave it at a carrier, which sends them on after all its other messages.
#[derive(Clone, Debug)]
pub struct ScatterTree {
    /// Items in a set.
    k: usize,
    S: Vec<usize>,
    /// Number of sets that each processor owns when it becomes a source.
    owned: Vec<usize>,
    /// Number of items that a carrier sends on to another processor, which sends nothing; by carrier and
    /// receiver.
    pub detours: BTreeMap<(usize, usize), usize>,
    /// Number of items that leave the tree at lower processors than each.
    items_before: Vec<usize>,
}

/// A message of a tree.
struct TreeMessage {
    to: usize,
    items: usize,
}

impl ScatterTree {
    /// Makes a tree without detours.
    fn new(S: Vec<usize>, P: usize, k: usize) -> ScatterTree {
        let items_before = (0..=P).map(|id| id * k).collect();
        let mut tree = ScatterTree { k, S, owned: vec![P; P], detours: BTreeMap::new(), items_before };
        for id in 0..P {
            let ranges: Vec<_> = tree.children(id).collect();
            for Range { start, end } in ranges {
                tree.owned[start] = end - start;
            }
        }
        tree
    }

    /// Lets a carrier have `items` more of the items of `to`.
    fn add_detour(&mut self, carrier: usize, to: usize, items: usize) {
        *self.detours.entry((carrier, to)).or_default() += items;
        self.items_before[carrier + 1..].iter_mut().for_each(|before| *before += items);
        self.items_before[to + 1..].iter_mut().for_each(|before| *before -= items);
    }

    /// Returns a source's messages in order, each as the range of processors whose sets it has; the first is
    /// the receiver.
    fn children(&self, id: usize) -> impl Iterator<Item = Range<usize>> {
        let mut n = self.owned[id];
        iter::from_fn(move || {
            let end = id + n;
            n -= self.S[n]; // S(1) = 0
            (id + n < end).then_some(id + n..end)
        })
    }

    /// Returns the messages that a carrier sends on, in order of their receivers.
    fn carried_messages(&self, id: usize) -> impl DoubleEndedIterator<Item = TreeMessage> {
        self.detours.range((id, 0)..(id + 1, 0)).map(|(&(_, to), &items)| TreeMessage { to, items })
    }

    /// Returns all messages of a processor, in order.
    fn messages(&self, id: usize) -> impl Iterator<Item = TreeMessage> {
        let items = |range: &Range<usize>| self.items_before[range.end] - self.items_before[range.start];
        let sets = self.children(id).map(move |range| TreeMessage { to: range.start, items: items(&range) });
        sets.chain(self.carried_messages(id).rev())
    }

    /// Returns the number of messages that a processor receives.
    fn receptions(&self, id: usize) -> usize {
        usize::from(id > 0) + self.detours.keys().filter(|(_, to)| *to == id).count()
    }

    /// Returns what a processor does along the tree.
    pub fn steps(&self, id: usize, word: usize) -> impl Iterator<Item = Step> + '_ {
        let receptions = iter::repeat_n(Step::Receive { from: None, number: None }, self.receptions(id));
        let send = move |TreeMessage { to, items }| Step::Send { to, bytes: items * word, number: None };
        receptions.chain(self.messages(id).map(send))
    }

    /// Returns the number of own items that a processor gets from its source.
    fn own_items(&self, id: usize) -> usize {
        let carried: usize = self.carried_messages(id).map(|message| message.items).sum();
        self.items_before[id + 1] - self.items_before[id] - carried
    }

    /// Returns the source's items in the order in which they leave the tree, so that every message is the end
    /// of its sender's items: for each processor the first of its own, and then those that it carries.
    pub fn lay_out(&self, items: &[u8], word: usize) -> Vec<u8> {
        let mut sets: Vec<&[u8]> = items.chunks(self.k * word).collect();
        let mut take = |id: usize, items: usize| {
            let taken;
            (taken, sets[id]) = sets[id].split_at(items * word);
            taken
        };
        let ids = 0..self.owned.len();
        let own: Vec<&[u8]> = ids.map(|id| take(id, self.own_items(id))).collect();
        let mut order = Vec::with_capacity(items.len());
        for (id, own) in own.into_iter().enumerate() {
            order.extend(own);
            for TreeMessage { to, items } in self.carried_messages(id) {
                order.extend(take(to, items));
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use loggp_model::params::Ports;
    use loggp_model::time::US;

    use super::*;

    fn setting(params: &Params, size: usize) -> Setting<'_> {
        Setting { params, levels: &[], ports: Ports::Single, barrier: None, size }
    }

    fn optimal(L: i64, o: i64, g: i64, G: i64, P: usize, k: usize) -> Splits {
        let params = Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap();
        splits(setting(&params, k), ScatterVariant::Optimal)
    }

    #[test]
    fn splits_are_those_of_section_4_6() {
        let params = Params::builder(320).L(30 * US).g(10 * US).G(US).build().unwrap();
        let setting = setting(&params, 1);
        let Splits { S, .. } = splits(setting, ScatterVariant::Optimal);
        assert_eq!((S[5], S[320]), (1, 150));
        assert_eq!((best_splits(setting, 5), best_splits(setting, 320)), (vec![1], vec![150]));
    }

    /// Compares with the recurrence itself, where every s is tried.
    #[test]
    fn splits_are_the_best_of_all() {
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
    fn detour_changes_the_carrier_and_not_the_items() {
        let mut tree = ScatterTree::new(optimal(4, 1, 4, 1, 6, 10).S, 6, 10);
        tree.add_detour(4, 3, 2);
        let sends = |id| tree.messages(id).map(|m| (m.to, m.items)).collect::<Vec<_>>();
        assert_eq!(sends(0), [(4, 22), (2, 18), (1, 10)]);
        assert_eq!(sends(2), [(3, 8)]);
        assert_eq!(sends(4), [(5, 10), (3, 2)]);
        assert_eq!((tree.own_items(3), tree.own_items(4), tree.receptions(3)), (8, 10, 2));
    }
}
