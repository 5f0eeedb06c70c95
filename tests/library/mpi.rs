//! The costs of MPI's routines, by the equations of LogGPS's tables 4 and 6.

use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::{Machine, PS, Params, Proc, Tag, Time, preset};
use proptest::prelude::*;

use crate::cases::cases;

const BYTES: Tag<Vec<u8>> = Tag::named(0, "bytes");

/// A machine's parameters by the paper's names, in picoseconds and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gps {
    pub L: i64,
    pub o: i64,
    pub O_s: i64,
    pub O_r: i64,
    pub G_s: i64,
    pub G_l: i64,
    pub s: i64,
    pub S: i64,
}

impl Gps {
    fn of(params: &Params) -> Gps {
        let LogGps { s, S, O_s, O_r, G_s, G_l } = params.gps().unwrap();
        let [L, o, O_s, O_r, G_s, G_l] = [params.L, params.o, O_s, O_r, G_s, G_l].map(Time::as_ps);
        Gps { L, o, O_s, O_r, G_s, G_l, s: s as i64, S: S as i64 }
    }

    pub(crate) fn params(&self, P: usize) -> Params {
        let Gps { L, o, O_s, O_r, G_s, G_l, s, S } = *self;
        let text =
            format!("L={L}ps,o={o}ps,g=0,O_s={O_s}ps,O_r={O_r}ps,G_s={G_s}ps,G_l={G_l}ps,word=1,s={s},S={S}");
        Params::builder(P).set(&text).unwrap().build().unwrap()
    }

    fn T1(&self, k: i64) -> i64 {
        self.o + k * self.O_s
    }

    /// Returns T2 or T2', by k.
    fn T2(&self, k: i64) -> i64 {
        if k <= self.s { k * self.G_s + self.L } else { self.s * self.G_s + (k - self.s) * self.G_l + self.L }
    }

    fn T3(&self, k: i64) -> i64 {
        self.o + k * self.O_r
    }

    fn T4(&self, t_s: i64, t_r: i64) -> i64 {
        (self.o + self.L).max(t_r - t_s) + self.o
    }

    fn T5(&self) -> i64 {
        self.o + self.L + self.o
    }

    /// MPI_Send, equations (4) and (5).
    fn send(&self, k: i64, t_s: i64, t_r: i64) -> i64 {
        if k <= self.S { self.T1(k) } else { self.T4(t_s, t_r) + self.T5() + self.T1(k) }
    }

    /// MPI_Recv, equations (7) to (9).
    fn recv(&self, k: i64, t_s: i64, t_r: i64) -> i64 {
        if k <= self.S {
            (self.T1(k) + self.T2(k) - (t_r - t_s)).max(0) + self.T3(k)
        } else {
            let request = (self.o + self.L - (t_r - t_s)).max(0) + self.o;
            request + self.T5() + self.T1(k) + self.T2(k) + self.T3(k)
        }
    }

    /// MPI_Wait, equation (11), for a request made at t_i and a wait at t_w.
    fn wait(&self, blocking: i64, t_i: i64, t_w: i64) -> i64 {
        (blocking - (t_w - t_i)).max(self.o)
    }
}

/// The call at one end of a message: blocking, or a request with a wait some time later.
#[derive(Clone, Copy, Debug)]
enum CallKind {
    Blocking,
    Request(i64),
}

/// One message.
#[derive(Clone, Copy, Debug)]
struct Case {
    gps: Gps,
    k: i64,
    t_s: i64,
    t_r: i64,
    sender: CallKind,
    receiver: CallKind,
}

fn how() -> impl Strategy<Value = CallKind> {
    prop_oneof![Just(CallKind::Blocking), (0_i64..3_000_000).prop_map(CallKind::Request)]
}

fn gps() -> impl Strategy<Value = Gps> {
    let times = (0_i64..200_000, 0_i64..200_000, 0_i64..3_000, 0_i64..3_000, 0_i64..3_000);
    (times, -3_000_i64..3_000, 0_i64..300, 0_i64..300).prop_map(|((L, o, O_s, O_r, G_s), G_l, s, more)| {
        // All costs are positive as in the paper, O_s + O_r + G_l > 0, and no message arrives before its
        // send.
        let G_l = G_l.max(-O_s).max(1 - O_s - O_r);
        Gps { L, o, O_s, O_r, G_s, G_l, s, S: s + more }
    })
}

fn case() -> impl Strategy<Value = Case> {
    (gps(), 0_i64..800, 0_i64..1_000_000, 0_i64..1_000_000, how(), how())
        .prop_map(|(gps, k, t_s, t_r, sender, receiver)| Case { gps, k, t_s, t_r, sender, receiver })
}

/// Makes the calls at one end of a message, the blocking one or `start` and `end` of a request, and returns
/// their duration.
fn duration<R>(
    p: &mut Proc,
    (at, how): (i64, CallKind),
    blocking: impl Fn(&mut Proc),
    start: impl Fn(&mut Proc) -> R,
    end: impl Fn(&mut Proc, R),
) -> i64 {
    p.wait_until(at * PS);
    match how {
        CallKind::Blocking => blocking(p),
        CallKind::Request(later) => {
            let request = start(p);
            assert_eq!(p.now() - at * PS, p.params().o, "equations (6) and (10)");
            p.wait_until((at + later) * PS);
            end(p, request);
        }
    }
    p.now().as_ps() - at
}

/// Checks the costs of both ends.
fn check_case(case: &Case) {
    let Case { gps, k, t_s, t_r, sender, receiver } = *case;
    let bytes = || vec![7; k as usize];
    let run = Machine::new(gps.params(2)).trace(true).run(|p| match p.id() {
        0 => duration(
            p,
            (t_s, sender),
            |p| p.send(1, BYTES, bytes()),
            |p| p.isend(1, BYTES, bytes()),
            |p, request| p.wait(request),
        ),
        _ => duration(
            p,
            (t_r, receiver),
            |p| assert_eq!(p.recv(BYTES.from(0)), bytes()),
            |p| p.irecv(BYTES.from(0)),
            |p, request| assert_eq!(p.wait(request), bytes()),
        ),
    });
    let run = run.unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let found = audit(&run.trace.unwrap());
    assert!(found.is_clean(), "{case:?}: {:#?}", found.violations);
    let send = predicted(&gps, sender, gps.send(k, t_s, t_r), t_s);
    let receive = predicted(&gps, receiver, gps.recv(k, t_s, t_r), t_r);
    assert_eq!(run.results, [send, receive], "{case:?}");
}

/// Returns the time of the call and its wait, from the moment of the call, by equations (4) to (11).
fn predicted(gps: &Gps, how: CallKind, blocking: i64, called: i64) -> i64 {
    match how {
        CallKind::Blocking => blocking,
        CallKind::Request(later) => {
            let t_w = called + later.max(gps.o);
            t_w + gps.wait(blocking, called, t_w) - called
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// The cost of every routine is that of table 4, for any calls at the other end.
    #[test]
    fn routines_cost_what_table_4_says(case in case()) {
        check_case(&case);
    }
}

/// Returns the machines of table 5, each with lengths on both sides of s and S.
fn mpi_machines() -> impl Iterator<Item = (Gps, i64)> {
    ["cenju4", "myrinet", "fast-ethernet"].into_iter().flat_map(|name| {
        let params = preset(name).unwrap().builder().build().unwrap();
        let longest = params.longest_message().unwrap_or(1 << 20) as i64;
        let gps @ Gps { s, S, .. } = Gps::of(&params);
        [0, 1, 2, s / 2, s - 1, s, s + 1, (s + S) / 2, S - 1, S, S + 1, 2 * S, longest].map(|k| (gps, k))
    })
}

#[test]
fn routines_of_the_papers_machines_cost_what_table_4_says() {
    for (gps, k) in mpi_machines() {
        for (t_s, t_r) in [
            (0, 0),
            (0, 1_000_000),
            (0, 15_000_000),
            (0, 900_000_000),
            (3_000_000, 1_000_000),
            (700_000_000, 0),
        ] {
            check_case(&Case { gps, k, t_s, t_r, sender: CallKind::Blocking, receiver: CallKind::Blocking });
        }
    }
}

/// Table 6, equations (12), (13) and (14): a message and its return while the sender computes for w.
#[test]
fn round_trips_take_what_table_6_says() {
    for (gps, k) in mpi_machines() {
        let (t_1, t_2, t_3, t_5, request) = (gps.T1(k), gps.T2(k), gps.T3(k), gps.T5(), gps.o + gps.L);
        for w in [0, 1, 1_000, 20_000_000, 70_000_000, 500_000_000, 5_000_000_000] {
            let run = Machine::new(gps.params(2)).rate("dummy", PS).run(|p| match p.id() {
                0 => {
                    p.send(1, BYTES, vec![0_u8; k as usize]);
                    p.work("dummy", w as u64, || ());
                    p.recv(BYTES.from(1));
                }
                _ => {
                    let message = p.recv(BYTES.from(0));
                    p.send(0, BYTES, message);
                }
            });
            let expected = if k <= gps.S {
                (t_1 + 2 * t_2 + t_3 - w).max(0) + w + t_1 + t_3
            } else {
                // Both receivers, or the request, are ready when they are needed: T_4 = (o' + L) + o'.
                let t_4 = gps.T4(0, 0);
                (t_2 + t_3 + request - w).max(0) + w + 2 * t_1 + t_2 + t_3 + 2 * t_4 + 2 * t_5 - request
            };
            assert_eq!(run.unwrap().processors[0].finish.as_ps(), expected, "k = {k}, w = {w}");
        }
    }
}
