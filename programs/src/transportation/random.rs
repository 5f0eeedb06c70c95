//! Distributed random scheduling (section 6, figures 5 and 6): who finds a receiver free sends to it, in random order.
//!
//! A processor's busy bit is tested and set by active messages: a request, and its reply. The bit says that somebody sends
//! to it; the processor resets it itself when it has received. Whatever a processor waits for, be it a reply, a message,
//! the gap or the end of its sleep, it serves meanwhile what comes.
//!
//! Where nobody replies while a message streams out, all who ask wait for that. On the CM-5 a message is a train of
//! packets, and a processor polls between them. So here a message goes in blocks, and the processor serves between them.
//!
//! Everyone knows from the receive vector how many messages will come. Whoever has asked waits for the reply, and if that is
//! yes sends before it asks again; so nothing is left when the last message has come.

use std::collections::VecDeque;

use loggp::{Pack, Payload, Proc, Tag, Time, Unpack};

use super::packet::{BYTES, Block, Packet};

/// What processors say to each other.
pub enum Note {
    /// May I send?
    Request,
    /// Yes, and the busy bit is set; or no, and for how long.
    Reply(Result<(), Time>),
    /// A piece of the message.
    Data(Block),
}

impl Payload for Note {
    fn bytes(&self) -> usize {
        match self {
            Note::Request | Note::Reply(_) => 1, // an active message of a word
            Note::Data(block) => block.packet.bytes(),
        }
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        match self {
            Note::Request => to.add(&[0]),
            Note::Reply(reply) => {
                to.add(&[1]);
                reply.pack(to);
            }
            Note::Data(block) => {
                to.add(&[2]);
                block.pack(to);
            }
        }
    }

    fn unpack(from: &mut Unpack) -> Option<Note> {
        match u8::unpack(from)? {
            0 => Some(Note::Request),
            1 => Payload::unpack(from).map(Note::Reply),
            _ => Payload::unpack(from).map(Note::Data),
        }
    }
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// Whether the two improvements are made.
    pub improved: bool,
    /// The elements of a block.
    pub block: usize,
}

impl Random {
    /// As figure 5 has it, with messages in one block.
    pub const PLAIN: Random = Random { improved: false, block: usize::MAX };
    /// The same with its improvements.
    pub const IMPROVED: Random = Random { improved: true, ..Random::PLAIN };
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Payload)]
pub struct Counts {
    /// Requests that this processor sent.
    pub requests: u64,
    /// Requests that this processor rejected.
    pub rejected: u64,
    /// How often it slept, since it had found everyone busy.
    pub sleeps: u64,
}

/// A processor's part in the scheduling.
struct Scheduling<'a, M, R> {
    tag: Tag<Note>,
    /// Whether the two improvements are made.
    improved: bool,
    /// The bytes of a block.
    block: usize,
    /// The receive vector.
    recvl: &'a [usize],
    /// Makes the message for a processor.
    message: M,
    /// Takes a message.
    receives: R,
    /// To whom it still has to send, and from when on each may be disturbed.
    unsent: Vec<(usize, Time)>,
    /// Whom it has asked.
    asked: Option<usize>,
    /// Replies that wait for the gap.
    replies: VecDeque<(usize, Note)>,
    /// To whom it sends, and the blocks that are left.
    sending: (usize, VecDeque<Block>),
    /// What has come of everyone's message.
    came: Vec<Vec<Block>>,
    /// How many messages are still to come.
    missing: usize,
    /// How many processors were told to send, and have not. The busy bit is whether there is one.
    granted: usize,
    /// When all of these will have been received, as far as it can tell.
    free_at: Time,
    counts: Counts,
}

/// Sends everyone j its message, if `sendl[j]` > 0, and receives one from everyone with `recvl[j]` > 0. A processor's
/// message for itself takes no message.
#[allow(clippy::too_many_arguments)] // what linear takes, how, and by which chance
pub fn random(
    p: &mut Proc,
    tag: Tag<Note>,
    how: Random,
    seed: u64,
    sendl: &[usize],
    recvl: &[usize],
    mut message: impl FnMut(usize) -> Packet,
    mut receives: impl FnMut(usize, Packet),
) -> Counts {
    let (i, P) = (p.id(), p.p());
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    if sendl[i] > 0 {
        receives(i, message(i));
    }
    let others = |l: &[usize]| (0..P).filter(|j| *j != i && l[*j] > 0).collect::<Vec<_>>();
    let mut s = Scheduling {
        tag,
        improved: how.improved,
        // Where messages may wait for their receivers (LogGPS), they go at once.
        block: if p.params().is_loggp() { how.block.saturating_mul(BYTES) } else { usize::MAX },
        recvl,
        message,
        receives,
        unsent: others(sendl).into_iter().map(|j| (j, Time::ZERO)).collect(),
        asked: None,
        replies: VecDeque::new(),
        sending: (i, VecDeque::new()),
        came: vec![Vec::new(); P],
        missing: others(recvl).len(),
        granted: 0,
        free_at: Time::ZERO,
        counts: Counts::default(),
    };
    // After a reply comes something of its own, or those who ask again and again would keep it from sending.
    let (mut sleeps, mut replied) = (false, false);
    while !s.is_done() {
        let now = p.now();
        if s.sends_nothing() && (s.asked.is_some() || s.unsent.is_empty()) {
            let (from, note) = p.recv(tag);
            s.serve(p, from, note);
            continue;
        }
        // While the gap runs, or everyone is busy, it serves.
        let awake = match s.sends_nothing() {
            true => s.unsent.iter().map(|(_, from)| *from).min().unwrap_or_default(),
            false => now,
        };
        s.counts.sleeps += u64::from(awake > now && !sleeps);
        sleeps = awake > now;
        let until = p.next_send().max(awake);
        if until > now {
            if let Some((from, note)) = p.recv_until(until, tag) {
                s.serve(p, from, note);
            }
            continue;
        }
        let reply = if replied { None } else { s.replies.pop_front() };
        replied = reply.is_some();
        if let Some((to, reply)) = reply {
            p.send(to, tag, reply);
        } else if let Some(block) = s.sending.1.pop_front() {
            p.send(s.sending.0, tag, Note::Data(block));
        } else if s.asked.is_none()
            && let Some(to) = rng.choice(s.awake(now))
        {
            s.counts.requests += 1;
            s.asked = Some(to);
            p.send(to, tag, Note::Request);
        }
    }
    s.counts
}

impl<M: FnMut(usize) -> Packet, R: FnMut(usize, Packet)> Scheduling<'_, M, R> {
    /// Whether all is sent and has come.
    fn is_done(&self) -> bool {
        self.unsent.is_empty() && self.missing == 0 && self.asked.is_none() && self.sends_nothing()
    }

    /// Whether there is nothing to send but requests.
    fn sends_nothing(&self) -> bool {
        self.replies.is_empty() && self.sending.1.is_empty()
    }

    /// To whom it has to send, of those who may be disturbed now.
    fn awake(&self, now: Time) -> Vec<usize> {
        self.unsent.iter().filter(|(_, from)| *from <= now).map(|(j, _)| *j).collect()
    }

    /// Does what a note asks for.
    fn serve(&mut self, p: &mut Proc, from: usize, note: Note) {
        match note {
            Note::Request => self.test_and_set(p, from),
            Note::Reply(Ok(())) => {
                self.asked = None;
                self.unsent.retain(|(j, _)| *j != from);
                let packet = (self.message)(from);
                self.sending = (from, packet.cut(self.block).into());
            }
            Note::Reply(Err(busy)) => {
                self.asked = None;
                let now = p.now();
                // Without the improvement it looks for another at once. That takes a cycle, so that time goes on where
                // messages take none.
                let busy = if self.improved { busy } else { p.params().cycle };
                self.unsent.iter_mut().filter(|(j, _)| *j == from).for_each(|(_, at)| *at = now + busy);
            }
            Note::Data(block) => {
                let came = &mut self.came[from];
                came.push(block);
                if came.len() == came[0].of {
                    let mut blocks = std::mem::take(came);
                    blocks.sort_unstable_by_key(|block| block.number);
                    self.missing -= 1;
                    self.granted -= 1;
                    (self.receives)(from, Packet::join(blocks));
                }
            }
        }
    }

    /// Figure 6: says whether the processor is free, and if so sets its busy bit.
    fn test_and_set(&mut self, p: &mut Proc, from: usize) {
        let params = p.params();
        let hop = params.send_overhead(1) + params.L + params.stream(1) + params.recv_overhead(1);
        let rejection = if params.gps().is_some() {
            // A long message waits for its receiver here, who must then do nothing else. So that processors do not wait for
            // each other in a circle, one that has asked, or may send, lets only lower ones go before it.
            let is_sender = self.asked.is_some() || !self.sending.1.is_empty();
            (is_sender && from > p.id()).then_some(2 * hop.max(params.cycle))
        } else {
            self.busy(p.now(), hop.max(params.cycle))
        };
        if let Some(busy) = rejection {
            self.counts.rejected += 1;
            self.replies.push_back((from, Note::Reply(Err(busy))));
            return;
        }
        self.granted += 1;
        let stream = params.stream(params.words(BYTES * self.recvl[from]));
        self.free_at = self.free_at.max(p.now() + 2 * hop) + stream;
        if params.is_loggp() {
            self.replies.push_back((from, Note::Reply(Ok(()))));
            return;
        }
        p.send(from, self.tag, Note::Reply(Ok(())));
        while self.granted > 0 {
            let note = p.recv_from(from, self.tag);
            self.serve(p, from, note);
        }
    }

    /// For how long the processor is busy, if it is. With the second improvement it is not when its present transfer is
    /// about to end: when the next one, if told to go ahead now, would begin to come after that. With the first it tells
    /// when to ask so that this will be so.
    fn busy(&self, now: Time, hop: Time) -> Option<Time> {
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
