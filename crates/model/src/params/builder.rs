//! The builder of a machine's parameters.

use std::num::NonZeroUsize;

use super::params::{LogGps, LongMessages, MAX_WORDS, Params};
use crate::time::{Time, US};

/// A builder of [`Params`] that refuses invalid values. A parameter that a paper leaves open must be set
/// before [`build`](ParamsBuilder::build).
#[derive(Clone, Debug)]
#[must_use = "a parameter gives back the builder that has it; `build` makes the machine's parameters"]
pub struct ParamsBuilder {
    /// The parameters so far; open ones are 0.
    pub(super) params: Params,
    /// Bytes in a word. May be 0, which [`Params`] cannot hold, until the check refuses 0.
    pub(super) word: usize,
    /// The capacity, if it is set. May be 0 as the word may.
    pub(super) C: Option<usize>,
    /// The names of the open parameters.
    pub(super) open_names: Vec<&'static str>,
}

/// Starts from the parameters of a machine, so that some of them can be changed.
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
        let C = params.C.map(NonZeroUsize::get);
        ParamsBuilder { params, word: params.word.get(), C, open_names: Vec::new() }
    }
}

/// Bytes in a word by default.
const WORD: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl Params {
    /// Creates a builder for `P` processors on which communication costs nothing until its parameters are
    /// set.
    pub fn builder(P: usize) -> ParamsBuilder {
        let [L, o, g, R] = [Time::ZERO; 4];
        Params { L, o, g, long: LongMessages::LogP, R, P, C: None, word: WORD, cycle: US }.into()
    }
}

impl ParamsBuilder {
    /// Sets the latency.
    pub fn L(mut self, L: Time) -> ParamsBuilder {
        self.params.L = L;
        self.close("L")
    }

    /// Sets the overhead.
    pub fn o(mut self, o: Time) -> ParamsBuilder {
        self.params.o = o;
        self.close("o")
    }

    /// Sets the gap.
    pub fn g(mut self, g: Time) -> ParamsBuilder {
        self.params.g = g;
        self.close("g")
    }

    /// Sets the gap per word of long messages, which makes this a LogGP machine. Without a G it is a LogP
    /// machine: a long message is a train of short ones, a word every max(g, o) (LogGP, section 2.1). A G of
    /// 0 differs from no G: all words of a long message arrive at once.
    pub fn G(mut self, G: Time) -> ParamsBuilder {
        self.params.long = LongMessages::LogGP { G };
        self
    }

    /// Sets the parameters of LogGPS, which makes this a LogGPS machine.
    pub fn gps(mut self, gps: LogGps) -> ParamsBuilder {
        self.params.long = LongMessages::LogGPS(gps);
        self
    }

    /// Sets the cost for the sender of agreeing on a message above S, beyond the request and the reply
    /// (default 0).
    pub fn R(mut self, R: Time) -> ParamsBuilder {
        self.params.R = R;
        self
    }

    /// Sets the number of processors.
    pub fn P(mut self, P: usize) -> ParamsBuilder {
        self.params.P = P;
        self
    }

    /// Sets the number of messages that may be in transit from a processor, and to it (default ceil(L/g)).
    /// [`NO_LIMIT`](Params::NO_LIMIT) allows any number.
    pub fn C(mut self, messages: usize) -> ParamsBuilder {
        self.C = Some(messages);
        self
    }

    /// Sets the number of payload bytes in a word (default 8).
    pub fn word(mut self, bytes: usize) -> ParamsBuilder {
        self.word = bytes;
        self
    }

    /// Sets the length of a cycle (default 1 us).
    pub fn cycle(mut self, cycle: Time) -> ParamsBuilder {
        self.params.cycle = cycle;
        self
    }

    /// Returns the parameters so far, of which open ones are 0.
    pub fn so_far(&self) -> &Params {
        &self.params
    }

    /// Marks a parameter as no longer open.
    pub(super) fn close(mut self, name: &str) -> ParamsBuilder {
        self.open_names.retain(|open| *open != name);
        self
    }

    /// Returns LogGP's G, to be set. Turns a LogP machine into a LogGP machine.
    pub(super) fn G_mut(&mut self) -> &mut Time {
        if !matches!(self.params.long, LongMessages::LogGP { .. }) {
            self.params.long = LongMessages::LogGP { G: self.params.G().unwrap_or_default() };
        }
        match &mut self.params.long {
            LongMessages::LogGP { G } => G,
            _ => unreachable!("it has just become one"),
        }
    }

    /// Returns LogGPS's parameters, to be set. Turns any other machine into a LogGPS machine, on which unset
    /// costs are 0 and without S no message waits for its receiver.
    pub(super) fn gps_mut(&mut self) -> &mut LogGps {
        if self.params.gps().is_none() {
            let (O_s, O_r, G_s, G_l) = Default::default();
            self.params.long =
                LongMessages::LogGPS(LogGps { s: MAX_WORDS, S: MAX_WORDS, O_s, O_r, G_s, G_l });
        }
        match &mut self.params.long {
            LongMessages::LogGPS(gps) => gps,
            _ => unreachable!("it has just become one"),
        }
    }
}
