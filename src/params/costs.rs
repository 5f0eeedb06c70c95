//! What a message costs by the parameters alone, without stalls and busy ports: LogP, section 3; LogGP, section 2;
//! LogGPS, table 3.

use super::params::{LogGps, LongMessages, Params};
use crate::time::{PS, Time};

/// What a message of k words costs, without stalls and busy ports.
impl Params {
    /// The length in words of a message of so many bytes. LogP and LogGP have no message shorter than a word.
    #[inline]
    pub fn words(&self, bytes: usize) -> usize {
        self.at_least(if bytes <= self.word.get() {
            usize::from(bytes > 0)
        } else {
            bytes.div_ceil(self.word.get())
        })
    }

    /// The length that a message of so many words counts for: at least one word, except under LogGPS.
    #[inline]
    pub(crate) fn at_least(&self, words: usize) -> usize {
        if self.is_loggp() { words.max(1) } else { words }
    }

    /// How long the sender is busy: o, under LogGPS o + kO_s, and above S R more.
    pub fn send_overhead(&self, k: usize) -> Time {
        let R = if self.is_synchronous(k) { self.R } else { Time::ZERO };
        self.gps().map_or(self.o, |gps| self.o + k as i64 * gps.O_s + R)
    }

    /// How long the receiver is busy: o, under LogGPS o + kO_r.
    pub fn recv_overhead(&self, k: usize) -> Time {
        self.gps().map_or(self.o, |gps| self.o + k as i64 * gps.O_r)
    }

    /// Whether a long message may travel during its send overhead, as a negative G_l says (LogGPS, table 5).
    pub(crate) fn shrinks(&self) -> bool {
        self.gps().is_some_and(|gps| gps.G_l < Time::ZERO)
    }

    /// How long after the first word of a message its last word follows: (k-1)G (LogGP, section 2.1); under LogGPS
    /// G_s for each of the first s words and G_l for each further one (table 3). A negative G_l can make it negative.
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

    /// How many messages may be in transit from a processor, and how many to it: ceil(L/g) and at least one
    /// (LogP, section 3), or what [`C`](Params::C) says. `None` if g is 0: then there is no limit.
    pub fn capacity(&self) -> Option<usize> {
        if let Some(C) = self.C {
            return Some(C.get()).filter(|C| *C != Params::NO_LIMIT);
        }
        let (L, g) = (self.L.as_ps(), self.g.as_ps());
        (g > 0).then(|| (L as u64).div_ceil(g as u64).max(1) as usize)
    }

    /// A machine of as many processors and the same S, on which nothing costs anything: what the engine has where a real
    /// machine costs what it costs. A look then moves time by the least that there is.
    pub(crate) fn free(&self) -> Params {
        let [L, o, g, G, R, O_s, O_r, G_s, G_l] = [Time::ZERO; 9];
        let long = match self.gps() {
            Some(LogGps { S, .. }) => LongMessages::LogGPS(LogGps { s: S, S, O_s, O_r, G_s, G_l }),
            None => LongMessages::LogGP { G },
        };
        Params { L, o, g, long, R, C: None, cycle: PS, ..*self }
    }

    /// A machine with the same overheads and gaps, on which messages can be under way for as long as one likes, and are never
    /// in each other's way.
    pub(crate) fn unbounded(&self) -> Params {
        let long = match self.gps() {
            Some(gps) => LongMessages::LogGPS(LogGps { G_s: Time::ZERO, G_l: Time::ZERO, ..gps }),
            None => LongMessages::LogGP { G: Time::ZERO },
        };
        Params { L: Time::MAX / 1024, long, C: None, ..*self }
    }

    /// The longest message that the machine can send, in words; `None` if there is no limit, as there is none unless
    /// G_l is negative.
    ///
    /// A negative G_l (LogGPS, table 5) says that a long message's bytes travel while the sender is still
    /// busy with it, so it may arrive before its send overhead ends, but not before that overhead starts.
    pub fn longest(&self) -> Option<usize> {
        let gps = self.gps()?;
        let per_word = gps.O_s + gps.G_l;
        if per_word >= Time::ZERO {
            return None;
        }
        let slack = |k: usize| self.send_overhead(k) + self.stream(k) + self.L;
        // The slack grows up to s words, and falls by the same amount with every word above.
        let beyond = slack(gps.s).as_ps() / -per_word.as_ps();
        Some(gps.s.saturating_add(beyond.max(0) as usize))
    }
}

/// What messages above a length cost beyond the parameters, by the [models](crate::Model) that LogGPS is compared
/// with; nothing by default.
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

/// How long a reception takes, worked out before the run: it is asked for at every message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceptionCost {
    /// The overhead, however long the message is.
    fixed: Time,
    /// The overhead for each of its words.
    per_word: Time,
    /// The length above which a message costs more, and how much more, if there is a surcharge.
    more: Option<(usize, Time)>,
    /// The overhead of a message of one word, which nearly all messages have.
    of_one_word: Time,
}

impl ReceptionCost {
    /// The cost under these parameters and surcharge.
    pub(crate) fn under(params: &Params, surcharge: &Surcharge) -> ReceptionCost {
        let cost = ReceptionCost {
            fixed: params.o,
            per_word: params.gps().map_or(Time::ZERO, |gps| gps.O_r),
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

    /// The overhead of a message of k words, computed anew.
    fn of_any(&self, k: usize) -> Time {
        let cost = self.fixed + k as i64 * self.per_word;
        match self.more {
            Some((above, more)) if k > above => cost + more,
            _ => cost,
        }
    }
}
