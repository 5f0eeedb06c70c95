//! The exchange: every processor sends some messages in an order, and receives as many.

use loggp_model::message::{Payload, Tag};

use crate::proc::Proc;

/// A step of an exchange.
#[derive(Clone, Debug)]
pub struct Shift<T> {
    /// The processor to which the value goes.
    pub to: usize,
    /// The value that is sent.
    pub value: T,
    /// The processor that sends this one a value in the same step.
    pub from: usize,
}

impl<'a> Proc<'a> {
    /// Sends values in the order of the steps, and receives one message for every step: during the gaps, and
    /// the rest afterwards. Calls `on` with each message's sender and value, in the order of reception.
    ///
    /// All-to-alls and remaps are made of this. All processors that take part call it, and if x sends to y in
    /// a step, y receives from x in the same step. `longest` is the length in words of the longest message of
    /// the exchange, the same on all processors. If such a message waits for its receiver (LogGPS), each step
    /// is a [`send_recv`](Proc::send_recv), and the next one starts when both are done, so that there is no
    /// deadlock.
    ///
    /// **Time**, for n steps with values of k words: (n-1)d + L + 2o + (k-1)G with d = (k-1)G + g, under the
    /// conditions of [`all_to_all`](crate::collectives::all_to_all()).
    ///
    /// ```
    /// use loggp::collectives::Shift;
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const EDGE: Tag<u64> = Tag::named(0, "edge");
    ///
    /// // Every processor gets the values of both neighbours.
    /// let params = Params::builder(5).L(8 * US).o(2 * US).g(4 * US).build()?;
    /// let run = Machine::new(params).run(|p| {
    ///     let (id, P) = (p.id(), p.P());
    ///     let (left, right, mut sum) = ((id + P - 1) % P, (id + 1) % P, 0);
    ///     let shift = |to, from| Shift { to, value: id as u64, from };
    ///     p.exchange(EDGE, 1, [shift(right, left), shift(left, right)], |_, edge| sum += edge);
    ///     sum
    /// })?;
    /// assert_eq!((run.results, run.time), (vec![5, 2, 4, 6, 3], (4 + 8 + 2 * 2) * US));
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    #[track_caller]
    pub fn exchange<T: Payload>(
        &mut self,
        tag: Tag<T>,
        longest: usize,
        steps: impl IntoIterator<Item = Shift<T>>,
        mut on: impl FnMut(usize, T),
    ) {
        if self.setup.network.may_be_synchronous(longest) {
            for Shift { to, value, from } in steps {
                let theirs = self.send_recv(to, from, tag, value);
                on(from, theirs);
            }
            return;
        }
        let (mut sent, mut received) = (0, 0);
        for Shift { to, value, .. } in steps {
            self.send_receiving(to, tag, value, tag.with_sender(), |_, (from, value)| {
                on(from, value);
                received += 1;
            });
            sent += 1;
        }
        while received < sent {
            let (from, value) = self.recv_with_sender(tag);
            on(from, value);
            received += 1;
        }
    }
}
