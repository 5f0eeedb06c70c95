//! Distributed random scheduling (section 6, figures 5 and 6): a sender asks receivers in random order, and
//! sends to one that is free.
//!
//! Active messages, a request and its reply, test and set a processor's busy bit. The bit says that another
//! processor sends to this one, which resets the bit when it has received. Whenever a processor waits, be it
//! for a reply, a message, the gap or the end of its sleep, it serves the notes that arrive.
//!
//! If no processor replied while its message streams out, all that ask it would wait for that. On the CM-5 a
//! message is a train of packets, and a processor polls between packets. So here a message is sent in blocks,
//! and the processor serves between blocks.
//!
//! Each processor knows from the receive vector how many messages will arrive. After a request it waits for
//! the reply, and if that is yes it sends before it asks again; so nothing is left when the last message has
//! arrived.

use std::collections::VecDeque;

use loggp::{Pack, Payload, Proc, Tag, Time, Unpack};

use super::linear::Stage;
use super::packet::{BYTES, Packet, PacketBlock};

/// A message between processors.
pub(super) enum SchedulingNote {
    /// Request to send.
    Request,
    /// Yes, and the busy bit is set; or no, and the time for which the processor is busy.
    Reply(Result<(), Time>),
    /// Block of the message.
    Data(PacketBlock),
}

impl Payload for SchedulingNote {
    fn bytes(&self) -> usize {
        match self {
            SchedulingNote::Request | SchedulingNote::Reply(_) => 1, // an active message of a word
            SchedulingNote::Data(block) => block.packet.bytes(),
        }
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        match self {
            SchedulingNote::Request => to.add(&[0]),
            SchedulingNote::Reply(reply) => {
                to.add(&[1]);
                reply.pack(to);
            }
            SchedulingNote::Data(block) => {
                to.add(&[2]);
                block.pack(to);
            }
        }
    }

    fn unpack(from: &mut Unpack) -> Option<SchedulingNote> {
        match u8::unpack(from)? {
            0 => Some(SchedulingNote::Request),
            1 => Payload::unpack(from).map(SchedulingNote::Reply),
            _ => Payload::unpack(from).map(SchedulingNote::Data),
        }
    }
}

/// A form of random scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSchedule {
    /// True if the two improvements are made.
    pub improved: bool,
    /// Elements of a block.
    pub block: usize,
}

impl RandomSchedule {
    /// As in figure 5, with messages in one block.
    pub const PLAIN: RandomSchedule = RandomSchedule { improved: false, block: usize::MAX };
    /// The same with its improvements.
    pub const IMPROVED: RandomSchedule = RandomSchedule { improved: true, ..RandomSchedule::PLAIN };
}

/// Counts of requests and sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Payload)]
pub struct RequestCounts {
    /// Requests that this processor sent.
    pub requests: u64,
    /// Requests that this processor rejected.
    pub rejected: u64,
    /// Sleeps of this processor, each since it had found all receivers busy.
    pub sleeps: u64,
}

/// A processor's part in the scheduling.
struct RandomScheduler<'a, M, R> {
    tag: Tag<SchedulingNote>,
    /// True if the two improvements are made.
    improved: bool,
    /// Bytes of a block.
    block: usize,
    /// Receive vector.
    recvl: &'a [usize],
    /// Makes the message for a processor.
    message: M,
    /// Takes a message.
    receive: R,
    /// Receivers that it still has to send to, and the time from which on it may ask each.
    unsent: Vec<(usize, Time)>,
    /// Receiver of the request that has no reply yet.
    asked: Option<usize>,
    /// Replies that wait for the gap.
    replies: VecDeque<(usize, SchedulingNote)>,
    /// Receiver of the present message, and the blocks that are left.
    sending: (usize, VecDeque<PacketBlock>),
    /// Blocks received so far, by sender.
    received: Vec<Vec<PacketBlock>>,
    /// Number of messages that have not arrived.
    missing: usize,
    /// Number of processors that may send, and have not. The busy bit is set if there is one.
    granted: usize,
    /// Time at which all of these messages will have been received, as far as it can tell.
    free_at: Time,
    counts: RequestCounts,
}

/// Sends the messages of a stage to whom is found free, and receives those for this processor.
pub(super) fn send_random(
    p: &mut Proc,
    &Stage { number, seed, sendl, recvl }: &Stage,
    form: RandomSchedule,
    mut message: impl FnMut(usize) -> Packet,
    mut receive: impl FnMut(usize, Packet),
) -> RequestCounts {
    let (i, P, tag) = (p.id(), p.P(), Tag::named(2 * number + 1, "note"));
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    if sendl[i] > 0 {
        receive(i, message(i));
    }
    let others = |l: &[usize]| (0..P).filter(|j| *j != i && l[*j] > 0).collect::<Vec<_>>();
    let mut scheduler = RandomScheduler {
        tag,
        improved: form.improved,
        // Where messages may wait for their receivers (LogGPS), they are not cut.
        block: if p.params().is_loggp() { form.block.saturating_mul(BYTES) } else { usize::MAX },
        recvl,
        message,
        receive,
        unsent: others(sendl).into_iter().map(|j| (j, Time::ZERO)).collect(),
        asked: None,
        replies: VecDeque::new(),
        sending: (i, VecDeque::new()),
        received: vec![Vec::new(); P],
        missing: others(recvl).len(),
        granted: 0,
        free_at: Time::ZERO,
        counts: RequestCounts::default(),
    };
    // After a reply it sends something of its own, or processors that ask again and again would keep it from
    // sending.
    let (mut is_asleep, mut has_replied) = (false, false);
    while !scheduler.is_done() {
        let now = p.now();
        if scheduler.has_nothing_to_send() && (scheduler.asked.is_some() || scheduler.unsent.is_empty()) {
            let (from, note) = p.recv_with_sender(tag);
            scheduler.serve(p, from, note);
            continue;
        }
        // While the gap runs, or all receivers are busy, it serves.
        let wake_time = match scheduler.has_nothing_to_send() {
            true => scheduler.unsent.iter().map(|(_, from)| *from).min().unwrap_or_default(),
            false => now,
        };
        scheduler.counts.sleeps += u64::from(wake_time > now && !is_asleep);
        is_asleep = wake_time > now;
        let until = p.next_send().max(wake_time);
        if until > now {
            if let Some((from, note)) = p.recv_deadline(tag.with_sender(), until) {
                scheduler.serve(p, from, note);
            }
            continue;
        }
        let reply = if has_replied { None } else { scheduler.replies.pop_front() };
        has_replied = reply.is_some();
        if let Some((to, reply)) = reply {
            p.send(to, tag, reply);
        } else if let Some(block) = scheduler.sending.1.pop_front() {
            p.send(scheduler.sending.0, tag, SchedulingNote::Data(block));
        } else if scheduler.asked.is_none()
            && let Some(to) = rng.choice(scheduler.receivers_to_ask(now))
        {
            scheduler.counts.requests += 1;
            scheduler.asked = Some(to);
            p.send(to, tag, SchedulingNote::Request);
        }
    }
    scheduler.counts
}

impl<M: FnMut(usize) -> Packet, R: FnMut(usize, Packet)> RandomScheduler<'_, M, R> {
    /// Returns whether all messages have been sent and received.
    fn is_done(&self) -> bool {
        self.unsent.is_empty() && self.missing == 0 && self.asked.is_none() && self.has_nothing_to_send()
    }

    /// Returns whether there is nothing to send but requests.
    fn has_nothing_to_send(&self) -> bool {
        self.replies.is_empty() && self.sending.1.is_empty()
    }

    /// Returns the receivers that it may ask now.
    fn receivers_to_ask(&self, now: Time) -> Vec<usize> {
        self.unsent.iter().filter(|(_, from)| *from <= now).map(|(j, _)| *j).collect()
    }

    /// Serves a note.
    fn serve(&mut self, p: &mut Proc, from: usize, note: SchedulingNote) {
        match note {
            SchedulingNote::Request => self.test_and_set(p, from),
            SchedulingNote::Reply(Ok(())) => {
                self.asked = None;
                self.unsent.retain(|(j, _)| *j != from);
                let packet = (self.message)(from);
                self.sending = (from, packet.cut(self.block).into());
            }
            SchedulingNote::Reply(Err(busy)) => {
                self.asked = None;
                let now = p.now();
                // Without the improvement it looks for another at once. That takes a cycle, so that time
                // advances where messages take none.
                let busy = if self.improved { busy } else { p.params().cycle };
                self.unsent.iter_mut().filter(|(j, _)| *j == from).for_each(|(_, at)| *at = now + busy);
            }
            SchedulingNote::Data(block) => {
                let blocks = &mut self.received[from];
                blocks.push(block);
                if blocks.len() == blocks[0].count {
                    let mut blocks = std::mem::take(blocks);
                    blocks.sort_unstable_by_key(|block| block.number);
                    self.missing -= 1;
                    self.granted -= 1;
                    (self.receive)(from, Packet::join(blocks));
                }
            }
        }
    }

    /// Replies whether the processor is free, and if so sets its busy bit (figure 6).
    fn test_and_set(&mut self, p: &mut Proc, from: usize) {
        let params = p.params();
        let hop = params.send_overhead(1) + params.L + params.stream(1) + params.recv_overhead(1);
        let rejection = if params.gps().is_some() {
            // Here a long message waits for its receiver, which must then do nothing else. So that processors
            // do not wait for each other in a circle, one that has asked, or may send, lets only lower ones
            // go before it.
            let is_sender = self.asked.is_some() || !self.sending.1.is_empty();
            (is_sender && from > p.id()).then_some(2 * hop.max(params.cycle))
        } else {
            self.busy_time(p.now(), hop.max(params.cycle))
        };
        if let Some(busy) = rejection {
            self.counts.rejected += 1;
            self.replies.push_back((from, SchedulingNote::Reply(Err(busy))));
            return;
        }
        self.granted += 1;
        let stream = params.stream(params.words(BYTES * self.recvl[from]));
        self.free_at = self.free_at.max(p.now() + 2 * hop) + stream;
        if params.is_loggp() {
            self.replies.push_back((from, SchedulingNote::Reply(Ok(()))));
            return;
        }
        p.send(from, self.tag, SchedulingNote::Reply(Ok(())));
        while self.granted > 0 {
            let note = p.recv(self.tag.from(from));
            self.serve(p, from, note);
        }
    }

    /// Returns the time for which the processor is busy, or `None` if it is free. With the second improvement
    /// it is free when its present transfer is about to end: when the next one, if granted now, would begin
    /// to arrive after that. With the first the time tells the sender when to ask so that this will be so.
    fn busy_time(&self, now: Time, hop: Time) -> Option<Time> {
        if self.granted == 0 {
            return None;
        }
        let go_ahead = self.free_at - 2 * hop;
        if self.improved && self.granted == 1 && now >= go_ahead {
            return None;
        }
        Some((go_ahead - now - 2 * hop).max(hop))
    }
}
