//! The report of a check.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

use loggp_model::error::{RunError, ShowTime};
use loggp_model::message::MessageId;
use loggp_model::time::Time;
use loggp_trace::Order;
use loggp_trace::Trace;

use super::faults::FaultLimits;
use super::strategy::{OrderGenerator, Strategy};
use super::systematic::Coverage;

/// The result of a [check](crate::Check). `Display` prints it in sentences.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "a check says what it found, and fails nothing"]
pub struct CheckReport<R> {
    /// The strategy that chose the orders.
    pub strategy: Strategy,
    /// The seed from which the orders were drawn.
    pub seed: u64,
    pub(super) faults: FaultLimits,
    /// Number of runs, with the one that failed and without those that reduced its order.
    pub runs: usize,
    /// Number of runs that were audited.
    pub audited: usize,
    /// Number of messages that the first run sent.
    pub messages: usize,
    /// The distinct results in the order in which they occurred, at most [`CheckReport::MAX_RESULTS`].
    pub results: Vec<DistinctResult<R>>,
    /// Number of runs with results that are not listed because the list was full.
    pub unlisted: usize,
    /// The receives from any sender that could have taken another message, sorted by location in the program.
    pub choices: Vec<ChoicePoint>,
    /// Number of runs whose receives were examined for `choices`.
    pub examined: usize,
    /// The orders that the systematic strategy covered; `None` with other strategies.
    pub coverage: Option<Coverage>,
    /// The first run that failed, or `None` if none did.
    pub failure: Option<Failure>,
}

/// A result of the program, and the runs that ended with it.
#[derive(Debug)]
#[non_exhaustive]
pub struct DistinctResult<R> {
    /// The result.
    pub result: R,
    /// Number of runs with this result.
    pub runs: usize,
    /// The order of the first run with this result.
    pub order: Order,
}

/// A call that can take one of several messages: a receive from any sender, or a wait for the first of
/// several requests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChoicePoint {
    /// Location of the call in the program.
    pub location: &'static Location<'static>,
    /// Description of the messages' tag.
    pub about: String,
    /// Number of messages that it took.
    pub taken: usize,
    /// Number of times that it could have taken another message.
    pub with_choice: usize,
    /// Number of messages that it took, by sender.
    pub senders: BTreeMap<usize, usize>,
}

/// A run that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Number of runs before this one.
    pub run: usize,
    /// The failure under the reduced order.
    pub kind: FailureKind,
    /// The messages that are late; all others arrive at once. Empty if the machine's own order fails.
    pub delayed: Vec<DelayedMessage>,
    /// Number of runs that reduced the order.
    pub tries: usize,
    /// The reduced order, for `Machine::order`.
    pub order: Order,
    /// Trace of the run under the reduced order, up to the failure.
    pub trace: Trace,
}

/// A message that must be late for a run to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelayedMessage {
    /// The message.
    pub message: MessageId,
    /// Its receiver.
    pub to: usize,
    /// Its time under way.
    pub latency: Time,
}

/// A kind of failure of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum FailureKind {
    /// The run did not end: a deadlock, a message that was never received, a request that was not waited for,
    /// a panic.
    RunFailed(RunError),
    /// The program's verification rejected the result, for this reason.
    WrongResult(String),
    /// The result differs from that of the first run.
    DifferentResult,
    /// The run breaks a rule of the machine, which is no fault of the program.
    BrokenRule(String),
}

impl FailureKind {
    /// Returns whether two runs fail in the same way.
    pub(super) fn is_like(&self, other: &FailureKind) -> bool {
        match (self, other) {
            (FailureKind::RunFailed(one), FailureKind::RunFailed(other)) => {
                std::mem::discriminant(&one.cause) == std::mem::discriminant(&other.cause)
            }
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

impl FailureKind {
    fn write(&self, f: &mut dyn fmt::Write, show: ShowTime) -> fmt::Result {
        match self {
            FailureKind::RunFailed(error) => error.write(f, show),
            FailureKind::WrongResult(why) => write!(f, "the result is wrong: {why}"),
            FailureKind::DifferentResult => f.write_str("the result is another than that of the first run"),
            FailureKind::BrokenRule(rule) => {
                write!(f, "a rule of the machine is broken, which is no fault of the program: {rule}")
            }
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|time| time.to_string())
    }
}

impl fmt::Display for DelayedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|time| time.to_string()))
    }
}

impl DelayedMessage {
    fn text(&self, show: ShowTime) -> String {
        format!("{} to {}, {}", self.message, self.to, show(self.latency))
    }
}

impl fmt::Display for ChoicePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChoicePoint { location, about, taken, with_choice, senders } = self;
        write!(f, "{location}: {about}: {taken} taken, {with_choice} with a choice; from ")?;
        for (place, (sender, times)) in senders.iter().take(LISTED).enumerate() {
            write!(f, "{}{sender}: {times}", if place > 0 { ", " } else { "" })?;
        }
        if senders.len() > LISTED { f.write_str(", ...") } else { Ok(()) }
    }
}

/// The most senders or messages that `Display` lists.
const LISTED: usize = 16;

impl<R> CheckReport<R> {
    /// Creates a report of no runs.
    pub(super) fn new(strategy: Strategy, seed: u64, faults: FaultLimits) -> CheckReport<R> {
        CheckReport {
            strategy,
            seed,
            faults,
            runs: 0,
            audited: 0,
            messages: 0,
            results: Vec::new(),
            unlisted: 0,
            choices: Vec::new(),
            examined: 0,
            coverage: None,
            failure: None,
        }
    }

    /// The most distinct results that are listed.
    pub const MAX_RESULTS: usize = 1000;

    /// Returns whether no run failed.
    pub fn has_passed(&self) -> bool {
        self.failure.is_none()
    }

    /// Returns a lower bound of the probability that the check finds a failure that needs `few` particular
    /// messages to be late and all others to arrive at once. Returns `None` if no run tried that, or if
    /// faults were drawn too.
    pub fn probability(&self, few: usize) -> Option<f64> {
        OrderGenerator::late_probability(self.strategy, self.messages, few, self.runs)
            .filter(|_| self.faults.is_none())
    }

    /// Returns a lower bound of the probability that the check finds a failure that needs `few` particular
    /// changes: from each of `few` messages on, all that its sender sends is late until that sender's next
    /// change, and all else arrives at once. Returns `None` if no run tried that, or if faults were drawn
    /// too.
    pub fn probability_of_changes(&self, few: usize) -> Option<f64> {
        OrderGenerator::changes_probability(self.strategy, self.messages, few, self.runs)
            .filter(|_| self.faults.is_none())
    }

    /// Prints with which probability failures are found.
    fn write_probabilities(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        let late = ["one message is late", "two messages are late"];
        let changes = [
            "one sender is slow from some message on",
            "there are two such changes",
            "there are three such changes",
        ];
        let late = late.iter().zip(1..).map(|(needs, few)| (needs, self.probability(few)));
        let changes = changes.iter().zip(1..).map(|(needs, few)| (needs, self.probability_of_changes(few)));
        for (needs, probability) in late.chain(changes) {
            // A lower bound is rounded down, and left out if it is 0.
            let percent = probability.map_or(0.0, |bound| (1000.0 * bound).floor() / 10.0).min(99.9);
            if percent > 0.0 {
                writeln!(
                    f,
                    "if a bug appears only when {needs}, these runs find it with a probability of at least {percent:.1}%"
                )?;
            }
        }
        Ok(())
    }
}

/// Prints how many orders there are, and how many were not decided or need longer latencies.
fn write_coverage(f: &mut dyn fmt::Write, coverage: &Coverage) -> fmt::Result {
    let Coverage { orders, why_incomplete, beyond, beyond_failed, undecided, undecided_failed } = *coverage;
    let fail = |n: usize| if n == 1 { "one fails".into() } else { format!("{n} fail") };
    let of = if beyond > 0 { " with latencies up to L" } else { "" };
    match (orders, why_incomplete) {
        (1, None) => write!(f, "1 order of messages is possible{of}, and it was tried")?,
        (_, None) => write!(f, "{orders} orders of messages are possible{of}, and all were tried")?,
        (1, Some(why)) => write!(f, "1 order of messages was tried; there may be more{of} ({why})")?,
        (_, Some(why)) => write!(f, "{orders} orders of messages were tried; there may be more{of} ({why})")?,
    }
    if undecided > 0 {
        write!(f, ": at least {undecided} undecided")?;
    }
    if undecided_failed > 0 {
        write!(f, ", of which {} with longer latencies", fail(undecided_failed))?;
    }
    if beyond > 0 {
        write!(f, ", and at least {beyond} with longer ones")?;
    }
    if beyond_failed > 0 {
        write!(f, ", of which {}", fail(beyond_failed))?;
    }
    writeln!(f)
}

impl<R> fmt::Display for CheckReport<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|time| time.to_string())
    }
}

impl<R> CheckReport<R> {
    /// Returns the text of `Display`, with times as `show` writes them.
    #[doc(hidden)]
    pub fn text(&self, show: ShowTime) -> String {
        let mut text = String::new();
        self.write(&mut text, show).expect("a string can be written");
        text
    }

    fn write(&self, f: &mut dyn fmt::Write, show: ShowTime) -> fmt::Result {
        let CheckReport { strategy, seed, runs, audited, .. } = self;
        let faults = self.faults;
        let s = |n: &usize| if *n == 1 { "" } else { "s" };
        let (these, of) = (s(runs), s(&self.messages));
        write!(f, "{runs} run{these} of {} message{of}, {strategy} orders", self.messages)?;
        match self.coverage {
            Some(_) => writeln!(f, "; {audited} checked against the rules")?,
            None => writeln!(f, " by seed {seed}{faults}; {audited} checked against the rules")?,
        }
        if let Some(coverage) = &self.coverage {
            write_coverage(f, coverage)?;
        }
        if self.failure.is_none() {
            self.write_probabilities(f)?;
        }
        if !self.choices.is_empty() {
            writeln!(f, "in {} of the runs, receives that could take another message:", self.examined)?;
            self.choices.iter().try_for_each(|choices| writeln!(f, "  {choices}"))?;
        }
        if let Some(failure) = &self.failure {
            return failure.write(f, show);
        }
        let is_beyond = self.coverage.is_some_and(|coverage| coverage.beyond + coverage.undecided > 0);
        let all = if is_beyond { "all runs with latencies up to L" } else { "all runs" };
        match self.results.len() + self.unlisted {
            1 => write!(f, "{all} gave the same, correct result"),
            _ => {
                let more = if self.unlisted > 0 { "more than " } else { "" };
                let n = self.results.len();
                write!(f, "{all} gave correct results, which depend on the order: {more}{n} results")
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|time| time.to_string())
    }
}

impl Failure {
    fn write(&self, f: &mut dyn fmt::Write, show: ShowTime) -> fmt::Result {
        write!(f, "run {} fails: ", self.run)?;
        self.kind.write(f, show)?;
        writeln!(f)?;
        match &self.delayed[..] {
            [] => write!(f, "no message needs to be late for it: all arrive at once")?,
            [one] => write!(f, "one message late is enough: {}; all others arrive at once", one.text(show))?,
            more => {
                write!(f, "{} messages late are enough, and all others arrive at once:", more.len())?;
                more.iter().take(LISTED).try_for_each(|late| write!(f, "\n  {}", late.text(show)))?;
                (more.len() > LISTED).then(|| f.write_str("\n  ...")).transpose()?;
            }
        }
        for (place, (time, who)) in self.order.precedence().iter().take(LISTED).enumerate() {
            let (begin, who) = (if place == 0 { ";" } else { "," }, who.iter().map(usize::to_string));
            let time = show(*time);
            write!(f, "{begin} at {time} processor {}", who.collect::<Vec<_>>().join(" goes before "))?;
        }
        for lost in &self.trace.faults.lost {
            write!(f, "; {lost} is lost")?;
        }
        for (twice, later) in &self.trace.faults.twice {
            write!(f, "; {twice} comes again {} later", show(*later))?;
        }
        for (id, number) in &self.trace.faults.crashed {
            write!(f, "; processor {id} crashes before its message {number}")?;
        }
        write!(f, " (found in {} more run{})", self.tries, if self.tries == 1 { "" } else { "s" })
    }
}
