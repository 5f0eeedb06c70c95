//! One message, and what its sender and its receiver spend in the routines of MPI that send and receive it (Ino, Fujimoto
//! and Hagihara, "LogGPS", tables 3 and 4).
//!
//! Processor 0 calls its send at time 0, processor 1 its receive some time later. The message goes by blocking calls, or
//! by nonblocking ones for which both wait when they have computed. [`Parts`] are the paper's equations (1) to (11).

use std::sync::Arc;

use loggp::{PS, Params, Proc, RunError, Tag, Time, Work};

use crate::option::Cycles;
use crate::{Algorithm, Case, Emulation, Length, Opt, Outcome, PhaseName, Plan, Planned, Program, Size};

/// A message and the routines that send and receive it.
pub static MESSAGE: Program = Program {
    name: "message",
    about: "one message, and what its sender and its receiver spend in MPI's routines (LogGPS, tables 3 and 4)",
    algorithms: &[
        Algorithm {
            name: "blocking",
            about: "one processor sends, the other computes and receives",
            formula: "send: T1, above S T4 + T5 + T1; receive: max(T1 + T2 - (t_r - t_s), 0) + T3, above S \
                      max(o' + L - (t_r - t_s), 0) + o' + T5 + T1 + T2 + T3 (LogGPS, table 4); docs/reference/loggps.md has all terms",
            plan: |case| Once::plan(case, false),
        },
        Algorithm {
            name: "nonblocking",
            about: "the same by requests, which both wait for when they have computed",
            formula: "o' to call, and max(T_blk - (t_w - t_i), o') to wait (LogGPS, table 4); docs/reference/loggps.md has all terms",
            plan: |case| Once::plan(case, true),
        },
    ],
    size: Size { meaning: "bytes of the message, 0 among them", default: 1024 },
    options: &[&RECEIVER_DELAY, &MEANWHILE],
    work: Work::Charged,
};

/// When the receiver calls.
pub static RECEIVER_DELAY: Opt<Length> = Opt::new(
    "receiver-delay",
    "TIME",
    "how long processor 1 computes before it receives; a bare number counts cycles",
    Length::Time(Time::ZERO),
    &Cycles,
);

/// What nonblocking calls leave time for.
pub static MEANWHILE: Opt<Length> = Opt::new(
    "meanwhile",
    "TIME",
    "how long both compute between a nonblocking call and the wait for it; a bare number counts cycles",
    Length::Time(Time::ZERO),
    &Cycles,
)
.for_algorithms(&["nonblocking"]);

/// The message.
const DATA: Tag<Arc<[u8]>> = Tag::named(0, "data");
/// The kind of work that goes before a call or between two of them, in units of a picosecond.
pub const DELAY: &str = "delay";

/// What a message of k words is made of (LogGPS, table 3). By the time t that its receive is called after its send follow
/// what it takes, equations (1) to (3), and what MPI's routines take, (4) to (11) of table 4.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// The send's overhead, o' + kO_s.
    pub T1: Time,
    /// From the end of that until the message is there: T2, or T2' above s.
    pub T2: Time,
    /// The reception's overhead, o' + kO_r.
    pub T3: Time,
    /// The overhead of a request, and of a nonblocking call: o'.
    pub o: Time,
    /// The latency.
    pub L: Time,
    /// Whether it waits for its receiver: k > S.
    pub is_synchronous: bool,
}

impl Parts {
    /// On a machine with these parameters, of a message of k words.
    pub fn of(params: &Params, k: usize) -> Parts {
        Parts {
            T1: params.send_overhead(k),
            T2: params.stream(k) + params.L,
            T3: params.recv_overhead(k),
            o: params.send_overhead(0),
            L: params.L,
            is_synchronous: params.is_synchronous(k),
        }
    }

    /// From the call of the send until the receiver has the request.
    pub fn T4(&self, t: Time) -> Time {
        (self.o + self.L).max(t) + self.o
    }

    /// From then until the sender has the reply.
    pub fn T5(&self) -> Time {
        self.o + self.L + self.o
    }

    /// The communication cost, equations (1) to (3): from the call of the send until the receiver has the message, if it
    /// has called for it by the time it is there.
    pub fn communication(&self, t: Time) -> Time {
        let agreed = if self.is_synchronous { self.T4(t) + self.T5() } else { Time::ZERO };
        agreed + self.T1 + self.T2 + self.T3
    }

    /// A blocking send, equations (4) and (5).
    pub fn send(&self, t: Time) -> Time {
        if self.is_synchronous { self.T4(t) + self.T5() + self.T1 } else { self.T1 }
    }

    /// A blocking receive, equations (7) to (9).
    pub fn recv(&self, t: Time) -> Time {
        let Parts { T1, T2, T3, o, L, .. } = *self;
        match self.is_synchronous {
            true => (o + L - t).max(Time::ZERO) + o + self.T5() + T1 + T2 + T3,
            false => (T1 + T2 - t).max(Time::ZERO) + T3,
        }
    }

    /// A wait for what a blocking call would have taken, of which so much has passed: equation (11), which in print has
    /// t_i - t_w for t_w - t_i.
    pub fn wait(&self, blocking: Time, passed: Time) -> Time {
        (blocking - passed).max(self.o)
    }

    /// Whether a gap changes none of it. Without a request there is nothing else that is sent.
    pub fn hides(&self, g: Time) -> bool {
        !self.is_synchronous || g <= 2 * self.o
    }
}

/// A message that can be sent.
struct Once<'a> {
    /// The case.
    case: &'a Case,
    /// How long the receiver computes before it receives.
    late: Time,
    /// How long both compute between a nonblocking call and the wait for it; nothing for blocking calls.
    meanwhile: Option<Time>,
}

impl<'a> Once<'a> {
    fn plan(case: &'a Case, nonblocking: bool) -> Planned<'a> {
        let (late, meanwhile) = (case.time(&RECEIVER_DELAY), case.time(&MEANWHILE));
        check_length(case)?;
        Ok(Box::new(Once { case, late, meanwhile: nonblocking.then_some(meanwhile) }))
    }

    /// What the equations say, where they are those of this machine.
    fn parts(&self) -> Option<Parts> {
        let Case { params, size, .. } = self.case;
        Some(Parts::of(params, params.words(*size))).filter(|parts| parts.hides(params.g))
    }

    /// The routines in the order of their calls, the sender's first: what each takes.
    fn routines(&self, parts: &Parts) -> Vec<(PhaseName, Time)> {
        let Parts { o, .. } = *parts;
        let (send, recv) = (parts.send(self.late), parts.recv(self.late));
        match self.meanwhile {
            None => vec![(SEND.into(), send), (RECV.into(), recv)],
            Some(time) => vec![
                (ISEND.into(), o),
                (WAIT_SEND.into(), parts.wait(send, o + time)),
                (IRECV.into(), o),
                (WAIT_RECV.into(), parts.wait(recv, o + time)),
            ],
        }
    }
}

/// The routines by their names: a blocking send and receive, nonblocking ones, and the waits for these.
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

impl Plan for Once<'_> {
    fn formula(&self) -> Option<Time> {
        let routines = self.routines(&self.parts()?);
        let (sender, receiver) = routines.split_at(routines.len() / 2);
        let spent = |routines: &[(PhaseName, Time)]| {
            routines.iter().map(|(_, time)| *time).sum::<Time>() + self.meanwhile.unwrap_or(Time::ZERO)
        };
        Some(spent(sender).max(self.late + spent(receiver)))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let Some(parts) = self.parts() else { return Vec::new() };
        self.routines(&parts).into_iter().map(|(name, time)| (name, Some(time))).collect()
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { size, seed, work, .. } = *self.case;
        let mut rng = fastrand::Rng::with_seed(seed);
        let data: Arc<[u8]> = (0..size).map(|_| rng.u8(..)).collect();
        let machine = self.case.machine(emulation).rate(DELAY, PS);
        let run = machine.run_across(|p| {
            let (mut calls, mut received) = (Vec::with_capacity(2), None);
            if p.id() == 1 {
                delay(p, work, self.late);
            }
            match (p.id(), self.meanwhile) {
                (0, None) => call(p, &mut calls, SEND, |p| p.send(1, DATA, data.clone())),
                (0, Some(time)) => {
                    let request = call(p, &mut calls, ISEND, |p| p.isend(1, DATA, data.clone()));
                    delay(p, work, time);
                    call(p, &mut calls, WAIT_SEND, |p| p.wait(request));
                }
                (1, None) => received = Some(call(p, &mut calls, RECV, |p| p.recv_from(0, DATA))),
                (1, Some(time)) => {
                    let request = call(p, &mut calls, IRECV, |p| p.irecv_from(0, DATA));
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

/// Calls a routine, and notes how long it took.
fn call<T>(
    p: &mut Proc,
    calls: &mut Vec<(PhaseName, Time)>,
    name: &'static str,
    routine: impl FnOnce(&mut Proc) -> T,
) -> T {
    let start = p.now();
    let result = routine(p);
    calls.push((name.into(), p.now() - start));
    result
}

/// Refuses a machine without a second processor, and a message that it cannot carry.
pub fn check_length(case: &Case) -> Result<(), crate::Refusal> {
    let params = &case.params;
    if params.P < 2 {
        return Err("a processor alone has nobody to send to; give at least 2".into());
    }
    let k = params.words(case.size);
    if let Some(longest) = params.longest().filter(|longest| k > *longest) {
        return Err(format!(
            "a message of {k} words would arrive before it is sent, as G_l is that negative; give a size of at most {} bytes",
            longest * params.word.get()
        )
        .into());
    }
    if case.size > 0 { case.check_room(2) } else { Ok(()) }
}

/// Computes for so long.
pub fn delay(p: &mut Proc, work: Work, time: Time) {
    match work {
        Work::Charged => p.work(DELAY, time.as_ps() as u64, || ()),
        // What computes nothing would be measured to take no time.
        _ => p.wait_until(p.now() + time),
    }
}
