//! A bare event loop: the limit of what a clock can do that goes from event to event.
//!
//! It has LogP's rules for messages of one word and nothing else: no program and no stack, no ports, statistics, types or
//! errors, and no capacity, which the patterns that it plays never meet. Its end is compared with the machine's.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::pattern::{Step, Steps};

/// A processor: where it stands, and what has come for it.
struct Processor {
    /// What it still does.
    steps: Steps,
    /// Its local time.
    now: u64,
    /// When its next message may enter the network.
    free: u64,
    /// When its next reception may start.
    next: u64,
    /// The arrivals and words of what it has not received, the earliest first.
    inbox: VecDeque<(u64, u64)>,
    /// Whether it waits for a message and has none.
    waits: bool,
    /// The word that it has.
    word: u64,
}

/// LogP's parameters.
pub struct Costs {
    /// The latency.
    pub latency: u64,
    /// The overhead.
    pub overhead: u64,
    /// The gap.
    pub gap: u64,
}

/// Plays what each processor does, and gives back when the last one is done.
pub fn play(steps: impl Iterator<Item = Steps>, costs: &Costs) -> u64 {
    let new = |(id, steps)| Processor {
        steps,
        now: 0,
        free: 0,
        next: 0,
        inbox: VecDeque::new(),
        waits: false,
        word: id as u64,
    };
    let mut processors: Vec<Processor> = steps.enumerate().map(new).collect();
    // Who starts a reception when. Nobody has two entries.
    let mut agenda = BinaryHeap::with_capacity(processors.len());
    (0..processors.len()).for_each(|id| go_on(&mut processors, id, &mut agenda, costs));
    while let Some(Reverse((start, id))) = agenda.pop() {
        let processor = &mut processors[id as usize];
        let (_, word) = processor.inbox.pop_front().expect("a reception has its message");
        (processor.word, processor.now, processor.next) =
            (word + 1, start + costs.overhead, start + costs.gap);
        go_on(&mut processors, id as usize, &mut agenda, costs);
    }
    processors.iter().map(|processor| processor.now).max().unwrap_or(0)
}

/// A processor sends until it has to receive.
fn go_on(
    processors: &mut [Processor],
    id: usize,
    agenda: &mut BinaryHeap<Reverse<(u64, u32)>>,
    costs: &Costs,
) {
    while let Some(step) = processors[id].steps.next() {
        let processor = &mut processors[id];
        let Step::Send(to) = step else {
            match processor.inbox.front() {
                Some((arrival, _)) => {
                    let start = processor.now.max(*arrival).max(processor.next);
                    agenda.push(Reverse((start, id as u32)));
                }
                None => processor.waits = true,
            }
            return;
        };
        let enter = (processor.now + costs.overhead).max(processor.free);
        (processor.now, processor.free) = (enter, enter + costs.gap);
        let (arrival, word) = (enter + costs.latency, processor.word);
        let other = &mut processors[to];
        let place = other.inbox.partition_point(|(earlier, _)| *earlier <= arrival);
        other.inbox.insert(place, (arrival, word));
        if other.waits {
            other.waits = false;
            agenda.push(Reverse((arrival.max(other.now).max(other.next), to as u32)));
        }
    }
}
