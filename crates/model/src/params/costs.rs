//! The costs of a message by the parameters alone, without stalls and busy ports: LogP, section 3; LogGP,
//! section 2; LogGPS, table 3.

use super::params::{LogGps, LongMessages, Params};
use crate::time::{PS, Time, factor};

/// The costs of a message of k words, without stalls and busy ports.
impl Params {
    /// Returns the length in words of a message of `bytes` bytes. LogP and LogGP have no message shorter than
    /// a word.
    #[inline]
    pub fn words(&self, bytes: usize) -> usize {
        self.counted_words(if bytes <= self.word.get() {
            usize::from(bytes > 0)
        } else {
            bytes.div_ceil(self.word.get())
        })
    }

    /// Returns the number of words that a message counts for: at least one, except under LogGPS.
    #[doc(hidden)]
    #[inline]
    pub fn counted_words(&self, words: usize) -> usize {
        if self.is_loggp() { words.max(1) } else { words }
    }

    /// Returns the time for which the sender is busy: o, or o + kO_s under LogGPS, and R more above S.
    pub fn send_overhead(&self, k: usize) -> Time {
        let R = if self.is_synchronous(k) { self.R } else { Time::ZERO };
        self.one_sided_overhead(k) + R
    }

    /// Returns the time for which the sender of a message to a memory is busy: o, or o + kO_s under LogGPS.
    pub fn one_sided_overhead(&self, k: usize) -> Time {
        self.gps().map_or(self.o, |gps| self.o + factor(k) * gps.O_s)
    }

    /// Returns the time for which the receiver is busy: o, or o + kO_r under LogGPS.
    pub fn recv_overhead(&self, k: usize) -> Time {
        self.gps().map_or(self.o, |gps| self.o + factor(k) * gps.O_r)
    }

    /// Returns whether G_l is negative: a long message then travels during its send overhead (LogGPS, table
    /// 5).
    #[doc(hidden)]
    pub fn has_negative_G_l(&self) -> bool {
        self.gps().is_some_and(|gps| gps.G_l < Time::ZERO)
    }

    /// Returns the time from the first word of a message to its last: (k-1)G (LogGP, section 2.1); under
    /// LogGPS G_s for each of the first s words and G_l for each further one (table 3). A negative G_l can
    /// make it negative.
    pub fn stream(&self, k: usize) -> Time {
        match self.long {
            LongMessages::LogP => factor(k.saturating_sub(1)) * self.g.max(self.o),
            LongMessages::LogGP { G } => factor(k.saturating_sub(1)) * G,
            LongMessages::LogGPS(gps) => {
                let in_first_packet = k.min(gps.s);
                factor(in_first_packet) * gps.G_s + factor(k - in_first_packet) * gps.G_l
            }
        }
    }

    /// Returns whether a message waits for its receiver before it is sent (LogGPS, section 3.1).
    pub fn is_synchronous(&self, k: usize) -> bool {
        self.gps().is_some_and(|gps| k > gps.S)
    }

    /// Returns the number of messages that may be in transit from a processor, and to it: [`C`](Params::C) if
    /// it is set, else ceil(L/g) and at least one (LogP, section 3). `None` means no limit, as with g = 0.
    pub fn capacity(&self) -> Option<usize> {
        if let Some(C) = self.C {
            return Some(C.get()).filter(|C| *C != Params::NO_LIMIT);
        }
        let (L, g) = (self.L.as_ps(), self.g.as_ps());
        (g > 0).then(|| (L as u64).div_ceil(g as u64).max(1) as usize)
    }

    /// Returns the parameters with all costs 0, for the engine on a real machine, where costs arise by
    /// themselves. P and S stay, and a cycle is 1 ps, so that a look moves time by the least possible.
    #[doc(hidden)]
    pub fn without_costs(&self) -> Params {
        let [L, o, g, G, R, O_s, O_r, G_s, G_l] = [Time::ZERO; 9];
        let long = match self.gps() {
            Some(LogGps { S, .. }) => LongMessages::LogGPS(LogGps { s: S, S, O_s, O_r, G_s, G_l }),
            None => LongMessages::LogGP { G },
        };
        Params { L, o, g, long, R, C: None, cycle: PS, ..*self }
    }

    /// Returns the parameters with the same overheads and gaps, but an L without bound and no G or capacity:
    /// messages may be under way for any time and never delay each other.
    #[doc(hidden)]
    pub fn without_network_limits(&self) -> Params {
        let long = match self.gps() {
            Some(gps) => LongMessages::LogGPS(LogGps { G_s: Time::ZERO, G_l: Time::ZERO, ..gps }),
            None => LongMessages::LogGP { G: Time::ZERO },
        };
        Params { L: Time::MAX / 1024, long, C: None, ..*self }
    }

    /// Returns the length in words of the longest message that the machine can send, or `None` if there is no
    /// limit.
    ///
    /// There is a limit only if G_l is negative (LogGPS, table 5): a long message's bytes then travel while
    /// the sender is still busy with it, so it may arrive before its send overhead ends, but not before that
    /// overhead starts.
    pub fn longest_message(&self) -> Option<usize> {
        let gps = self.gps()?;
        let per_word = gps.O_s + gps.G_l;
        if per_word >= Time::ZERO {
            return None;
        }
        let slack = |k: usize| self.send_overhead(k) + self.stream(k) + self.L;
        // The slack grows up to s words, and falls by the same amount with every word above.
        let beyond = slack(gps.s).as_ps() / (-per_word).as_ps();
        Some(gps.s.saturating_add(beyond.max(0) as usize))
    }
}

/// The costs of messages above a length beyond the parameters, by the models that
/// LogGPS is compared with; nothing by default.
#[derive(Clone, Copy, Debug)]
pub struct Surcharge {
    /// Length in words of the longest message without a surcharge.
    pub above: usize,
    /// Further send overhead.
    pub send: Time,
    /// Further receive overhead.
    pub recv: Time,
    /// Further time from the first word to the last; may be negative.
    pub stream: Time,
}

impl Default for Surcharge {
    fn default() -> Surcharge {
        Surcharge { above: usize::MAX, send: Time::ZERO, recv: Time::ZERO, stream: Time::ZERO }
    }
}

/// The overhead of a reception, computed before the run because it is needed at every message.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceptionCost {
    /// The overhead for any length.
    fixed: Time,
    per_word: Time,
    /// The length in words above which a message costs more, and the further cost.
    surcharge: Option<(usize, Time)>,
    /// The overhead of a message of one word, as nearly all messages are.
    of_one_word: Time,
}

impl ReceptionCost {
    pub(crate) fn new(params: &Params, surcharge: &Surcharge) -> ReceptionCost {
        let cost = ReceptionCost {
            fixed: params.o,
            per_word: params.gps().map_or(Time::ZERO, |gps| gps.O_r),
            surcharge: (surcharge.recv > Time::ZERO).then_some((surcharge.above, surcharge.recv)),
            of_one_word: Time::ZERO,
        };
        ReceptionCost { of_one_word: cost.compute(1), ..cost }
    }

    /// Returns the overhead of a message of k words.
    #[inline]
    pub(crate) fn overhead(&self, k: usize) -> Time {
        if k == 1 { self.of_one_word } else { self.compute(k) }
    }

    /// Computes the overhead of a message of k words.
    #[inline]
    fn compute(&self, k: usize) -> Time {
        let cost = self.fixed + factor(k) * self.per_word;
        match self.surcharge {
            Some((above, more)) if k > above => cost + more,
            _ => cost,
        }
    }
}
