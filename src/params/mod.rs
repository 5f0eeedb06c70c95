//! The parameters of a machine: L, o, g, G and P of LogP and LogGP, and what LogGPS adds.
//!
//! [`Params`] is plain data, and [`Parameter::ALL`] is the table of what is in it. A [`ParamsBuilder`] fills it, from
//! code, from a preset or from text, and refuses what cannot be; what a message costs under the parameters is in
//! `costs.rs`.

mod builder;
mod costs;
mod model;
mod presets;
mod settings;
mod table;

use std::num::NonZeroUsize;

use crate::time::{LONGEST, PS, Time};
use table::Values;

pub use builder::ParamsBuilder;
pub(crate) use costs::{ReceptionCost, Surcharge};
pub use model::Model;
pub use presets::{Preset, PresetValue, preset, presets};
pub use settings::{Latency, Ports, Ties};
pub use table::Parameter;

/// A machine's parameters, under the papers' names.
///
/// ```
/// use loggp::{Params, US};
/// let cm5 = Params::builder(128).L(6 * US).o(2 * US).g(4 * US).word(16).build()?;
/// assert_eq!(cm5.capacity(), Some(2));
///
/// // Formulas read as in the papers. No field follows from another, so a copy with a change is as good as new: a CM-5
/// // has no G, and sends the words of a long message as fast as it sends short ones, max(g, o).
/// let Params { L, o, P, .. } = cm5;
/// assert_eq!((P as i64 - 1) * (L + 2 * o), 1270 * US);
/// let faster = Params { g: 2 * US, ..cm5 };
/// assert_eq!((cm5.G(), faster.G()), (Some(4 * US), Some(2 * US)));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Latency: how long a word is under way, at most.
    pub L: Time,
    /// Overhead: how long a processor is busy sending or receiving a message.
    pub o: Time,
    /// Gap: the least time between two sends, or two receptions, of one processor.
    pub g: Time,
    /// What the words of a long message cost: here LogP, LogGP and LogGPS differ.
    pub long: LongMessages,
    /// Number of processors.
    pub P: usize,
    /// Bytes of payload in a word, the length of a short message.
    pub word: NonZeroUsize,
    /// The papers' unit of time: what a bare number counts, and what a look at an empty inbox costs.
    pub cycle: Time,
}

/// What the words of a long message cost, which is where the models differ.
///
/// ```
/// use loggp::{LongMessages, Params, Time, US};
///
/// let logp = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let loggp = Params { long: LongMessages::LogGP { G: Time::ZERO }, ..logp };
/// assert_eq!((logp.stream(11), loggp.stream(11)), (40 * US, Time::ZERO));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LongMessages {
    /// LogP knows only short messages. A long one is a train of them, a word every max(g, o) (LogGP, section 2.1).
    LogP,
    /// LogGP: a gap per further word.
    LogGP {
        /// Gap per further word of a long message.
        G: Time,
    },
    /// LogGPS: overheads and gaps per word, and long messages that wait for their receiver.
    LogGPS(LogGps),
}

/// What LogGPS adds to LogGP, or puts in the place of its G (LogGPS, section 3). Lengths are in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGps {
    /// Messages longer than this are sent in several packets.
    pub s: usize,
    /// Messages longer than this wait for their receiver before they are sent.
    pub S: usize,
    /// Overhead per word at the sender, on top of o.
    pub O_s: Time,
    /// Overhead per word at the receiver, on top of o.
    pub O_r: Time,
    /// Gap per word up to s.
    pub G_s: Time,
    /// Gap per word above s; may be negative.
    pub G_l: Time,
}

/// What is wrong with a set of parameters, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamsError(String);

impl ParamsError {
    pub(crate) fn new(sentence: impl Into<String>) -> ParamsError {
        ParamsError(sentence.into())
    }
}

/// More processors than any host holds, and few enough to count with 32 bits.
const MOST_PROCESSORS: usize = 1 << 24;
/// A longer word or message could not be counted with 32 bits.
pub(crate) const MOST_WORDS: usize = u32::MAX as usize;

impl Params {
    /// Starts a machine of `P` processors on which communication costs nothing; name what it shall cost.
    pub fn builder(P: usize) -> ParamsBuilder {
        ParamsBuilder::free(P)
    }

    /// The time per further word of a long message: LogGP's G, and max(g, o) on a machine of LogP. A LogGPS machine has
    /// no G; what a word costs there depends on the message's length.
    pub fn G(&self) -> Option<Time> {
        match self.long {
            LongMessages::LogP => Some(self.g.max(self.o)),
            LongMessages::LogGP { G } => Some(G),
            LongMessages::LogGPS(_) => None,
        }
    }

    /// What LogGPS adds, if this is a LogGPS machine.
    pub fn gps(&self) -> Option<LogGps> {
        match self.long {
            LongMessages::LogGPS(gps) => Some(gps),
            LongMessages::LogP | LongMessages::LogGP { .. } => None,
        }
    }

    /// Whether the paper's closed forms for LogP and LogGP apply.
    pub fn is_loggp(&self) -> bool {
        self.gps().is_none()
    }

    /// The parameters that are times, by name, as far as this machine has them. G is there on a machine of LogP too:
    /// see [`G`](Params::G).
    pub fn times(&self) -> impl Iterator<Item = (&'static str, Time)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.values {
            Values::Times { get, .. } => Some((parameter.name, get(self)?)),
            Values::Counts { .. } => None,
        })
    }

    /// The parameters that are numbers, by name, as far as this machine has them.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        Parameter::ALL.iter().filter_map(|parameter| match parameter.values {
            Values::Counts { get, .. } => Some((parameter.name, get(self)?)),
            Values::Times { .. } => None,
        })
    }

    /// Refuses what no machine can be. [`ParamsBuilder::build`] and [`Machine::run`](crate::Machine::run) call it.
    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        let refuse = |sentence: String| Err(ParamsError(sentence));
        for parameter in Parameter::ALL.iter().chain([&Parameter::CYCLE]) {
            let name = parameter.name;
            match parameter.values {
                Values::Times { signed, get, .. } => {
                    let Some(time) = get(self) else { continue };
                    if time < Time::ZERO && !signed {
                        return refuse(format!("{name} = {time} is negative; only G_l may be"));
                    }
                    if time > LONGEST || time < -LONGEST {
                        return refuse(format!("{name} = {time} is too long; give at most {LONGEST}"));
                    }
                }
                Values::Counts { least, most, get, .. } => {
                    let Some(n) = get(self).filter(|n| !(least..=most).contains(n)) else { continue };
                    let what = if name == "P" { "not a number of processors" } else { "out of range" };
                    return refuse(format!("{name} = {n} is {what}; give one from {least} to {most}"));
                }
            }
        }
        if self.cycle < PS {
            return refuse("cycle = 0 would let a processor poll for ever; give at least 1 ps".into());
        }
        if let Some(gps) = self.gps()
            && gps.S < gps.s
        {
            return refuse(format!(
                "S = {} is below s = {}; a message that waits for its receiver is never in one packet",
                gps.S, gps.s
            ));
        }
        if self.longest() == Some(0) {
            return refuse("o + L is shorter than what G_l takes back from a message of one word".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::US;

    fn refusal(text: &str) -> String {
        Params::builder(8).set(text).and_then(ParamsBuilder::build).unwrap_err().to_string()
    }

    #[test]
    fn refuses_in_one_sentence() {
        for (text, part) in [
            ("L=-1us", "negative"),
            ("L=99999999999999999999999999999999999999999s", "too long"),
            ("L=2000000s", "too long"),
            ("L=0.1ps", "finer than a picosecond"),
            ("L=6lightyears", "no unit lightyears"),
            ("L=6\u{b5}", "no unit \u{b5};"),
            ("L=\u{b5}s", "not a time"),
            ("L=1.2.3us", "not a time"),
            ("L=", "not a time"),
            ("L=us", "not a time"),
            ("L=1-2us", "not a time"),
            ("L=6,o=2,L=7", "L is given twice"),
            ("Q=6", "Q is not a parameter"),
            ("L", "write it as L=6us"),
            ("P=0", "P = 0 is not a number of processors"),
            ("P=1.5", "is not a number"),
            ("P=99999999999", "is not a number of processors"),
            ("word=0", "word = 0 is out of range"),
            ("G_s=1ns,G=2ns", "G belongs to LogGP, and this is a LogGPS machine; give G_s and G_l"),
            ("G=2ns,G_s=1ns", "G_s belongs to LogGPS, and this machine has LogGP's G; give one of the two"),
            ("cycle=2us", "cycle is not a parameter; there are L, o, g, G, P, word, and LogGPS's O_s, O_r, "),
            ("s=99999999999", "s = 99999999999 is out of range; give one from 0 to 4294967295"),
            ("s=100,S=99", "S = 99 is below s = 100"),
            ("s=0,G_l=-2us,L=1us", "G_l takes back"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(part), "{text}: {refusal}");
            assert!(!refusal.contains('\n'), "{text}: {refusal}");
        }
    }

    #[test]
    fn what_is_open_must_be_given() {
        let refused = ParamsBuilder::unknown(8).o(US).build().unwrap_err().to_string();
        assert_eq!(refused, "the paper leaves L and g open; give a value, as in L=6us");
        assert!(ParamsBuilder::unknown(8).set("L=1,o=1,g=1").unwrap().build().is_ok());
    }

    /// Every parameter is read, said and read again, and a machine has those of its model.
    #[test]
    fn the_table_is_the_parameters() {
        for (text, names) in [
            ("L=1,o=2,g=3,P=4,word=5", "L o g G P word"),
            ("L=1,o=2,g=3,G=0,P=4,word=5", "L o g G P word"),
            (
                "L=1,o=2,g=3,O_s=4,O_r=5,G_s=6,G_l=-7ns,P=8,word=9,s=10,S=11",
                "L o g O_s O_r G_s G_l P word s S",
            ),
        ] {
            let params = Params::builder(1).set(text).unwrap().build().unwrap();
            let said = params.times().map(|(name, time)| (name, time.to_string()));
            let said: Vec<_> = said.chain(params.counts().map(|(name, n)| (name, n.to_string()))).collect();
            assert_eq!(said.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" "), names);
            let said: Vec<String> = said.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let again = Params::builder(1).set(&said.join(",")).unwrap().build().unwrap();
            let long = if params.long == LongMessages::LogP { again.long } else { params.long };
            assert_eq!(again, Params { long, ..params });
            assert_eq!(again.G(), params.G());
        }
    }

    #[test]
    fn no_g_and_a_g_of_nothing_are_not_the_same() {
        let logp = Params::builder(2).o(2 * US).g(4 * US);
        let loggp = logp.clone().G(Time::ZERO).build().unwrap();
        let logp = logp.build().unwrap();
        assert_eq!((logp.G(), loggp.G()), (Some(4 * US), Some(Time::ZERO)));
        assert_eq!((logp.stream(3), loggp.stream(3)), (8 * US, Time::ZERO));
        // A copy with another gap has no G of old.
        assert_eq!(Params { g: US, ..logp }.G(), Some(2 * US));
        let gps = loggp_gps(&logp);
        assert_eq!((gps.G(), gps.is_loggp()), (None, false));
    }

    #[test]
    fn no_words_take_as_long_as_one_where_no_message_is_shorter() {
        let logp = Params::builder(2).o(2 * US).g(4 * US);
        for params in [logp.clone().G(US), logp].map(|params| params.build().unwrap()) {
            assert_eq!([0, 1].map(|k| params.stream(k)), [Time::ZERO; 2]);
        }
    }

    fn loggp_gps(params: &Params) -> Params {
        let (O_s, O_r, G_s, G_l) = (US, US, US, US);
        Params { long: LongMessages::LogGPS(LogGps { s: 1, S: 1, O_s, O_r, G_s, G_l }), ..*params }
    }

    #[test]
    fn without_a_large_g_a_long_message_is_a_train_of_short_ones() {
        assert_eq!(Params::builder(2).g(4 * US).o(2 * US).build().unwrap().G(), Some(4 * US));
        assert_eq!(Params::builder(2).g(4 * US).o(5 * US).build().unwrap().G(), Some(5 * US));
    }
}
