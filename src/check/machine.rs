//! What the machine does under given latencies, as far as calls are settled: the network is the machine's own.

use super::known::Known;
use super::prefix::{Flight, Item, Limit, What};
use crate::rules::choice::{Choice, Drawn};
use crate::rules::network::{Ask, Entrance, Exit, Network, Passage};
use crate::time::Time;

/// The machine under given latencies, as far as calls are settled.
pub(super) struct Machine<'k, 'p> {
    known: &'k Known<'p>,
    network: &'k Network,
    /// Who goes first.
    ties: Drawn,
    latencies: Vec<Time>,
    processors: Vec<Processor>,
    arrivals: Vec<Option<Time>>,
    entrances: Vec<Entrance>,
}

struct Processor {
    now: Time,
    /// How many calls are over.
    done: usize,
    /// Whether half of the exchange is over that comes next.
    is_half: bool,
    exit: Exit,
    receives_from: Time,
}

impl Processor {
    /// It has made a call, or half of an exchange.
    fn does(&mut self, is_half: bool, goes_on: bool) {
        self.is_half = is_half;
        if !is_half {
            self.done = if goes_on { self.done + 1 } else { usize::MAX };
        }
    }
}

impl<'k, 'p> Machine<'k, 'p> {
    pub(super) fn of(
        known: &'k Known<'p>,
        network: &'k Network,
        ties: Drawn,
        times: &[Time],
    ) -> Machine<'k, 'p> {
        let flights = known.prefix.flights.iter().zip(&known.ways);
        let latencies = flights.map(|(flight, way)| {
            (times[way.arrival] - times[way.enter] - flight.stream).clamp(Time::ZERO, flight.longest)
        });
        let processor = |id| Processor {
            now: Time::ZERO,
            done: 0,
            is_half: false,
            exit: network.exit(id),
            receives_from: Time::ZERO,
        };
        Machine {
            known,
            network,
            ties,
            latencies: latencies.collect(),
            processors: (0..known.prefix.items.len()).map(processor).collect(),
            arrivals: vec![None; known.ways.len()],
            entrances: (0..network.entrances()).map(|_| Entrance::default()).collect(),
        }
    }

    /// The ways of messages, one after the other.
    pub(super) fn passages(mut self) -> Vec<(usize, Passage)> {
        let mut all = Vec::new();
        loop {
            while (0..self.processors.len()).any(|id| self.steps(id)) || self.passes() {}
            let ready = |(id, processor): (usize, &Processor)| {
                let item = self.known.prefix.items[id].get(processor.done)?;
                let sending = match &item.what {
                    What::Sends(sending) => sending,
                    What::Both(sending, _) if self.receives_first(item) == processor.is_half => sending,
                    _ => return None,
                };
                let ready = (processor.now + sending.overhead).max(processor.exit.gap_over());
                let is_half = matches!(item.what, What::Both(..)) && !processor.is_half;
                let Flight { stream, room: (to, _), .. } = self.known.prefix.flights[sending.flight];
                let ask = Ask::when_ready(ready, self.latencies[sending.flight], stream);
                Some((ask, id, to, sending.flight, is_half, item.goes_on))
            };
            let next = self.processors.iter().enumerate().filter_map(ready);
            let Some((ask, id, to, flight, is_half, goes_on)) = next.min_by_key(|(ask, id, ..)| {
                let turn = self.network.turn(ask);
                (turn, self.ties.place(turn, *id as u32))
            }) else {
                return all;
            };
            let processor = &mut self.processors[id];
            let passage = self.network.serve(&mut self.entrances[..], &mut processor.exit, to, &ask);
            self.arrivals[flight] = Some(passage.arrival);
            processor.now = passage.enter;
            processor.does(is_half, goes_on);
            all.push((flight, passage));
        }
    }

    /// Whether an exchange receives before it sends.
    fn receives_first(&self, item: &Item) -> bool {
        self.known.receives_first.get(&item.call) == Some(&Some(true))
    }

    /// A processor makes a call that is no send, if it can.
    fn steps(&mut self, id: usize) -> bool {
        let Processor { now, done, is_half, receives_from, .. } = self.processors[id];
        let Some(item) = self.known.prefix.items[id].get(done) else { return false };
        let mut receives = receives_from;
        let over = match &item.what {
            What::Lasts(lasts) => now + *lasts,
            What::Looks { lasts, .. } => now + *lasts,
            What::Both(..) if self.receives_first(item) == is_half => return false,
            What::Receives(receiving) | What::Both(_, receiving) => match receiving.got {
                Some(got) => {
                    let Some(arrival) = self.arrivals[got] else { return false };
                    let start = now.max(arrival).max(receives_from);
                    receives = start + receiving.gap;
                    start + receiving.overhead
                }
                None => match receiving.until {
                    Some(Limit::GapOver(_)) | None => now,
                    Some(Limit::After(_)) => now + receiving.in_vain,
                },
            },
            What::Sends(_) | What::Joins { .. } | What::Barrier(..) => return false,
        };
        let is_half = matches!(item.what, What::Both(..)) && !is_half;
        let processor = &mut self.processors[id];
        (processor.now, processor.receives_from) = (over, receives);
        processor.does(is_half, item.goes_on);
        true
    }

    /// All pass a barrier, if they are in it.
    fn passes(&mut self) -> bool {
        let here = self.processors.iter().enumerate().filter_map(|(id, processor)| {
            let item = self.known.prefix.items[id].get(processor.done)?;
            let What::Barrier(number, over) = item.what else { return None };
            item.goes_on.then_some((number, id, processor.now, over))
        });
        let here: Vec<_> = here.collect();
        let Some(first) = here.iter().map(|(number, ..)| *number).min() else { return false };
        let here: Vec<_> = here.into_iter().filter(|(number, ..)| *number == first).collect();
        let still = self.processors.iter().enumerate().filter(|(id, processor)| {
            let left = self.known.prefix.items[*id].get(processor.done..).unwrap_or_default();
            left.iter().any(|item| matches!(item.what, What::Barrier(number, _) if number == first))
        });
        if still.count() != here.len() {
            return false;
        }
        let last = here.iter().map(|(_, _, now, _)| *now).max().unwrap_or_default();
        for (_, id, _, over) in here {
            let processor = &mut self.processors[id];
            (processor.now, processor.done) = (last + over, processor.done + 1);
        }
        true
    }
}
