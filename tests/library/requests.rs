//! MPI's requests: the matching of messages, and the errors of wrong programs.

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::{AnyTag, Cause, ClockKind, Dilation, Latency, Machine, Params, Run, Tag, US, Work, collectives};

use crate::cases::seeds;
use crate::mpi::Gps;

const BYTES: Tag<Vec<u8>> = Tag::named(0, "bytes");
const OTHER: Tag<Vec<u8>> = Tag::named(1, "other");

/// Checks that the run obeys the rules, and that its accounts add up.
fn check_run<R>(run: &mut Run<R>, what: &impl std::fmt::Debug) {
    let found = audit(&run.trace.take().unwrap());
    assert!(found.is_clean(), "{what:?}: {:#?}", found.violations);
    for stats in &run.processors {
        let sum = stats.work + stats.send + stats.recv + stats.gap + stats.stall + stats.port + stats.idle;
        assert_eq!(sum, stats.finish, "{what:?}");
    }
}

/// Creates a machine with simple parameters.
fn machine(P: usize) -> Machine {
    Machine::new(Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()).trace(true)
}

/// Creates a LogGPS machine with round numbers and S = 100.
fn mpi(P: usize) -> Machine {
    let gps =
        Gps { L: 5_000_000, o: 1_000_000, O_s: 10_000, O_r: 10_000, G_s: 20_000, G_l: 10_000, s: 50, S: 100 };
    Machine::new(gps.params(P)).trace(true)
}

#[test]
fn message_goes_to_the_receive_posted_first() {
    let run = machine(2).run(|p| {
        if p.id() == 0 {
            for number in 0..4 {
                p.send(1, BYTES, vec![number]);
            }
            p.send(1, OTHER, vec![9]);
            return vec![];
        }
        let first = p.irecv(BYTES.from(0));
        let any = p.irecv(BYTES);
        let other = p.irecv(OTHER);
        let blocking = p.recv(BYTES);
        let last = p.irecv(BYTES.from(0));
        // In another order than that of the requests.
        let last = p.wait(last);
        let other = p.wait(other);
        [p.wait(first), p.wait(any), blocking, last, other].concat()
    });
    assert_eq!(run.unwrap().results[1], [0, 1, 2, 3, 9]);
}

/// A short message sent by a later call than a long one is received after it, on every machine, even with
/// random latencies.
#[test]
fn messages_are_sent_in_the_order_of_their_calls() {
    for seed in seeds(50) {
        for machine in [machine(2), mpi(2)] {
            let run = machine.latency(Latency::Random { seed }).run(|p| {
                if p.id() == 0 {
                    let requests: Vec<_> =
                        (0..6).map(|n| p.isend(1, BYTES, vec![n; if n % 2 == 0 { 90 } else { 1 }])).collect();
                    p.send(1, BYTES, vec![6]);
                    p.wait_all(requests);
                    vec![]
                } else if seed.is_multiple_of(2) {
                    (0..7).map(|_| p.recv(BYTES.from(0))[0]).collect()
                } else {
                    let requests: Vec<_> = (0..7).map(|_| p.irecv(BYTES)).collect();
                    p.wait_all(requests).into_iter().map(|bytes| bytes[0]).collect()
                }
            });
            let mut run = run.unwrap();
            check_run(&mut run, &seed);
            assert_eq!(run.results[1], [0, 1, 2, 3, 4, 5, 6]);
        }
    }
}

/// A request's message arrives after all earlier messages of its processor, also those of blocking calls, and
/// also with exact latencies if a long message waits for its receiver's port.
#[test]
fn request_does_not_overtake_an_earlier_send() {
    let drawn = |seed| {
        let params = Params::builder(2).L(20 * US).o(US).g(US).build().unwrap();
        Machine::new(params).latency(Latency::Random { seed })
    };
    let exact = |P| {
        let params = Params::builder(P).L(5 * US).o(US).g(US).G(US).word(1).build().unwrap();
        Machine::new(params)
    };
    let drawn = seeds(50).map(|seed| (drawn(seed), vec![1]));
    for (machine, long) in drawn.chain([(exact(3), vec![1; 9])]) {
        let run = machine.trace(true).run(|p| match (p.id(), p.P()) {
            (0, P) => {
                let got = [(); 2].map(|()| p.recv(BYTES.from(1))[0]);
                (2..P).for_each(|from| _ = p.recv(OTHER.from(from)));
                got
            }
            (1, _) => {
                p.wait_until(2 * US);
                p.send(0, BYTES, long.clone());
                let request = p.isend(0, BYTES, vec![2]);
                p.wait(request);
                [0; 2]
            }
            _ => {
                p.send(0, OTHER, vec![0; 30]);
                [0; 2]
            }
        });
        let mut run = run.unwrap();
        check_run(&mut run, &"in order");
        assert_eq!(run.results[0], [1, 2]);
    }
}

/// Where no message takes any time, requests of a processor must not see later actions of another one at the
/// same moment.
#[test]
fn requests_are_deterministic_without_latency() {
    const NUMBER: Tag<u8> = Tag::new(0);
    let machine = Machine::new(Params::builder(2).build().unwrap()).work(Work::Charged);
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    let mut model = None;
    for machine in [machine.clone(), machine.cores(2).oversubscribed(true), wall] {
        for _ in 0..100 {
            let run = machine.run(|p| {
                if p.id() == 1 {
                    p.send(0, NUMBER, 7);
                    return vec![];
                }
                let mut first = p.irecv(NUMBER);
                p.send(0, NUMBER, 9);
                let mut looks = 0;
                let first = loop {
                    match p.test(first) {
                        Ok(value) => break value,
                        Err(request) => (first, looks) = (request, looks + 1),
                    }
                };
                vec![first, p.recv(NUMBER), looks]
            });
            let result = run.unwrap().results.swap_remove(0);
            assert_eq!(result[..2], [9, 7]);
            assert_eq!(*model.get_or_insert(result.clone()), result);
        }
    }
}

#[test]
fn any_tag_receives_all_tags_and_returns_them() {
    let run = mpi(3).run(|p| match p.id() {
        0 => p.recv(AnyTag::<Vec<u8>>::new()).0 + p.recv(AnyTag::<Vec<u8>>::new().from(2)).0,
        // Messages of collectives do not match.
        id => {
            p.send(0, if id == 1 { BYTES } else { OTHER }, vec![0; 200]);
            0
        }
    });
    assert_eq!(run.unwrap().results[0], 1);
    // The same for a message above S, which is three messages on the network.
    let run = mpi(2).run(|p| match p.id() {
        0 => {
            let request = p.irecv(AnyTag::<Vec<u8>>::new().with_sender());
            p.wait(request)
        }
        _ => {
            p.send(0, OTHER, vec![7; 200]);
            (0, (0, vec![]))
        }
    });
    assert_eq!(run.unwrap().results[0], (1, (1, vec![7; 200])));
    let run = machine(2).run(|p| {
        if p.id() == 1 {
            p.send(0, OTHER, vec![5]);
            collectives::broadcast(p, 0, None::<u64>);
            p.send(0, BYTES, vec![6]);
            return vec![];
        }
        let (one, two) = (p.irecv(AnyTag::<Vec<u8>>::new()), p.irecv(AnyTag::<Vec<u8>>::new().from(1)));
        collectives::broadcast(p, 0, Some(3_u64));
        vec![p.wait(one), p.wait(two)]
    });
    assert_eq!(run.unwrap().results[0], [(1, vec![5]), (0, vec![6])]);
}

#[test]
fn looks_for_any_tag_give_up_and_find() {
    for posts_request in [false, true] {
        let run = mpi(3).trace(true).run(|p| {
            if p.id() == 1 {
                p.wait_until(50 * US);
                p.send(0, OTHER, vec![5; 3]);
                p.wait_until(200 * US);
                p.send(0, BYTES, vec![6; 200]); // above S
                return vec![];
            }
            if p.id() == 2 {
                p.wait_until(150 * US);
                p.send(0, OTHER, vec![8]);
                return vec![];
            }
            let any = AnyTag::<Vec<u8>>::new();
            let request = posts_request.then(|| p.irecv(OTHER.from(2)));
            assert_eq!((p.try_recv(any), p.probe(any)), (None, None));
            assert_eq!(p.recv_deadline(any, 20 * US), None);
            assert_eq!(p.now(), 20 * US);
            let mut got = vec![p.recv_deadline(any.from(1).with_sender(), 100 * US).unwrap()];
            match request {
                Some(request) => {
                    let (number, value) = (1, p.wait(request));
                    got.push((2, (number, value)));
                }
                None => got.push(p.recv_with_sender(any)),
            }
            while p.probe(any).is_none() {}
            got.push(p.try_recv(any.with_sender()).unwrap());
            got
        });
        let run = run.unwrap();
        assert_eq!(run.results[0], [(1, (1, vec![5; 3])), (2, (1, vec![8])), (1, (0, vec![6; 200]))]);
        let trace = run.trace.unwrap();
        assert!(audit(&trace).is_clean(), "{:?}", audit(&trace));
        assert_eq!(Replay::new(&trace).run().unwrap().time, run.time);
    }
}

/// Processors that exchange long messages by blocking sends wait for ever: with requests, or with messages up
/// to S, they do not.
#[test]
fn exchange_of_long_messages_needs_requests() {
    let exchange = |words: usize, by_request: bool| {
        mpi(2).run(|p| {
            let request = by_request.then(|| p.isend(1 - p.id(), BYTES, vec![0; words]));
            if !by_request {
                p.send(1 - p.id(), BYTES, vec![0; words]);
            }
            p.recv(BYTES.from(1 - p.id()));
            p.wait_all(request);
        })
    };
    assert_eq!(exchange(101, false).unwrap_err().cause, Cause::Deadlock { waiting: 2, of: 2 });
    exchange(101, true).unwrap();
    exchange(100, false).unwrap();
}

#[test]
fn a_deadlock_of_requests_names_them() {
    let error = mpi(2).run(|p| {
        if p.id() == 0 {
            let request = p.isend(1, BYTES, vec![0; 500]);
            p.wait(request);
        } else {
            let one = p.irecv(OTHER.from(0));
            let two = p.irecv(OTHER.from(0));
            p.wait_any(&mut vec![one, two]);
        }
    });
    let said = error.unwrap_err().to_string();
    assert!(
        said.contains("waited for its isend of 500 words to 1 with tag 0 (bytes), called for at 0 us"),
        "{said}"
    );
    assert!(said.contains("tests/library/requests.rs"), "{said}");
    assert!(said.contains("processor 1 at") && said.contains("waited for any of its 2 requests"), "{said}");
    let error = machine(2).run(|p| {
        let request = p.irecv(BYTES.from(1 - p.id()));
        p.recv(OTHER.from(1 - p.id()));
        p.wait(request);
    });
    let said = error.unwrap_err().to_string();
    assert!(said.contains("waited for a message from 1 with tag 1 (other)"), "{said}");
}

#[test]
fn error_names_the_pending_request() {
    let error = machine(2).run(|p| {
        if p.id() == 0 {
            let _forgotten = p.isend(1, BYTES, vec![0; 3]);
            let _too = p.irecv(OTHER);
        } else {
            p.recv(BYTES);
        }
    });
    let error = error.unwrap_err();
    assert!(matches!(error.cause, Cause::NotWaited { id: 0, count: 2, .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.starts_with("processor 0 ended and had not waited for its isend of 1 word to 1 with tag 0 (bytes), called for at 0 us"),
        "{said}"
    );
    assert!(said.contains(", nor for one other"), "{said}");
}

#[test]
fn unreceived_message_is_named_despite_pending_requests() {
    let error = machine(2).run(|p| {
        if p.id() == 0 {
            p.send(1, OTHER, vec![0]);
            p.send(1, BYTES, vec![0]);
        } else {
            let request = p.irecv(BYTES);
            p.wait(request);
        }
    });
    let error = error.unwrap_err();
    assert!(matches!(error.cause, Cause::NotReceived { count: 1, from: 0, to: 1, .. }), "{error}");
}

#[test]
fn misuse_of_requests_is_an_error() {
    let stolen = std::sync::Mutex::new(None);
    let error = machine(2).run(|p| {
        if p.id() == 0 {
            *stolen.lock().unwrap() = Some(p.irecv(BYTES));
            p.work("think", 10, || ());
        } else {
            p.wait_until(5 * US);
            let request = stolen.lock().unwrap().take().unwrap();
            p.wait(request);
        }
    });
    assert!(error.unwrap_err().to_string().contains("waits for a request of processor 0"), "stolen");
    let error = machine(1).run(|p| p.wait_any(&mut Vec::<loggp::Request<()>>::new()));
    assert!(error.unwrap_err().to_string().contains("waits for any of no requests; give at least one"));
    let error = machine(2).run(|p| {
        if p.id() == 0 {
            p.send(1, Tag::<u64>::new(0), 7);
        } else {
            let request = p.irecv(BYTES);
            p.wait(request);
        }
    });
    let error = error.unwrap_err();
    assert!(matches!(error.cause, Cause::WrongType { id: 1, from: 0, .. }), "{error}");
}

/// Requests make progress during barriers, looks and waits with deadlines.
#[test]
fn requests_progress_in_every_wait() {
    let machine = mpi(3).barrier(US);
    let run = machine.run(|p| {
        let (right, left) = ((p.id() + 1) % 3, (p.id() + 2) % 3);
        let sends = p.isend(right, BYTES, vec![p.id() as u8; 300]);
        let comes = p.irecv(BYTES.from(left));
        p.barrier();
        let none = p.recv_deadline(OTHER, p.now() + 20 * US);
        assert!(none.is_none() && p.probe(OTHER).is_none() && p.try_recv(OTHER).is_none());
        p.send(right, OTHER, vec![1; 5]);
        assert_eq!(p.recv(OTHER.from(left)), [1; 5]);
        let both = p.send_recv(right, left, OTHER, vec![2; 200]);
        assert_eq!(both, [2; 200]);
        let sum = collectives::all_reduce(p, 1_u64, |a, b| a + b);
        p.wait(sends);
        (p.wait(comes)[299] as usize, sum)
    });
    let mut run = run.unwrap();
    check_run(&mut run, &"waits");
    assert_eq!(run.results, [(2, 3), (0, 3), (1, 3)]);
}

/// A blocking send above S sends its request while the message of another request goes first: each keeps its
/// own number. (Found by random programs.)
#[test]
fn a_blocking_send_keeps_its_number_while_a_request_goes_first() {
    let run = mpi(2).run(|p| match p.id() {
        0 => {
            p.send(1, BYTES, vec![0]);
            for words in [101, 102] {
                assert_eq!(p.recv(BYTES.from(1)), vec![words; words as usize]);
            }
        }
        _ => {
            p.recv(BYTES.from(0));
            let request = p.isend(0, BYTES, vec![101; 101]);
            p.work("think", 13, || ());
            p.send(0, BYTES, vec![102; 102]);
            p.wait(request);
        }
    });
    check_run(&mut run.unwrap(), &"in order");
}

/// The actions of requests while their processor computes run one after the other, not nested.
#[test]
fn many_requests_need_no_deep_stack() {
    const MANY: usize = 20_000;
    const WORD: Tag<u64> = Tag::new(0);
    let params = Params::builder(2).L(6 * US).o(US).g(US).build().unwrap();
    let run = Machine::new(params).stack(Machine::LEAST_STACK).run(|p| {
        if p.id() == 0 {
            p.wait_until(100_000 * US); // all receives are posted, and the other processor computes
            let sends: Vec<_> = (0..MANY).map(|i| p.isend(1, WORD, i as u64)).collect();
            return p.wait_all(sends).len() as u64;
        }
        let receives: Vec<_> = (0..MANY).map(|_| p.irecv(WORD)).collect();
        p.work("long", 1_000_000, || ());
        p.wait_all(receives).into_iter().sum()
    });
    assert_eq!(run.unwrap().results, [MANY as u64, (MANY * (MANY - 1) / 2) as u64]);
}
