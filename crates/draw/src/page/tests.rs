//! A page holds the trace, its grids are sums of activities, and it fetches nothing.

use std::collections::HashMap;

use loggp::{Group, Level, Machine, Noise, Params, Tag, Time, US, collectives};
use loggp_model::log::kinds::kind_number;
use loggp_trace::path::{Events, HopKind, Path, Walk, WalkPosition};
use loggp_trace::{ActivityKind, Caption, Trace};
use miniz_oxide::inflate::decompress_to_vec_zlib;
use proptest::prelude::*;

use super::Timeline;
use super::annotations::Annotations;
use super::grid::Grid;
use super::kinds::{NOISE, RENDEZVOUS};
use super::{PAGE, SCRIPT};
use any_trace::any_trace;
use cases::cases;

#[path = "../../../trace/src/any_trace.rs"]
mod any_trace;
#[path = "../../../model/src/tests/cases.rs"]
mod cases;

const ROW: Tag<Vec<u64>> = Tag::named(0, "row");

/// Returns the data of a page as a browser would find it.
fn page_of(trace: &Trace) -> (serde_json::Value, Vec<u8>) {
    let mut page = Vec::new();
    Timeline::new(trace).title("<a & b>").write(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<title>&lt;a &amp; b></title>"));
    let element = |start: &str| {
        let (_, rest) = page.split_once(start).unwrap();
        rest.split_once("</script>").unwrap().0.to_owned()
    };
    let meta = serde_json::from_str(&element("<script type=\"application/json\" id=\"meta\">")).unwrap();
    let bytes = unbase64(&element("<script type=\"text/plain\" class=\"run\">"));
    (meta, decompress_to_vec_zlib(&bytes).unwrap())
}

fn unbase64(text: &str) -> Vec<u8> {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    };
    let mut bytes = Vec::new();
    for four in text.trim().as_bytes().chunks(4) {
        let bits = four.iter().fold(0_u32, |bits, byte| bits << 6 | u32::from(letter(*byte)));
        let missing = four.iter().filter(|byte| **byte == b'=').count();
        bytes.extend(&bits.to_be_bytes()[1..4 - missing]);
    }
    bytes
}

/// Reads columns as the page's script does.
struct ColumnReader<'r> {
    bytes: &'r [u8],
    at: usize,
    quantum: i64,
}

impl ColumnReader<'_> {
    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = self.bytes[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn signed(&mut self) -> i64 {
        unsigned(self.number())
    }

    fn after(&mut self, moment: Time) -> Time {
        Time::from_ps(moment.as_ps().wrapping_add(self.signed().wrapping_mul(self.quantum)))
    }

    /// Reads the cause of `of`, which has `before` before it.
    fn cause(&mut self, of: usize, before: Option<usize>) -> Option<WalkPosition> {
        let code = self.number();
        let index = (of as i64 + unsigned(code >> 3)) as usize;
        match code & 7 {
            0 => None,
            1 => before.map(WalkPosition::End),
            2 => Some(WalkPosition::End(index)),
            3 => Some(WalkPosition::Reception(index)),
            4 => Some(WalkPosition::Entry(index)),
            5 => Some(WalkPosition::Arrival(index, None)),
            6 => Some(WalkPosition::Arrival(index, Some(HopKind::Stall))),
            _ => Some(WalkPosition::Arrival(index, Some(HopKind::Port))),
        }
    }
}

fn unsigned(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

/// Compares a page with its trace. Returns the groups, and the rest of the bytes, which are the grids.
fn compare_with_page(trace: &Trace) -> (Vec<u64>, Vec<u8>) {
    let (meta, bytes) = page_of(trace);
    let run = &meta["runs"][0];
    let strings = |name: &str| serde_json::from_value::<Vec<String>>(run[name].clone()).unwrap();
    let (names, tags) = (strings("names"), strings("tags"));
    let mut reader = ColumnReader { bytes: &bytes, at: 0, quantum: run["quantum"].as_i64().unwrap() };
    let events = Events::new(trace);
    assert_eq!(run["events"], events.len());
    assert_eq!(run["messages"], events.message_count());

    let mut id = 0;
    for track in events.tracks() {
        id += reader.number();
        assert_eq!(id, track.id as u64);
        assert_eq!(reader.number(), track.request.map_or(0, |request| u64::from(request) + 1));
        assert_eq!(reader.number(), track.indices.len() as u64);
    }
    let kinds = &bytes[reader.at..reader.at + events.len()];
    reader.at += events.len();
    let gaps: Vec<Time> = (0..events.len()).map(|_| reader.after(Time::ZERO)).collect();
    for track in events.tracks() {
        let mut now = Time::ZERO;
        for index in track.indices.clone() {
            let start = Time::from_ps(now.as_ps().wrapping_add(gaps[index].as_ps()));
            now = reader.after(start);
            assert_eq!((start, now), (events.event(index).start, events.event(index).end));
        }
    }
    let (mut last, mut request) = ([-1; 3], 0);
    for (index, kind) in kinds.iter().enumerate() {
        let what = events.event(index).kind;
        assert_eq!(usize::from(*kind), kind_number(what));
        match what {
            ActivityKind::Work(name) => assert_eq!(names[reader.number() as usize], **name),
            ActivityKind::Send(_) | ActivityKind::Receive(_) => {
                let subject = match reader.number() {
                    0 => None,
                    code => {
                        let last = &mut last[usize::from(*kind)];
                        *last += 1 + unsigned(code - 1);
                        Some(*last as usize)
                    }
                };
                assert_eq!(subject, events.message_of(index));
            }
            ActivityKind::Post(number) | ActivityKind::Wait(number) => {
                request += reader.signed();
                assert_eq!(request, i64::from(*number));
            }
            _ => (),
        }
    }
    compare_messages(&mut reader, &events, &tags);
    compare_causes(&mut reader, &events);
    let groups = events.processors().map(|_| reader.number()).collect();
    let annotations = Annotations::new(&events);
    let mut last = 0;
    let asking: Vec<usize> = annotations.handshakes().collect();
    assert_eq!(reader.number(), asking.len() as u64);
    for index in asking {
        last += reader.number();
        assert_eq!(last, index as u64);
    }
    for nth in 0..events.processors().count() {
        let all = annotations.detours_of(nth);
        assert_eq!(reader.number(), all.len() as u64);
        let mut now = Time::ZERO;
        for &(start, end) in all {
            let from = reader.after(now);
            now = reader.after(from);
            assert_eq!((from, now), (start, end));
        }
    }
    (groups, bytes[reader.at..].to_vec())
}

fn compare_messages(reader: &mut ColumnReader, events: &Events, tags: &[String]) {
    let all: Vec<_> = (0..events.message_count()).map(|index| events.message(index)).collect();
    let (mut from, mut number) = (0_i64, -1_i64);
    for message in &all {
        let step = reader.signed();
        from = from.wrapping_add(step);
        number = reader.signed().wrapping_add(if step == 0 { number.wrapping_add(1) } else { 0 });
        assert_eq!((from, number), (message.id.from as i64, message.id.number as i64));
    }
    for value in [|message: &loggp_trace::Message| message.to, |message: &loggp_trace::Message| message.words]
    {
        let mut now = 0_i64;
        for message in &all {
            now = now.wrapping_add(reader.signed());
            assert_eq!(now, value(message) as i64);
        }
    }
    let lengths = events.trace.lengths();
    for message in &all {
        let length = lengths.get(&message.id).filter(|_| events.message_index(message.id).is_some());
        assert_eq!(reader.number(), length.map_or(0, |length| (*length as u64).saturating_add(1)));
    }
    let named = events.trace.sent().filter(|(id, ..)| events.message_index(*id).is_some());
    let about: HashMap<_, _> = named.map(|(id, tag, _)| (id, tag.about())).collect();
    for message in &all {
        let tag = reader.number().checked_sub(1).map(|tag| &tags[tag as usize]);
        assert_eq!(tag, about.get(&message.id), "{}", message.id);
    }
    let mut enters = Vec::new();
    for (index, message) in all.iter().enumerate() {
        let same = index > 0 && all[index - 1].id.from == message.id.from || message.id.from == 0;
        let before = if same { enters.last().copied().unwrap_or(Time::ZERO) } else { Time::ZERO };
        enters.push(reader.after(before));
        assert_eq!(enters[index], message.enter);
    }
    all.iter().for_each(|message| assert_eq!(reader.after(events.trace.params.L), message.latency));
    all.iter().for_each(|message| assert_eq!(reader.after(message.enter + message.latency), message.first));
    all.iter().for_each(|message| assert_eq!(reader.after(message.first), message.arrival));
}

fn compare_causes(reader: &mut ColumnReader, events: &Events) {
    let mut walk = Walk::new(events);
    let mut hold = |at, of, before, reader: &mut ColumnReader| {
        // The page has only one kind of room and one of port.
        let cause = walk.cause(at).map(|cause| match cause {
            WalkPosition::Arrival(message, Some(part)) if part != HopKind::Stall => {
                WalkPosition::Arrival(message, Some(HopKind::Port))
            }
            cause => cause,
        });
        assert_eq!(reader.cause(of, before), cause, "{at:?}");
    };
    for index in 0..events.len() {
        hold(WalkPosition::End(index), index, events.previous(index), reader);
    }
    for index in 0..events.len() {
        if matches!(events.event(index).kind, ActivityKind::Receive(_)) {
            hold(WalkPosition::Reception(index), index, events.previous(index), reader);
        }
    }
    for message in 0..events.message_count() {
        let before = events.send_event(message).and_then(|send| events.previous(send));
        hold(WalkPosition::Entry(message), message, before, reader);
    }
    for message in 0..events.message_count() {
        hold(WalkPosition::Arrival(message, None), message, None, reader);
    }
}

/// Runs with stalls, long messages, requests, groups, work, and messages that wait for their receivers.
fn runs() -> Vec<Trace> {
    let logp = Params::builder(6).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap();
    let loggps = Params::builder(4).set("L=9us,o=2us,S=10,s=5,O_s=10ns,O_r=3ns,G_s=7ns,G_l=-1ns").unwrap();
    let traced = |params| Machine::new(params).trace(true);
    let program = |p: &mut loggp::Proc| {
        p.work("think", 3 * p.id() as u64, || ());
        let next = (p.id() + 1) % p.P();
        let sent = p.isend(next, ROW, vec![1; 30]);
        let got = p.irecv(ROW.from((p.id() + p.P() - 1) % p.P()));
        p.work("more", 9, || ());
        p.wait(got);
        p.wait(sent);
        collectives::all_to_all(p, vec![p.id() as u64; p.P()]);
        if p.id() > 0 {
            p.send(0, ROW, vec![7; p.id()]);
        } else {
            (1..p.P()).for_each(|_| drop(p.recv(ROW)));
        }
        p.barrier();
    };
    let noisy = traced(logp).noise("7us:2us,11us:1us".parse::<Noise>().unwrap());
    [traced(logp), traced(loggps.build().unwrap()), noisy]
        .map(|machine| machine.run(program).unwrap().trace.unwrap())
        .into()
}

/// Overheads of a rendezvous and noise have their own kinds, and the page's noise is that of the machine.
#[test]
fn rendezvous_and_noise_are_shown() {
    let traces = runs();
    let count = |trace: &Trace, wanted: usize| {
        let events = Events::new(trace);
        let annotations = Annotations::new(&events);
        (0..events.len()).filter(|index| annotations.kind(&events, *index) == wanted).count()
    };
    assert_eq!(count(&traces[0], RENDEZVOUS), 0);
    // Each long message has a request and a reply, and each of these has two ends.
    let asked = traces[1].calls.iter().filter_map(|call| call.kind.sent()?.rendezvous.as_ref()).count();
    assert!(asked > 0);
    assert_eq!(count(&traces[1], RENDEZVOUS), 4 * asked);
    let events = Events::new(&traces[2]);
    let annotations = Annotations::new(&events);
    let noise = traces[2].noise.as_ref().unwrap();
    for (nth, track) in events.processors().enumerate() {
        let taken: Time = annotations.detours_of(nth).iter().map(|(start, end)| *end - *start).sum();
        let busy =
            track.indices.clone().map(|index| events.event(index)).filter(|event| event.kind.is_busy());
        let lost: Time = busy.map(|e| e.length() - noise.free(track.id, e.start, e.end)).sum();
        assert!(taken > Time::ZERO);
        assert_eq!(taken, lost, "P{}", track.id);
    }
}

/// A page shows its trace's caption, unless another text is set.
#[test]
fn a_page_has_the_caption() {
    let formula = Some(7 * US);
    let caption = Caption { title: "hello".into(), about: "a\nb".into(), unit: "cycles".into(), formula };
    let trace = Trace { caption: Some(caption), ..runs().remove(0) };
    let mut page = Vec::new();
    Timeline::new(&trace).write(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<title>hello</title>") && page.contains(r#""unit":["cycles",1000000]"#));
    let (meta, _) = page_of(&trace);
    assert_eq!(meta["title"], "<a & b>");
    assert_eq!(meta["runs"][0]["about"], "a, b");
    assert_eq!(meta["runs"][0]["marks"], serde_json::json!([["formula", 7_000_000]]));
}

/// Groups are the program's; the machine's levels are separate.
#[test]
fn levels_and_groups_are_told_apart() {
    let params = Params::builder(8).L(60 * US).o(20 * US).g(40 * US).build().unwrap();
    let node = Level::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).C(5).build().unwrap());
    let socket = Level::new(Params::builder(2).L(6 * US).o(US).g(US).build().unwrap());
    let run = Machine::new(params).levels([node, socket]).trace(true).run(|p| {
        let parity = p.id() % 2;
        let group = Group::new((0..p.P()).filter(|id| id % 2 == parity));
        collectives::all_to_all(&mut p.within(&group), vec![7_u64; 4]);
    });
    let trace = run.unwrap().trace.unwrap();
    let (meta, _) = page_of(&trace);
    let (groups, _) = compare_with_page(&trace);
    assert!(
        groups.iter().enumerate().all(|(id, group)| *group > 0 && *group == groups[id % 2]),
        "{groups:?}"
    );
    assert_ne!(groups[0], groups[1]);
    assert_eq!(meta["runs"][0]["levels"], serde_json::json!([[4, 5], [2, 6]]));
    assert_eq!(meta["runs"][0]["capacity"], 2);
}

#[test]
fn a_page_holds_the_trace() {
    for trace in runs() {
        assert!(trace.activities.len() > 60 && !trace.progress.is_empty());
        assert!(compare_with_page(&trace).1.is_empty(), "a small trace is drawn without grids");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    /// Including traces that could not happen.
    #[test]
    fn a_page_holds_any_trace(trace in any_trace()) {
        compare_with_page(&trace);
    }
}

/// From the end on, the page's causes are the critical path.
#[test]
fn causes_lead_along_the_critical_path() {
    for trace in runs() {
        let events = Events::new(&trace);
        let mut walk = Walk::new(&events);
        let mut at = loggp_trace::path::last_event(&events).map(WalkPosition::End);
        let mut length = Time::ZERO;
        let moment = |at: WalkPosition| match at {
            WalkPosition::End(index) => events.event(index).end,
            WalkPosition::Reception(index) => events.event(index).start,
            WalkPosition::Entry(message) => events.message(message).enter,
            WalkPosition::Arrival(message, _) => events.message(message).arrival,
        };
        let mut last = events.finish;
        while let Some(here) = at {
            length += last - moment(here);
            last = moment(here);
            at = walk.cause(here);
        }
        assert_eq!(length + last, Path::from_events(&events).length());
    }
}

/// Each share of a grid is the share of all activities in its stretch, at every level.
#[test]
fn grids_are_sums() {
    for trace in runs() {
        let events = Events::new(&trace);
        let annotations = Annotations::new(&events);
        for (group, columns) in [(1, 40), (2, 100), (4, 8)] {
            let grid = Grid::new(&events, &annotations, group, columns, 1);
            let mut shares = grid.shares.iter();
            for (level, columns) in grid.columns.iter().enumerate() {
                let width = grid.width << level;
                assert!(*columns as i64 * width >= events.finish.as_ps());
                for kind in &grid.kinds {
                    for row in 0..grid.rows {
                        for column in 0..*columns as i64 {
                            let (from, until) = (column * width, (column + 1) * width);
                            let part = |start: Time, end: Time| {
                                (end.as_ps().min(until) - start.as_ps().max(from)).max(0)
                            };
                            let mut sum = 0;
                            for index in events.processors().flat_map(|track| track.indices.clone()) {
                                let event = events.event(index);
                                if event.id / group != row {
                                    continue;
                                }
                                let noise = trace.noise.as_ref().filter(|_| event.kind.is_busy());
                                let taken =
                                    noise.map(|noise| noise.detours(event.id, event.start, event.end));
                                let taken: i64 =
                                    taken.into_iter().flatten().map(|(start, end)| part(start, end)).sum();
                                if annotations.kind(&events, index) == *kind {
                                    sum += part(event.start, event.end) - taken;
                                }
                                if *kind == NOISE {
                                    sum += taken;
                                }
                            }
                            let whole = width * group as i64;
                            let share = (i128::from(sum) * 255 + i128::from(whole) - 1) / i128::from(whole);
                            assert_eq!(i128::from(*shares.next().unwrap()), share.min(255));
                        }
                    }
                }
            }
            assert!(shares.next().is_none());
        }
    }
}

/// A run of many activities has grids, which are the rest of its page's data.
#[test]
fn many_activities_have_grids() {
    let params = Params::builder(40).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| {
        for round in 0..1000 {
            p.work("think", round % 7, || ());
            p.send((p.id() + 1) % p.P(), ROW, vec![1]);
            p.recv(ROW);
        }
    });
    let trace = run.unwrap().trace.unwrap();
    let grids = Grid::all(&Events::new(&trace), &Annotations::new(&Events::new(&trace)), US.as_ps());
    assert!(trace.activities.len() > 100_000 && grids.len() == 1);
    assert_eq!(compare_with_page(&trace).1, grids[0].shares);
}

#[test]
fn a_page_is_one_file_that_fetches_nothing() {
    for part in [PAGE].into_iter().chain(SCRIPT.map(|(_, part)| part)) {
        for reach in [
            "http:",
            "https:",
            "fetch(",
            "XMLHttp",
            "import(",
            "@import",
            "src=",
            "href=",
            "url(",
            "WebSocket",
            "eval(",
        ] {
            assert!(!part.contains(reach), "{reach}");
        }
    }
    SCRIPT.iter().for_each(|(_, part)| assert!(part.lines().count() <= 300));
}
