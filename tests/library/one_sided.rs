//! One-sided messages: exact times, schedules, and all that a trace is good for. The oracle has random programs.

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::schedule::{Operation, Player, Schedule, ScheduleBuilder};
use loggp::trace::{Call, CallKind, Trace};
use loggp::{
    Capacity, Cause, ClockKind, Dilation, Latency, Level, Machine, Params, Ports, Proc, Protocol, Run, Tag,
    Time, US,
};

use crate::cases::seeds;
use crate::drawn::machines::{draw_params, longest};

const WORD: Tag<u64> = Tag::new(0);

/// The bytes of a word.
const BYTES: usize = 8;

/// L = 6, o = 2, g = 4 and G = 1.
fn params(P: usize) -> Params {
    Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US).word(BYTES).build().unwrap()
}

/// Runs a program on all clocks and on two cores, and audits, stores and replays its trace. Returns the run.
fn run_everywhere<R: Send + PartialEq + std::fmt::Debug>(
    machine: &Machine,
    program: impl Fn(&mut Proc) -> R + Sync,
) -> Run<R> {
    let machine = machine.clone().trace(true);
    let run = machine.run(&program).unwrap();
    let trace = run.trace.as_ref().unwrap();
    assert_eq!(audit(trace).violations, [], "{:#?}", trace.messages);
    let mut file = Vec::new();
    trace.write_compact(&mut file).unwrap();
    assert_eq!(Trace::read(&file[..]).as_ref(), Ok(trace));
    let again = Replay::new(trace).trace(true).run().unwrap();
    assert_eq!(again.trace.as_ref().map(|again| &again.messages), Some(&trace.messages));
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0)).cores(1);
    for other in [machine.cores(2).oversubscribed(true), wall] {
        let other = other.run(&program).unwrap();
        let same = (&run.results, &run.processors, Some(trace));
        assert_eq!((&other.results, &other.processors, other.trace.as_ref()), same);
    }
    run
}

#[test]
fn put_costs_its_sender_what_a_message_does_and_its_target_nothing() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return vec![];
        }
        p.put(1, 6 * BYTES);
        let entered = p.now(); // its last word enters at 7, and arrives at 13
        p.put(1, BYTES);
        let second = p.now(); // 7 + g
        p.flush(Some(1));
        let known = p.now(); // there at 17, and that is known at 23
        p.flush(None);
        vec![entered, second, known, p.now()]
    });
    assert_eq!(run.results[0], [2, 11, 23, 23].map(|us| us * US));
    assert_eq!(run.processors[1].finish, Time::ZERO);
}

/// LogP, section 3.2: "reading a remote location requires time 2L + 4o", of which 2o are the target's.
#[test]
fn get_is_a_request_and_an_answer_without_overhead_at_the_memory() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return [Time::ZERO; 3];
        }
        p.get(1, 0, BYTES);
        let word = p.now(); // 2L + 2o
        p.get(1, 0, 6 * BYTES);
        let long = p.now(); // 2L + 2o + 5G later
        p.get(1, 3 * BYTES, BYTES); // an atomic with three words
        [word, long, p.now()]
    });
    assert_eq!(run.results[0], [16, 16 + 21, 37 + 18].map(|us| us * US));
}

/// LogP, section 3.2: "Prefetch operations, which initiate a read and continue, can be issued every g cycles".
#[test]
fn posted_gets_are_issued_every_g() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return vec![];
        }
        let gets = [(); 3].map(|()| p.post_get(1, 0, BYTES));
        let mut times = vec![p.now()];
        times.extend(gets.map(|get| {
            p.wait(get);
            p.now()
        }));
        times
    });
    assert_eq!(run.results[0], [6, 16, 20, 24].map(|us| us * US));
}

/// Two answers of a memory share its port, and what its processor sends through its only one.
#[test]
fn answers_share_the_ports() {
    let program = |p: &mut Proc| {
        match p.id() {
            0 if p.P() > 3 => p.put(3, 11 * BYTES), // through the port from 2 to 12
            0 => {}
            3 => {}
            _ => p.get(0, 0, 6 * BYTES),
        }
        p.now()
    };
    let ends = |machine: &Machine| run_everywhere(machine, program).results;
    // Both requests are there at 8. The first words of the answers are there at 14 and at 19.
    assert_eq!(ends(&Machine::new(params(3))), [0, 21, 26].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(3)).ports(Ports::Dual)), [0, 21, 26].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(4))), [2, 25, 30, 0].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(4)).ports(Ports::Dual)), [2, 25, 30, 0].map(|us| us * US));
}

/// A put or a get of an ordinary program beside its messages.
#[derive(Clone, Copy, Debug)]
enum Act {
    Put(usize, usize),
    Get(usize, usize),
    Flush(usize),
    Work(u64),
}

fn draw_acts(rng: &mut fastrand::Rng, P: usize) -> Vec<Act> {
    let act = |rng: &mut fastrand::Rng| match rng.u8(..8) {
        0..3 => Act::Put(rng.usize(..P), rng.usize(1..5)),
        3..6 => Act::Get(rng.usize(..P), rng.usize(1..5)),
        6 => Act::Flush(rng.usize(..P)),
        _ => Act::Work(rng.u64(1..9)),
    };
    (0..rng.usize(1..7)).map(|_| act(rng)).collect()
}

/// A schedule of the same acts in a row is played as the program runs, which the oracle's random programs check. Lengths
/// are often above S, and answers longer than a message can be.
#[test]
fn schedule_of_one_sided_messages_is_played_as_the_program_runs() {
    let mut above_S = 0;
    for seed in seeds(300) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(1..5);
        let params = draw_params(&mut rng, P);
        let most = longest(&params, 9);
        let programs: Vec<_> = (0..P).map(|_| draw_acts(&mut rng, P)).collect();
        let programs: Vec<Vec<Act>> = programs.into_iter().map(|acts| cut_to(acts, most)).collect();
        let ports = if rng.bool() { Ports::Dual } else { Ports::Single };
        let machine = Machine::new(params).ports(ports).trace(true);
        let program = |p: &mut Proc| {
            for act in &programs[p.id()] {
                match *act {
                    Act::Put(to, words) => p.put(to, words),
                    Act::Get(to, words) => p.get(to, 0, words),
                    Act::Flush(to) => p.flush(Some(to)),
                    Act::Work(units) => p.work("work", units, || ()),
                }
            }
            p.now()
        };
        let ran = machine.run(program).unwrap();
        let trace = ran.trace.as_ref().unwrap();
        let about = || format!("seed {seed}, {params:?}, {ports:?}, {programs:?}");
        let played =
            Player::new(params).ports(ports).trace(true).run(&schedule_of(&params, &programs)).unwrap();
        assert_eq!(played.finishes, ran.results, "{}", about());
        let again = played.trace.unwrap();
        assert_eq!(again.messages, trace.messages, "{}", about());
        assert_eq!(played.operations.len(), again.messages.len());
        assert_eq!(audit(&again).violations, [], "{}", about());
        let is_above = |words: usize| params.gps().is_some_and(|gps| words > gps.S);
        above_S += trace.messages.iter().filter(|message| is_above(message.words)).count();
    }
    assert!(above_S > 0);
}

/// Cuts what is put to a length that the machine can send, and leaves out gets if it cannot send a word.
fn cut_to(acts: Vec<Act>, most: usize) -> Vec<Act> {
    let cut = |act| match act {
        Act::Put(to, words) => Some(Act::Put(to, words.min(most))),
        Act::Get(..) if most == 0 => None,
        act => Some(act),
    };
    acts.into_iter().filter_map(cut).collect()
}

/// Returns the acts as operations, each of which waits for the one before.
fn schedule_of(params: &Params, programs: &[Vec<Act>]) -> Schedule {
    let mut builder = ScheduleBuilder::new(programs.len()).unwrap();
    for (rank, acts) in programs.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for act in acts {
            let operation = builder.add(match *act {
                Act::Put(to, words) => Operation::Put { to: to as u32, bytes: words as u64 },
                Act::Get(from, words) => Operation::Get { from: from as u32, asked: 0, bytes: words as u64 },
                Act::Flush(to) => Operation::Flush { to: Some(to as u32) },
                Act::Work(units) => Operation::Calc(units as i64 * params.cycle),
            });
            let operation = operation.unwrap();
            if operation > 0 {
                builder.require_done(operation, operation - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// One-sided messages among others: requests, receives, levels, drawn latencies.
#[test]
fn one_sided_messages_go_beside_others() {
    for seed in seeds(40) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let acts: Vec<_> = (0..4).map(|_| draw_acts(&mut rng, 4)).collect();
        let mut machine = Machine::new(params(4));
        if rng.bool() {
            machine = machine.ports(Ports::Dual);
        }
        match rng.u8(..4) {
            0 => machine = machine.latency(Latency::Random { seed }),
            1 => {
                machine =
                    machine.levels([Level::new(Params { P: 2, L: US, o: US, ..params(2) }).one_port(true)])
            }
            2 => {
                let text = "L=6us,o=2us,g=1us,O_s=100ns,O_r=200ns,G_s=1us,G_l=-200ns,s=2,S=3";
                let gps = Params::builder(4).word(BYTES).set(text).unwrap().build().unwrap();
                machine = Machine::new(gps);
            }
            _ => (),
        }
        run_everywhere(&machine, |p| {
            let (id, P) = (p.id(), p.P());
            let mut gets = Vec::new();
            for (number, act) in acts[id].iter().enumerate() {
                match *act {
                    Act::Put(to, words) => p.put(to, words * BYTES),
                    Act::Get(to, words) if number % 2 == 0 => p.get(to, words * BYTES, BYTES),
                    Act::Get(to, words) => gets.push(p.post_get(to, 0, words * BYTES)),
                    Act::Flush(to) => p.flush(Some(to)),
                    Act::Work(units) => p.work("work", units, || ()),
                }
            }
            let sent = p.isend((id + 1) % P, WORD, 7);
            p.recv(WORD.from((id + P - 1) % P));
            p.wait_all(gets);
            p.wait(sent);
            p.flush(None);
            p.now()
        });
    }
}

#[test]
fn auditor_finds_an_answer_that_comes_too_late_or_is_not_asked_for() {
    let get = |p: &mut Proc| {
        if p.id() == 0 {
            p.get(1, 0, 3 * BYTES)
        }
    };
    let trace = Machine::new(params(2)).trace(true).run(get).unwrap().trace.unwrap();
    let sentences =
        |trace: &Trace| audit(trace).violations.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(sentences(&trace), [""; 0]);
    let mut late = trace.clone();
    let answer = &mut late.messages[1];
    (answer.enter, answer.first, answer.arrival) = (9 * US, 15 * US, 17 * US);
    for activity in &mut late.activities[1..] {
        activity.end = activity.end.max(17 * US);
    }
    let found = sentences(&late);
    assert!(
        found.iter().any(|it| it
            .contains("message 1 of processor 0 to 0 waits for a port until 9 us, and could enter at 8 us")),
        "{found:?}"
    );
    let mut short = trace.clone();
    short.messages[1].words = 2;
    let found = sentences(&short);
    assert!(found.iter().any(|it| it.contains("get at 0 us is not answered with 3 words")), "{found:?}");
    let mut nobody = trace;
    let (id, start) = (0, nobody.calls[0].end);
    nobody.calls.push(Call { id, start, end: start, kind: CallKind::Flush { to: Some(9) } });
    let found = sentences(&nobody);
    assert!(
        found
            .iter()
            .any(|it| it.contains("waits for the memory of a processor, and there are processors 0 to 1")),
        "{found:?}"
    );
    let said = Replay::new(&nobody).run().unwrap_err().to_string();
    assert!(said.contains("flush at 18 us cannot be made again: there is no processor 9"), "{said}");
}

/// Nobody agrees to a put or to a request, so neither is announced, and neither costs R.
#[test]
fn one_sided_messages_above_S_have_no_rendezvous_and_no_R() {
    let text = "L=6us,o=2us,g=4us,O_s=0,O_r=0,G_s=1us,G_l=1us,s=1,S=2,R=50us";
    let gps = Params::builder(2).word(BYTES).set(text).unwrap().build().unwrap();
    for rendezvous in [Protocol::Push, Protocol::Pull] {
        let run = run_everywhere(&Machine::new(gps).rendezvous(rendezvous), |p| {
            if p.id() == 1 {
                return vec![];
            }
            p.put(1, 3 * BYTES);
            let entered = p.now(); // after o; its last word is in at 5, and there at 11
            p.flush(Some(1));
            let known = p.now(); // L after that
            p.get(1, 3 * BYTES, BYTES); // o, 3G and L there, and G and L back, and o
            let word = p.now();
            p.get(1, 0, 5 * BYTES); // o, G and L there, and 5G and L back, and o
            vec![entered, known, word, p.now()]
        });
        assert_eq!(run.results[0], [2, 17, 37, 59].map(|us| us * US), "{rendezvous}");
        assert_eq!(run.processors[0].sent, 3);
    }
}

/// No processor sends an answer, so a negative G_l, by which a message may arrive before its sender is done with it, does
/// not limit its length.
#[test]
fn answer_may_be_longer_than_a_message() {
    let text = "L=6us,o=2us,g=0,O_s=0,O_r=0,G_s=1us,G_l=-1us,s=2,S=100";
    let gps = Params::builder(2).word(BYTES).set(text).unwrap().build().unwrap();
    assert_eq!(gps.longest_message(), Some(12));
    let get = |back: usize| {
        run_everywhere(&Machine::new(gps), |p| {
            if p.id() == 0 {
                p.get(1, 0, back * BYTES)
            }
        })
        .time
    };
    assert_eq!([1, 12, 13, 1000].map(get), [18, 17, 17, 17].map(|us| us * US));
    let refusal = |program: fn(&mut Proc)| Machine::new(gps).run(program).unwrap_err().cause;
    let longest = Cause::TooLong { id: 0, words: 13, longest: 12 };
    assert_eq!(
        refusal(|p| if p.id() == 0 {
            p.put(1, 13 * BYTES)
        }),
        longest
    );
    assert_eq!(
        refusal(|p| if p.id() == 0 {
            p.get(1, 13 * BYTES, 0)
        }),
        longest
    );
}

/// R lengthens the time in which the words of a long message may travel, and a put has none.
#[test]
fn put_is_not_longer_than_without_R() {
    let text = "L=6us,o=2us,g=0,O_s=0,O_r=0,G_s=1us,G_l=-1us,s=2,S=1,R=5us";
    let gps = Params::builder(2).word(BYTES).set(text).unwrap().build().unwrap();
    assert_eq!(gps.longest_message(), Some(17));
    let put = |words: usize| {
        let put = |p: &mut Proc| {
            if p.id() == 0 {
                p.put(1, words * BYTES)
            }
        };
        Machine::new(gps).run(put).map(|run| run.time).map_err(|error| error.cause)
    };
    assert_eq!(put(12), Ok(2 * US));
    assert_eq!(put(13), Err(Cause::TooLong { id: 0, words: 13, longest: 12 }));
    let operation = |words: usize| Operation::Put { to: 1, bytes: (words * BYTES) as u64 };
    let play = |words: usize| {
        let mut builder = ScheduleBuilder::new(2).unwrap();
        builder.begin_rank(0).unwrap();
        builder.add(operation(words)).unwrap();
        Player::new(gps).run(&builder.build().unwrap()).map(|played| played.finishes[0]).map_err(|e| e.cause)
    };
    assert_eq!([12, 13].map(play), [12, 13].map(put));
}

#[test]
fn processor_that_does_not_exist_has_no_memory() {
    let refusal = |call: fn(&mut Proc)| {
        let error = Machine::new(params(3))
            .run(|p| {
                if p.id() == 1 {
                    call(p)
                }
            })
            .unwrap_err();
        error.cause.to_string()
    };
    let calls: [fn(&mut Proc); 4] =
        [|p| p.put(99, 1), |p| p.get(99, 1, 1), |p| _ = p.post_get(99, 1, 1), |p| p.flush(Some(99))];
    for call in calls {
        let said = refusal(call);
        assert!(said.starts_with("processor 1 named processor 99, and there are 0 to 2"), "{said}");
        assert!(said.contains("one_sided.rs"), "{said}");
    }
}

/// What is put into the memory of a processor that has ended is in transit to it all the same.
#[test]
fn messages_in_transit_to_a_processor_that_has_ended_count() {
    let run = run_everywhere(&Machine::new(params(4)), |p| {
        if p.id() > 0 {
            p.work("work", 100, || ());
            p.put(0, BYTES);
        }
    });
    assert_eq!(run.processors[0].finish, Time::ZERO);
    assert_eq!(run.processors.iter().map(|stats| stats.most_to).collect::<Vec<_>>(), [2, 0, 0, 0]);
    assert_eq!(run.most_in_transit(), 2);
}

#[test]
fn memory_does_not_receive_so_a_capacity_until_received_is_refused() {
    let machine = Machine::new(params(2)).capacity(Capacity::Received);
    let refusal = machine
        .run(|p| {
            if p.id() == 0 {
                p.put(1, BYTES)
            }
        })
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("leave out --capacity received"), "{refusal}");
}
