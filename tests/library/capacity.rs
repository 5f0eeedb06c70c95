//! Machines with a capacity that is not the usual one, on which a message is in transit until it is received, or holds
//! a credit: hand-computed times, deadlocks, and what the auditor and the checks make of it. The oracle tests random
//! programs on such machines.

use loggp::audit::{AuditRule, audit};
use loggp::check::{Check, Strategy};
use loggp::replay::Replay;
use loggp::trace::{ActivityKind, Trace};
use loggp::{Capacity, ClockKind, Dilation, Machine, Params, Proc, Tag, US};

const WORD: Tag<u64> = Tag::new(0);

/// Returns a machine with times in us, which traces.
fn machine(P: usize, text: &str) -> Machine {
    let params = Params::builder(P).set(text).unwrap().build().unwrap();
    Machine::new(params).capacity(Capacity::Received).trace(true)
}

/// All send a word to processor 0, which only receives.
fn gather(p: &mut Proc) {
    match p.id() {
        0 => (1..p.P()).for_each(|_| _ = p.recv(WORD)),
        _ => p.send(0, WORD, 1),
    }
}

/// Returns the times at which messages enter, in us, in their order.
fn entries(trace: &Trace) -> Vec<f64> {
    let mut entries: Vec<f64> = trace.messages.iter().map(|message| message.enter.in_units(US)).collect();
    entries.sort_by(f64::total_cmp);
    entries
}

/// "All but L/g processors will stall on the first send and then one will send to processor 0 every g cycles"
/// (LogP, section 4.1.2), also where L is no multiple of g, or o is longer than g.
#[test]
fn one_enters_for_each_that_is_received() {
    let entries_at = |text: &str| {
        let run = machine(8, text).run(gather).unwrap();
        let trace = run.trace.as_ref().unwrap();
        assert_eq!(audit(trace).violations, []);
        assert_eq!((run.stalls(), run.most_in_transit()), (5, 2));
        entries(trace)
    };
    // The first two arrive at 8, and are received at 8 and 12.
    assert_eq!(entries_at("L=6,o=2,g=4"), [2.0, 2.0, 8.0, 12.0, 16.0, 20.0, 24.0]);
    assert_eq!(entries_at("L=8,o=2,g=4"), [2.0, 2.0, 10.0, 14.0, 18.0, 22.0, 26.0]);
    assert_eq!(entries_at("L=6,o=5,g=4"), [5.0, 5.0, 11.0, 16.0, 21.0, 26.0, 31.0]);
    // Where a message is in transit until it arrives, two enter in each L.
    let run = machine(8, "L=6,o=2,g=4").capacity(Capacity::Arrived).run(gather).unwrap();
    assert_eq!(entries(run.trace.as_ref().unwrap()), [2.0, 2.0, 8.0, 8.0, 14.0, 14.0, 20.0]);
}

/// A stream between two processors goes at full speed: what is received starts no later than it arrives.
#[test]
fn a_receiver_that_keeps_up_holds_nobody_back() {
    let run = machine(2, "L=8,o=2,g=4").run(|p| match p.id() {
        0 => (0..9).for_each(|_| p.send(1, WORD, 1)),
        _ => (0..9).for_each(|_| _ = p.recv(WORD)),
    });
    assert_eq!((run.as_ref().unwrap().stalls(), run.unwrap().time), (0, (8 * 4 + 2 + 8 + 2) * US));
}

/// Two processors send to each other more than may be in transit, and would receive after that.
#[test]
fn senders_that_do_not_receive_wait_for_each_other_in_vain() {
    let program = |p: &mut Proc| {
        let other = 1 - p.id();
        (0..3).for_each(|_| p.send(other, WORD, 1));
        (0..3).for_each(|_| _ = p.recv(WORD));
    };
    let machine = machine(2, "L=6,o=2,g=4");
    assert_eq!(machine.clone().capacity(Capacity::Arrived).run(program).unwrap().stalls(), 0);
    let waits = |of: usize, to: usize| {
        format!(
            "\n  processor {of} at 6 us stalled with a message to processor {to}, until one from itself or to {to} is received"
        )
    };
    let sentence = "deadlock: 2 of 2 processors wait for messages that nobody sends".to_string();
    let sentence = sentence + &waits(0, 1) + &waits(1, 0);
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    for machine in [machine.clone(), machine.clone().cores(2).oversubscribed(true), wall] {
        assert_eq!(machine.run(program).unwrap_err().to_string(), sentence);
    }
    // Those that receive meanwhile go on.
    let run = machine.run(|p| {
        let (other, mut left) = (1 - p.id(), 3);
        (0..3).for_each(|_| p.send_receiving(other, WORD, 1, WORD, |_, _| left -= 1));
        (0..left).for_each(|_| _ = p.recv(WORD));
    });
    assert_eq!(audit(run.unwrap().trace.as_ref().unwrap()).violations, []);
}

/// The auditor holds a trace against the rule by which the run was made.
#[test]
fn auditor_finds_a_run_by_the_other_rule() {
    let of = |capacity| machine(8, "L=6,o=2,g=4").capacity(capacity).run(gather).unwrap().trace.unwrap();
    let rules = |trace: Trace| audit(&trace).violations.iter().map(|found| found.rule).collect::<Vec<_>>();
    let early = Trace { capacity: Capacity::Received, ..of(Capacity::Arrived) };
    assert!(rules(early).contains(&AuditRule::Capacity));
    let late = Trace { capacity: Capacity::Arrived, ..of(Capacity::Received) };
    assert!(rules(late).contains(&AuditRule::Stall));
}

/// Processor 7 asks last, and the trace is changed so that it is admitted before 3.
#[test]
fn auditor_finds_a_message_that_is_admitted_before_one_that_asked_first() {
    let run = machine(8, "L=6,o=2,g=4").run(|p| {
        if p.id() == 7 {
            p.wait_until(US);
        }
        gather(p);
    });
    let mut trace = run.unwrap().trace.unwrap();
    assert_eq!(audit(&trace).violations, []);
    let [three, seven] =
        [3, 7].map(|from| trace.messages.iter().position(|sent| sent.id.from == from).unwrap());
    let [was, other] = [three, seven].map(|place| trace.messages[place].enter);
    for (place, later) in [(three, other - was), (seven, was - other)] {
        let message = &mut trace.messages[place];
        message.enter += later;
        message.first += later;
        message.arrival += later;
    }
    for activity in &mut trace.activities {
        match &mut activity.kind {
            ActivityKind::Stall if activity.id == 3 => activity.end = other,
            ActivityKind::Stall if activity.id == 7 => activity.end = was,
            ActivityKind::Receive(id) if id.from == 3 => id.from = 7,
            ActivityKind::Receive(id) if id.from == 7 => id.from = 3,
            _ => (),
        }
    }
    let found = audit(&Trace { calls: Vec::new(), ..trace }).violations;
    let says = "message 0 of processor 7 is admitted at 8 us, and message 0 of processor 3 asked first";
    assert!(found.iter().any(|found| found.sentence == says), "{found:?}");
}

#[test]
fn what_does_not_know_the_rule_refuses_it() {
    let exchange = |p: &mut Proc| {
        let other = 1 - p.id();
        (0..9).for_each(|_| p.send_receiving(other, WORD, 1, WORD, |_, _| ()));
    };
    let plain = machine(2, "L=6,o=2,g=4");
    let check = Check::new().strategy(Strategy::Systematic).run(&plain, exchange);
    assert!(check.unwrap_err().to_string().starts_with("the systematic strategy knows when"));
    let negative = machine(2, "L=6,S=9,s=0,O_s=2,G_l=-1").run(|_| ());
    assert!(negative.unwrap_err().to_string().starts_with("a message that arrives before it enters"));
    let run = plain.run(|p| {
        let (other, mut left) = (1 - p.id(), 9);
        (0..9).for_each(|_| p.send_receiving(other, WORD, 1, WORD, |_, _| left -= 1));
        (0..left).for_each(|_| _ = p.recv(WORD));
    });
    let replayed = Replay::new(run.unwrap().trace.as_ref().unwrap()).run();
    assert!(replayed.unwrap_err().to_string().contains("received while their messages stalled"));
}

/// A stream between two processors has no more than C messages under way, there and back: it goes at 2L/C.
#[test]
fn a_window_of_credits_limits_a_stream_by_its_way_there_and_back() {
    let stream = |text: &str| {
        let run = machine(2, text).capacity(Capacity::Credits).run(|p| match p.id() {
            0 => (0..6).for_each(|_| p.send(1, WORD, 1)),
            _ => (0..6).for_each(|_| _ = p.recv(WORD)),
        });
        let run = run.unwrap();
        let trace = run.trace.as_ref().unwrap();
        assert_eq!(audit(trace).violations, []);
        (entries(trace), run.stalls(), run.most_in_transit())
    };
    // The third message waits for the credit of the first, which arrives at 12 and is back at 22.
    assert_eq!(stream("L=10,o=2,g=4,C=2"), (vec![2.0, 6.0, 22.0, 26.0, 42.0, 46.0], 2, 2));
    assert_eq!(stream("L=10,o=2,g=4,C=5"), (vec![2.0, 6.0, 10.0, 14.0, 18.0, 22.0], 0, 5));
    // A long message's credit comes back after its last word.
    let long = machine(2, "L=10,o=2,g=4,G=3,C=1").capacity(Capacity::Credits);
    const WORDS: Tag<[u64; 3]> = Tag::new(1);
    let run = long.run(|p| match p.id() {
        0 => (0..2).for_each(|_| p.send(1, WORDS, [0; 3])),
        _ => (0..2).for_each(|_| _ = p.recv(WORDS)),
    });
    let trace = run.unwrap().trace.unwrap();
    assert_eq!((entries(&trace), audit(&trace).violations), (vec![2.0, 28.0], vec![])); // 2 + 6 + 10, and 10 back
}

/// Credits are a sender's own: what others send to the same receiver takes none of them.
#[test]
fn credits_are_those_of_one_sender_for_one_receiver() {
    let run = machine(8, "L=6,o=2,g=4,C=1").capacity(Capacity::Credits).run(gather).unwrap();
    assert_eq!((run.stalls(), entries(run.trace.as_ref().unwrap())), (0, vec![2.0; 7]));
    let run = machine(3, "L=6,o=2,g=4,C=1").capacity(Capacity::Credits).run(|p| match p.id() {
        0 => [1, 2, 1].into_iter().for_each(|to| p.send(to, WORD, 1)),
        id => (id..3).for_each(|_| _ = p.recv(WORD)),
    });
    let run = run.unwrap();
    assert_eq!(entries(run.trace.as_ref().unwrap()), [2.0, 6.0, 14.0]);
    assert_eq!((run.stalls(), run.processors[0].stall), (1, 4 * US));
}

/// The auditor finds a message that enters without a credit, and one that waits though there is one.
#[test]
fn auditor_finds_what_breaks_the_rule_of_credits() {
    let run = machine(2, "L=10,o=2,g=4,C=2").capacity(Capacity::Credits).run(|p| match p.id() {
        0 => (0..3).for_each(|_| p.send(1, WORD, 1)),
        _ => (0..3).for_each(|_| _ = p.recv(WORD)),
    });
    let trace = run.unwrap().trace.unwrap();
    let rules = |trace: Trace| -> Vec<AuditRule> {
        audit(&trace).violations.iter().map(|violation| violation.rule).collect()
    };
    let arrived = Trace { capacity: Capacity::Arrived, ..trace.clone() };
    assert_eq!(rules(arrived), [AuditRule::Stall]); // it stalls for longer than until an arrival
    let mut one = trace.clone();
    one.params.C = std::num::NonZeroUsize::new(1);
    assert!(rules(one).contains(&AuditRule::Capacity));
    assert_eq!(rules(trace), []);
}

#[test]
fn what_does_not_go_with_credits_is_refused() {
    let cenju4 = "L=10,o=2,g=0,O_s=0,O_r=0,G_s=1,G_l=-1,s=4,S=400";
    let error = machine(2, cenju4).capacity(Capacity::Credits).run(|_| ()).unwrap_err().to_string();
    assert!(error.contains("cannot hold a credit"), "{error}");
    let checked = machine(3, "L=6,o=2,g=4").trace(false).capacity(Capacity::Credits);
    let check = Check::new().strategy(Strategy::Systematic).run(&checked, gather);
    assert!(check.unwrap_err().to_string().contains("systematic strategy"));
}
