//! MPI's requests: a send or a receive that runs while its processor does something else.
//!
//! A request does the same as the blocking call, in a local time of its own that begins with its call
//! (LogGPS, section 3.2). It needs no thread: before a processor lets time pass, it handles the events of its
//! requests in that time, in order. So requests act in the order of all acts, as processors do.

use std::fmt;
use std::panic::Location;

use loggp_model::message::{Filter, Payload, RecvFilter, Tag};
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::{CallKind, CallTag, Until};

use super::processor::Proc;

/// A send or a receive that was posted and runs by itself, until its processor [waits](Proc::wait) for it.
///
/// Every request must be waited for: else its processor ends the run with an error that names the request.
#[must_use = "a request must be waited for"]
pub struct Request<R> {
    /// The processor that posted the request.
    id: usize,
    /// The number of requests that this processor posted before.
    number: u32,
    /// The number of the request's run.
    run: u64,
    /// The call that posted the request.
    at: &'static Location<'static>,
    /// Makes the result of `wait` from the operation.
    open: fn(&mut Proc, ActiveOperation, &'static Location<'static>) -> R,
}

impl<R> fmt::Debug for Request<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} of processor {})", self.number, self.id)
    }
}

impl<R> Request<R> {
    /// Returns its number among those of its processor.
    #[doc(hidden)]
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl<'a> Proc<'a> {
    /// Posts a send, and goes on after o (LogGPS, equation 6). The message is sent as by
    /// [`send`](Proc::send), and has entered the network when a [`wait`](Proc::wait) for the request returns.
    ///
    /// Messages from one processor to another enter in the order of their calls, whether of `isend` or of
    /// `send`, and from its first `isend` on they arrive in that order too. (On a machine of LogGPS they
    /// always do.)
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const ROW: Tag<Vec<u64>> = Tag::new(0);
    ///
    /// // Two processors exchange long messages.
    /// // With blocking sends that would be a deadlock: S = 100 is shorter.
    /// let params = Params::builder(2).set("L=6,o=2,g=0,O_s=10ns,O_r=0,G_s=10ns,G_l=10ns,s=50,S=100")?.build()?;
    /// let run = Machine::new(params).run(|p| {
    ///     let other = 1 - p.id();
    ///     let sends = p.isend(other, ROW, vec![p.id() as u64; 1000]);
    ///     let row = p.recv(ROW.from(other));
    ///     p.wait(sends);
    ///     row[999]
    /// })?;
    /// assert_eq!(run.results, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn isend<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) -> Request<()> {
        self.post_send(to, tag, value, false)
    }

    /// Posts a send like [`isend`](Proc::isend), of a message for which its receiver must ask if it
    /// `is_synchronous`, whatever its length.
    #[doc(hidden)] // for programs that come from elsewhere
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

    /// Posts a receive of a message that the [filter](Filter) takes, and goes on after o (LogGPS, equation
    /// 10).
    ///
    /// If several receives take a message, it goes to the one that was posted first.
    #[track_caller]
    pub fn irecv<F: Filter>(&mut self, filter: F) -> Request<F::Received> {
        let (from, tag) = (filter.sender(), filter.tag());
        self.enter_call();
        self.check_sender(filter);
        let receive = self.new_receive(from, tag);
        let request = self.post_request(receive, |p, done, at| {
            let (number, tag) = (done.tag.user_number(), Tag::from_raw(done.tag, done.name));
            let mut message = done.into_message().expect("a receive that is done has its message");
            let (sender, value) = p.open_at(&mut message, tag, at);
            F::received(sender, number, value)
        });
        self.log_post(&request, |request| CallKind::Irecv { request, from, tag: CallTag::new(tag) });
        self.engine.log_location(request.at);
        self.leave_call();
        request
    }

    /// Waits until a request is done, and at least for o (LogGPS, equation 11). Returns the message of a
    /// receive, and `()` for a send.
    #[track_caller]
    pub fn wait<R>(&mut self, request: Request<R>) -> R {
        self.enter_call();
        let value = self.join_request(request);
        self.leave_call();
        value
    }

    /// Waits for all requests, one after the other. Returns their messages, in the order of the requests.
    #[track_caller]
    pub fn wait_all<R>(&mut self, requests: impl IntoIterator<Item = Request<R>>) -> Vec<R> {
        let mut values = Vec::new();
        for request in requests {
            values.push(self.wait(request));
        }
        values
    }

    /// Waits for the request that is done first, and removes it; of requests that are done at the same time,
    /// the first. Returns its index, and its message.
    #[track_caller]
    pub fn wait_any<R>(&mut self, requests: &mut Vec<Request<R>>) -> (usize, R) {
        self.enter_call();
        if requests.is_empty() {
            self.fail_misused("waits for any of no requests; give at least one");
        }
        requests.iter().for_each(|request| self.check_request(request));
        let numbers: Vec<u32> = requests.iter().map(|request| request.number).collect();
        let first = self.first_done(&numbers);
        let value = self.join_request(requests.remove(first));
        self.engine.log_location(Location::caller());
        self.leave_call();
        (first, value)
    }

    /// Tests whether a request is done. If it is, that costs o, as a wait does, and returns its message; else
    /// it costs a cycle and returns the request.
    #[track_caller]
    pub fn test<R>(&mut self, request: Request<R>) -> Result<R, Request<R>> {
        self.enter_call();
        let tested = if self.is_done(&request) {
            let value = self.join_request(request);
            self.engine.log_location(Location::caller());
            Ok(value)
        } else {
            self.look_in_vain(request.number, Location::caller());
            Err(request)
        };
        self.leave_call();
        tested
    }

    /// Waits until one of the requests with these numbers is done, of those done at the same time the first, and
    /// returns its place. It costs nothing: a [`wait`](Proc::wait) for the request follows.
    #[doc(hidden)] // for programs that come from elsewhere
    pub fn first_done(&mut self, numbers: &[u32]) -> usize {
        self.engine.catch_up(self.clock);
        self.engine.set_awaited(numbers);
        loop {
            let first = self.engine.first_known(numbers);
            // Requests that are not done when all events until then have been handled are done later.
            let until = first.map_or(Time::MAX, |(done, _)| done);
            if !self.engine.handle_event(self.clock, &mut ActiveOperation::done(), until)
                && let Some((_, place)) = first
            {
                return place;
            }
        }
    }

    /// Receives a message as [`recv`](Proc::recv) does, unless one of the requests with these numbers is done before it
    /// can be received: then it costs nothing, and returns the place of that request, for which a
    /// [`wait`](Proc::wait) follows.
    ///
    /// # Errors
    ///
    /// If a request is done first.
    #[doc(hidden)] // for programs that come from elsewhere
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
            (Some(place), _) => Err(place),
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

    /// Returns whether a send of so many bytes may wait for its receiver.
    #[doc(hidden)] // for programs that come from elsewhere
    pub fn may_wait_to_send(&self, to: usize, bytes: usize) -> bool {
        let network = &self.setup.network;
        network.has_rooms() || network.is_synchronous(self.id(), to, self.params().words(bytes))
    }

    /// Returns whether a request is done by now. It costs nothing, and whoever asks calls something that does.
    #[doc(hidden)] // for programs that come from elsewhere
    #[track_caller]
    pub fn is_done<R>(&mut self, request: &Request<R>) -> bool {
        self.check_request(request);
        self.engine.catch_up(self.clock);
        self.engine.completion_time(request.number).is_some_and(|done| done <= self.local_time())
    }

    /// Withdraws a receive that has taken no message, which then never does. Returns false if it has taken one.
    #[doc(hidden)] // for programs that come from elsewhere
    #[track_caller]
    pub fn withdraw<R>(&mut self, request: &Request<R>) -> bool {
        self.check_request(request);
        self.engine.catch_up(self.clock);
        self.engine.withdraw(request.number)
    }

    /// Spends a cycle on a test of a request that is not done.
    #[doc(hidden)] // for programs that come from elsewhere
    pub fn look_in_vain(&mut self, request: u32, at: &'static Location<'static>) {
        self.engine.wait_until(self.local_time() + self.setup.network.params().cycle);
        self.engine.count_vain_look(self.clock);
        self.engine.log_call(|_| Some(CallKind::Test { request }));
        self.engine.log_location(at);
    }

    /// Posts a request, unless the program unwinds.
    #[track_caller]
    pub(super) fn post_request<R>(
        &mut self,
        operation: ActiveOperation,
        open: fn(&mut Proc, ActiveOperation, &'static Location<'static>) -> R,
    ) -> Request<R> {
        let (id, run, at) = (self.id(), self.setup.run, Location::caller());
        let mut number = u32::MAX;
        if !self.is_unwinding() {
            number = self.engine.post(self.clock, operation, at);
        }
        Request { id, number, run, at, open }
    }

    /// Logs the call that posted a request, if the run is traced.
    pub(super) fn log_post<R>(&mut self, request: &Request<R>, what: impl FnOnce(u32) -> CallKind) {
        if !self.is_unwinding() {
            self.engine.log_call(|_| Some(what(request.number)));
        }
    }

    /// Ends the run if a request is not the processor's own.
    #[track_caller]
    fn check_request<R>(&mut self, request: &Request<R>) {
        self.refuse_unwinding();
        if request.run != self.setup.run {
            self.fail_misused("waits for a request of another run; only the run that called for it can");
        }
        if request.id != self.id() {
            let other = request.id;
            self.fail_misused(format!("waits for a request of processor {other}; only that one can"));
        }
    }

    /// Waits until a request is done, and returns its result.
    #[track_caller]
    fn join_request<R>(&mut self, request: Request<R>) -> R {
        self.check_request(&request);
        let operation = self.engine.join(self.clock, request.number).expect("it is waited for once");
        (request.open)(self, operation, request.at)
    }
}
