//! Distributed random scheduling (section 6, figures 5 and 6): who finds a receiver free sends to it, in random order.
//!
//! A processor's busy bit is tested and set by active messages: a request, and its reply. The bit says that somebody sends
//! to it; the processor resets it itself when it has received. While a processor waits, for a reply or for a message or
//! in its sleep, it serves whatever comes. Everyone knows from the receive vector how many messages will come, and as
//! whoever has asked waits for the reply, and sends before it asks again, nothing is left when the last has come.

use loggp::{Payload, Proc, Tag, Time};

use super::packet::{BYTES, Packet};

/// What processors say to each other.
pub enum Note {
    /// May I send?
    Request,
    /// Yes, and the busy bit is set; or no, and perhaps for how long.
    Reply(Result<(), Time>),
    /// The message.
    Data(Packet),
}

impl Payload for Note {
    fn bytes(&self) -> usize {
        match self {
            Note::Request | Note::Reply(_) => 1, // an active message of a word
            Note::Data(packet) => packet.bytes(),
        }
    }
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    improved: bool,
    seed: u64,
    sendl: &[usize],
    recvl: &[usize],
    mut message: impl FnMut(usize) -> Packet,
    mut receives: impl FnMut(usize, Packet),
) -> Counts {
    let i = p.id();
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    if sendl[i] > 0 {
        receives(i, message(i));
    }
    let others = |l: &[usize]| (0..l.len()).filter(|j| *j != i && l[*j] > 0).collect::<Vec<_>>();
    let mut s = Scheduling {
        tag,
        improved,
        recvl,
        message,
        receives,
        unsent: others(sendl).into_iter().map(|j| (j, Time::ZERO)).collect(),
        asked: None,
        missing: others(recvl).len(),
        granted: 0,
        free_at: Time::ZERO,
        counts: Counts::default(),
    };
    let mut sleeps = false;
    while s.asked.is_some() || !s.unsent.is_empty() || s.missing > 0 {
        if s.asked.is_some() || s.unsent.is_empty() {
            let (from, note) = p.recv(tag);
            s.serve(p, from, note);
            continue;
        }
        // While the gap runs, or everyone is busy, it serves.
        let awake = s.unsent.iter().map(|(_, from)| *from).min().unwrap_or_default();
        let until = p.next_send().max(awake);
        if until > p.now() {
            if awake > p.now() && !sleeps {
                s.counts.sleeps += 1;
            }
            sleeps = awake > p.now();
            if let Some((from, note)) = p.recv_until(until, tag) {
                s.serve(p, from, note);
            }
            continue;
        }
        sleeps = false;
        let now = p.now();
        let awake: Vec<usize> = s.unsent.iter().filter(|(_, from)| *from <= now).map(|(j, _)| *j).collect();
        if let Some(to) = rng.choice(awake) {
            s.counts.requests += 1;
            s.asked = Some(to);
            p.send(to, tag, Note::Request);
        }
    }
    s.counts
}

impl<M: FnMut(usize) -> Packet, R: FnMut(usize, Packet)> Scheduling<'_, M, R> {
    /// Does what a note asks for.
    fn serve(&mut self, p: &mut Proc, from: usize, note: Note) {
        match note {
            Note::Request => self.test_and_set(p, from),
            Note::Reply(Ok(())) => {
                self.asked = None;
                self.unsent.retain(|(j, _)| *j != from);
                let packet = (self.message)(from);
                p.send(from, self.tag, Note::Data(packet));
            }
            Note::Reply(Err(busy)) => {
                self.asked = None;
                let now = p.now();
                match self.improved {
                    true => {
                        self.unsent.iter_mut().filter(|(j, _)| *j == from).for_each(|(_, at)| *at = now + busy);
                    }
                    // To look for another takes a cycle, so that time goes on where messages take none.
                    false => p.wait_until(now + p.params().cycle),
                }
            }
            Note::Data(packet) => {
                self.missing -= 1;
                self.granted -= 1;
                (self.receives)(from, packet);
            }
        }
    }

    /// Figure 6: says whether the processor is free, and if so sets its busy bit.
    fn test_and_set(&mut self, p: &mut Proc, from: usize) {
        let params = p.params();
        let hop = params.send_overhead(1) + params.L + params.stream(1) + params.recv_overhead(1);
        let rejection = if params.gps().is_some() {
            // A long message waits for its receiver here, who must then do nothing else, or processors might wait for each
            // other in a circle. So one that has asked lets only lower ones go before it.
            self.asked.is_some_and(|_| from > p.id()).then_some(2 * hop.max(params.cycle))
        } else {
            self.busy(p.now(), hop.max(params.cycle))
        };
        if let Some(busy) = rejection {
            self.counts.rejected += 1;
            p.send(from, self.tag, Note::Reply(Err(busy)));
            return;
        }
        self.granted += 1;
        p.send(from, self.tag, Note::Reply(Ok(())));
        let stream = params.stream(params.words(BYTES * self.recvl[from]));
        self.free_at = self.free_at.max(p.now() + 2 * hop) + stream;
        while params.gps().is_some() && self.granted > 0 {
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
