//! One-sided messages: a processor reaches into another's memory, and that one does nothing for it.
//!
//! What the memory holds is not the machine's business: a call says only how many bytes go and come. `docs/reference/model.md`
//! has the rules.

use std::panic::Location;

use loggp_model::error::Cause;
use loggp_model::rules::network::MOST_WORDS;
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::CallKind;

use super::processor::Proc;
use super::requests::Request;

impl Proc<'_> {
    /// Puts bytes into a processor's memory, and goes on when the first word enters the network. Its processor does
    /// nothing for it, and pays no overhead.
    ///
    /// ```
    /// use loggp::{Machine, Params, US};
    ///
    /// let machine = Machine::new(Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let run = machine.run(|p| {
    ///     if p.id() == 0 {
    ///         p.put(1, 8); // sent at o = 2
    ///         p.flush(Some(1)); // there at 2 + L = 8, and known to be at 8 + L = 14
    ///         p.get(1, 8, 8); // asks at 14 + o = 16, its answer is back 2 L later, and is received after o
    ///     }
    ///     p.now()
    /// })?;
    /// assert_eq!(run.results, [(14 + 2 + 2 * 6 + 2) * US, 0 * US]);
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    #[track_caller]
    pub fn put(&mut self, to: usize, bytes: usize) {
        self.reach(to, bytes, None);
    }

    /// Sends bytes to a processor's memory, and goes on when it has received those that come back.
    #[track_caller]
    pub fn get(&mut self, to: usize, bytes: usize, back: usize) {
        self.reach(to, bytes, Some(back));
    }

    #[track_caller]
    fn reach(&mut self, to: usize, bytes: usize, back: Option<usize>) {
        self.enter_call();
        let mut call = self.new_one_sided(to, bytes, back);
        if !self.is_unwinding() {
            self.engine.start_and_finish(self.clock, &mut call, Time::MAX);
        }
        self.engine.log_call(|messages| {
            let sent = Some(messages.one_sided()?);
            Some(CallKind::OneSided { to, bytes, back, request: None, sent })
        });
        self.leave_call();
    }

    /// Posts a [`get`](Proc::get), and goes on after o.
    #[track_caller]
    pub fn post_get(&mut self, to: usize, bytes: usize, back: usize) -> Request<()> {
        self.enter_call();
        let get = self.new_one_sided(to, bytes, Some(back));
        let request = self.post_request(get, |_, _, _| ());
        let (back, sent) = (Some(back), None);
        self.log_post(&request, |request| {
            let request = Some(request);
            CallKind::OneSided { to, bytes, back, request, sent }
        });
        self.leave_call();
        request
    }

    /// Waits until the processor knows that all is there that it has put into the memory of one, or of all.
    #[track_caller]
    pub fn flush(&mut self, to: Option<usize>) {
        self.enter_call();
        if let Some(to) = to {
            self.check(to, 0);
        }
        self.engine.flush(to);
        self.engine.log_call(|_| Some(CallKind::Flush { to }));
        self.wait_for_local_time();
        self.leave_call();
    }

    /// Creates a one-sided message that is not sent. Ends the run if there can be no such message.
    #[track_caller]
    fn new_one_sided(&mut self, to: usize, bytes: usize, back: Option<usize>) -> ActiveOperation {
        if self.clock.real().is_some() {
            let sentence = "one-sided messages are those of an emulated machine, and here are real ones";
            self.fail(Cause::Host(sentence.into()));
        }
        let (id, params) = (self.id(), self.params());
        let go = params.words(bytes).max(usize::from(back.is_some()));
        let come = back.map(|bytes| params.words(bytes));
        self.check(to, 0);
        // No processor sends what comes back, so a negative G_l does not limit it.
        let longest = self.setup.network.longest_one_sided(id, to);
        let lengths = [(go, longest), (come.unwrap_or(0), MOST_WORDS)];
        if let Some((words, longest)) = lengths.into_iter().find(|(words, longest)| words > longest) {
            self.fail(Cause::TooLong { id, words, longest });
        }
        let at = Location::caller();
        self.engine.new_one_sided(to, go, come).unwrap_or_else(|| {
            self.fail_with(format!(
                "a message to a processor's memory is not received, so that with the capacity of messages until they \
                 are received it would be in transit for ever; leave out --capacity received (at {at})"
            ))
        })
    }
}
