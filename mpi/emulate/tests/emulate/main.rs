//! Emulated programs without MPI: their ranks are threads of the test, which speak as the preloaded library does.

#![cfg(target_os = "linux")]
#![allow(non_snake_case)] // P is the papers' name

mod rank;

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use loggp::audit::audit;
use loggp::{ClockKind, Machine, NS, Params, Run, RunError, Time, US};
use loggp_emulate::{Session, Settings};

use rank::{Answer, Gone, Rank, WINDOW_BYTES, collective, from, number, ranks, signed, to};

/// A word is a byte here.
fn machine(P: usize) -> Machine {
    let params = Params::builder(P).L(5 * US).o(US).g(2 * US).G(NS).word(1).build().unwrap();
    Machine::new(params).trace(true)
}

/// Computing takes no time, unless a rank says how long it computed.
const SETTINGS: Settings =
    Settings { speed: 1.0, has_clocks: false, table: None, combine: Time::ZERO, limit: None, checks: None };

/// Emulates a program of so many ranks, which end by themselves.
fn emulate(
    P: usize,
    settings: Settings,
    program: impl Fn(&mut Rank) -> Result<(), Gone> + Sync,
) -> Result<Run<()>, RunError> {
    let session = Session::new(settings, ClockKind::Virtual, 1).unwrap();
    let [(name, path)] = session.variables();
    assert_eq!(name, "LOGGP_EMULATE");
    // Another test may get the number of the file.
    let identity = || std::fs::metadata(&path).ok().map(|file| (file.dev(), file.ino()));
    let shared = identity().expect("the session has it");
    let run = std::thread::scope(|scope| -> Result<Run<()>, RunError> {
        for id in 0..P as u64 {
            let (path, program) = (&path, &program);
            scope.spawn(move || {
                let mut rank = Rank::attach(path, id, P as u32);
                if rank.await_turn().is_err() || program(&mut rank).is_err() {
                    return;
                }
                // One that ended otherwise does not come here.
                let _: Result<(), Gone> = rank.finalize();
            });
        }
        // The first turn of a rank is answered when all have come.
        assert_eq!(session.wait_for_ranks(|| false), Ok(Some(P)));
        let run = session.run(&machine(P))?;
        session.release(run.time);
        Ok(run)
    })?;
    drop(session);
    assert_ne!(identity(), Some(shared), "the shared file is left");
    assert_eq!(audit(run.trace.as_ref().unwrap()).violations, []);
    Ok(run)
}

/// Emulates a program that must come to its end.
fn run(P: usize, program: impl Fn(&mut Rank) -> Result<(), Gone> + Sync) -> Run<()> {
    emulate(P, SETTINGS, program).unwrap()
}

/// Emulates a program that cannot, and returns the sentence that says why.
fn fail(P: usize, program: impl Fn(&mut Rank) -> Result<(), Gone> + Sync) -> String {
    emulate(P, SETTINGS, program).unwrap_err().to_string()
}

/// The time of a message of so many bytes from the begin of its send to the end of its reception.
fn message(bytes: i64) -> Time {
    7 * US + (bytes - 1) * NS
}

/// A pattern of bytes that tells messages apart.
fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (at * at + 31 * seed + at / 256) as u8).collect()
}

fn at(answer: &Answer) -> Time {
    Time::from_ps(answer.now_ps)
}

#[test]
fn a_ping_pong_takes_what_the_model_says() {
    let run = run(2, |rank| {
        if rank.id == 0 {
            let sent = rank.call(rank::SEND, &to(1, 7, 8), b"there ..")?;
            assert_eq!((at(&sent), sent.words), (US, vec![]), "only o is the processor's");
            let got = rank.call(rank::RECV, &from(Some(1), Some(8), 100), &[])?;
            assert_eq!((at(&got), &*got.data), (message(8) + message(4), &b"back"[..]));
            assert_eq!(got.words, [1, 8, 4]);
        } else {
            let got = rank.call(rank::RECV, &from(Some(0), Some(7), 8), &[])?;
            assert_eq!((at(&got), got.words, &*got.data), (message(8), vec![0, 7, 8], &b"there .."[..]));
            rank.call(rank::SEND, &to(0, 8, 4), b"back")?;
        }
        Ok(())
    });
    assert_eq!(run.time, message(8) + message(4));
    assert_eq!(
        run.processors.iter().map(|stats| (stats.sent, stats.received)).collect::<Vec<_>>(),
        [(1, 1); 2]
    );
}

#[test]
fn computing_takes_its_time_times_the_speed() {
    for speed in [1.0, 2.5] {
        let run = emulate(2, Settings { speed, ..SETTINGS }, |rank| {
            rank.work_ns = 1000 + 1000 * rank.id;
            rank.call(rank::CLOCK, &[], &[]).map(|_| ())
        });
        let work: Vec<Time> = run.unwrap().processors.iter().map(|stats| stats.work).collect();
        assert_eq!(work, [speed * 1000.0, speed * 2000.0].map(|ns| ns as i64 * NS));
    }
}

#[test]
fn data_may_be_longer_than_a_window() {
    for bytes in [0, 1, WINDOW_BYTES, WINDOW_BYTES + 1, 3 * WINDOW_BYTES + 17] {
        run(2, |rank| {
            if rank.id == 0 {
                rank.call(rank::SEND, &to(1, 0, bytes), &pattern(1, bytes))?;
            } else {
                let got = rank.call(rank::RECV, &from(None, None, bytes), &[])?;
                assert_eq!(got.words, [0, 0, bytes as u64]);
                assert!(got.data == pattern(1, bytes), "{bytes} bytes are others");
            }
            Ok(())
        });
    }
}

/// Who is first at the machine's time is received first, whoever called first here.
#[test]
fn wildcards_and_probes_find_what_is_there_at_the_machines_time() {
    run(3, |rank| {
        if rank.id > 0 {
            rank.work_ns = if rank.id == 1 { 50_000 } else { 10_000 };
            return rank.call(rank::SEND, &to(0, 3, 2), &pattern(rank.id, 2)).map(|_| ());
        }
        let nothing = rank.call(rank::IPROBE, &from(None, None, 0), &[])?;
        assert_eq!((at(&nothing), nothing.words), (US, vec![0; 4]), "a look costs o");
        let seen = rank.call(rank::PROBE, &from(None, Some(3), 0), &[])?;
        assert_eq!(seen.words, [2, 3, 2]);
        let got = rank.call(rank::RECV, &from(None, None, 9), &[])?;
        assert_eq!((at(&got), got.words, got.data), (10 * US + message(2), vec![2, 3, 2], pattern(2, 2)));
        rank.work_ns = 100_000;
        let matched = rank.call(rank::IMPROBE, &from(Some(1), None, 0), &[])?;
        let [1, 1, 3, 2, its_number] = matched.words[..] else { panic!("{matched:?}") };
        let body = [number(its_number), number(2)].concat();
        let got = rank.call(rank::MRECV, &body, &[])?;
        assert_eq!((got.words, got.data), (vec![1, 3, 2], pattern(1, 2)));
        Ok(())
    });
}

#[test]
fn messages_of_one_sender_keep_their_order_whichever_was_seen() {
    run(2, |rank| {
        if rank.id == 1 {
            return (1..4)
                .try_for_each(|tag| rank.call(rank::SEND, &to(0, tag, 1), &[tag as u8]).map(|_| ()));
        }
        for (asked, seen) in [(Some(2), 2), (Some(3), 3), (None, 1)] {
            let probed = rank.call(rank::PROBE, &from(Some(1), asked, 0), &[])?;
            assert_eq!(probed.words, [1, seen, 1]);
        }
        for tag in 1..4 {
            let got = rank.call(rank::RECV, &from(Some(1).filter(|_| tag != 2), None, 9), &[])?;
            assert_eq!((got.words, got.data), (vec![1, tag, 1], vec![tag as u8]));
        }
        Ok(())
    });
}

#[test]
fn requests_are_waited_for_and_tested() {
    run(3, |rank| {
        if rank.id > 0 {
            rank.work_ns = if rank.id == 1 { 50_000 } else { 10_000 };
            return rank.call(rank::SEND, &to(0, 3, 2), &pattern(rank.id, 2)).map(|_| ());
        }
        for peer in [1, 2] {
            assert!(rank.call(rank::IRECV, &from(Some(peer), Some(3), 2), &[])?.words.is_empty());
        }
        let both = [Some(0), None, Some(1)];
        assert_eq!(rank.complete(rank::TESTANY, &both)?.words, [0]);
        let any = rank.complete(rank::WAITANY, &both)?;
        assert_eq!((at(&any), any.data), (10 * US + message(2), pattern(2, 2)));
        assert_eq!(any.words, [1, 1, 2, 1, 0, 2, 3, 2]);
        assert_eq!(rank.complete(rank::TEST, &[Some(0)])?.words, [0]);
        let all = rank.complete(rank::WAITALL, &[Some(0), None])?;
        assert_eq!((at(&all), all.data), (50 * US + message(2), pattern(1, 2)));
        assert_eq!(all.words, [1, 1, 0, 1, 0, 1, 3, 2]);
        Ok(())
    });
}

/// Calls that need no answer may come with the next one that does.
#[test]
fn calls_may_be_posted_together() {
    let both = run(2, |rank| {
        let peer = 1 - rank.id;
        let long = WINDOW_BYTES / 2 + 5;
        let records = [
            rank.record(rank::ISEND, &to(peer, 1, long)),
            rank.record(rank::IRECV, &from(Some(peer), Some(1), long)),
            rank.record(rank::ISEND, &to(peer, 2, long)),
            rank.record(rank::SEND, &to(peer, 3, 1)),
            rank.record(rank::RECV, &from(Some(peer), Some(2), long)),
        ];
        let data = [pattern(rank.id, long), pattern(rank.id + 7, long), vec![rank.id as u8]].concat();
        let got = rank.post_all(&records, &data)?;
        assert_eq!((got.words, got.data), (vec![peer, 2, long as u64], pattern(peer + 7, long)));
        let all = rank.complete(rank::WAITALL, &[Some(0), Some(1), Some(2)])?;
        assert_eq!(all.words, [1, 3, 0, 0, 0, 1, 1, 0, peer, 1, long as u64, 2, 0, 0]);
        assert_eq!(all.data, pattern(peer, long));
        assert_eq!(rank.call(rank::RECV, &from(None, None, 1), &[])?.data, [peer as u8]);
        Ok(())
    });
    assert_eq!(both.processors.iter().map(|stats| stats.sent).sum::<u64>(), 6);
}

#[test]
fn collectives_bring_their_data() {
    const P: u64 = 4;
    let run = run(P as usize, |rank| {
        let own = pattern(rank.id, 8);
        let nothing = rank.call(rank::COLLECTIVE, &collective(rank::BARRIER, 0, None, 0, 0), &[])?;
        assert_eq!(nothing.words, [0, 0]);
        let is_root = |root: u64| rank.id == root;
        let (first, second) = (is_root(1), is_root(2));

        let body = collective(rank::BCAST, 0, Some(1), 8, 8);
        let got = rank.call(rank::COLLECTIVE, &body, if first { &own } else { &[] })?;
        let expected = if first { (vec![0, 0], vec![]) } else { (vec![1, 1, 8], pattern(1, 8)) };
        assert_eq!((got.words, got.data), expected);

        let of_all = || (0..P).flat_map(|rank| pattern(rank, 8)).collect::<Vec<u8>>();
        let body = collective(rank::GATHER, 0, Some(2), 8, 8);
        let got = rank.call(rank::COLLECTIVE, &body, &own)?;
        let expected = if second { (vec![1, 4, 8, 8, 8, 8], of_all()) } else { (vec![0, 0], vec![]) };
        assert_eq!((got.words, got.data), expected);

        // Each combines the contributions of all, in their order.
        let body = collective(rank::ALLREDUCE, 0, None, 8, 8);
        rank.call(rank::ICOLLECTIVE, &body, &own)?;
        let done = rank.complete(rank::WAIT, &[Some(0)])?;
        assert_eq!((done.words, done.data), (vec![1, 1, 0, 2, 0, 2, 4, 8, 8, 8, 8], of_all()));

        let body = collective(rank::ALLTOALL, 0, None, 2, 2);
        let got = rank.call(rank::COLLECTIVE, &body, &own)?;
        let parts = (0..P).flat_map(|from| pattern(from, 8)[2 * rank.id as usize..][..2].to_vec());
        assert_eq!((got.words, got.data), (vec![1, 4, 2, 2, 2, 2], parts.collect()));
        Ok(())
    });
    assert!(run.time > 5 * 7 * US && run.processors.iter().all(|stats| stats.sent >= 4));
}

#[test]
fn a_communicator_is_made_once_all_have_said_what_they_give() {
    const DEFINITION: u8 = 2;
    run(3, |rank| {
        let is_member = rank.id != 1;
        rank.work_ns = 1000 * rank.id;
        // All ranks of the world take part.
        let given = &b"012"[..rank.id as usize];
        let begin = rank.call(rank::TOGETHER, &[0, 0, rank.id as u8], given)?;
        assert!(at(&begin) >= 2 * US, "the last rank has computed for 2 us");
        assert_eq!((begin.words, &*begin.data), (vec![3, 0, 1, 2], &b"001"[..]));
        if is_member {
            let root = rank.id == 2;
            let definition = [&[DEFINITION, 0, 0, 0][..], &ranks(&[0, 2])].concat();
            let body = collective(rank::BCAST, 1, Some(1), 3, 3);
            let call = rank.record(rank::COLLECTIVE, &body);
            let got = rank.post_all(&[definition, call], if root { b"abc" } else { &[] })?;
            assert_eq!(&*got.data, if root { &b""[..] } else { b"abc" });
        }
        Ok(())
    });
}

/// A program that does nothing but look at the clock comes to any time.
#[test]
fn clocks_go_on_while_they_are_looked_at() {
    run(1, |rank| {
        let first = at(&rank.call(rank::CLOCK, &[], &[])?);
        let mut last = first;
        for _ in 0..100 {
            let now = at(&rank.call(rank::CLOCK, &[], &[])?);
            assert!(now > last);
            last = now;
        }
        assert!(first == Time::ZERO && last < 1000 * US);
        Ok(())
    });
}

/// The same program twice is the same run.
#[test]
fn a_run_is_repeated_exactly() {
    let again = || {
        run(4, |rank| {
            for round in 0..20 {
                let next = (rank.id + 1 + round % 3) % 4;
                rank.work_ns = 37 * (rank.id + 1) * (round % 5);
                rank.call(rank::SEND, &to(next, round as i64, 100), &pattern(round, 100))?;
                rank.call(rank::RECV, &from(None, Some(round), 100), &[])?;
            }
            Ok(())
        })
    };
    let (one, other) = (again(), again());
    assert_eq!(one.time, other.time);
    let messages = |run: Run<()>| format!("{:?}", run.trace.unwrap().messages);
    assert_eq!(messages(one), messages(other));
}

#[test]
fn what_a_rank_does_wrong_is_said() {
    let recv = |rank: &mut Rank| rank.call(rank::RECV, &from(Some(1 - rank.id), None, 8), &[]).map(|_| ());
    let said = fail(2, |rank| match rank.id {
        0 => rank.end_with(rank::ABORT, &signed(-3)),
        _ => recv(rank),
    });
    assert!(said.contains("rank 0 called MPI_Abort with code -3"), "{said}");
    let why = "calls MPI_Open_port, which an emulated program cannot";
    let said = fail(2, |rank| match rank.id {
        1 => rank.end_with(rank::REFUSED, &[number(why.len() as u64), why.into()].concat()),
        _ => recv(rank),
    });
    assert!(said.contains(&format!("rank 1 {why}")), "{said}");
    let said = fail(2, |rank| match rank.id {
        1 => rank.end_with(rank::EXITED, &[]),
        _ => recv(rank),
    });
    assert!(said.contains("rank 1 has ended before it called MPI_Finalize"), "{said}");
    let said = fail(1, |rank| rank.call(99, &[], &[]).map(|_| ()));
    assert!(said.contains("rank 0: there is no record of code 99"), "{said}");
}

#[test]
fn ranks_that_wait_for_ever_are_named_with_their_calls() {
    let said = fail(2, |rank| rank.call(rank::RECV, &from(Some(1 - rank.id), Some(5), 8), &[]).map(|_| ()));
    assert!(said.starts_with("deadlock: "), "{said}");
    assert!(said.contains("rank 0 at 0 us in MPI_Recv from 1 with tag 5"), "{said}");
    assert!(said.contains("rank 1 at 0 us in MPI_Recv from 0 with tag 5"), "{said}");
}

/// What nobody receives ends no run: MPI does not notice that either.
#[test]
fn messages_may_be_left() {
    for is_received in [false, true] {
        let run = run(2, |rank| match rank.id {
            0 => rank.call(rank::SEND, &to(1, 4, 1), &[0]).map(|_| ()),
            _ if is_received => rank.call(rank::RECV, &from(Some(0), Some(4), 1), &[]).map(|_| ()),
            _ => Ok(()),
        });
        assert_eq!(run.trace.unwrap().faults.ended_early, !is_received);
    }
}

/// A rank that dies is missed; one that computes for ever is ended by force.
#[test]
fn a_rank_that_never_calls_again_is_ended() {
    let limit = Some(Duration::from_millis(20));
    for (dies, why) in [
        (true, "rank 1 has ended before it called MPI_Finalize"),
        (false, "rank 1 has computed for 20ms without a call of MPI"),
    ] {
        let begin = Instant::now();
        let settings = Settings { limit: limit.filter(|_| !dies), ..SETTINGS };
        let ran = emulate(2, settings, |rank| {
            if rank.id == 0 {
                return rank.call(rank::RECV, &from(Some(1), None, 8), &[]).map(|_| ());
            }
            if dies {
                rank.process.kill().unwrap();
            }
            assert_eq!(rank.process.wait().unwrap().signal(), Some(9));
            Err(Gone)
        });
        let said = ran.unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(20), "it takes {:?}", begin.elapsed());
    }
}

#[test]
fn a_program_without_ranks_ends() {
    let session = Session::new(SETTINGS, ClockKind::Virtual, 1).unwrap();
    session.end();
    assert_eq!(session.wait_for_ranks(|| false), Ok(None));
    // One of two has come.
    let session = Session::new(SETTINGS, ClockKind::Virtual, 1).unwrap();
    let [(_, path)] = session.variables();
    let _rank = Rank::attach(&path, 1, 2);
    session.end();
    let why = session.wait_for_ranks(|| false).unwrap_err();
    assert_eq!(why, "the program has ended before rank 0 came through MPI_Init");
}

/// Each rank starts an immediate collective of several steps; the last one waits for it before it does what the others wait for,
/// each in its way. So they must go on with the collective meanwhile.
fn wait_behind_a_collective(wait: impl Fn(&mut Rank) -> Result<(), Gone> + Sync) -> Run<()> {
    const P: u64 = 4;
    run(P as usize, |rank| {
        let own = pattern(rank.id, 8);
        rank.call(rank::ICOLLECTIVE, &collective(rank::ALLREDUCE, 0, None, 8, 8), &own)?;
        let is_last = rank.id == P - 1;
        if !is_last {
            wait(rank)?;
        }
        let done = rank.complete(rank::WAIT, &[Some(0)])?;
        assert_eq!(done.data, (0..P).flat_map(|rank| pattern(rank, 8)).collect::<Vec<u8>>());
        if is_last {
            (0..P - 1).try_for_each(|peer| rank.call(rank::SEND, &to(peer, 1, 4), b"done").map(|_| ()))?;
        }
        Ok(())
    })
}

#[test]
fn a_rank_that_receives_goes_on_with_its_collectives() {
    let receive = |rank: &mut Rank| -> Result<(), Gone> {
        let got = rank.call(rank::RECV, &from(Some(3), Some(1), 4), &[])?;
        assert_eq!((got.words, &*got.data), (vec![3, 1, 4], &b"done"[..]));
        Ok(())
    };
    let run = wait_behind_a_collective(receive);
    // Two exchanges, in which a rank posts a receive before it posts its send, and then the last one of three messages.
    let exchange = US + message(8);
    assert_eq!(run.time, 2 * exchange + 2 * (2 * US + 3 * NS) + message(4));
    wait_behind_a_collective(|rank| {
        rank.call(rank::PROBE, &from(None, Some(1), 0), &[])?;
        receive(rank)
    });
    wait_behind_a_collective(|rank| {
        while rank.call(rank::IPROBE, &from(None, Some(1), 0), &[])?.words[0] == 0 {}
        receive(rank)
    });
}

#[test]
fn a_rank_that_waits_or_tests_goes_on_with_its_collectives() {
    for code in [rank::WAIT, rank::WAITALL, rank::WAITANY, rank::TEST, rank::TESTANY] {
        wait_behind_a_collective(|rank| {
            rank.call(rank::IRECV, &from(Some(3), Some(1), 4), &[])?;
            while rank.complete(code, &[Some(1)])?.data != b"done" {}
            Ok(())
        });
    }
}

/// So does one that is in another collective, or in a send that waits for its receiver.
#[test]
fn a_rank_in_a_collective_or_a_send_goes_on_with_its_others() {
    const P: u64 = 4;
    let of_others = |others: &(dyn Fn(&mut Rank) -> Result<(), Gone> + Sync)| {
        run(P as usize, |rank| {
            rank.call(rank::ICOLLECTIVE, &collective(rank::ALLREDUCE, 0, None, 8, 8), &pattern(rank.id, 8))?;
            if rank.id == P - 1 {
                rank.complete(rank::WAIT, &[Some(0)])?;
                return others(rank);
            }
            others(rank)?;
            rank.complete(rank::WAIT, &[Some(0)]).map(|_| ())
        })
    };
    for kind in [rank::BARRIER, rank::ALLREDUCE, rank::ALLTOALL] {
        of_others(&|rank| {
            let bytes = if kind == rank::BARRIER { 0 } else { 8 };
            let sent = bytes * if kind == rank::ALLTOALL { P as usize } else { 1 };
            let body = collective(kind, 0, None, bytes as u64, bytes as u64);
            rank.call(rank::COLLECTIVE, &body, &pattern(rank.id, sent)).map(|_| ())
        });
    }
    of_others(&|rank| match rank.id {
        3 => (0..P - 1)
            .try_for_each(|peer| rank.call(rank::RECV, &from(Some(peer), Some(1), 4), &[]).map(|_| ())),
        _ => rank.call(rank::SSEND, &to(3, 1, 4), b"here").map(|_| ()),
    });
}
