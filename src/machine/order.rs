//! An order of messages, and what was seen of a run under it.

use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::params::{Latency, Noise, Precedence, Ties};
use crate::rules::choice::Rule;
use crate::trace::{Faults, Trace};

/// An order of messages: how long each is under way, and who goes first among those that act at the same time. A
/// [check](crate::Machine::check) tries many, and [`Machine::ordered`](crate::Machine::ordered) runs under one.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// How latencies are drawn of which the rule says nothing.
    pub(super) latency: Latency,
    /// Who goes first.
    pub(super) ties: Ties,
    /// Who goes first at some moments, whatever the ties say.
    pub(super) precedence: Arc<Precedence>,
    /// The noise of the processors, if it says one.
    pub(super) noise: Option<Noise>,
    /// Says how long messages are under way, if not all are drawn.
    pub(super) rule: Option<Rule>,
    /// What goes wrong.
    pub(super) faults: Arc<Faults>,
    /// Whether messages may be under way for longer than L, and are never in each other's way.
    pub(super) is_unbounded: bool,
    /// Where the run is seen, if somebody wants to see it.
    pub(super) sight: Option<Sight>,
}

impl Order {
    /// The order of a run that was traced.
    pub fn of(trace: &Trace) -> Order {
        let rule = Some(Rule::repeating(trace.latencies()));
        let noise = trace.noise.clone();
        let precedence = Arc::new(trace.precedence.clone());
        let order =
            Order { latency: trace.latency, ties: trace.ties, precedence, noise, rule, ..Order::default() };
        order.with_faults(trace.faults.clone())
    }

    /// An order in which all latencies and ties are drawn.
    pub(crate) fn drawn(latency: Latency, ties: Ties) -> Order {
        Order { latency, ties, ..Order::default() }
    }

    /// An order in which a rule says how long messages are under way, and the lower number goes first.
    pub(crate) fn ruled(rule: Rule) -> Order {
        // That latencies are drawn says that they are not exact; the rule leaves none to be drawn.
        Order { latency: Latency::Random { seed: 0 }, rule: Some(rule), ..Order::default() }
    }

    /// The same order with these ties.
    pub(crate) fn with_ties(self, ties: Ties) -> Order {
        Order { ties, ..self }
    }

    /// The same order in which these go first at their moments.
    pub(crate) fn preceded_by(self, precedence: Precedence) -> Order {
        Order { precedence: Arc::new(precedence), ..self }
    }

    /// The same order with these faults.
    pub(crate) fn with_faults(self, faults: Faults) -> Order {
        Order { faults: Arc::new(faults), ..self }
    }

    /// The same order on a machine on which messages may be under way for longer than L, and are never in each other's way.
    pub(crate) fn unbounded(self) -> Order {
        Order { is_unbounded: true, ..self }
    }

    /// Who goes first in it.
    pub(crate) fn ties(&self) -> Ties {
        self.ties
    }

    /// Who goes first in it at some moments, whatever the ties say.
    pub fn precedence(&self) -> &Precedence {
        &self.precedence
    }

    /// Returns what goes wrong in it.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The same order, with a place where a run under it is seen, whether it fails or not.
    pub(crate) fn seen(&self) -> (Order, Sight) {
        let sight = Sight::default();
        (Order { sight: Some(sight.clone()), ..self.clone() }, sight)
    }
}

/// What was seen of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What happened, as far as the run came.
    pub trace: Trace,
    /// Where in the program calls are that may take one of several messages, by their places in the trace.
    pub places: Vec<(usize, &'static Location<'static>)>,
}

/// Where a run is seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight(Arc<Mutex<Option<Seen>>>);

impl Sight {
    /// Shows a run.
    pub(super) fn set(&self, seen: Seen) {
        *self.0.lock() = Some(seen);
    }

    /// What was seen last; nothing if no run has begun.
    pub(crate) fn take(&self) -> Option<Seen> {
        self.0.lock().take()
    }
}
