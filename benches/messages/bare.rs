//! A bare event loop: the limit for a clock that goes from event to event.
//!
//! It has LogP's rules for messages of one word and nothing else: no program and no stack, no ports,
//! statistics, types or errors, and no capacity, which these patterns never reach. Its end is compared with
//! the machine's.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::pattern::{PatternStep, PatternSteps};

struct BareProcessor {
    /// The remaining steps.
    steps: PatternSteps,
    /// Local time.
    now: u64,
    /// The time from which its next message may enter the network.
    free: u64,
    /// The time from which its next reception may start.
    next: u64,
    /// Arrivals and words of messages that it has not received, the earliest first.
    inbox: VecDeque<(u64, u64)>,
    /// True while it waits for a message that has not been sent yet.
    waits: bool,
    /// The word that it passes on.
    word: u64,
}

/// LogP's parameters, in any unit.
pub(crate) struct BareCosts {
    pub latency: u64,
    pub overhead: u64,
    pub gap: u64,
}

/// Plays the steps of each processor, and returns the time at which the last one ends.
pub(crate) fn play(steps: impl Iterator<Item = PatternSteps>, costs: &BareCosts) -> u64 {
    let new = |(id, steps)| BareProcessor {
        steps,
        now: 0,
        free: 0,
        next: 0,
        inbox: VecDeque::new(),
        waits: false,
        word: id as u64,
    };
    let mut processors: Vec<BareProcessor> = steps.enumerate().map(new).collect();
    // The starts of receptions, with at most one entry for each processor.
    let mut agenda = BinaryHeap::with_capacity(processors.len());
    (0..processors.len()).for_each(|id| run_to_reception(&mut processors, id, &mut agenda, costs));
    while let Some(Reverse((start, id))) = agenda.pop() {
        let processor = &mut processors[id as usize];
        let (_, word) = processor.inbox.pop_front().expect("a reception has its message");
        (processor.word, processor.now, processor.next) =
            (word + 1, start + costs.overhead, start + costs.gap);
        run_to_reception(&mut processors, id as usize, &mut agenda, costs);
    }
    processors.iter().map(|processor| processor.now).max().unwrap_or(0)
}

/// Performs the sends of a processor up to its next reception.
fn run_to_reception(
    processors: &mut [BareProcessor],
    id: usize,
    agenda: &mut BinaryHeap<Reverse<(u64, u32)>>,
    costs: &BareCosts,
) {
    while let Some(step) = processors[id].steps.next() {
        let processor = &mut processors[id];
        let PatternStep::Send(to) = step else {
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
