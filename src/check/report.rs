//! What a check found, in numbers and in words.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

use super::faults::MostFaults;
use super::strategy::{Drawing, Strategy};
use super::systematic::Coverage;
use crate::error::RunError;
use crate::machine::Order;
use crate::message::MessageId;
use crate::time::Time;
use crate::trace::Trace;

/// What a [check](crate::Check) found. `Display` says it in words.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "a check says what it found, and fails nothing"]
pub struct Checked<R> {
    /// Which orders were tried.
    pub strategy: Strategy,
    /// What drew them.
    pub seed: u64,
    /// How many faults a run had at most.
    pub(super) faults: MostFaults,
    /// How many runs were made, the one that failed with them and those that reduced it without.
    pub runs: usize,
    /// How many of them were held against the rules of the machine.
    pub audited: usize,
    /// How many messages the first run sent.
    pub messages: usize,
    /// The different results, as they came, up to [`Checked::MOST`].
    pub classes: Vec<Class<R>>,
    /// How many runs had still other results.
    pub others: usize,
    /// The receives from anyone that could have taken another message, by their places in the program.
    pub choices: Vec<Choices>,
    /// How many runs these were seen in.
    pub seen: usize,
    /// What the systematic strategy has seen.
    pub coverage: Option<Coverage>,
    /// The first run that failed.
    pub failure: Option<Failure>,
}

/// A result, and the runs that had it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Class<R> {
    /// The result.
    pub result: R,
    /// How many runs had it.
    pub runs: usize,
    /// The order of the first of them.
    pub order: Order,
}

/// A receive from anyone, or a wait for the first of several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choices {
    /// Where in the program it is.
    pub at: &'static Location<'static>,
    /// What its messages are about.
    pub about: String,
    /// How often it took one.
    pub taken: usize,
    /// How often it could have taken another.
    pub chosen: usize,
    /// How often it took one of each sender.
    pub senders: BTreeMap<usize, usize>,
}

/// A run that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// How many runs there were before.
    pub run: usize,
    /// What is wrong with it, after the order was reduced.
    pub wrong: Wrong,
    /// The messages that are late: all others arrive at once. Where the usual order fails there are none.
    pub late: Vec<Late>,
    /// How many runs it took to reduce the order.
    pub tries: usize,
    /// The reduced order, for [`Machine::ordered`](crate::Machine::ordered).
    pub order: Order,
    /// The run under that order, as far as it came.
    pub trace: Trace,
}

/// A message that must be late for a run to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Late {
    /// The message.
    pub message: MessageId,
    /// Its receiver.
    pub to: usize,
    /// How long it is under way.
    pub latency: Time,
}

/// What can be wrong with a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Wrong {
    /// It did not come to its end: a deadlock, a message that nobody receives, a request that was not waited for, a panic.
    Failed(RunError),
    /// Its result is not right, in the words of the program's verification.
    NotRight(String),
    /// Its result is another than that of the first run, from which a part was to be shown.
    Differs,
    /// It breaks a rule of the machine. This is no fault of the program.
    Rule(String),
}

impl Wrong {
    /// Whether another run fails in the same way.
    pub(super) fn is_like(&self, other: &Wrong) -> bool {
        match (self, other) {
            (Wrong::Failed(one), Wrong::Failed(other)) => {
                std::mem::discriminant(&one.cause) == std::mem::discriminant(&other.cause)
            }
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Failed(error) => error.fmt(f),
            Wrong::NotRight(why) => write!(f, "the result is wrong: {why}"),
            Wrong::Differs => f.write_str("the result is another than that of the first run"),
            Wrong::Rule(rule) => {
                write!(f, "a rule of the machine is broken, which is no fault of the program: {rule}")
            }
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}, {}", self.message, self.to, self.latency)
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Choices { at, about, taken, chosen, senders } = self;
        write!(f, "{at}: {about}: {taken} taken, {chosen} with a choice; from ")?;
        for (place, (sender, times)) in senders.iter().take(LISTED).enumerate() {
            write!(f, "{}{sender}: {times}", if place > 0 { ", " } else { "" })?;
        }
        if senders.len() > LISTED { f.write_str(", ...") } else { Ok(()) }
    }
}

/// So many senders of a receive are listed.
const LISTED: usize = 16;

impl<R> Checked<R> {
    /// Of no run yet.
    pub(super) fn new(strategy: Strategy, seed: u64, faults: MostFaults) -> Checked<R> {
        Checked {
            strategy,
            seed,
            faults,
            runs: 0,
            audited: 0,
            messages: 0,
            classes: Vec::new(),
            others: 0,
            choices: Vec::new(),
            seen: 0,
            coverage: None,
            failure: None,
        }
    }

    /// So many different results are kept.
    pub const MOST: usize = 1000;

    /// Whether no run failed.
    pub fn is_right(&self) -> bool {
        self.failure.is_none()
    }

    /// A lower bound of the probability that a failure is found that needs so many given messages to be late and all others
    /// to arrive at once; nothing if no runs tried that, or if faults were drawn too.
    pub fn probability(&self, few: usize) -> Option<f64> {
        Drawing::late(self.strategy, self.messages, few, self.runs).filter(|_| self.faults.is_none())
    }

    /// A lower bound of the probability that a failure is found that needs so many given changes: from each of so many given
    /// messages on, all that its sender sends is late, until the next change of that sender, and all else arrives at once.
    /// Nothing if no runs tried that, or if faults were drawn too.
    pub fn probability_of_changes(&self, few: usize) -> Option<f64> {
        Drawing::changes(self.strategy, self.messages, few, self.runs).filter(|_| self.faults.is_none())
    }
}

impl<R> fmt::Display for Checked<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { strategy, seed, runs, audited, .. } = self;
        let faults = self.faults;
        let s = |n: &usize| if *n == 1 { "" } else { "s" };
        let (these, of) = (s(runs), s(&self.messages));
        write!(f, "{runs} run{these} of {} message{of}, {strategy} orders", self.messages)?;
        match self.coverage {
            Some(_) => writeln!(f, "; {audited} held against the rules")?,
            None => writeln!(f, " by seed {seed}{faults}; {audited} held against the rules")?,
        }
        if let Some(Coverage { orders, more, beyond, beyond_failed }) = self.coverage {
            let by = if orders == 1 { "order, by" } else { "orders, which differ in" };
            write!(f, "{orders} {by} what receives, looks and waits take")?;
            f.write_str(if more.is_none() { "; there are no others" } else { "; there may be more" })?;
            let of = if beyond > 0 { " with latencies up to L" } else { "" };
            write!(f, "{of}{}", more.map_or(String::new(), |why| format!(" ({why})")))?;
            if beyond > 0 {
                write!(f, ", and at least {beyond} with longer ones")?;
            }
            if beyond_failed > 0 {
                let fail = if beyond_failed == 1 { "one fails" } else { &format!("{beyond_failed} fail") };
                write!(f, ", of which {fail}")?;
            }
            writeln!(f)?;
        }
        let late = ["one message late", "two messages late"];
        let changes = ["a sender late from one message on", "two such changes", "three such changes"];
        let late = late.iter().zip(1..).map(|(needs, few)| (needs, self.probability(few)));
        let changes = changes.iter().zip(1..).map(|(needs, few)| (needs, self.probability_of_changes(few)));
        for (needs, probability) in late.chain(changes).filter(|_| self.failure.is_none()) {
            // A bound: it is not rounded up, and says nothing if it is 0.
            let percent = probability.map_or(0.0, |bound| (1000.0 * bound).floor() / 10.0).min(99.9);
            if percent > 0.0 {
                writeln!(
                    f,
                    "a failure that needs {needs} is found with a probability of at least {percent:.1}%"
                )?;
            }
        }
        if !self.choices.is_empty() {
            writeln!(f, "in {} of the runs, receives that could take another message:", self.seen)?;
            self.choices.iter().try_for_each(|choices| writeln!(f, "  {choices}"))?;
        }
        if let Some(failure) = &self.failure {
            return failure.fmt(f);
        }
        let is_beyond = self.coverage.is_some_and(|coverage| coverage.beyond > 0);
        let every = if is_beyond { "every run with latencies up to L" } else { "every run" };
        match self.classes.len() + self.others {
            1 => write!(f, "{every} came to the same right end"),
            _ => {
                let more = if self.others > 0 { "more than " } else { "" };
                let n = self.classes.len();
                write!(f, "{every} came to a right end; the result depends on the order: {more}{n} results")
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "run {} fails: {}", self.run, self.wrong)?;
        match &self.late[..] {
            [] => write!(f, "no message needs to be late for it: all arrive at once")?,
            [one] => write!(f, "one message late is enough: {one}; all others arrive at once")?,
            more => {
                write!(f, "{} messages late are enough, and all others arrive at once:", more.len())?;
                more.iter().take(LISTED).try_for_each(|late| write!(f, "\n  {late}"))?;
                (more.len() > LISTED).then(|| f.write_str("\n  ...")).transpose()?;
            }
        }
        for (place, (time, who)) in self.order.precedence().iter().take(LISTED).enumerate() {
            let (begin, who) = (if place == 0 { ";" } else { "," }, who.iter().map(usize::to_string));
            write!(f, "{begin} at {time} processor {}", who.collect::<Vec<_>>().join(" goes before "))?;
        }
        for lost in &self.trace.faults.lost {
            write!(f, "; {lost} is lost")?;
        }
        for (twice, later) in &self.trace.faults.twice {
            write!(f, "; {twice} comes again {later} later")?;
        }
        for (id, number) in &self.trace.faults.crashed {
            write!(f, "; processor {id} crashes before its message {number}")?;
        }
        write!(f, " (found in {} more run{})", self.tries, if self.tries == 1 { "" } else { "s" })
    }
}
