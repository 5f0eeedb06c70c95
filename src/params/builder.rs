//! How a machine's parameters are put together: from code, from a preset or from text.

use std::num::NonZeroUsize;

use super::table::{Machines, Values};
use super::{LogGps, LongMessages, MOST_WORDS, Parameter, Params, ParamsError};
use crate::time::{Time, US};

/// Fills a [`Params`], and refuses what cannot be. What a paper leaves open must be given before it builds.
#[derive(Clone, Debug)]
#[must_use = "a parameter gives back the builder that has it; `build` makes the machine's parameters"]
pub struct ParamsBuilder {
    /// What is known; what is open is 0.
    pub(super) params: Params,
    /// Bytes in a word; `None` if it was told that there are 0, which [`Params`] cannot say.
    pub(super) word: Option<NonZeroUsize>,
    /// The parameters that are open.
    open: Vec<&'static str>,
}

/// A machine like this one, to change some of it.
///
/// ```
/// use loggp::{Params, ParamsBuilder, US};
/// let params = Params::builder(8).L(6 * US).o(2 * US).build()?;
/// let faster = ParamsBuilder::from(params).set("L=3us")?.build()?;
/// assert_eq!(faster, Params { L: 3 * US, ..params });
/// # Ok::<(), loggp::ParamsError>(())
/// ```
impl From<Params> for ParamsBuilder {
    fn from(params: Params) -> ParamsBuilder {
        ParamsBuilder { params, word: Some(params.word), open: Vec::new() }
    }
}

/// How many bytes a word has unless told.
const WORD: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl ParamsBuilder {
    /// A machine on which communication costs nothing.
    pub(super) fn free(P: usize) -> ParamsBuilder {
        let (L, o, g) = (Time::ZERO, Time::ZERO, Time::ZERO);
        let params = Params { L, o, g, long: LongMessages::LogP, P, word: WORD, cycle: US };
        ParamsBuilder { params, word: Some(WORD), open: Vec::new() }
    }

    /// A machine of which nothing but its size is known: what it must have is [open](ParamsBuilder::open).
    pub fn unknown(P: usize) -> ParamsBuilder {
        let must_be_known = |parameter: &&Parameter| parameter.of == Machines::All && parameter.is_time();
        let open = Parameter::ALL.iter().filter(must_be_known).map(|parameter| parameter.name).collect();
        ParamsBuilder { open, ..ParamsBuilder::free(P) }
    }

    /// Sets the latency.
    pub fn L(mut self, L: Time) -> ParamsBuilder {
        self.params.L = L;
        self.known("L")
    }

    /// Sets the overhead.
    pub fn o(mut self, o: Time) -> ParamsBuilder {
        self.params.o = o;
        self.known("o")
    }

    /// Sets the gap.
    pub fn g(mut self, g: Time) -> ParamsBuilder {
        self.params.g = g;
        self.known("g")
    }

    /// Makes it a machine of LogGP with this gap per word of long messages. Without it a machine is LogP's: a long
    /// message is a train of short ones, a word every max(g, o) (LogGP, section 2.1). A G of 0 is another thing: all
    /// words of a long message come at once.
    pub fn G(mut self, G: Time) -> ParamsBuilder {
        self.params.long = LongMessages::LogGP { G };
        self
    }

    /// Makes it a machine of LogGPS.
    pub fn gps(mut self, gps: LogGps) -> ParamsBuilder {
        self.params.long = LongMessages::LogGPS(gps);
        self
    }

    /// Sets the number of processors.
    pub fn P(mut self, P: usize) -> ParamsBuilder {
        self.params.P = P;
        self
    }

    /// Sets how many bytes of payload a word holds (8 unless told).
    pub fn word(mut self, bytes: usize) -> ParamsBuilder {
        self.word = NonZeroUsize::new(bytes);
        self
    }

    /// Sets how long a cycle lasts (1 us unless told).
    pub fn cycle(mut self, cycle: Time) -> ParamsBuilder {
        self.params.cycle = cycle;
        self
    }

    /// Sets parameters from text: `L=6us,o=2us,g=4us,G=0.03us`. A bare number counts cycles.
    ///
    /// ```
    /// use loggp::{Params, US};
    /// let params = Params::builder(8).set("L=6, o=2us, g=4000ns")?.build()?;
    /// assert_eq!((params.L, params.g), (6 * US, 4 * US));
    ///
    /// let refused = Params::builder(8).set("L=6parsec").unwrap_err();
    /// assert_eq!(refused.to_string(), "L = 6parsec: there is no unit parsec; use s, ms, us, ns, ps or cycles");
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn set(mut self, text: &str) -> Result<ParamsBuilder, ParamsError> {
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(ParamsError::new(format!("{part} is not a parameter; write it as L=6us")));
            };
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(ParamsError::new(format!("{name} is given twice; give it once")));
            }
            seen.push(name);
            let parameter = Parameter::named(name).ok_or_else(|| {
                ParamsError::new(format!("{name} is not a parameter; there are {}", Parameter::names()))
            })?;
            self = self.set_one(parameter, value)?;
        }
        Ok(self)
    }

    /// The parameters that are open, by name: they are not known, and must be given.
    pub fn open(&self) -> &[&'static str] {
        &self.open
    }

    /// Whether nothing but LogP's parameters is known.
    pub(crate) fn is_logp(&self) -> bool {
        self.params.long == LongMessages::LogP
    }

    /// The parameters, if they can be.
    pub fn build(self) -> Result<Params, ParamsError> {
        if let [first, ..] = self.open[..] {
            return Err(ParamsError::new(format!(
                "the paper leaves {} open; give a value, as in {first}=6us",
                self.open.join(" and "),
            )));
        }
        let Some(word) = self.word else {
            return Err(ParamsError::new(format!(
                "word = 0 is out of range; give one from 1 to {MOST_WORDS}"
            )));
        };
        let params = Params { word, ..self.params };
        params.check()?;
        Ok(params)
    }

    /// Sets a parameter from text.
    fn set_one(mut self, parameter: &Parameter, value: &str) -> Result<ParamsBuilder, ParamsError> {
        let Parameter { name, of, .. } = *parameter;
        let refuse = |why: String| ParamsError::new(why);
        match (of, self.params.long) {
            (Machines::LogGP, LongMessages::LogGPS(_)) => {
                return Err(refuse(format!(
                    "{name} belongs to LogGP, and this is a LogGPS machine; give G_s and G_l"
                )));
            }
            (Machines::LogGPS, LongMessages::LogGP { .. }) => {
                return Err(refuse(format!(
                    "{name} belongs to LogGPS, and this machine has LogGP's G; give one of the two"
                )));
            }
            _ => (),
        }
        match parameter.values {
            Values::Times { set, .. } => {
                let time = Time::parse(value, self.params.cycle);
                set(&mut self, time.map_err(|why| refuse(format!("{name} = {value}: {why}")))?);
            }
            Values::Counts { set, .. } => {
                let count = value.parse().map_err(|_| {
                    refuse(format!("{name} = {value} is not a number; give a whole one, without a unit"))
                });
                set(&mut self, count?);
            }
        }
        Ok(self.known(name))
    }

    /// Sets a parameter, or the cycle, from what [`Parameter::number`] said.
    pub(crate) fn set_number(mut self, parameter: &Parameter, number: i64) -> ParamsBuilder {
        match parameter.values {
            Values::Times { set, .. } => set(&mut self, Time::from_ps(number)),
            // A number below 0 cannot be, as little as the greatest.
            Values::Counts { set, .. } => set(&mut self, usize::try_from(number).unwrap_or(usize::MAX)),
        }
        self.known(parameter.name)
    }

    /// Sets the cycle from text, or a parameter.
    pub(crate) fn set_named(self, name: &str, value: &str) -> Result<ParamsBuilder, ParamsError> {
        match name == Parameter::CYCLE.name {
            true => self.set_one(&Parameter::CYCLE, value),
            false => self.set(&format!("{name}={value}")),
        }
    }

    /// Notes that a parameter is not open any more.
    fn known(mut self, name: &str) -> ParamsBuilder {
        self.open.retain(|open| *open != name);
        self
    }

    /// LogGPS's parameters, which naming one of them begins. What is not named costs nothing, and without S no
    /// message waits for its receiver.
    pub(super) fn gps_mut(&mut self) -> &mut LogGps {
        if self.params.gps().is_none() {
            let (O_s, O_r, G_s, G_l) = Default::default();
            self.params.long =
                LongMessages::LogGPS(LogGps { s: MOST_WORDS, S: MOST_WORDS, O_s, O_r, G_s, G_l });
        }
        match &mut self.params.long {
            LongMessages::LogGPS(gps) => gps,
            _ => unreachable!("it has just become one"),
        }
    }
}
