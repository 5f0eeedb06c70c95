//! A processor as its Python program sees it.

use std::sync::Arc;

use loggp::Group as Members;
use loggp::collectives::Shift;
use loggp::{Payload, Tag};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyIterator, PyList};

use crate::Object;
use crate::interned::intern;
use crate::number::{Number, count, optional_count};
use crate::parameters::{Parameters, TIMED_WORK, parameter};
use crate::program::call::{
    Call, Collective, Exchange, Filter, Kind, Message, OneSided, Operation, SendReceiving, Wait,
};
use crate::program::session::Seat;
use crate::time::{Time, read_time};
use crate::value::{Value, Words, bytes_of_words};

/// A processor of the machine. A program gets one, and yields its calls.
#[pyclass(frozen, module = "loggp")]
pub struct Proc {
    seat: Arc<Seat>,
    /// The group whose collectives it calls; `None` for those of all processors.
    group: Option<Members>,
}

/// Some of a machine's processors, in an order, which call collectives among themselves: see `p.within`.
///
/// >>> import loggp
/// >>> def program(p):
/// ...     row = p.within(loggp.Group(range(p.id // 3 * 3, p.id // 3 * 3 + 3)))
/// ...     return (yield from row.all_reduce(p.id, lambda a, b: a + b))
/// >>> loggp.Machine(P=6, L=6, o=2, g=4).run(program).results
/// [3, 3, 3, 12, 12, 12]
#[pyclass(frozen, module = "loggp", eq)]
#[derive(PartialEq)]
pub struct Group(pub Members);

/// A send or a receive that was posted and runs by itself, until its processor waits for it.
#[pyclass(frozen, module = "loggp")]
pub struct Request {
    seat: Arc<Seat>,
    number: u32,
}

impl Request {
    pub fn new(seat: Arc<Seat>, number: u32) -> Request {
        Request { seat, number }
    }
}

#[pymethods]
impl Request {
    fn __repr__(&self) -> String {
        format!("<request {} of processor {}>", self.number, self.seat.id)
    }
}

#[pymethods]
impl Group {
    #[new]
    fn new(processors: &Object<'_>) -> PyResult<Group> {
        let processors: PyResult<Vec<usize>> = processors.try_iter()?.map(|id| count(&id?)).collect();
        Ok(Group(Members::new(processors?)))
    }

    /// The processors, by rank.
    #[getter]
    fn members(&self) -> Vec<usize> {
        self.0.members().to_vec()
    }

    /// Returns the rank of a processor, or None if it is no member.
    fn rank(&self, processor: usize) -> Option<usize> {
        self.0.rank(processor)
    }

    fn __len__(&self) -> usize {
        self.0.members().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.members())?.try_iter()
    }

    fn __contains__(&self, processor: &Object<'_>) -> bool {
        processor.extract().is_ok_and(|processor| self.0.rank(processor).is_some())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.members().hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self) -> (Vec<usize>,) {
        (self.members(),)
    }

    fn __repr__(&self) -> String {
        format!("Group({:?})", self.0.members())
    }
}

impl Proc {
    pub fn new(seat: Arc<Seat>) -> Proc {
        Proc { seat, group: None }
    }

    #[inline]
    fn call(&self, name: &'static str, kind: Kind) -> Call {
        Call::new(&self.seat, name, kind)
    }

    fn collective(&self, name: &'static str, words: Option<Words>, operation: Operation) -> PyResult<Call> {
        let (group, bytes) = (self.group.clone(), self.bytes(words)?);
        Ok(self.call(name, Kind::Collective(Box::new(Collective { operation, group, bytes }))))
    }

    #[inline]
    fn tag(&self, tag: &Object<'_>) -> PyResult<Tag<Value>> {
        self.seat.session.tags.tag(tag)
    }

    fn bytes(&self, words: Option<Words>) -> PyResult<Option<usize>> {
        bytes_of_words(words, self.seat.session.params.word.get())
    }

    /// Returns the bytes of a number of words, a word by default.
    fn length(&self, words: Option<Words>) -> PyResult<usize> {
        Ok(self.bytes(words)?.unwrap_or(self.seat.session.params.word.get()))
    }

    fn value(&self, value: Option<Object<'_>>, words: Option<Words>) -> PyResult<Value> {
        match (value, words) {
            (None, None) => Python::attach(|py| Ok(Value::new(py.None(), 0))),
            (None, words) => {
                Python::attach(|py| Value::measured(py.None().into_bound(py), self.bytes(words)?))
            }
            (Some(value), None) => Value::measured(self.seat.session.copied(value)?, None),
            (Some(value), words) => Value::measured(self.seat.session.copied(value)?, self.bytes(words)?),
        }
    }

    /// Reads one value for each processor.
    fn values(&self, values: &Object<'_>, words: Option<Words>) -> PyResult<Vec<Value>> {
        let (bytes, session) = (self.bytes(words)?, &self.seat.session);
        values.try_iter()?.map(|value| Value::measured(session.copied(value?)?, bytes)).collect()
    }

    /// Reads a vector, whose elements count for eight bytes each.
    fn vector(&self, vector: &Object<'_>) -> PyResult<Vec<Value>> {
        let number = |element: Object<'_>| {
            if element.extract::<f64>().is_err() && !element.is_instance_of::<PyInt>() {
                let sentence = format!("{} is no number, and the elements of a vector are", element.repr()?);
                return Err(PyTypeError::new_err(sentence));
            }
            Ok(Value::word(element.unbind()))
        };
        vector.try_iter()?.map(|element| number(element?)).collect()
    }

    #[inline]
    fn processor(&self, number: &Object<'_>) -> PyResult<usize> {
        let P = self.seat.session.params.P;
        match number.extract::<i64>() {
            Ok(id) if (0..P as i64).contains(&id) => Ok(id as usize),
            Ok(id) => {
                Err(PyValueError::new_err(format!("there is no processor {id}; there are 0 to {}", P - 1)))
            }
            Err(_) => {
                Err(PyTypeError::new_err(format!("{} is no processor; give its number", number.repr()?)))
            }
        }
    }

    fn root(&self, root: &Object<'_>) -> PyResult<usize> {
        let Some(group) = &self.group else { return self.processor(root) };
        let most = group.members().len();
        match root.extract::<usize>() {
            Ok(rank) if rank < most => Ok(rank),
            _ => Err(PyValueError::new_err(format!(
                "{} is no rank in a group of {most}; give one from 0 to {}",
                root.repr()?,
                most.saturating_sub(1)
            ))),
        }
    }

    fn is_root(&self, root: usize) -> bool {
        match &self.group {
            None => root == self.seat.id,
            Some(group) => group.rank(self.seat.id) == Some(root),
        }
    }

    #[inline]
    fn message(
        &self,
        to: &Object<'_>,
        tag: &Object<'_>,
        value: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Message> {
        Ok(Message { to: self.processor(to)?, tag: self.tag(tag)?, value: self.value(value, words)? })
    }

    /// Makes a call that takes messages of a filter.
    #[inline]
    fn receive(
        &self,
        name: &'static str,
        tag: Option<&Object<'_>>,
        source: Option<&Object<'_>>,
        names_sender: bool,
        kind: impl FnOnce(Filter) -> Kind,
    ) -> PyResult<Call> {
        let tag = tag.map(|tag| self.tag(tag)).transpose()?;
        let from = source.map(|source| self.processor(source)).transpose()?;
        Ok(self.call(name, kind(Filter { from, tag, names_sender })))
    }

    fn moment(&self, time: &Object<'_>) -> PyResult<loggp::Time> {
        read_time(time, self.seat.session.params.cycle)
    }

    /// Returns the number of a request of this processor.
    fn request(&self, request: &Object<'_>) -> PyResult<u32> {
        let Ok(request) = request.cast::<Request>() else {
            let sentence =
                format!("{} is no request; give what p.isend or p.irecv returned", request.repr()?);
            return Err(PyTypeError::new_err(sentence));
        };
        let request = request.get();
        if !Arc::ptr_eq(&request.seat, &self.seat) {
            let sentence = match Arc::ptr_eq(&request.seat.session, &self.seat.session) {
                true => {
                    format!("it is a request of processor {}; only that one can wait for it", request.seat.id)
                }
                false => {
                    "it is a request of another run; only the run that called for it can wait for it".into()
                }
            };
            return Err(PyValueError::new_err(sentence));
        }
        Ok(request.number)
    }
}

#[pymethods]
#[allow(clippy::too_many_arguments)] // as many as the calls have
impl Proc {
    /// Its number, from 0 on.
    #[getter]
    fn id(&self) -> usize {
        self.seat.id
    }

    /// The number of processors.
    #[getter]
    fn P(&self) -> usize {
        self.seat.session.params.P
    }

    /// Its local time.
    #[getter]
    fn now(&self) -> Time {
        Time(self.seat.now())
    }

    /// The earliest time at which a send need not wait for the gap after the last send.
    #[getter]
    fn next_send(&self) -> Time {
        Time(self.seat.next_send())
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        parameter(py, &self.seat.session.params, name)?.ok_or_else(|| {
            PyAttributeError::new_err(format!("a processor has no {name}; dir(p) lists what it has"))
        })
    }

    fn __repr__(&self) -> String {
        let within =
            self.group.as_ref().map(|group| format!(" in {:?}", group.members())).unwrap_or_default();
        format!("<processor {} of {}{within}>", self.seat.id, self.seat.session.params.P)
    }

    /// Sends a value.
    #[pyo3(signature = (to, tag, value = None, *, words = None))]
    #[inline]
    fn send(
        &self,
        to: &Object<'_>,
        tag: &Object<'_>,
        value: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        Ok(self.call("send", Kind::Send(self.message(to, tag, value, words)?)))
    }

    /// Posts a send, and goes on after o. Gives a request, which must be waited for.
    #[pyo3(signature = (to, tag, value = None, *, words = None))]
    fn isend(
        &self,
        to: &Object<'_>,
        tag: &Object<'_>,
        value: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        Ok(self.call("isend", Kind::PostSend(self.message(to, tag, value, words)?)))
    }

    /// Sends a value to one processor and receives one from another, at once. Gives the value.
    #[pyo3(signature = (to, source, tag, value = None, *, words = None))]
    fn send_recv(
        &self,
        to: &Object<'_>,
        source: &Object<'_>,
        tag: &Object<'_>,
        value: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let (message, from) = (self.message(to, tag, value, words)?, self.processor(source)?);
        Ok(self.call("send_recv", Kind::SendRecv(message, from)))
    }

    /// Sends a value, and receives what arrives with the tag `taking` while it waits for the gap: calls
    /// `on(value)` with each, and `on(sender, value)` if `with_sender` is true.
    #[pyo3(signature = (to, tag, value, taking, on, *, words = None, with_sender = false))]
    fn send_receiving(
        &self,
        to: &Object<'_>,
        tag: &Object<'_>,
        value: Option<Object<'_>>,
        taking: &Object<'_>,
        on: Object<'_>,
        words: Option<Words>,
        with_sender: bool,
    ) -> PyResult<Call> {
        let message = self.message(to, tag, value, words)?;
        let (taking, on) = (self.tag(taking)?, Value::new(on.unbind(), 0));
        let sending = SendReceiving { message, taking, on, names_sender: with_sender };
        Ok(self.call("send_receiving", Kind::SendReceiving(Box::new(sending))))
    }

    /// Sends values in the order of the steps, and receives one message for each, in the gaps between the
    /// sends as far as they come. A step is `(to, value, source)`: all take part, and if one sends to another
    /// in a step, that receives from it in the same step. Gives a list of senders and values, in the order of
    /// reception.
    ///
    /// If the lengths of messages differ and the machine lets long ones wait for their receivers (S),
    /// `longest` must be the words of the longest of all processors.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     left, right = (p.id - 1) % p.P, (p.id + 1) % p.P
    /// ...     edges = yield p.exchange("edge", [(right, p.id, left), (left, p.id, right)])
    /// ...     return sum(value for sender, value in edges)
    /// >>> run = loggp.Machine(P=5, L=8, o=2, g=4).run(program)
    /// >>> run.results, run.time
    /// ([5, 2, 4, 6, 3], Time('16 us'))
    #[pyo3(signature = (tag, steps, *, words = None, longest = None))]
    fn exchange(
        &self,
        tag: &Object<'_>,
        steps: &Object<'_>,
        words: Option<Words>,
        #[pyo3(from_py_with = optional_count)] longest: Option<usize>,
    ) -> PyResult<Call> {
        let (tag, bytes) = (self.tag(tag)?, self.bytes(words)?);
        let read = |step: Object<'_>| {
            let read: PyResult<(Object<'_>, Object<'_>, Object<'_>)> = step.extract();
            let Ok((to, value, source)) = read else {
                let sentence =
                    format!("{} is no step of an exchange; give (to, value, source)", step.repr()?);
                return Err(PyTypeError::new_err(sentence));
            };
            let (to, from) = (self.processor(&to)?, self.processor(&source)?);
            Ok(Shift { to, value: Value::measured(value, bytes)?, from })
        };
        let steps: Vec<Shift<Value>> = steps.try_iter()?.map(|step| read(step?)).collect::<PyResult<_>>()?;
        let of_own = || steps.iter().map(|step| self.seat.session.params.words(step.value.bytes())).max();
        let longest = longest.or_else(of_own).unwrap_or_default();
        Ok(self.call("exchange", Kind::Exchange(Box::new(Exchange { tag, longest, steps }))))
    }

    /// Receives the next message with a tag. Gives its value; without a tag of messages with any, the tag and
    /// the value.
    #[pyo3(signature = (tag = None, *, source = None))]
    fn recv(&self, tag: Option<&Object<'_>>, source: Option<&Object<'_>>) -> PyResult<Call> {
        self.receive("recv", tag, source, false, |filter| Kind::Receive(filter, Wait::Forever))
    }

    /// Receives a message as `recv` does. Gives its sender, and what `recv` gives.
    #[pyo3(signature = (tag = None, *, source = None))]
    fn recv_with_sender(&self, tag: Option<&Object<'_>>, source: Option<&Object<'_>>) -> PyResult<Call> {
        self.receive("recv_with_sender", tag, source, true, |filter| Kind::Receive(filter, Wait::Forever))
    }

    /// Receives a message that has arrived. Gives what `recv` gives, or `recv_with_sender` if `with_sender` is
    /// true, and None, a cycle later, if there is none.
    #[pyo3(signature = (tag = None, *, source = None, with_sender = false))]
    fn try_recv(
        &self,
        tag: Option<&Object<'_>>,
        source: Option<&Object<'_>>,
        with_sender: bool,
    ) -> PyResult<Call> {
        self.receive("try_recv", tag, source, with_sender, |filter| Kind::Receive(filter, Wait::Not))
    }

    /// Receives a message as `try_recv` does, but waits for it. Gives None if none can be taken until the
    /// deadline, a local time.
    #[pyo3(signature = (tag, deadline, *, source = None, with_sender = false))]
    fn recv_deadline(
        &self,
        tag: Option<&Object<'_>>,
        deadline: &Object<'_>,
        source: Option<&Object<'_>>,
        with_sender: bool,
    ) -> PyResult<Call> {
        let wait = Wait::Until(self.moment(deadline)?);
        self.receive("recv_deadline", tag, source, with_sender, |filter| Kind::Receive(filter, wait))
    }

    /// Posts a receive, and goes on after o. Gives a request, which must be waited for: then it gives what
    /// `recv` gives, or `recv_with_sender` if `with_sender` is true.
    #[pyo3(signature = (tag = None, *, source = None, with_sender = false))]
    fn irecv(
        &self,
        tag: Option<&Object<'_>>,
        source: Option<&Object<'_>>,
        with_sender: bool,
    ) -> PyResult<Call> {
        self.receive("irecv", tag, source, with_sender, Kind::PostReceive)
    }

    /// Looks for a message without taking it, which takes a cycle. Gives its sender, or None.
    #[pyo3(signature = (tag = None, *, source = None))]
    fn probe(&self, tag: Option<&Object<'_>>, source: Option<&Object<'_>>) -> PyResult<Call> {
        self.receive("probe", tag, source, false, Kind::Probe)
    }

    /// Puts words into another processor's memory, which does nothing for it, and goes on when the first enters the
    /// network. What the memory holds is the program's: an object that the processors share.
    #[pyo3(signature = (to, *, words = None))]
    fn put(&self, to: &Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let (to, bytes) = (self.processor(to)?, self.length(words)?);
        Ok(self.call("put", Kind::OneSided(OneSided::Put { to, bytes })))
    }

    /// Asks another processor's memory for words, and goes on when they are here.
    ///
    /// >>> import loggp
    /// >>> memory = [[10, 11], [20, 21]]
    /// >>> def program(p):
    /// ...     if p.id == 0:
    /// ...         yield p.get(1, words=2)
    /// ...         return memory[1]
    /// >>> run = loggp.Machine(P=2, L=6, o=2, g=4, G=1).run(program)
    /// >>> run.results[0], run.time
    /// ([20, 21], Time('17 us'))
    #[pyo3(signature = (to, *, words = None))]
    fn get(&self, to: &Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let (to, back) = (self.processor(to)?, self.length(words)?);
        Ok(self.call("get", Kind::OneSided(OneSided::Get { to, back })))
    }

    /// Asks another processor's memory for words, and goes on after o. Gives a request, which must be waited for.
    #[pyo3(signature = (to, *, words = None))]
    fn iget(&self, to: &Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let (to, back) = (self.processor(to)?, self.length(words)?);
        Ok(self.call("iget", Kind::OneSided(OneSided::PostGet { to, back })))
    }

    /// Changes another processor's memory in one step: sends words there, gets as many back, and then calls
    /// `update()`, before any processor acts later. Gives what `update` returns.
    ///
    /// >>> import loggp, itertools
    /// >>> def program(p):
    /// ...     tickets = counter
    /// ...     return (yield p.atomic(0, lambda: next(tickets)))
    /// >>> counter = itertools.count()
    /// >>> sorted(loggp.Machine(P=4, L=6, o=2, g=4).run(program).results)
    /// [0, 1, 2, 3]
    #[pyo3(signature = (to, update, *, words = None))]
    fn atomic(&self, to: &Object<'_>, update: Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let (to, bytes) = (self.processor(to)?, self.length(words)?);
        if !update.is_callable() {
            let sentence = format!("{} changes no memory; give a function without arguments", update.repr()?);
            return Err(PyTypeError::new_err(sentence));
        }
        let update = Value::new(update.unbind(), 0);
        Ok(self.call("atomic", Kind::OneSided(OneSided::Atomic { to, bytes, update })))
    }

    /// Waits until all is there that this processor has put into the memory of one, or of all.
    #[pyo3(signature = (to = None))]
    fn flush(&self, to: Option<&Object<'_>>) -> PyResult<Call> {
        let to = to.map(|to| self.processor(to)).transpose()?;
        Ok(self.call("flush", Kind::OneSided(OneSided::Flush(to))))
    }

    /// Waits until a request is done. Gives the message of a receive, and None for a send.
    fn wait(&self, request: &Object<'_>) -> PyResult<Call> {
        Ok(self.call("wait", Kind::Wait(self.request(request)?)))
    }

    /// Waits for all requests, one after the other. Gives a list of their messages.
    fn wait_all(&self, requests: &Object<'_>) -> PyResult<Call> {
        let numbers: PyResult<_> = requests.try_iter()?.map(|request| self.request(&request?)).collect();
        Ok(self.call("wait_all", Kind::WaitAll(numbers?)))
    }

    /// Waits until one of the requests in a list is done, which are all of sends, all of receives with a tag or
    /// all of receives with any tag, and removes it from the list. Gives its place there, and its message.
    fn wait_any(&self, requests: &Object<'_>) -> PyResult<Call> {
        let Ok(list) = requests.cast::<PyList>() else {
            let sentence =
                format!("{} is no list of requests, of which the first can be removed", requests.repr()?);
            return Err(PyTypeError::new_err(sentence));
        };
        if list.is_empty() {
            return Err(PyValueError::new_err("it waits for any of no requests; give at least one"));
        }
        let numbers: PyResult<_> = list.iter().map(|request| self.request(&request)).collect();
        Ok(self.call("wait_any", Kind::WaitAny(numbers?, Value::new(list.clone().into_any().unbind(), 0))))
    }

    /// Tests whether a request is done. Gives (True, message), after which it is no request any more, or
    /// (False, None), a cycle later.
    fn test(&self, request: &Object<'_>) -> PyResult<Call> {
        Ok(self.call("test", Kind::Test(self.request(request)?)))
    }

    /// Waits until a local time.
    fn wait_until(&self, time: &Object<'_>) -> PyResult<Call> {
        Ok(self.call("wait_until", Kind::WaitUntil(self.moment(time)?)))
    }

    /// Computes for a time: `p.work(3.5)` for cycles, `p.work("3.5us")`. Or does units of a kind of work,
    /// each of which costs what the machine's rates say, or a cycle: `p.work(1000, "add")`.
    #[pyo3(signature = (amount, kind = None))]
    fn work(&self, amount: &Object<'_>, kind: Option<&str>) -> PyResult<Call> {
        let (kind, units) = match kind {
            None => (TIMED_WORK, self.moment(amount)?.as_ps()),
            Some(kind) => (intern(kind), amount.extract()?),
        };
        match u64::try_from(units) {
            Ok(units) => Ok(self.call("work", Kind::Work { kind, units })),
            Err(_) => {
                Err(PyValueError::new_err(format!("work of {} cannot be; give 0 or more", amount.repr()?)))
            }
        }
    }

    /// Waits until all processors have called it: in the machine's own barrier if it has one.
    fn barrier(&self) -> Call {
        self.call("barrier", Kind::Barrier(self.group.clone()))
    }

    /// Returns the parameters between this processor and another: on a machine with levels those of the
    /// innermost group that has both.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     return [p.params_to(other).L.us for other in range(4)]
    /// >>> node = dict(P=2, L=1, o=1, g=1)
    /// >>> loggp.Machine(P=4, L=6, o=2, g=4, levels=[node]).run(program).results[0]
    /// [1.0, 1.0, 6.0, 6.0]
    fn params_to(&self, other: &Object<'_>) -> PyResult<Parameters> {
        let other = self.processor(other)?;
        Ok(Parameters(*self.seat.session.machine.params_between(self.seat.id, other)))
    }

    /// Returns the processor as a member of a group: the collectives that are called on it are those of the
    /// group, where roots are counted by rank.
    fn within(&self, group: &Bound<'_, Group>) -> Proc {
        Proc { seat: self.seat.clone(), group: Some(group.get().0.clone()) }
    }

    /// Gives the root's value to all.
    #[pyo3(signature = (root, value = None, *, words = None))]
    fn broadcast(
        &self,
        root: &Object<'_>,
        value: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let root = self.root(root)?;
        let value = if self.is_root(root) { Some(self.value(value, words)?) } else { None };
        self.collective("broadcast", words, Operation::Broadcast { root, value })
    }

    /// Combines the values of all by `op(a, b)`. Gives the root the result, and the others None.
    #[pyo3(signature = (root, value, op, *, words = None))]
    fn reduce(
        &self,
        root: &Object<'_>,
        value: Option<Object<'_>>,
        op: Object<'_>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let (root, value) = (self.root(root)?, self.value(value, words)?);
        self.collective("reduce", words, Operation::Reduce { root, value, op: operator(op)? })
    }

    /// Combines the values of all by `op(a, b)`. Gives all the result.
    #[pyo3(signature = (value, op, *, words = None))]
    fn all_reduce(&self, value: Option<Object<'_>>, op: Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let value = self.value(value, words)?;
        self.collective("all_reduce", words, Operation::AllReduce { value, op: operator(op)? })
    }

    /// Gives all the largest number of all, with the place and the value that were given with it. Of equal
    /// numbers it is that of the first place; a place is the processor's number by default.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     return (yield p.all_max([2.5, 7.0, 7.0, 1.0][p.id], 10 + p.id, "abcd"[p.id]))
    /// >>> loggp.Machine(P=4, L=6, o=2, g=4, word=32).run(program).results[0]
    /// (7.0, 11, 'b')
    #[pyo3(signature = (value, place = None, with_ = None, *, words = None))]
    fn all_max(
        &self,
        value: &Object<'_>,
        #[pyo3(from_py_with = optional_count)] place: Option<usize>,
        with_: Option<Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let (value, with) = (Number::read(value)?, self.value(with_, words)?);
        let place = place.unwrap_or(self.seat.id);
        self.collective("all_max", words, Operation::AllMax { value, place, with })
    }

    /// Gives each the values of all up to itself, combined by `op(a, b)`.
    #[pyo3(signature = (value, op, *, words = None))]
    fn scan(&self, value: Option<Object<'_>>, op: Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let value = self.value(value, words)?;
        self.collective("scan", words, Operation::Scan { value, op: operator(op)? })
    }

    /// Gives each the values of all before itself, combined by `op(a, b)`, and the first None.
    #[pyo3(signature = (value, op, *, words = None))]
    fn exclusive_scan(
        &self,
        value: Option<Object<'_>>,
        op: Object<'_>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let value = self.value(value, words)?;
        self.collective("exclusive_scan", words, Operation::ExclusiveScan { value, op: operator(op)? })
    }

    /// Gives the root a list of the values of all, and the others None.
    #[pyo3(signature = (root, value = None, *, words = None))]
    fn gather(&self, root: &Object<'_>, value: Option<Object<'_>>, words: Option<Words>) -> PyResult<Call> {
        let (root, value) = (self.root(root)?, self.value(value, words)?);
        self.collective("gather", words, Operation::Gather { root, value })
    }

    /// Gives each its value of the root's list.
    #[pyo3(signature = (root, values = None, *, words = None))]
    fn scatter(
        &self,
        root: &Object<'_>,
        values: Option<&Object<'_>>,
        words: Option<Words>,
    ) -> PyResult<Call> {
        let root = self.root(root)?;
        let values =
            values.filter(|_| self.is_root(root)).map(|values| self.values(values, words)).transpose()?;
        self.collective("scatter", words, Operation::Scatter { root, values })
    }

    /// Gives all a list of the values of all.
    #[pyo3(signature = (value = None, *, words = None))]
    fn all_gather(&self, value: Option<Object<'_>>, words: Option<Words>) -> PyResult<Call> {
        let value = self.value(value, words)?;
        self.collective("all_gather", words, Operation::AllGather { value })
    }

    /// Sends each a value. Gives a list of those of all, by sender.
    #[pyo3(signature = (values, *, words = None))]
    fn all_to_all(&self, values: &Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let values = self.values(values, words)?;
        self.collective("all_to_all", words, Operation::AllToAll { values })
    }

    /// Sends each a value. Gives those of all, combined by `op(a, b)`.
    #[pyo3(signature = (values, op, *, words = None))]
    fn reduce_scatter(&self, values: &Object<'_>, op: Object<'_>, words: Option<Words>) -> PyResult<Call> {
        let values = self.values(values, words)?;
        self.collective("reduce_scatter", words, Operation::ReduceScatter { values, op: operator(op)? })
    }

    /// Gives the root's vector of numbers to all, who know the number of its elements: in pieces along a
    /// chain, or as a whole down a tree.
    #[pyo3(signature = (root, elements, vector = None))]
    fn broadcast_vector(
        &self,
        root: &Object<'_>,
        #[pyo3(from_py_with = count)] elements: usize,
        vector: Option<&Object<'_>>,
    ) -> PyResult<Call> {
        self.broadcast_along("broadcast_vector", root, elements, vector, false)
    }

    /// Gives the root's vector of numbers to all, who know the number of its elements, in pieces along a
    /// chain.
    #[pyo3(signature = (root, elements, vector = None))]
    fn broadcast_chain(
        &self,
        root: &Object<'_>,
        #[pyo3(from_py_with = count)] elements: usize,
        vector: Option<&Object<'_>>,
    ) -> PyResult<Call> {
        self.broadcast_along("broadcast_chain", root, elements, vector, true)
    }

    /// Gives all a list of the vectors of all. All know the number of elements of each.
    fn all_gather_vector(&self, elements: Vec<usize>, vector: &Object<'_>) -> PyResult<Call> {
        let vector = self.vector(vector)?;
        self.collective("all_gather_vector", None, Operation::AllGatherVector { elements, vector })
    }

    /// Combines vectors of numbers by elements. Gives the root the result, and the others None.
    fn reduce_vector(&self, root: &Object<'_>, vector: &Object<'_>, op: Object<'_>) -> PyResult<Call> {
        let (root, vector) = (self.root(root)?, self.vector(vector)?);
        self.collective("reduce_vector", None, Operation::ReduceVector { root, vector, op: operator(op)? })
    }

    /// Combines vectors of numbers by elements. Gives all the result.
    fn all_reduce_vector(&self, vector: &Object<'_>, op: Object<'_>) -> PyResult<Call> {
        let vector = self.vector(vector)?;
        self.collective("all_reduce_vector", None, Operation::AllReduceVector { vector, op: operator(op)? })
    }

    /// Gives each the vectors of all up to itself, combined by elements.
    fn scan_vector(&self, vector: &Object<'_>, op: Object<'_>) -> PyResult<Call> {
        let vector = self.vector(vector)?;
        self.collective("scan_vector", None, Operation::ScanVector { vector, op: operator(op)? })
    }
}

impl Proc {
    fn broadcast_along(
        &self,
        name: &'static str,
        root: &Object<'_>,
        elements: usize,
        vector: Option<&Object<'_>>,
        in_chain: bool,
    ) -> PyResult<Call> {
        let root = self.root(root)?;
        let vector = vector.filter(|_| self.is_root(root)).map(|vector| self.vector(vector)).transpose()?;
        self.collective(name, None, Operation::BroadcastVector { root, elements, vector, in_chain })
    }
}

/// Checks a function that combines values.
fn operator(op: Object<'_>) -> PyResult<Value> {
    match op.is_callable() {
        true => Ok(Value::new(op.unbind(), 0)),
        false => {
            Err(PyTypeError::new_err(format!("{} combines no values; give a function of two", op.repr()?)))
        }
    }
}
