//! The rules of the machine: what a message costs, when it enters the network and when it arrives.
//!
//! This is the only place where L, o, g, G and the capacity turn into times, for both clocks. It is
//! arithmetic on reservations: a send looks at what is already promised to the two processors, finds the
//! earliest moment that fits, and promises that too. No queue is processed and nothing happens later. The
//! rules and their sources are told at length in `docs/model.md`:
//!
//! 1. **overhead and gap**: `ready = max(t + o, out_free)` in [`Network::send`];
//! 2. **capacity**: at most ceil(L/g) messages in transit from and to a processor, [`Slots`];
//! 3. **port**: the (k-1)G of a long message occupy both ends, [`Port`];
//! 4. **reception**: `start = max(t, arrival, last start + g)` in [`reception`].

use std::cmp::Ordering;

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use crate::params::Params;
use crate::time::Time;

/// How long a word is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latency {
    /// Exactly L, as the papers assume when they predict a time.
    #[default]
    Exact,
    /// Anything from 0 to L, drawn for each message: what a correct program must bear (LogP, section 3).
    Random {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
}

/// How many long messages a processor's interface handles at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// One, sent or received (LogGP, section 2).
    #[default]
    Single,
    /// One sent and one received.
    Dual,
}

/// What a message of k words costs, apart from what else is going on.
impl Params {
    /// The length in words of a message of so many bytes. LogP has no message shorter than a word.
    pub fn words(&self, bytes: usize) -> usize {
        let words = if bytes <= self.word { usize::from(bytes > 0) } else { bytes.div_ceil(self.word) };
        if self.is_loggp() { words.max(1) } else { words }
    }

    /// How long the sender is busy: o, and kO_s more under LogGPS.
    pub fn send_overhead(&self, k: usize) -> Time {
        self.gps.map_or(self.o, |gps| self.o + k as i64 * gps.O_s)
    }

    /// How long the receiver is busy: o, and kO_r more under LogGPS.
    pub fn recv_overhead(&self, k: usize) -> Time {
        self.receiving().of(k)
    }

    /// The overhead of receiving.
    pub(crate) fn receiving(&self) -> Overhead {
        Overhead { fixed: self.o, per_word: self.gps.map_or(Time::ZERO, |gps| gps.O_r) }
    }

    /// How long after its first word a message's last word follows: (k-1)G (LogGP, section 2.1), or kG_s up
    /// to s words and G_l for each above (LogGPS, table 3), which may take back more than there was.
    pub fn stream(&self, k: usize) -> Time {
        match self.gps {
            None => (k as i64 - 1) * self.G,
            Some(gps) => {
                let in_first_packet = k.min(gps.s);
                in_first_packet as i64 * gps.G_s + (k - in_first_packet) as i64 * gps.G_l
            }
        }
    }

    /// Whether a message waits for its receiver before it is sent (LogGPS, section 3.1).
    pub fn is_synchronous(&self, k: usize) -> bool {
        self.gps.is_some_and(|gps| k > gps.S)
    }

    /// How many messages may be in transit from a processor, and as many to it: ceil(L/g) and at least one
    /// (LogP, section 3). `None` where there is no gap, and so no limit.
    pub fn capacity(&self) -> Option<usize> {
        let (L, g) = (self.L.as_ps(), self.g.as_ps());
        (g > 0).then(|| (L as u64).div_ceil(g as u64).max(1) as usize)
    }

    /// The longest message that does not arrive before its sender turns to it, in words; `None` if any
    /// length will do, as it does unless G_l is negative.
    ///
    /// A negative G_l (LogGPS, table 5) says that a long message's bytes travel while the sender is still
    /// busy with it, so it may arrive before its send overhead ends. Before that overhead starts it cannot.
    pub fn longest(&self) -> Option<usize> {
        let gps = self.gps?;
        let per_word = gps.O_s + gps.G_l;
        if per_word >= Time::ZERO {
            return None;
        }
        let slack = |k: usize| self.send_overhead(k) + self.stream(k) + self.L;
        // Up to s every term grows; from there on slack falls by the same amount with every word.
        let beyond = slack(gps.s).as_ps() / -per_word.as_ps();
        Some(gps.s.saturating_add(beyond.max(0) as usize))
    }
}

/// How long a processor is busy with a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overhead {
    /// However long the message is.
    fixed: Time,
    /// For each of its words.
    per_word: Time,
}

impl Overhead {
    /// With one of k words.
    #[inline]
    pub fn of(self, k: usize) -> Time {
        self.fixed + k as i64 * self.per_word
    }
}

/// When a reception starts: once the message is there, and the processor `ready`, which is when it is free
/// and the gap since its last reception began is over.
pub(crate) fn reception(ready: Time, arrival: Time) -> Time {
    ready.max(arrival)
}

/// A message's way through the network, as [`Network::send`] reserved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The overhead and the gap are over: without contention the message would enter now.
    pub ready: Time,
    /// The capacity would let it in.
    pub admitted: Time,
    /// The first word enters, and the sender goes on.
    pub enter: Time,
    /// The first word comes out.
    pub first: Time,
    /// The last word has come out: the message is there.
    pub arrival: Time,
}

/// The sending side of a processor, which nobody else touches.
#[derive(Debug)]
pub struct Exit {
    /// The gap after the last send is over.
    next: Time,
    /// Messages in transit from the processor.
    slots: Slots,
    /// The port for sending, where it is not the one for receiving.
    port: Port,
    /// Draws latencies.
    rng: fastrand::Rng,
}

impl Exit {
    /// When the gap after the last send is over.
    pub fn gap_over(&self) -> Time {
        self.next
    }

    /// The most messages that were in transit from the processor at once.
    pub fn most_in_transit(&self) -> usize {
        self.slots.most
    }
}

/// The receiving side of a processor, which all who send to it share.
#[derive(Debug)]
struct Entrance {
    /// Messages in transit to the processor.
    slots: Slots,
    /// The port: for both directions, or for receiving alone.
    port: Port,
}

/// The network between the processors.
#[derive(Debug)]
pub struct Network {
    /// What everything costs.
    params: Params,
    /// Whether a port serves both directions.
    ports: Ports,
    /// How long a word is under way.
    latency: Latency,
    /// The capacity, `usize::MAX` if unlimited.
    capacity: usize,
    /// One for each processor.
    entrances: Box<[Mutex<Entrance>]>,
}

impl Network {
    /// A network in which nothing has been sent.
    pub fn new(params: Params, ports: Ports, latency: Latency) -> Network {
        let capacity = params.capacity().unwrap_or(usize::MAX);
        let entrance = || Mutex::new(Entrance { slots: Slots::new(capacity), port: Port::default() });
        let entrances = (0..params.P).map(|_| entrance()).collect();
        Network { params, ports, latency, capacity, entrances }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The sending side of processor `x`.
    pub fn exit(&self, x: usize) -> Exit {
        let seed = match self.latency {
            Latency::Exact => 0,
            Latency::Random { seed } => seed ^ (x as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        Exit {
            next: Time::ZERO,
            slots: Slots::new(self.capacity),
            port: Port::default(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// Sends k words from `x`, whose exit this is and who is free at `t`, to `y`.
    pub fn send(&self, x: usize, exit: &mut Exit, y: usize, k: usize, t: Time) -> Passage {
        let Params { L, g, .. } = self.params;
        let stream = self.params.stream(k);
        let latency = match self.latency {
            Latency::Exact => L,
            Latency::Random { .. } => {
                // Where G_l takes back more than the overhead, less would let it arrive before its send.
                let least = (-(self.params.send_overhead(k) + stream)).max(Time::ZERO).min(L);
                Time::from_ps(exit.rng.i64(least.as_ps()..=L.as_ps()))
            }
        };

        // 1. Overhead, which may overlap the gap after the send before.
        let ready = exit.next.max(t + self.params.send_overhead(k));
        exit.next = ready + stream.max(Time::ZERO) + g;
        let uncontended = Passage {
            ready,
            admitted: ready,
            enter: ready,
            first: ready + latency,
            arrival: ready + latency + stream,
        };
        if self.capacity == usize::MAX && stream <= Time::ZERO {
            return uncontended; // nothing to share, so nothing to lock
        }
        let mut ends = self.lock(x, y, self.ports == Ports::Single && stream > Time::ZERO);

        // 2. Capacity: the earliest slot at both ends.
        let mut passage = uncontended;
        if self.capacity != usize::MAX {
            let (from, to) = (&exit.slots, &ends.receiver().slots);
            passage.admitted = ready.max(from.earliest(ready)).max(to.earliest(ready));
        }
        passage.enter = passage.admitted;

        // 3. The port: the earliest fit at the sender, and then at the receiver.
        if stream > Time::ZERO {
            let out = match self.ports {
                Ports::Single => &mut ends.sender().port,
                Ports::Dual => &mut exit.port,
            };
            passage.enter = out.reserve(passage.admitted, stream, t);
            passage.first = ends.receiver().port.reserve(passage.enter + latency, stream, t);
        } else {
            passage.first = passage.enter + latency;
        }
        passage.arrival = passage.first + stream;

        if self.capacity != usize::MAX {
            exit.slots.reserve(passage.enter, passage.arrival, t);
            ends.receiver().slots.reserve(passage.enter, passage.arrival, t);
        }
        exit.next = passage.enter + stream.max(Time::ZERO) + g;
        passage
    }

    /// Takes part in no send any more: the most messages that were in transit to `y` at once.
    pub fn most_in_transit_to(&self, y: usize) -> usize {
        self.entrances[y].lock().slots.most
    }

    /// Locks `y`'s entrance, and `x`'s too if asked, in an order that cannot deadlock.
    fn lock(&self, x: usize, y: usize, both: bool) -> Ends<'_> {
        let entrance = |id: usize| self.entrances[id].lock();
        match x.cmp(&y) {
            _ if !both => Ends { receiver: entrance(y), sender: None },
            Ordering::Equal => Ends { receiver: entrance(y), sender: None },
            Ordering::Less => {
                let sender = entrance(x);
                Ends { receiver: entrance(y), sender: Some(sender) }
            }
            Ordering::Greater => {
                let receiver = entrance(y);
                Ends { receiver, sender: Some(entrance(x)) }
            }
        }
    }
}

/// The entrances that a send has to hold: the receiver's, and the sender's if its port is wanted.
struct Ends<'a> {
    /// Where the message goes.
    receiver: MutexGuard<'a, Entrance>,
    /// Where it comes from, unless that is the same processor.
    sender: Option<MutexGuard<'a, Entrance>>,
}

impl Ends<'_> {
    fn receiver(&mut self) -> &mut Entrance {
        &mut self.receiver
    }

    fn sender(&mut self) -> &mut Entrance {
        self.sender.as_mut().unwrap_or(&mut self.receiver)
    }
}

/// The capacity of one end: a set of slots, each of which holds one message at a time.
///
/// Reserving the slot that is free earliest makes stalls first come, first served: nobody overtakes, so
/// nobody starves, and time itself frees the slots.
#[derive(Debug)]
struct Slots {
    /// How many there are.
    capacity: usize,
    /// Those that were ever used, in the order in which they become free. Slots not in here are free.
    used: SmallVec<[Slot; 2]>,
    /// Messages that are still in transit though their slots have been promised on. They count, no more.
    past: Vec<Slot>,
    /// The most messages that were in transit at once.
    most: usize,
}

/// A slot, by its last message, which is in transit during [enter, arrival).
#[derive(Clone, Copy, Debug)]
struct Slot {
    enter: Time,
    arrival: Time,
}

impl Slots {
    fn new(capacity: usize) -> Slots {
        Slots { capacity, used: SmallVec::new(), past: Vec::new(), most: 0 }
    }

    /// When a message that is ready at `ready` can have a slot, if not at once.
    fn earliest(&self, ready: Time) -> Time {
        if self.used.len() < self.capacity { ready } else { self.used[0].arrival }
    }

    /// Gives a slot to a message in transit during [enter, arrival). `now` is the time of the operation: what
    /// arrived before it counts with nobody any more.
    fn reserve(&mut self, enter: Time, arrival: Time, now: Time) {
        if arrival <= enter {
            return; // never in transit: G_l took it all back
        }
        self.past.retain(|slot| slot.arrival > now);
        if self.used.first().is_some_and(|slot| slot.arrival <= enter) {
            let slot = self.used.remove(0);
            if slot.arrival > now {
                self.past.push(slot);
            }
        }
        let later = self.used.iter().rev().take_while(|slot| slot.arrival > arrival).count();
        self.used.insert(self.used.len() - later, Slot { enter, arrival });
        if self.most < self.used.len() {
            self.most = self.most.max(self.overlap(enter, arrival));
        }
    }

    /// The most messages in transit at any one moment of [enter, arrival).
    ///
    /// The count can only rise where a message enters.
    fn overlap(&self, enter: Time, arrival: Time) -> usize {
        let slots = || self.used.iter().chain(&self.past);
        let at = |moment: Time| slots().filter(|s| s.enter <= moment && moment < s.arrival).count();
        let entries = slots().map(|slot| slot.enter);
        entries.filter(|entry| (enter..arrival).contains(entry)).map(at).max().unwrap_or(0)
    }
}

/// A port: intervals of time that no two long messages share.
#[derive(Debug, Default)]
struct Port {
    /// Reserved, in order of time.
    reserved: Vec<(Time, Time)>,
    /// Before this, reservations are forgotten.
    forgotten: Time,
}

impl Port {
    /// Reserves the earliest `length` of time that is free and not before `from`. `now` is the time of the
    /// operation: what ended before it can hinder nobody any more.
    fn reserve(&mut self, from: Time, length: Time, now: Time) -> Time {
        if self.reserved.first().is_some_and(|(_, end)| *end <= now) {
            let past = self.reserved.partition_point(|(_, end)| *end <= now);
            // On the wall clock an operation may come a little late; it then finds its past taken.
            self.forgotten = self.reserved[past - 1].1;
            self.reserved.drain(..past);
        }
        let mut start = from.max(self.forgotten);
        let mut place = self.reserved.partition_point(|(_, end)| *end <= start);
        while let Some((taken, end)) = self.reserved.get(place)
            && *taken < start + length
        {
            start = *end;
            place += 1;
        }
        self.reserved.insert(place, (start, start + length));
        start
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
