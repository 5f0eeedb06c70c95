//! Round trips: a message goes from processor 0 to processor 1 and another one comes back, while processor 0
//! computes for a time w (Ino, Fujimoto and Hagihara, "LogGPS", section 4.3 and figure 3).
//!
//! Processor 0 sends at time 0, computes, and receives; processor 1 receives and sends. Let T1 = o' + kO_s,
//! T3 = o' + kO_r and T2 = kG_s + L (T2' above s). Up to S, processor 1 sends at T1 + T2 + T3. Its message
//! arrives T1 + T2 later, and processor 0 calls its receive at T1 + w. So the round trip takes
//!
//! > max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3 &nbsp;&nbsp; (12), (13)
//!
//! Above S a request goes ahead of each message. The first one finds a receiver that waits: it is granted at
//! T4 = (o' + L) + o', and processor 0 has the reply T5 = o' + L + o' after that. Its send is over at T4 +
//! T5 + T1, and processor 1 has the message T2 + T3 later. Then processor 1 sends a request, which arrives
//! o' + L later. Processor 0 calls its receive w after its send, and takes o', T5, T1 + T2 and T3 from there:
//!
//! > max(T2 + T3 + o' + L - w, 0) + w + 2T1 + T2 + T3 + T4 + 2T5 + o' &nbsp;&nbsp; (14)
//!
//! Table 6 prints 2T4 - (o' + L) for T4 + o', which is the same as long as T4 is that of a receiver that
//! waits. The receiver always waits in the first round. In a later one processor 1 calls its next receive
//! when its send is over, which is T2 + T3 before processor 0 has received. Where a negative G_l makes that
//! less than -(o' + L), the request has to wait for the receiver, and every round but the first takes -(T2 +
//! T3 + o' + L) longer: [`RoundTrip::delay`].

use std::sync::Arc;

use loggp::{PS, Params, RunError, Tag, Time, Work};

use crate::message::{DELAY, MessageTerms, check_length, delay};
use crate::option::{Cycles, WholeNumber};
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, LOGGPS, Opt, Outcome, PhaseName, Plan, PlanResult,
    Predict, Program, Size, TimeSpan,
};

/// Round trips of messages, with an imbalance.
pub static RTT: Program = Program {
    name: "rtt",
    about: "a message goes to another processor and one comes back, while the first computes (LogGPS, section 4.3)",
    algorithms: &[Algorithm {
        name: "blocking",
        about: "one processor sends, computes for w and receives; the other receives and sends",
        formula: ClosedForm::Paper(
            "LogGPS, table 6",
            "up to S: max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3; above: max(T2 + T3 + o' + L - w, 0) + w + 2T1 + T2 + T3 \
                 + 2T4 + 2T5 - (o' + L); docs/reference/loggps.md has all terms",
        ),
        plan: |case| Rtt::plan(case),
    }],
    size: Size { meaning: "bytes of the message, 0 among them", default: 1024 },
    options: &[&IMBALANCE, &ROUNDS],
    work: Work::Charged,
};

/// The option for the imbalance w.
pub static IMBALANCE: Opt<TimeSpan> = Opt::new(
    "imbalance",
    "TIME",
    "how long processor 0 computes between its send and its receive; a bare number counts cycles",
    TimeSpan::Time(Time::ZERO),
    &Cycles,
);

/// The option for the number of round trips.
pub static ROUNDS: Opt<usize> = Opt::new(
    "rounds",
    "N",
    "how many round trips there are, one after the other",
    1,
    &WholeNumber(1..=1_000_000),
);

const PING: Tag<Arc<[u8]>> = Tag::named(0, "ping");
const PONG: Tag<Arc<[u8]>> = Tag::named(1, "pong");
/// Name of the only phase, the time of processor 0.
const TRIPS: &str = "round trips";

/// A round trip of two messages with these terms.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip(MessageTerms);

impl RoundTrip {
    /// Returns the round trip of messages of k words on a machine with these parameters.
    pub fn new(params: &Params, k: usize) -> RoundTrip {
        RoundTrip(MessageTerms::new(params, k))
    }

    /// Returns its time with an imbalance w: equations (12) to (14).
    pub fn time(&self, w: Time) -> Time {
        let MessageTerms { T1, T2, T3, o, L, is_synchronous } = self.0;
        if !is_synchronous {
            return (T1 + 2 * T2 + T3 - w).max(Time::ZERO) + w + T1 + T3;
        }
        let (T4, T5) = (self.0.T4(Time::ZERO), self.0.T5()); // T4 for a receiver that waits
        (T2 + T3 + o + L - w).max(Time::ZERO) + w + 2 * T1 + T2 + T3 + 2 * T4 + 2 * T5 - (o + L)
    }

    /// Returns the additional time of a round after another.
    pub fn delay(&self) -> Time {
        let MessageTerms { T2, T3, o, L, is_synchronous, .. } = self.0;
        if is_synchronous { (-(T2 + T3 + o + L)).max(Time::ZERO) } else { Time::ZERO }
    }

    /// Returns the time at which processor 1 has done its part of `rounds` rounds.
    fn answer_time(&self, rounds: i64, w: Time) -> Time {
        let MessageTerms { T1, T2, T3, is_synchronous, .. } = self.0;
        match is_synchronous {
            true => self.rounds_time(rounds, w) - T2 - T3,
            false => self.rounds_time(rounds - 1, w) + 2 * T1 + T2 + T3,
        }
    }

    /// Returns the time of `rounds` rounds.
    pub fn rounds_time(&self, rounds: i64, w: Time) -> Time {
        rounds * self.time(w) + (rounds - 1).max(0) * self.delay()
    }

    /// Returns whether a gap changes none of the times. The paper disregards it (section 4.2). Between two
    /// messages that a processor sends, or receives, there are two overheads at least; and without requests,
    /// a whole round.
    fn is_unaffected_by_gap(&self, g: Time, rounds: i64, w: Time) -> bool {
        let MessageTerms { T2, o, L, is_synchronous, .. } = self.0;
        match is_synchronous {
            true => g <= 2 * o,
            false => rounds == 1 || g + (T2 - L).max(Time::ZERO) <= self.time(w),
        }
    }
}

/// The plan of a case.
struct Rtt<'a> {
    case: &'a Case,
    /// Imbalance.
    w: Time,
    rounds: i64,
}

impl<'a> Rtt<'a> {
    fn plan(case: &'a Case) -> PlanResult<'a> {
        let (w, rounds) = (case.time(&IMBALANCE), case.get(&ROUNDS) as i64);
        check_length(case)?;
        Ok(Box::new(Rtt { case, w, rounds }))
    }

    fn trip(&self) -> RoundTrip {
        let params = &self.case.params;
        RoundTrip::new(params, params.words(self.case.size))
    }

    /// Returns whether the formulas hold on this machine.
    fn has_formula(&self) -> bool {
        self.trip().is_unaffected_by_gap(self.case.params.g, self.rounds, self.w)
    }
}

impl Predict for Rtt<'_> {
    fn known_parameters(&self) -> &'static [&'static str] {
        LOGGPS
    }

    fn form(&self) -> Option<(FormKind, Time)> {
        let (trip, rounds, w) = (self.trip(), self.rounds, self.w);
        let time = || trip.rounds_time(rounds, w).max(trip.answer_time(rounds, w));
        self.has_formula().then(|| (FormKind::Exact, time()))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let trips = self.has_formula().then(|| self.trip().rounds_time(self.rounds, self.w));
        vec![(TRIPS.into(), trips)]
    }
}

impl Plan for Rtt<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { size, seed, work, .. } = *self.case;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut data = || -> Arc<[u8]> { (0..size).map(|_| rng.u8(..)).collect() };
        let (ping, pong) = (data(), data());
        let w = self.w;
        let machine = self.case.machine(emulation).rate(DELAY, PS);
        let run = machine.measure_across(|p| {
            let mut received = None;
            for _ in 0..self.rounds {
                match p.id() {
                    0 => {
                        p.send(1, PING, ping.clone());
                        delay(p, work, w);
                        received = Some(p.recv(PONG.from(1)));
                    }
                    1 => {
                        received = Some(p.recv(PING.from(0)));
                        p.send(0, PONG, pong.clone());
                    }
                    _ => (),
                }
            }
            (received, p.local_time())
        })?;
        let (run, results) = run.take_results();
        let mut outcome = Outcome::new(run, verify(&results, [&pong, &ping]));
        outcome.phases = vec![(TRIPS.into(), results[0].1)];
        Ok(outcome)
    }
}

/// Checks that processors 0 and 1 each have the other's message.
fn verify(results: &[(Option<Arc<[u8]>>, Time)], expected: [&Arc<[u8]>; 2]) -> Result<(), String> {
    let wrong =
        expected.iter().zip(results).position(|(sent, (received, _))| received.as_ref() != Some(*sent));
    match wrong {
        None => Ok(()),
        Some(id) => Err(format!("processor {id} has another message than processor {} sent", 1 - id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_message() {
        let data = |bytes: &[u8]| Arc::<[u8]>::from(bytes);
        let (ping, pong) = (data(&[1, 2]), data(&[3]));
        let verified = |zero: Option<Arc<[u8]>>, one: Option<Arc<[u8]>>| {
            verify(&[(zero, Time::ZERO), (one, Time::ZERO)], [&pong, &ping])
        };
        assert_eq!(verified(Some(data(&[3])), Some(data(&[1, 2]))), Ok(()));
        for (zero, one, who) in [
            (Some(data(&[4])), Some(data(&[1, 2])), "processor 0"),
            (Some(data(&[3])), Some(data(&[1])), "processor 1"),
            (None, Some(data(&[1, 2])), "processor 0"),
        ] {
            let refusal = verified(zero, one).unwrap_err();
            assert!(refusal.starts_with(&format!("{who} has another message")), "{refusal}");
        }
    }
}
