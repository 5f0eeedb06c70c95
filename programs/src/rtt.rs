//! Round trips: a message goes from processor 0 to processor 1 and another one comes back, while processor 0 computes for
//! a time w (Ino, Fujimoto and Hagihara, "LogGPS", section 4.3 and figure 3).
//!
//! Processor 0 sends at time 0, computes, and receives; processor 1 receives and sends. With T1 = o' + kO_s, T3 = o' + kO_r
//! and T2 = kG_s + L (T2' above s), up to S processor 1 sends at T1 + T2 + T3. Its message is there another T1 + T2
//! later, and processor 0 asks for it at T1 + w. So the round trip takes
//!
//! > max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3 &nbsp;&nbsp; (12), (13)
//!
//! Above S a request goes ahead of each message. The first one meets a receiver that waits: it is granted at
//! T4 = (o' + L) + o', and processor 0 knows at T5 = o' + L + o' after that. Its send is over at T4 + T5 + T1, and processor
//! 1 has the message T2 + T3 later. Now that sends a request, which comes o' + L later still; processor 0 asks for it w
//! after its send, and takes o', T5, T1 + T2 and T3 from there:
//!
//! > max(T2 + T3 + o' + L - w, 0) + w + 2T1 + T2 + T3 + T4 + 2T5 + o' &nbsp;&nbsp; (14)
//!
//! Table 6 prints 2T4 - (o' + L) for T4 + o', which is the same, as long as T4 is what a receiver that waits makes of it. It
//! always waits in the first round. In a further one processor 1 asks for the next message when its send is over, which is
//! T2 + T3 before processor 0 has received. Where a negative G_l makes that less than -(o' + L), the request has to wait
//! for it, and every round but the first takes -(T2 + T3 + o' + L) longer: [`RoundTrip::delay`].

use std::sync::Arc;

use loggp::{PS, Params, RunError, Tag, Time, Work};

use crate::message::{DELAY, Parts, check_length, delay};
use crate::option::{Cycles, Whole};
use crate::{Algorithm, Case, Emulation, Length, Opt, Outcome, PhaseName, Plan, Planned, Program, Size};

/// A message there and one back, with an imbalance.
pub static RTT: Program = Program {
    name: "rtt",
    about: "a message goes to another processor and one comes back, while the first computes (LogGPS, section 4.3)",
    algorithms: &[Algorithm {
        name: "blocking",
        about: "one processor sends, computes for w and receives; the other receives and sends",
        formula: "up to S: max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3; above: max(T2 + T3 + o' + L - w, 0) + w + 2T1 + T2 + T3 \
                  + 2T4 + 2T5 - (o' + L) (LogGPS, table 6); docs/reference/loggps.md has all terms",
        plan: |case| RoundTrips::plan(case),
    }],
    size: Size { meaning: "bytes of the message, 0 among them", default: 1024 },
    options: &[&IMBALANCE, &ROUNDS],
    work: Work::Charged,
};

/// The imbalance w.
pub static IMBALANCE: Opt<Length> = Opt::new(
    "imbalance",
    "TIME",
    "how long processor 0 computes between its send and its receive; a bare number counts cycles",
    Length::Time(Time::ZERO),
    &Cycles,
);

/// How many round trips there are.
pub static ROUNDS: Opt<usize> =
    Opt::new("rounds", "N", "how many round trips there are, one after the other", 1, &Whole(1..=1_000_000));

/// The message there.
const PING: Tag<Arc<[u8]>> = Tag::named(0, "ping");
/// The message back.
const PONG: Tag<Arc<[u8]>> = Tag::named(1, "pong");
/// The only phase: what processor 0 sees.
const TRIPS: &str = "round trips";

/// A round trip of messages of which each is made of this.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip(Parts);

impl RoundTrip {
    /// On a machine with these parameters, with messages of k words.
    pub fn of(params: &Params, k: usize) -> RoundTrip {
        RoundTrip(Parts::of(params, k))
    }

    /// How long it takes with an imbalance w: equations (12) to (14).
    pub fn time(&self, w: Time) -> Time {
        let Parts { T1, T2, T3, o, L, is_synchronous } = self.0;
        if !is_synchronous {
            return (T1 + 2 * T2 + T3 - w).max(Time::ZERO) + w + T1 + T3;
        }
        let (T4, T5) = (self.0.T4(Time::ZERO), self.0.T5()); // T4 of a receiver that waits
        (T2 + T3 + o + L - w).max(Time::ZERO) + w + 2 * T1 + T2 + T3 + 2 * T4 + 2 * T5 - (o + L)
    }

    /// How much longer a round takes that another one goes before.
    pub fn delay(&self) -> Time {
        let Parts { T2, T3, o, L, is_synchronous, .. } = self.0;
        if is_synchronous { (-(T2 + T3 + o + L)).max(Time::ZERO) } else { Time::ZERO }
    }

    /// When processor 1 has done its part of so many rounds.
    fn answered(&self, rounds: i64, w: Time) -> Time {
        let Parts { T1, T2, T3, is_synchronous, .. } = self.0;
        match is_synchronous {
            true => self.rounds(rounds, w) - T2 - T3,
            false => self.rounds(rounds - 1, w) + 2 * T1 + T2 + T3,
        }
    }

    /// How long so many rounds take.
    pub fn rounds(&self, rounds: i64, w: Time) -> Time {
        rounds * self.time(w) + (rounds - 1).max(0) * self.delay()
    }

    /// Whether a gap changes none of it. The paper disregards it (section 4.2). Between two messages that a processor sends,
    /// or receives, there are two overheads at least; and without requests, a whole round.
    fn hides(&self, g: Time, rounds: i64, w: Time) -> bool {
        let Parts { T2, o, L, is_synchronous, .. } = self.0;
        match is_synchronous {
            true => g <= 2 * o,
            false => rounds == 1 || g + (T2 - L).max(Time::ZERO) <= self.time(w),
        }
    }
}

/// Round trips that can be run.
struct RoundTrips<'a> {
    case: &'a Case,
    /// The imbalance.
    w: Time,
    /// How many there are.
    rounds: i64,
}

impl<'a> RoundTrips<'a> {
    fn plan(case: &'a Case) -> Planned<'a> {
        let (w, rounds) = (case.time(&IMBALANCE), case.get(&ROUNDS) as i64);
        check_length(case)?; // of the message there, and of the one back
        Ok(Box::new(RoundTrips { case, w, rounds }))
    }

    fn trip(&self) -> RoundTrip {
        let params = &self.case.params;
        RoundTrip::of(params, params.words(self.case.size))
    }

    /// Whether the formulas are those of this machine.
    fn has_formula(&self) -> bool {
        self.trip().hides(self.case.params.g, self.rounds, self.w)
    }
}

impl Plan for RoundTrips<'_> {
    fn formula(&self) -> Option<Time> {
        let (trip, rounds, w) = (self.trip(), self.rounds, self.w);
        self.has_formula().then(|| trip.rounds(rounds, w).max(trip.answered(rounds, w)))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let trips = self.has_formula().then(|| self.trip().rounds(self.rounds, self.w));
        vec![(TRIPS.into(), trips)]
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { size, seed, work, .. } = *self.case;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut data = || -> Arc<[u8]> { (0..size).map(|_| rng.u8(..)).collect() };
        let (ping, pong) = (data(), data());
        let w = self.w;
        let machine = self.case.machine(emulation).rate(DELAY, PS);
        let run = machine.run_across(|p| {
            let mut received = None;
            for _ in 0..self.rounds {
                match p.id() {
                    0 => {
                        p.send(1, PING, ping.clone());
                        delay(p, work, w);
                        received = Some(p.recv_from(1, PONG));
                    }
                    1 => {
                        received = Some(p.recv_from(0, PING));
                        p.send(0, PONG, pong.clone());
                    }
                    _ => (),
                }
            }
            (received, p.now())
        })?;
        let (run, results) = run.take_results();
        let mut outcome = Outcome::new(run, verify(&results, [&pong, &ping]));
        outcome.phases = vec![(TRIPS.into(), results[0].1)];
        Ok(outcome)
    }
}

/// Processors 0 and 1 must have what the other one sent.
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
    fn a_wrong_message_is_noticed() {
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
