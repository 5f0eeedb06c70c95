//! A trace as a small file: some twenty to forty bytes for a message and all that was done for it.
//!
//! `docs/traces.md` has the layout. A number is as long as it has to be, what can be foreseen is a bit, and what was there
//! before is a reference to it. Writer and reader keep the same [`Memory`] of what was there before.

mod read;
mod write;

use std::collections::HashMap;

use super::{CallTag, Message};
use crate::message::MessageId;
use crate::time::Time;

pub(super) use read::read;

/// How such a file begins. No JSON does.
pub(super) const MAGIC: &[u8; 14] = b"loggp trace 1\n";

/// So many times are remembered.
const TIMES: usize = 128;

/// A longer name is written each time: references to it could make much of a small file.
const LONGEST_NAME: usize = 64;

/// What an activity is, in the low bits of its first byte.
mod did {
    pub const WORK: u8 = 0;
    pub const SEND: u8 = 1;
    pub const RECEIVE: u8 = 2;
    pub const GAP: u8 = 3;
    pub const STALL: u8 = 4;
    pub const PORT: u8 = 5;
    pub const IDLE: u8 = 6;
    pub const BARRIER: u8 = 7;
    pub const POST: u8 = 8;
    pub const WAIT: u8 = 9;
}

/// What a call is, in the low bits of its first byte.
mod called {
    pub const WORK: u8 = 0;
    pub const WAIT_UNTIL: u8 = 1;
    pub const SEND: u8 = 2;
    pub const RECEIVE: u8 = 3;
    pub const SEND_RECV: u8 = 4;
    pub const PROBE: u8 = 5;
    pub const BARRIER: u8 = 6;
    pub const ISEND: u8 = 7;
    pub const IRECV: u8 = 8;
    pub const WAIT_SEND: u8 = 9;
    pub const WAIT_RECEIVE: u8 = 10;
    pub const TEST: u8 = 11;
}

/// The bits of the first byte of an activity or a call.
mod head {
    /// What it is.
    pub const KIND: u8 = 0x0F;
    /// It is of the same processor as the one before.
    pub const SAME: u8 = 0x10;
    /// It begins when the one before ended.
    pub const AT_ONCE: u8 = 0x20;
}

/// The bits of the first byte of a message.
mod passage {
    /// Its name follows that of the one before.
    pub const NEXT: u8 = 0x01;
    /// Its latency is L.
    pub const EXACT: u8 = 0x02;
    /// Its sender's place is its number.
    pub const BY_NUMBER: u8 = 0x04;
    /// Its first word comes out after the latency.
    pub const FREE: u8 = 0x08;
    /// Its last word comes out with the first.
    pub const SHORT: u8 = 0x10;
    /// It is as long as the one before.
    pub const ALIKE: u8 = 0x20;
    /// All of them.
    pub const ALL: u8 = 0x3F;
}

/// What came before, by which the next is written.
struct Memory {
    /// Whose the last activity or call was.
    id: usize,
    /// When it ended.
    end: Time,
    /// The last message that was sent.
    sent: MessageId,
    /// The last message that was received.
    got: MessageId,
    /// The processor that was last named as a receiver.
    to: usize,
    /// The processor that was last named as a source.
    from: usize,
    /// The length of the last message, in words or bytes.
    length: usize,
    /// When the last message entered.
    enter: Time,
    /// The request that was last named.
    request: u32,
    /// The number of the last tag that was new.
    tag: u64,
    /// Times that were there lately, each in the place that follows from it.
    times: [Option<u64>; TIMES],
}

impl Memory {
    /// Before a list.
    fn new() -> Memory {
        let none = MessageId { from: 0, number: usize::MAX };
        let (id, to, from, length, request, tag) = (0, 0, 0, 0, 0, 0);
        let (end, enter) = (Time::ZERO, Time::ZERO);
        Memory { id, end, sent: none, got: none, to, from, length, enter, request, tag, times: [None; TIMES] }
    }

    /// The place of a time, by its code.
    fn place(code: u64) -> usize {
        (code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize
    }

    /// The message after one: the same sender's next.
    fn next(id: MessageId) -> MessageId {
        MessageId { from: id.from, number: id.number.wrapping_add(1) }
    }

    /// An activity or a call was there.
    fn did(&mut self, id: usize, end: Time) {
        (self.id, self.end) = (id, end);
    }

    /// A message was there.
    fn passed(&mut self, message: &Message) {
        (self.sent, self.to, self.length, self.enter) =
            (message.id, message.to, message.words, message.enter);
    }
}

/// What stands for a number that may be negative: small ones for those near to 0.
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The number for which this stands.
fn unzigzag(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

/// The names that were there before, for the one who writes.
type Names = HashMap<String, u64>;

/// The tags that were there before, for the one who writes.
type Tags = HashMap<CallTag, u64>;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::trace::tests::any_trace;
    use crate::trace::{Activity, Trace};

    fn bytes(trace: &Trace) -> Vec<u8> {
        let mut bytes = Vec::new();
        trace.write_compact(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn reads_back_exactly_what_it_wrote(trace in any_trace()) {
            prop_assert_eq!(Trace::read(&*bytes(&trace)), Ok(trace));
        }

        /// Whatever is done to a file, reading it gives a trace or a sentence that says where it is wrong.
        #[test]
        fn survives_any_bytes(
            trace in any_trace(),
            edits in vec((any::<Index>(), any::<u8>(), 0..4_u8), 1..4),
            more in vec(any::<u8>(), 0..30),
        ) {
            let mut bytes = bytes(&trace);
            for (place, byte, kind) in edits {
                let place = place.index(bytes.len());
                match kind {
                    0 => bytes[place] = byte,
                    1 => bytes[place] ^= 1 << (byte % 8),
                    2 => bytes.insert(place, byte),
                    _ => drop(bytes.remove(place)),
                }
            }
            bytes.extend(more);
            if let Err(error) = Trace::read(&*bytes) {
                let error = error.to_string();
                let has_place = error.contains("at byte ") || error.contains("line ") || error.contains("empty");
                prop_assert!(has_place && !error.contains('\n'), "{}", error);
            }
        }

        /// No part of a file is a file.
        #[test]
        fn knows_where_it_ends(trace in any_trace(), place: Index) {
            let mut bytes = bytes(&trace);
            bytes.truncate(place.index(bytes.len()).max(1));
            prop_assert!(Trace::read(&*bytes).is_err());
            let whole = {
                let mut bytes = self::bytes(&trace);
                bytes.push(0);
                bytes
            };
            let error = Trace::read(&*whole).unwrap_err().to_string();
            prop_assert!(error.ends_with("the trace is over, and the file goes on"), "{}", error);
        }

        #[test]
        fn survives_what_follows_the_machine(rest in vec(any::<u8>(), 0..300)) {
            let mut bytes = machine();
            bytes.extend(rest);
            drop(Trace::read(&*bytes));
        }
    }

    /// A file as far as its machine: L = 6 us, of 3 processors.
    fn machine() -> Vec<u8> {
        let params = crate::Params::builder(3).L(6 * crate::US).build().unwrap();
        let run = crate::Machine::new(params).trace(true).run(|_| ()).unwrap();
        let mut bytes = bytes(&run.trace.unwrap());
        assert!(bytes.ends_with(&[0, 0, 0, 0]));
        bytes.truncate(bytes.len() - 4);
        bytes
    }

    #[test]
    fn says_what_is_wrong_and_at_which_byte() {
        let after = machine().len();
        let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];
        let of = |kind: u8| kind | head::SAME | head::AT_ONCE;
        for (rest, at, part) in [
            (&[][..], 0, "the file ends in the middle of the trace"),
            (&huge, 10, "the file ends in the middle of the trace"),
            (&[0xFF; 12], 10, "a number is longer than 64 bits"),
            (&[1, 0xFF], 2, "nothing begins with 0xff"),
            (&[1, of(11)], 2, "the file ends in the middle of the trace"),
            (&[1, of(11), 0x80], 3, "a processor does nothing that has number 11"),
            (&[1, of(did::GAP), 5], 3, "a time is said to be one that was there before"),
            (&[1, of(did::WORK), 0x80, 7], 4, "there is no name 7"),
            (
                &[1, of(did::WORK), 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 65],
                10,
                "said to have 4294967296 bytes",
            ),
            (&[1, of(did::WORK), 0x80, 0, 1, 0xFF], 6, "not in UTF-8"),
            (&[0, 0, 1, 0x40], 4, "no message begins with 0x40"),
            (&[0, 0, 0, 1, of(called::SEND), 0x80, 0, 3], 8, "there is no tag 3"),
            (&[0, 0, 0, 1, of(called::PROBE), 0x80, 2], 7, "2 is neither 0 nor 1"),
            (&[0, 0, 0, 1, of(called::RECEIVE), 0x80, 0, 0, 0, 0, 3], 11, "no receive waits like 3"),
            (&[0, 0, 0, 0, 0], 4, "the trace is over, and the file goes on"),
        ] {
            let mut bytes = machine();
            bytes.extend(rest);
            let refusal = Trace::read(&*bytes).unwrap_err().to_string();
            let place = format!("this is not the trace of a run: at byte {}: ", after + at);
            assert!(refusal.starts_with(&place) && refusal.contains(part), "{rest:?}: {refusal}");
        }
        let refusal = Trace::read(&b"loggp trace 2\n"[..]).unwrap_err().to_string();
        assert!(
            refusal.ends_with("at byte 13: it begins like a compact trace, and not with \"loggp trace 1\"")
        );
    }

    /// A name that is long is not one that a byte stands for: a small file cannot say much.
    #[test]
    fn a_long_name_is_written_each_time() {
        let work = |name: &str| super::super::ActivityKind::Work(name.to_owned().into());
        let long = "x".repeat(LONGEST_NAME + 1);
        let mut trace = Trace::read(&*{
            let mut bytes = machine();
            bytes.extend([0, 0, 0, 0]);
            bytes
        })
        .unwrap();
        let mut size = |name: &str, often: usize| {
            let activity = Activity { id: 0, start: Time::ZERO, end: Time::ZERO, what: work(name) };
            trace.activities = vec![activity; often];
            bytes(&trace).len()
        };
        assert_eq!(size("short", 11) - size("short", 1), 10 * 3);
        assert_eq!(size(&long, 11) - size(&long, 1), 10 * (4 + long.len()));
    }

    #[test]
    fn numbers_near_to_0_are_small() {
        for number in [0, -1, 1, 63, -64, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
    }
}
