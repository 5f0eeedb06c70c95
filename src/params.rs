//! The parameters of a machine: L, o, g, G and P of LogP and LogGP, and what LogGPS adds.
//!
//! [`Params`] is plain data. A [`Builder`] fills it, from code, from a preset or from text, and refuses what
//! cannot be; what a message costs under the parameters is in [`network`](crate::network).

use crate::time::{PS, Time, UNITS, US};

/// A machine's parameters, under the papers' names.
///
/// ```
/// use loggp::{Params, US};
/// let cm5 = Params::new(128).L(6 * US).o(2 * US).g(4 * US).word(16).build()?;
/// assert_eq!(cm5.capacity(), Some(2));
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
    /// Gap per further word of a long message (LogGP).
    pub G: Time,
    /// Number of processors.
    pub P: usize,
    /// Bytes of payload in a word, the length of a short message.
    pub word: usize,
    /// The papers' unit of time: what a bare number counts, and what a look at an empty inbox costs.
    pub cycle: Time,
    /// What LogGPS puts in the place of the constant o and G, if this is a LogGPS machine.
    pub gps: Option<LogGps>,
}

/// What LogGPS adds to LogGP (LogGPS, section 3). Lengths are in words.
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

/// No parameter may be longer than this, so that sums of them stay far from the end of time.
const LONGEST: Time = Time::from_ps(3_600_000_000_000_000);
/// More processors than any host holds, and few enough to count with 32 bits.
const MOST_PROCESSORS: usize = 1 << 24;
/// A longer word or message could not be counted with 32 bits.
const MOST_WORDS: usize = u32::MAX as usize;

impl Params {
    /// Starts a machine of `P` processors on which communication costs nothing; name what it shall cost.
    #[allow(clippy::new_ret_no_self)] // Params::new(8).L(..).build() reads as it is meant
    pub fn new(P: usize) -> Builder {
        Builder { L: Some(Time::ZERO), o: Some(Time::ZERO), g: Some(Time::ZERO), ..Builder::open(P) }
    }

    /// Whether the paper's closed forms for LogP and LogGP apply.
    pub fn is_loggp(&self) -> bool {
        self.gps.is_none()
    }

    /// The parameters that are times, by name.
    pub fn times(&self) -> Vec<(&'static str, Time)> {
        let mut times = vec![("L", self.L), ("o", self.o), ("g", self.g)];
        match self.gps {
            None => times.push(("G", self.G)),
            Some(gps) => {
                times.extend([("O_s", gps.O_s), ("O_r", gps.O_r), ("G_s", gps.G_s), ("G_l", gps.G_l)])
            }
        }
        times
    }

    /// The parameters that are numbers, by name.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts = vec![("P", self.P), ("word", self.word)];
        counts.extend(self.gps.iter().flat_map(|gps| [("s", gps.s), ("S", gps.S)]));
        counts
    }

    /// Refuses what no machine can be. [`Builder::build`] and [`Machine::run`](crate::Machine::run) call it.
    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        let refuse = |sentence: String| Err(ParamsError(sentence));
        if self.P == 0 || self.P > MOST_PROCESSORS {
            return refuse(format!(
                "P = {} is not a number of processors; give one from 1 to {MOST_PROCESSORS}",
                self.P
            ));
        }
        for (name, n) in self.counts() {
            if n > MOST_WORDS || (n == 0 && name == "word") {
                return refuse(format!("{name} = {n} is out of range; give one from 1 to {MOST_WORDS}"));
            }
        }
        for (name, time) in self.times().into_iter().chain([("cycle", self.cycle)]) {
            if time < Time::ZERO && name != "G_l" {
                return refuse(format!("{name} = {time} is negative; only G_l may be"));
            }
            if time > LONGEST || time < -LONGEST {
                return refuse(format!("{name} = {time} is too long; give at most {LONGEST}"));
            }
        }
        if self.cycle < PS {
            return refuse("cycle = 0 would let a processor poll for ever; give at least 1 ps".into());
        }
        if let Some(gps) = self.gps
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

/// Fills a [`Params`]. What is `None` is open: a paper left it so, and it must be given.
#[derive(Clone, Debug)]
#[must_use = "a parameter gives back the builder that has it; `build` makes the machine's parameters"]
pub struct Builder {
    L: Option<Time>,
    o: Option<Time>,
    g: Option<Time>,
    G: Option<Time>,
    P: usize,
    word: usize,
    cycle: Time,
    gps: Option<LogGps>,
}

impl Builder {
    /// A machine of which nothing but its size is known.
    pub(crate) fn open(P: usize) -> Builder {
        Builder { L: None, o: None, g: None, G: None, P, word: 8, cycle: US, gps: None }
    }

    /// Sets the latency.
    pub fn L(self, L: Time) -> Builder {
        Builder { L: Some(L), ..self }
    }

    /// Sets the overhead.
    pub fn o(self, o: Time) -> Builder {
        Builder { o: Some(o), ..self }
    }

    /// Sets the gap.
    pub fn g(self, g: Time) -> Builder {
        Builder { g: Some(g), ..self }
    }

    /// Sets the gap per word of long messages. Without it a machine is LogP's: a long message is a train of
    /// short ones, a word every max(g, o) (LogGP, section 2.1).
    pub fn G(self, G: Time) -> Builder {
        Builder { G: Some(G), ..self }
    }

    /// Sets the number of processors.
    pub fn P(self, P: usize) -> Builder {
        Builder { P, ..self }
    }

    /// Sets how many bytes of payload a word holds (8 unless told).
    pub fn word(self, bytes: usize) -> Builder {
        Builder { word: bytes, ..self }
    }

    /// Sets how long a cycle lasts (1 us unless told).
    pub fn cycle(self, cycle: Time) -> Builder {
        Builder { cycle, ..self }
    }

    /// Makes it a LogGPS machine.
    pub fn gps(self, gps: LogGps) -> Builder {
        Builder { gps: Some(gps), ..self }
    }

    /// Sets parameters from text: `L=6us,o=2us,g=4us,G=0.03us`. A bare number counts cycles.
    ///
    /// ```
    /// use loggp::{Params, US};
    /// let params = Params::new(8).set("L=6, o=2us, g=4000ns")?.build()?;
    /// assert_eq!((params.L, params.g), (6 * US, 4 * US));
    ///
    /// let refused = Params::new(8).set("L=6parsec").unwrap_err();
    /// assert_eq!(refused.to_string(), "L = 6parsec: there is no unit parsec; use s, ms, us, ns, ps or cycles");
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn set(mut self, text: &str) -> Result<Builder, ParamsError> {
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(ParamsError(format!("{part} is not a parameter; write it as L=6us")));
            };
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(ParamsError(format!("{name} is given twice; give it once")));
            }
            seen.push(name);
            self.set_one(name, value)?;
        }
        Ok(self)
    }

    fn set_one(&mut self, name: &str, value: &str) -> Result<(), ParamsError> {
        let cycle = self.cycle;
        let time = || parse_time(value, cycle).map_err(|why| ParamsError(format!("{name} = {value}: {why}")));
        let count = || {
            value.parse::<usize>().map_err(|_| {
                ParamsError(format!("{name} = {value} is not a number; give a whole one, without a unit"))
            })
        };
        match name {
            "L" => self.L = Some(time()?),
            "o" => self.o = Some(time()?),
            "g" => self.g = Some(time()?),
            "G" if self.gps.is_none() => self.G = Some(time()?),
            "P" => self.P = count()?,
            "word" => self.word = count()?,
            "O_s" => self.logps().O_s = time()?,
            "O_r" => self.logps().O_r = time()?,
            "G_s" => self.logps().G_s = time()?,
            "G_l" => self.logps().G_l = time()?,
            "s" => self.logps().s = count()?,
            "S" => self.logps().S = count()?,
            "G" => {
                return Err(ParamsError(
                    "G belongs to LogGP, and this is a LogGPS machine; give G_s and G_l".into(),
                ));
            }
            _ => {
                return Err(ParamsError(format!(
                    "{name} is not a parameter; there are L, o, g, G, P, word, and LogGPS's s, S, O_s, O_r, G_s, G_l"
                )));
            }
        }
        Ok(())
    }

    /// The LogGPS set, which naming one of its parameters begins. What is not named costs nothing, and
    /// without S no message waits for its receiver.
    fn logps(&mut self) -> &mut LogGps {
        self.gps.get_or_insert(LogGps {
            s: MOST_WORDS,
            S: MOST_WORDS,
            O_s: Time::ZERO,
            O_r: Time::ZERO,
            G_s: Time::ZERO,
            G_l: Time::ZERO,
        })
    }

    /// The parameters that are open, with what is known of each: `(name, value)`.
    pub fn times(&self) -> [(&'static str, Option<Time>); 4] {
        [("L", self.L), ("o", self.o), ("g", self.g), ("G", self.G)]
    }

    /// The parameters, if they can be.
    pub fn build(self) -> Result<Params, ParamsError> {
        let (Some(L), Some(o), Some(g)) = (self.L, self.o, self.g) else {
            let open = self.times().into_iter().filter(|(name, time)| time.is_none() && *name != "G");
            let open: Vec<&str> = open.map(|(name, _)| name).collect();
            return Err(ParamsError(format!(
                "the paper leaves {} open; give a value, as in {}=6us",
                open.join(" and "),
                open[0]
            )));
        };
        let params = Params {
            L,
            o,
            g,
            G: self.G.unwrap_or(g.max(o)),
            P: self.P,
            word: self.word,
            cycle: self.cycle,
            gps: self.gps,
        };
        params.check()?;
        Ok(params)
    }
}

/// Reads `6us`, `6µs`, `7.63 ns`, `-12.74ns`, `6` or `6 cycles`, exactly. A bare number counts cycles.
///
/// ```
/// use loggp::{NS, US, parse_time};
/// assert_eq!(parse_time("6µs", US), Ok(6 * US));
/// assert_eq!(parse_time("2", 25 * NS), Ok(50 * NS));
/// ```
pub fn parse_time(text: &str, cycle: Time) -> Result<Time, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c))).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let unit = match unit {
        "" | "cycle" | "cycles" => cycle,
        "\u{b5}s" | "\u{3bc}s" => US, // the micro sign, and the Greek letter that looks like it
        name => match UNITS.into_iter().find(|(unit, _)| *unit == name) {
            Some((_, unit)) => unit,
            None => return Err(format!("there is no unit {name}; use s, ms, us, ns, ps or cycles")),
        },
    };
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !plain(whole) || !plain(fraction) {
        return Err("it is not a time; write 6us, 7.63ns or a number of cycles".into());
    }
    let long = || format!("it is too long; give at most {LONGEST}");
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("0{whole}{fraction}").parse().map_err(|_| long())?;
    let scale = u32::try_from(fraction.len()).ok().and_then(|places| 10i128.checked_pow(places));
    let (ps, scale) = digits.checked_mul(unit.as_ps().into()).zip(scale).ok_or_else(long)?;
    if ps % scale != 0 {
        return Err("it is finer than a picosecond, the least time there is".into());
    }
    let ps = if negative { -(ps / scale) } else { ps / scale };
    i64::try_from(ps).map(Time::from_ps).map_err(|_| long())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::NS;

    fn refusal(text: &str) -> String {
        Params::new(8).set(text).and_then(Builder::build).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_unit_exactly() {
        for (text, ps) in [
            ("6", 6_000_000),
            ("6 cycles", 6_000_000),
            ("1cycle", 1_000_000),
            ("0.023us", 23_000),
            ("6\u{b5}s", 6_000_000),
            ("0.5 \u{3bc}s", 500_000),
            ("7.63 ns", 7_630),
            ("-12.74ns", -12_740),
            (".5ms", 500_000_000),
            ("1.s", 1_000_000_000_000),
            ("3ps", 3),
            ("2.50000000000000000us", 2_500_000),
        ] {
            assert_eq!(parse_time(text, US), Ok(Time::from_ps(ps)), "{text}");
        }
        assert_eq!(parse_time("4", 25 * NS), Ok(100 * NS));
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
            ("G_s=1ns,G=2ns", "G belongs to LogGP"),
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
        let refused = Builder::open(8).o(US).build().unwrap_err().to_string();
        assert_eq!(refused, "the paper leaves L and g open; give a value, as in L=6us");
        assert!(Builder::open(8).set("L=1,o=1,g=1").unwrap().build().is_ok());
    }

    #[test]
    fn without_a_large_g_a_long_message_is_a_train_of_short_ones() {
        assert_eq!(Params::new(2).g(4 * US).o(2 * US).build().unwrap().G, 4 * US);
        assert_eq!(Params::new(2).g(4 * US).o(5 * US).build().unwrap().G, 5 * US);
    }
}
