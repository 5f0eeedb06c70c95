//! Operations a second of schedules that are played without stacks, and memory.
//!
//! `cargo bench -p loggp-benches --bench replay` prints a table.

#![allow(non_snake_case)] // P is the papers' name

use loggp::{Operation, Params, Player, Rules, Schedule, ScheduleBuilder, US};
use loggp_benches::{child, measure, table};

/// What a rank does: its number, how many there are, and where it is written.
type Write = fn(usize, usize, &mut ScheduleBuilder);

/// A word to a rank.
fn send(builder: &mut ScheduleBuilder, to: usize) -> u32 {
    builder.add(Operation::Send { to: to as u32, bytes: 1, tag: 0 }).unwrap()
}

/// A word from a rank.
fn recv(builder: &mut ScheduleBuilder, from: usize) -> u32 {
    builder.add(Operation::Recv { from: Some(from as u32), bytes: 1, tag: Some(0) }).unwrap()
}

/// Everyone sends to 2^r away in round r, once round r-1 has come.
fn dissemination(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    let (mut distance, mut received) = (1, None);
    while distance < P {
        let sent = send(builder, (id + distance) % P);
        if let Some(received) = received {
            builder.requires(sent, received).unwrap();
        }
        received = Some(recv(builder, (id + P - distance) % P));
        distance *= 2;
    }
}

/// Everyone sends to all, and receives from all, in no other order than that in which this is written.
fn all_to_all(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    for step in 1..P {
        send(builder, (id + step) % P);
        recv(builder, (id + P - step) % P);
    }
}

/// What was received is passed on to 2^r away, for every r from then on.
fn broadcast(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    let (mut distance, mut received) = (1, None);
    while distance < P {
        if id < distance && id + distance < P {
            let sent = send(builder, id + distance);
            if let Some(received) = received {
                builder.requires(sent, received).unwrap();
            }
        } else if (distance..2 * distance).contains(&id) {
            received = Some(recv(builder, id - distance));
        }
        distance *= 2;
    }
}

/// The schedule of so many ranks.
fn schedule(P: usize, write: Write) -> Schedule {
    let mut builder = ScheduleBuilder::new(P).unwrap();
    for id in 0..P {
        builder.rank(id).unwrap();
        write(id, P, &mut builder);
    }
    builder.build().unwrap()
}

/// The patterns, and with how many ranks each is played. An all-to-all has a million messages with a thousand ranks.
const PATTERNS: [(&str, Write, &[usize]); 3] = [
    ("dissemination", dissemination, &[1 << 10, 1 << 14, 1 << 17, 1 << 20]),
    ("all-to-all", all_to_all, &[1 << 8, 1 << 10]),
    ("broadcast", broadcast, &[1 << 10, 1 << 14, 1 << 17, 1 << 20]),
];
/// Whose rules.
const RULES: [(&str, Rules); 2] = [("papers", Rules::Papers), ("loggopsim", Rules::LogGOPSim)];
/// How often each schedule is played; the median is shown. Long ones are played once.
const REPEATS: usize = 3;
/// A schedule with more operations is long.
const MANY: u64 = 10_000_000;

fn main() {
    if let Some(task) = child::task() {
        return play(&task);
    }
    measure::asked(&[("table", side_by_side as fn())]).into_iter().for_each(|table| table());
}

/// Prints a line for each pattern and number of ranks.
fn side_by_side() {
    table::begin(
        &format!(
            "Schedules played, in memory that holds the schedule too; medians of {REPEATS}, of one where it takes seconds"
        ),
        &[
            "pattern",
            "ranks",
            "operations",
            "papers' rules, ms",
            "million/s",
            "MB",
            "LogGOPSim's, ms",
            "million/s",
            "MB",
        ],
    );
    for (name, _, sizes) in PATTERNS {
        for ranks in sizes {
            let mut measured = [const { Vec::new() }; RULES.len()];
            for _ in 0..REPEATS {
                for (measured, (rules, _)) in measured.iter_mut().zip(RULES) {
                    if measured.first().is_none_or(|first: &child::Measured| first.said[0] < MANY) {
                        measured.push(child::measure(&[name, &ranks.to_string(), rules]));
                    }
                }
            }
            let [operations, ..] = measured[0][0].said;
            let mut cells = vec![name.into(), table::whole(*ranks as u64), table::whole(operations)];
            for measured in &measured {
                let seconds = measure::median(measured.iter().map(|measured| measured.seconds).collect());
                let bytes = measured.iter().filter_map(|measured| measured.bytes).min();
                cells.push(table::rough(seconds * 1e3));
                cells.push(table::rough(operations as f64 / seconds / 1e6));
                cells.push(bytes.map_or(String::new(), |bytes| table::rough(bytes as f64 / 1e6)));
            }
            table::row(&cells);
        }
    }
    table::end();
}

/// In a child: plays a schedule, and says how many operations it has, and when it ends.
fn play(task: &[String]) {
    let [name, ranks, rules] = task else { panic!("{task:?} is not which, how many and whose rules") };
    let ranks = ranks.parse().expect("a number of ranks");
    let write = PATTERNS.iter().find(|(pattern, ..)| pattern == name).expect("a pattern's name").1;
    let rules = RULES.iter().find(|(whose, _)| whose == rules).expect("whose rules").1;
    let params = Params::builder(1).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    child::report(
        || schedule(ranks, write),
        |schedule| {
            let played = Player::new(params).rules(rules).run(&schedule).unwrap();
            [schedule.len() as u64, played.time.as_ps() as u64, played.messages]
        },
    );
}
