//! Schedules in GOAL: their text and binary forms, errors, and the commands that play them.

use std::fs;
use std::process::Stdio;

use loggp::schedule::{
    CostModel, Operation, PlacedOperation, Player, Requirement, Schedule, ScheduleBuilder,
};
use loggp::{NS, Params, US};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::requests::{answer, loggp, refusal, row, stdout_of};

/// A schedule with everything that LogGOPSim's generator writes.
const TEXT: &str = "num_ranks 3

rank 0 {
l1: calc 100 cpu 1
l2: send 8b to 1 tag 5
l2 requires l1
/* Iallreduce begin */
l3: send 16b to 2 tag 6 cpu 1 nic 1
l3 irequires l2
}

rank 1 {
l1: recv 8b from 0 tag 5
}

rank 2 {
// any of both
l1: recv 16b from -1 tag -1
}
";

fn read(text: &str) -> Result<Schedule, String> {
    loggp_goal::read(text.as_bytes(), NS).map_err(|error| error.to_string())
}

#[test]
fn generated_text_is_read() {
    let schedule = read(TEXT).unwrap();
    let operations = |rank| schedule.operations(rank).collect::<Vec<_>>();
    let placed = |what, cpu, nic| PlacedOperation { operation: what, cpu, nic };
    assert_eq!(
        operations(0),
        [
            placed(Operation::Calc(100 * NS), 1, 0),
            placed(Operation::Send { to: 1, bytes: 8, tag: 5 }, 0, 0),
            placed(Operation::Send { to: 2, bytes: 16, tag: 6 }, 1, 1),
        ]
    );
    assert_eq!(operations(1), [placed(Operation::Recv { from: Some(0), bytes: 8, tag: Some(5) }, 0, 0)]);
    assert_eq!(operations(2), [placed(Operation::Recv { from: None, bytes: 16, tag: None }, 0, 0)]);
    let requirements: Vec<_> = schedule.requirements_of(0).collect();
    let expected = [(1, 0, false), (2, 1, true)];
    assert_eq!(requirements, expected.map(|(later, earlier, begun)| Requirement { later, earlier, begun }));
    // A schedule without names, with ranks on one line, and with carriage returns.
    let brief = "num_ranks 2\r\nrank 0 { send 1b to 1 }\r\nrank 1 { recv 1b from 0 }";
    assert_eq!(read(brief).unwrap().len(), 2);
}

/// LogGOPSim's binary form byte by byte, for two ranks of which one sends to the other.
#[test]
fn the_binary_form_is_read_and_written() {
    let mut bytes: Vec<u8> = Vec::new();
    let u32s = |bytes: &mut Vec<u8>, numbers: &[u32]| {
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    };
    bytes.extend(4223_u64.to_le_bytes());
    u32s(&mut bytes, &[2]);
    bytes.extend([0, 0]); // the last processor and the last interface
    let first = 4 + 2 + 2 * 16; // after the magic number: the head and the table
    let (one, two) = (8 + 4 + 39, 8 + 4 + 2 * 39 + 4);
    for place in [first, first + one, first + one, first + one + two] {
        bytes.extend((place as u64).to_le_bytes());
    }
    // Rank 0: one node without requirements, which sends 8 bytes to rank 1 with tag 5.
    u32s(&mut bytes, &[1, 1, 0]);
    u32s(&mut bytes, &[0]);
    bytes.push(1);
    u32s(&mut bytes, &[1]);
    bytes.extend(8_u64.to_le_bytes());
    u32s(&mut bytes, &[5]);
    bytes.extend([0, 0]);
    u32s(&mut bytes, &[0, 0, 0, 0]);
    // Rank 1: two nodes; the first receives from any rank, and the second computes after it.
    u32s(&mut bytes, &[2, 1, 0]);
    u32s(&mut bytes, &[0]);
    bytes.push(2);
    u32s(&mut bytes, &[u32::MAX]);
    bytes.extend(8_u64.to_le_bytes());
    u32s(&mut bytes, &[5]);
    bytes.extend([0, 0]);
    u32s(&mut bytes, &[1, 0, 0, 1]);
    u32s(&mut bytes, &[1]);
    bytes.push(3);
    u32s(&mut bytes, &[0]);
    bytes.extend(7_u64.to_le_bytes());
    u32s(&mut bytes, &[0]);
    bytes.extend([0, 0]);
    u32s(&mut bytes, &[0, 1, 0, 1]);
    u32s(&mut bytes, &[1]);

    let text = "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 5\n}\nrank 1 {\na: recv 8b from -1 tag 5\nb: calc 7\nb requires a\n}";
    let schedule = loggp_goal::read(&bytes[..], NS).unwrap();
    assert_eq!(schedule, read(text).unwrap());
    let mut again = Vec::new();
    loggp_goal::write_binary(&schedule, &mut again, NS).unwrap();
    assert_eq!(again, bytes);
    for cut in 1..bytes.len() {
        let error = loggp_goal::read(&bytes[..cut], NS).unwrap_err().to_string();
        assert!(error.contains("the file ends here"), "{cut}: {error}");
    }
}

#[test]
fn an_error_names_line_and_column() {
    let rank = |body: &str| format!("num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n}}\n");
    for (text, part) in [
        (
            "".into(),
            "line 1, column 1: a schedule begins with the number of its ranks, as in num_ranks 8, and not with the end of the file",
        ),
        (
            "num_ranks".into(),
            "line 1, column 10: here belongs the number of ranks, and not the end of the file",
        ),
        ("num_ranks 0".into(), "line 1, column 11: 0 is not a number of ranks; give one from 1 to 16777216"),
        ("num_ranks 99999999999".into(), "line 1, column 11: 99999999999 is not a number of ranks"),
        ("num_ranks 99999999999999999999".into(), "a number is at most 18446744073709551615"),
        ("num_ranks 2\nrank 0 {\n}\n".into(), "the file ends after 1 ranks, and num_ranks says 2; write all"),
        ("num_ranks 2\nrank 1 {\n}\n".into(), "line 2, column 6: rank 1 comes where rank 0 belongs"),
        ("num_ranks 2\nrank 7 {\n}\n".into(), "line 2, column 6: there is no rank 7; there are ranks 0 to 1"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n".into(), "line 4, column 6: rank 0 comes again"),
        (
            "num_ranks 1\nrank 0 {\ncalc 1\n".into(),
            "line 4, column 1: the file ends within a rank; end that with }",
        ),
        (rank("send 8 to 1"), "line 3, column 8: here belongs b, for bytes, and not to"),
        (rank("send 8b from 1"), "line 3, column 9: here belongs to, and not from"),
        (rank("send 8b to -1"), "line 3, column 12: here belongs the number of a rank, and not -1"),
        (rank("send 8b to 2"), "line 3, column 12: rank 0 sends to rank 2, and there are ranks 0 to 1"),
        (rank("recv 8b from 5 tag 3"), "line 3, column 14: rank 0 receives from rank 5"),
        (rank("send 8b to 1 tag 4294967295"), "column 18: a tag is less than 4294967295"),
        (
            rank("send 8b to 1 cpu 256"),
            "column 18: the number of a processor is at most 255, and 256 is more",
        ),
        (rank("send 8b to 1 speed 3"), "column 14: here belongs the end of the line, and not speed"),
        (rank("calc 5 tag 3"), "here belongs the end of the line, and not tag"),
        (rank("calc 99999999999999999"), "99999999999999999 units of 1 ns are after the end of time"),
        (rank("calc -5"), "a number below 0 can only be -1"),
        (rank("l1: jump 5"), "here belongs send, recv or calc, and not jump"),
        (rank("l1: calc 5\nl1: calc 5"), "line 4, column 3: l1 names two operations of a rank"),
        (rank("l1: calc 5\nl1 requires l2"), "line 4, column 13: l2 names no operation of this rank so far"),
        (rank("l1: calc 5\nl1 requires l1"), "operations of rank 0 wait for each other, as l1 does"),
        (rank("l1: calc 5\nl1 needs l1"), "here belongs a colon, requires or irequires, and not needs"),
        (rank("l1: calc 5\n/* open"), "this comment does not end; end it with */"),
        (rank("calc 5 $"), "line 3, column 8: $ belongs to no word"),
        (rank(&format!("{}: calc 5", "x".repeat(256))), "a name has at most 255 letters"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.starts_with("line ") && error.contains(part), "{text:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    // Memory is not allocated for the sizes in a header.
    assert!(read("num_ranks 16777216\nrank 0 {\n}").is_err());
    let mut head = 4223_u64.to_le_bytes().to_vec();
    head.extend([255, 255, 255, 0, 0, 0]);
    assert!(loggp_goal::read(&head[..], NS).unwrap_err().to_string().contains("the file ends here"));
}

/// Returns schedules with operations of all kinds.
fn any_schedule() -> impl Strategy<Value = Schedule> {
    let operation = (0..3_u8, 0..4_u32, 0..1000_u64, 0..4_u32, 0..3_u8, 0..3_u8);
    let rank = prop::collection::vec((operation, any::<u16>(), any::<bool>()), 0..12);
    prop::collection::vec(rank, 4).prop_map(|ranks| {
        let mut builder = ScheduleBuilder::new(4).unwrap();
        for (id, operations) in ranks.into_iter().enumerate() {
            builder.begin_rank(id).unwrap();
            for ((kind, peer, size, tag, cpu, nic), earlier, begun) in operations {
                let what = match kind {
                    0 => Operation::Send { to: peer, bytes: size, tag },
                    1 => Operation::Recv {
                        from: (peer < 3).then_some(peer),
                        bytes: size,
                        tag: (tag < 3).then_some(tag),
                    },
                    _ => Operation::Calc(size as i64 * NS),
                };
                let later = builder.add_placed(PlacedOperation { operation: what, cpu, nic }).unwrap();
                if later > 0 && earlier % 3 > 0 {
                    let earlier = u32::from(earlier) % later;
                    builder.require(Requirement { later, earlier, begun }).unwrap();
                }
            }
        }
        builder.build().unwrap()
    })
}

proptest! {
    #[test]
    fn a_written_schedule_is_read_back(schedule in any_schedule()) {
        let (mut text, mut bytes) = (Vec::new(), Vec::new());
        loggp_goal::write(&schedule, &mut text, NS).unwrap();
        loggp_goal::write_binary(&schedule, &mut bytes, NS).unwrap();
        prop_assert_eq!(&loggp_goal::read(&text[..], NS).unwrap(), &schedule);
        prop_assert_eq!(&loggp_goal::read(&bytes[..], NS).unwrap(), &schedule);
    }

    /// A damaged file is a schedule, or an error of one sentence.
    #[test]
    fn mangled_files_are_refused(
        schedule in any_schedule(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_text in any::<bool>(),
    ) {
        let mut file = Vec::new();
        if is_text {
            loggp_goal::write(&schedule, &mut file, NS).unwrap();
        } else {
            loggp_goal::write_binary(&schedule, &mut file, NS).unwrap();
        }
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        file.truncate(cut.index(file.len() * 4).max(1));
        if let Err(error) = loggp_goal::read(&file[..], NS) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "[a-z0-9 :{}\n/*-]{0,200}") {
        drop(loggp_goal::read(&bytes[..], NS));
        drop(loggp_goal::read(text.as_bytes(), US));
        drop(loggp_goal::read(format!("num_ranks 2\nrank 0 {{\n{text}").as_bytes(), US));
    }

    /// A text that is read in blocks gives the same schedule or error as one that is read at once.
    #[test]
    fn reading_in_blocks_changes_nothing(
        schedule in any_schedule(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize), 0..4),
        block in 1..200_usize,
    ) {
        let mut text = Vec::new();
        loggp_goal::write(&schedule, &mut text, NS).unwrap();
        for (place, what) in changes {
            let what = [" /*} /*/", "*/", "// } /*\n", "}", "rank", "l1 requires l2\nl2 requires l1\n", "/", "\n"][what];
            let spaces: Vec<_> = (0..text.len()).filter(|at| text[*at].is_ascii_whitespace()).collect();
            let at = *place.get(&spaces);
            text.splice(at..at, what.bytes());
        }
        let read = |block| loggp_goal::read_in_blocks(&text[..], NS, block).map_err(|why| why.to_string());
        prop_assert_eq!(read(block), read(1 << 20));
    }
}

/// LogP: 0 sends at 0, 4 and 8, and each message is received L + 2o = 10 later.
#[test]
fn a_pattern_is_played_without_a_file() {
    let scatter = "replay scatter -P 4 --params L=6,o=2,g=4,G=0";
    for rules in ["papers", "loggopsim"] {
        let row = row(&format!("{scatter} --rules {rules}"));
        assert_eq!(row["finishes_ns"], json!([10000, 10000, 14000, 18000]), "{row}");
        assert_eq!(
            (&row["time_ns"], &row["ranks"], &row["operations"], &row["messages"], &row["rules"]),
            (&json!(18000), &json!(4), &json!(6), &json!(3), &json!(rules))
        );
    }
    let shown = stdout_of(scatter);
    assert!(shown.ends_with("\nrank  done\n   0    10\n   1    10\n   2    14\n   3    18\n"), "{shown}");
}

/// LogGOPSim's own times, which the first line of each schedule has behind its options. They were written by
/// `peers/loggopsim/compare.py --answer`, which compares random schedules too.
#[test]
fn loggopsims_rules_have_the_times_of_loggopsim() {
    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/command/loggopsim");
    let mut count = 0;
    for file in fs::read_dir(FOLDER).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (options, times) = text.lines().next().unwrap().split_once(':').unwrap();
        let params = options
            .trim_start_matches("// -")
            .split(" -")
            .map(|option| match option.split_once(' ').unwrap() {
                ("G", value) => format!("G_s={value},G_l={value}"),
                ("O", value) => format!("O_s={value},O_r={value}"),
                (name, value) => format!("{name}={value}"),
            })
            .collect::<Vec<_>>()
            .join(",");
        let params = Params::builder(1).word(1).cycle(NS).set(&format!("{params},s=0")).unwrap();
        let player = Player::new(params.build().unwrap()).rules(CostModel::LogGOPSim);
        let played = player.run(&read(&text).unwrap()).unwrap();
        let times: Vec<i64> = times.split_whitespace().map(|time| time.parse().unwrap()).collect();
        assert_eq!(
            played.finishes,
            times.iter().map(|time| *time * NS).collect::<Vec<_>>(),
            "{}",
            path.display()
        );
        count += 1;
    }
    assert!(count > 8, "{count}");
}

/// `replay` reads the schedules that `schedule` writes, as text or binary, to a file or to stdout.
#[test]
fn a_written_schedule_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let params = "--params L=6,o=2,g=4,G=1";
    let expected = row(&format!("replay dissemination -P 13 --size 3 {params}"));
    for name in ["d.goal", "d.bin"] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        assert_eq!(stdout_of(&format!("schedule dissemination -P 13 --size 3 -o {path}")), "");
        let played = row(&format!("replay {path} {params}"));
        assert_eq!(played["finishes_ns"], expected["finishes_ns"]);
        assert_eq!(played["schedule"], json!(path));
    }
    let written = stdout_of("schedule dissemination -P 13 --size 3");
    let mut replay = loggp(&format!("replay - {params} --format json"));
    let mut replay = replay.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut replay.stdin.take().unwrap(), written.as_bytes()).unwrap();
    let played: Value = serde_json::from_slice(&replay.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(played["finishes_ns"], expected["finishes_ns"]);
}

/// LogGOPSim looks at sender and tag alone, and MPI lets a receive be longer than its message.
#[test]
fn a_receive_of_another_length_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.goal");
    fs::write(&path, "num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 50b from 0\n}\n").unwrap();
    for rules in ["papers", "loggopsim"] {
        let (status, _, stderr) = answer(&format!("replay {} --rules {rules}", path.display()));
        let expected = "warning: 1 receive names another length than its message has, which counts; the first is number 0, \
                        counted from 0, of rank 1, with 50 bytes for a message of 100 from rank 0, which MPI refuses\n";
        assert_eq!((status, &*stderr), (Some(0), expected));
    }
}

#[test]
fn a_schedule_that_waits_for_ever_is_a_deadlock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waits.goal");
    std::fs::write(&path, "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 7\n}\nrank 1 {\n}\n").unwrap();
    let path = path.to_str().unwrap();
    assert!(refusal(&format!("replay {path} --unit 0s")).contains("it lasts longer than 0"));
    let (status, stdout, stderr) = answer(&format!("replay {path}"));
    assert_eq!((status, &*stdout), (Some(1), ""));
    assert!(stderr.contains("deadlock: 1 of 2 processors waits for messages that nobody sends"), "{stderr}");
}

/// On LogGPS machines a message above S is sent after a request and a reply.
#[test]
fn a_ring_above_S_takes_a_request_and_a_reply() {
    let ring = |size: usize| {
        let row = row(&format!("replay ring -P 2 --size {size} --machine myrinet"));
        (row["messages"].as_u64().unwrap(), row["time_ns"].as_f64().unwrap())
    };
    let ((short, short_ns), (long, long_ns)) = (ring(16_383), ring(16_384));
    assert_eq!((short, long), (1, 3));
    assert!(long_ns > short_ns);
}
