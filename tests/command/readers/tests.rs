//! Tests of every reader with its inputs, as they are and changed at random.

use super::inputs::inputs;
use super::*;
use crate::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// A random change of a file.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, u8),
    Cut(Index, Index),
    /// Makes a word very long.
    Lengthen(Index, char),
    Repeat(Index, Index),
    /// Replaces a number.
    Number(Index, &'static str),
    /// Replaces the end by a part of another file.
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

fn apply(bytes: &mut Vec<u8>, change: &Change, all: &[Vec<u8>]) {
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

#[test]
fn readers_take_any_input() {
    for reader in READERS {
        let all = inputs(reader.name);
        assert!(all.len() >= 4, "{} has {} inputs", reader.name, all.len());
        all.iter().for_each(|bytes| reader.check(bytes));
        assert!(all.iter().any(|bytes| (reader.read)(bytes).is_ok()), "{} reads nothing", reader.name);
        // The changes are the same in every run of the test; the fuzzer draws others.
        let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(cases::cases(400), dice);
        let case = (any::<Index>(), vec(change(), 1..5));
        let result = runner.run(&case, |(file, changes)| {
            let mut bytes = all[file.index(all.len())].clone();
            changes.iter().for_each(|change| apply(&mut bytes, change, &all));
            reader.check(&bytes);
            Ok(())
        });
        result.unwrap_or_else(|failed| panic!("{}: {failed}", reader.name));
    }
}

/// A trace with any numbers is refused, or everything that takes it can compute with them without overflow. A
/// trace that is changed as text mostly contradicts itself, so numbers are set in its fields.
#[test]
fn traces_take_any_numbers() {
    let traces = READERS.iter().find(|reader| reader.name == "traces").unwrap();
    let read = |bytes: &Vec<u8>| Trace::read(&**bytes).ok().filter(|trace| trace.messages.len() > 2);
    let all: Vec<Trace> = inputs(traces.name).iter().filter_map(read).collect();
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
    let result = runner.run(&case, |(file, changes)| {
        let mut trace = all[file.index(all.len())].clone();
        for (what, place, number) in changes {
            set_number(&mut trace, what, &place, number);
        }
        let (mut text, mut compact) = (Vec::new(), Vec::new());
        trace.write(&mut text).unwrap();
        traces.check(&text);
        // A machine with invalid parameters cannot be written in this form.
        if trace.write_compact(&mut compact).is_ok() {
            traces.check(&compact);
        }
        Ok(())
    });
    result.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Sets one of a trace's numbers.
fn set_number(trace: &mut Trace, what: u8, place: &Index, number: i64) {
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

#[test]
fn memory_is_counted() {
    let greedy = InputReader {
        name: "greedy",
        read: |bytes| {
            drop(vec![0_u8; FREE_MEMORY + 65 * bytes.len()]);
            Ok(())
        },
        places: &[],
        memory: 64,
    };
    assert!(std::panic::catch_unwind(|| greedy.check(&[0; 100])).is_err());
    (InputReader { memory: 65, ..greedy }).check(&[0; 100]);
}
