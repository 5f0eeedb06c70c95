//! MPI's requests: what the routines of LogGPS's table 4 cost, whose message goes to whom, and how it ends if a program
//! gets them wrong.

#![allow(non_snake_case)] // L, S, P and T are the paper's names

use loggp::{
    Cause, ClockKind, Dilation, Latency, Machine, PS, Params, Proc, Run, Tag, Time, US, Work, audit,
};
use proptest::prelude::*;

const BYTES: Tag<Vec<u8>> = Tag::named(0, "bytes");
const OTHER: Tag<Vec<u8>> = Tag::named(1, "other");

/// A machine's parameters, in picoseconds and bytes: the paper's names.
#[derive(Clone, Copy, Debug)]
struct Gps {
    L: i64,
    o: i64,
    O_s: i64,
    O_r: i64,
    G_s: i64,
    G_l: i64,
    s: i64,
    S: i64,
}

impl Gps {
    fn params(&self, P: usize) -> Params {
        let Gps { L, o, O_s, O_r, G_s, G_l, s, S } = *self;
        let text =
            format!("L={L}ps,o={o}ps,g=0,O_s={O_s}ps,O_r={O_r}ps,G_s={G_s}ps,G_l={G_l}ps,word=1,s={s},S={S}");
        Params::new(P).set(&text).unwrap().build().unwrap()
    }

    fn T1(&self, k: i64) -> i64 {
        self.o + k * self.O_s
    }

    /// T2 or T2', by k.
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

    /// MPI_Wait, equation (11): it was called for at t_i, and is waited for at t_w.
    fn wait(&self, blocking: i64, t_i: i64, t_w: i64) -> i64 {
        (blocking - (t_w - t_i)).max(self.o)
    }
}

/// How one end of a message calls: at once, or a request that it waits for so much later.
#[derive(Clone, Copy, Debug)]
enum How {
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
    sender: How,
    receiver: How,
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![Just(How::Blocking), (0_i64..3_000_000).prop_map(How::Request)]
}

fn gps() -> impl Strategy<Value = Gps> {
    let times = (0_i64..200_000, 0_i64..200_000, 0_i64..3_000, 0_i64..3_000, 0_i64..3_000);
    (times, -3_000_i64..3_000, 0_i64..300, 0_i64..300).prop_map(|((L, o, O_s, O_r, G_s), G_l, s, more)| {
        // Where the paper says that all costs are positive, O_s + O_r + G_l > 0; and no message arrives before its send.
        let G_l = G_l.max(-O_s).max(1 - O_s - O_r);
        Gps { L, o, O_s, O_r, G_s, G_l, s, S: s + more }
    })
}

fn case() -> impl Strategy<Value = Case> {
    (gps(), 0_i64..800, 0_i64..1_000_000, 0_i64..1_000_000, how(), how())
        .prop_map(|(gps, k, t_s, t_r, sender, receiver)| Case { gps, k, t_s, t_r, sender, receiver })
}

/// The lengths of the calls, and the time between them: what each end's routines cost.
fn costs(
    p: &mut Proc,
    at: i64,
    how: How,
    start: impl Fn(&mut Proc),
    post: impl Fn(&mut Proc, Time),
) -> Vec<i64> {
    p.wait_until(at * PS);
    let called = p.now();
    match how {
        How::Blocking => {
            start(p);
            vec![(p.now() - called).as_ps()]
        }
        How::Request(later) => {
            post(p, called + later * PS);
            vec![(p.now() - called).as_ps()]
        }
    }
}

fn run_case(case: &Case) -> [Vec<i64>; 2] {
    let Case { gps, k, t_s, t_r, sender, receiver } = *case;
    let machine = Machine::new(gps.params(2)).trace(true);
    let run = machine.run(|p| match p.id() {
        0 => costs(
            p,
            t_s,
            sender,
            |p| p.send(1, BYTES, vec![7; k as usize]),
            |p, t_w| {
                let request = p.isend(1, BYTES, vec![7; k as usize]);
                assert_eq!(p.now() - t_s * PS, gps.o * PS, "equation (6)");
                p.wait_until(t_w);
                p.wait(request);
            },
        ),
        _ => costs(
            p,
            t_r,
            receiver,
            |p| assert_eq!(p.recv_from(0, BYTES), vec![7; k as usize]),
            |p, t_w| {
                let request = p.irecv_from(0, BYTES);
                assert_eq!(p.now() - t_r * PS, gps.o * PS, "equation (10)");
                p.wait_until(t_w);
                assert_eq!(p.wait(request), vec![7; k as usize]);
            },
        ),
    });
    let mut run = run.unwrap_or_else(|error| panic!("{case:?}: {error}"));
    holds(&mut run, case);
    run.results.try_into().unwrap()
}

/// The run kept to the rules, and says where all of its time went.
fn holds<R>(run: &mut Run<R>, what: &impl std::fmt::Debug) {
    let found = audit(&run.trace.take().unwrap());
    assert!(found.is_clean(), "{what:?}: {:#?}", found.violations);
    for stats in &run.processors {
        let sum = stats.work + stats.send + stats.recv + stats.gap + stats.stall + stats.port + stats.idle;
        assert_eq!(sum, stats.finish, "{what:?}");
    }
}

/// What the call and the wait for it take, from the moment of the call, by equations (4) to (11).
fn predicted(gps: &Gps, how: How, blocking: i64, called: i64) -> i64 {
    match how {
        How::Blocking => blocking,
        How::Request(later) => {
            let t_w = called + later.max(gps.o);
            t_w + gps.wait(blocking, called, t_w) - called
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Every routine costs what table 4 says, whatever the other end does.
    #[test]
    fn routines_cost_what_table_4_says(case in case()) {
        let Case { gps, k, t_s, t_r, sender, receiver } = case;
        let [sent, received] = run_case(&case);
        prop_assert_eq!(sent, [predicted(&gps, sender, gps.send(k, t_s, t_r), t_s)]);
        prop_assert_eq!(received, [predicted(&gps, receiver, gps.recv(k, t_s, t_r), t_r)]);
    }
}
