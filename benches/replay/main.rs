//! Operations per second and memory of schedules that are played.
//!
//! `cargo bench -p loggp-benches --bench replay` prints a table.

#![allow(non_snake_case)] // P is the papers' name

use loggp::schedule::{CostModel, Operation, Player, Schedule, ScheduleBuilder};
use loggp::{Params, US};
use loggp_benches::{child, measure, table};

/// A function that writes the operations of a rank: its number, the number of ranks, and the schedule.
type WriteRank = fn(usize, usize, &mut ScheduleBuilder);

/// Adds a send of one word to a rank.
fn send(builder: &mut ScheduleBuilder, to: usize) -> u32 {
    builder.add(Operation::Send { to: to as u32, bytes: 1, tag: 0 }).unwrap()
}

/// Adds a receive of one word from a rank.
fn recv(builder: &mut ScheduleBuilder, from: usize) -> u32 {
    builder.add(Operation::Recv { from: Some(from as u32), bytes: 1, tag: Some(0) }).unwrap()
}

/// In round r each rank sends to the rank 2^r away, once the message of round r-1 has arrived.
fn dissemination(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    let (mut distance, mut received) = (1, None);
    while distance < P {
        let sent = send(builder, (id + distance) % P);
        if let Some(received) = received {
            builder.require_done(sent, received).unwrap();
        }
        received = Some(recv(builder, (id + P - distance) % P));
        distance *= 2;
    }
}

/// Each rank sends to all and receives from all, without requirements.
fn all_to_all(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    for step in 1..P {
        send(builder, (id + step) % P);
        recv(builder, (id + P - step) % P);
    }
}

/// A binomial broadcast: in round r all that have the message send it to the rank 2^r away.
fn broadcast(id: usize, P: usize, builder: &mut ScheduleBuilder) {
    let (mut distance, mut received) = (1, None);
    while distance < P {
        if id < distance && id + distance < P {
            let sent = send(builder, id + distance);
            if let Some(received) = received {
                builder.require_done(sent, received).unwrap();
            }
        } else if (distance..2 * distance).contains(&id) {
            received = Some(recv(builder, id - distance));
        }
        distance *= 2;
    }
}

/// Returns the schedule of a pattern.
fn schedule(P: usize, write: WriteRank) -> Schedule {
    let mut builder = ScheduleBuilder::new(P).unwrap();
    for id in 0..P {
        builder.begin_rank(id).unwrap();
        write(id, P, &mut builder);
    }
    builder.build().unwrap()
}

/// The patterns, and their numbers of ranks. An all-to-all of a thousand ranks has a million messages.
const PATTERNS: [(&str, WriteRank, &[usize]); 3] = [
    ("dissemination", dissemination, &[1 << 10, 1 << 14, 1 << 17, 1 << 20]),
    ("all-to-all", all_to_all, &[1 << 8, 1 << 10]),
    ("broadcast", broadcast, &[1 << 10, 1 << 14, 1 << 17, 1 << 20]),
];
/// The rules, by name.
const RULES: [(&str, CostModel); 2] = [("papers", CostModel::Papers), ("loggopsim", CostModel::LogGOPSim)];
/// The number of repeats, of which the median is shown. Long schedules are played once.
const REPEATS: usize = 3;
/// A schedule with more operations is long.
const MANY: u64 = 10_000_000;

fn main() {
    if let Some(task) = child::task() {
        return play(&task);
    }
    measure::selected_tables(&[("table", print_table as fn())]).into_iter().for_each(|table| table());
}

/// Prints a line for each pattern and number of ranks.
fn print_table() {
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
                    if measured.first().is_none_or(|first: &child::Measurement| first.extra[0] < MANY) {
                        measured.push(child::measure(&[name, &ranks.to_string(), rules]));
                    }
                }
            }
            let [operations, ..] = measured[0][0].extra;
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

/// In a child: plays a schedule, and reports its operations, end and messages.
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
