//! Arbitrary traces for the tests of both forms of file, and one whose files are known byte for byte.

use loggp_model::message::MessageId;
use loggp_model::params::{Latency, Level, Noise, Params, Ports, Precedence, Ties};
use loggp_model::time::{MOST_IN_FILE, NS, Time, US};
use loggp_model::transport::{Capacity, Protocol};
use loggp_trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Caption, Faults, Message, Progress, Rendezvous,
    SendRecv, Trace, Transfer, Until,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The largest number that a trace may have.
const LARGEST: i64 = MOST_IN_FILE as i64;

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

fn activity() -> impl Strategy<Value = Activity> {
    let kind = prop_oneof![
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
    (count(), time(), time(), kind).prop_map(|(id, start, end, kind)| Activity { id, start, end, kind })
}

fn progress() -> impl Strategy<Value = Progress> {
    let kind = prop_oneof![
        message_id().prop_map(ActivityKind::Send),
        message_id().prop_map(ActivityKind::Receive),
        Just(ActivityKind::Gap),
        Just(ActivityKind::Stall),
        Just(ActivityKind::Port),
        Just(ActivityKind::Idle),
    ];
    let owner = (number(), any::<u32>());
    (owner, time(), time(), kind).prop_map(|((id, request), start, end, kind)| Progress {
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

/// The times beside a trace's lists are bounded like those in the lists.
#[test]
fn times_beside_the_lists_are_bounded() {
    let (long, id) = (Time::from_ps(LARGEST + 1), MessageId { from: 0, number: 0 });
    let caption = Some(Caption { formula: Some(long), ..Caption::default() });
    let faults = Faults { twice: [(id, long)].into(), ..Faults::default() };
    for trace in [
        Trace { caption, ..one_of_each() },
        Trace { faults, ..one_of_each() },
        Trace { precedence: Precedence::from([(long, vec![0])]), ..one_of_each() },
        Trace { barrier: Some(long), ..one_of_each() },
    ] {
        let mut file = Vec::new();
        trace.write(&mut file).unwrap();
        let error = Trace::read(&*file).unwrap_err().to_string();
        assert!(error.contains("is too long; give at most"), "{error}");
    }
}

/// A trace with at least one of everything, whether it could happen or not.
fn one_of_each() -> Trace {
    let id = |from, number| MessageId { from, number };
    let tag = |number, name: Option<&'static str>| CallTag { number, name: name.map(Into::into) };
    let free = |from, number| Transfer { message: id(from, number), rendezvous: None };
    let agreed = Transfer {
        message: id(2, 1),
        rendezvous: Some(Box::new(Rendezvous { request: id(2, 0), reply: id(0, 7) })),
    };
    let activities = [
        (0, 0, 3, ActivityKind::Work("think \"hard\"\n".into())),
        (0, 3, 5, ActivityKind::Send(id(0, 0))),
        (0, 5, 9, ActivityKind::Gap),
        (0, 9, 11, ActivityKind::Send(id(0, 300))),
        (0, 11, 13, ActivityKind::Stall),
        (0, 14, 15, ActivityKind::Port),
        (1, 0, 8, ActivityKind::Idle),
        (1, 8, 10, ActivityKind::Receive(id(0, 0))),
        (1, 10, 10, ActivityKind::Barrier),
        (1, 10, 12, ActivityKind::Post(7)),
        (2, -4, 1_000_000, ActivityKind::Wait(7)),
        (2, 1_000_000, 1_000_001, ActivityKind::Work("think \"hard\"\n".into())),
    ];
    let progress = [
        (1, 7, 9, 11, ActivityKind::Send(id(1, 0))),
        (1, 8, 11, 12, ActivityKind::Receive(id(0, 300))),
        (2, 0, 12, 13, ActivityKind::Gap),
        (2, 0, 13, 14, ActivityKind::Stall),
        (2, 0, 14, 15, ActivityKind::Port),
        (2, u32::MAX, 15, 16, ActivityKind::Idle),
    ];
    let messages = [
        (id(0, 0), 1, 1, 9, 0, [5, 14, 14]),
        (id(0, 1), 2, 1, 9, 0, [9, 18, 20]),
        (id(0, 300), 1, 20_000, 4, 1, [11, 17, 100]),
        (id(1, 0), 0, 3, 9, 1, [30, 39, 25]),
    ];
    let calls = [
        (0, 0, 3, CallKind::Work("think \"hard\"\n".into())),
        (0, 3, 5, CallKind::WaitUntil(5 * US)),
        (0, 5, 9, CallKind::Send { to: 1, tag: tag(0, None), bytes: 8, sent: free(0, 0) }),
        (0, 9, 20, CallKind::Send { to: 2, tag: tag(1, Some("row")), bytes: 80_000, sent: agreed.clone() }),
        (0, 20, 21, CallKind::Barrier),
        (
            1,
            0,
            4,
            CallKind::Receive {
                from: Some(0),
                tag: tag(1, Some("row")),
                until: Until::Arrival,
                received: Some(free(0, 0)),
            },
        ),
        (
            1,
            4,
            6,
            CallKind::Receive {
                from: None,
                tag: tag(u64::MAX, None),
                until: Until::Moment(6 * US + 7 * NS),
                received: None,
            },
        ),
        (
            1,
            6,
            8,
            CallKind::Receive {
                from: None,
                tag: tag(u64::MAX, None),
                until: Until::GapOver,
                received: Some(agreed.clone()),
            },
        ),
        (
            1,
            8,
            9,
            CallKind::SendRecv(Box::new(SendRecv {
                to: 0,
                from: 2,
                tag: tag(1, Some("row")),
                bytes: 0,
                sent: free(1, 0),
                received: agreed.clone(),
            })),
        ),
        (1, 10, 11, CallKind::Probe { from: None, tag: tag(2, Some("column")), found: Some(2) }),
        (2, 0, 1, CallKind::Isend { request: 0, to: 1, tag: tag(2, Some("row")), bytes: 17 }),
        (2, 1, 2, CallKind::Irecv { request: 1, from: Some(0), tag: tag(1, Some("row")) }),
        (2, 2, 3, CallKind::Test { request: 1 }),
        (2, 3, 4, CallKind::Wait { request: 0, is_send: true, transfer: agreed }),
        (2, 4, 5, CallKind::Wait { request: 1, is_send: false, transfer: free(0, 300) }),
    ];
    let params = "L=9us,o=2,S=100,s=10,O_s=7.63ns,O_r=4ns,G_s=1ns,G_l=-12.74ns";
    Trace {
        params: Params::builder(3).set(params).unwrap().build().unwrap(),
        levels: Vec::new(),
        ports: Ports::Dual,
        rendezvous: Protocol::Push,
        capacity: Capacity::Arrived,
        latency: Latency::Random { seed: 7 },
        ties: Ties::Rotation,
        precedence: Precedence::new(),
        noise: None,
        faults: Default::default(),
        barrier: Some(3 * US),
        out_of_order: 5,
        reaches_memories: false,
        caption: None,
        activities: activities
            .map(|(id, start, end, kind)| Activity { id, start: start * US, end: end * US, kind })
            .into(),
        progress: progress
            .map(|(id, request, start, end, kind)| Progress {
                id,
                request,
                start: start * US,
                end: end * US,
                kind,
            })
            .into(),
        messages: messages
            .map(|(id, to, words, latency, place, times)| {
                let [enter, first, arrival] = times.map(|time| time * US);
                Message { id, to, words, latency: latency * US, place, enter, first, arrival }
            })
            .into(),
        calls: calls.map(|(id, start, end, kind)| Call { id, start: start * US, end: end * US, kind }).into(),
    }
}

/// Files that a released version wrote stay readable: both forms stay as they are, byte for byte.
#[test]
fn files_stay_byte_for_byte() {
    let (mut json, mut compact) = (Vec::new(), Vec::new());
    one_of_each().write(&mut json).unwrap();
    one_of_each().write_compact(&mut compact).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), include_str!("tests/one_of_each.json"));
    assert_eq!(compact, include_bytes!("tests/one_of_each.loggp"));
    assert_eq!(Trace::read(&compact[..]), Ok(one_of_each()));
    assert_eq!(Trace::read(&include_bytes!("tests/one_of_each.json")[..]), Ok(one_of_each()));
}

/// A file without a version is as old as the first one. What is newer is refused, and not read wrongly.
#[test]
fn other_versions_are_refused() {
    let text = include_str!("tests/one_of_each.json");
    let version = "\"loggp trace\":1,";
    assert!(text.contains(version));
    assert_eq!(Trace::read(text.replace(version, "").as_bytes()), Ok(one_of_each()));
    for other in ["0", "2", "10"] {
        let newer = text.replace(version, &format!("\"loggp trace\":{other},"));
        let refusal = Trace::read(newer.as_bytes()).unwrap_err().to_string();
        let why =
            "it has another version of its form, and only version 1 is read; take the loggp that wrote it";
        assert!(refusal.contains(why) && refusal.contains("line 1"), "{refusal}");
    }
}
