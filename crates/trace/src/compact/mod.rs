//! A trace as a compact file: some twenty to forty bytes for a message with all its activities.
//!
//! `docs/reference/traces.md` has the layout. Numbers have variable length, expected values take a bit, and
//! repeated values are references. Writer and reader share one description, the [`Codec`](codec::Codec).

mod bytes;
mod codec;
mod file;
mod kinds;
mod memory;

pub(super) use file::{MAGIC, read};

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::codec::{LONGEST_NAME, unzigzag, zigzag};
    use crate::any_trace::any_trace;
    use crate::{Activity, Trace};
    use loggp_model::params::Params;
    use loggp_model::time::{Time, US};

    fn bytes(trace: &Trace) -> Vec<u8> {
        let mut bytes = Vec::new();
        trace.write_compact(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn trace_is_read_back_exactly(trace in any_trace()) {
            prop_assert_eq!(Trace::read(&*bytes(&trace)), Ok(trace));
        }

        /// Reading a damaged file gives a trace or an error that says where it is wrong.
        #[test]
        fn any_bytes_are_survived(
            trace in any_trace(),
            edits in vec((any::<Index>(), any::<u8>(), 0..4_u8), 1..4),
            more in vec(any::<u8>(), 0..30),
        ) {
            let mut bytes = bytes(&trace);
            for (position, byte, kind) in edits {
                let position = position.index(bytes.len());
                match kind {
                    0 => bytes[position] = byte,
                    1 => bytes[position] ^= 1 << (byte % 8),
                    2 => bytes.insert(position, byte),
                    _ => drop(bytes.remove(position)),
                }
            }
            bytes.extend(more);
            if let Err(error) = Trace::read(&*bytes) {
                let error = error.to_string();
                let has_place = error.contains("at byte ") || error.contains("line ") || error.contains("empty");
                prop_assert!(has_place && !error.contains('\n'), "{}", error);
            }
        }

        /// A part of a file is not a file, nor is a file with another byte.
        #[test]
        fn file_must_end_at_its_end(trace in any_trace(), position: Index) {
            let mut bytes = bytes(&trace);
            bytes.truncate(position.index(bytes.len()).max(1));
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
        fn any_bytes_after_the_machine_are_survived(rest in vec(any::<u8>(), 0..300)) {
            let mut bytes = machine();
            bytes.extend(rest);
            drop(Trace::read(&*bytes));
        }
    }

    /// Returns a file up to and including its machine: L = 6 us, 3 processors.
    fn machine() -> Vec<u8> {
        let mut bytes = bytes(&Trace::empty(Params::builder(3).L(6 * US).build().unwrap()));
        assert!(bytes.ends_with(&[0, 0, 0, 0]));
        bytes.truncate(bytes.len() - 4);
        bytes
    }

    #[test]
    fn error_says_what_is_wrong_and_at_which_byte() {
        let after = machine().len();
        let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];
        let of = |kind: u8| kind | 0x30;
        for (rest, at, part) in [
            (&[][..], 0, "the file ends in the middle of the trace"),
            (&huge, 10, "the file ends in the middle of the trace"),
            (&[0xFF; 12], 10, "a number is longer than 64 bits"),
            (&[1, 0xFF], 2, "nothing begins with 0xff"),
            (&[1, of(11)], 2, "the file ends in the middle of the trace"),
            (&[1, of(11), 0x80], 3, "a processor does nothing that has number 11"),
            (&[1, of(3), 5], 3, "a time is said to be one that was there before"),
            (&[1, of(0), 0x80, 7], 4, "there is no name 7"),
            (&[1, of(0), 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 65], 10, "said to have 4294967296 bytes"),
            (&[1, of(0), 0x80, 0, 1, 0xFF], 6, "not in UTF-8"),
            (&[0, 0, 1, 0x40], 4, "no message begins with 0x40"),
            (&[0, 0, 0, 1, of(2), 0x80, 0, 3], 8, "there is no tag 3"),
            (&[0, 0, 0, 1, of(5), 0x80, 2], 7, "2 is neither 0 nor 1"),
            (&[0, 0, 0, 1, of(3), 0x80, 0, 0, 0, 0, 3], 11, "no receive waits like 3"),
            (&[0, 0, 0, 0, 0], 4, "the trace is over, and the file goes on"),
        ] {
            let mut bytes = machine();
            bytes.extend(rest);
            let refusal = Trace::read(&*bytes).unwrap_err().to_string();
            let position = format!("this is not the trace of a run: at byte {}: ", after + at);
            assert!(refusal.starts_with(&position) && refusal.contains(part), "{rest:?}: {refusal}");
        }
        for (file, at, why) in [
            ("loggp trace 2\n", 13, "it has another version of its form, and only version 1 is read"),
            ("loggp trace 10\n", 14, "it has another version of its form, and only version 1 is read"),
            ("loggp trace\n", 12, "it begins like a compact trace, and not with \"loggp trace 1\""),
        ] {
            let refusal = Trace::read(file.as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains(&format!("at byte {at}: {why}")), "{file}: {refusal}");
        }
    }

    /// A long name has no number, so that a small file cannot become a large trace.
    #[test]
    fn long_name_is_written_each_time() {
        let work = |name: &str| super::super::ActivityKind::Work(name.to_owned().into());
        let long = "x".repeat(LONGEST_NAME + 1);
        let mut trace = Trace::read(&*{
            let mut bytes = machine();
            bytes.extend([0, 0, 0, 0]);
            bytes
        })
        .unwrap();
        let mut size = |name: &str, often: usize| {
            let activity = Activity { id: 0, start: Time::ZERO, end: Time::ZERO, kind: work(name) };
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
