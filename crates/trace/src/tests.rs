//! A trace whose files are known byte for byte.

use loggp_model::message::MessageId;
use loggp_model::params::{Latency, Params, Ports, Precedence, Ties};
use loggp_model::time::{NS, Time, US};
use loggp_model::transport::{Capacity, Protocol};

use crate::any_trace::LARGEST;
use crate::{
    Activity, ActivityKind, Call, CallKind, CallTag, Caption, Faults, Message, Progress, Rendezvous,
    SendRecv, Trace, Transfer, Until,
};

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
