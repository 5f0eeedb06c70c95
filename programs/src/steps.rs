//! The run of [steps](loggp_predict::steps) on data.

use loggp::collectives::Shift;
use loggp::{Payload, Proc, Tag};
use loggp_predict::steps::Step;

/// The data of a processor that performs steps.
pub trait StepData {
    /// The value of a message.
    type Value: Payload;
    /// The tag of all messages.
    const TAG: Tag<Self::Value>;
    /// The kind of its work.
    const WORK: &'static str = "work";

    /// Returns the message that a step sends.
    fn give(&mut self, to: usize, bytes: usize, number: Option<usize>) -> Self::Value;

    /// Takes a message that a step received.
    fn take(&mut self, from: usize, value: Self::Value);

    /// Does the work of a step.
    fn work(&mut self, _units: u64) {}
}

/// Performs the steps of a processor on the machine.
pub fn perform<D: StepData>(p: &mut Proc, steps: impl Iterator<Item = Step>, data: D) -> D {
    let data = std::cell::RefCell::new(data);
    let tag = |number: Option<usize>| number.map_or(D::TAG, |number| D::TAG.step(number));
    let mut steps = steps.peekable();
    while let Some(step) = steps.next() {
        match step {
            Step::Send { to, bytes, number } => {
                let value = data.borrow_mut().give(to, bytes, number);
                p.send(to, tag(number), value);
            }
            Step::Receive { from: Some(from), number } => {
                let value = p.recv(tag(number).from(from));
                data.borrow_mut().take(from, value);
            }
            Step::Receive { from: None, number } => {
                let (from, value) = p.recv_with_sender(tag(number));
                data.borrow_mut().take(from, value);
            }
            Step::Exchange { longest, .. } => {
                let mut next = Some(step);
                let shifts = std::iter::from_fn(|| {
                    let is_exchange = |step: &Step| matches!(step, Step::Exchange { .. });
                    let Some(Step::Exchange { to, from, bytes, .. }) =
                        next.take().or_else(|| steps.next_if(is_exchange))
                    else {
                        return None;
                    };
                    Some(Shift { to, value: data.borrow_mut().give(to, bytes, None), from })
                });
                let longest = p.params().words(longest);
                p.exchange(D::TAG, longest, shifts, |from, value| data.borrow_mut().take(from, value));
            }
            Step::Work { units } => p.work(D::WORK, units, || data.borrow_mut().work(units)),
            Step::WaitUntil(due) => {
                // A send follows, at the same time with or without a wait that is over before the gap is: no order of
                // messages depends on the comparison.
                if due > p.local_next_send() {
                    p.wait_until(due);
                }
            }
            Step::Barrier => p.barrier(),
        }
    }
    data.into_inner()
}
