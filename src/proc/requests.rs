//! MPI's requests: a send or a receive that runs while its processor does something else.
//!
//! A request does the same as the blocking call, in a local time of its own that begins with its call
//! (LogGPS, section 3.2). It needs no thread: before a processor lets time pass, it handles the events of its
//! requests in that time, in order. So requests act in the order of all acts, as processors do.

use std::fmt;
use std::panic::Location;

use loggp_model::message::{Filter, Payload, Tag};
use loggp_model::rules::operation::ActiveOperation;
use loggp_trace::{CallKind, CallTag};

use super::processor::Proc;

/// A send or a receive that was posted and runs by itself, until its processor [waits](Proc::wait) for it.
///
/// Every request must be waited for: else its processor ends the run with an error that names the request.
#[must_use = "a request must be waited for"]
pub struct Request<R> {
    /// The processor that posted the request.
    id: usize,
    /// The number of requests that this processor posted before.
    pub(super) number: u32,
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
    /// Returns its number among the requests of its processor.
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
    pub(super) fn check_request<R>(&mut self, request: &Request<R>) {
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
