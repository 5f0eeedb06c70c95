//! The machine against an oracle: the rules once more, from the papers, without a clock and without a network.
//!
//! A program is data here. The oracle interprets it by brute force: it remembers every message of the run, and looks
//! through all of them for each. It shares nothing with the machine but the parameters. What the machine draws,
//! latencies and places, it is told.
//!
//! - [`program`]: programs that are data, and how the machine makes their calls;
//! - [`random`]: such programs drawn at random;
//! - [`interpreter`] and [`network`]: the oracle;
//! - [`outcome`] and [`check`]: what comes of a program, and what must hold of it;
//! - [`by_hand`]: programs small enough to be done by hand.
//!
//! `LOGGP_ORACLE_SEED=123 cargo test -p loggp-command --test library oracle` replays one random program, and shortens it for each thing
//! that does not hold. `LOGGP_ORACLE_PROGRAMS=20000` says how many there are.

mod by_hand;
mod check;
mod interpreter;
pub mod machines;
mod network;
mod outcome;
mod program;
mod random;

use std::collections::BTreeMap;

use loggp::{Latency, Time};
use loggp::params::LongMessages;
use loggp::trace::{ActivityKind, Trace};

use by_hand::{all_by_hand, by_hand, long};
use check::{Fault, by_the_machine, by_the_oracle, check, messages};
use outcome::{Account, Outcome};
use program::Op::Work;

use crate::cases::times;

pub use check::machine;
use program::Case;
pub use program::{Note, live};
pub use random::draw;

/// Makes a program in which something does not hold as short as it can, so that the same still does not.
fn shorten(mut case: Case, mut found: Fault, wall: bool) -> (Case, Fault) {
    let what = found.what;
    let fault = |case: &Case| check(case, wall).1.into_iter().find(|fault| fault.what == what);
    loop {
        let calls = |case: &Case| case.program.iter().map(Vec::len).sum::<usize>();
        let before = calls(&case);
        for id in 0..case.program.len() {
            for place in (0..case.program[id].len()).rev() {
                let mut shorter = case.clone();
                shorter.program[id].remove(place);
                if let Some(fault) = fault(&shorter) {
                    (case, found) = (shorter, fault);
                }
            }
        }
        if calls(&case) == before {
            return (case, found);
        }
    }
}

/// What does not hold, and the shortest program of which that is so.
fn at_length(seed: u64, case: Case, fault: Fault, wall: bool) -> String {
    let (case, fault) = shorten(case, fault, wall);
    let again = format!("LOGGP_ORACLE_SEED={seed} cargo test -p loggp-command --test library oracle");
    format!(
        "{}: {again}\nas short as it can be:\n{}{}{}",
        fault.what,
        told(&case),
        messages(&case),
        fault.text
    )
}

/// A machine and a program, line by line.
fn told(case: &Case) -> String {
    let Case { params, levels, ports, latency, ties, noise, barrier, program } = case;
    let calls = program.iter().enumerate().map(|(id, calls)| format!("  processor {id}: {calls:?}\n"));
    format!(
        "{params:?}\n{levels:?}\n{ports:?}, latency {latency}, ties {ties}, {noise:?}, barrier {barrier:?}\n"
    ) + &calls.collect::<String>()
}

#[test]
fn oracle_agrees_with_hand_computed_times() {
    for by_hand in all_by_hand() {
        let Outcome::Finished(accounts) = by_the_oracle(&by_hand.case) else { panic!("{:?}", by_hand.case) };
        let part = |part: fn(&Account) -> i64| {
            accounts.iter().map(|(account, _)| part(account)).collect::<Vec<i64>>()
        };
        assert_eq!(part(|account| account.finish), by_hand.finish, "{:?}", by_hand.case);
        assert_eq!(part(|account| account.stall), by_hand.stall, "{:?}", by_hand.case);
        assert_eq!(part(|account| account.port), by_hand.port, "{:?}", by_hand.case);
        assert!(accounts.iter().all(|(account, _)| account.adds_up()), "{:?}", by_hand.case);
    }
}

#[test]
fn machine_agrees_with_hand_computed_times() {
    for by_hand in all_by_hand() {
        let (_, faults) = check(&by_hand.case, true);
        assert_eq!(faults, [], "{}", told(&by_hand.case));
    }
}

/// Two that send to each other wait for ever, and a third one has finished.
#[test]
fn both_find_a_deadlock() {
    let case = by_hand("s=0, S=0", &[&[long(1, 1)], &[long(0, 1)], &[Work(4)]], &[]).case;
    let deadlock = Outcome::Deadlock(vec![None, None, Some(4)]);
    assert_eq!((by_the_oracle(&case), by_the_machine(&case)), (deadlock.clone(), deadlock));
}

/// The number that a variable of the environment says, if it does.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().expect("a number"))
}

/// Of programs that were run: how many there are, how many stall, and how many while there is room; and the same of the time
/// for which they stall.
#[derive(Default)]
struct Stalls {
    programs: usize,
    of_programs: [usize; 2],
    of_time: [i64; 2],
}

/// How often a message waits for room while there is some for a moment, since no reservation is ever moved: `docs/reference/limits.md`
/// has the numbers.
#[test]
#[ignore = "it counts, and finds nothing wrong"]
fn stalls_with_free_capacity_are_counted() {
    let programs = asked("LOGGP_ORACLE_PROGRAMS").unwrap_or(1500) as usize;
    // Whether all messages of a program are under way for equally long, by whether the machine is LogGP's or LogP's.
    let mut counts: BTreeMap<(&str, bool), Stalls> = BTreeMap::new();
    for case in (0..).map(draw).filter(|case| case.levels.is_empty() && !case.has_requests()) {
        let model = match case.params.long {
            LongMessages::LogP => "LogP",
            LongMessages::LogGP { .. } => "LogGP",
            _ => continue,
        };
        let Ok(run) = machine(&case).run(|p| live(p, &case)) else { continue };
        let trace = run.trace.unwrap();
        let alike = case.latency == Latency::Exact && trace.messages.iter().all(|message| message.words <= 1);
        let count = counts.entry((model, alike)).or_default();
        if count.programs < programs {
            let times = stalls(&trace);
            count.programs += 1;
            count.of_programs = [0, 1].map(|of| count.of_programs[of] + usize::from(times[of] > 0));
            count.of_time = [0, 1].map(|of| count.of_time[of] + times[of]);
        }
        if counts.len() == 4 && counts.values().all(|count| count.programs == programs) {
            break;
        }
    }
    for ((model, alike), Stalls { programs, of_programs: [stalled, concerned], of_time }) in counts {
        let [all, with_room] = of_time;
        let share = 100.0 * with_room as f64 / all as f64;
        println!(
            "{model}, transits equally long: {alike}: of {programs} programs {stalled} stall, \
             {concerned} while there is room for {share:.2}% of the time that they stall"
        );
        assert!(stalled > 0 && (alike || concerned > 0));
    }
}

/// For how many picoseconds messages wait for room, and for how many of these there is some at both ends.
fn stalls(trace: &Trace) -> [i64; 2] {
    let Some(capacity) = trace.params.capacity() else { return [0; 2] };
    let mut sums = [0; 2];
    for activity in trace.activities.iter().filter(|activity| activity.what == ActivityKind::Stall) {
        let own = trace.messages.iter().filter(|message| message.id.from == activity.id);
        let Some(message) = own.filter(|own| own.enter >= activity.end).min_by_key(|own| own.id) else {
            continue;
        };
        let is_full = |time: Time| {
            let there = || trace.messages.iter().filter(|other| other.enter <= time && time < other.arrival);
            there().filter(|other| other.id.from == message.id.from).count() >= capacity
                || there().filter(|other| other.to == message.to).count() >= capacity
        };
        let changes = trace.messages.iter().flat_map(|other| [other.enter, other.arrival]);
        let mut moments: Vec<Time> = changes.chain([activity.start, activity.end]).collect();
        moments.retain(|time| (activity.start..=activity.end).contains(time));
        moments.sort_unstable();
        for (from, to) in moments.iter().zip(&moments[1..]) {
            let lasts = (*to - *from).as_ps();
            sums[0] += lasts;
            sums[1] += if is_full(*from) { 0 } else { lasts };
        }
    }
    sums
}

#[test]
fn machine_agrees_with_the_oracle_on_random_programs() {
    let replayed = asked("LOGGP_ORACLE_SEED");
    let seeds = replayed
        .map_or(0..asked("LOGGP_ORACLE_PROGRAMS").unwrap_or(u64::from(times(1500))), |seed| seed..seed + 1);
    let (mut stalls, mut waits_for_ports, mut deadlocks, mut with_requests) = (0, 0, 0, 0);
    let (mut wrong, mut seeds_of, mut first) = (0, BTreeMap::<&str, Vec<u64>>::new(), None);
    for seed in seeds {
        let case = draw(seed);
        // Threads take their time.
        let wall = replayed.is_some() || seed.is_multiple_of(8);
        let (outcome, faults) = check(&case, wall);
        with_requests += usize::from(case.has_requests());
        match outcome {
            Outcome::Finished(accounts) => {
                stalls += accounts.iter().map(|(account, _)| account.stalls).sum::<u64>();
                waits_for_ports += accounts.iter().filter(|(account, _)| account.port > 0).count();
            }
            _ => deadlocks += 1,
        }
        wrong += usize::from(!faults.is_empty());
        for fault in faults {
            seeds_of.entry(fault.what).or_default().push(seed);
            if replayed.is_some() {
                println!("{}\n", at_length(seed, case.clone(), fault.clone(), wall));
            }
            first.get_or_insert((seed, case.clone(), fault, wall));
        }
    }
    println!(
        "{stalls} stalls, {waits_for_ports} waits for a port, {deadlocks} deadlocks, {with_requests} with requests"
    );
    let seen = stalls > 0 && waits_for_ports > 0 && deadlocks > 0 && with_requests > 0;
    assert!(replayed.is_some() || seen, "what is drawn says too little");
    for (what, seeds) in &seeds_of {
        println!("{what}: {} programs, of seeds {:?}", seeds.len(), &seeds[..seeds.len().min(12)]);
    }
    if let Some((seed, case, fault, wall)) = first {
        panic!("{wrong} programs are wrong; here is one\n{}", at_length(seed, case, fault, wall));
    }
}
