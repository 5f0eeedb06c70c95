//! Messages between processors without programs: their times when they wait for each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::log::Message;
use crate::message::MessageId;
use crate::params::Latency;
use crate::params::Ports;
use crate::params::{Params, ParamsError};
use crate::rules::network::{Egress, Entry, Ingress, Network, Passage};
use crate::time::Time;

/// The network of a machine by itself, to find costs without a run: sends go in, and messages come out, as
/// they would in a run. There are no programs, no data and no receptions.
///
/// [`Params::send_overhead`], [`Params::stream`] and [`Params::recv_overhead`] are the costs of a message
/// alone. Here messages also wait for each other, at the ports and for the capacity.
///
/// ```
/// use loggp::{Latency, Params, Ports, Time, Traffic, US};
///
/// // Three processors send a word to processor 0 at once.
/// // ceil(L/g) = 2 messages may be in transit to it, so the third one stalls.
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let mut traffic = Traffic::new(params, Ports::Single, Latency::Exact)?;
/// for from in [1, 2, 3] {
///     traffic.send(from, 0, 1, Time::ZERO);
/// }
/// // Processor 0 sends each message back as soon as it has received it.
/// let mut times = Vec::new();
/// while let Some(message) = traffic.next() {
///     times.push((message.id.from, message.enter, message.arrival));
///     if message.to == 0 {
///         traffic.send(0, message.id.from, 1, message.arrival + params.o);
///     }
/// }
/// assert_eq!(times[..3], [(1, 2 * US, 8 * US), (2, 2 * US, 8 * US), (3, 8 * US, 14 * US)]);
/// assert_eq!(times[3..], [(0, 12 * US, 18 * US), (0, 16 * US, 22 * US), (0, 20 * US, 26 * US)]);
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Debug)]
pub struct Traffic {
    network: Network,
    ingresses: Box<[Ingress]>,
    senders: Vec<TrafficSender>,
    /// The time at which each processor's next message asks to enter.
    agenda: BinaryHeap<Reverse<(Time, usize)>>,
}

/// The sends of a processor.
#[derive(Debug)]
struct TrafficSender {
    egress: Egress,
    /// The next message, and its entry.
    next: Option<(PendingSend, Entry)>,
    /// The messages after the next one, which wait until that one has entered.
    waiting: VecDeque<PendingSend>,
    /// The number of the next message.
    next_number: usize,
}

/// A send that was called.
#[derive(Clone, Copy, Debug)]
struct PendingSend {
    to: usize,
    words: usize,
    /// The time of the call.
    at: Time,
}

impl Traffic {
    /// Creates a network in which nothing has been sent. Fails for parameters that no machine can have.
    pub fn new(params: Params, ports: Ports, latency: Latency) -> Result<Traffic, ParamsError> {
        params.check()?;
        let network = Network::new(params, &[], ports, latency);
        let sender = |id| TrafficSender {
            egress: network.new_egress(id),
            next: None,
            waiting: VecDeque::new(),
            next_number: 0,
        };
        let senders = (0..params.P).map(sender).collect();
        let ingresses = (0..network.ingress_count()).map(|_| Ingress::default()).collect();
        Ok(Traffic { network, ingresses, senders, agenda: BinaryHeap::new() })
    }

    /// Calls a send on processor `from` at a time, or when its message before that has entered, if that is
    /// later.
    ///
    /// Messages are served in the order of their entries. So a send must be added before a message
    /// with a later entry is [taken](Traffic::next): in a simulation, as soon as the message that it
    /// answers is known.
    ///
    /// On a LogGPS machine the announcement and the grant before a message of more than S words are messages of no
    /// words, to be added too. A message must not be longer than [`Params::longest_message`]. A message of no
    /// words counts as one word, except on a LogGPS machine.
    ///
    /// # Panics
    ///
    /// If there is no processor `from` or `to`.
    pub fn send(&mut self, from: usize, to: usize, words: usize, at: Time) {
        let last = self.senders.len() - 1;
        assert!(
            from <= last && to <= last,
            "there is no way from {from} to {to}: there are processors 0 to {last}"
        );
        let words = self.network.params().counted_words(words);
        self.senders[from].waiting.push_back(PendingSend { to, words, at });
        if self.senders[from].next.is_none() {
            self.prepare_next(from, Time::ZERO);
        }
    }

    /// Prepares the entry of a processor's next message, if there is one. The message before it enters at
    /// `entered`.
    fn prepare_next(&mut self, from: usize, entered: Time) {
        let TrafficSender { egress, next, waiting, .. } = &mut self.senders[from];
        *next = waiting.pop_front().map(|send| {
            let entry = self.network.prepare_entry(egress, send.to, send.words, send.at.max(entered));
            self.agenda.push(Reverse((entry.asked_at, from)));
            (send, entry)
        });
    }
}

/// The messages, in the order of their entries, which is not that of their arrivals.
impl Iterator for Traffic {
    type Item = Message;

    /// Returns the next message with its times in the network, or `None` if all messages have been taken.
    fn next(&mut self) -> Option<Message> {
        let Reverse((_, from)) = self.agenda.pop()?;
        let TrafficSender { egress, next, next_number, .. } = &mut self.senders[from];
        let (PendingSend { to, words, .. }, entry) =
            next.take().expect("a processor on the agenda has a next message");
        let passage = self.network.serve(&mut *self.ingresses, egress, to, &entry);
        let id = MessageId { from, number: *next_number };
        *next_number += 1;
        self.prepare_next(from, passage.enter);
        let Passage { enter, first, arrival, .. } = passage;
        Some(Message { id, to, words, latency: entry.latency, place: from, enter, first, arrival })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;

    #[test]
    fn message_of_no_words_counts_as_one_word() {
        for builder in [Params::builder(2), Params::builder(2).G(PS)] {
            let params = builder.L(6 * PS).o(2 * PS).g(4 * PS).build().unwrap();
            let mut traffic = Traffic::new(params, Ports::Single, Latency::Exact).unwrap();
            (0..2).for_each(|_| traffic.send(0, 1, 0, Time::ZERO));
            let times: Vec<_> =
                traffic.map(|message| (message.words, message.enter, message.arrival)).collect();
            assert_eq!(times, [(1, 2 * PS, 8 * PS), (1, 6 * PS, 12 * PS)]);
        }
    }

    #[test]
    fn new_refuses_impossible_parameters() {
        let params = Params { g: -PS, ..Params::builder(2).build().unwrap() };
        let refused = Traffic::new(params, Ports::Single, Latency::Exact).unwrap_err();
        assert_eq!(refused.to_string(), "g = -1 ps is negative; only G_l may be");
    }
}
