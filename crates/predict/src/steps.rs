//! Steps: what a processor does, one thing after the other, without the data.
//!
//! A program whose steps depend neither on its data nor on times lists them. Its run performs the steps on the
//! machine with the data, and its [schedule](crate::Predict::schedule) has the same steps ([`schedule`]).

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::rounds::dissemination;
use loggp_schedule::{Operation, Schedule, ScheduleBuilder, ScheduleError};

/// A step of a processor. The tag of a message is its program's; some have a number too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send a message.
    Send { to: usize, bytes: usize, number: Option<usize> },
    /// Receive a message with this number from a processor; from any, the one that arrives first.
    Receive { from: Option<usize>, number: Option<usize> },
    /// Exchange: such steps in a row are one exchange of a processor, in which no message has more
    /// than `longest` bytes.
    Exchange { to: usize, from: usize, bytes: usize, longest: usize },
    /// Compute.
    Work { units: u64 },
    /// Wait until this moment to send, unless the gap before the next send lasts as long.
    WaitUntil(Time),
    /// Wait until all processors are here.
    Barrier,
}

/// Returns the schedule of the processors' steps. Its [player](loggp_schedule::Player) lets a reception go
/// [first](loggp_schedule::Player::receive_first), as an exchange does.
pub fn schedule<I: Iterator<Item = Step>>(
    params: &Params,
    steps: impl Fn(usize) -> I,
) -> Result<Schedule, ScheduleError> {
    let mut builder = ScheduleBuilder::new(params.P)?;
    for id in 0..params.P {
        builder.begin_rank(id)?;
        let mut writer =
            StepWriter { builder: &mut builder, params, id, before: Vec::new(), exchange: None, barriers: 0 };
        steps(id).try_for_each(|step| writer.write(step))?;
    }
    builder.build()
}

/// A writer of one processor's steps.
struct StepWriter<'a> {
    builder: &'a mut ScheduleBuilder,
    params: &'a Params,
    id: usize,
    /// The operations that the next step waits for.
    before: Vec<u32>,
    /// The exchange that is being written.
    exchange: Option<Exchange>,
    /// The number of barriers so far.
    barriers: u32,
}

/// An exchange that is being written.
struct Exchange {
    /// The operations that it waits for.
    before: Vec<u32>,
    sent: Option<u32>,
    received: Vec<u32>,
}

/// Tags from here on belong to barriers.
const BARRIERS: u32 = 1 << 31;
/// The most rounds of a barrier.
const ROUNDS: u32 = 32;

impl StepWriter<'_> {
    fn write(&mut self, step: Step) -> Result<(), ScheduleError> {
        let tag = |number: Option<usize>| number.map_or(0, |number| number as u32 + 1);
        if let Step::Exchange { to, from, bytes, longest } = step {
            return self.write_exchange(to, from, bytes, longest);
        }
        self.end_exchange()?;
        match step {
            Step::Send { to, bytes, number } => self.add(send(to, bytes, tag(number))),
            Step::Receive { from, number } => self.add(receive(from, tag(number))),
            Step::Work { units } => self.add(Operation::Calc(units as i64 * self.params.cycle)),
            Step::WaitUntil(due) => self.add(Operation::WaitUntil(due)),
            Step::Barrier => {
                let first = BARRIERS + self.barriers * ROUNDS;
                self.barriers += 1;
                for (tag, round) in (first..).zip(dissemination(self.params.P, self.id)) {
                    self.add(send(round.to, 0, tag))?;
                    self.add(receive(Some(round.from), tag))?;
                }
                Ok(())
            }
            Step::Exchange { .. } => Ok(()),
        }
    }

    /// Adds an operation that waits for the step before.
    fn add(&mut self, operation: Operation) -> Result<(), ScheduleError> {
        let before = std::mem::take(&mut self.before);
        self.before = vec![self.add_after(operation, &before)?];
        Ok(())
    }

    fn add_after(&mut self, operation: Operation, before: &[u32]) -> Result<u32, ScheduleError> {
        let later = self.builder.add(operation)?;
        before.iter().try_for_each(|earlier| self.builder.require_done(later, *earlier))?;
        Ok(later)
    }

    /// Adds a step of an exchange: a send after that of the step before, and a reception at any time.
    fn write_exchange(
        &mut self,
        to: usize,
        from: usize,
        bytes: usize,
        longest: usize,
    ) -> Result<(), ScheduleError> {
        if self.params.is_synchronous(self.params.words(longest)) {
            // A message waits for its receiver, and the next step for both of this one.
            let before = std::mem::take(&mut self.before);
            let sent = self.add_after(send(to, bytes, 0), &before)?;
            let received = self.add_after(receive(Some(from), 0), &before)?;
            self.before = vec![sent, received];
            return Ok(());
        }
        let Exchange { before, sent, mut received } = match self.exchange.take() {
            Some(exchange) => exchange,
            None => {
                self.join()?;
                Exchange { before: std::mem::take(&mut self.before), sent: None, received: Vec::new() }
            }
        };
        let sent = match sent {
            Some(sent) => self.add_after(send(to, bytes, 0), &[sent])?,
            None => self.add_after(send(to, bytes, 0), &before)?,
        };
        received.push(self.add_after(receive(None, 0), &before)?);
        self.exchange = Some(Exchange { before, sent: Some(sent), received });
        Ok(())
    }

    /// Ends the exchange that is being written, if there is one: the next step waits for all of it.
    fn end_exchange(&mut self) -> Result<(), ScheduleError> {
        if let Some(Exchange { sent, received, .. }) = self.exchange.take() {
            self.before = received;
            self.before.extend(sent);
            self.join()?;
        }
        Ok(())
    }

    /// Lets the next step wait for one operation, which waits for all that it would wait for.
    fn join(&mut self) -> Result<(), ScheduleError> {
        if self.before.len() > 1 { self.add(Operation::Calc(Time::ZERO)) } else { Ok(()) }
    }
}

fn send(to: usize, bytes: usize, tag: u32) -> Operation {
    Operation::Send { to: to as u32, bytes: bytes as u64, tag }
}

fn receive(from: Option<usize>, tag: u32) -> Operation {
    Operation::Recv { from: from.map(|from| from as u32), bytes: 0, tag: Some(tag) }
}
