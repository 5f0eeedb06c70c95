//! The table of the parameters: the name and meaning of each, the machines that have it, and access to its
//! value.
//!
//! It is the only list of the parameters; text, sweeps, traces, presets, tables, JSON and CSV use this table.

use std::ops::RangeInclusive;

use MachineSet::{All, Explicit, ExplicitLogGPS, LogGP, LogGPS};

use super::builder::ParamsBuilder;
use super::params::{MAX_PROCESSORS, MAX_WORDS, Params};
use crate::time::Time;

/// One of the parameters of a machine: its name and meaning, without a value.
///
/// ```
/// use loggp::params::Parameter;
///
/// let names: Vec<&str> = Parameter::ALL.iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["L", "o", "g", "G", "O_s", "O_r", "G_s", "G_l", "R", "P", "C", "word", "s", "S"]);
/// let gap = Parameter::by_name("g").unwrap();
/// assert!(gap.is_time() && !gap.is_loggps());
/// assert_eq!(gap.about, "the least time between two sends, or two receptions, of one processor");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// The name in the papers.
    pub name: &'static str,
    /// The names of the parameter of each level, from the outermost.
    level_names: [&'static str; MOST_LEVELS],
    /// The meaning, in a few words.
    pub about: &'static str,
    /// `byte`, `word` or `message` if the parameter counts these, else `None`.
    pub unit: Option<&'static str>,
    pub(super) machines: MachineSet,
    pub(super) kind: ValueKind,
}

/// The machines that have a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineSet {
    All,
    /// LogGP machines. A LogP machine becomes one when its G is set; until then its G is max(g, o).
    LogGP,
    LogGPS,
    /// Machines on which it is set. On others it is 0, which may stand for what follows from the others.
    Explicit,
    /// LogGPS machines on which it is set. On others it is 0.
    ExplicitLogGPS,
}

/// The type of a parameter's values, with access to the value in a builder.
#[derive(Debug)]
pub(super) enum ValueKind {
    Times(fn(&mut ParamsBuilder) -> &mut Time),
    /// Counts within a range.
    Counts(RangeInclusive<usize>, fn(&mut ParamsBuilder) -> &mut usize),
}

/// A value of a parameter.
pub(super) enum ParameterValue {
    Time(Time),
    Count(usize),
}

/// Most levels within a machine: a node and a socket, within the network.
pub(super) const MOST_LEVELS: usize = 2;

/// Returns the name of a parameter, and those that it has at each level.
macro_rules! names {
    ($name:literal) => {
        ($name, [concat!($name, "_1"), concat!($name, "_2")])
    };
}

/// Creates a parameter that is a time.
const fn time(
    (name, level_names): (&'static str, [&'static str; MOST_LEVELS]),
    of: MachineSet,
    about: &'static str,
    at: fn(&mut ParamsBuilder) -> &mut Time,
) -> Parameter {
    Parameter { name, level_names, about, unit: None, machines: of, kind: ValueKind::Times(at) }
}

/// Creates a parameter that counts bytes, words or messages.
const fn count(
    (name, level_names): (&'static str, [&'static str; MOST_LEVELS]),
    of: MachineSet,
    unit: &'static str,
    about: &'static str,
    least: usize,
    at: fn(&mut ParamsBuilder) -> &mut usize,
) -> Parameter {
    let values = ValueKind::Counts(RangeInclusive::new(least, MAX_WORDS), at);
    Parameter { name, level_names, about, unit: Some(unit), machines: of, kind: values }
}

/// The number of processors.
const PROCESSORS: Parameter = Parameter {
    name: "P",
    level_names: names!("P").1,
    about: "number of processors",
    unit: None,
    machines: All,
    kind: ValueKind::Counts(1..=MAX_PROCESSORS, |b| &mut b.params.P),
};

impl Parameter {
    /// All parameters, times first.
    pub const ALL: &'static [Parameter] = &[
        time(names!("L"), All, "latency: how long a word is under way, at most", |b| &mut b.params.L),
        time(
            names!("o"),
            All,
            "overhead: how long a processor is busy with sending or receiving a message",
            |b| &mut b.params.o,
        ),
        time(
            names!("g"),
            All,
            "the least time between two sends, or two receptions, of one processor",
            |b| &mut b.params.g,
        ),
        time(names!("G"), LogGP, "gap per further word of a long message", ParamsBuilder::G_mut),
        time(names!("O_s"), LogGPS, "overhead per word at the sender, on top of o", |b| &mut b.gps_mut().O_s),
        time(names!("O_r"), LogGPS, "overhead per word at the receiver, on top of o", |b| {
            &mut b.gps_mut().O_r
        }),
        time(names!("G_s"), LogGPS, "gap per word up to s", |b| &mut b.gps_mut().G_s),
        time(names!("G_l"), LogGPS, "gap per word above s; may be negative", |b| &mut b.gps_mut().G_l),
        time(
            names!("R"),
            ExplicitLogGPS,
            "what agreeing on a message above S costs its sender beyond the request and the reply; 0 by default",
            |b| {
                b.gps_mut();
                &mut b.params.R
            },
        ),
        PROCESSORS,
        count(
            names!("C"),
            Explicit,
            "message",
            "capacity: messages in transit from a processor, or to it, at most; ceil(L/g) by default",
            1,
            |b| b.C.get_or_insert(0),
        ),
        count(names!("word"), All, "byte", "bytes of payload in a word", 1, |b| &mut b.word),
        count(
            names!("s"),
            LogGPS,
            "word",
            "length in words above which a message is sent in several packets",
            0,
            |b| &mut b.gps_mut().s,
        ),
        count(
            names!("S"),
            LogGPS,
            "word",
            "length in words above which a message waits for its receiver before it is sent",
            0,
            |b| &mut b.gps_mut().S,
        ),
    ];

    /// The length of a cycle. It is the unit of the parameters, and so not one of [`Parameter::ALL`].
    pub const CYCLE: Parameter = time(
        names!("cycle"),
        All,
        "the papers' unit of time: what a bare number counts, and what a look at an empty inbox costs",
        |b| &mut b.params.cycle,
    );

    /// Lengthens the parameter on a machine, if it is a time there. It may become longer than a machine's is.
    #[doc(hidden)]
    pub fn lengthen(&self, params: &mut Params, more: Time) {
        if let ValueKind::Times(at) = &self.kind {
            let mut builder = ParamsBuilder::from(*params);
            *at(&mut builder) += more;
            *params = Params { C: params.C, word: params.word, ..builder.params };
        }
    }

    /// Returns the parameter with this name, or `None`.
    pub fn by_name(name: &str) -> Option<&'static Parameter> {
        Parameter::ALL.iter().find(|parameter| parameter.name == name)
    }

    /// Returns the name of the parameter of a level: `L` of the machine itself, level 0, and `L_1` of the
    /// outermost level within it.
    ///
    /// # Panics
    ///
    /// If no machine has so many levels.
    pub fn name_at(&self, level: usize) -> &'static str {
        level.checked_sub(1).map_or(self.name, |within| self.level_names[within])
    }

    /// Iterates over its names: that of the machine itself, and those of the levels from the outermost.
    pub fn all_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name].into_iter().chain(self.level_names)
    }

    /// Returns whether the values are times; if not, they are counts.
    pub fn is_time(&self) -> bool {
        matches!(self.kind, ValueKind::Times { .. })
    }

    /// Returns whether a machine has this parameter only if it is set; otherwise it follows from the others.
    pub fn is_explicit(&self) -> bool {
        matches!(self.machines, Explicit | ExplicitLogGPS)
    }

    /// Returns whether this is a limit, which can be set to no limit.
    pub(super) fn can_be_unlimited(&self) -> bool {
        matches!(self.unit, Some("word" | "message"))
    }

    /// Returns whether only LogGPS machines have this parameter.
    pub fn is_loggps(&self) -> bool {
        matches!(self.machines, LogGPS | ExplicitLogGPS)
    }

    /// Returns all names as part of a sentence: those of LogP and LogGP, then those of LogGPS.
    pub fn names() -> String {
        let names = |loggps: bool| {
            let names = Parameter::ALL.iter().filter(|parameter| parameter.is_loggps() == loggps);
            names.map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
        };
        format!("{}, and LogGPS's {}", names(false), names(true))
    }

    /// Returns the value on a machine, in picoseconds or as a count, or `None` if that machine does not have
    /// it.
    pub fn number(&self, params: &Params) -> Option<i64> {
        match self.value((*params).into())? {
            ParameterValue::Time(time) => Some(time.as_ps()),
            ParameterValue::Count(count) => i64::try_from(count).ok(),
        }
    }

    /// Returns the value on a machine, or `None` if that machine does not have it. A LogP machine has a G
    /// too: see [`Params::G`].
    pub(super) fn value(&self, mut machine: ParamsBuilder) -> Option<ParameterValue> {
        let is_loggp = machine.params.is_loggp();
        if (self.machines == LogGP && !is_loggp) || (self.is_loggps() && is_loggp) {
            return None;
        }
        let (value, is_set) = match self.kind {
            ValueKind::Times(at) => {
                let time = *at(&mut machine);
                (ParameterValue::Time(time), time != Time::ZERO)
            }
            ValueKind::Counts(_, at) => {
                let is_set = machine.C.is_some(); // the only count that follows from others
                (ParameterValue::Count(*at(&mut machine)), is_set)
            }
        };
        (is_set || !self.is_explicit()).then_some(value)
    }
}

impl Params {
    /// Iterates over the names and values of this machine's parameters that are times. A LogP machine has a G
    /// too: see [`G`](Params::G).
    pub fn times(&self) -> impl Iterator<Item = (&'static str, Time)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.value((*self).into())? {
            ParameterValue::Time(time) => Some((parameter.name, time)),
            ParameterValue::Count(_) => None,
        })
    }

    /// Iterates over the names and values of this machine's parameters that are counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.value((*self).into())? {
            ParameterValue::Count(count) => Some((parameter.name, count)),
            ParameterValue::Time(_) => None,
        })
    }
}
