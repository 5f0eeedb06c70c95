//! The critical path as a formula: how often each parameter is in it, and the times that follow from none.
//!
//! The cost of a hop is left to the machine's rules: a parameter occurs in it as often as the hop grows in
//! picoseconds when the parameter grows by one.

use std::collections::BTreeMap;
use std::fmt;

use loggp_model::params::{LevelParameter, LeveledParams, LongMessages, Parameter, Params};
use loggp_model::time::{PS, Time};

use super::index::EventIndex;
use super::walk::{Hop, HopKind, HopTerm, for_each_hop};

/// A sum of multiples of parameters, and of times that follow from no parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    /// Names of the parameters in the order of [`Parameter::ALL`], those of the machine itself before those of
    /// its levels, and their multiples; none is 0.
    pub counts: Vec<(&'static str, i64)>,
    /// The rest by kind: `work`, `barrier`, `drawn latency`, or `surcharge` where a model has one or noise
    /// lengthens an overhead. None is 0.
    pub rest: Vec<(&'static str, Time)>,
}

/// Makes formulas of hops on one machine.
#[derive(Clone, Debug)]
pub struct FormulaBuilder {
    /// The machine itself, and each of its levels.
    levels: Vec<LevelTerms>,
}

/// The parameters of a level, and what they make of a hop.
#[derive(Clone, Debug)]
struct LevelTerms {
    params: Params,
    /// Parameters with which those of `more` are compared.
    base: Params,
    /// For each parameter that is a time and not 0, the level on which it is a picosecond more.
    more: Vec<(LevelParameter, Params)>,
}

/// The class of hops that a formula does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HopClass {
    term: HopTerm,
    level: usize,
    /// The kind, if no parameter determines the length.
    kind: Option<HopKind>,
    is_drawn: bool,
}

/// The number of hops of each class, and their length together. Most paths have many hops of few classes: those
/// of the last few are added up before they are looked up among all.
struct HopClasses {
    recent: [Option<(HopClass, i64, Time)>; HopClasses::RECENT],
    all: BTreeMap<HopClass, (i64, Time)>,
}

impl Default for HopClasses {
    fn default() -> HopClasses {
        HopClasses { recent: [None; HopClasses::RECENT], all: BTreeMap::new() }
    }
}

impl HopClasses {
    const RECENT: usize = 64;

    #[inline]
    fn add(&mut self, class: HopClass, length: Time) {
        let (number, words) = match class.term {
            HopTerm::Fixed => (0, class.kind.map_or(0, |kind| kind as usize)),
            HopTerm::Send(words) => (1, words),
            HopTerm::Receive(words) => (2, words),
            HopTerm::Latency => (3, 0),
            HopTerm::Stream(words) => (4, words),
            HopTerm::Gap => (5, 0),
            HopTerm::OneSided(words) => (6, words),
        };
        let slot = words.wrapping_mul(7).wrapping_add(number).wrapping_add(7 * class.level);
        match &mut self.recent[slot % HopClasses::RECENT] {
            Some((other, count, sum)) if *other == class => {
                *count += 1;
                *sum += length;
            }
            slot => {
                if let Some(before) = slot.replace((class, 1, length)) {
                    HopClasses::keep(&mut self.all, before);
                }
            }
        }
    }

    fn keep(all: &mut BTreeMap<HopClass, (i64, Time)>, (class, count, length): (HopClass, i64, Time)) {
        let kept = all.entry(class).or_default();
        kept.0 += count;
        kept.1 += length;
    }

    fn finish(mut self) -> BTreeMap<HopClass, (i64, Time)> {
        self.recent.into_iter().flatten().for_each(|one| HopClasses::keep(&mut self.all, one));
        self.all
    }
}

impl LevelTerms {
    fn new(params: &Params, level: usize) -> LevelTerms {
        let mut base = *params;
        // Under LogP a further word takes max(g, o). If both are equal, it counts as a g.
        if params.long == LongMessages::LogP && params.g == params.o {
            base.g += PS;
        }
        let of_one = |parameter: &'static Parameter| {
            // LogP's G is no parameter of its own.
            let is_own = parameter.name != "G" || params.long != LongMessages::LogP;
            let is_there = is_own && parameter.is_time() && parameter.number(params)? != 0;
            let value = parameter.number(&base).filter(|_| is_there)?;
            let more = base.with(parameter.name, value + 1).ok()?;
            Some((LevelParameter { parameter, level }, more))
        };
        LevelTerms { params: *params, base, more: Parameter::ALL.iter().filter_map(of_one).collect() }
    }
}

impl FormulaBuilder {
    /// Creates a builder for this machine.
    pub fn new(machine: &LeveledParams) -> FormulaBuilder {
        let levels = machine.all().enumerate().map(|(level, params)| LevelTerms::new(params, level));
        FormulaBuilder { levels: levels.collect() }
    }

    /// Returns the formula of these hops together.
    pub fn formula<'h>(&self, hops: impl IntoIterator<Item = &'h Hop>) -> Formula {
        let mut classes = HopClasses::default();
        hops.into_iter().for_each(|hop| classes.add(self.class(hop), hop.length()));
        self.sum(classes)
    }

    /// Returns the formula of a run's critical path, without a list of its hops.
    #[doc(hidden)]
    pub fn of_run(&self, events: &impl EventIndex) -> Formula {
        let mut classes = HopClasses::default();
        for_each_hop(events, |hop| classes.add(self.class(hop), hop.length()));
        self.sum(classes)
    }

    fn class(&self, hop: &Hop) -> HopClass {
        let kind = (hop.term == HopTerm::Fixed).then_some(hop.kind);
        let is_drawn = hop.term == HopTerm::Latency && hop.length() != self.levels[hop.level].params.L;
        HopClass { term: hop.term, level: hop.level, kind, is_drawn }
    }

    fn sum(&self, classes: HopClasses) -> Formula {
        let mut counts: Vec<Vec<i64>> = self.levels.iter().map(|level| vec![0; level.more.len()]).collect();
        let mut formula = Formula::default();
        for (HopClass { term, level, kind, is_drawn }, (hops, length)) in classes.finish() {
            let name = match (kind, term) {
                (Some(kind), _) => kind.name(),
                (None, HopTerm::Latency) => "drawn latency",
                (None, _) => "surcharge",
            };
            let LevelTerms { params, base, more } = &self.levels[level];
            let mut rest = length;
            for ((LevelParameter { parameter, .. }, more), count) in more.iter().zip(&mut counts[level]) {
                let times = hops * (term_length(&term, more) - term_length(&term, base)).as_ps();
                if times != 0 && !is_drawn {
                    *count += times;
                    rest -= times * Time::from_ps(parameter.number(params).unwrap_or(0));
                }
            }
            match formula.rest.iter_mut().find(|(other, _)| *other == name) {
                Some((_, time)) => *time += rest,
                None => formula.rest.push((name, rest)),
            }
        }
        let counted =
            self.levels.iter().zip(counts).flat_map(|(level, counts)| level.more.iter().zip(counts));
        let counted = counted.filter(|(_, count)| *count != 0);
        formula.counts = counted.map(|((parameter, _), count)| (parameter.name(), count)).collect();
        formula.rest.retain(|(_, time)| *time != Time::ZERO);
        formula.rest.sort();
        formula
    }
}

impl Formula {
    /// Returns the multiple of a parameter.
    pub fn count(&self, name: &str) -> i64 {
        self.counts.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count)
    }

    /// Returns the rest of this kind.
    pub fn rest(&self, name: &str) -> Time {
        self.rest.iter().find(|(other, _)| *other == name).map_or(Time::ZERO, |(_, time)| *time)
    }

    /// Returns the formula's value on a machine.
    pub fn value(&self, machine: &LeveledParams) -> Time {
        let term = |(name, count): &(&str, i64)| {
            let value = LevelParameter::by_name(name).and_then(|parameter| parameter.number(machine));
            *count * Time::from_ps(value.unwrap_or(0))
        };
        self.counts.iter().map(term).chain(self.rest.iter().map(|(_, time)| *time)).sum()
    }

    /// Returns whether the formulas are equal except for the parameters' values. Waits for times and drawn
    /// latencies depend on these.
    pub fn is_like(&self, other: &Formula) -> bool {
        let rest = |formula: &Formula| -> Vec<_> {
            let is_exact = |name| matches!(name, "work" | "barrier");
            formula.rest.iter().map(|(name, time)| (*name, is_exact(*name).then_some(*time))).collect()
        };
        self.counts == other.counts && rest(self) == rest(other)
    }
}

/// Writes the formula as a sum: `3L + 6o + 10 O_s + 40 us work`.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.counts.iter().map(|(name, count)| match count {
            1 => name.to_string(),
            // An O behind a digit would look like a 0.
            _ if name.len() > 1 => format!("{} {name}", thousands(*count)),
            _ => format!("{}{name}", thousands(*count)),
        });
        let rest = self.rest.iter().map(|(name, time)| format!("{time} {name}"));
        let terms: Vec<String> = counted.chain(rest).collect();
        f.pad(&if terms.is_empty() { "0".into() } else { terms.join(" + ").replace("+ -", "- ") })
    }
}

/// Returns a number with separators between thousands.
fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the part of a hop's length that follows from these parameters.
fn term_length(cost: &HopTerm, params: &Params) -> Time {
    match *cost {
        HopTerm::Fixed => Time::ZERO,
        HopTerm::Latency => params.L,
        HopTerm::Send(words) => params.send_overhead(words),
        HopTerm::OneSided(words) => params.one_sided_overhead(words),
        HopTerm::Receive(words) => params.recv_overhead(words),
        HopTerm::Stream(words) => params.stream(words),
        HopTerm::Gap => params.g,
    }
}
