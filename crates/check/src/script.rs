//! Finds latencies under which some takes of a run get particular messages.
//!
//! The unknowns are the times at which calls begin, messages are ready, enter and arrive, and receptions
//! start. The rules of the machine give [`TimeConstraints`](super::times::TimeConstraints) for them, with two
//! exceptions. What a message waits for, room or ports that others have, is tried only where a solution is
//! not what the machine would do ([`TimingSolver`]). And whether an exchange sends or receives first is tried
//! too.

use std::collections::HashMap;
use std::iter::repeat;

use super::constraints::{ExchangeOrder, MessageVars, PrefixConstraints};
use super::deadline::Deadline;
use super::history::History;
use super::prefix::{CallEffect, Prefix};
use super::solver::{Solution, TimingSolver};
use super::times::SolveResult;
use loggp_model::message::MessageId;
use loggp_model::params::Precedence;
use loggp_model::time::{PS, Time};

/// The latencies and the precedence under which takes get particular messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// Latencies of the messages that are sent before the last settled take.
    latencies: HashMap<MessageId, Time>,
    /// For each processor the time after which all other messages to it arrive.
    later_arrivals: Vec<Time>,
    /// Which processors go first, where it is not those of lower number.
    pub precedence: Precedence,
}

/// The result of a search for a script.
#[derive(Debug)]
pub(super) enum ScriptResult {
    /// A script. Perhaps it does not do, if finding out takes too long.
    Script(Script),
    /// There is no script.
    Impossible,
    /// The search took too long.
    Unknown,
}

/// The most combinations of exchange orders that are tried.
const MAX_TRIES: usize = 200;

impl Script {
    /// Returns the latency of a message to processor `to` that is ready at this time.
    pub(super) fn latency(&self, message: MessageId, to: usize, ready: Time) -> Time {
        self.latencies.get(&message).copied().unwrap_or_else(|| {
            let later_arrivals = self.later_arrivals.get(to).copied().unwrap_or(-PS);
            if later_arrivals >= ready { later_arrivals + PS - ready } else { Time::ZERO }
        })
    }

    /// Returns the script in which all messages that are under way for some time are so for as long as they
    /// can.
    pub(super) fn with_longest(&self) -> Script {
        let longest = |latency: Time| if latency > Time::ZERO { Time::MAX } else { latency };
        let latencies = self.latencies.iter().map(|(id, latency)| (*id, longest(*latency))).collect();
        Script { latencies, ..self.clone() }
    }

    /// Returns the number of messages whose latencies it sets.
    pub(super) fn settled_count(&self) -> usize {
        self.latencies.len()
    }

    /// Finds latencies for which these takes get these messages, one of which is another than in the run. The
    /// takes must not depend on others. If `bounded`, no message may be under way for longer than L.
    pub(super) fn find(
        history: &History,
        settled: &[(usize, Option<usize>)],
        bounded: bool,
        deadline: Deadline,
    ) -> ScriptResult {
        if deadline.is_over() {
            return ScriptResult::Unknown;
        }
        let found = |least_delay| {
            Script::find_in(history, settled, Prefix::new(history, settled, bounded, least_delay), deadline)
        };
        match found(PS) {
            // A processor that goes first may look in vain for a message that another sends at the same
            // moment.
            ScriptResult::Impossible
                if history.has_instant_messages()
                    && !matches!(found(Time::ZERO), ScriptResult::Impossible) =>
            {
                ScriptResult::Unknown
            }
            found => found,
        }
    }

    /// Returns whether there may be latencies if messages wait for room that others have, which are not
    /// settled by these takes.
    pub(super) fn is_possible_with_waits(
        history: &History,
        settled: &[(usize, Option<usize>)],
        deadline: Deadline,
    ) -> bool {
        let least_delay = if history.has_instant_messages() { Time::ZERO } else { PS };
        let prefix = Prefix::new(history, settled, true, least_delay);
        if settled.iter().any(|(_, got)| got.is_some_and(|got| !prefix.index_of.contains_key(&got))) {
            return false;
        }
        let orders = vec![None; prefix.calls.iter().flatten().count()];
        let mut constraints = PrefixConstraints::new(history, &prefix, &orders);
        constraints.add_requests(history, settled);
        TimingSolver::new(history, &constraints, deadline).can_be_solved_with_waits(history)
    }

    /// Finds latencies for a settled prefix.
    fn find_in(
        history: &History,
        settled: &[(usize, Option<usize>)],
        prefix: Prefix,
        deadline: Deadline,
    ) -> ScriptResult {
        if settled.iter().any(|(_, got)| got.is_some_and(|got| !prefix.index_of.contains_key(&got))) {
            return ScriptResult::Impossible;
        }
        let exchanges = prefix
            .calls
            .iter()
            .flatten()
            .filter(|call| matches!(call.effect, CallEffect::Exchange(..)))
            .count();
        let found = |orders: &[ExchangeOrder]| {
            let orders: Vec<_> =
                orders.iter().copied().map(Some).chain(repeat(None)).take(exchanges).collect();
            Script::find_for_orders(history, settled, &prefix, &orders, deadline)
        };
        // Mostly exchanges go as in the run, or there is no solution whatever their order.
        let as_in_run = found(&vec![ExchangeOrder::AsRecorded; exchanges]);
        if exchanges == 0 || matches!(as_in_run, ScriptResult::Script(_)) {
            return as_in_run;
        }
        let (mut open, mut is_known) = (vec![Vec::new()], matches!(as_in_run, ScriptResult::Impossible));
        for _ in 0..MAX_TRIES {
            let Some(orders) = open.pop() else {
                return if is_known { ScriptResult::Impossible } else { ScriptResult::Unknown };
            };
            match found(&orders) {
                ScriptResult::Impossible => (),
                _ if orders.len() < exchanges => {
                    open.extend(
                        [ExchangeOrder::Reversed, ExchangeOrder::AsRecorded]
                            .map(|order| [&orders[..], &[order]].concat()),
                    );
                }
                ScriptResult::Unknown => is_known = false,
                script => return script,
            }
        }
        ScriptResult::Unknown
    }

    /// Finds latencies for given orders of the exchanges; an order that is `None` is open.
    fn find_for_orders(
        history: &History,
        settled: &[(usize, Option<usize>)],
        prefix: &Prefix,
        orders: &[Option<ExchangeOrder>],
        deadline: Deadline,
    ) -> ScriptResult {
        let mut constraints = PrefixConstraints::new(history, prefix, orders);
        constraints.add_requests(history, settled);
        let Solution { times, precedence } = match TimingSolver::new(history, &constraints, deadline).solve()
        {
            SolveResult::Times(solution) => solution,
            SolveResult::Infeasible => return ScriptResult::Impossible,
            SolveResult::Unknown => return ScriptResult::Unknown,
        };
        let latency = |(place, vars): (usize, &MessageVars)| {
            let message = &prefix.messages[place];
            (message.id, times[vars.arrival] - times[vars.enter] - message.stream)
        };
        let mut later_arrivals = vec![-PS; history.receivable.len()];
        for (place, got) in settled {
            let take = &history.takes[*place];
            let at = match got {
                Some(got) => times[constraints.vars[prefix.index_of[got]].arrival],
                None => {
                    let limits = constraints.deadlines.get(&take.call).into_iter().flatten();
                    limits.map(|(what, by)| times[*what] + *by).max().unwrap_or(times[take.call])
                }
            };
            later_arrivals[take.id] = later_arrivals[take.id].max(at);
        }
        let latencies = constraints.vars.iter().enumerate().map(latency).collect();
        ScriptResult::Script(Script { latencies, later_arrivals, precedence })
    }
}
