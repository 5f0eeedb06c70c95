//! Messages between processors without programs: their times when they wait for each other.

use std::collections::VecDeque;

use loggp_model::agenda::{Agenda, AgendaEntry};
use loggp_model::params::{Latency, Params, ParamsError, Ports};
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::{OutgoingMessage, Rank};
use loggp_model::time::Time;
use loggp_model::transport::Ingress;
use loggp_trace::Message;

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
    /// The turns of the processors' next messages. Who takes messages adds sends in between, so this is not the
    /// loop of [`run_acts`](crate::acts::run_acts), which runs to its end.
    agenda: Agenda,
}

/// The sends of a processor.
#[derive(Debug)]
struct TrafficSender {
    rank: Rank,
    next: Option<OutgoingMessage>,
    /// The sends after the next one, which wait until that one's message has entered.
    waiting: VecDeque<PendingSend>,
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
        let sender =
            |id| TrafficSender { rank: Rank::new(id, &network), next: None, waiting: VecDeque::new() };
        let senders = (0..params.P).map(sender).collect();
        Ok(Traffic { ingresses: network.new_ingresses(), network, senders, agenda: Agenda::default() })
    }

    /// Calls a send on processor `from` at a time, or when its message before that has entered, if that is
    /// later.
    ///
    /// Messages are served in the order of their turns. So a send must be added before a message
    /// with a later turn is [taken](Traffic::next): in a simulation, as soon as the message that it
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
            self.prepare_next(from);
        }
    }

    /// Prepares a processor's next message, if there is one.
    fn prepare_next(&mut self, from: usize) {
        let TrafficSender { rank, next, waiting } = &mut self.senders[from];
        *next = waiting.pop_front().map(|PendingSend { to, words, at }| {
            rank.now = rank.now.max(at);
            let message = rank.prepare_send(&self.network, to, words);
            self.agenda.add(AgendaEntry::new(message.turn, from as u32, 0));
            message
        });
    }
}

/// The messages, in the order of their turns, which is not that of their arrivals.
impl Iterator for Traffic {
    type Item = Message;

    /// Returns the next message with its times in the network, or `None` if all messages have been taken.
    fn next(&mut self) -> Option<Message> {
        let from = self.agenda.pop()?.moment().1 as usize;
        let TrafficSender { rank, next, .. } = &mut self.senders[from];
        let message = next.take()?;
        let passage = rank.send(&self.network, &mut *self.ingresses, message.to, &message.departure);
        self.prepare_next(from);
        Some(message.record(&self.network, (from, from), &passage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::PS;

    /// A send that is added when no other one waits begins when its processor's last message has entered, too.
    #[test]
    fn send_begins_when_the_message_before_it_has_entered() {
        let params = Params::builder(3).L(6 * PS).o(8 * PS).g(PS).C(1).build().unwrap();
        let mut traffic = Traffic::new(params, Ports::Single, Latency::Exact).unwrap();
        [1, 2].into_iter().for_each(|from| traffic.send(from, 0, 1, Time::ZERO));
        assert_eq!(traffic.by_ref().map(|message| message.enter).collect::<Vec<_>>(), [8 * PS, 14 * PS]);
        traffic.send(2, 1, 1, Time::ZERO);
        assert_eq!(traffic.next().map(|message| message.enter), Some(22 * PS));
    }

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
