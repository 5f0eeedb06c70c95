//! An order of messages, and the observation of a run under it.

use std::sync::Arc;

use loggp_model::params::{Latency, Noise, Precedence, Ties};
use loggp_model::rules::choice::LatencyRule;
use parking_lot::Mutex;

use super::recording::{ObservedRun, Recording};
use crate::{Faults, Trace};

/// An order of messages: the latency of each message, and the order of processors that act at the same time.
///
/// A check tries many orders, and `Machine::order` sets
/// one.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The latencies of messages about which the rule says nothing.
    pub latency: Latency,
    /// The order of processors that act at the same time.
    pub ties: Ties,
    /// The processors that go first at some moments, whatever the ties say.
    #[doc(hidden)]
    pub precedence: Arc<Precedence>,
    /// The noise of the processors, if the order sets one.
    pub noise: Option<Noise>,
    /// The rule for the latencies of messages, if not all are drawn.
    #[doc(hidden)]
    pub rule: Option<LatencyRule>,
    #[doc(hidden)]
    pub faults: Arc<Faults>,
    /// Whether messages may take longer than L, and never delay each other.
    #[doc(hidden)]
    pub is_unbounded: bool,
    /// Observes the run, if it is set.
    #[doc(hidden)]
    pub observer: Option<RunObserver>,
}

impl From<&Order> for Order {
    fn from(order: &Order) -> Order {
        order.clone()
    }
}

impl From<&Trace> for Order {
    /// Returns the order of a run that was traced.
    fn from(trace: &Trace) -> Order {
        Order {
            latency: trace.latency,
            ties: trace.ties,
            precedence: Arc::new(trace.precedence.clone()),
            noise: trace.noise.clone(),
            rule: Some(LatencyRule::from_recording(trace.latencies())),
            faults: Arc::new(Faults { ended_early: false, ..trace.faults.clone() }),
            ..Order::default()
        }
    }
}

impl Order {
    /// Makes an order in which a rule sets the latencies, and the processor with the lower number goes first.
    #[doc(hidden)]
    pub fn from_rule(rule: LatencyRule) -> Order {
        // `Random` says that latencies are not exact. The rule sets all of them, so none is drawn.
        Order { latency: Latency::Random { seed: 0 }, rule: Some(rule), ..Order::default() }
    }

    /// Returns the processors that go first at some moments, whatever the ties say.
    pub fn precedence(&self) -> &Precedence {
        &self.precedence
    }

    /// Returns the faults of the order.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the order with an observer of a run under it, and that observer. A run that fails is observed
    /// too.
    #[doc(hidden)]
    pub fn observed(&self) -> (Order, RunObserver) {
        let observer = RunObserver::default();
        (Order { observer: Some(observer.clone()), ..self.clone() }, observer)
    }
}

/// An observer, which keeps the logs of the last run. The trace is made only for who asks for the trace.
#[derive(Clone, Debug, Default)]
pub struct RunObserver(Arc<Mutex<Option<Recording>>>);

impl RunObserver {
    /// Records a run.
    pub fn record(&self, run: Recording) {
        *self.0.lock() = Some(run);
    }

    /// Takes the last run, or `None` if no run has begun.
    pub fn take(&self) -> Option<ObservedRun> {
        self.0.lock().take().map(Recording::observed)
    }
}
