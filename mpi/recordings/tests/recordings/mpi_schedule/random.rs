//! Random programs.

use std::collections::{BTreeMap, HashMap};

use super::collectives::traffic;
use super::*;

/// Random programs of blocking calls take as long as a program that makes the same calls.
#[test]
fn a_program_takes_as_long_as_one_with_the_same_calls() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(2..6);
        let mut calls: Vec<Vec<At>> = vec![Vec::new(); P];
        let mut clocks = vec![0; P];
        let mut push = |rank: usize, rng: &mut fastrand::Rng, kind: MpiCallKind| {
            clocks[rank] += rng.i64(0..9);
            calls[rank].push((clocks[rank], clocks[rank] + 3, kind));
            clocks[rank] += 3;
        };
        for _ in 0..rng.usize(1..40) {
            let (from, to, tag) = (rng.usize(..P), rng.usize(..P), rng.i32(0..3));
            if from == to {
                continue;
            }
            push(from, &mut rng, send(to as u32, tag));
            let is_any = rng.bool();
            let taken = message(from as u32, tag);
            push(to, &mut rng, if is_any { any(Some(taken), None) } else { recv(from as u32, tag) });
        }
        let ranks: Vec<RankCalls> =
            calls.iter().zip(&clocks).map(|(calls, end)| rank(P, calls.clone(), *end)).collect();
        let program = read(ranks);
        let params = Params::builder(P).set("L=6us,o=2us,g=4us").unwrap().word(8).build().unwrap();
        let run = Machine::new(params).rate("compute", US).run(|p| {
            let mut before = 0;
            for (begin, end, kind) in &calls[p.id()] {
                p.work("compute", (*begin - before) as u64, || ());
                before = *end;
                match kind {
                    Send { message, .. } => {
                        p.send(message.peer as usize, Tag::<u8>::new(message.tag as u16), 0)
                    }
                    Recv { receive, .. } => {
                        let taken = receive.taken.unwrap();
                        p.recv(Tag::<u8>::new(taken.tag as u16).from(taken.peer as usize));
                    }
                    _ => unreachable!(),
                }
            }
            p.now()
        });
        let played = player().run(&program.schedule).unwrap();
        let run = run.unwrap();
        assert_eq!(run.results, played.finishes, "seed {seed}");
    }
}

/// Returns the calls of a random program of immediate calls, with some receives in vain, and the bytes that each rank sends to each.
fn immediate_calls(rng: &mut fastrand::Rng) -> (Vec<RankCalls>, HashMap<(u32, u32), u64>) {
    let P = rng.usize(2..6);
    let mut calls: Vec<Vec<At>> = vec![Vec::new(); P];
    let mut open: Vec<Vec<Completed>> = vec![Vec::new(); P];
    let (mut clock, mut count, mut bytes_of) = (0, 0_u64, HashMap::new());
    for _ in 0..rng.usize(1..60) {
        let (from, to, tag) = (rng.usize(..P), rng.usize(..P), rng.i32(0..2));
        if from == to {
            continue;
        }
        let bytes = rng.u64(1..100);
        let mode =
            [SendMode::Standard, SendMode::Synchronous, SendMode::Buffered, SendMode::Ready][rng.usize(..4)];
        let communicator = rng.u32(0..2);
        let (sent, taken) = (
            Envelope { peer: to as u32, tag, communicator, bytes },
            Envelope { peer: from as u32, tag, communicator, bytes },
        );
        *bytes_of.entry((from as u32, to as u32)).or_insert(0) += bytes;
        count += 2;
        clock += 10;
        let receive = Receive {
            from: rng.bool().then_some(from as u32),
            tag: rng.bool().then_some(tag),
            communicator,
            bytes: 100,
            taken: None,
        };
        // One that gets no message: it is cancelled at the end, given up at once, or never completes.
        if rng.u8(..3) == 0 {
            let vain = 1_000_000_000 + count;
            calls[to].push((clock, clock, Recv { receive, request: Some(vain) }));
            match rng.u8(..3) {
                0 => open[to].push(Completed { request: vain, taken: None, is_cancelled: true }),
                1 => calls[to].push((clock, clock, Forget(vain))),
                _ => (),
            }
        }
        calls[from].push((clock, clock, Send { mode, message: sent, request: Some(count) }));
        calls[to].push((clock, clock, Recv { receive, request: Some(count + 1) }));
        open[from].push(completed(count, None));
        open[to].push(completed(count + 1, Some(taken)));
        // A send that needs no receiver may be waited for at once; all else is at the end, so that nobody waits for ever.
        if mode != SendMode::Synchronous && rng.bool() {
            let sent = open[from].iter().position(|one| one.request == count).unwrap();
            let requests = vec![open[from].swap_remove(sent)];
            calls[from].push((clock + 1, clock + 2, Complete { form: WaitForm::Wait, requests }));
        }
    }
    let ranks = calls.into_iter().zip(open).map(|(mut calls, requests)| {
        calls.push((clock + 10, clock + 20, Complete { form: WaitForm::Wait, requests }));
        copies(rank(P, calls, clock + 20), &[&(0..P as u32).collect::<Vec<_>>()])
    });
    (ranks.collect(), bytes_of)
}

/// In random programs of immediate calls, too, every message is received, with all its bytes.
#[test]
fn every_message_is_received() {
    for seed in 0..200 {
        let (ranks, bytes_of) = immediate_calls(&mut fastrand::Rng::with_seed(seed));
        let program = read(ranks);
        assert_eq!(program.warnings, Vec::<String>::new(), "seed {seed}");
        let [sent, _] = traffic(&program.schedule);
        let sent: HashMap<_, _> = sent.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        assert_eq!(sent, bytes_of, "seed {seed}");
        player().run(&program.schedule).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// Divides the time of a rank by the moments of all its operations. Returns the computing, and the time of each group.
fn divide(index: &RankIndex, moments: &[(Time, Time)], finish: Time) -> (Time, BTreeMap<CallGroup, Time>) {
    let (mut computing, mut groups) = (Time::ZERO, BTreeMap::<CallGroup, Time>::new());
    let spans: Vec<CallSpan> = index.spans.iter().collect();
    for thread in 0..index.spans.threads() {
        let mut now: Option<(CallGroup, Time)> = None;
        for (place, span) in spans.iter().enumerate() {
            if usize::from(span.kind.thread) != thread {
                continue;
            }
            let until = spans.get(place + 1).map_or(moments.len() as u32, |next| next.first);
            if span.first == until {
                now = now.or(Some((span.kind.group, Time::ZERO)));
                continue;
            }
            let (begin, end) = moments[span.first as usize];
            if let Some((group, since)) = now {
                *groups.entry(group).or_default() += (begin - since).max(Time::ZERO);
            }
            computing += if span.kind.has_calc { end - begin } else { Time::ZERO };
            now = Some((span.kind.group, if span.kind.has_calc { end } else { begin }));
        }
        if let Some((group, since)) = now.filter(|(group, _)| thread == 0 && *group != CallGroup::END) {
            *groups.entry(group).or_default() += (finish - since).max(Time::ZERO);
        }
    }
    groups.retain(|_, time| *time > Time::ZERO);
    (computing, groups)
}

/// What is divided while a schedule is played is as the moments of all operations have it.
#[test]
fn time_is_divided_as_the_moments_say() {
    let mut early = 0;
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut ranks, _) = immediate_calls(&mut rng);
        for calls in &mut ranks {
            for call in &mut calls.calls {
                // Immediate collectives go on beside what follows.
                if rng.u8(..4) == 0 {
                    call.thread = rng.u16(..2);
                }
            }
            let end = calls.end;
            let kind = |request| MpiCallKind::Collective {
                kind: CollectiveKind::Allreduce,
                communicator: 0,
                root: Root::None,
                sent: Counts::Same(40),
                received: Counts::Same(40),
                request: Some(request),
            };
            for number in 0..3 {
                let at = end + 2000 * number;
                let call = |begin, kind| MpiCall { begin, end: begin, place: 0, thread: 0, kind };
                calls.calls.push(call(at, kind(1_000_000 + number as u64)));
                calls.calls.push(call(at + 1000, wait(&[])));
            }
            calls.end = end + 6000;
            calls.calls.push(MpiCall {
                begin: calls.end,
                end: calls.end,
                place: 0,
                thread: 0,
                kind: wait(&[1_000_000, 1_000_001, 1_000_002]),
            });
        }
        let program = read(ranks);
        let mut watch = PlayWatch::new(&program);
        let mut last = vec![0; program.ranks.len()];
        let played = player().moments(true).run_watched(&program.schedule, &mut |beginning| {
            early += usize::from(beginning.operation < last[beginning.rank]);
            last[beginning.rank] = beginning.operation;
            watch.begin(beginning);
        });
        let played = played.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let comparison = Comparison::new(&program, &played, Some(watch)).unwrap();
        let mut moments = &played.moments.as_ref().unwrap()[..];
        for (rank, compared) in comparison.ranks.iter().enumerate() {
            let (own, rest) = moments.split_at(program.schedule.operations(rank).len());
            moments = rest;
            let (computing, groups) = divide(&program.ranks[rank], own, played.finishes[rank]);
            let found = compared.groups.iter().map(|(group, pair)| (*group, pair.predicted));
            let found: BTreeMap<CallGroup, Time> = found.filter(|(_, time)| *time > Time::ZERO).collect();
            assert_eq!(
                (compared.computing.predicted, found),
                (computing, groups),
                "seed {seed}, rank {rank}"
            );
        }
    }
    assert!(early > 0, "operations begin in their order");
}
