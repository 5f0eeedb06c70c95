//! Arbitrary traces, for the tests of all forms of file.

use loggp_model::message::MessageId;
use loggp_model::params::{Latency, Level, Noise, Params, Ports, Precedence, Ties};
use loggp_model::time::{MOST_IN_FILE, Time, US};
use loggp_model::transport::{Capacity, Protocol};
use loggp_trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Caption, Faults, Message, Progress, Rendezvous,
    SendRecv, Trace, Transfer, Until,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The largest number that a trace may have.
pub(crate) const LARGEST: i64 = MOST_IN_FILE as i64;

fn count() -> impl Strategy<Value = usize> {
    0..=MOST_IN_FILE as usize
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![0..100_000_000_i64, -LARGEST..=LARGEST].prop_map(Time::from_ps)
}

fn message_id() -> impl Strategy<Value = MessageId> {
    prop_oneof![(0..4_usize, 0..9_usize), (count(), count())]
        .prop_map(|(from, number)| MessageId { from, number })
}

/// An activity of a message, or a wait for one.
fn step() -> impl Strategy<Value = ActivityKind> {
    prop_oneof![
        message_id().prop_map(ActivityKind::Send),
        message_id().prop_map(ActivityKind::Receive),
        Just(ActivityKind::Gap),
        Just(ActivityKind::Stall),
        Just(ActivityKind::Port),
        Just(ActivityKind::Idle),
    ]
}

fn activity() -> impl Strategy<Value = Activity> {
    let kind = prop_oneof![
        6 => step(),
        1 => any::<String>().prop_map(|kind| ActivityKind::Work(kind.into())),
        1 => Just(ActivityKind::Barrier),
        1 => any::<u32>().prop_map(ActivityKind::Post),
        1 => any::<u32>().prop_map(ActivityKind::Wait),
    ];
    (count(), time(), time(), kind).prop_map(|(id, start, end, kind)| Activity { id, start, end, kind })
}

fn progress() -> impl Strategy<Value = Progress> {
    let owner = (number(), any::<u32>());
    (owner, time(), time(), step()).prop_map(|((id, request), start, end, kind)| Progress {
        id,
        request,
        start,
        end,
        kind,
    })
}

fn message() -> impl Strategy<Value = Message> {
    let times = [time(), time(), time(), time()];
    (message_id(), (count(), count(), count()), times).prop_map(
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
    prop_oneof![0..4_usize, count()]
}

fn until() -> impl Strategy<Value = Until> {
    prop_oneof![Just(Until::Arrival), time().prop_map(Until::Moment), Just(Until::GapOver)]
}

fn call() -> impl Strategy<Value = Call> {
    let send_recv = (number(), number(), tag(), number(), transfer(), transfer());
    let kind =
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
                .prop_map(|(from, tag, until, received)| CallKind::Receive { from, tag, until, received }),
            send_recv.prop_map(|(to, from, tag, bytes, sent, received)| {
                CallKind::SendRecv(Box::new(SendRecv { to, from, tag, bytes, sent, received }))
            }),
            (option::of(number()), tag(), option::of(number()))
                .prop_map(|(from, tag, found)| CallKind::Probe { from, tag, found }),
            Just(CallKind::Barrier),
            (any::<u32>(), number(), tag(), number()).prop_map(|(request, to, tag, bytes)| CallKind::Isend {
                request,
                to,
                tag,
                bytes
            }),
            (any::<u32>(), option::of(number()), tag()).prop_map(|(request, from, tag)| CallKind::Irecv {
                request,
                from,
                tag
            }),
            (any::<u32>(), any::<bool>(), transfer())
                .prop_map(|(request, is_send, transfer)| CallKind::Wait { request, is_send, transfer }),
            any::<u32>().prop_map(|request| CallKind::Test { request }),
            (number(), number(), option::of(number()), option::of(any::<u32>()), option::of(transfer()))
                .prop_map(|(to, bytes, back, request, sent)| CallKind::OneSided {
                    to,
                    bytes,
                    back,
                    request,
                    sent
                }),
            option::of(number()).prop_map(|to| CallKind::Flush { to }),
        ];
    (number(), time(), time(), kind).prop_map(|(id, start, end, kind)| Call { id, start, end, kind })
}

/// A level of a machine of three processors: each is a group by itself, with a card.
fn levels(outer: &Params) -> Option<Level> {
    let alone = Params { P: 1, L: outer.L / 2, ..*outer };
    alone.check().is_ok().then(|| Level::new(alone).ports(Ports::Dual).one_port(true))
}

/// An arbitrary trace, whether it could happen or not.
pub(crate) fn any_trace() -> impl Strategy<Value = Trace> {
    let texts = prop::sample::select(vec![
        "L=6,o=2,g=4,G=0.03us",
        "L=1ps,o=3600s,word=16",
        "L=9us,S=100,s=10,O_s=7.63ns,O_r=4ns,G_s=1ns,G_l=-12.74ns",
        "L=9us,S=10,s=10,R=3us",
    ]);
    let ports = prop::sample::select(vec![Ports::Single, Ports::Dual]);
    let rendezvous = prop::sample::select(vec![Protocol::Push, Protocol::Pull]);
    let capacity = prop::sample::select(vec![Capacity::Arrived, Capacity::Received]);
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
    let barrier = prop::option::of((0..=LARGEST).prop_map(Time::from_ps));
    let out_of_order = prop_oneof![Just(0), any::<u64>()];
    let noise = prop_oneof![
        Just(None),
        any::<u64>().prop_map(|seed| Some("10ms:25us,1s:7ps".parse::<Noise>().unwrap().seed(seed))),
        any::<u64>()
            .prop_map(|seed| Some(Noise::parse_record("5 7.1\n6 8\n90 1").unwrap().seed(seed).together())),
    ];
    let caption = option::of((any::<String>(), any::<String>(), any::<String>(), option::of(time())));
    let caption = caption.prop_map(|caption| {
        caption.map(|(title, about, unit, formula)| Caption { title, about, unit, formula })
    });
    let machine =
        (texts, (ports, rendezvous, capacity), (latency, ties, noise), barrier, (out_of_order, caption));
    let events = (vec(activity(), 0..12), vec(message(), 0..12), vec(call(), 0..12), vec(progress(), 0..6));
    (machine, events).prop_map(|(machine, (activities, messages, calls, progress))| {
        let (text, (ports, rendezvous, capacity), (latency, ties, noise), barrier, (out_of_order, caption)) =
            machine;
        let params = Params::builder(3).set(text).unwrap().build().unwrap();
        let levels = levels(&params).filter(|_| out_of_order == 0).into_iter().collect();
        Trace {
            params,
            levels,
            ports,
            rendezvous,
            capacity,
            latency,
            ties,
            precedence: if out_of_order == 0 {
                Precedence::from([(US, vec![2, 0])])
            } else {
                Precedence::new()
            },
            noise,
            faults: match out_of_order {
                0 => Faults {
                    lost: [MessageId { from: 2, number: 7 }].into(),
                    twice: [(MessageId { from: 1, number: 0 }, US)].into(),
                    crashed: [(1, 3)].into(),
                    ended_early: true,
                },
                _ => Faults::default(),
            },
            barrier,
            out_of_order,
            reaches_memories: out_of_order == 0,
            caption,
            activities,
            progress,
            messages,
            calls,
        }
    })
}
