//! The critical path as a formula: how often each parameter is in it, and the times that follow from none.
//!
//! The cost of a hop is left to the machine's rules: a parameter occurs in it as often as the hop grows in
//! picoseconds when the parameter grows by one.

use loggp::params::{LongMessages, Parameter};
use loggp::path::{Hop, HopTerm};
use loggp::{PS, Params, ParamsBuilder, ParamsError, Time};

/// A sum of multiples of parameters, and of times that follow from no parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    /// Names of the parameters in the order of [`Parameter::ALL`], and their multiples; none is 0.
    pub counts: Vec<(&'static str, i64)>,
    /// The rest by kind: `work`, `barrier`, `drawn latency`, or `surcharge` where a model has one or noise
    /// lengthens an overhead. None is 0.
    pub rest: Vec<(&'static str, Time)>,
}

/// Makes formulas of hops on one machine.
pub struct FormulaBuilder {
    params: Params,
    /// Parameters with which those of `more` are compared.
    base: Params,
    /// For each parameter that is a time and not 0, the machine on which it is a picosecond more.
    more: Vec<(&'static Parameter, Params)>,
}

impl FormulaBuilder {
    pub fn new(params: &Params) -> FormulaBuilder {
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
            Some((parameter, with_value(&base, parameter.name, value + 1).ok()?))
        };
        FormulaBuilder { params: *params, base, more: Parameter::ALL.iter().filter_map(of_one).collect() }
    }

    /// Returns the formula of these hops together.
    pub fn formula<'h>(&self, hops: impl IntoIterator<Item = &'h Hop>) -> Formula {
        let mut formula = Formula::default();
        let mut counts = vec![0; self.more.len()];
        for hop in hops {
            let mut rest = hop.length();
            let is_drawn = hop.term == HopTerm::Latency && rest != self.params.L;
            for ((parameter, more), count) in self.more.iter().zip(&mut counts) {
                let times = (term_length(&hop.term, more) - term_length(&hop.term, &self.base)).as_ps();
                if times != 0 && !is_drawn {
                    *count += times;
                    rest -= times * Time::from_ps(parameter.number(&self.params).unwrap_or(0));
                }
            }
            let name = match hop.term {
                HopTerm::Fixed => hop.kind.name(),
                HopTerm::Latency => "drawn latency",
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
    /// Returns the multiple of a parameter.
    pub fn count(&self, name: &str) -> i64 {
        self.counts.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count)
    }

    /// Returns the rest of this kind.
    pub fn rest(&self, name: &str) -> Time {
        self.rest.iter().find(|(other, _)| *other == name).map_or(Time::ZERO, |(_, time)| *time)
    }

    /// Returns the formula's value on a machine.
    pub fn value(&self, params: &Params) -> Time {
        let term = |(name, count): &(&str, i64)| {
            let value = Parameter::by_name(name).and_then(|parameter| parameter.number(params));
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

/// Returns the same machine with another value of a parameter, in picoseconds if it is a time.
pub fn with_value(params: &Params, name: &str, value: i64) -> Result<Params, ParamsError> {
    let unit = if Parameter::by_name(name).is_some_and(Parameter::is_time) { "ps" } else { "" };
    ParamsBuilder::from(*params).set(&format!("{name}={value}{unit}"))?.build()
}

/// Returns the part of a hop's length that follows from these parameters.
fn term_length(cost: &HopTerm, params: &Params) -> Time {
    match *cost {
        HopTerm::Fixed => Time::ZERO,
        HopTerm::Latency => params.L,
        HopTerm::Send(words) => params.send_overhead(words),
        HopTerm::Receive(words) => params.recv_overhead(words),
        HopTerm::Stream(words) => params.stream(words),
        HopTerm::Gap => params.g,
    }
}
