//! Calls of a program, made on the library's processor.

use loggp::collectives::Maximum;
use loggp::stack::{ThreadStack, on_thread_stack};
use loggp::{AnyTag, Proc, WithSender, collectives};
use pyo3::prelude::*;

use crate::program::answer::Answer;
use crate::program::call::{
    Collective, Exchange, Filter, Kind, Message, OneSided, Operation, SendReceiving, Wait,
};
use crate::program::requests::{Posted, Requests};
use crate::program::session::{Line, Seat, fail};
use crate::value::{Carried, Fixed, Value, Word};

/// Makes a call. `line` is that of the program which makes it, if it posts a request.
pub fn perform(
    p: &mut Proc,
    stack: &dyn ThreadStack,
    seat: &Seat,
    requests: &mut Requests,
    call: Kind,
    line: Option<Line>,
) -> Answer {
    match call {
        Kind::Send(Message { to, tag, value }) => p.send(to, tag, value),
        Kind::PostSend(Message { to, tag, value }) => {
            let posted = Posted::Send(p.isend(to, tag, value));
            return requests.keep(posted, line);
        }
        Kind::SendRecv(Message { to, tag, value }, from) => {
            return Answer::Value(p.send_recv(to, from, tag, value));
        }
        Kind::SendReceiving(sending) => send_receiving(p, stack, seat, *sending),
        Kind::Receive(filter, wait) => return receive(p, filter, wait),
        Kind::PostReceive(filter) => {
            let posted = post_receive(p, filter);
            return requests.keep(posted, line);
        }
        Kind::Probe(Filter { from, tag, .. }) => {
            let found = match (from, tag) {
                (None, Some(tag)) => p.probe(tag),
                (Some(from), Some(tag)) => p.probe(tag.from(from)),
                (from, None) => p.probe(any_tag(from)),
            };
            return found.map_or(Answer::None, Answer::Sender);
        }
        Kind::OneSided(OneSided::PostGet { to, back }) => {
            let posted = Posted::Send(p.post_get(to, 0, back));
            return requests.keep(posted, line);
        }
        Kind::OneSided(call) => return reach(p, stack, seat, call),
        Kind::WaitUntil(time) => p.wait_until(time),
        Kind::Work { kind, units } => p.work(kind, units, || ()),
        Kind::Wait(number) => return requests.wait(p, number),
        Kind::WaitAll(numbers) => return requests.wait_all(p, &numbers),
        Kind::WaitAny(numbers, list) => return requests.wait_any(p, &numbers, list),
        Kind::Test(number) => return requests.test(p, number),
        Kind::Exchange(exchange) => {
            let Exchange { tag, longest, steps } = *exchange;
            let mut received = Vec::with_capacity(steps.len());
            p.exchange(tag, longest, steps, |sender, value| received.push((sender, value)));
            return Answer::Messages(received);
        }
        Kind::Barrier(None) => p.barrier(),
        Kind::Barrier(Some(group)) => p.within(&group).barrier(),
        Kind::Collective(collective) => {
            let Collective { operation, group, bytes } = *collective;
            let together = Together { stack, seat, bytes };
            return match group {
                None => together.call(p, operation),
                Some(group) => together.call(&mut p.within(&group), operation),
            };
        }
    }
    Answer::None
}

/// Reaches into another processor's memory.
fn reach(p: &mut Proc, stack: &dyn ThreadStack, seat: &Seat, call: OneSided) -> Answer {
    match call {
        OneSided::Put { to, bytes } => p.put(to, bytes),
        OneSided::Get { to, back } | OneSided::PostGet { to, back } => p.get(to, 0, back),
        OneSided::Flush(to) => p.flush(to),
        OneSided::Atomic { to, bytes, update } => {
            p.get(to, bytes, bytes);
            p.wait_to_act();
            let call = || Python::attach(|py| update.object().call0(py).map(|old| Value::new(old, 0)));
            let old = on_thread_stack(stack, call);
            return Answer::Value(old.unwrap_or_else(|error| fail(seat, error)));
        }
    }
    Answer::None
}

fn receive(p: &mut Proc, Filter { from, tag, names_sender }: Filter, wait: Wait) -> Answer {
    fn receive<F: loggp::Filter>(p: &mut Proc, filter: F, wait: Wait) -> Option<(usize, F::Received)> {
        let filter = WithSender(filter);
        match wait {
            Wait::Forever => Some(p.recv(filter)),
            Wait::Not => p.try_recv(filter),
            Wait::Until(deadline) => p.recv_deadline(filter, deadline),
        }
    }
    let received = match (from, tag) {
        (None, Some(tag)) => receive(p, tag, wait).map(|got| Answer::message(got, names_sender)),
        (Some(from), Some(tag)) => {
            receive(p, tag.from(from), wait).map(|got| Answer::message(got, names_sender))
        }
        (from, None) => receive(p, any_tag(from), wait).map(|got| Answer::tagged(got, names_sender)),
    };
    match (received, wait) {
        (None, _) => Answer::None,
        (Some(message), Wait::Forever) => message,
        (Some(message), Wait::Not | Wait::Until(_)) => Answer::Found(Box::new(message)),
    }
}

fn post_receive(p: &mut Proc, Filter { from, tag, names_sender }: Filter) -> Posted {
    match (from, tag) {
        (None, Some(tag)) => Posted::Receive(p.irecv(WithSender(tag)), names_sender),
        (Some(from), Some(tag)) => Posted::Receive(p.irecv(WithSender(tag.from(from))), names_sender),
        (from, None) => Posted::ReceiveAny(p.irecv(WithSender(any_tag(from))), names_sender),
    }
}

/// Returns the filter of messages with any tag, from one processor or any.
fn any_tag(from: Option<usize>) -> AnyTag<Value> {
    from.map_or(AnyTag::new(), |from| AnyTag::new().from(from))
}

fn send_receiving(p: &mut Proc, stack: &dyn ThreadStack, seat: &Seat, sending: SendReceiving) {
    let SendReceiving { message: Message { to, tag, value }, taking, on, names_sender } = sending;
    p.send_receiving(to, tag, value, taking.with_sender(), |_, (sender, value)| {
        let called = on_thread_stack(stack, || {
            Python::attach(|py| match names_sender {
                true => on.object().call1(py, (sender, value.into_object())).map(drop),
                false => on.object().call1(py, (value.into_object(),)).map(drop),
            })
        });
        called.unwrap_or_else(|error| fail(seat, error));
    });
}

/// A collective, as its processor calls it.
#[derive(Clone, Copy)]
struct Together<'s> {
    stack: &'s dyn ThreadStack,
    seat: &'s Seat,
    /// The bytes of each value, if the program says so.
    bytes: Option<usize>,
}

impl Together<'_> {
    fn call(self, p: &mut Proc, operation: Operation) -> Answer {
        use Operation::{AllGatherVector, AllReduceVector, BroadcastVector, ReduceVector, ScanVector};
        match operation {
            BroadcastVector { root, elements, vector, in_chain } => {
                let vector = vector.map(carried::<Word>);
                let vector = match in_chain {
                    true => collectives::broadcast_chain(p, root, elements, vector),
                    false => collectives::broadcast_vector(p, root, elements, vector),
                };
                values(vector)
            }
            AllGatherVector { elements, vector } => {
                let all = collectives::all_gather_vector(p, &elements, carried::<Word>(vector));
                Answer::Lists(all.into_iter().map(plain).collect())
            }
            ReduceVector { root, vector, op } => {
                let combined =
                    collectives::reduce_vector(p, root, carried::<Word>(vector), self.combine(&op));
                combined.map_or(Answer::None, values)
            }
            AllReduceVector { vector, op } => {
                values(collectives::all_reduce_vector(p, carried::<Word>(vector), self.combine(&op)))
            }
            ScanVector { vector, op } => {
                values(collectives::scan_vector(p, carried::<Word>(vector), self.combine(&op)))
            }
            // The algorithms plan by the length of the values, if all have the same. It must be known when this is
            // compiled, so that only usual lengths of a word are.
            operation => match self.bytes {
                Some(1) => self.call_with::<Fixed<1>>(p, operation),
                Some(4) => self.call_with::<Fixed<4>>(p, operation),
                Some(8) => self.call_with::<Fixed<8>>(p, operation),
                Some(16) => self.call_with::<Fixed<16>>(p, operation),
                _ => self.call_with::<Value>(p, operation),
            },
        }
    }

    fn call_with<T: Carried>(self, p: &mut Proc, operation: Operation) -> Answer {
        use Operation::*;
        let one = |value: T| Answer::Value(Value::kept(value));
        match operation {
            Broadcast { root, value } => one(collectives::broadcast(p, root, value.map(T::from_value))),
            Reduce { root, value, op } => {
                let combined = collectives::reduce(p, root, T::from_value(value), self.combine(&op));
                combined.map_or(Answer::None, one)
            }
            AllReduce { value, op } => {
                one(collectives::all_reduce(p, T::from_value(value), self.combine(&op)))
            }
            AllMax { value, place, with } => {
                let Maximum { value, place, with } =
                    collectives::all_max(p, value, place, T::from_value(with));
                Answer::Maximum(value, place, Value::kept(with))
            }
            Scan { value, op } => one(collectives::scan(p, T::from_value(value), self.combine(&op))),
            ExclusiveScan { value, op } => {
                let combined = collectives::exclusive_scan(p, T::from_value(value), self.combine(&op));
                combined.map_or(Answer::None, one)
            }
            Gather { root, value } => {
                collectives::gather(p, root, T::from_value(value)).map_or(Answer::None, values)
            }
            Scatter { root, values } => one(collectives::scatter(p, root, values.map(carried::<T>))),
            AllGather { value } => values(collectives::all_gather(p, T::from_value(value))),
            AllToAll { values: given } => values(collectives::all_to_all(p, carried::<T>(given))),
            ReduceScatter { values, op } => {
                one(collectives::reduce_scatter(p, carried::<T>(values), self.combine(&op)))
            }
            BroadcastVector { .. }
            | AllGatherVector { .. }
            | ReduceVector { .. }
            | AllReduceVector { .. }
            | ScanVector { .. } => unreachable!("a vector's elements are words"),
        }
    }

    /// Returns the function that combines two values by a function in Python.
    fn combine<T: Carried>(self, op: &Value) -> impl FnMut(T, T) -> T {
        let declared = if T::SIZE.is_some() { T::SIZE } else { self.bytes };
        move |a, b| {
            let combined = on_thread_stack(self.stack, || {
                Python::attach(|py| {
                    // A function that changes what it gets would change what others were sent.
                    let own = |value: T| self.seat.session.copied(value.into_object().into_bound(py));
                    let combined = op.object().bind(py).call1((own(a)?, own(b)?))?;
                    Value::measured(combined, declared)
                })
            });
            T::from_value(combined.unwrap_or_else(|error| fail(self.seat, error)))
        }
    }
}

fn carried<T: Carried>(values: Vec<Value>) -> Vec<T> {
    values.into_iter().map(T::from_value).collect()
}

fn plain<T: Carried>(values: Vec<T>) -> Vec<Value> {
    values.into_iter().map(Value::kept).collect()
}

fn values<T: Carried>(values: Vec<T>) -> Answer {
    Answer::Values(plain(values))
}
