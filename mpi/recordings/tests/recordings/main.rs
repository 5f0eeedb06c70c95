//! Recordings of MPI programs are read as they were written, and broken ones are refused with a sentence; programs and
//! their collectives become schedules.

#![allow(non_snake_case)] // P is the papers' name

mod memory;
mod mpi_collectives;
mod mpi_schedule;
mod traces;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loggp::params::LeveledParams;
use loggp::schedule::Player;
use loggp::{Level, Params, US};
use loggp_mpi_trace::call::{
    CollectiveKind, Completed, Counts, Envelope, MpiCallKind, RankCalls, Unmodelled, WaitForm,
};
use loggp_mpi_trace::libraries::open_mpi;
use loggp_mpi_trace::recording::{MpiRecording, is_recording};
use loggp_mpi_trace::schedule::{self, ScheduleOptions};
use loggp_schedule::program::{Comparison, PlayWatch};

use mpi_schedule::assert_same_in_pieces;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Recordings of real programs: examples/mpi/ring.mpi, and what `mpi/recordings/programs` call on 3 ranks.
fn recordings() -> Vec<PathBuf> {
    let own = ["communicators", "requests", "unfinished"]
        .map(|name| format!("mpi/recordings/tests/recordings/{name}.mpi"));
    ["examples/mpi/ring.mpi".into()].into_iter().chain(own).map(|name: String| file(&name)).collect()
}

/// Returns the messages among a rank's calls, each with its receiver: those that it sent and those that it took.
fn messages(rank: u32, calls: &RankCalls) -> [BTreeMap<(u32, u32, i32, u64), u64>; 2] {
    let [mut sent, mut taken] = [BTreeMap::new(), BTreeMap::new()];
    let mut send = |message: &Envelope| {
        *sent.entry((rank, message.peer, message.tag, message.bytes)).or_default() += 1;
    };
    let mut take = |message: &Envelope| {
        *taken.entry((message.peer, rank, message.tag, message.bytes)).or_default() += 1;
    };
    for call in &calls.calls {
        let kinds = match &call.kind {
            MpiCallKind::Start(starts) => starts.iter().collect(),
            kind => vec![kind],
        };
        for kind in kinds {
            match kind {
                MpiCallKind::Send { message, .. } => send(message),
                MpiCallKind::Recv { receive, .. } => receive.taken.iter().for_each(&mut take),
                MpiCallKind::SendRecv { message, receive, .. } => {
                    message.iter().for_each(&mut send);
                    receive.iter().filter_map(|receive| receive.taken.as_ref()).for_each(&mut take);
                }
                MpiCallKind::Complete { requests, .. } => {
                    requests.iter().filter_map(|completed| completed.taken.as_ref()).for_each(&mut take);
                }
                _ => (),
            }
        }
    }
    [sent, taken]
}

#[test]
fn what_is_sent_is_taken() {
    for path in recordings() {
        let recording = MpiRecording::open(&path).unwrap();
        let [mut sent, mut taken] = [BTreeMap::new(), BTreeMap::new()];
        for rank in 0..recording.ranks() {
            let [of_rank, by_rank] = messages(rank as u32, &recording.rank(rank).unwrap());
            sent.extend(of_rank);
            taken.extend(by_rank);
        }
        assert!(!sent.is_empty());
        assert_eq!(sent, taken, "{}", path.display());
    }
}

#[test]
fn the_ring_is_as_it_was_called() {
    let recording = MpiRecording::open(file("examples/mpi/ring.mpi")).unwrap();
    assert_eq!(recording.ranks(), 4);
    assert_eq!((&*recording.facts().mpi, &*recording.facts().library), ("openmpi", "Open MPI v4.1.4"));
    for rank in 0..4_u32 {
        let calls = recording.rank(rank as usize).unwrap();
        assert!(calls.is_whole && calls.unmodelled.is_empty() && calls.begin >= 0);
        assert_eq!(calls.communicators.len(), 1);
        assert_eq!(calls.communicators[0].members, [0, 1, 2, 3]);
        assert_eq!(calls.calls.len(), 5 * 4);
        let mut last = calls.begin;
        for (round, calls_of_round) in calls.calls.chunks(4).enumerate() {
            let round = round as u64;
            let [recv, send, wait, sum] = calls_of_round else { panic!("{calls_of_round:?}") };
            let from = (rank + 3) % 4;
            assert!(matches!(&recv.kind, MpiCallKind::Recv { receive, request: Some(request) }
                    if receive.from == Some(from) && receive.tag == Some(7) && *request == 2 * round));
            let to = Envelope { peer: (rank + 1) % 4, tag: 7, communicator: 0, bytes: 8 };
            assert!(matches!(send.kind, MpiCallKind::Send { message, request: Some(request), .. }
                    if message == to && request == 2 * round + 1));
            let taken = Some(Envelope { peer: from, ..to });
            let completed = |request, taken| Completed { request, taken, is_cancelled: false };
            let requests = vec![completed(2 * round, taken), completed(2 * round + 1, None)];
            assert_eq!(wait.kind, MpiCallKind::Complete { form: WaitForm::Wait, requests });
            assert!(
                matches!(&sum.kind, MpiCallKind::Collective { kind: CollectiveKind::Allreduce, sent, .. }
                if *sent == Counts::Same(8))
            );
            for (call, function, line) in
                [(recv, "relax", 12), (send, "relax", 13), (wait, "relax", 16), (sum, "main", 31)]
            {
                let place = &calls.places[call.place as usize];
                assert_eq!(place.function, function);
                assert!(matches!(&place.source, Some((file, at)) if file.ends_with("ring.c") && *at == line));
                assert!(call.begin >= last && call.end >= call.begin && call.end <= calls.end);
                last = call.end;
            }
        }
    }
}

#[test]
fn communicators_know_their_members() {
    let recording = MpiRecording::open(file("mpi/recordings/tests/recordings/communicators.mpi")).unwrap();
    for rank in 0..3 {
        let calls = recording.rank(rank).unwrap();
        let made = |members: &[u32], remote: Option<&[u32]>| {
            let communicators = calls.communicators.iter();
            communicators.filter(|one| one.members == members && one.remote.as_deref() == remote).count()
        };
        let [own, other]: [&[u32]; 2] = if rank == 1 { [&[1], &[0, 2]] } else { [&[0, 2], &[1]] };
        assert_eq!(made(own, Some(other)), 1, "{rank}");
        assert_eq!(made(&[0, 2, 1], None), 1, "that of merged groups");
        assert!(made(own, None) >= 4 && made(&[0, 1, 2], None) >= 8);
        assert!(calls.communicators.iter().any(|one| one.destinations == [None, Some(1)]) || rank > 0);
    }
}

/// A program's schedule is the same in pieces of any length.
#[test]
fn pieces_are_the_whole() {
    let options = ScheduleOptions { has_spans: true, ..ScheduleOptions::default() };
    for path in recordings() {
        let mut recording = MpiRecording::open(&path).unwrap();
        let whole: Vec<RankCalls> =
            (0..recording.ranks()).map(|rank| recording.rank(rank).unwrap()).collect();
        let program = schedule::read(&mut recording, options).unwrap();
        assert_same_in_pieces(&whole, &program, options);
    }
}

/// Of calls that are not modelled the last record counts; older recorders did not measure their time.
#[test]
fn calls_that_are_not_modelled_are_counted() {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let counted = |code: u8, name: &str, rest: &[u8]| [&[code][..], &text(name), rest].concat();
    let records = [
        counted(7, "MPI_Put", &[3, 100]),
        counted(7, "MPI_Put", &[5, 120]),
        counted(4, "MPI_Win_fence", &[2]),
    ]
    .concat();
    let header = [vec![0, 1, 0, 0], ["mpi", "", "", ""].map(text).concat()].concat();
    let framed = |length: usize| (length as u32).to_le_bytes().to_vec();
    // A tick is two nanoseconds.
    let clocks = [0_u64, 0, 1000, 2000].map(u64::to_le_bytes).concat();
    let parts = [
        b"LOGGPREC".to_vec(),
        framed(1),
        framed(header.len()),
        header,
        framed(records.len()),
        clocks,
        records,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rank.0");
    fs::write(&path, parts.concat()).unwrap();
    let calls = MpiRecording::open(&path).unwrap().rank(0).unwrap();
    let made = |name: &str, count, inside_ns| Unmodelled { name: name.into(), count, inside_ns };
    assert_eq!(calls.unmodelled, [made("MPI_Put", 5, Some(240)), made("MPI_Win_fence", 2, None)]);
}

/// Reads all of a file, and returns how many calls it has, or the error.
fn read(path: &Path) -> Result<usize, String> {
    let recording = MpiRecording::open(path).map_err(|error| error.to_string())?;
    let mut count = 0;
    for rank in 0..recording.ranks() {
        let mut reader = recording.calls(rank).map_err(|error| error.to_string())?;
        while reader.next_call().map_err(|error| error.to_string())?.is_some() {
            count += 1;
        }
    }
    Ok(count)
}

/// A file that ends anywhere is refused, or read up to where it ends.
#[test]
fn files_that_end_early() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.mpi");
    for whole in recordings() {
        let bytes = fs::read(&whole).unwrap();
        let all = read(&whole).unwrap();
        for length in (0..bytes.len()).step_by(7) {
            fs::write(&path, &bytes[..length]).unwrap();
            let why = read(&path).expect_err("the last rank's bytes are missing");
            assert!(!why.is_empty() && !why.contains('\n'), "{why}");
        }
        // A rank's own file is read as far as it goes.
        let at = bytes.windows(8).position(|window| window == b"LOGGPREC").unwrap();
        let mut alone = bytes[at..].to_vec();
        assert_eq!(alone[16..18], [0, MpiRecording::open(&whole).unwrap().ranks() as u8]);
        fs::write(&path, &alone).unwrap();
        assert!(read(&path).unwrap_err().contains("loggp record --merge"));
        alone.truncate(200);
        alone[8] = 2;
        fs::write(&path, &alone).unwrap();
        assert!(read(&path).unwrap_err().contains("has version 2"));
        assert!(all > 0);
    }
}

/// Changes some bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..bytes.len());
        match random.u8(..6) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] ^= 1 << random.u8(..8),
            2 => bytes[at] = [0, 1, 127, 128, 255][random.usize(..5)],
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, random.u8(..)),
            _ => {
                let (from, length) = (random.usize(..bytes.len()), random.usize(1..40));
                let copied: Vec<u8> = bytes[from..].iter().copied().take(length).collect();
                let end = bytes.len().min(at + copied.len());
                bytes[at..end].copy_from_slice(&copied[..end - at]);
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

/// Changes each input at random so many times, and lets it be read within so many bytes of memory for each of its bytes, and
/// some more. Returns how many were read, and how many refused, in one sentence.
fn try_mutations(
    inputs: Vec<Vec<u8>>,
    (times, seed): (usize, u64),
    (for_each, for_any): (usize, usize),
    read: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut read_so, mut refused) = (0, 0);
    for whole in inputs {
        for _ in 0..times {
            let mut mutated = whole.clone();
            mutate(&mut mutated, &mut random);
            let (outcome, peak) = memory::peak(|| read(&mutated));
            assert!(peak <= for_each * mutated.len() + for_any, "{peak} bytes for {}", mutated.len());
            match outcome {
                Ok(()) => read_so += 1,
                Err(why) => {
                    assert!(!why.is_empty() && !why.contains('\n'), "{why}");
                    refused += 1;
                }
            }
        }
    }
    (read_so, refused)
}

/// Returns the bytes of all recordings.
fn recorded() -> Vec<Vec<u8>> {
    recordings().iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Whatever a file holds, it is read or refused in one sentence, within ten times its size of memory and what reading
/// any file takes.
#[test]
fn mutated_files() {
    const ANY_FILE: usize = 64 << 10;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutated.mpi");
    let (read_so, refused) = try_mutations(recorded(), (2000, 49), (10, ANY_FILE), &mut |bytes| {
        fs::write(&path, bytes).unwrap();
        read(&path).map(|calls| assert!(calls <= bytes.len()))
    });
    assert!(read_so > 500 && refused > 500, "{read_so} were read, {refused} refused");
}

/// Whatever traces hold, they are read or refused in one sentence that names a rank, in memory that grows with them.
#[test]
fn mutated_traces() {
    const ANY_TRACES: usize = 1 << 20;
    let mut read = |bytes: &[u8]| {
        traces::read(bytes).inspect_err(|why| {
            assert!(why.contains("rank") && !why.contains(char::is_control), "{why:?}");
            assert!(why.chars().count() < 1000, "it quotes too much: {why}");
        })
    };
    for whole in traces::inputs() {
        let (_, peak) = memory::peak(|| read(&whole));
        assert!(peak <= (1 << 13) * whole.len() + ANY_TRACES, "{peak} bytes for {}", whole.len());
    }
    // A line may be a message to every rank.
    let (read_so, refused) = try_mutations(traces::inputs(), (800, 51), (1 << 13, ANY_TRACES), &mut read);
    assert!(read_so > 100 && refused > 500, "{read_so} were read, {refused} refused");
}

/// Makes the schedule of a file and plays it. Returns how many operations it has, or the error.
fn play(path: &Path) -> Result<usize, String> {
    let mut recording = MpiRecording::open(path).map_err(|error| error.to_string())?;
    let options = ScheduleOptions { table: Some(open_mpi()), has_spans: true, ..ScheduleOptions::default() };
    let program = schedule::read(&mut recording, options).map_err(|error| error.to_string())?;
    let params = Params::builder(1).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let mut watch = PlayWatch::new(&program);
    let played = Player::new(params).run_watched(&program.schedule, &mut |beginning| watch.begin(beginning));
    let played = played.map_err(|error| error.cause.to_string())?;
    Comparison::new(&program, &played, Some(watch)).expect("it is a recorded program");
    Ok(program.schedule.len())
}

/// Four ranks are within a node of four or more, and within two sockets of it.
#[test]
fn a_recording_is_played_within_a_node() {
    let mut recording = MpiRecording::open(file("examples/mpi/ring.mpi")).unwrap();
    let options = ScheduleOptions { table: Some(open_mpi()), ..ScheduleOptions::default() };
    let program = schedule::read(&mut recording, options).unwrap();
    let costs = |L: i64| Params::builder(4).L(L * US).o(2 * US).g(4 * US);
    let (network, node, socket) = (costs(600).build().unwrap(), costs(6), costs(1).P(2).build().unwrap());
    let (node_of, socket) = (|P: usize| Level::new(node.clone().P(P).build().unwrap()), Level::new(socket));
    let time = |params: Params, levels: &[Level]| {
        Player::new(LeveledParams::new(params, levels.iter().copied())).run(&program.schedule).unwrap().time
    };
    let alone = node.clone().build().unwrap();
    for P in [4, 16] {
        assert_eq!(time(network, &[node_of(P)]), time(alone, &[]));
        assert_eq!(time(network, &[node_of(P), socket]), time(alone, &[socket]));
    }
}

/// Whatever a file holds, its schedule is made and played or refused in one sentence, in seconds, and in memory that grows
/// with the file.
#[test]
fn schedules_of_mutated_files() {
    const ANY_FILE: usize = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutated.mpi");
    assert!(recordings().iter().all(|whole| play(whole).unwrap() > 0));
    // A collective has a message for each rank.
    let (played, refused) = try_mutations(recorded(), (500, 50), (64, ANY_FILE), &mut |bytes| {
        fs::write(&path, bytes).unwrap();
        let begin = Instant::now();
        let played = play(&path);
        assert!(begin.elapsed() < Duration::from_secs(20), "it takes {:?}", begin.elapsed());
        played.map(drop)
    });
    assert!(played > 100 && refused > 100, "{played} were played, {refused} refused");
}

#[test]
fn recordings_are_known_by_their_first_bytes() {
    assert!(recordings().iter().all(|path| is_recording(&fs::read(path).unwrap())));
    assert!(!is_recording(b"LOGGP") && !is_recording(b"# allprof"));
}
