//! One message, and the times that its sender and its receiver spend in MPI's routines (Ino, Fujimoto and
//! Hagihara, "LogGPS", tables 3 and 4).
//!
//! Processor 0 calls its send at time 0, and processor 1 calls its receive some time later. The calls are
//! blocking, or nonblocking with a wait after some computing. [`MessageTerms`] has the paper's equations (1)
//! to (11).

use std::sync::Arc;

use loggp::{PS, Params, Proc, RunError, Tag, Time, Work};

use crate::option::Cycles;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, LOGGPS, Opt, Outcome, PhaseName, Plan, PlanResult,
    Predict, Program, Size, TimeSpan,
};

/// One message, and the routines by which it is sent and received.
pub static MESSAGE: Program = Program {
    name: "message",
    about: "one message, and what its sender and its receiver spend in MPI's routines (LogGPS, tables 3 and 4)",
    algorithms: &[
        Algorithm {
            name: "blocking",
            about: "one processor sends, the other computes and receives",
            formula: ClosedForm::Paper(
                "LogGPS, table 4",
                "send: T1, above S T4 + T5 + T1; receive: max(T1 + T2 - (t_r - t_s), 0) + T3, above S \
                 max(o' + L - (t_r - t_s), 0) + o' + T5 + T1 + T2 + T3; docs/reference/loggps.md has all terms",
            ),
            plan: |case| OneMessage::plan(case, false),
        },
        Algorithm {
            name: "nonblocking",
            about: "the same by requests, which both wait for when they have computed",
            formula: ClosedForm::Paper(
                "LogGPS, table 4",
                "o' to call, and max(T_blk - (t_w - t_i), o') to wait; docs/reference/loggps.md has all terms",
            ),
            plan: |case| OneMessage::plan(case, true),
        },
    ],
    size: Size { meaning: "bytes of the message, 0 among them", default: 1024 },
    options: &[&RECEIVER_DELAY, &MEANWHILE],
    work: Work::Charged,
};

/// The option for the time of the receiver's call.
pub static RECEIVER_DELAY: Opt<TimeSpan> = Opt::new(
    "receiver-delay",
    "TIME",
    "how long processor 1 computes before it receives; a bare number counts cycles",
    TimeSpan::Time(Time::ZERO),
    &Cycles,
);

/// The option for the computing time after a nonblocking call.
pub static MEANWHILE: Opt<TimeSpan> = Opt::new(
    "meanwhile",
    "TIME",
    "how long both compute between a nonblocking call and the wait for it; a bare number counts cycles",
    TimeSpan::Time(Time::ZERO),
    &Cycles,
)
.for_algorithms(&["nonblocking"]);

const DATA: Tag<Arc<[u8]>> = Tag::named(0, "data");
/// The kind of work before a call or between two, in units of a picosecond.
pub const DELAY: &str = "delay";

/// The terms of a message of k words (LogGPS, table 3), and its equations (1) to (11). In them t is the time
/// from the sender's call to the receiver's.
#[derive(Clone, Copy, Debug)]
pub struct MessageTerms {
    /// Overhead of the send, o' + kO_s.
    pub T1: Time,
    /// Time from the end of T1 until the message has arrived: T2, or T2' above s.
    pub T2: Time,
    /// Overhead of the reception, o' + kO_r.
    pub T3: Time,
    /// Overhead of a request, and of a nonblocking call: o'.
    pub o: Time,
    /// Latency.
    pub L: Time,
    /// True if the message waits for its receiver: k > S.
    pub is_synchronous: bool,
}

impl MessageTerms {
    /// Returns the terms for a message of k words on a machine with these parameters.
    pub fn new(params: &Params, k: usize) -> MessageTerms {
        MessageTerms {
            T1: params.send_overhead(k),
            T2: params.stream(k) + params.L,
            T3: params.recv_overhead(k),
            o: params.send_overhead(0),
            L: params.L,
            is_synchronous: params.is_synchronous(k),
        }
    }

    /// Returns the time from the call of the send until the receiver has the request.
    pub fn T4(&self, t: Time) -> Time {
        (self.o + self.L).max(t) + self.o
    }

    /// Returns the time from the end of T4 until the sender has the reply.
    pub fn T5(&self) -> Time {
        self.o + self.L + self.o
    }

    /// Returns the communication cost, equations (1) to (3): the time from the call of the send until the
    /// receiver has the message, if it called before the arrival.
    pub fn communication(&self, t: Time) -> Time {
        let agreed = if self.is_synchronous { self.T4(t) + self.T5() } else { Time::ZERO };
        agreed + self.T1 + self.T2 + self.T3
    }

    /// Returns the time of a blocking send, equations (4) and (5).
    pub fn send(&self, t: Time) -> Time {
        if self.is_synchronous { self.T4(t) + self.T5() + self.T1 } else { self.T1 }
    }

    /// Returns the time of a blocking receive, equations (7) to (9).
    pub fn recv(&self, t: Time) -> Time {
        let MessageTerms { T1, T2, T3, o, L, .. } = *self;
        match self.is_synchronous {
            true => (o + L - t).max(Time::ZERO) + o + self.T5() + T1 + T2 + T3,
            false => (T1 + T2 - t).max(Time::ZERO) + T3,
        }
    }

    /// Returns the time of a wait: the blocking call's time, less the time that has passed. This is equation
    /// (11), which prints t_i - t_w for t_w - t_i.
    pub fn wait(&self, blocking: Time, passed: Time) -> Time {
        (blocking - passed).max(self.o)
    }

    /// Returns whether a gap changes none of the times. Without a request nothing else is sent.
    pub fn is_unaffected_by_gap(&self, g: Time) -> bool {
        !self.is_synchronous || g <= 2 * self.o
    }
}

/// The plan of a case.
struct OneMessage<'a> {
    case: &'a Case,
    /// Computing time of the receiver before its call.
    receiver_delay: Time,
    /// Computing time between a nonblocking call and the wait for it; `None` for blocking calls.
    meanwhile: Option<Time>,
}

impl<'a> OneMessage<'a> {
    fn plan(case: &'a Case, nonblocking: bool) -> PlanResult<'a> {
        let (receiver_delay, meanwhile) = (case.time(&RECEIVER_DELAY), case.time(&MEANWHILE));
        check_length(case)?;
        Ok(Box::new(OneMessage { case, receiver_delay, meanwhile: nonblocking.then_some(meanwhile) }))
    }

    /// Returns the terms, or `None` where the equations do not hold on this machine.
    fn terms(&self) -> Option<MessageTerms> {
        let Case { params, size, .. } = self.case;
        Some(MessageTerms::new(params, params.words(*size)))
            .filter(|terms| terms.is_unaffected_by_gap(params.g))
    }

    /// Returns the time of each routine, in the order of their calls, the sender's first.
    fn routines(&self, terms: &MessageTerms) -> Vec<(PhaseName, Time)> {
        let MessageTerms { o, .. } = *terms;
        let (send, recv) = (terms.send(self.receiver_delay), terms.recv(self.receiver_delay));
        match self.meanwhile {
            None => vec![(SEND.into(), send), (RECV.into(), recv)],
            Some(time) => vec![
                (ISEND.into(), o),
                (WAIT_SEND.into(), terms.wait(send, o + time)),
                (IRECV.into(), o),
                (WAIT_RECV.into(), terms.wait(recv, o + time)),
            ],
        }
    }
}

/// Names of the routines: a blocking send and receive, nonblocking ones, and the waits for these.
pub const SEND: &str = "send";
/// See [`SEND`].
pub const RECV: &str = "receive";
/// See [`SEND`].
pub const ISEND: &str = "isend";
/// See [`SEND`].
pub const IRECV: &str = "irecv";
/// See [`SEND`].
pub const WAIT_SEND: &str = "wait of the sender";
/// See [`SEND`].
pub const WAIT_RECV: &str = "wait of the receiver";

impl Predict for OneMessage<'_> {
    fn known_parameters(&self) -> &'static [&'static str] {
        LOGGPS
    }

    fn form(&self) -> Option<(FormKind, Time)> {
        let routines = self.routines(&self.terms()?);
        let (sender, receiver) = routines.split_at(routines.len() / 2);
        let spent = |routines: &[(PhaseName, Time)]| {
            routines.iter().map(|(_, time)| *time).sum::<Time>() + self.meanwhile.unwrap_or(Time::ZERO)
        };
        let time = spent(sender).max(self.receiver_delay + spent(receiver));
        Some((FormKind::Exact, time))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let Some(terms) = self.terms() else { return Vec::new() };
        self.routines(&terms).into_iter().map(|(name, time)| (name, Some(time))).collect()
    }
}

impl Plan for OneMessage<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { size, seed, work, .. } = *self.case;
        let mut rng = fastrand::Rng::with_seed(seed);
        let data: Arc<[u8]> = (0..size).map(|_| rng.u8(..)).collect();
        let machine = self.case.machine(emulation).rate(DELAY, PS);
        let run = machine.measure_across(|p| {
            let (mut calls, mut received) = (Vec::with_capacity(2), None);
            if p.id() == 1 {
                delay(p, work, self.receiver_delay);
            }
            match (p.id(), self.meanwhile) {
                (0, None) => call(p, &mut calls, SEND, |p| p.send(1, DATA, data.clone())),
                (0, Some(time)) => {
                    let request = call(p, &mut calls, ISEND, |p| p.isend(1, DATA, data.clone()));
                    delay(p, work, time);
                    call(p, &mut calls, WAIT_SEND, |p| p.wait(request));
                }
                (1, None) => received = Some(call(p, &mut calls, RECV, |p| p.recv(DATA.from(0)))),
                (1, Some(time)) => {
                    let request = call(p, &mut calls, IRECV, |p| p.irecv(DATA.from(0)));
                    delay(p, work, time);
                    received = Some(call(p, &mut calls, WAIT_RECV, |p| p.wait(request)));
                }
                _ => (),
            }
            (received, calls)
        })?;
        let (run, results) = run.take_results();
        let verified = match &results[1].0 {
            Some(received) if *received == data => Ok(()),
            _ => Err("processor 1 has another message than processor 0 sent".into()),
        };
        let phases = results.into_iter().flat_map(|(_, calls)| calls).collect();
        Ok(Outcome { phases, ..Outcome::new(run, verified) })
    }
}

/// Calls a routine, and notes its time.
fn call<T>(
    p: &mut Proc,
    calls: &mut Vec<(PhaseName, Time)>,
    name: &'static str,
    routine: impl FnOnce(&mut Proc) -> T,
) -> T {
    let start = p.local_time();
    let result = routine(p);
    calls.push((name.into(), p.local_time() - start));
    result
}

/// Refuses a machine without a second processor, and a message that it cannot carry.
pub fn check_length(case: &Case) -> Result<(), crate::Refusal> {
    let params = &case.params;
    if params.P < 2 {
        refuse!("a processor alone has nobody to send to; give at least 2");
    }
    let k = params.words(case.size);
    if let Some(longest) = params.longest_message().filter(|longest| k > *longest) {
        refuse!(
            "a message of {k} words would arrive before it is sent, as G_l is that negative; give a size of at most {} bytes",
            longest * params.word.get()
        );
    }
    if case.size > 0 { case.setting().check_room(2) } else { Ok(()) }
}

/// Computes for this time.
pub fn delay(p: &mut Proc, work: Work, time: Time) {
    match work {
        Work::Charged => p.work(DELAY, time.as_ps() as u64, || ()),
        // An empty computation would be measured to take no time.
        _ => p.wait_until(p.now() + time),
    }
}
