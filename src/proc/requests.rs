//! MPI's requests: a send or a receive that goes on by itself while its processor does something else.
//!
//! A request does what the blocking call would do, in a local time of its own that begins with its call (LogGPS, section
//! 3.2). It needs no thread: before its processor lets time pass, it lets its engine do what its requests have to do in
//! that time, in the order of that. So requests act in the order of all acts, as processors do.

use std::fmt;
use std::panic::Location;

use super::processor::Proc;
use crate::message::parcel::Parcel;
use crate::message::{Payload, RawTag, Tag};
use crate::rules::operation::Operation;
use crate::time::Time;
use crate::trace::{CallKind, CallTag};

/// A send or a receive that was called for and goes on by itself, until its processor [waits](Proc::wait) for it.
///
/// Every request must be waited for: a processor that ends with one that it has not waited for ends the run with an error
/// that names it.
#[must_use = "a request must be waited for"]
pub struct Request<R> {
    /// The processor that called for it.
    id: usize,
    /// How many requests that had called for before.
    number: u32,
    /// The number of its run.
    run: u64,
    /// Where in the program it was called for.
    at: &'static Location<'static>,
    /// Makes what the processor gets of what has come.
    open: fn(&mut Proc, Operation, &'static Location<'static>) -> R,
}

impl<R> fmt::Debug for Request<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} of processor {})", self.number, self.id)
    }
}

impl<'a> Proc<'a> {
    /// Calls for a send, and goes on after o (LogGPS, equation 6). The message goes by itself, as with
    /// [`send`](Proc::send), and is gone when a [`wait`](Proc::wait) for the request returns.
    ///
    /// Messages from one processor to another go in the order of their calls, whether of `isend` or of `send`, and from
    /// its first `isend` on they arrive in that order too. (On a machine of LogGPS they always do.)
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const ROW: Tag<Vec<u64>> = Tag::new(0);
    ///
    /// // Two exchange long messages. With blocking sends that would be a deadlock: S = 100 is shorter.
    /// let params = Params::builder(2).set("L=6,o=2,g=0,O_s=10ns,O_r=0,G_s=10ns,G_l=10ns,s=50,S=100")?.build()?;
    /// let run = Machine::new(params).run(|p| {
    ///     let other = 1 - p.id();
    ///     let sends = p.isend(other, ROW, vec![p.id() as u64; 1000]);
    ///     let row = p.recv_from(other, ROW);
    ///     p.wait(sends);
    ///     row[999]
    /// })?;
    /// assert_eq!(run.results, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn isend<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) -> Request<()> {
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let send = self.sending(to, (tag.raw, tag.name), words, Parcel::new(value));
        let request = self.calls_for(send, |_, _, _| ());
        self.has_called_for(&request, |request| CallKind::Isend {
            request,
            to,
            tag: CallTag::of(tag),
            bytes,
        });
        self.restart_code();
        request
    }

    /// Calls for a receive of a message with this tag from any processor, and goes on after o (LogGPS, equation 10).
    ///
    /// A message goes to the receive that was called for first among those that want it.
    #[track_caller]
    pub fn irecv<T: Payload>(&mut self, tag: Tag<T>) -> Request<(usize, T)> {
        self.call_for_receive(None, tag, |p, done, at| p.opened::<T>(done, at))
    }

    /// Calls for a receive of a message with this tag from one processor.
    #[track_caller]
    pub fn irecv_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> Request<T> {
        self.call_for_receive(Some(from), tag, |p, done, at| p.opened::<T>(done, at).1)
    }

    /// Calls for a receive of the next message from one processor or any, whatever number its tag has; the collectives'
    /// messages are none of these. It gets the sender, the number of the tag, and the value, which must be a `T`.
    #[track_caller]
    pub fn irecv_any_tag<T: Payload>(&mut self, from: Option<usize>) -> Request<(usize, u16, T)> {
        self.call_for_receive(from, Tag::<T>::of(RawTag::ANY, None), |p, done, at| {
            let number = done.tag.user_number();
            let (from, value) = p.opened::<T>(done, at);
            (from, number, value)
        })
    }

    /// Waits until a request is done, and at least for o (LogGPS, equation 11). Returns what was received, and nothing
    /// of a send.
    #[track_caller]
    pub fn wait<R>(&mut self, request: Request<R>) -> R {
        self.count_code();
        let value = self.wait_for(request);
        self.restart_code();
        value
    }

    /// Waits for all requests, one after the other. Returns what was received, in their order.
    #[track_caller]
    pub fn wait_all<R>(&mut self, requests: impl IntoIterator<Item = Request<R>>) -> Vec<R> {
        let mut values = Vec::new();
        for request in requests {
            values.push(self.wait(request));
        }
        values
    }

    /// Waits for the request that is done first, the first of those that are done at the same time, and takes it out.
    /// Returns its place, and what was received.
    #[track_caller]
    pub fn wait_any<R>(&mut self, requests: &mut Vec<Request<R>>) -> (usize, R) {
        self.count_code();
        if requests.is_empty() {
            self.misused("waits for any of no requests; give at least one");
        }
        requests.iter().for_each(|request| self.check_own(request));
        self.catches_up();
        let numbers: Vec<u32> = requests.iter().map(|request| request.number).collect();
        self.engine.waits_for(&numbers);
        let first = loop {
            let done = numbers.iter().map(|number| self.engine.done(*number));
            let first = done.zip(0..).filter_map(|(done, place)| Some((done?, place))).min();
            // What was not done when all until then had happened is done later.
            let until = first.map_or(Time::MAX, |(done, _)| done);
            if !self.steps(&mut Operation::nothing(), until)
                && let Some((_, place)) = first
            {
                break place;
            }
        };
        let value = self.wait_for(requests.remove(first));
        self.has_chosen();
        self.restart_code();
        (first, value)
    }

    /// Looks whether a request is done. If it is, that costs o, as a wait does, and returns what was received; else it
    /// costs a cycle and gives the request back.
    #[track_caller]
    pub fn test<R>(&mut self, request: Request<R>) -> Result<R, Request<R>> {
        self.count_code();
        self.check_own(&request);
        self.catches_up();
        let tested = match self.engine.done(request.number) {
            Some(done) if done <= self.now() => {
                let value = self.wait_for(request);
                self.has_chosen();
                Ok(value)
            }
            _ => {
                self.engine.waits_until(self.now() + self.setup.network.params().cycle);
                self.looked_in_vain();
                self.engine.called(|_| Some(CallKind::Test { request: request.number }));
                self.has_chosen();
                Err(request)
            }
        };
        self.restart_code();
        tested
    }

    /// Calls for a receive.
    #[track_caller]
    fn call_for_receive<T, R>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        open: fn(&mut Proc, Operation, &'static Location<'static>) -> R,
    ) -> Request<R> {
        self.count_code();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let receive = self.receive_of(from, tag);
        let request = self.calls_for(receive, open);
        self.has_called_for(&request, |request| CallKind::Irecv { request, from, tag: CallTag::of(tag) });
        if self.engine.is_traced() {
            self.engine.called_at(request.at);
        }
        self.restart_code();
        request
    }

    /// Calls for a request. None is while the program unwinds.
    #[track_caller]
    fn calls_for<R>(
        &mut self,
        operation: Operation,
        open: fn(&mut Proc, Operation, &'static Location<'static>) -> R,
    ) -> Request<R> {
        let (id, run, at) = (self.id(), self.setup.run, Location::caller());
        let mut number = u32::MAX;
        if !self.is_leaving() {
            self.catches_up();
            number = self.engine.posts(&self.setup.network, operation, at);
        }
        Request { id, number, run, at, open }
    }

    /// Notes that a request was called for, if that is traced.
    fn has_called_for<R>(&mut self, request: &Request<R>, what: impl FnOnce(u32) -> CallKind) {
        if !self.is_leaving() {
            self.engine.called(|_| Some(what(request.number)));
        }
    }

    /// Notes where the call is that took what was done first, or looked, if that is traced.
    #[track_caller]
    fn has_chosen(&mut self) {
        if self.engine.is_traced() {
            self.engine.called_at(Location::caller());
        }
    }

    /// Ends the run if a request is not the processor's own.
    #[track_caller]
    fn check_own<R>(&mut self, request: &Request<R>) {
        self.must_not_leave();
        if request.run != self.setup.run {
            self.misused("waits for a request of another run; only the run that called for it can");
        }
        if request.id != self.id() {
            let other = request.id;
            self.misused(format!("waits for a request of processor {other}; only that one can"));
        }
    }

    /// Waits until a request is done.
    #[track_caller]
    fn wait_for<R>(&mut self, request: Request<R>) -> R {
        self.check_own(&request);
        let number = request.number;
        self.catches_up();
        if self.engine.done(number).is_none() {
            self.engine.waits_for(&[number]);
        }
        while self.engine.done(number).is_none() {
            self.steps(&mut Operation::nothing(), Time::MAX);
        }
        let operation = self.engine.joins(&self.setup.network, number).expect("it is waited for once");
        self.looks = 0;
        (request.open)(self, operation, request.at)
    }

    /// The value that was received.
    fn opened<T: Payload>(&mut self, operation: Operation, at: &'static Location<'static>) -> (usize, T) {
        let tag = Tag::of(operation.tag, operation.name);
        self.open_at(&mut operation.into_message().expect("a receive that is done has its message"), tag, at)
    }
}
