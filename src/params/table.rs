//! The table of the parameters: what each is called and what it is, which machines have it, and how it is read and set.
//!
//! It is the only list of the parameters: text, sweeps, traces, presets, tables, JSON and CSV use it.

use std::ops::RangeInclusive;

use Machines::{All, LogGP, LogGPS, Told, ToldLogGPS};

use super::builder::ParamsBuilder;
use super::params::{MOST_PROCESSORS, MOST_WORDS, Params};
use crate::time::Time;

/// One of the parameters of a machine: its name and meaning, without a value.
///
/// ```
/// use loggp::Parameter;
///
/// let names: Vec<&str> = Parameter::ALL.iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["L", "o", "g", "G", "O_s", "O_r", "G_s", "G_l", "R", "P", "C", "word", "s", "S"]);
/// let gap = Parameter::named("g").unwrap();
/// assert!(gap.is_time() && !gap.is_loggps());
/// assert_eq!(gap.about, "the least time between two sends, or two receptions, of one processor");
/// ```
#[derive(Debug)]
pub struct Parameter {
    /// Its name, as the papers have it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// `byte`, `word` or `message`, if the parameter counts these.
    pub unit: Option<&'static str>,
    /// Which machines have it.
    pub(super) of: Machines,
    /// Whether its values are times or counts, and where a machine keeps its value.
    pub(super) values: Values,
}

/// Which machines have a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machines {
    /// All machines.
    All,
    /// LogGP machines. A LogP machine becomes one when it is given G; until then its G is max(g, o).
    LogGP,
    /// LogGPS machines.
    LogGPS,
    /// Machines that were told it. The others have what follows from L and g.
    Told,
    /// LogGPS machines that were told it. The others have 0.
    ToldLogGPS,
}

/// Whether the values of a parameter are times or counts, and where a machine keeps its value.
#[derive(Debug)]
pub(super) enum Values {
    /// The values are times.
    Times(fn(&mut ParamsBuilder) -> &mut Time),
    /// The values are counts within a range.
    Counts(RangeInclusive<usize>, fn(&mut ParamsBuilder) -> &mut usize),
}

/// A value of a parameter.
pub(super) enum Value {
    Time(Time),
    Count(usize),
}

/// A parameter that is a time.
const fn time(
    name: &'static str,
    of: Machines,
    about: &'static str,
    at: fn(&mut ParamsBuilder) -> &mut Time,
) -> Parameter {
    Parameter { name, about, unit: None, of, values: Values::Times(at) }
}

/// A parameter that counts bytes or words.
const fn count(
    name: &'static str,
    of: Machines,
    unit: &'static str,
    about: &'static str,
    least: usize,
    at: fn(&mut ParamsBuilder) -> &mut usize,
) -> Parameter {
    let values = Values::Counts(RangeInclusive::new(least, MOST_WORDS), at);
    Parameter { name, about, unit: Some(unit), of, values }
}

/// The number of processors.
const PROCESSORS: Parameter = Parameter {
    name: "P",
    about: "number of processors",
    unit: None,
    of: All,
    values: Values::Counts(1..=MOST_PROCESSORS, |b| &mut b.params.P),
};

impl Parameter {
    /// All of them, times first.
    pub const ALL: &'static [Parameter] = &[
        time("L", All, "latency: how long a word is under way, at most", |b| &mut b.params.L),
        time("o", All, "overhead: how long a processor is busy with sending or receiving a message", |b| {
            &mut b.params.o
        }),
        time("g", All, "the least time between two sends, or two receptions, of one processor", |b| {
            &mut b.params.g
        }),
        time("G", LogGP, "gap per further word of a long message", ParamsBuilder::G_mut),
        time("O_s", LogGPS, "overhead per word at the sender, on top of o", |b| &mut b.gps_mut().O_s),
        time("O_r", LogGPS, "overhead per word at the receiver, on top of o", |b| &mut b.gps_mut().O_r),
        time("G_s", LogGPS, "gap per word up to s", |b| &mut b.gps_mut().G_s),
        time("G_l", LogGPS, "gap per word above s; may be negative", |b| &mut b.gps_mut().G_l),
        time(
            "R",
            ToldLogGPS,
            "what agreeing on a message above S costs its sender beyond the request and the reply; 0 unless told",
            |b| {
                b.gps_mut();
                &mut b.params.R
            },
        ),
        PROCESSORS,
        count(
            "C",
            Told,
            "message",
            "capacity: messages in transit from a processor, or to it, at most; ceil(L/g) unless told",
            1,
            |b| &mut b.C,
        ),
        count("word", All, "byte", "bytes of payload in a word", 1, |b| &mut b.word),
        count(
            "s",
            LogGPS,
            "word",
            "length in words above which a message is sent in several packets",
            0,
            |b| &mut b.gps_mut().s,
        ),
        count(
            "S",
            LogGPS,
            "word",
            "length in words above which a message waits for its receiver before it is sent",
            0,
            |b| &mut b.gps_mut().S,
        ),
    ];

    /// How long a cycle is. It is the unit of the parameters, and so not one of [`Parameter::ALL`].
    pub const CYCLE: Parameter = time(
        "cycle",
        All,
        "the papers' unit of time: what a bare number counts, and what a look at an empty inbox costs",
        |b| &mut b.params.cycle,
    );

    /// The parameter with this name.
    pub fn named(name: &str) -> Option<&'static Parameter> {
        Parameter::ALL.iter().find(|parameter| parameter.name == name)
    }

    /// Whether its values are times; if not, they are counts.
    pub fn is_time(&self) -> bool {
        matches!(self.values, Values::Times { .. })
    }

    /// Whether a machine that was not told it has none, and it follows from the others.
    pub fn is_told(&self) -> bool {
        matches!(self.of, Told | ToldLogGPS)
    }

    /// Whether it is a limit, of which there may be none.
    pub(super) fn may_be_none(&self) -> bool {
        matches!(self.unit, Some("word" | "message"))
    }

    /// Whether only machines of LogGPS have it.
    pub fn is_loggps(&self) -> bool {
        matches!(self.of, LogGPS | ToldLogGPS)
    }

    /// All names in a sentence: those that LogP and LogGP know, and then those of LogGPS.
    pub fn names() -> String {
        let names = |loggps: bool| {
            let names = Parameter::ALL.iter().filter(|parameter| parameter.is_loggps() == loggps);
            names.map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
        };
        format!("{}, and LogGPS's {}", names(false), names(true))
    }

    /// Its value on a machine, in picoseconds or as a count; `None` if that machine does not have it.
    pub fn number(&self, params: &Params) -> Option<i64> {
        match self.value((*params).into())? {
            Value::Time(time) => Some(time.as_ps()),
            Value::Count(count) => i64::try_from(count).ok(),
        }
    }

    /// Its value on a machine, if that machine has it. A LogP machine has a G too: see [`Params::G`].
    pub(super) fn value(&self, mut machine: ParamsBuilder) -> Option<Value> {
        let has_it = match self.of {
            All => true,
            LogGP => machine.params.is_loggp(),
            LogGPS => !machine.params.is_loggp(),
            Told => machine.C > 0,
            ToldLogGPS => !machine.params.is_loggp() && machine.params.R != Time::ZERO,
        };
        has_it.then(|| match self.values {
            Values::Times(at) => Value::Time(*at(&mut machine)),
            Values::Counts(_, at) => Value::Count(*at(&mut machine)),
        })
    }
}

impl Params {
    /// The names and values of this machine's parameters that are times. A LogP machine has a G too: see
    /// [`G`](Params::G).
    pub fn times(&self) -> impl Iterator<Item = (&'static str, Time)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.value((*self).into())? {
            Value::Time(time) => Some((parameter.name, time)),
            Value::Count(_) => None,
        })
    }

    /// The names and values of this machine's parameters that are counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.value((*self).into())? {
            Value::Count(count) => Some((parameter.name, count)),
            Value::Time(_) => None,
        })
    }
}
