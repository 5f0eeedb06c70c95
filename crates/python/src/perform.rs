//! Calls of a program, made on the library's processor.

use loggp::on_thread_stack;
use loggp_model::rules::engine::ThreadStack;
use loggp::collectives::Maximum;
use loggp::{AnyTag, Proc, collectives};
use pyo3::prelude::*;

use crate::answer::Answer;
use crate::call::{Collective, Exchange, Filter, Kind, Operation, SendReceiving, Wait};
use crate::requests::{Posted, Requests};
use crate::session::{Line, Seat, fail};
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
        Kind::Send { to, tag, value, is_posted: false } => p.send(to, tag, value),
        Kind::Send { to, tag, value, is_posted: true } => {
            let posted = Posted::Send(p.isend(to, tag, value));
            return requests.keep(posted, line);
        }
        Kind::SendRecv { to, from, tag, value } => return Answer::Value(p.send_recv(to, from, tag, value)),
        Kind::SendReceiving(sending) => send_receiving(p, stack, seat, *sending),
        Kind::Receive { filter, is_posted: false, wait } => return receive(p, filter, wait),
        Kind::Receive { filter, is_posted: true, .. } => {
            let posted = post_receive(p, filter);
            return requests.keep(posted, line);
        }
        Kind::Probe(Filter { from, tag, .. }) => {
            let found = match (from, tag) {
                (None, Some(tag)) => p.probe(tag),
                (Some(from), Some(tag)) => p.probe(tag.from(from)),
                (None, None) => p.probe(AnyTag::<Value>::new()),
                (Some(from), None) => p.probe(AnyTag::<Value>::new().from(from)),
            };
            return found.map_or(Answer::None, Answer::Sender);
        }
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

fn receive(p: &mut Proc, Filter { from, tag, names_sender }: Filter, wait: Wait) -> Answer {
    let message = match (from, tag) {
        (None, Some(tag)) => {
            let received = match wait {
                Wait::Forever => Some(p.recv(tag)),
                Wait::Not => p.try_recv(tag),
                Wait::Until(deadline) => p.recv_until(tag, deadline),
            };
            received.map(|(sender, value)| Answer::Message(sender, value))
        }
        (Some(from), Some(tag)) => {
            let received = match wait {
                Wait::Forever => Some(p.recv(tag.from(from))),
                Wait::Not => p.try_recv(tag.from(from)),
                Wait::Until(deadline) => p.recv_until(tag.from(from), deadline),
            };
            received
                .map(|value| if names_sender { Answer::Message(from, value) } else { Answer::Value(value) })
        }
        (from, None) => {
            let any = AnyTag::<Value>::new();
            let any = from.map_or(any, |from| any.from(from));
            let received = match wait {
                Wait::Forever => Some(p.recv(any)),
                Wait::Not => p.try_recv(any),
                Wait::Until(deadline) => p.recv_until(any, deadline),
            };
            received.map(|(sender, number, value)| Answer::Tagged(sender, number, value))
        }
    };
    message.unwrap_or(Answer::None)
}

fn post_receive(p: &mut Proc, Filter { from, tag, .. }: Filter) -> Posted {
    match (from, tag) {
        (None, Some(tag)) => Posted::Receive(p.irecv(tag)),
        (Some(from), Some(tag)) => Posted::ReceiveFrom(from, p.irecv(tag.from(from))),
        (None, None) => Posted::ReceiveAny(p.irecv(AnyTag::new())),
        (Some(from), None) => Posted::ReceiveAny(p.irecv(AnyTag::new().from(from))),
    }
}

fn send_receiving(p: &mut Proc, stack: &dyn ThreadStack, seat: &Seat, sending: SendReceiving) {
    let SendReceiving { to, tag, value, taking, on } = sending;
    p.send_receiving(to, tag, value, taking, |_, sender, value| {
        let called = on_thread_stack(stack, || {
            Python::attach(|py| on.object().call1(py, (sender, value.into_object())).map(drop))
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
