//! What a message costs under the parameters, apart from what else is going on: LogP, section 3; LogGP, section 2; LogGPS,
//! table 3.

use super::params::{LongMessages, Params};
use crate::time::Time;

/// What a message of k words costs, apart from what else is going on.
impl Params {
    /// The length in words of a message of so many bytes. LogP and LogGP have no message shorter than a word.
    pub fn words(&self, bytes: usize) -> usize {
        self.at_least(if bytes <= self.word.get() {
            usize::from(bytes > 0)
        } else {
            bytes.div_ceil(self.word.get())
        })
    }

    /// The length of a message of so many words: none counts as one, but on a machine of LogGPS.
    pub(crate) fn at_least(&self, words: usize) -> usize {
        if self.is_loggp() { words.max(1) } else { words }
    }

    /// How long the sender is busy: o, and kO_s more under LogGPS.
    pub fn send_overhead(&self, k: usize) -> Time {
        self.gps().map_or(self.o, |gps| self.o + k as i64 * gps.O_s)
    }

    /// How long the receiver is busy: o, and kO_r more under LogGPS.
    pub fn recv_overhead(&self, k: usize) -> Time {
        self.gps().map_or(self.o, |gps| self.o + k as i64 * gps.O_r)
    }

    /// The longest message that takes no time at all where the latency is exactly L; nothing where none does.
    fn longest_instant(&self) -> Option<u32> {
        let free = |time: Time, rest: u32| if time == Time::ZERO { u32::MAX } else { rest };
        match self.gps() {
            _ if self.L > Time::ZERO || self.shrinks() => None,
            None => Some(free(self.stream(2), 1)),
            Some(gps) if gps.G_s > Time::ZERO && gps.s > 0 => Some(0),
            Some(gps) => Some(free(gps.G_l, gps.s as u32)),
        }
    }

    /// Whether a long message's way may lie within its overhead, as a negative G_l says (LogGPS, table 5).
    pub(crate) fn shrinks(&self) -> bool {
        self.gps().is_some_and(|gps| gps.G_l < Time::ZERO)
    }

    /// How long after its first word a message's last word follows: (k-1)G (LogGP, section 2.1), or kG_s up
    /// to s words and G_l for each above (LogGPS, table 3), which may take back more than there was.
    pub fn stream(&self, k: usize) -> Time {
        match self.long {
            LongMessages::LogP => (self.at_least(k) as i64 - 1) * self.g.max(self.o),
            LongMessages::LogGP { G } => (self.at_least(k) as i64 - 1) * G,
            LongMessages::LogGPS(gps) => {
                let in_first_packet = k.min(gps.s);
                in_first_packet as i64 * gps.G_s + (k - in_first_packet) as i64 * gps.G_l
            }
        }
    }

    /// Whether a message waits for its receiver before it is sent (LogGPS, section 3.1).
    pub fn is_synchronous(&self, k: usize) -> bool {
        self.gps().is_some_and(|gps| k > gps.S)
    }

    /// How many messages may be in transit from a processor, and as many to it: ceil(L/g) and at least one
    /// (LogP, section 3). `None` where there is no gap, and so no limit.
    pub fn capacity(&self) -> Option<usize> {
        let (L, g) = (self.L.as_ps(), self.g.as_ps());
        (g > 0).then(|| (L as u64).div_ceil(g as u64).max(1) as usize)
    }

    /// The longest message that does not arrive before its sender turns to it, in words; `None` if any
    /// length will do, as it does unless G_l is negative.
    ///
    /// A negative G_l (LogGPS, table 5) says that a long message's bytes travel while the sender is still
    /// busy with it, so it may arrive before its send overhead ends. Before that overhead starts it cannot.
    pub fn longest(&self) -> Option<usize> {
        let gps = self.gps()?;
        let per_word = gps.O_s + gps.G_l;
        if per_word >= Time::ZERO {
            return None;
        }
        let slack = |k: usize| self.send_overhead(k) + self.stream(k) + self.L;
        // Up to s every term grows; from there on slack falls by the same amount with every word.
        let beyond = slack(gps.s).as_ps() / -per_word.as_ps();
        Some(gps.s.saturating_add(beyond.max(0) as usize))
    }
}

/// What messages above a length cost more than the parameters say, by the [models](crate::Model) that LogGPS is compared
/// with. By default nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surcharge {
    /// The longest message that costs what the parameters say.
    pub above: usize,
    /// How much longer the sender is busy.
    pub send: Time,
    /// How much longer the receiver is busy.
    pub recv: Time,
    /// How much later the last word follows the first.
    pub stream: Time,
}

impl Default for Surcharge {
    fn default() -> Surcharge {
        Surcharge { above: usize::MAX, send: Time::ZERO, recv: Time::ZERO, stream: Time::ZERO }
    }
}

/// What a reception takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceptionCost {
    /// The overhead, however long the message is.
    fixed: Time,
    /// The overhead for each of its words.
    per_word: Time,
    /// The longest message that takes no time from its request to its arrival.
    instant: Option<u32>,
    /// What longer messages cost beside, if they do.
    more: Option<(usize, Time)>,
    /// The overhead of a message of one word, as nearly all are.
    of_one_word: Time,
}

impl ReceptionCost {
    /// Under these parameters, if longer messages cost so much beside, and latencies are exactly L or not.
    pub(crate) fn under(params: &Params, surcharge: &Surcharge, is_exact: bool) -> ReceptionCost {
        let cost = ReceptionCost {
            fixed: params.o,
            per_word: params.gps().map_or(Time::ZERO, |gps| gps.O_r),
            instant: if is_exact { params.longest_instant() } else { None },
            more: (surcharge.recv > Time::ZERO).then_some((surcharge.above, surcharge.recv)),
            of_one_word: Time::ZERO,
        };
        ReceptionCost { of_one_word: cost.of_any(1), ..cost }
    }

    /// The overhead of a message of k words.
    #[inline]
    pub(crate) fn of(&self, k: usize) -> Time {
        if k == 1 { self.of_one_word } else { self.of_any(k) }
    }

    /// The same, from the parameters.
    fn of_any(&self, k: usize) -> Time {
        let cost = self.fixed + k as i64 * self.per_word;
        match self.more {
            Some((above, more)) if k > above => cost + more,
            _ => cost,
        }
    }

    /// Whether a message of k words arrives in the instant of its request. Then a look in that instant does not see
    /// it, unless it is the looker's own: who came first, the look or the request, would be a matter of chance.
    #[inline]
    pub(crate) fn is_instant(&self, k: u32) -> bool {
        self.instant.is_some_and(|longest| k <= longest)
    }
}
