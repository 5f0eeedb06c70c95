//! A run in a kept order. The order of acts and the matching are given, so only the network needs the global
//! order of time, and only for messages that contend for a port or the capacity.

use loggp_model::agenda::AgendaEntry;
use loggp_model::error::{Cause, RunError};
use loggp_model::params::{Latency, Level, LeveledParams, Params};
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::{Acknowledged, Rank};
use loggp_model::time::Time;
use loggp_model::transport::judge::{Judge, PlainJudge};
use loggp_model::transport::{DataRead, Departure, Ingress, Passage, Watched};

use super::order::{Act, KeptMessage, KeptOrder, RunTimes};
use crate::acts::{Acts, run_acts};

/// A run in a kept order.
#[derive(Debug)]
pub struct KeptRun<'a> {
    /// The time at which the last rank was done.
    pub time: Time,
    pub(crate) order: &'a KeptOrder,
    pub(crate) network: Network,
    pub(crate) levels: Vec<Level>,
    pub(crate) times: RunTimes,
}

impl Drop for KeptRun<'_> {
    fn drop(&mut self) {
        self.order.spare.leave(std::mem::take(&mut self.times));
    }
}

/// The state of a rank.
struct KeptRank {
    rank: Rank,
    /// Its next act.
    next: u32,
    /// The turn of its last act: none of its next ones is earlier.
    turn: Time,
    /// The departure of its next message, which waits for its turn.
    departure: Departure,
    /// Its first message that has not been sent.
    unsent: u32,
    /// True if it waits for a message that has not been sent.
    is_waiting: bool,
    /// When it knows that what it has put into memories is there.
    acknowledged: Acknowledged,
}

/// Sees how a run comes about.
pub(crate) trait KeptJudge: Judge {
    /// Returns the length of a computation.
    fn calc(&self, time: Time) -> Time;

    /// Notes that a message that others can see is served at its turn.
    fn note_turn(&mut self, rank: u32, turn: Time);
}

/// Sees nothing.
impl KeptJudge for PlainJudge {
    #[inline(always)]
    fn calc(&self, time: Time) -> Time {
        time
    }

    #[inline(always)]
    fn note_turn(&mut self, _: u32, _: Time) {}
}

struct KeptPlay<'a, 'j, J> {
    run: KeptRun<'a>,
    judge: &'j mut J,
    ranks: Vec<KeptRank>,
    ingresses: Box<[Ingress]>,
    /// Ranks that can go on.
    awake: Vec<u32>,
}

impl KeptOrder {
    /// Plays it on a machine with these parameters, and with the same ports between the outermost groups. P is
    /// ignored, and no message waits for its receiver: the announcements and grants of those that did are in the
    /// order.
    pub fn run(&self, machine: impl Into<LeveledParams>) -> Result<KeptRun<'_>, RunError> {
        self.run_on(machine.into())
    }

    fn run_on(&self, LeveledParams { params, levels }: LeveledParams) -> Result<KeptRun<'_>, RunError> {
        let params = Params { P: self.ranks(), ..params };
        params.check()?;
        Level::check(&params, &levels)?;
        self.play(LeveledParams { params, levels }, &mut PlainJudge)
    }

    /// Plays it on a machine whose parameters are right, but for P.
    pub(crate) fn play<J: KeptJudge>(
        &self,
        LeveledParams { params, levels }: LeveledParams,
        judge: &mut J,
    ) -> Result<KeptRun<'_>, RunError> {
        let params = Params { P: self.ranks(), ..params };
        let network = Network::new(params, &levels, self.ports, Latency::Exact);
        let rank = |id: usize| KeptRank {
            rank: Rank::new(id, &network),
            next: self.begins[id],
            turn: Time::ZERO,
            departure: Departure::when_ready(Time::ZERO, Time::ZERO, Time::ZERO),
            unsent: self.first_messages[id],
            is_waiting: false,
            acknowledged: Acknowledged::default(),
        };
        let mut times = self.spare.take();
        times.spans.resize(self.acts.len(), (Time::ZERO, Time::ZERO));
        times.passages.resize(self.messages.len(), Passage::default());
        let mut play = KeptPlay {
            ranks: (0..self.ranks()).map(rank).collect(),
            ingresses: network.new_ingresses(),
            awake: Vec::new(),
            run: KeptRun { time: Time::ZERO, order: self, network, levels, times },
            judge,
        };
        run_acts(&mut play, self.ranks() as u32)?;
        play.finish()
    }
}

impl<J: KeptJudge> Acts for KeptPlay<'_, '_, J> {
    type Error = RunError;

    #[inline]
    fn plan(&mut self, rank: u32) -> Option<AgendaEntry> {
        while let Some(act) = self.next_act(rank) {
            match act {
                Act::Calc(time) => {
                    let own = &mut self.ranks[rank as usize].rank;
                    let begin = own.now;
                    own.compute(&self.run.network, self.judge.calc(time));
                    self.end_act(rank, begin);
                }
                Act::Flush(memory) => {
                    let KeptRank { rank: own, acknowledged, .. } = &mut self.ranks[rank as usize];
                    let begin = own.now;
                    own.now = begin.max(acknowledged.last(memory.map(|memory| memory as usize)));
                    self.end_act(rank, begin);
                }
                Act::Receive(message) => {
                    if !self.receive(rank, message) {
                        break;
                    }
                }
                Act::Send(message) | Act::Read(message) | Act::Put(message) | Act::Get(message) => {
                    let KeptMessage { to, words, .. } = self.run.order.messages[message as usize];
                    let is_seen = self.has_visible_answer(act);
                    let KeptRank { rank: sender, turn, departure, .. } = &mut self.ranks[rank as usize];
                    let network = &self.run.network;
                    *departure = match act {
                        Act::Read(_) => {
                            let read = DataRead { message: self.run.id(message), announced: 0, words };
                            sender.prepare_read(network, read).departure
                        }
                        Act::Send(_) => {
                            network.predict_departure(&sender.egress, to as usize, words as usize, sender.now)
                        }
                        _ => {
                            network.predict_one_sided(&sender.egress, to as usize, words as usize, sender.now)
                        }
                    };
                    if is_seen || network.is_visible(departure) || departure.asked_at == Time::MAX {
                        let turn = network.turn_time(departure).max(*turn);
                        return Some(AgendaEntry::new(turn, rank, 0));
                    }
                    let turn = *turn;
                    self.send(rank, turn);
                }
            }
        }
        None
    }

    #[inline]
    fn act(&mut self, entry: AgendaEntry) -> Result<u32, RunError> {
        let (turn, rank) = entry.moment();
        if self.ranks[rank as usize].departure.asked_at == Time::MAX {
            return Err(end_of_time(rank));
        }
        self.send(rank, turn);
        Ok(rank)
    }

    #[inline]
    fn next_awake(&mut self) -> Option<u32> {
        self.awake.pop()
    }
}

impl<'a, J: KeptJudge> KeptPlay<'a, '_, J> {
    /// Returns a rank's next act, if it is not done.
    #[inline]
    fn next_act(&self, rank: u32) -> Option<Act> {
        let next = self.ranks[rank as usize].next;
        (next < self.run.order.begins[rank as usize + 1]).then(|| self.run.order.acts[next as usize])
    }

    /// Notes that a rank's act is done.
    #[inline]
    fn end_act(&mut self, rank: u32, begin: Time) {
        let state = &mut self.ranks[rank as usize];
        self.run.times.spans[state.next as usize] = (begin, state.rank.now);
        state.next += 1;
    }

    /// Receives a rank's next message, if it has been sent.
    #[inline]
    fn receive(&mut self, rank: u32, message: u32) -> bool {
        let KeptMessage { from, words, .. } = self.run.order.messages[message as usize];
        let sender = self.run.order.owner(message);
        let is_sent = message < self.ranks[sender as usize].unsent || self.run.order.is_read(message);
        let state = &mut self.ranks[rank as usize];
        state.is_waiting = !is_sent;
        if !is_sent {
            return false;
        }
        let arrival = self.run.times.passages[message as usize].arrival;
        let network = &self.run.network;
        let (begin, end) = state.rank.receive(network, (from as usize, words as usize), arrival);
        state.turn = state.turn.max(end);
        self.end_act(rank, begin);
        true
    }

    /// Returns whether an act asks a memory for an answer that competes with other messages.
    #[inline]
    fn has_visible_answer(&self, act: Act) -> bool {
        let Act::Get(message) = act else { return false };
        let KeptMessage { from, to, words, .. } = self.run.order.messages[message as usize + 1];
        self.run.network.params_between(from as usize, to as usize).stream(words as usize) > Time::ZERO
    }

    /// Sends or reads a rank's next message at its turn, or puts it into a memory, which may answer.
    #[inline]
    fn send(&mut self, rank: u32, turn: Time) {
        let Some(act) = self.next_act(rank) else { return };
        let (Act::Send(message) | Act::Put(message) | Act::Get(message) | Act::Read(message)) = act else {
            return;
        };
        let is_seen = self.has_visible_answer(act);
        let state = &mut self.ranks[rank as usize];
        let departure = state.departure;
        state.turn = turn;
        let KeptMessage { from, to, .. } = self.run.order.messages[message as usize];
        let network = &self.run.network;
        let sender = &mut state.rank;
        let mut begin = sender.now;
        if is_seen || network.is_visible(&departure) {
            self.judge.note_turn(rank, turn);
        }
        let sides = &mut Watched { sides: &mut self.ingresses, judge: self.judge };
        let passage = if matches!(act, Act::Read(_)) {
            sender.read(network, sides, from as usize, &departure)
        } else {
            begin = begin.max(sender.egress.send_gap_end() - departure.overhead);
            state.unsent = message + 1;
            sender.send(network, sides, to as usize, &departure)
        };
        self.run.times.passages[message as usize] = passage;
        match act {
            Act::Put(_) => {
                state.acknowledged.add(network, (rank as usize, to as usize), passage.arrival);
            }
            Act::Get(_) => {
                let words = self.run.order.messages[message as usize + 1].words as usize;
                let (number, times) =
                    (self.run.id(message + 1).number as u32, (passage.arrival, departure.asked_at));
                let answer = network.prepare_answer(&mut sender.egress, to as usize, (number, words), times);
                let passage = network.serve(sides, &mut network.memory(to as usize), rank as usize, &answer);
                self.run.times.passages[message as usize + 1] = passage;
                state.unsent = message + 2;
            }
            _ => (),
        }
        self.end_act(rank, begin);
        let receiver = &self.ranks[to as usize];
        if receiver.is_waiting && self.next_act(to) == Some(Act::Receive(message)) {
            self.ranks[to as usize].is_waiting = false;
            self.awake.push(to);
        }
    }

    fn finish(mut self) -> Result<KeptRun<'a>, RunError> {
        let waiting = (0..self.ranks.len() as u32).filter(|rank| self.next_act(*rank).is_some()).count();
        if waiting > 0 {
            let of = self.ranks.len();
            return Err(Cause::Deadlock { waiting, of }.into());
        }
        let last = self.ranks.iter().map(|rank| rank.rank.now).max().unwrap_or_default();
        if last == Time::MAX {
            let rank = self.ranks.iter().position(|rank| rank.rank.now == last).unwrap_or(0);
            return Err(end_of_time(rank as u32));
        }
        self.run.time = last;
        Ok(self.run)
    }
}

impl KeptRun<'_> {
    /// Returns the time at which each rank was done.
    pub fn finishes(&self) -> Vec<Time> {
        let of_rank = |ends: &[u32]| match ends[0] < ends[1] {
            true => self.times.spans[ends[1] as usize - 1].1,
            false => Time::ZERO,
        };
        self.order.begins.windows(2).map(of_rank).collect()
    }
}

fn end_of_time(rank: u32) -> RunError {
    Cause::EndOfTime { id: rank as usize }.into()
}
