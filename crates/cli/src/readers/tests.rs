//! Every reader with the files of its corpus, as they are and changed at random.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::fs;
use std::path::PathBuf;

#[path = "../../../../src/cases.rs"]
mod cases;

/// The files of a reader.
fn corpus(reader: &Reader) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus")).join(reader.name);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|why| panic!("{}: {why}", folder.display()))
        .map(|file| file.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A change of a file.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, u8),
    Cut(Index, Index),
    /// A word is as long as nobody can read it.
    Lengthen(Index, char),
    Repeat(Index, Index),
    /// A number becomes another.
    Number(Index, &'static str),
    /// A part becomes one of another file.
    Graft(Index, Index, Index),
}

const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "16777216",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
];

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (index(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (index(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        (index(), index()).prop_map(|(from, to)| Change::Cut(from, to)),
        (index(), index()).prop_map(|(from, to)| Change::Repeat(from, to)),
        (index(), prop::sample::select(&['x', '7', '\u{7f}', '\u{1b}'][..]))
            .prop_map(|(at, it)| Change::Lengthen(at, it)),
        (index(), prop::sample::select(&NUMBERS[..])).prop_map(|(at, n)| Change::Number(at, n)),
        (index(), index(), index()).prop_map(|(at, file, from)| Change::Graft(at, file, from)),
    ]
}

fn changed(bytes: &mut Vec<u8>, change: &Change, all: &[Vec<u8>]) {
    let len = bytes.len();
    if len == 0 {
        return bytes.push(0);
    }
    let span = |one: &Index, other: &Index| {
        let (one, other) = (one.index(len), other.index(len));
        one.min(other)..one.max(other)
    };
    match change {
        Change::Set(at, byte) => bytes[at.index(len)] = *byte,
        Change::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
        Change::Insert(at, byte) => bytes.insert(at.index(len), *byte),
        Change::Cut(from, to) => drop(bytes.drain(span(from, to))),
        Change::Lengthen(at, letter) => {
            let at = at.index(len);
            bytes.splice(at..at, letter.to_string().repeat(2000).into_bytes());
        }
        Change::Repeat(from, to) => {
            let span = span(from, to);
            let part = bytes[span.clone()].to_vec();
            bytes.splice(span.start..span.start, part);
        }
        Change::Number(at, number) => {
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            let at = at.index(len);
            let Some(start) = bytes[at..].iter().position(is_digit).map(|more| at + more) else { return };
            let digits = bytes[start..].iter().take_while(|byte| is_digit(byte)).count();
            bytes.splice(start..start + digits, number.bytes());
        }
        Change::Graft(at, file, from) => {
            let other = &all[file.index(all.len())];
            let from = from.index(other.len().max(1)).min(other.len());
            bytes.truncate(at.index(len));
            bytes.extend_from_slice(&other[from..]);
        }
    }
}

/// Every file of the corpus, as it is and changed at random.
#[test]
fn every_reader_gets_along_with_anything() {
    for reader in READERS {
        let all = corpus(reader);
        assert!(all.len() >= 4, "{} has a corpus of {}", reader.name, all.len());
        all.iter().for_each(|bytes| reader.hold(bytes));
        assert!(all.iter().any(|bytes| (reader.read)(bytes).is_ok()), "{} reads nothing", reader.name);
        // The same ones each time; the fuzzer draws others.
        let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(cases::cases(400), dice);
        let case = (any::<Index>(), vec(change(), 1..5));
        let held = runner.run(&case, |(file, changes)| {
            let mut bytes = all[file.index(all.len())].clone();
            changes.iter().for_each(|change| changed(&mut bytes, change, &all));
            reader.hold(&bytes);
            Ok(())
        });
        held.unwrap_or_else(|failed| panic!("{}: {failed}", reader.name));
    }
}

/// Whatever numbers a trace says, it is refused, or all who read it get along with them: sums, differences and products of them
/// are numbers too. A trace that is changed as a text would mostly contradict itself; so each number is put where it is kept.
#[test]
fn traces_with_any_numbers_are_held() {
    let traces = named("traces").unwrap();
    let read = |bytes: &Vec<u8>| Trace::read(&**bytes).ok().filter(|trace| trace.messages.len() > 2);
    let all: Vec<Trace> = corpus(traces).iter().filter_map(read).collect();
    let numbers = || {
        let edge =
            prop::sample::select(&[0, 1, 1 << 31, 1 << 52, 1 << 59, 1 << 60, 1 << 61, 1 << 62, i64::MAX][..]);
        (edge, -2..3_i64, any::<bool>()).prop_map(|(edge, more, negative)| {
            let number = i64::saturating_add(edge, more);
            if negative { -number } else { number }
        })
    };
    let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(cases::cases(3000), dice);
    let case = (any::<Index>(), vec((0..16_u8, any::<Index>(), numbers()), 1..4));
    let held = runner.run(&case, |(file, changes)| {
        let mut trace = all[file.index(all.len())].clone();
        for (what, place, number) in changes {
            put(&mut trace, what, &place, number);
        }
        let (mut text, mut compact) = (Vec::new(), Vec::new());
        trace.write(&mut text).unwrap();
        traces.hold(&text);
        // No machine that cannot be is written in this form.
        if trace.write_compact(&mut compact).is_ok() {
            traces.hold(&compact);
        }
        Ok(())
    });
    held.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Puts a number into a trace.
fn put(trace: &mut Trace, what: u8, place: &Index, number: i64) {
    let (time, count) = (Time::from_ps(number), number as usize);
    let activity = place.index(trace.activities.len());
    let activity = &mut trace.activities[activity];
    let message = place.index(trace.messages.len());
    let message = &mut trace.messages[message];
    match what {
        0 => activity.start = time,
        1 => activity.end = time,
        2 => activity.id = count,
        3 => message.enter = time,
        4 => message.first = time,
        5 => message.arrival = time,
        6 => message.latency = time,
        7 => message.words = count,
        8 => message.to = count,
        9 => message.place = count,
        10 => message.id.from = count,
        11 => message.id.number = count,
        12 => trace.barrier = Some(time),
        13 => trace.params.L = time,
        14 => trace.params.g = time,
        _ if trace.calls.is_empty() => (),
        _ => {
            let call = place.index(trace.calls.len());
            let call = &mut trace.calls[call];
            match number % 3 {
                0 => call.start = time,
                1 => call.end = time,
                _ => call.id = count,
            }
        }
    }
}

/// The count of memory does count.
#[test]
fn memory_is_counted() {
    let greedy = Reader {
        name: "greedy",
        read: |bytes| {
            drop(vec![0_u8; FREE + 65 * bytes.len()]);
            Ok(())
        },
        places: &[],
        memory: 64,
    };
    assert!(std::panic::catch_unwind(|| greedy.hold(&[0; 100])).is_err());
    (Reader { memory: 65, ..greedy }).hold(&[0; 100]);
}
