//! Operations per second of schedules that are played without stacks.

#![allow(non_snake_case)] // P is the papers' name

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use loggp::{Operation, Params, Player, Rules, Schedule, ScheduleBuilder, US};

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

fn replay(c: &mut Criterion) {
    let mut group = c.benchmark_group("replay");
    group.sample_size(10);
    let params = Params::new(1).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    for (name, P, write) in [
        ("dissemination", 1 << 17, dissemination as Write),
        ("all-to-all", 1 << 10, all_to_all),
        ("broadcast", 1 << 20, broadcast),
    ] {
        let schedule = schedule(P, write);
        group.throughput(Throughput::Elements(schedule.len() as u64));
        for (rules_name, rules) in [("papers", Rules::Papers), ("loggopsim", Rules::LogGOPSim)] {
            let replay = Player::new(params).rules(rules);
            group.bench_function(BenchmarkId::new(name, rules_name), |b| {
                b.iter(|| black_box(replay.run(&schedule).unwrap().time));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
