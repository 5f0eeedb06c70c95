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
