//! Finds latencies under which some takes of a run get particular messages.
//!
//! The unknowns are the times at which calls begin, messages are ready, enter and arrive, and receptions
//! start. The rules of the machine give [`TimeConstraints`](times::TimeConstraints) on these times,
//! with two exceptions, for which each possibility is tried. What a message waits for, room or ports that
//! others have, is left open where a solution is what the machine would do anyway ([`TimingSolver`]).
//! An exchange sends or receives first as in the run, if that has a solution.

mod conflicts;
mod constraints;
mod difference;
mod prefix;
mod solver;
mod times;

pub(super) use self::times::SolveResult;

use std::collections::HashMap;
use std::iter::repeat;

use loggp_model::message::MessageId;
use loggp_model::params::Precedence;
use loggp_model::time::{PS, Time};

use self::constraints::{ExchangeOrder, MessageVars, PrefixConstraints};
use self::prefix::{CallEffect, Prefix, SettledCall, SettledMessage};
use self::solver::{Solution, TimingSolver};
use crate::deadline::Deadline;
use crate::history::{History, Pair};

/// The latencies and the precedence under which takes get particular messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    /// Latencies of the messages that are sent before the last settled take.
    latencies: HashMap<MessageId, Time>,
    /// For each processor the time after which all other messages to it arrive.
    later_arrivals: Vec<Time>,
    /// Which processors go first, where it is not those of lower number.
    pub precedence: Precedence,
}

/// The most combinations of exchange orders that are tried.
const MAX_TRIES: usize = 200;

impl Timing {
    /// Returns the latency of a message to processor `to` that is ready at this time.
    pub(super) fn latency(&self, message: MessageId, to: usize, ready: Time) -> Time {
        self.latencies.get(&message).copied().unwrap_or_else(|| {
            let later_arrivals = self.later_arrivals.get(to).copied().unwrap_or(-PS);
            if later_arrivals >= ready { later_arrivals + PS - ready } else { Time::ZERO }
        })
    }

    /// Returns the timing in which all messages that are under way for some time are under way for as long as
    /// the machine allows.
    pub(super) fn with_longest(&self) -> Timing {
        let longest = |latency: Time| if latency > Time::ZERO { Time::MAX } else { latency };
        let latencies = self.latencies.iter().map(|(id, latency)| (*id, longest(*latency))).collect();
        Timing { latencies, ..self.clone() }
    }

    /// Returns the number of messages whose latencies are set.
    pub(super) fn settled_count(&self) -> usize {
        self.latencies.len()
    }

    /// Finds latencies for which these takes get these messages, one of which is another than in the run. If
    /// finding out takes too long, the takes may get something else. The takes must be closed under
    /// requirements. If `bounded`, no message may be under way for longer than L.
    pub(super) fn find(
        history: &History,
        settled: &[Pair],
        bounded: bool,
        deadline: Deadline,
    ) -> SolveResult<Timing> {
        if deadline.is_over() {
            return SolveResult::Unknown;
        }
        let found = |least_delay| {
            Timing::find_in(history, settled, Prefix::new(history, settled, bounded, least_delay), deadline)
        };
        match found(PS) {
            // A processor that goes first may look in vain for a message that another sends at the same
            // moment.
            SolveResult::Impossible
                if history.has_instant_messages()
                    && !matches!(found(Time::ZERO), SolveResult::Impossible) =>
            {
                SolveResult::Unknown
            }
            found => found,
        }
    }

    /// Returns whether there may be latencies if messages wait for room that others have, which are not
    /// settled by these takes.
    pub(super) fn is_possible_with_waits(history: &History, settled: &[Pair], deadline: Deadline) -> bool {
        let least_delay = if history.has_instant_messages() { Time::ZERO } else { PS };
        let prefix = Prefix::new(history, settled, true, least_delay);
        let orders = vec![None; prefix.calls.iter().flatten().count()];
        prefix.sends_all(settled) && {
            let constraints = PrefixConstraints::new(history, &prefix, settled, &orders);
            TimingSolver::new(history, &constraints, deadline).can_be_solved_with_waits(history)
        }
    }

    /// Finds latencies for a settled prefix.
    fn find_in(
        history: &History,
        settled: &[Pair],
        prefix: Prefix,
        deadline: Deadline,
    ) -> SolveResult<Timing> {
        if !prefix.sends_all(settled) {
            return SolveResult::Impossible;
        }
        let is_exchange = |call: &&SettledCall| matches!(call.effect, CallEffect::Exchange(..));
        let exchanges = prefix.calls.iter().flatten().filter(is_exchange).count();
        let found = |orders: &[ExchangeOrder]| {
            let orders: Vec<_> =
                orders.iter().copied().map(Some).chain(repeat(None)).take(exchanges).collect();
            Timing::find_for_orders(history, settled, &prefix, &orders, deadline)
        };
        // Mostly exchanges go as in the run, or there is no solution whatever their order.
        let as_in_run = found(&vec![ExchangeOrder::AsRecorded; exchanges]);
        if exchanges == 0 || matches!(as_in_run, SolveResult::Found(_)) {
            return as_in_run;
        }
        let (mut open, mut is_known) = (vec![Vec::new()], matches!(as_in_run, SolveResult::Impossible));
        for _ in 0..MAX_TRIES {
            let Some(orders) = open.pop() else {
                return if is_known { SolveResult::Impossible } else { SolveResult::Unknown };
            };
            match found(&orders) {
                SolveResult::Impossible => (),
                _ if orders.len() < exchanges => {
                    open.extend(
                        [ExchangeOrder::Reversed, ExchangeOrder::AsRecorded]
                            .map(|order| [&orders[..], &[order]].concat()),
                    );
                }
                SolveResult::Unknown => is_known = false,
                timing => return timing,
            }
        }
        SolveResult::Unknown
    }

    /// Finds latencies for given orders of the exchanges; an order that is `None` is open.
    fn find_for_orders(
        history: &History,
        settled: &[Pair],
        prefix: &Prefix,
        orders: &[Option<ExchangeOrder>],
        deadline: Deadline,
    ) -> SolveResult<Timing> {
        let constraints = PrefixConstraints::new(history, prefix, settled, orders);
        let Solution { times, precedence } = match TimingSolver::new(history, &constraints, deadline).solve()
        {
            SolveResult::Found(solution) => solution,
            SolveResult::Impossible => return SolveResult::Impossible,
            SolveResult::Unknown => return SolveResult::Unknown,
        };
        let latency = |(message, vars): (&SettledMessage, &MessageVars)| {
            (message.id, times[vars.arrival] - times[vars.enter] - message.stream)
        };
        let mut later_arrivals = vec![-PS; history.receivable.len()];
        for (take, got) in settled {
            let take = &history.takes[*take];
            let at = match got {
                Some(got) => times[constraints.vars[prefix.index_of[got]].arrival],
                None => {
                    let limits = constraints.deadlines.get(&take.call).into_iter().flatten();
                    limits.map(|(what, by)| times[*what] + *by).max().unwrap_or(times[take.call])
                }
            };
            later_arrivals[take.id] = later_arrivals[take.id].max(at);
        }
        let latencies = prefix.messages.iter().zip(&constraints.vars).map(latency).collect();
        SolveResult::Found(Timing { latencies, later_arrivals, precedence })
    }
}
