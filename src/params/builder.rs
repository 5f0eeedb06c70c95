//! How a machine's parameters are put together.

use std::num::NonZeroUsize;

use super::params::{LogGps, LongMessages, MOST_WORDS, Params};
use crate::time::{Time, US};

/// Puts a [`Params`] together, and refuses values that no machine can have. A parameter that a paper leaves open must be
/// set before [`build`](ParamsBuilder::build).
#[derive(Clone, Debug)]
#[must_use = "a parameter gives back the builder that has it; `build` makes the machine's parameters"]
pub struct ParamsBuilder {
    /// The parameters so far; an open one is 0.
    pub(super) params: Params,
    /// Bytes in a word: perhaps 0, which [`Params`] cannot hold, until the check refuses it.
    pub(super) word: usize,
    /// The capacity, if it is told; else 0.
    pub(super) C: usize,
    /// The names of the parameters that are open.
    pub(super) open: Vec<&'static str>,
}

/// Starts with the parameters of a machine, so that some of them can be changed.
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
        let C = params.C.map_or(0, NonZeroUsize::get);
        ParamsBuilder { params, word: params.word.get(), C, open: Vec::new() }
    }
}

/// How many bytes a word has unless [`ParamsBuilder::word`] says otherwise.
const WORD: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl Params {
    /// Starts a machine of `P` processors on which communication costs nothing until its parameters are set.
    pub fn builder(P: usize) -> ParamsBuilder {
        let [L, o, g, R] = [Time::ZERO; 4];
        Params { L, o, g, long: LongMessages::LogP, R, P, C: None, word: WORD, cycle: US }.into()
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

    /// Makes it a LogGP machine with this gap per word of long messages. Without a G it is a LogP machine: a long
    /// message is a train of short ones, a word every max(g, o) (LogGP, section 2.1). A G of 0 is not the same as
    /// none: all words of a long message come at once.
    pub fn G(mut self, G: Time) -> ParamsBuilder {
        self.params.long = LongMessages::LogGP { G };
        self
    }

    /// Makes it a LogGPS machine.
    pub fn gps(mut self, gps: LogGps) -> ParamsBuilder {
        self.params.long = LongMessages::LogGPS(gps);
        self
    }

    /// Sets what agreeing on a message above S costs its sender beyond the request and the reply (0 unless told).
    pub fn R(mut self, R: Time) -> ParamsBuilder {
        self.params.R = R;
        self
    }

    /// Sets the number of processors.
    pub fn P(mut self, P: usize) -> ParamsBuilder {
        self.params.P = P;
        self
    }

    /// Sets how many messages may be in transit from a processor, and how many to it (ceil(L/g) unless told);
    /// [`NO_LIMIT`](Params::NO_LIMIT) says that any number may.
    pub fn C(mut self, messages: usize) -> ParamsBuilder {
        self.C = messages;
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

    /// Whether it has LogP's parameters only.
    pub(crate) fn is_logp(&self) -> bool {
        self.params.long == LongMessages::LogP
    }

    /// Notes that a parameter is not open any more.
    pub(super) fn known(mut self, name: &str) -> ParamsBuilder {
        self.open.retain(|open| *open != name);
        self
    }

    /// LogGP's G, to be set. A LogP machine becomes a LogGP machine by this.
    pub(super) fn G_mut(&mut self) -> &mut Time {
        if !matches!(self.params.long, LongMessages::LogGP { .. }) {
            self.params.long = LongMessages::LogGP { G: self.params.G().unwrap_or_default() };
        }
        match &mut self.params.long {
            LongMessages::LogGP { G } => G,
            _ => unreachable!("it has just become one"),
        }
    }

    /// LogGPS's parameters, to be set. Another machine becomes a LogGPS machine by this; what is not set costs nothing, and
    /// without S no message waits for its receiver.
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
