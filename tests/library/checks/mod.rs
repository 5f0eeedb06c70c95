//! Tests of checks: the orders that they try, the failures that they find, and their reports.

mod faulty;
mod protocols;
#[path = "../../../examples/wrong/main.rs"]
mod wrong;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

use loggp::audit::audit;
use loggp::check::{Check, CheckReport, Coverage, FailureKind, Strategy};
use loggp::params::LogGps;
use loggp::trace::{ActivityKind, CallKind, Trace};
use loggp::{ClockKind, Dilation, Latency, Level, Machine, Order, Params, Ports, Proc, Tag, Ties, Time, US};

use crate::drawn::machines::longest;
use crate::drawn::program::Op::*;
use crate::drawn::program::{Message, Op, Pattern, RequestKind};
use crate::drawn::{Case, run_live};

const WORD: Tag<usize> = Tag::new(0);
const OTHER: Tag<usize> = Tag::new(1);

/// Creates a machine on which a message can be under way for L cycles.
fn machine(P: usize, L: i64) -> Machine {
    Machine::new(Params::builder(P).L(L * US).o(US).build().unwrap())
}

/// The messages that each processor took and saw, in order.
type Taken<T> = Vec<Vec<T>>;

/// Finds all that can be taken if each message is under way for a multiple of a unit up to L, and under each
/// order of the processors that send at the same time. Returns `None` if some run fails.
fn brute_force<T: Clone + Ord + std::marker::Send + Sync>(
    machine: &Machine,
    program: &(impl Fn(&mut Proc) -> Vec<T> + Sync),
    unit: Time,
) -> Option<BTreeSet<Taken<T>>> {
    let L = machine.params().L.as_ps() / unit.as_ps();
    let first = machine.clone().latency(Latency::Random { seed: 1 }).trace(true).run(program).ok()?;
    let trace = first.trace.unwrap();
    let n = trace.messages.len();
    let mut all = BTreeSet::new();
    for number in 0..(L + 1).pow(n as u32) {
        let (mut number, mut trace) = (number, trace.clone());
        trace.ties = Ties::Number;
        for message in &mut trace.messages {
            message.latency = number % (L + 1) * unit;
            number /= L + 1;
        }
        let mut open = vec![(trace, None)];
        while let Some((order, settled)) = open.pop() {
            let run = machine.clone().order(&order).trace(true).run(program).ok()?;
            all.insert(run.results);
            let trace = run.trace.unwrap();
            let mut acts: BTreeMap<Time, BTreeSet<usize>> = BTreeMap::new();
            for activity in &trace.activities {
                if matches!(activity.kind, ActivityKind::Send(_)) {
                    // No message here has a longer overhead than one of one word.
                    acts.entry(activity.end - machine.params().o).or_default().insert(activity.id);
                }
            }
            // Without an overhead it also matters whether a processor looks before another sends.
            for call in trace.calls.iter().filter(|_| machine.params().o == Time::ZERO) {
                let looks = matches!(call.kind, CallKind::Receive { .. } | CallKind::Wait { .. });
                for time in [call.start, call.end].into_iter().filter(|_| looks) {
                    acts.entry(time).and_modify(|acts| acts.extend([call.id]));
                }
            }
            // Runs branch off in which other processors go first, each at a moment later than those settled.
            for (time, acts) in acts.into_iter().filter(|(time, _)| Some(*time) > settled) {
                let acts = Vec::from_iter(acts);
                for first in permutations(&acts).into_iter().filter(|first| !first.is_sorted()) {
                    let mut order = order.clone();
                    order.precedence.insert(time, first);
                    open.push((order, Some(time)));
                }
            }
        }
    }
    Some(all)
}

/// Returns all permutations.
fn permutations(all: &[usize]) -> Vec<Vec<usize>> {
    match all {
        [] => vec![Vec::new()],
        [first, rest @ ..] => {
            let rest = permutations(rest);
            let with = |place: usize| {
                rest.iter().map(move |rest| [&rest[..place], &[*first], &rest[place..]].concat())
            };
            (0..all.len()).flat_map(with).collect()
        }
    }
}

/// Runs the systematic strategy. Returns its report and the results.
fn check_systematically<T: Clone + Debug + Ord + std::marker::Send + Sync>(
    machine: &Machine,
    program: impl Fn(&mut Proc) -> Vec<T> + Sync,
) -> (CheckReport<Taken<T>>, BTreeSet<Taken<T>>) {
    let check = Check::new().strategy(Strategy::Systematic).runs(100_000).results_may_differ(true);
    let checked = check.run(machine, program).unwrap();
    let found = checked.results.iter().map(|class| class.result.clone()).collect();
    (checked, found)
}

/// Three processors send at once, and processor 0 takes the messages as they arrive.
fn three_at_once(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => (1..p.P()).map(|_| p.recv_with_sender(WORD).0).collect(),
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Each sender is answered once and sends again, perhaps before the other's first message arrives.
fn answered(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let mut taken = Vec::new();
            while taken.len() < 4 {
                let from = p.recv_with_sender(WORD).0;
                if !taken.contains(&from) {
                    p.send(from, OTHER, 0);
                }
                taken.push(from);
            }
            taken
        }
        id => {
            p.send(0, WORD, id);
            p.recv(OTHER);
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

fn send(to: usize, words: usize) -> Op {
    Send { to, tag: 0, words }
}

fn pattern(from: Option<usize>, tag: usize) -> Pattern {
    Pattern { from, tag: Some(tag) }
}

/// Runs a program, and returns what each processor received and saw.
fn take(case: &Case) -> impl Fn(&mut Proc) -> Vec<Option<Message>> + Sync {
    |p| run_live(p, case).into_iter().map(|note| note.came).collect()
}

/// Asserts that the systematic strategy finds what brute force finds, and runs no order twice.
fn assert_finds_all<T: Clone + Debug + Ord + std::marker::Send + Sync>(
    name: &str,
    machine: &Machine,
    program: &(impl Fn(&mut Proc) -> Vec<T> + Sync),
) {
    let (checked, found) = check_systematically(machine, program);
    assert_eq!(found, brute_force(machine, program, US).unwrap(), "{name}");
    let coverage = checked.coverage.unwrap();
    assert_eq!((coverage.orders, coverage.is_complete()), (found.len(), true), "{name}");
    // Only whether a wait can end in vain, like a look, takes further runs.
    let most = coverage.orders + coverage.beyond;
    assert!(checked.runs <= most || name == "first done", "{name}: {checked}");
}

/// Every processor receives at its end what is left.
#[test]
fn the_systematic_strategy_finds_what_brute_force_finds() {
    let any = pattern(None, 0);
    let [poll, probe] = [Poll { pattern: any, looks: 1 }, Probe { pattern: any, looks: 1 }];
    let to_both = [send(0, 1), send(1, 1)];
    let wait = |place| WaitFor { how: RequestKind::Irecv, place };
    let irecvs = [1, 2, 3].map(|from| Irecv(pattern(Some(from), 0)));
    let wait_any = [WaitAny(RequestKind::IrecvFrom), WaitAny(RequestKind::IrecvFrom)];
    let recv = Recv { pattern: any, upto: 1 };
    let chain: &[&[Op]] = &[
        &[],
        &[send(0, 1), send(2, 1)],
        &[recv.clone(), send(0, 1), send(3, 1)],
        &[recv.clone(), send(0, 1)],
    ];
    // Looks for a message that is there only if the processor waited long enough for another one before.
    let waits: &[&[Op]] = &[
        &[Recv { pattern: pattern(Some(1), 1), upto: 1 }, poll.clone()],
        &[Send { to: 0, tag: 1, words: 1 }],
        &[Work(3), send(0, 1)],
    ];
    let programs: [(&str, i64, &[&[Op]]); 12] = [
        ("three at once", 6, &[&[], &[send(0, 1)], &[send(0, 1)], &[send(0, 1)]]),
        ("two receivers", 6, &[&[], &[], &to_both, &to_both]),
        (
            "overtaking",
            6,
            &[&[Recv { pattern: pattern(Some(1), 0), upto: 3 }], &[send(0, 1), send(0, 2), send(0, 3)]],
        ),
        ("first done", 6, &[&[&irecvs[..], &wait_any].concat(), &[send(0, 1)], &[send(0, 1)], &[send(0, 1)]]),
        (
            "requests",
            6,
            &[
                &[Irecv(any), Irecv(any), recv.clone(), wait(1), wait(0)],
                &[send(0, 1)],
                &[send(0, 1)],
                &[send(0, 1)],
            ],
        ),
        ("looks", 6, &[&[poll.clone(), poll.clone(), poll], &[send(0, 1)], &[send(0, 1)]]),
        ("probes", 6, &[&[probe.clone(), probe], &[send(0, 1)], &[send(0, 1)]]),
        ("chain", 2, chain),
        ("chain", 4, chain),
        ("waits and looks", 2, waits),
        ("waits and looks", 4, waits),
        ("waits and looks", 6, waits),
    ];
    for (name, L, program) in programs {
        let params = Params::builder(program.len()).word(1).L(L * US).o(US).G(Time::ZERO).build().unwrap();
        let case = Case::new(params, program);
        assert_finds_all(name, &case.machine(), &take(&case));
    }
    assert_finds_all("answered", &machine(3, 4), &answered);
}

/// Draws a machine and a program of three or four messages: short ones to receives in any order, some with
/// looks, gaps, stalls and requests, or long ones that wait for ports.
fn draw_case(seed: u64, looks: bool, requests: bool, long: bool) -> Case {
    let mut dice = fastrand::Rng::with_seed(seed);
    let P = dice.usize(2..=4);
    let mut program = vec![Vec::new(); P];
    let mut messages = dice.usize(3..=4);
    while messages > 0 {
        let from = dice.usize(0..P);
        let to = if from > 0 && dice.u8(..) < 150 { 0 } else { (from + dice.usize(1..P)) % P };
        // What differs tells the messages of a sender apart.
        let (tag, words) = (
            usize::from(!looks && !long && dice.u8(..) < 50),
            if long { dice.usize(1..=3) } else { messages },
        );
        if long && messages > 2 && dice.u8(..) < 100 {
            program[from].push(SendRecv { to, tag: 2, words, from: to });
            program[to].push(SendRecv { to: from, tag: 2, words: dice.usize(1..=3), from });
            messages -= 1;
        } else if looks && dice.bool() {
            program[from].push(SendReceiving { to, tag, words, taking: tag });
        } else {
            let place = if looks { program[from].len() } else { dice.usize(0..=program[from].len()) };
            program[from].insert(place, Send { to, tag, words });
        }
        messages -= 1;
        if !looks {
            let pattern = pattern((dice.u8(..) < 40).then_some(from), tag);
            let receive = Recv { pattern, upto: dice.usize(1..=2) };
            let place = dice.usize(0..=program[to].len());
            program[to].insert(place, receive);
        }
        let id = dice.usize(0..P);
        let place = dice.usize(0..=program[id].len());
        let pattern = pattern(None, tag);
        match dice.u8(0..4) {
            0 if requests => program[to].insert(0, Irecv(pattern)),
            0 if !looks && !long => program[id].insert(place, Probe { pattern, looks: 1 }),
            0 | 1 if looks => program[id].insert(place, Poll { pattern, looks: 1 }),
            2 => program[id].insert(place, Work(dice.i64(1..=3))),
            _ => (),
        }
    }
    let o = i64::from(!looks || dice.u8(..) < 220);
    let L = if o == 0 { 1 } else { dice.i64(1..=if looks || long { 2 } else { 3 }) };
    let params = Params::builder(P).word(1).L(L * US).o(o * US);
    let params = if looks || long { params.g(dice.i64(0..=4) * US) } else { params };
    // On a machine of LogP a message of several words would be a train of short ones.
    let params = params.G(if long { dice.i64(1..=2) * US } else { Time::ZERO });
    let ports = if long && dice.bool() { Ports::Dual } else { Ports::Single };
    Case { ports, ..Case::new(params.build().unwrap(), &program) }
}

/// Programs with looks: in the first one a look does not see a message sent at its moment, and in the second
/// one open messages take the room of settled ones.
fn cases_that_were_wrong() -> [Case; 2] {
    let look = Poll { pattern: pattern(None, 0), looks: 1 };
    let exchange = |to| SendReceiving { to, tag: 0, words: 1, taking: 0 };
    let one: [&[Op]; 3] =
        [&[exchange(1), send(1, 2)], &[exchange(2), exchange(0)], &[look.clone(), look.clone()]];
    let two: [&[Op]; 3] =
        [&[look.clone(), look.clone(), send(1, 1)], &[send(0, 1), look, send(0, 2)], &[exchange(0)]];
    [(1_i64, 0_i64, one), (2, 1, two)].map(|(L, o, program)| {
        let params = Params::builder(3).word(1).L(L * US).o(o * US).g(3 * US).G(Time::ZERO);
        Case::new(params.build().unwrap(), &program)
    })
}

/// Returns whether a check has tried all orders, perhaps of a program that asks for the time: those that are drawn do
/// so, but only to wait for a while.
fn is_complete_but_for_times(coverage: &Coverage) -> bool {
    coverage.why_incomplete.is_none_or(|why| why.starts_with("the program asks for the time"))
}

/// `LOGGP_DRAWN` is the number of programs of each kind.
#[test]
fn the_systematic_strategy_finds_all_orders_of_programs_that_are_drawn() {
    let programs: u64 = std::env::var("LOGGP_DRAWN").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    // The kind of programs, and how many in ten are tried completely.
    for (looks, long, least) in [(false, false, 10), (true, false, 7), (false, true, 9)] {
        let (mut done, mut tried) = (0, 0);
        let drawn = (0..programs).map(|seed| {
            let requests = looks && seed % 4 == 3;
            (requests, draw_case(seed, looks, requests, long))
        });
        let others = cases_that_were_wrong().into_iter().filter(|_| looks).map(|case| (false, case));
        for (seed, (requests, case)) in drawn.chain(others).enumerate() {
            let (machine, program) = (case.machine(), take(&case));
            let unit = if looks { US / 4 } else { US / 2 };
            let Some(expected) = brute_force(&machine, &program, unit) else { continue };
            let (checked, found) = check_systematically(&machine, &program);
            let coverage = checked.coverage.unwrap();
            let missed: Vec<_> = expected.difference(&found).collect();
            let about = || format!("seed {seed}, {case:?}\n{checked}\nmissed {missed:?}");
            let complete = is_complete_but_for_times(&coverage);
            assert!(missed.is_empty() || !complete, "{}", about());
            assert!(complete || requests || long || case.params.o == Time::ZERO, "{}", about());
            // Of these no order is run twice, and none is found that cannot be.
            let is_exact = found == expected && checked.runs <= coverage.orders + coverage.beyond;
            assert!(is_exact || looks || long, "{}", about());
            tried += 1;
            done += usize::from(complete);
        }
        assert!(tried > 7 && done * 10 >= tried * least, "{done} of {tried}");
    }
}

/// Draws a machine and a program of three to six messages, most of them to receives in any order. Under
/// LogGPS their sizes are around s and S, so that some wait for their receivers; else they wait for room and
/// ports.
fn draw_around_sizes(seed: u64, is_gps: bool, has_levels: bool) -> Case {
    let mut dice = fastrand::Rng::with_seed(seed);
    let P = if has_levels { 4 } else { 3 };
    let sizes = if is_gps { [1, 2, 3, 4, 5, 5, 6, 6] } else { [1, 1, 1, 2, 2, 2, 3, 3] };
    let params = loop {
        let o = dice.i64(0..=3) * US;
        let params = Params::builder(P).word(1).L(dice.i64(1..=6) * US).o(o).g(dice.i64(-3..=3).max(0) * US);
        let params = if is_gps {
            let [O_s, O_r, G_s] = [(); 3].map(|()| dice.i64(0..=1) * (US / 2));
            params.gps(LogGps { s: 2, S: 4, O_s, O_r, G_s, G_l: dice.i64(-1..=1) * (US / 2) })
        } else {
            params.G(dice.i64(0..=2) * US)
        };
        let params = if dice.u8(..) < 60 { params.C(dice.usize(1..=2)) } else { params };
        if let Ok(params) = params.build().map(|params| (params, longest(&params, 6)))
            && params.1 == 6
        {
            break params.0;
        }
    };
    let mut program = vec![Vec::new(); P];
    for _ in 0..dice.usize(3..=6) {
        let from = dice.usize(0..P);
        let to = if from > 0 && dice.u8(..) < 150 { 0 } else { (from + dice.usize(1..P)) % P };
        let (tag, words) = (usize::from(dice.u8(..) < 50), sizes[dice.usize(0..sizes.len())]);
        let place = dice.usize(0..=program[from].len());
        program[from].insert(
            place,
            match dice.u8(0..8) {
                0 => SendReceiving { to, tag, words, taking: tag },
                1 => Isend { to, tag, words },
                _ => Send { to, tag, words },
            },
        );
        let pattern = pattern((dice.u8(..) < 80).then_some(from), tag);
        let place = dice.usize(0..=program[to].len());
        program[to].insert(place, Recv { pattern, upto: dice.usize(1..=2) });
        let id = dice.usize(0..P);
        let place = dice.usize(0..=program[id].len());
        match dice.u8(0..6) {
            0 => program[to].insert(0, Irecv(pattern)),
            1 => program[id].insert(place, Poll { pattern, looks: 1 }),
            2 => program[id].insert(place, Work(dice.i64(1..=6))),
            _ => (),
        }
    }
    let ports = |dice: &mut fastrand::Rng| if dice.bool() { Ports::Dual } else { Ports::Single };
    let inner = Level::new(Params { P: 2, L: params.L / 2, ..params });
    let inner = inner.ports(ports(&mut dice)).one_port(dice.bool());
    let levels = has_levels.then_some(inner).into_iter().collect();
    Case { ports: ports(&mut dice), levels, ..Case::new(params, &program) }
}

/// `LOGGP_DRAWN` is the number of programs of each kind.
#[test]
fn orders_that_drawn_latencies_show_are_found_or_undecided() {
    let programs: u64 = std::env::var("LOGGP_DRAWN").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    for (is_gps, has_levels) in [(true, false), (false, false), (true, true), (false, true)] {
        let mut several = 0;
        for seed in 0..programs {
            let case = draw_around_sizes(seed, is_gps, has_levels);
            let check = |check: Check| {
                let longer = Mutex::new(BTreeSet::new());
                let checked = check.results_may_differ(true).audits(0).run_trials(
                    &Order::default(),
                    case.params.P,
                    |order| {
                        let run = case.machine().order(order).run(take(&case))?;
                        let most = case.params.L;
                        if run.trace.iter().flat_map(|trace| &trace.messages).any(|it| it.latency > most) {
                            longer.lock().unwrap().insert(run.results.clone());
                        }
                        Ok(Ok(run.results))
                    },
                );
                let checked = checked.unwrap();
                let found: BTreeSet<_> = checked.results.iter().map(|class| class.result.clone()).collect();
                (checked, found, longer.into_inner().unwrap())
            };
            let (drawn, shown, _) = check(Check::new().runs(400).seed(seed));
            let (checked, found, longer) = check(Check::new().strategy(Strategy::Systematic).runs(400));
            let coverage = checked.coverage.unwrap();
            let about = || format!("seed {seed}, {case:?}\n{checked}\n{drawn}");
            if checked.failure.is_some() {
                continue;
            }
            let complete = is_complete_but_for_times(&coverage);
            assert!(drawn.failure.is_none() || !complete, "{}", about());
            let missed: BTreeSet<_> = shown.difference(&found).collect();
            assert!(missed.is_empty() || !complete, "missed {missed:?}, {}", about());
            // Those that were run with longer latencies are not said to need these.
            let filed = missed.into_iter().filter(|result| longer.contains(*result)).count();
            assert!(filed <= coverage.undecided, "{filed} filed wrongly, {}", about());
            let said = checked.to_string().contains(&format!(": at least {} undecided", coverage.undecided));
            assert_eq!(said, coverage.undecided > 0, "{}", about());
            assert!(!said || !complete, "{}", about());
            several += u64::from(shown.len() > 1);
        }
        assert!(several * 10 >= programs, "{several} of {programs} have several orders");
    }
}

/// On a machine of LogGPS the order in which two messages come decides whether the program ends. They are
/// short, or come in several words, or wait for their receiver, and one of them may wait for such a message
/// itself.
#[test]
fn failing_orders_of_long_messages_are_found() {
    let ns = US / 1000;
    let gps = LogGps { s: 50, S: 100, O_s: Time::ZERO, O_r: Time::ZERO, G_s: ns, G_l: ns };
    let params = Params::builder(3).word(1).L(6 * US).o(2 * US).g(Time::ZERO).gps(gps).build().unwrap();
    const BYTES: Tag<Vec<u8>> = Tag::new(2);
    for (sizes, asks_first) in [10, 60, 120].into_iter().flat_map(|one| {
        [10, 60, 120].into_iter().flat_map(move |other| [false, true].map(|asks| ([one, other], asks)))
    }) {
        let program = |p: &mut Proc| match p.id() {
            0 => {
                if asks_first {
                    p.send(2, BYTES, vec![0; 120]);
                }
                let first = p.recv_with_sender(BYTES).0;
                p.recv(BYTES);
                if first == 2 {
                    p.recv(WORD);
                }
            }
            id => {
                if asks_first && id == 1 {
                    p.work("cycle", 20, || ());
                } else if asks_first {
                    p.recv(BYTES.from(0));
                }
                p.send(0, BYTES, vec![0; sizes[id - 1]]);
            }
        };
        let machine = Machine::new(params);
        let mixed = Check::new().run(&machine, program).unwrap();
        assert!(mixed.failure.is_some(), "{sizes:?}, {asks_first}: {mixed}");
        let checked = Check::new().strategy(Strategy::Systematic).run(&machine, program).unwrap();
        assert!(checked.failure.is_some(), "{sizes:?}, {asks_first}: {checked}");
    }
}

/// A check whose time is up begins nothing more, neither runs that reduce a failure nor a search for
/// latencies.
#[test]
fn a_check_without_time_makes_one_run_and_decides_nothing() {
    let check = |strategy| Check::new().time(Duration::ZERO).strategy(strategy);
    let never = |_: &[Vec<usize>]| Err("it is never right".into());
    let failed = check(Strategy::Mixed).run_verified(&machine(4, 6), three_at_once, never).unwrap();
    assert_eq!((failed.runs, failed.audited, failed.failure.unwrap().tries), (1, 0, 0));

    let checked = check(Strategy::Systematic).run(&machine(4, 6), three_at_once).unwrap();
    assert_eq!(checked.runs, 1);
    assert!(
        checked.to_string().contains("there may be more (the check ended before all were tried)"),
        "{checked}"
    );
    assert!(check(Strategy::Mixed).time(Duration::MAX).runs(2).run(&machine(4, 6), three_at_once).is_ok());
}

/// No setting takes time by its number.
#[test]
fn settings_may_be_as_large_as_numbers_are() {
    let most = usize::MAX;
    let check = Check::new().runs(200).seed(u64::MAX).cores(most).audits(most).time(Duration::MAX);
    let check = check.losses(most).duplicates(most).crashes(most);
    let run = |p: &mut Proc| match p.id() {
        0 => p.send(1, WORD, 1),
        _ => _ = p.recv_deadline(WORD, 100 * US),
    };
    assert!(check.run_surviving(&machine(2, 6), run, |_| Ok(())).unwrap().has_passed());
    let systematic = Check::new().strategy(Strategy::Systematic).runs(most).results_may_differ(true);
    assert_eq!(systematic.run(&machine(4, 6), three_at_once).unwrap().runs, 6);
}

/// Of two processors that act at the same time either may go first, and a failure found so can be repeated.
#[test]
fn the_systematic_strategy_lets_either_of_two_go_first() {
    // At most one message is under way to processor 0, so the second sender waits for the first.
    let machine = Machine::new(Params::builder(3).L(3 * US).o(3 * US).g(3 * US).build().unwrap());
    let program = |p: &mut Proc| match p.id() {
        0 => (0..3).map(|_| p.recv_with_sender(WORD).0).collect(),
        id => {
            (0..id).for_each(|_| p.send(0, WORD, id));
            Vec::new()
        }
    };
    let (checked, found) = check_systematically(&machine, program);
    let taken = |order: [usize; 3]| vec![order.to_vec(), vec![], vec![]];
    assert_eq!(found, [[1, 2, 2], [2, 1, 2], [2, 2, 1]].map(taken).into());
    let said = checked.to_string();
    assert!(
        said.contains("3 orders of messages are possible with latencies up to L, and all were tried"),
        "{said}"
    );

    let both_first = |results: &[Vec<usize>]| match results[0][..] {
        [2, 2, 1] => Err("both of 2's come first".into()),
        _ => Ok(()),
    };
    let check = Check::new().strategy(Strategy::Systematic).results_may_differ(true);
    let failure = check.run_verified(&machine, program, both_first).unwrap().failure.unwrap();
    assert_eq!(failure.order.precedence().len(), 1);
    assert!(failure.to_string().contains("at 0 us processor 2 goes before 1"), "{failure}");
    let mut file = Vec::new();
    failure.trace.write(&mut file).unwrap();
    let read = Trace::read(&file[..]).unwrap();
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    for machine in [machine.clone(), wall] {
        assert_eq!(machine.order(&read).run(program).unwrap().results, taken([2, 2, 1]));
    }
    let trace = machine.order(&read).trace(true).run(program).unwrap().trace.unwrap();
    assert!(trace == failure.trace && audit(&trace).is_clean());
}

/// Returns the report of a check as text.
fn report(check: &Check, machine: &Machine, program: wrong::Program) -> String {
    check.run(machine, program).unwrap().to_string()
}

#[test]
fn each_wrong_program_is_found_and_at_most_two_messages_are_late() {
    for (name, program) in wrong::WRONG {
        let machine = wrong::machine(name).unwrap();
        assert!(machine.clone().run(program).is_ok(), "{name} must be right in the usual order");
        let checked = Check::new().run(&machine, program).unwrap();
        let failure = checked.failure.as_ref().unwrap_or_else(|| panic!("{name} is not found"));
        assert!(checked.runs <= 1000 && failure.delayed.len() <= 2, "{name}: {checked}");

        // The failure is repeated by the order, and by the trace from a file, on either clock.
        let mut file = Vec::new();
        failure.trace.write(&mut file).unwrap();
        let read = Trace::read(&file[..]).unwrap();
        let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        let of = |machine: Machine| machine.run(program).map(|run| run.results);
        match (&failure.kind, of(machine.clone().order(&failure.order))) {
            (FailureKind::DifferentResult, Ok(results)) => {
                assert_ne!(results, checked.results[0].result, "{name}");
                assert_eq!(of(machine.order(&read)).unwrap(), results, "{name}");
                assert_eq!(of(wall.order(&read)).unwrap(), results, "{name}");
            }
            (FailureKind::RunFailed(error), Err(again)) => {
                let cause = |machine| of(machine).unwrap_err().cause;
                assert_eq!(again.cause, error.cause, "{name}");
                assert_eq!(cause(machine.order(&read)), error.cause, "{name}");
                assert_eq!(cause(wall.order(&read)), error.cause, "{name}");
            }
            (kind, again) => panic!("{name}: {kind}, and then {again:?}"),
        }
    }
}

#[test]
fn a_report_is_the_same_on_any_number_of_cores() {
    for (name, program) in wrong::WRONG {
        let machine = wrong::machine(name).unwrap();
        for strategy in [Strategy::Mixed, Strategy::Systematic] {
            let check = Check::new().strategy(strategy).runs(300).seed(7);
            let (one, three) = (check.clone(), check.cores(3));
            assert_eq!(report(&one, &machine, program), report(&three, &machine, program), "{name}");
        }
    }
}

#[test]
fn right_results_may_depend_on_the_order() {
    let machine = machine(4, 6);
    let all = |results: &[Vec<usize>]| match results[0].iter().sum::<usize>() {
        6 => Ok(()),
        sum => Err(format!("the sum is {sum}")),
    };
    let check = Check::new().results_may_differ(true).runs(200);
    let checked = check.run_verified(&machine, three_at_once, all).unwrap();
    assert!(checked.has_passed() && checked.results.len() == 6);
    assert_eq!((checked.runs, checked.audited, checked.messages), (200, 4, 3));
    assert_eq!(checked.results.iter().map(|class| class.runs).sum::<usize>(), 200);
    for class in &checked.results {
        assert_eq!(machine.clone().order(&class.order).run(three_at_once).unwrap().results, class.result);
    }
    let said = checked.to_string();
    assert!(said.ends_with("all runs gave correct results, which depend on the order: 6 results"), "{said}");
    let [choices] = &checked.choices[..] else { panic!("{said}") };
    assert_eq!((choices.taken, choices.with_choice), (12, 8));
    assert_eq!(choices.location.file(), file!());

    let wrong = check.run_verified(&machine, three_at_once, |_| Err("it is never right".into())).unwrap();
    assert_eq!(wrong.failure.unwrap().kind.to_string(), "the result is wrong: it is never right");
}

#[test]
fn impossible_machine_is_refused() {
    let params = Params { g: -US, ..*machine(2, 6).params() };
    let error = Check::new().run(&Machine::new(params), |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "g = -1 us is negative; only G_l may be");
}

/// Tries the mistakes of `docs/start/check.md` as the document shows them, and mended.
#[test]
fn the_mistakes_of_the_document_are_found_and_can_be_mended() {
    let document = include_str!("../../../docs/start/check.md");
    for name in ["arrival", "tag-clash", "one-order"] {
        let (_, program) = wrong::WRONG.iter().find(|(other, _)| *other == name).unwrap();
        let said =
            Check::new().run(&wrong::machine(name).unwrap(), program).unwrap().failure.unwrap().to_string();
        assert!(document.contains(&said), "{said}");
    }
    let machine = wrong::machine("").unwrap();
    let arrival = |p: &mut Proc| match p.id() {
        0 => (1..p.P()).map(|from| p.recv(WORD.from(from))).collect(),
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    };
    assert!(Check::new().run(&machine, arrival).unwrap().has_passed());
    let tags = |p: &mut Proc| match p.id() {
        0 => {
            let count = p.recv(OTHER.from(1));
            (0..count).map(|place| p.recv(WORD.step(place).from(1))).collect()
        }
        1 => {
            p.send(0, OTHER, 2);
            (0..2).for_each(|place| p.send(0, WORD.step(place), place));
            Vec::new()
        }
        _ => Vec::new(),
    };
    assert!(Check::new().run(&machine, tags).unwrap().has_passed());
    let lock = |p: &mut Proc| match p.id() {
        0 => (0..2).for_each(|_| {
            let (holder, _) = p.recv_with_sender(WORD);
            p.send(holder, WORD.step(1), 0);
            p.recv(WORD.step(2).from(holder));
        }),
        id @ (1 | 2) => {
            p.send(0, WORD, 0);
            p.recv(WORD.step(1).from(0));
            if id == 1 {
                p.send(2, OTHER, 7);
            }
            p.send(0, WORD.step(2), 0);
            if id == 2 {
                p.recv(OTHER.from(1));
            }
        }
        _ => (),
    };
    assert!(Check::new().run(&machine, lock).unwrap().has_passed());
}

#[test]
fn failures_with_longer_latencies_are_counted_apart() {
    // The second message overtakes the first if that is under way for more than 20 cycles.
    let overtakes = |p: &mut Proc| match p.id() {
        0 => (0..2).map(|_| p.recv(WORD)).collect(),
        _ => {
            p.send(0, WORD, 1);
            p.work("cycle", 20, || ());
            p.send(0, WORD, 2);
            Vec::new()
        }
    };
    let check = |check: Check| check.strategy(Strategy::Systematic).run(&machine(2, 6), overtakes).unwrap();
    let checked = check(Check::new());
    let coverage = checked.coverage.unwrap();
    assert!(checked.has_passed() && coverage.is_complete());
    assert_eq!((coverage.orders, coverage.beyond, coverage.beyond_failed), (1, 1, 1));
    let said = checked.to_string();
    assert!(said.contains(
        " possible with latencies up to L, and it was tried, and at least 1 with longer ones, of which one fails\n"
    ));
    assert!(said.ends_with("all runs with latencies up to L gave the same, correct result"), "{said}");
    let checked = check(Check::new().results_may_differ(true));
    assert_eq!(checked.coverage.unwrap().beyond_failed, 0);
    // A check that ends before all orders were tried reports that.
    let checked = Check::new().strategy(Strategy::Systematic).runs(2).run(&machine(4, 6), three_at_once);
    let said = checked.unwrap().to_string();
    assert!(said.contains("there may be more (the check ended before all were tried)"), "{said}");
}

#[test]
fn look_loop_ends_when_latencies_are_unbounded() {
    // Processor 0 sees a message if the one that it waited for was late, and then gets two in the reverse
    // order if the first is under way for longer than L. The latency of the message to processor 3 does not
    // matter to it.
    let looks = |p: &mut Proc| match p.id() {
        0 => {
            p.recv(WORD.from(1));
            let seen = p.try_recv(OTHER);
            seen.unwrap_or_else(|| p.recv(OTHER));
            (0..2).map(|_| p.recv(WORD.from(2))).collect()
        }
        1 => {
            p.send(0, WORD, 1);
            Vec::new()
        }
        2 => {
            p.send(3, WORD, 2);
            p.send(0, OTHER, 3);
            p.send(0, WORD, 4);
            p.work("cycle", 20, || ());
            p.send(0, WORD, 5);
            Vec::new()
        }
        _ => loop {
            if let Some(value) = p.try_recv(WORD) {
                break vec![value];
            }
        },
    };
    let check = Check::new().strategy(Strategy::Systematic).runs(2000);
    let coverage = check.run(&machine(4, 6), looks).unwrap().coverage.unwrap();
    assert!(coverage.is_complete() && coverage.beyond_failed > 0, "{coverage:?}");
}

/// A lock with a lease: who holds it puts the datum only while its time lasts, and looks at the time for that.
fn lease(p: &mut Proc) -> bool {
    const ASK: Tag<()> = Tag::new(0);
    const GO: Tag<()> = Tag::new(1);
    match p.id() {
        0 => {
            p.recv(ASK.from(1));
            p.send(1, GO, ());
            true
        }
        _ => {
            let until = p.now() + 15 * US;
            p.send(0, ASK, ());
            p.recv(GO.from(0));
            p.now() <= until // it comes too late if both messages take long
        }
    }
}

/// Each receive gets the same message in all runs, but the program fails where they come late.
#[test]
fn program_that_asks_for_the_time_is_not_checked_completely() {
    let check =
        |strategy: Strategy| {
            let check = Check::new().strategy(strategy).runs(50);
            check.run_verified(&machine(2, 8), lease, |in_time: &[bool]| {
                if in_time[1] { Ok(()) } else { Err("too late".into()) }
            })
        };
    assert!(!check(Strategy::Mixed).unwrap().has_passed());
    let report = check(Strategy::Systematic).unwrap();
    let coverage = report.coverage.unwrap();
    assert!(report.has_passed() && !coverage.is_complete(), "{report}");
    let said = report.to_string();
    assert!(
        said.contains(
            "there may be more (the program asks for the time, and each order was run at some times only)"
        ),
        "{said}"
    );
}

/// A processor that waits for a moment goes on at that moment, however late it came to the wait: so orders are found in
/// which both what came before was late and what it sends then is first.
#[test]
fn waits_for_fixed_moments_are_checked_completely() {
    let program = |p: &mut Proc| {
        match p.id() {
            0 => return vec![p.recv(WORD), p.recv(WORD)],
            1 => p.send(2, WORD, 1),
            2 => {
                let took = vec![p.recv(WORD), p.recv(WORD)];
                p.wait_until(8 * US);
                p.send(0, WORD, 2); // there at 9, and what 4 sends is there at 9 at the latest
                return took;
            }
            3 => {
                p.work("work", 5, || ()); // so if 2 takes it first, it has taken both at 8
                p.send(2, WORD, 3);
            }
            _ => p.send(0, WORD, 4),
        }
        vec![]
    };
    let (report, found) = check_systematically(&machine(5, 8), program);
    let coverage = report.coverage.unwrap();
    assert!(coverage.is_complete(), "{report}");
    assert_eq!((coverage.orders, coverage.beyond, found.len()), (4, 0, 4), "{report}");
}

#[test]
fn deadline_at_a_fixed_time_is_not_checked_completely() {
    let program = |p: &mut Proc| match p.id() {
        0 => {
            let is_early = p.recv_deadline(WORD, 6 * US).is_some();
            if !is_early {
                p.recv(WORD);
            }
            is_early
        }
        _ => {
            p.send(0, WORD, 1);
            true
        }
    };
    let check = Check::new().strategy(Strategy::Systematic).results_may_differ(true);
    let report = check.run(&machine(2, 8), program).unwrap();
    assert_eq!(report.results.len(), 2);
    assert!(report.to_string().contains("a receive gives up at a fixed time"), "{report}");
}
