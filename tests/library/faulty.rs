//! Checks of programs whose messages are lost or come twice, and whose processors crash: what is drawn, what is found, and
//! what is repeated.

use loggp::{
    Cause, Check, ClockKind, Failure, Machine, Params, Proc, Replay, Run, Strategy, Tag, Time, Trace, US,
    Wrong, audit,
};

const ASK: Tag<usize> = Tag::new(0);
const REPLY: Tag<usize> = Tag::new(1);
const DONE: Tag<usize> = Tag::new(2);

fn machine(P: usize) -> Machine {
    Machine::new(Params::builder(P).L(6 * US).o(US).g(2 * US).build().unwrap())
}

/// How long a request and its reply can take.
const LONGEST: Time = Time::from_ps(40 * US.as_ps());

/// Processor 0 asks each other one, so often at most, until that replies. What it got comes back.
fn asks(p: &mut Proc, times: usize) -> Vec<usize> {
    let mut replies = vec![0; p.p()];
    for other in 1..p.p() {
        for time in 1..=times {
            if p.id() == 0 {
                p.send(other, ASK, time);
                if let Some((from, reply)) = p.recv_until(p.now() + LONGEST, REPLY) {
                    replies[from] = reply;
                    break;
                }
            }
        }
    }
    if p.id() > 0 {
        while let Some((_, time)) = p.recv_until(p.now() + (times * p.p()) as i64 * LONGEST, ASK) {
            p.send(0, REPLY, 10 * p.id() + time.min(1));
        }
    }
    replies
}

/// Runs a failure again from its file, in either form: the file is read as it was written, and the run is the same. Returns
/// the runs.
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
        let again = machine.clone().repeat(&read).trace(true).run(&program).unwrap();
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));
        assert_eq!(Replay::of(&read).run().unwrap().time, again.time);
        read.timeline().write(&mut Vec::new()).unwrap();
        again
    })
}

#[test]
fn a_program_that_asks_once_more_than_messages_are_lost_is_right() {
    for losses in [1, 2] {
        let check = Check::new().losses(losses).audits(1).runs(300);
        let checked = check.run(&machine(3), |p| asks(p, losses + 1)).unwrap();
        assert!(checked.is_right(), "{checked}");
        assert_eq!(checked.audited, 300);
        // The bounds are those of failures without faults.
        assert_eq!(checked.probability(1), None);
        let s = if losses == 1 { "" } else { "s" };
        let said = format!(", at most {losses} message{s} lost; 300 held");
        assert!(checked.to_string().contains(&said), "{checked}");
    }
}

#[test]
fn a_program_that_asks_too_seldom_fails_with_as_few_losses_as_it_needs_and_does_so_again() {
    for needs in [1, 2, 3] {
        let checked = Check::new().losses(4).runs(3000).run(&machine(3), |p| asks(p, needs)).unwrap();
        let said = checked.to_string();
        let failure = checked.failure.unwrap_or_else(|| panic!("{needs} losses: {said}"));
        assert!(matches!(failure.wrong, Wrong::Differs), "{said}");
        let lost = &failure.trace.faults.lost;
        assert_eq!((lost.len(), failure.late.len()), (needs, 0), "{said}");
        assert!(lost.iter().all(|id| said.contains(&format!("; {id} is lost"))), "{said}");
        assert_eq!(failure.order.faults(), &failure.trace.faults);

        let right = machine(3).run(|p| asks(p, needs)).unwrap();
        let again = machine(3).ordered(&failure.order).trace(true).run(|p| asks(p, needs)).unwrap();
        assert_ne!(again.results, right.results);
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));

        again_from_files(&failure, &machine(3), |p| asks(p, needs));
    }
}

#[test]
fn who_waits_for_ever_for_a_message_that_is_lost_fails() {
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, DONE, 7),
        _ => _ = p.recv(DONE),
    };
    let failure = Check::new().losses(1).run(&machine(2), program).unwrap().failure.unwrap();
    let Wrong::Failed(error) = &failure.wrong else { panic!("{failure}") };
    assert_eq!(error.cause, Cause::Deadlock { waiting: 1, of: 2 });
    // The sender sees no difference: the message is in the trace, and costs what it costs.
    assert_eq!(failure.trace.messages.len(), 1);
    assert_eq!(failure.trace.faults.lost.iter().next(), Some(&failure.trace.messages[0].id));
}

#[test]
fn the_same_seed_loses_the_same_on_however_many_cores() {
    let said =
        |cores| Check::new().losses(2).cores(cores).run(&machine(3), |p| asks(p, 2)).unwrap().to_string();
    assert_eq!(said(1), said(3));
    let other = Check::new().losses(2).seed(2).run(&machine(3), |p| asks(p, 2)).unwrap();
    assert_ne!(said(1), other.to_string());
}

#[test]
fn a_run_that_needs_a_late_message_and_no_loss_is_reduced_to_that() {
    // It is wrong when both come, and the second first.
    let program = |p: &mut Proc| {
        let until = p.now() + LONGEST;
        let take = |p: &mut Proc| p.recv_until(until, DONE).map_or(0, |(from, _)| from);
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
    assert_eq!(failure.late.len(), 1);
}

#[test]
fn nobody_audits_away_a_message_that_was_lost() {
    let failure = Check::new().losses(1).run(&machine(3), |p| asks(p, 1)).unwrap().failure.unwrap();
    let trace = failure.trace;
    assert!(audit(&trace).is_clean());
    // Nothing was lost, says one; what came was lost, says another; what was never sent was, says the third.
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
fn what_has_no_losses_refuses_them_in_a_sentence() {
    let failure = Check::new().losses(1).run(&machine(3), |p| asks(p, 1)).unwrap().failure.unwrap();
    let refused = |error: loggp::RunError, says: &str| {
        assert!(matches!(error.cause, Cause::Params(_)), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let wall = machine(3).clock(ClockKind::Wall).repeat(&failure.trace);
    refused(wall.run(|p| asks(p, 1)).unwrap_err(), "on the virtual clock only");
    let systematic = Check::new().strategy(Strategy::Systematic).losses(1);
    refused(systematic.run(&machine(3), |p| asks(p, 1)).unwrap_err(), "which are drawn");
    let other = Replay::of(&failure.trace).params(Params { L: US, ..failure.trace.params });
    refused(other.run().unwrap_err(), "only as it was");
}

/// What the processors of a run make of a datum that processor 0 has; `None` is one that has crashed.
type Told = [Option<Option<usize>>];

/// Processor 0 tells all others; the next `relays` tell it again, since those before may crash meanwhile.
fn tells(p: &mut Proc, relays: usize) -> Option<usize> {
    let take = |p: &mut Proc| p.recv_until(p.now() + 4 * LONGEST, DONE).map(|(_, datum)| datum);
    let got = if p.id() == 0 { Some(42) } else { take(p) };
    if let Some(datum) = got.filter(|_| p.id() <= relays) {
        (1..p.p()).for_each(|other| p.send(other, DONE, datum));
    }
    while take(p).is_some() {}
    got
}

fn all_or_none(got: &Told) -> Result<(), String> {
    let alive: Vec<_> = got[1..].iter().flatten().collect();
    let knows = alive.iter().filter(|got| got.is_some()).count();
    if knows == 0 || knows == alive.len() {
        Ok(())
    } else {
        Err(format!("{knows} of {} know it", alive.len()))
    }
}

#[test]
fn as_many_relays_as_crashes_are_enough_and_fewer_are_not() {
    for crashes in [1, 2] {
        let check = Check::new().crashes(crashes).audits(1);
        let right = check.run_surviving(&machine(5), |p| tells(p, crashes), all_or_none).unwrap();
        assert!(right.is_right(), "{right}");
        assert_eq!(right.audited, 1000);
        let results = right.classes.iter().map(|class| &class.result);
        let crashed: Vec<_> = results.map(|got| got.iter().filter(|got| got.is_none()).count()).collect();
        assert_eq!((crashed.iter().min(), crashed.iter().max()), (Some(&0), Some(&crashes)));

        let program = |p: &mut Proc| tells(p, crashes - 1);
        let wrong = check.run_surviving(&machine(5), program, all_or_none).unwrap();
        let said = wrong.to_string();
        let failure = wrong.failure.unwrap_or_else(|| panic!("{said}"));
        assert!(matches!(failure.wrong, Wrong::NotRight(_)), "{said}");
        let those = failure.trace.faults.crashed.clone();
        assert_eq!((those.len(), failure.late.len()), (crashes, 0), "{said}");
        for (id, number) in &those {
            assert!(
                said.contains(&format!("; processor {id} crashes before its message {number}")),
                "{said}"
            );
            // All that it has sent it sent before.
            assert_eq!(
                failure.trace.messages.iter().filter(|message| message.id.from == *id).count(),
                *number
            );
        }
        let mut file = Vec::new();
        failure.trace.write(&mut file).unwrap();
        let read = Trace::read(&*file).unwrap();
        assert!(audit(&read).is_clean(), "{:?}", audit(&read).violations);
        let again = machine(5).repeat(&read).trace(true).run_surviving(program).unwrap();
        assert_eq!(again.trace.as_ref(), Some(&failure.trace));
        read.timeline().write(&mut Vec::new()).unwrap();
        assert!(all_or_none(&again.results).is_err());
        let none: Vec<usize> = (0..5).filter(|id| again.results[*id].is_none()).collect();
        assert_eq!(none, those.keys().copied().collect::<Vec<_>>());

        // Who asks for all results gets none, and hears why.
        let error = machine(5).repeat(&read).run(program).unwrap_err();
        assert_eq!(error.cause, Cause::Crashed { id: none[0] });
        let error = Replay::of(&read).run().unwrap_err().to_string();
        assert!(error.contains("a processor crashed"), "{error}");
    }
}

#[test]
fn who_waits_for_ever_for_a_processor_that_has_crashed_fails() {
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, DONE, 7),
        _ => _ = p.recv(DONE),
    };
    let check = Check::new().crashes(1);
    let failure = check.run_surviving(&machine(2), program, |_| Ok(())).unwrap().failure.unwrap();
    let said = failure.to_string();
    let Wrong::Failed(error) = &failure.wrong else { panic!("{said}") };
    assert_eq!(error.cause, Cause::Deadlock { waiting: 1, of: 2 });
    assert!(said.contains("\n  processor 0 at 0 us had crashed\n"), "{said}");
    assert!(said.contains("; processor 0 crashes before its message 0"), "{said}");
}

#[test]
fn a_program_that_catches_its_crash_does_nothing_any_more_either() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    let dropped = AtomicUsize::new(0);
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let program = |p: &mut Proc| {
        let _counts = Counts(&dropped);
        for _ in 0..3 {
            if p.id() == 0 {
                drop(catch_unwind(AssertUnwindSafe(|| p.send(1, DONE, 7))));
                drop(catch_unwind(AssertUnwindSafe(|| p.wait_until(p.now() + US))));
            }
        }
        while p.id() == 1 && p.recv_until(p.now() + LONGEST, DONE).is_some() {}
    };
    let got = |got: &[Option<()>]| if got[0].is_some() { Ok(()) } else { Err("0 has crashed".to_string()) };
    let failure = Check::new().crashes(1).run_surviving(&machine(2), program, got).unwrap().failure.unwrap();
    let number = failure.trace.faults.crashed[&0];
    assert_eq!(failure.trace.messages.len(), number);
    let before = dropped.load(Ordering::Relaxed);
    let again = machine(2).ordered(&failure.order).run_surviving(program).unwrap();
    assert_eq!(again.results, [None, Some(())]);
    assert_eq!(dropped.load(Ordering::Relaxed) - before, 2);
}

/// Requests, exchanges, and collectives in between: what of it a processor has done when it crashes keeps to the rules.
#[test]
fn whatever_a_processor_does_when_it_crashes_the_others_keep_to_the_rules() {
    let program = |p: &mut Proc| {
        let (id, P) = (p.id(), p.p());
        p.work("think", 3 + id as u64, || ());
        let requests: Vec<_> = (0..2).map(|n| p.isend((id + 1) % P, REPLY, n)).collect();
        for request in requests {
            p.wait(request);
        }
        let mut got = 0;
        p.send_receiving((id + 2) % P, ASK, id, DONE, |_, _, _| ());
        p.send((id + 1) % P, DONE, id);
        let until = p.now() + 4 * LONGEST;
        while p.recv_until(until, DONE).is_some() || p.recv_until(until, ASK).is_some() {
            got += 1;
        }
        got
    };
    for latency in [loggp::Latency::Exact, loggp::Latency::Random { seed: 3 }] {
        let machine = machine(4).latency(latency);
        // It would fail if the first run left messages; that is looked at without faults.
        let check = Check::new().crashes(2).losses(1).audits(1).runs(400);
        let program = |p: &mut Proc| {
            let got = program(p);
            let until = p.now() + 4 * LONGEST;
            while p.recv_until(until, REPLY).is_some() {}
            got
        };
        let checked = check.run_surviving(&machine, program, |_| Ok(())).unwrap();
        assert!(checked.is_right(), "{checked}");
        assert_eq!(checked.audited, 400);
    }
}

#[test]
fn nobody_audits_away_a_crash() {
    let check = Check::new().crashes(1);
    let failure = check.run_surviving(&machine(5), |p| tells(p, 0), all_or_none).unwrap().failure.unwrap();
    let trace = failure.trace;
    assert!(audit(&trace).is_clean());
    let mut earlier = trace.clone();
    earlier.faults.crashed.insert(0, 0);
    // The crashed sender's messages to others that nobody received are right only because of the crash.
    let mut nothing = trace.clone();
    nothing.faults.crashed.clear();
    nothing.activities.retain(|activity| !matches!(activity.what, loggp::ActivityKind::Receive(_)));
    for other in [earlier, nothing] {
        assert!(!audit(&other).is_clean());
    }
}

/// Processor 0 adds what the others send, until nothing more comes; what has come before only if it does not know that.
fn adds(p: &mut Proc, knows: bool) -> usize {
    if p.id() > 0 {
        (0..3).for_each(|number| p.send(0, NUMBERED, (number, vec![p.id(); 3])));
        return 0;
    }
    let (mut sum, mut before) = (0, Vec::new());
    while let Some((from, (number, amounts))) = p.recv_until(p.now() + LONGEST, NUMBERED) {
        if !(knows && before.contains(&(from, number))) {
            sum += amounts.iter().sum::<usize>();
        }
        before.push((from, number));
    }
    sum
}

const NUMBERED: Tag<(usize, Vec<usize>)> = Tag::new(3);

#[test]
fn who_knows_what_has_come_before_is_right_and_who_does_not_is_not() {
    let check = Check::new().duplicates(3).audits(1);
    let right = check.run(&machine(4), |p| adds(p, true)).unwrap();
    assert!(right.is_right(), "{right}");
    assert_eq!(right.audited, 1000);
    assert!(right.to_string().contains(", at most 3 messages twice; "), "{right}");

    let wrong = check.run(&machine(4), |p| adds(p, false)).unwrap();
    let (said, failure) = (wrong.to_string(), wrong.failure.unwrap());
    assert!(matches!(failure.wrong, Wrong::Differs), "{said}");
    assert_eq!((failure.trace.faults.twice.len(), failure.late.len()), (1, 0), "{said}");
    let (id, later) = failure.trace.faults.twice.first_key_value().unwrap();
    assert!(said.contains(&format!("; {id} comes again {later} later")), "{said}");
    assert!(*later > Time::ZERO && *later <= 6 * US);
    // It is received twice, and costs o each time.
    let is_it = |activity: &&loggp::Activity| activity.what == loggp::ActivityKind::Receive(*id);
    let received: Vec<_> = failure.trace.activities.iter().filter(is_it).collect();
    assert_eq!(received.iter().map(|activity| activity.end - activity.start).collect::<Vec<_>>(), [US, US]);

    for again in again_from_files(&failure, &machine(4), |p| adds(p, false)) {
        assert_eq!(again.results[0], 3 * 3 * (1 + 2 + 3) + 3 * id.from);
    }
    // Nobody comes twice unless the trace says so, and nobody later than it says.
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
    assert!(right.is_right(), "{right}");
    // Processor 1 leaves a message if another one comes first.
    let never = |p: &mut Proc| match p.id() {
        1 => while p.recv_until(p.now() + LONGEST, ASK).is_some_and(|(_, word)| word != 1) {},
        _ => (0..2).for_each(|word| p.send(1, ASK, word)),
    };
    let failure = Check::new().duplicates(1).run(&machine(2), never).unwrap().failure.unwrap();
    let Wrong::Failed(error) = &failure.wrong else { panic!("{failure}") };
    assert!(matches!(error.cause, Cause::NotReceived { count: 1, .. }), "{failure}");
}

#[test]
fn what_cannot_be_packed_cannot_come_twice() {
    struct Own(usize);
    impl loggp::Payload for Own {
        fn bytes(&self) -> usize {
            self.0
        }
    }
    const OWN: Tag<Own> = Tag::new(4);
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, OWN, Own(8)),
        _ => _ = p.recv(OWN),
    };
    let error = Check::new().duplicates(1).run(&machine(2), program).unwrap_err();
    assert!(matches!(error.cause, Cause::Params(_)), "{error}");
    assert!(error.to_string().contains("Own cannot come twice"), "{error}");
}

/// All faults together, with requests, on a machine on which no message overtakes another.
#[test]
fn whatever_goes_wrong_on_a_machine_of_loggps_the_rules_hold() {
    let machine = |S: usize| {
        let params = format!("L=6,o=1,g=2,S={S},s=1,O_s=0,O_r=0,G_s=1ns,G_l=2ns");
        Machine::new(Params::builder(3).set(&params).unwrap().build().unwrap())
    };
    let program = |p: &mut Proc, length: usize| {
        let (id, P) = (p.id(), p.p());
        let request = p.isend((id + 1) % P, NUMBERED, (id, vec![id; length]));
        p.send((id + 2) % P, DONE, id);
        let until = p.now() + 4 * LONGEST;
        let mut sum = 0;
        while let Some((_, got)) = p.recv_until(until, DONE) {
            sum += got;
        }
        while let Some((_, (got, _))) = p.recv_until(until + LONGEST, NUMBERED) {
            sum += got;
        }
        p.wait(request);
        sum
    };
    let check = Check::new().losses(1).crashes(1).duplicates(2).audits(1).runs(500);
    let checked = check.run_surviving(&machine(100), |p| program(p, 20), |_| Ok(())).unwrap();
    assert!(checked.is_right() && checked.audited == 500, "{checked}");
    // A message that asks for its way first comes once, and waits for ever if what it asks is lost.
    let twice = Check::new().duplicates(2).audits(1).runs(500).results_may_differ(true);
    let checked = twice.run(&machine(10), |p| program(p, 20)).unwrap();
    assert!(checked.is_right() && checked.audited == 500, "{checked}");
    let failure = check.run_surviving(&machine(10), |p| program(p, 20), |_| Ok(())).unwrap().failure.unwrap();
    let Wrong::Failed(error) = failure.wrong else { panic!("{failure}") };
    assert!(matches!(error.cause, Cause::Deadlock { .. }), "{error}");
}
