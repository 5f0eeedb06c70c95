//! How a machine's parameters are put together.

use std::num::NonZeroUsize;

use super::params::{LogGps, LongMessages, MOST_WORDS, Params};
use crate::time::{Time, US};

/// Fills a [`Params`], and refuses what cannot be. What a paper leaves open must be given before it builds.
#[derive(Clone, Debug)]
#[must_use = "a parameter gives back the builder that has it; `build` makes the machine's parameters"]
pub struct ParamsBuilder {
    /// What is known; what is open is 0.
    pub(super) params: Params,
    /// Bytes in a word; [`Params`] cannot say that it was told 0.
    pub(super) word: usize,
    /// The parameters that are open.
    pub(super) open: Vec<&'static str>,
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
        ParamsBuilder { params, word: params.word.get(), open: Vec::new() }
    }
}

/// How many bytes a word has unless told.
const WORD: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl Params {
    /// Starts a machine of `P` processors on which communication costs nothing; name what it shall cost.
    pub fn builder(P: usize) -> ParamsBuilder {
        let (L, o, g) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Params { L, o, g, long: LongMessages::LogP, P, word: WORD, cycle: US }.into()
    }
}

impl ParamsBuilder {
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
        self.word = bytes;
        self
    }

    /// Sets how long a cycle lasts (1 us unless told).
    pub fn cycle(mut self, cycle: Time) -> ParamsBuilder {
        self.params.cycle = cycle;
        self
    }

    /// Whether nothing but LogP's parameters is known.
    pub(crate) fn is_logp(&self) -> bool {
        self.params.long == LongMessages::LogP
    }

    /// Notes that a parameter is not open any more.
    pub(super) fn known(mut self, name: &str) -> ParamsBuilder {
        self.open.retain(|open| *open != name);
        self
    }

    /// LogGP's G, which naming it begins.
    pub(super) fn G_mut(&mut self) -> &mut Time {
        if !matches!(self.params.long, LongMessages::LogGP { .. }) {
            self.params.long = LongMessages::LogGP { G: self.params.G().unwrap_or_default() };
        }
        match &mut self.params.long {
            LongMessages::LogGP { G } => G,
            _ => unreachable!("it has just become one"),
        }
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
