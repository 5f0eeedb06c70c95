//! Regression tests: small programs that once failed, most of them with requests under way.

use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::replay::Replay;
use loggp::trace::ActivityKind;
use loggp::{
    AnyTag, Carrier, Cause, ClockKind, Dilation, MS, Machine, NS, Params, ParamsBuilder, Ports, Proc, Run,
    Tag, Time, Traffic, US,
};

use crate::child::{CLOCKS, on_clock};

const T: Tag<u32> = Tag::new(0);
const U: Tag<u32> = Tag::new(1);
const LONG: Tag<[u32; 6]> = Tag::new(2);
const BYTES: Tag<Vec<u8>> = Tag::new(3);

/// So fast that no call waits for its time.
const FAST: Dilation = Dilation::Fixed(0.01);

/// Returns parameters, given in microseconds.
fn params(P: usize, L: i64, o: i64, g: i64) -> ParamsBuilder {
    Params::builder(P).L(L * US).o(o * US).g(g * US)
}

fn machine(params: ParamsBuilder) -> Machine {
    Machine::new(params.build().unwrap()).dilation(Dilation::Fixed(1.0)).trace(true)
}

/// Returns the machine on the virtual clock, and on the wall clock with each carrier.
fn on_all_clocks(machine: &Machine) -> [(&'static str, Machine); 3] {
    CLOCKS.map(|place| (place, on_clock(place, machine.clone())))
}

/// Returns LogGPS parameters whose words cost nothing, with messages of more than `words` words waiting for
/// their receivers.
fn waits_above(words: usize) -> LogGps {
    let [O_s, O_r, G_s, G_l] = [Time::ZERO; 4];
    LogGps { s: words, S: words, O_s, O_r, G_s, G_l }
}

/// Runs a program, audits the run, and checks that its replay does the same.
fn run<R: Send>(machine: &Machine, program: impl Fn(&mut Proc) -> R + Sync) -> Run<R> {
    let run = machine.run(program).unwrap();
    let trace = run.trace.as_ref().unwrap();
    let found = audit(trace);
    assert!(found.is_clean(), "{:#?}", found.violations);
    let again = Replay::new(trace).run().unwrap();
    let ends = |stats: &[loggp::Stats]| stats.iter().map(|stats| stats.finish).collect::<Vec<Time>>();
    assert_eq!(ends(&again.processors), ends(&run.processors));
    run
}

/// A look at one sender's message within the gap, with a request pending, keeps that message's place among
/// others.
#[test]
fn unsuccessful_look_does_not_reorder_messages() {
    let run = run(&machine(params(5, 6, 2, 40)), |p| {
        if p.id() > 0 {
            p.wait_until([0, 200, 20, 30, 40][p.id()] * US);
            (0..if p.id() == 1 { 2 } else { 1 }).for_each(|_| p.send(0, T, 0));
            return vec![];
        }
        let request = p.irecv(T.from(1));
        p.wait_until(60 * US);
        p.recv(T.from(2));
        assert_eq!(p.try_recv(T.from(4)), None);
        let mut senders: Vec<usize> = (0..3).map(|_| p.recv_with_sender(T).0).collect();
        p.wait(request);
        senders.push(1);
        senders
    });
    assert_eq!(run.results[0], [3, 4, 1, 1]);
}

/// The same for a look at one tag among one sender's messages.
#[test]
fn unsuccessful_look_does_not_reorder_tags() {
    let run = run(&machine(params(4, 6, 2, 40)), |p| {
        match p.id() {
            0 => {
                let request = p.irecv(T.from(1));
                p.wait_until(90 * US);
                p.recv(T.from(3));
                assert_eq!(p.try_recv(U), None);
                let (tag, _) = p.recv(AnyTag::<u32>::new().from(2));
                let other = if tag == 0 { U } else { T };
                p.recv(other.from(2));
                p.wait(request);
                return tag;
            }
            1 => {
                p.wait_until(300 * US);
                p.send(0, T, 0);
            }
            2 => {
                p.wait_until(20 * US);
                p.send(0, T, 0);
                p.send(0, U, 0);
            }
            _ => p.send(0, T, 0),
        }
        0
    });
    assert_eq!(run.results[0], 0);
}

/// A processor that looks for long gets no error while its own message is under way, because others wait for
/// that.
#[test]
fn looking_while_own_message_is_under_way_is_no_deadlock() {
    // The overhead of a message of 1000 words is 1,250,000 cycles.
    let gps = LogGps { O_s: 250 * US, ..waits_above(1000) };
    let params = params(2, 6, 2, 0).word(1).cycle(200 * NS).gps(gps);
    let machine = machine(params).trace(false).dilation(FAST);
    for (place, machine) in on_all_clocks(&machine) {
        let answers = |p: &mut Proc| {
            p.recv(BYTES);
            p.send(0, T, 0);
        };
        let tested = machine.run(|p| {
            if p.id() == 1 {
                return answers(p);
            }
            let mut request = p.isend(1, BYTES, vec![0; 1000]);
            while let Err(again) = p.test(request) {
                request = again;
            }
            assert!(p.now() > 250 * MS);
            p.recv(T);
        });
        tested.unwrap_or_else(|error| panic!("test, {place}: {error}"));
        let looked = machine.run(|p| {
            if p.id() == 1 {
                return answers(p);
            }
            let request = p.isend(1, BYTES, vec![0; 1000]);
            while p.try_recv(T).is_none() {}
            assert!(p.now() > 250 * MS);
            p.wait(request);
        });
        looked.unwrap_or_else(|error| panic!("try_recv, {place}: {error}"));
    }
}

/// The same while its gap keeps it from receiving a message that is there.
#[test]
fn looking_within_the_gap_is_no_deadlock() {
    let machine = machine(params(3, 6, 2, 250_000).cycle(200 * NS)).trace(false).dilation(FAST);
    for (place, machine) in on_all_clocks(&machine) {
        let run = machine.run(|p| {
            if p.id() == 0 {
                p.recv(T);
                while p.try_recv(T).is_none() {}
                assert!(p.now() > 250 * MS);
            } else {
                p.send(0, T, 0);
            }
        });
        run.unwrap_or_else(|error| panic!("{place}: {error}"));
    }
}

#[test]
fn a_message_of_no_words_takes_as_long_as_one_of_a_word() {
    for params in [params(2, 6, 2, 4), params(2, 6, 2, 4).G(US)] {
        let params = params.build().unwrap();
        assert_eq!(params.stream(0), Time::ZERO);
        let [none, one] = [0, 1].map(|words| {
            let mut traffic = Traffic::new(params, Ports::Single, loggp::Latency::Exact).unwrap();
            traffic.send(0, 1, words, Time::ZERO);
            let message = traffic.next().unwrap();
            (message.enter, message.first, message.arrival)
        });
        assert_eq!(none, one);
        assert_eq!(one, (2 * US, 8 * US, 8 * US));
    }
}

/// The error is the same whatever the processor waited for before.
#[test]
fn processor_stuck_in_the_barrier_is_named() {
    let befores: [fn(&mut Proc); 4] = [
        |_| (),
        |p| _ = p.recv(T),
        |p| {
            let request = p.irecv(T);
            p.wait(request);
        },
        |p| {
            let requests = (p.irecv(T), p.irecv(U));
            p.wait(requests.0);
            p.barrier();
            p.wait(requests.1);
        },
    ];
    for (before, number) in befores.into_iter().zip(0..) {
        for (place, machine) in on_all_clocks(&machine(params(3, 6, 2, 4)).barrier(US)) {
            let error = machine.run(|p| match p.id() {
                0 => {
                    before(p);
                    p.barrier();
                }
                1 => {
                    if number > 0 {
                        p.send(0, T, 0);
                    }
                    p.recv(LONG);
                }
                _ => p.barrier(),
            });
            let error = error.unwrap_err();
            assert_eq!(error.cause, Cause::Deadlock { waiting: 3, of: 3 }, "{place}: {error}");
            let said = error.processors[0].status.to_string();
            assert!(said.contains("the machine's barrier"), "{place}, {number}: {said}");
        }
    }
}

/// A request may get its message at the moment its processor calls the barrier, or while it waits there.
#[test]
fn requests_and_the_barrier_keep_the_same_times_on_both_clocks() {
    for P in [2, 4] {
        let params = Params::builder(P).L(13 * US).o(5 * US).g(500 * NS);
        let machine = machine(params).barrier(Time::ZERO);
        let program = |p: &mut Proc| {
            let (id, P) = (p.id(), p.P());
            let request = (id == 0).then(|| p.irecv(T));
            let mut times = vec![p.now()];
            if id == P - 1 {
                p.send(0, T, 1);
            }
            p.wait_until(6 * US);
            p.barrier();
            times.push(p.now());
            p.send((id + 1) % P, T, 2);
            times.push(p.now());
            if let Some(request) = request {
                p.wait(request);
                times.push(p.now());
            }
            p.recv(T);
            times.push(p.now());
            times
        };
        let model = run(&machine, program);
        for repeat in 0..30 {
            for carrier in [Carrier::Thread, Carrier::Coroutine] {
                let cores = 1 + repeat % 4;
                let wall = machine.clone().clock(ClockKind::Wall).carrier(carrier);
                let wall = wall.cores(cores).oversubscribed(true).run(program).unwrap();
                assert_eq!(wall.results, model.results, "P = {P}, {carrier}, {cores} cores");
                assert_eq!(wall.trace, model.trace, "P = {P}, {carrier}, {cores} cores");
            }
        }
    }
}

/// The reply to a request is a message of the processor, and lengthens the gap in which the processor
/// receives.
#[test]
fn gap_lengthened_by_a_reply_is_replayed() {
    let machine = machine(params(3, 6, 1, 20).word(4).gps(waits_above(4)));
    run(&machine, |p| match p.id() {
        0 => {
            let request = p.irecv(LONG);
            p.send(2, U, 1);
            p.send_receiving(2, U, 2, U, |_, _| ());
            p.wait(request);
        }
        1 => p.send(0, LONG, [0; 6]),
        _ => (0..2).for_each(|_| _ = p.recv(U)),
    });
}

/// The first message is sent at 1, the request's at 21, and the next at 41: until 40 the processor receives.
#[test]
fn sender_receives_in_a_gap_lengthened_by_its_request() {
    let run = run(&machine(params(3, 6, 1, 20).word(24)), |p| match p.id() {
        0 => {
            let mut got = vec![];
            p.send(1, U, 1);
            let request = p.isend(1, LONG, [0; 6]);
            p.send_receiving(1, U, 2, U.with_sender(), |p, (from, _)| got.push((from, p.now())));
            assert_eq!(p.now(), 41 * US);
            p.wait(request);
            assert_eq!(p.try_recv(U), None);
            got
        }
        1 => {
            p.recv(LONG);
            (0..2).for_each(|_| _ = p.recv(U));
            vec![]
        }
        _ => {
            p.wait_until(20 * US);
            p.send(0, U, 3);
            vec![]
        }
    });
    assert_eq!(run.results[0], [(2, 28 * US)]);
    let trace = run.trace.unwrap();
    let receives = |what: &ActivityKind| matches!(what, ActivityKind::Receive(_));
    let received: Vec<Time> =
        trace.activities.iter().filter(|a| a.id == 0 && receives(&a.kind)).map(|a| a.start).collect();
    assert_eq!(received, [27 * US]);
}

/// Wherever in the gap the message arrives, and also if the request's overhead is longer than its
/// processor's, the run obeys the rules and can be replayed.
#[test]
fn message_in_a_gap_lengthened_by_a_request_obeys_the_rules() {
    let plain = || params(2, 6, 1, 20);
    let longer = |words: usize| LogGps { O_s: US, ..waits_above(words) };
    let machines = [
        plain().word(24),
        plain().word(4).gps(longer(9)),
        plain().word(4).gps(longer(4)),
        plain().word(4).G(US),
    ];
    for machine in machines.map(machine) {
        for at in 0..70 {
            run(&machine, |p| {
                if p.id() == 0 {
                    let mut got = 0;
                    p.send(1, U, 1);
                    let request = p.isend(1, LONG, [0; 6]);
                    p.send_receiving(1, U, 2, U, |_, _| got += 1);
                    p.wait(request);
                    if got == 0 {
                        p.recv(U);
                    }
                } else {
                    let comes = (p.irecv(LONG), p.irecv(U), p.irecv(U));
                    p.wait_until(at * US);
                    p.send(0, U, 3);
                    p.wait(comes.0);
                    p.wait_all([comes.1, comes.2]);
                }
            });
        }
    }
}
