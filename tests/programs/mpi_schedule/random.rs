//! Random programs.

use std::collections::HashMap;

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
        let mut push = |rank: usize, rng: &mut fastrand::Rng, kind: CallKind| {
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
                        p.recv_from(taken.peer as usize, Tag::<u8>::new(taken.tag as u16));
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

/// In random programs of immediate calls, too, every message is received, with all its bytes.
#[test]
fn every_message_is_received() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
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
            let mode = [SendMode::Standard, SendMode::Synchronous, SendMode::Buffered, SendMode::Ready]
                [rng.usize(..4)];
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
            calls[from].push((clock, clock, Send { mode, message: sent, request: Some(count) }));
            calls[to].push((clock, clock, Recv { receive, request: Some(count + 1) }));
            open[from].push(completed(count, None));
            open[to].push(completed(count + 1, Some(taken)));
            // A send that needs no receiver may be waited for at once; all else is at the end, so that nobody waits for ever.
            if mode != SendMode::Synchronous && rng.bool() {
                let sent = open[from].iter().position(|one| one.request == count).unwrap();
                let requests = vec![open[from].swap_remove(sent)];
                calls[from].push((clock + 1, clock + 2, Complete { is_wait: true, requests }));
            }
        }
        let ranks = calls.into_iter().zip(open).map(|(mut calls, requests)| {
            calls.push((clock + 10, clock + 20, Complete { is_wait: true, requests }));
            copies(rank(P, calls, clock + 20), &[&(0..P as u32).collect::<Vec<_>>()])
        });
        let program = read(ranks.collect());
        assert_eq!(program.warnings, Vec::<String>::new(), "seed {seed}");
        let [sent, _] = traffic(&program.schedule);
        let sent: HashMap<_, _> = sent.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        assert_eq!(sent, bytes_of, "seed {seed}");
        player().run(&program.schedule).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
