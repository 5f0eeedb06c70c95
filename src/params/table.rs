//! The table of the parameters: what each is called and what it is, which machines have it, and how it is read and set.
//!
//! Whoever needs a list of them takes this one: text, sweeps, traces, presets, tables, JSON and CSV.

use std::num::NonZeroUsize;

use super::{LongMessages, MOST_PROCESSORS, MOST_WORDS, Params, ParamsBuilder};
use crate::time::Time;

/// One of the parameters of a machine: what is known of it, whatever the machine.
///
/// ```
/// use loggp::Parameter;
///
/// let names: Vec<&str> = Parameter::ALL.iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["L", "o", "g", "G", "O_s", "O_r", "G_s", "G_l", "P", "word", "s", "S"]);
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
    /// What it is a number of, if that is another thing than its name says: bytes, or words.
    pub unit: Option<&'static str>,
    /// Which machines have it.
    pub(super) of: Machines,
    /// What its values are, and where they are kept.
    pub(super) values: Values,
}

/// Which machines have a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machines {
    /// Every machine has it.
    All,
    /// Machines of LogGP have it. To one of LogP it can be told, and follows from other parameters.
    LogGP,
    /// Machines of LogGPS have it.
    LogGPS,
}

/// What the values of a parameter are, and where they are kept.
#[derive(Debug)]
pub(super) enum Values {
    /// The values are times.
    Times {
        /// Whether they may be negative.
        signed: bool,
        /// The machine's value, if it has one.
        get: fn(&Params) -> Option<Time>,
        /// Gives a value to the machine.
        set: fn(&mut ParamsBuilder, Time),
    },
    /// The values are numbers of something.
    Counts {
        /// The least that there may be.
        least: usize,
        /// The most that there may be.
        most: usize,
        /// The machine's value, if it has one.
        get: fn(&Params) -> Option<usize>,
        /// Gives a value to the machine.
        set: fn(&mut ParamsBuilder, usize),
    },
}

impl Parameter {
    /// All of them, times first.
    pub const ALL: &'static [Parameter] = &[
        Parameter {
            name: "L",
            about: "latency: how long a word is under way, at most",
            unit: None,
            of: Machines::All,
            values: Values::Times { signed: false, get: |p| Some(p.L), set: |b, time| b.params.L = time },
        },
        Parameter {
            name: "o",
            about: "overhead: how long a processor is busy with sending or receiving a message",
            unit: None,
            of: Machines::All,
            values: Values::Times { signed: false, get: |p| Some(p.o), set: |b, time| b.params.o = time },
        },
        Parameter {
            name: "g",
            about: "the least time between two sends, or two receptions, of one processor",
            unit: None,
            of: Machines::All,
            values: Values::Times { signed: false, get: |p| Some(p.g), set: |b, time| b.params.g = time },
        },
        Parameter {
            name: "G",
            about: "gap per further word of a long message",
            unit: None,
            of: Machines::LogGP,
            values: Values::Times {
                signed: false,
                get: Params::G,
                set: |b, G| b.params.long = LongMessages::LogGP { G },
            },
        },
        Parameter {
            name: "O_s",
            about: "overhead per word at the sender, on top of o",
            unit: None,
            of: Machines::LogGPS,
            values: Values::Times {
                signed: false,
                get: |p| Some(p.gps()?.O_s),
                set: |b, time| b.gps_mut().O_s = time,
            },
        },
        Parameter {
            name: "O_r",
            about: "overhead per word at the receiver, on top of o",
            unit: None,
            of: Machines::LogGPS,
            values: Values::Times {
                signed: false,
                get: |p| Some(p.gps()?.O_r),
                set: |b, time| b.gps_mut().O_r = time,
            },
        },
        Parameter {
            name: "G_s",
            about: "gap per word up to s",
            unit: None,
            of: Machines::LogGPS,
            values: Values::Times {
                signed: false,
                get: |p| Some(p.gps()?.G_s),
                set: |b, time| b.gps_mut().G_s = time,
            },
        },
        Parameter {
            name: "G_l",
            about: "gap per word above s; may be negative",
            unit: None,
            of: Machines::LogGPS,
            values: Values::Times {
                signed: true,
                get: |p| Some(p.gps()?.G_l),
                set: |b, time| b.gps_mut().G_l = time,
            },
        },
        Parameter {
            name: "P",
            about: "number of processors",
            unit: None,
            of: Machines::All,
            values: Values::Counts {
                least: 1,
                most: MOST_PROCESSORS,
                get: |p| Some(p.P),
                set: |b, P| b.params.P = P,
            },
        },
        Parameter {
            name: "word",
            about: "bytes of payload in a word",
            unit: Some("byte"),
            of: Machines::All,
            values: Values::Counts {
                least: 1,
                most: MOST_WORDS,
                get: |p| Some(p.word.get()),
                set: |b, bytes| b.word = NonZeroUsize::new(bytes),
            },
        },
        Parameter {
            name: "s",
            about: "length in words above which a message is sent in several packets",
            unit: Some("word"),
            of: Machines::LogGPS,
            values: Values::Counts {
                least: 0,
                most: MOST_WORDS,
                get: |p| Some(p.gps()?.s),
                set: |b, words| b.gps_mut().s = words,
            },
        },
        Parameter {
            name: "S",
            about: "length in words above which a message waits for its receiver before it is sent",
            unit: Some("word"),
            of: Machines::LogGPS,
            values: Values::Counts {
                least: 0,
                most: MOST_WORDS,
                get: |p| Some(p.gps()?.S),
                set: |b, words| b.gps_mut().S = words,
            },
        },
    ];

    /// How long a cycle is. It is the unit in which the others are told, and so none of them.
    pub const CYCLE: Parameter = Parameter {
        name: "cycle",
        about: "the papers' unit of time: what a bare number counts, and what a look at an empty inbox costs",
        unit: None,
        of: Machines::All,
        values: Values::Times { signed: false, get: |p| Some(p.cycle), set: |b, time| b.params.cycle = time },
    };

    /// The parameter with this name.
    pub fn named(name: &str) -> Option<&'static Parameter> {
        Parameter::ALL.iter().find(|parameter| parameter.name == name)
    }

    /// Whether its values are times; if not, they are numbers of something.
    pub fn is_time(&self) -> bool {
        matches!(self.values, Values::Times { .. })
    }

    /// Whether only machines of LogGPS have it.
    pub fn is_loggps(&self) -> bool {
        self.of == Machines::LogGPS
    }

    /// All names in a sentence: those that LogP and LogGP know, and then those of LogGPS.
    pub fn names() -> String {
        let names = |loggps: bool| {
            let names = Parameter::ALL.iter().filter(|parameter| parameter.is_loggps() == loggps);
            names.map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
        };
        format!("{}, and LogGPS's {}", names(false), names(true))
    }

    /// Its value on a machine, if that machine has it: picoseconds, or how many.
    pub fn number(&self, params: &Params) -> Option<i64> {
        match self.values {
            Values::Times { get, .. } => get(params).map(Time::as_ps),
            Values::Counts { get, .. } => get(params).and_then(|count| i64::try_from(count).ok()),
        }
    }
}
