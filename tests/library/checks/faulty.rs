//! Tests of checks with lost messages, messages that come twice, and crashes: the faults drawn, the failures
//! found, and their repetition.

use loggp::audit::audit;
use loggp::check::{Check, Failure, FailureKind, Strategy};
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp::{Cause, ClockKind, Machine, Params, Proc, Run, Tag, Time, US};

const ASK: Tag<usize> = Tag::new(0);
const REPLY: Tag<usize> = Tag::new(1);
const DONE: Tag<usize> = Tag::new(2);

fn machine(P: usize) -> Machine {
    Machine::new(Params::builder(P).L(6 * US).o(US).g(2 * US).build().unwrap())
}

/// The longest time that a request and its reply can take.
const LONGEST: Time = Time::from_ps(40 * US.as_ps());

/// Processor 0 asks each other one up to `times` times, until it replies. Returns the replies.
fn ask_all(p: &mut Proc, times: usize) -> Vec<usize> {
    let mut replies = vec![0; p.P()];
    for other in 1..p.P() {
        for time in 1..=times {
            if p.id() == 0 {
                p.send(other, ASK, time);
                if let Some((from, reply)) = p.recv_deadline(REPLY.with_sender(), p.now() + LONGEST) {
                    replies[from] = reply;
                    break;
                }
            }
        }
    }
    if p.id() > 0 {
        while let Some(time) = p.recv_deadline(ASK, p.now() + (times * p.P()) as i64 * LONGEST) {
            p.send(0, REPLY, 10 * p.id() + time.min(1));
        }
    }
    replies
}

/// Repeats a failure from its file in either form, and asserts that the trace and the run are the same.
/// Returns the runs.
fn again_from_files<R: Send>(
    failure: &Failure,
    machine: &Machine,
    program: impl Fn(&mut Proc) -> R + Sync,
) -> [Run<R>; 2] {
    let (mut chrome, mut compact) = (Vec::new(), Vec::new());
    failure.trace.write(&mut chrome).unwrap();
    failure.trace.write_compact(&mut compact).unwrap();
    [chrome, compact].map(|file| {
        let read = Trace::read(&*file).unwrap();
        assert_eq!(read, failure.trace);
        assert!(audit(&read).is_clean(), "{:?}", audit(&read).violations);
        let again = machine.clone().order(&read).trace(true).run(&program).unwrap();
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));
        assert_eq!(Replay::new(&read).run().unwrap().time, again.time);
        again
    })
}

#[test]
fn program_with_more_tries_than_losses_passes() {
    for losses in [1, 2] {
        let check = Check::new().losses(losses).audits(1).runs(300);
        let checked = check.run(&machine(3), |p| ask_all(p, losses + 1)).unwrap();
        assert!(checked.has_passed(), "{checked}");
        assert_eq!(checked.audited, 300);
        // The bounds hold only without faults.
        assert_eq!(checked.probability(1), None);
        let s = if losses == 1 { "" } else { "s" };
        let said = format!(", at most {losses} message{s} lost; 300 checked against the rules");
        assert!(checked.to_string().contains(&said), "{checked}");
    }
}

#[test]
fn program_with_too_few_tries_fails_reproducibly_with_the_fewest_losses() {
    for needs in [1, 2, 3] {
        let checked = Check::new().losses(4).runs(3000).run(&machine(3), |p| ask_all(p, needs)).unwrap();
        let said = checked.to_string();
        let failure = checked.failure.unwrap_or_else(|| panic!("{needs} losses: {said}"));
        assert!(matches!(failure.kind, FailureKind::DifferentResult), "{said}");
        let lost = &failure.trace.faults.lost;
        assert_eq!((lost.len(), failure.delayed.len()), (needs, 0), "{said}");
        assert!(lost.iter().all(|id| said.contains(&format!("; {id} is lost"))), "{said}");
        assert_eq!(failure.order.faults(), &failure.trace.faults);

        let right = machine(3).run(|p| ask_all(p, needs)).unwrap();
        let again = machine(3).order(&failure.order).trace(true).run(|p| ask_all(p, needs)).unwrap();
        assert_ne!(again.results, right.results);
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));

        again_from_files(&failure, &machine(3), |p| ask_all(p, needs));
    }
}

#[test]
fn lost_message_deadlocks_its_receiver() {
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, DONE, 7),
        _ => _ = p.recv(DONE),
    };
    let failure = Check::new().losses(1).run(&machine(2), program).unwrap().failure.unwrap();
    let FailureKind::RunFailed(error) = &failure.kind else { panic!("{failure}") };
    assert_eq!(error.cause, Cause::Deadlock { waiting: 1, of: 2 });
    // The sender sees no difference, and the message is in the trace.
    assert_eq!(failure.trace.messages.len(), 1);
    assert_eq!(failure.trace.faults.lost.iter().next(), Some(&failure.trace.messages[0].id));
}

#[test]
fn losses_do_not_depend_on_the_number_of_cores() {
    let said =
        |cores| Check::new().losses(2).cores(cores).run(&machine(3), |p| ask_all(p, 2)).unwrap().to_string();
    assert_eq!(said(1), said(3));
    let other = Check::new().losses(2).seed(2).run(&machine(3), |p| ask_all(p, 2)).unwrap();
    assert_ne!(said(1), other.to_string());
}

#[test]
fn failure_without_losses_is_reduced_to_a_late_message() {
    // The result is wrong if both messages come, the second one first.
    let program = |p: &mut Proc| {
        let until = p.now() + LONGEST;
        let take = |p: &mut Proc| p.recv_deadline(DONE.with_sender(), until).map_or(0, |(from, _)| from);
        match p.id() {
            0 => [take(p), take(p)] == [2, 1],
            id => {
                p.send(0, DONE, id);
                false
            }
        }
    };
    let failure = Check::new().losses(1).run(&machine(3), program).unwrap().failure.unwrap();
    assert!(failure.trace.faults.is_empty(), "{failure}");
    assert_eq!(failure.delayed.len(), 1);
}

#[test]
fn audit_notices_wrong_losses() {
    let failure = Check::new().losses(1).run(&machine(3), |p| ask_all(p, 1)).unwrap().failure.unwrap();
    let trace = failure.trace;
    assert!(audit(&trace).is_clean());
    // The first has no losses, the second has losses of messages that came, and the third of one that was not
    // sent.
    let nothing = Trace { faults: Default::default(), ..trace.clone() };
    let mut received = trace.clone();
    received.faults.lost = trace.messages.iter().map(|message| message.id).collect();
    let mut unsent = trace.clone();
    unsent.faults.lost.insert(loggp::MessageId { from: 0, number: 99 });
    for other in [nothing, received, unsent] {
        assert!(!audit(&other).is_clean());
    }
}

#[test]
fn losses_are_refused_where_they_cannot_be_made() {
    let failure = Check::new().losses(1).run(&machine(3), |p| ask_all(p, 1)).unwrap().failure.unwrap();
    let refused = |error: loggp::RunError, says: &str| {
        assert!(matches!(error.cause, Cause::Params(_)), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let wall = machine(3).clock(ClockKind::Wall).order(&failure.trace);
    refused(wall.run(|p| ask_all(p, 1)).unwrap_err(), "on the virtual clock only");
    let systematic = Check::new().strategy(Strategy::Systematic).losses(1);
    refused(systematic.run(&machine(3), |p| ask_all(p, 1)).unwrap_err(), "which are drawn");
    let other = Replay::new(&failure.trace).params(Params { L: US, ..failure.trace.params });
    refused(other.run().unwrap_err(), "only as it was");
}

/// The result of each processor, whether it knows the datum of processor 0; `None` for processors that
/// crashed.
type SurvivorResults = [Option<Option<usize>>];

/// Processor 0 tells a datum to all others, and so do the next `relays` processors, since those before may
/// crash.
fn tell_others(p: &mut Proc, relays: usize) -> Option<usize> {
    let take = |p: &mut Proc| p.recv_deadline(DONE, p.now() + 4 * LONGEST);
    let got = if p.id() == 0 { Some(42) } else { take(p) };
    if let Some(datum) = got.filter(|_| p.id() <= relays) {
        (1..p.P()).for_each(|other| p.send(other, DONE, datum));
    }
    while take(p).is_some() {}
    got
}

fn all_or_none(got: &SurvivorResults) -> Result<(), String> {
    let alive: Vec<_> = got[1..].iter().flatten().collect();
    let informed = alive.iter().filter(|got| got.is_some()).count();
    if informed == 0 || informed == alive.len() {
        Ok(())
    } else {
        Err(format!("{informed} of {} know it", alive.len()))
    }
}

#[test]
fn as_many_relays_as_crashes_are_enough_and_fewer_are_not() {
    for crashes in [1, 2] {
        let check = Check::new().crashes(crashes).audits(1);
        let right = check.run_surviving(&machine(5), |p| tell_others(p, crashes), all_or_none).unwrap();
        assert!(right.has_passed(), "{right}");
        assert_eq!(right.audited, 1000);
        let results = right.results.iter().map(|class| &class.result);
        let crashed: Vec<_> = results.map(|got| got.iter().filter(|got| got.is_none()).count()).collect();
        assert_eq!((crashed.iter().min(), crashed.iter().max()), (Some(&0), Some(&crashes)));

        let program = |p: &mut Proc| tell_others(p, crashes - 1);
        let wrong = check.run_surviving(&machine(5), program, all_or_none).unwrap();
        let said = wrong.to_string();
        let failure = wrong.failure.unwrap_or_else(|| panic!("{said}"));
        assert!(matches!(failure.kind, FailureKind::WrongResult(_)), "{said}");
        let those = failure.trace.faults.crashed.clone();
        assert_eq!((those.len(), failure.delayed.len()), (crashes, 0), "{said}");
        for (id, number) in &those {
            assert!(
                said.contains(&format!("; processor {id} crashes before its message {number}")),
                "{said}"
            );
            // It sent nothing after the crash.
            assert_eq!(
                failure.trace.messages.iter().filter(|message| message.id.from == *id).count(),
                *number
            );
        }
        let mut file = Vec::new();
        failure.trace.write(&mut file).unwrap();
        let read = Trace::read(&*file).unwrap();
        assert!(audit(&read).is_clean(), "{:?}", audit(&read).violations);
        let again = machine(5).order(&read).trace(true).run_surviving(program).unwrap();
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));
        assert!(all_or_none(&again.results).is_err());
        let none: Vec<usize> = (0..5).filter(|id| again.results[*id].is_none()).collect();
        assert_eq!(none, those.keys().copied().collect::<Vec<_>>());

        // A run that must have all results fails with the crash.
        let error = machine(5).order(&read).run(program).unwrap_err();
        assert_eq!(error.cause, Cause::Crashed { id: none[0] });
        let error = Replay::new(&read).run().unwrap_err().to_string();
        assert!(error.contains("a processor crashed"), "{error}");
    }
}

#[test]
fn crash_deadlocks_the_receiver() {
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, DONE, 7),
        _ => _ = p.recv(DONE),
    };
    let check = Check::new().crashes(1);
    let failure = check.run_surviving(&machine(2), program, |_| Ok(())).unwrap().failure.unwrap();
    let said = failure.to_string();
    let FailureKind::RunFailed(error) = &failure.kind else { panic!("{said}") };
    assert_eq!(error.cause, Cause::Deadlock { waiting: 1, of: 2 });
    assert!(said.contains("\n  processor 0 at 0 us had crashed\n"), "{said}");
    assert!(said.contains("; processor 0 crashes before its message 0"), "{said}");
}

#[test]
fn program_that_catches_its_crash_stays_crashed() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    let dropped = AtomicUsize::new(0);
    struct DropCounter<'a>(&'a AtomicUsize);
    impl Drop for DropCounter<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let program = |p: &mut Proc| {
        let _counts = DropCounter(&dropped);
        for _ in 0..3 {
            if p.id() == 0 {
                drop(catch_unwind(AssertUnwindSafe(|| p.send(1, DONE, 7))));
                drop(catch_unwind(AssertUnwindSafe(|| p.wait_until(p.now() + US))));
            }
        }
        while p.id() == 1 && p.recv_deadline(DONE, p.now() + LONGEST).is_some() {}
    };
    let got = |got: &[Option<()>]| if got[0].is_some() { Ok(()) } else { Err("0 has crashed".to_string()) };
    let failure = Check::new().crashes(1).run_surviving(&machine(2), program, got).unwrap().failure.unwrap();
    let number = failure.trace.faults.crashed[&0];
    assert_eq!(failure.trace.messages.len(), number);
    let before = dropped.load(Ordering::Relaxed);
    let again = machine(2).order(&failure.order).run_surviving(program).unwrap();
    assert_eq!(again.results, [None, Some(())]);
    assert_eq!(dropped.load(Ordering::Relaxed) - before, 2);
}

/// Runs with requests and exchanges keep the rules wherever a processor crashes.
#[test]
fn runs_with_crashes_pass_the_audit() {
    let program = |p: &mut Proc| {
        let (id, P) = (p.id(), p.P());
        p.work("think", 3 + id as u64, || ());
        let requests: Vec<_> = (0..2).map(|n| p.isend((id + 1) % P, REPLY, n)).collect();
        for request in requests {
            p.wait(request);
        }
        let mut got = 0;
        p.send_receiving((id + 2) % P, ASK, id, DONE, |_, _| ());
        p.send((id + 1) % P, DONE, id);
        let until = p.now() + 4 * LONGEST;
        while p.recv_deadline(DONE, until).is_some() || p.recv_deadline(ASK, until).is_some() {
            got += 1;
        }
        got
    };
    for latency in [loggp::Latency::Exact, loggp::Latency::Random { seed: 3 }] {
        let machine = machine(4).latency(latency);
        // The first run has no faults, so it must leave no messages.
        let check = Check::new().crashes(2).losses(1).audits(1).runs(400);
        let program = |p: &mut Proc| {
            let got = program(p);
            let until = p.now() + 4 * LONGEST;
            while p.recv_deadline(REPLY, until).is_some() {}
            got
        };
        let checked = check.run_surviving(&machine, program, |_| Ok(())).unwrap();
        assert!(checked.has_passed(), "{checked}");
        assert_eq!(checked.audited, 400);
    }
}

#[test]
fn audit_notices_wrong_crashes() {
    let check = Check::new().crashes(1);
    let failure =
        check.run_surviving(&machine(5), |p| tell_others(p, 0), all_or_none).unwrap().failure.unwrap();
    let trace = failure.trace;
    assert!(audit(&trace).is_clean());
    let mut earlier = trace.clone();
    earlier.faults.crashed.insert(0, 0);
    // Messages that were never received are allowed only because of the crash.
    let mut nothing = trace.clone();
    nothing.faults.crashed.clear();
    nothing.activities.retain(|activity| !matches!(activity.kind, loggp::trace::ActivityKind::Receive(_)));
    for other in [earlier, nothing] {
        assert!(!audit(&other).is_clean());
    }
}

/// Processor 0 adds the amounts of the others until no more come, and may ignore copies.
fn add_numbers(p: &mut Proc, ignores_copies: bool) -> usize {
    if p.id() > 0 {
        (0..3).for_each(|number| p.send(0, NUMBERED, (number, vec![p.id(); 3])));
        return 0;
    }
    let (mut sum, mut before) = (0, Vec::new());
    while let Some((from, (number, amounts))) = p.recv_deadline(NUMBERED.with_sender(), p.now() + LONGEST) {
        if !(ignores_copies && before.contains(&(from, number))) {
            sum += amounts.iter().sum::<usize>();
        }
        before.push((from, number));
    }
    sum
}

const NUMBERED: Tag<(usize, Vec<usize>)> = Tag::new(3);

#[test]
fn duplicates_fail_a_program_that_does_not_ignore_them() {
    let check = Check::new().duplicates(3).audits(1);
    let right = check.run(&machine(4), |p| add_numbers(p, true)).unwrap();
    assert!(right.has_passed(), "{right}");
    assert_eq!(right.audited, 1000);
    assert!(right.to_string().contains(", at most 3 messages twice; "), "{right}");

    let wrong = check.run(&machine(4), |p| add_numbers(p, false)).unwrap();
    let (said, failure) = (wrong.to_string(), wrong.failure.unwrap());
    assert!(matches!(failure.kind, FailureKind::DifferentResult), "{said}");
    assert_eq!((failure.trace.faults.twice.len(), failure.delayed.len()), (1, 0), "{said}");
    let (id, later) = failure.trace.faults.twice.first_key_value().unwrap();
    assert!(said.contains(&format!("; {id} comes again {later} later")), "{said}");
    assert!(*later > Time::ZERO && *later <= 6 * US);
    // The message is received twice, and costs o each time.
    let is_it =
        |activity: &&loggp::trace::Activity| activity.kind == loggp::trace::ActivityKind::Receive(*id);
    let received: Vec<_> = failure.trace.activities.iter().filter(is_it).collect();
    assert_eq!(received.iter().map(|activity| activity.end - activity.start).collect::<Vec<_>>(), [US, US]);

    for again in again_from_files(&failure, &machine(4), |p| add_numbers(p, false)) {
        assert_eq!(again.results[0], 3 * 3 * (1 + 2 + 3) + 3 * id.from);
    }
    // The trace must have each copy, and its delay.
    let nothing = Trace { faults: Default::default(), ..failure.trace.clone() };
    assert!(!audit(&nothing).is_clean());
    let mut late = failure.trace.clone();
    late.faults.twice.insert(*id, 1000 * US);
    assert!(!audit(&late).is_clean());
}

#[test]
fn a_message_that_comes_twice_must_be_received_once() {
    let once = |p: &mut Proc| match p.id() {
        0 => p.send(1, DONE, 7),
        _ => _ = p.recv(DONE),
    };
    let right = Check::new().duplicates(1).audits(1).run(&machine(2), once).unwrap();
    assert!(right.has_passed(), "{right}");
    // Processor 1 leaves a message if the other one comes first.
    let never = |p: &mut Proc| match p.id() {
        1 => while p.recv_deadline(ASK, p.now() + LONGEST).is_some_and(|word| word != 1) {},
        _ => (0..2).for_each(|word| p.send(1, ASK, word)),
    };
    let failure = Check::new().duplicates(1).run(&machine(2), never).unwrap().failure.unwrap();
    let FailureKind::RunFailed(error) = &failure.kind else { panic!("{failure}") };
    assert!(matches!(error.cause, Cause::NotReceived { count: 1, .. }), "{failure}");
}

#[test]
fn message_that_cannot_be_packed_cannot_come_twice() {
    struct Unpackable(usize);
    impl loggp::Payload for Unpackable {
        fn bytes(&self) -> usize {
            self.0
        }
    }
    const UNPACKABLE: Tag<Unpackable> = Tag::new(4);
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, UNPACKABLE, Unpackable(8)),
        _ => _ = p.recv(UNPACKABLE),
    };
    let error = Check::new().duplicates(1).run(&machine(2), program).unwrap_err();
    assert!(matches!(error.cause, Cause::Params(_)), "{error}");
    assert!(error.to_string().contains("Unpackable cannot come twice"), "{error}");
}

/// Tries all faults together, with requests, on a machine on which no message overtakes another.
#[test]
fn runs_with_all_faults_under_loggps_pass_the_audit() {
    let machine = |S: usize| {
        let params = format!("L=6,o=1,g=2,S={S},s=1,O_s=0,O_r=0,G_s=1ns,G_l=2ns");
        Machine::new(Params::builder(3).set(&params).unwrap().build().unwrap())
    };
    let program = |p: &mut Proc, length: usize| {
        let (id, P) = (p.id(), p.P());
        let request = p.isend((id + 1) % P, NUMBERED, (id, vec![id; length]));
        p.send((id + 2) % P, DONE, id);
        let until = p.now() + 4 * LONGEST;
        let mut sum = 0;
        while let Some(got) = p.recv_deadline(DONE, until) {
            sum += got;
        }
        while let Some((got, _)) = p.recv_deadline(NUMBERED, until + LONGEST) {
            sum += got;
        }
        p.wait(request);
        sum
    };
    let check = Check::new().losses(1).crashes(1).duplicates(2).audits(1).runs(500);
    let checked = check.run_surviving(&machine(100), |p| program(p, 20), |_| Ok(())).unwrap();
    assert!(checked.has_passed() && checked.audited == 500, "{checked}");
    // A message by rendezvous comes once, and waits for ever if its request is lost.
    let twice = Check::new().duplicates(2).audits(1).runs(500).results_may_differ(true);
    let checked = twice.run(&machine(10), |p| program(p, 20)).unwrap();
    assert!(checked.has_passed() && checked.audited == 500, "{checked}");
    let failure = check.run_surviving(&machine(10), |p| program(p, 20), |_| Ok(())).unwrap().failure.unwrap();
    let FailureKind::RunFailed(error) = failure.kind else { panic!("{failure}") };
    assert!(matches!(error.cause, Cause::Deadlock { .. }), "{error}");
}
