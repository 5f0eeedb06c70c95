//! Time of messages between two cores when the network costs nothing, next to channels and a bare cache line.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use loggp::{Carrier, Tag};
use loggp_benches::table;

use crate::threads::pin;
use crate::{CARRIERS, free_machine, median_in_turns};

/// The tag of the machine's messages.
const WORD: Tag<u64> = Tag::new(0);
/// A message in a channel: a cache line, like a message of the machine.
type ChannelItem = [u64; 8];

/// The number of round trips.
const TRIPS: u64 = 100_000;
/// Numbers of messages one way. The sender is never held back, so more messages take more memory between the
/// two, and are slower.
const STREAMS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// The number of repeats, of which the median is shown.
const REPEATS: usize = 5;

/// Prints a line for the round trip and for each number of messages one way.
pub(crate) fn table() {
    let mut columns = vec![""];
    columns.extend(CARRIERS.map(|(name, _)| name));
    columns.extend(["crossbeam", "flume", "kanal", "bare cache line", "threads / crossbeam"]);
    table::begin("Messages between two cores, L = o = g = G = 0; medians of 5, taken in turns", &columns);
    row("round trip, ns".into(), TRIPS, true, |ns| ns);
    for trips in STREAMS {
        row(format!("{} one way, million/s", table::whole(trips)), trips, false, |ns| 1e3 / ns);
    }
    table::end();
}

/// Prints a line with the times of all contenders for a message, formatted by `show`.
fn row(name: String, trips: u64, back: bool, show: fn(f64) -> f64) {
    let mut contenders: Vec<Box<dyn FnMut() -> f64>> = Vec::new();
    for (_, carrier) in CARRIERS {
        contenders.push(Box::new(move || machine(carrier, trips, back)));
    }
    contenders.push(Box::new(move || {
        let (to, there) = crossbeam_channel::unbounded::<ChannelItem>();
        let (fro, here) = crossbeam_channel::unbounded::<ChannelItem>();
        let (there, here) = (|| there.try_recv().ok(), || here.try_recv().ok());
        channels(trips, back, |it| to.send(it).unwrap(), there, |it| fro.send(it).unwrap(), here)
    }));
    contenders.push(Box::new(move || {
        let (to, there) = flume::unbounded::<ChannelItem>();
        let (fro, here) = flume::unbounded::<ChannelItem>();
        let (there, here) = (|| there.try_recv().ok(), || here.try_recv().ok());
        channels(trips, back, |it| to.send(it).unwrap(), there, |it| fro.send(it).unwrap(), here)
    }));
    contenders.push(Box::new(move || {
        let (to, there) = kanal::unbounded::<ChannelItem>();
        let (fro, here) = kanal::unbounded::<ChannelItem>();
        let (there, here) = (|| there.try_recv().unwrap(), || here.try_recv().unwrap());
        channels(trips, back, |it| to.send(it).unwrap(), there, |it| fro.send(it).unwrap(), here)
    }));
    // A cache line holds one message, so it has only a round trip.
    if back {
        contenders.push(Box::new(move || cache_lines(trips)));
    }
    let medians: Vec<f64> = median_in_turns(REPEATS, &mut contenders).into_iter().map(show).collect();
    let mut cells = vec![name];
    cells.extend(medians.iter().map(|median| table::rough(*median)));
    cells.extend((!back).then(String::new));
    cells.push(format!("{:.2}", medians[0] / medians[CARRIERS.len()]));
    table::row(&cells);
}

/// Returns the time of a message on the machine, there and back or one way, in ns.
fn machine(carrier: Carrier, trips: u64, back: bool) -> f64 {
    let run = free_machine(2, carrier).run(|p| {
        let started = Instant::now();
        for i in 0..trips {
            match (p.id(), back) {
                (0, false) => p.send(1, WORD, i),
                (0, true) => {
                    p.send(1, WORD, i);
                    p.recv(WORD);
                }
                (_, false) => drop(p.recv(WORD)),
                (_, true) => {
                    p.recv(WORD);
                    p.send(0, WORD, i);
                }
            }
        }
        started.elapsed().as_nanos() as f64 / trips as f64
    });
    run.unwrap().results[1]
}

/// Returns the time of a message through channels between two pinned threads that spin, in ns.
fn channels(
    trips: u64,
    back: bool,
    send_there: impl Fn(ChannelItem) + Send,
    try_there: impl Fn() -> Option<ChannelItem> + Send,
    send_back: impl Fn(ChannelItem) + Send,
    try_back: impl Fn() -> Option<ChannelItem> + Send,
) -> f64 {
    let there = move || {
        for i in 0..trips {
            send_there([i; 8]);
            while back && try_back().is_none() {}
        }
    };
    let here = move || {
        for i in 0..trips {
            while try_there().is_none() {}
            if back {
                send_back([i; 8]);
            }
        }
    };
    time_pair(trips, there, here)
}

/// Returns the time of a number to another core and back, in a cache line for each way: the limit, in ns.
fn cache_lines(trips: u64) -> f64 {
    let lines = [const { CachePadded::new(AtomicU64::new(0)) }; 2];
    let wait = |line: &AtomicU64, for_what: u64| while line.load(Ordering::Acquire) != for_what {};
    let there = || {
        for i in 1..=trips {
            lines[0].store(i, Ordering::Release);
            wait(&lines[1], i);
        }
    };
    let here = || {
        for i in 1..=trips {
            wait(&lines[0], i);
            lines[1].store(i, Ordering::Release);
        }
    };
    time_pair(trips, there, here)
}

/// Runs two threads on two cores, and returns the second one's time for each trip, in ns.
fn time_pair(trips: u64, there: impl FnOnce() + Send, here: impl FnOnce() + Send) -> f64 {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(0, 2);
            there();
        });
        let receiver = scope.spawn(|| {
            pin(1, 2);
            let started = Instant::now();
            here();
            started.elapsed().as_nanos() as f64 / trips as f64
        });
        receiver.join().unwrap()
    })
}
