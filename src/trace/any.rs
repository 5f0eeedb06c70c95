//! Any trace at all, for tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{
    Activity, ActivityKind, Call, CallKind, CallTag, Message, Progress, Rendezvous, SendRecv, Trace,
    Transfer, Until,
};
use crate::message::MessageId;
use crate::params::Params;
use crate::params::Ports;
use crate::params::{Latency, Ties};
use crate::time::Time;

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![0..100_000_000_i64, any::<i64>()].prop_map(Time::from_ps)
}

fn message_id() -> impl Strategy<Value = MessageId> {
    prop_oneof![(0..4_usize, 0..9_usize), any::<(usize, usize)>()]
        .prop_map(|(from, number)| MessageId { from, number })
}

fn activity() -> impl Strategy<Value = Activity> {
    let what = prop_oneof![
        any::<String>().prop_map(|kind| ActivityKind::Work(kind.into())),
        message_id().prop_map(ActivityKind::Send),
        message_id().prop_map(ActivityKind::Receive),
        Just(ActivityKind::Gap),
        Just(ActivityKind::Stall),
        Just(ActivityKind::Port),
        Just(ActivityKind::Idle),
        Just(ActivityKind::Barrier),
        any::<u32>().prop_map(ActivityKind::Post),
        any::<u32>().prop_map(ActivityKind::Wait),
    ];
    (any::<usize>(), time(), time(), what).prop_map(|(id, start, end, what)| Activity {
        id,
        start,
        end,
        what,
    })
}

fn progress() -> impl Strategy<Value = Progress> {
    let what = prop_oneof![
        message_id().prop_map(ActivityKind::Send),
        message_id().prop_map(ActivityKind::Receive),
        Just(ActivityKind::Gap),
        Just(ActivityKind::Stall),
        Just(ActivityKind::Port),
        Just(ActivityKind::Idle),
    ];
    let whose = (number(), any::<u32>());
    (whose, time(), time(), what).prop_map(|((id, request), start, end, what)| Progress {
        id,
        request,
        start,
        end,
        what,
    })
}

fn message() -> impl Strategy<Value = Message> {
    let times = [time(), time(), time(), time()];
    (message_id(), any::<(usize, usize, usize)>(), times).prop_map(
        |(id, (to, words, place), [latency, enter, first, arrival])| Message {
            id,
            to,
            words,
            latency,
            place,
            enter,
            first,
            arrival,
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("row".to_owned()), Just("x".repeat(100)), any::<String>()]
}

fn tag() -> impl Strategy<Value = CallTag> {
    let number = prop_oneof![0..3_u64, any::<u64>()];
    (number, option::of(name())).prop_map(|(number, name)| CallTag { number, name: name.map(Into::into) })
}

fn transfer() -> impl Strategy<Value = Transfer> {
    (message_id(), option::of((message_id(), message_id()))).prop_map(|(message, rendezvous)| {
        let rendezvous = rendezvous.map(|(request, reply)| Box::new(Rendezvous { request, reply }));
        Transfer { message, rendezvous }
    })
}

fn number() -> impl Strategy<Value = usize> {
    prop_oneof![0..4_usize, any::<usize>()]
}

fn until() -> impl Strategy<Value = Until> {
    prop_oneof![Just(Until::Come), time().prop_map(Until::Moment), Just(Until::GapOver)]
}

fn call() -> impl Strategy<Value = Call> {
    let send_recv = (number(), number(), tag(), number(), transfer(), transfer());
    let what =
        prop_oneof![
            name().prop_map(|kind| CallKind::Work(kind.into())),
            time().prop_map(CallKind::WaitUntil),
            (number(), tag(), number(), transfer()).prop_map(|(to, tag, bytes, sent)| CallKind::Send {
                to,
                tag,
                bytes,
                sent
            }),
            (option::of(number()), tag(), until(), option::of(transfer()))
                .prop_map(|(from, tag, until, got)| CallKind::Receive { from, tag, until, got }),
            send_recv.prop_map(|(to, from, tag, bytes, sent, got)| {
                CallKind::SendRecv(Box::new(SendRecv { to, from, tag, bytes, sent, got }))
            }),
            (option::of(number()), tag(), option::of(number()))
                .prop_map(|(from, tag, saw)| CallKind::Probe { from, tag, saw }),
            Just(CallKind::Barrier),
        ];
    (number(), time(), time(), what).prop_map(|(id, start, end, what)| Call { id, start, end, what })
}

/// Any trace at all, whether it could happen or not.
pub fn trace() -> impl Strategy<Value = Trace> {
    let texts = prop::sample::select(vec![
        "L=6,o=2,g=4,G=0.03us",
        "L=1ps,o=3600s,word=16",
        "L=9us,S=100,s=10,O_s=7.63ns,O_r=4ns,G_s=1ns,G_l=-12.74ns",
    ]);
    let ports = prop::sample::select(vec![Ports::Single, Ports::Dual]);
    let latency = prop_oneof![
        Just(Latency::Exact),
        any::<u64>().prop_map(|seed| Latency::Random { seed }),
        any::<u64>().prop_map(|seed| Latency::Exponential { seed }),
    ];
    let ties = prop_oneof![
        Just(Ties::Number),
        Just(Ties::Rotation),
        any::<u64>().prop_map(|seed| Ties::Random { seed }),
    ];
    let barrier = prop::option::of((0..=i64::MAX).prop_map(Time::from_ps));
    let out_of_order = prop_oneof![Just(0), any::<u64>()];
    let machine = (texts, ports, (latency, ties), barrier, out_of_order);
    let events = (vec(activity(), 0..12), vec(message(), 0..12), vec(call(), 0..12), vec(progress(), 0..6));
    (machine, events).prop_map(|(machine, (activities, messages, calls, progress))| {
        let (text, ports, (latency, ties), barrier, out_of_order) = machine;
        let params = Params::builder(3).set(text).unwrap().build().unwrap();
        Trace { params, ports, latency, ties, barrier, out_of_order, activities, progress, messages, calls }
    })
}
