//! The critical path as a formula of the machine: how often each parameter is on it, and what follows from none.
//!
//! What a hop costs the rules say, and not this file: how often a parameter is in it is by how much it grows when the
//! parameter grows by a picosecond.

use loggp::path::{Cost, Hop};
use loggp::{LongMessages, PS, Parameter, Params, ParamsBuilder, Time};

/// A sum of parameters, each so many times, and of times that follow from no parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    /// The names of the parameters in the order of [`Parameter::ALL`], and how often each is in it; none that is 0.
    pub counts: Vec<(&'static str, i64)>,
    /// The rest by what it is: `work`, `barrier`, `drawn latency`, or `surcharge` where a model has one or noise lengthens an overhead. None that is 0.
    pub rest: Vec<(&'static str, Time)>,
}

/// What makes formulas of hops on one machine.
pub struct Terms {
    /// The machine's parameters.
    params: Params,
    /// Those that others are compared with.
    base: Params,
    /// For each parameter that is a time and not 0, the machine on which it is a picosecond more.
    more: Vec<(&'static Parameter, Params)>,
}

impl Terms {
    /// What makes formulas on this machine.
    pub fn of(params: &Params) -> Terms {
        let mut base = *params;
        // A further word takes max(g, o) under LogP. Where both are the same it is a g, and not both.
        if params.long == LongMessages::LogP && params.g == params.o {
            base.g += PS;
        }
        let of_one = |parameter: &'static Parameter| {
            // LogP's G is no parameter of its own.
            let is_own = parameter.name != "G" || params.long != LongMessages::LogP;
            let is_there = is_own && parameter.is_time() && parameter.number(params)? != 0;
            let value = parameter.number(&base).filter(|_| is_there)?;
            let more = ParamsBuilder::from(base).set(&format!("{}={}ps", parameter.name, value + 1));
            Some((parameter, more.and_then(ParamsBuilder::build).ok()?))
        };
        Terms { params: *params, base, more: Parameter::ALL.iter().filter_map(of_one).collect() }
    }

    /// What these hops take together.
    pub fn formula<'h>(&self, hops: impl IntoIterator<Item = &'h Hop>) -> Formula {
        let mut formula = Formula::default();
        let mut counts = vec![0; self.more.len()];
        for hop in hops {
            let mut rest = hop.length();
            let is_drawn = hop.cost == Cost::Latency && rest != self.params.L;
            for ((parameter, more), count) in self.more.iter().zip(&mut counts) {
                let times = (length(&hop.cost, more) - length(&hop.cost, &self.base)).as_ps();
                if times != 0 && !is_drawn {
                    *count += times;
                    rest -= times * Time::from_ps(parameter.number(&self.params).unwrap_or(0));
                }
            }
            let name = match hop.cost {
                Cost::Fixed => hop.part.name(),
                Cost::Latency => "drawn latency",
                _ => "surcharge",
            };
            match formula.rest.iter_mut().find(|(other, _)| *other == name) {
                Some((_, time)) => *time += rest,
                None => formula.rest.push((name, rest)),
            }
        }
        let counted = self.more.iter().zip(counts).filter(|(_, count)| *count != 0);
        formula.counts = counted.map(|((parameter, _), count)| (parameter.name, count)).collect();
        formula.rest.retain(|(_, time)| *time != Time::ZERO);
        formula.rest.sort();
        formula
    }
}

impl Formula {
    /// How often a parameter is in it.
    pub fn count(&self, name: &str) -> i64 {
        self.counts.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count)
    }

    /// How much of the rest is this.
    pub fn rest(&self, name: &str) -> Time {
        self.rest.iter().find(|(other, _)| *other == name).map_or(Time::ZERO, |(_, time)| *time)
    }

    /// What it comes to on a machine.
    pub fn value(&self, params: &Params) -> Time {
        let term = |(name, count): &(&str, i64)| {
            let value = Parameter::named(name).and_then(|parameter| parameter.number(params));
            *count * Time::from_ps(value.unwrap_or(0))
        };
        self.counts.iter().map(term).chain(self.rest.iter().map(|(_, time)| *time)).sum()
    }

    /// Whether it is the same but for the parameters' values. Waits for moments and drawn latencies differ with these.
    pub fn is_like(&self, other: &Formula) -> bool {
        let rest = |formula: &Formula| -> Vec<_> {
            let is_exact = |name| matches!(name, "work" | "barrier");
            formula.rest.iter().map(|(name, time)| (*name, is_exact(*name).then_some(*time))).collect()
        };
        self.counts == other.counts && rest(self) == rest(other)
    }
}

/// How long a hop is with these parameters, as far as it follows from them.
fn length(cost: &Cost, params: &Params) -> Time {
    match *cost {
        Cost::Fixed => Time::ZERO,
        Cost::Latency => params.L,
        Cost::Send(words) => params.send_overhead(words),
        Cost::Receive(words) => params.recv_overhead(words),
        Cost::Stream(words) => params.stream(words),
        Cost::Gap => params.g,
    }
}
