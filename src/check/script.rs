//! When messages must arrive so that a run takes what it should.
//!
//! The unknowns are when calls begin, messages are ready, enter and arrive, and receptions start. All follows from the rules of the
//! machine as [`Times`](super::times::Times) have it, but for what a message waits for: room and ports that others have, which is tried only
//! where a solution is not what the machine would do ([`Room`]); and for whether an exchange sends or receives first.

use std::collections::HashMap;
use std::iter::repeat;

use super::history::History;
use super::known::{Known, Turn, Way};
use super::prefix::{Prefix, What};
use super::room::{Room, Solution};
use super::times::Solved;
use crate::message::MessageId;
use crate::params::Precedence;
use crate::time::{PS, Time};

/// What latencies make a run take what it should.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// How long messages are under way that are sent before the last take that is settled.
    latencies: HashMap<MessageId, Time>,
    /// For each processor: all other messages to it arrive after this.
    after: Vec<Time>,
    /// Who goes first where the lower number would not do.
    pub precedence: Precedence,
}

/// What comes of looking for latencies.
#[derive(Debug)]
pub(super) enum Found {
    /// These do; or perhaps they do, where it takes too long to find out.
    Script(Script),
    /// There are none.
    Nothing,
    /// It takes too long to find out.
    Unknown,
}

/// So many ways to turn exchanges round are tried at most.
const TRIES: usize = 200;

impl Script {
    /// How long a message to a processor is under way that is ready at this time.
    pub(super) fn latency(&self, message: MessageId, to: usize, ready: Time) -> Time {
        self.latencies.get(&message).copied().unwrap_or_else(|| {
            let after = self.after.get(to).copied().unwrap_or(-PS);
            if after >= ready { after + PS - ready } else { Time::ZERO }
        })
    }

    /// For how many messages it says how long they are under way.
    pub(super) fn settles(&self) -> usize {
        self.latencies.len()
    }

    /// Latencies for which these takes get these messages, one of them another than in the run. They must follow no other
    /// takes. `bounded` says whether no message may be under way for longer than L.
    pub(super) fn of(history: &History, settled: &[(usize, Option<usize>)], bounded: bool) -> Found {
        let found = |behind| Script::behind(history, settled, Prefix::of(history, settled, bounded, behind));
        match found(PS) {
            // Who goes first, may look for what another sends at the same moment, and not find it.
            Found::Nothing if history.has_instants() && !matches!(found(Time::ZERO), Found::Nothing) => {
                Found::Unknown
            }
            found => found,
        }
    }

    /// Whether there may be latencies if messages that these takes leave open take the room of others.
    pub(super) fn may_be_with_others(history: &History, settled: &[(usize, Option<usize>)]) -> bool {
        let behind = if history.has_instants() { Time::ZERO } else { PS };
        let prefix = Prefix::of(history, settled, true, behind);
        if settled.iter().any(|(_, got)| got.is_some_and(|got| !prefix.place_of.contains_key(&got))) {
            return false;
        }
        let turns = vec![None; prefix.items.iter().flatten().count()];
        let mut known = Known::of(history, &prefix, &turns);
        known.adds_requests(history, settled);
        Room::of(history, &known).solved_with_others(history)
    }

    /// The same for what is settled so.
    fn behind(history: &History, settled: &[(usize, Option<usize>)], prefix: Prefix) -> Found {
        if settled.iter().any(|(_, got)| got.is_some_and(|got| !prefix.place_of.contains_key(&got))) {
            return Found::Nothing;
        }
        let both = prefix.items.iter().flatten().filter(|item| matches!(item.what, What::Both(..))).count();
        let found = |turns: &[Turn]| {
            let turns: Vec<_> = turns.iter().copied().map(Some).chain(repeat(None)).take(both).collect();
            Script::found(history, settled, &prefix, &turns)
        };
        // Mostly exchanges go as in the run, or there is no solution even while it is open how they go.
        let as_in_run = found(&vec![Turn::Same; both]);
        if both == 0 || matches!(as_in_run, Found::Script(_)) {
            return as_in_run;
        }
        let (mut open, mut is_known) = (vec![Vec::new()], matches!(as_in_run, Found::Nothing));
        for _ in 0..TRIES {
            let Some(turns) = open.pop() else {
                return if is_known { Found::Nothing } else { Found::Unknown };
            };
            match found(&turns) {
                Found::Nothing => (),
                _ if turns.len() < both => {
                    open.extend([Turn::Other, Turn::Same].map(|turn| [&turns[..], &[turn]].concat()));
                }
                Found::Unknown => is_known = false,
                script => return script,
            }
        }
        Found::Unknown
    }

    /// The same, where exchanges go these ways round, if that is settled.
    fn found(
        history: &History,
        settled: &[(usize, Option<usize>)],
        prefix: &Prefix,
        turns: &[Option<Turn>],
    ) -> Found {
        let mut known = Known::of(history, prefix, turns);
        known.adds_requests(history, settled);
        let Solution { times, precedence } = match Room::of(history, &known).solved() {
            Solved::Times(solution) => solution,
            Solved::Never => return Found::Nothing,
            Solved::Unknown => return Found::Unknown,
        };
        let latency = |(place, way): (usize, &Way)| {
            let flight = &prefix.flights[place];
            (flight.id, times[way.arrival] - times[way.enter] - flight.stream)
        };
        let mut after = vec![-PS; history.to.len()];
        for (place, got) in settled {
            let take = &history.takes[*place];
            let at = match got {
                Some(got) => times[known.ways[prefix.place_of[got]].arrival],
                None => {
                    let limits = known.limits.get(&take.call).into_iter().flatten();
                    limits.map(|(what, by)| times[*what] + *by).max().unwrap_or(times[take.call])
                }
            };
            after[take.id] = after[take.id].max(at);
        }
        let latencies = known.ways.iter().enumerate().map(latency).collect();
        Found::Script(Script { latencies, after, precedence })
    }
}
