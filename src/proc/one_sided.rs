//! One-sided messages: a processor reaches into another's memory, and that one does nothing for it.
//!
//! What the memory holds is not the machine's business: a call says only how many bytes go and come.

use std::panic::Location;

use loggp_model::error::Cause;
use loggp_model::rules::network::MOST_WORDS;
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::CallKind;

use super::processor::Proc;
use super::requests::Request;

impl Proc<'_> {
    /// Puts bytes into a processor's memory, and goes on when the first word enters the network.
    #[doc(hidden)] // for programs that come from elsewhere
    #[track_caller]
    pub fn put(&mut self, to: usize, bytes: usize) {
        self.reach(to, bytes, None);
    }

    /// Sends bytes to a processor's memory, and goes on when it has received those that come back.
    #[doc(hidden)] // for programs that come from elsewhere
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
    #[doc(hidden)] // for programs that come from elsewhere
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

    /// Waits until all is there that the processor has put into the memory of one, or of all.
    #[doc(hidden)] // for programs that come from elsewhere
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

    /// Waits until all that others do before now is done, so that what processors share has the state of now.
    #[doc(hidden)] // for programs that come from elsewhere
    pub fn wait_to_act(&mut self) {
        if !self.is_unwinding() {
            self.wait_for_local_time();
            self.clock.wait_to_act(self.engine.rank.now);
        }
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
