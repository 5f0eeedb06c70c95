//! Calls for programs that come from elsewhere: an unchanged MPI program, or one in another language, whose calls a
//! processor makes for it.
//!
//! Their rules are finer than those of the machine's own calls: a request may be withdrawn, one of a set of requests
//! ends a receive, and a send waits for its receiver whatever its length.

use std::borrow::Cow;
use std::panic::Location;

use loggp_model::error::Cause;
use loggp_model::message::{Filter, Payload, RecvFilter, Tag};
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::{CallKind, CallTag, Until};

use super::processor::Proc;
use super::requests::Request;

/// # For programs that come from elsewhere
///
/// Calls with which a processor does what an unchanged MPI program or one in another language asks for.
impl Proc<'_> {
    /// Sends like [`send`](Proc::send), once the receiver has asked for the message, whatever its length.
    #[track_caller]
    pub fn send_synchronously<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        if !self.is_unwinding() {
            let mut send = self.new_send(to, tag, words, value).synchronous();
            self.engine.start_and_finish(self.clock, &mut send, Time::MAX);
        }
        self.log_send(to, tag, bytes);
        self.leave_call();
    }

    /// Posts a send like [`isend`](Proc::isend), of a message for which its receiver must ask if it
    /// `is_synchronous`, whatever its length.
    #[track_caller]
    pub fn post_send<T: Payload>(
        &mut self,
        to: usize,
        tag: Tag<T>,
        value: T,
        is_synchronous: bool,
    ) -> Request<()> {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let mut send = self.new_send(to, tag, words, value);
        if is_synchronous {
            send = send.synchronous();
        }
        let request = self.post_request(send, |_, _, _| ());
        self.log_post(&request, |request| CallKind::Isend { request, to, tag: CallTag::new(tag), bytes });
        self.leave_call();
        request
    }

    /// Makes the processor's messages to each other one arrive in the order of their calls from now on, as they do
    /// from its first [`isend`](Proc::isend) or [`post_get`](Proc::post_get) on.
    pub fn keep_order(&mut self) {
        self.engine.rank.egress.keep_order();
    }

    /// Returns whether a send of so many bytes may wait for its receiver.
    pub fn may_wait_to_send(&self, to: usize, bytes: usize) -> bool {
        let network = &self.setup.network;
        network.has_rooms() || network.is_synchronous(self.id(), to, self.params().words(bytes))
    }

    /// Returns whether a request is done by now. It costs nothing, and whoever asks calls something that does.
    #[track_caller]
    pub fn is_done<R>(&mut self, request: &Request<R>) -> bool {
        self.check_request(request);
        self.engine.catch_up(self.clock);
        self.engine.completion_time(request.number).is_some_and(|done| done <= self.local_time())
    }

    /// Waits until one of the requests with these numbers is done, of those done at the same time the first, and
    /// returns its index. It costs nothing: a [`wait`](Proc::wait) for the request follows.
    pub fn first_done(&mut self, numbers: &[u32]) -> usize {
        self.engine.catch_up(self.clock);
        self.engine.set_awaited(numbers);
        loop {
            let first = self.engine.first_known(numbers);
            // Requests that are not done when all events until then have been handled are done later.
            let until = first.map_or(Time::MAX, |(done, _)| done);
            if !self.engine.handle_event(self.clock, &mut ActiveOperation::done(), until)
                && let Some((_, index)) = first
            {
                return index;
            }
        }
    }

    /// Receives a message as [`recv`](Proc::recv) does, unless one of the requests with these numbers is done before it
    /// can be received: then it costs nothing, and returns the index of that request, for which a
    /// [`wait`](Proc::wait) follows.
    ///
    /// # Errors
    ///
    /// If a request is done first.
    #[track_caller]
    pub fn recv_unless_done<F: Filter>(&mut self, filter: F, numbers: &[u32]) -> Result<F::Received, usize> {
        self.enter_call();
        self.check_sender(filter);
        self.refuse_unwinding();
        let tag = filter.tag();
        self.setup.names.record((tag.raw, tag.name));
        let sought = (RecvFilter::new(filter.sender(), tag.raw), tag.name);
        let mut got = None;
        let done = self.engine.receive_unless_done(self.clock, sought, numbers, &mut got);
        let received = match (done, &mut got) {
            (Some(index), _) => Err(index),
            (None, Some(message)) => {
                let received = self.open_received::<F>(message, tag);
                self.log_receive(filter, Until::Arrival, Location::caller());
                Ok(received)
            }
            (None, None) => self.fail_to_wait(),
        };
        self.leave_call();
        received
    }

    /// Spends a cycle on a test of a request that is not done.
    pub fn look_in_vain(&mut self, request: u32, at: &'static Location<'static>) {
        self.engine.wait_until(self.local_time() + self.setup.network.params().cycle);
        self.engine.count_vain_look(self.clock);
        self.engine.log_call(|_| Some(CallKind::Test { request }));
        self.engine.log_location(at);
    }

    /// Withdraws a receive that has taken no message, which then never does. Returns false if it has taken one.
    #[track_caller]
    pub fn withdraw<R>(&mut self, request: &Request<R>) -> bool {
        self.check_request(request);
        self.engine.catch_up(self.clock);
        self.engine.withdraw(request.number)
    }

    /// Spends time that was measured elsewhere, such as in a recorded run, on computing.
    pub fn compute_for(&mut self, kind: Cow<'static, str>, time: Time) {
        self.engine.work(kind, time);
        self.promise_no_act_before_now();
    }

    /// Waits until all that others do before now is done, so that what processors share has the state of now.
    pub fn wait_to_act(&mut self) {
        if !self.is_unwinding() {
            self.wait_for_local_time();
            self.clock.wait_to_act(self.engine.rank.now);
        }
    }

    /// Ends the run with a sentence that is not about one of the processor's calls.
    pub fn fail_with(&mut self, sentence: String) -> ! {
        self.fail(Cause::OtherProcess(sentence))
    }
}
