//! Schedules of recorded MPI programs: each rule with a case whose times are derived by hand, and random programs.
//!
//! A message of one byte takes L + 2o = 10 us, and a processor sends or receives every g = 4 us.

mod collectives;
mod random;
mod threads;
mod unfinished;

use loggp::schedule::{Operation, Player, Schedule};
use loggp::{Machine, Params, Tag, Time, US};
use loggp_goal::patterns::CollectiveKind;
use loggp_mpi_trace::call::{
    Communicator, Completed, Counts, Envelope, MpiCall, MpiCallKind, OneSided, Place, RankCalls, Receive,
    Root, SendMode, WaitForm,
};
use loggp_mpi_trace::libraries::open_mpi;
use loggp_mpi_trace::schedule::functions::{POINT_TO_POINT, collective_group};
use loggp_mpi_trace::schedule::{self, ScheduleOptions};
use loggp_schedule::program::{CallGroup, CallSpan, Comparison, PlayWatch, ProgramSchedule, RankIndex};

use collectives::copies;
pub(crate) use unfinished::assert_same_in_pieces;

use MpiCallKind::{Complete, Forget, Look, NewCommunicator, Probe, Recv, Send, SendRecv, Start};

/// A call of the first thread, in us.
type At = (i64, i64, MpiCallKind);

fn rank(P: usize, calls: Vec<At>, end: i64) -> RankCalls {
    let world = Communicator { members: (0..P as u32).collect(), ..Communicator::default() };
    let call =
        |(begin, end, kind)| MpiCall { begin: 1000 * begin, end: 1000 * end, place: 0, thread: 0, kind };
    RankCalls {
        begin: 0,
        end: 1000 * end,
        is_whole: true,
        calls: calls.into_iter().map(call).collect(),
        communicators: vec![world],
        places: vec![Place::default()],
        unmodelled: Vec::new(),
    }
}

fn message(peer: u32, tag: i32) -> Envelope {
    Envelope { peer, tag, communicator: 0, bytes: 1 }
}

fn send(to: u32, tag: i32) -> MpiCallKind {
    Send { mode: SendMode::Standard, message: message(to, tag), request: None }
}

fn isend(to: u32, tag: i32, request: u64) -> MpiCallKind {
    Send { mode: SendMode::Standard, message: message(to, tag), request: Some(request) }
}

fn receive(from: u32, tag: i32) -> Receive {
    Receive { from: Some(from), tag: Some(tag), communicator: 0, bytes: 1, taken: Some(message(from, tag)) }
}

fn recv(from: u32, tag: i32) -> MpiCallKind {
    Recv { receive: receive(from, tag), request: None }
}

fn irecv(from: u32, tag: i32, request: u64) -> MpiCallKind {
    Recv { receive: Receive { taken: None, ..receive(from, tag) }, request: Some(request) }
}

/// A receive from any rank with any tag, of which the call itself may say what it took.
fn any(taken: Option<Envelope>, request: Option<u64>) -> MpiCallKind {
    Recv { receive: Receive { from: None, tag: None, communicator: 0, bytes: 8, taken }, request }
}

fn completed(request: u64, taken: Option<Envelope>) -> Completed {
    Completed { request, taken, is_cancelled: false }
}

fn wait(requests: &[u64]) -> MpiCallKind {
    Complete { form: WaitForm::Wait, requests: requests.iter().map(|one| completed(*one, None)).collect() }
}

fn collective(kind: CollectiveKind, communicator: u32, bytes: u64) -> MpiCallKind {
    let (sent, received) = (Counts::Same(bytes), Counts::Same(bytes));
    MpiCallKind::Collective { kind, communicator, root: Root::None, sent, received, request: None }
}

fn read(ranks: Vec<RankCalls>) -> ProgramSchedule {
    let options = ScheduleOptions { has_spans: true, ..ScheduleOptions::default() };
    let program = schedule::read(&mut ranks.clone(), options).unwrap_or_else(|error| panic!("{error}"));
    assert_same_in_pieces(&ranks, &program, options);
    program
}

fn player() -> Player {
    Player::new(Params::builder(1).set("L=6us,o=2us,g=4us").unwrap().word(8).build().unwrap())
}

/// Returns when each rank is done, in us.
fn finishes(schedule: &Schedule) -> Vec<i64> {
    let played = player().run(schedule).unwrap_or_else(|error| panic!("{error}"));
    played.finishes.iter().map(|time| time.as_ps() / US.as_ps()).collect()
}

fn ends(ranks: Vec<RankCalls>) -> Vec<i64> {
    let program = read(ranks);
    assert!(program.warnings.is_empty(), "{:?}", program.warnings);
    finishes(&program.schedule)
}

/// Blocking calls go in a row, and the time between them is computing; how long they took does not matter.
#[test]
fn blocking_calls_go_in_a_row() {
    let zero = rank(2, vec![(10, 500, send(1, 3))], 507);
    let one = rank(2, vec![(0, 900, recv(0, 3)), (905, 906, send(0, 4))], 906);
    let zero = RankCalls { end: 600_000, ..zero };
    let mut zero = zero;
    zero.calls.push(MpiCall { begin: 520_000, end: 600_000, place: 0, thread: 0, kind: recv(1, 4) });
    // Rank 0 sends from 10 to 12, computes until 32; rank 1 has the message at 20, computes for 5, and sends until 27.
    // Its message arrives at 33 and is received by 35.
    assert_eq!(ends(vec![zero, one]), [35, 27]);
}

#[test]
fn an_immediate_send_goes_on_when_it_has_begun() {
    let zero = rank(2, vec![(0, 1, isend(1, 0, 1)), (101, 102, wait(&[1]))], 102);
    let one = rank(2, vec![(0, 0, irecv(0, 0, 1)), (3, 9, wait(&[1]))], 10);
    // The overhead of the send and then 100 us. Rank 1 computes for 3, receives by 10, and computes for 1.
    assert_eq!(ends(vec![zero, one]), [102, 11]);
}

/// The message of rank 0 comes first, and the receive takes that of rank 1, as in the run.
#[test]
fn a_receive_from_anyone_takes_what_it_took() {
    let others = || vec![rank(3, vec![(0, 1, send(2, 5))], 1), rank(3, vec![(50, 51, send(2, 6))], 51)];
    let in_call = vec![(0, 60, any(Some(message(1, 6)), None)), (60, 61, any(Some(message(0, 5)), None))];
    let both = vec![completed(1, Some(message(1, 6))), completed(2, Some(message(0, 5)))];
    let at_wait = vec![
        (0, 0, any(None, Some(1))),
        (0, 0, any(None, Some(2))),
        (0, 61, Complete { form: WaitForm::Wait, requests: both }),
    ];
    // Received in a row from 58 and from 62 on. Immediate ones in the order in which they come: at 8 and 58.
    for (calls, last) in [(in_call, 64), (at_wait, 60)] {
        let mut ranks = others();
        ranks.push(rank(3, calls, 61));
        assert_eq!(ends(ranks), [2, 52, last]);
    }
}

/// The answer leaves when the receive is over at 52, and is there at 62.
#[test]
fn a_synchronous_send_waits_for_its_receive() {
    let ssend = |request| Send { mode: SendMode::Synchronous, message: message(1, 0), request };
    let late = || rank(2, vec![(50, 51, recv(0, 0))], 51);
    assert_eq!(ends(vec![rank(2, vec![(0, 51, ssend(None))], 51), late()]), [62, 54]);
    let immediate = vec![(0, 1, ssend(Some(1))), (31, 51, wait(&[1])), (53, 54, send(1, 1))];
    let two = rank(2, vec![(50, 51, recv(0, 0)), (51, 60, recv(0, 1))], 60);
    // It computes for 30 meanwhile. After the answer it computes for 2, and sends from 64 to 66.
    assert_eq!(ends(vec![rank(2, immediate, 54), two]), [66, 74]);
}

/// With S = 0 every message waits for its receiver, but a buffered one does not keep its sender.
#[test]
fn a_buffered_send_goes_on_at_once() {
    let program = |mode| {
        let send = Send { mode, message: message(1, 0), request: None };
        read(vec![rank(2, vec![(0, 1, send)], 11), rank(2, vec![(50, 51, recv(0, 0))], 51)])
    };
    let begun = |mode| program(mode).schedule.requirements_of(0).map(|one| one.begun).collect::<Vec<_>>();
    assert_eq!((begun(SendMode::Buffered), begun(SendMode::Standard)), (vec![true], vec![false]));
}

/// A probe waits for its message, and the receive later has it at once.
#[test]
fn a_probe_waits_for_its_message() {
    let zero = || rank(2, vec![(20, 21, send(1, 7))], 21);
    for is_wait in [false, true] {
        let probe = || Probe { is_wait, message: message(0, 7) };
        let one = rank(2, vec![(0, 30, probe()), (31, 32, probe()), (60, 61, recv(0, 7))], 61);
        // 20 + 10 for the message, 1 + 28 of computing.
        assert_eq!(ends(vec![zero(), one]), [22, 59]);
    }
}

/// A test that ends a wait for one request is that wait. Of others it is counted what they found, and of looks in vain after
/// which a rank did something else how many these were.
#[test]
fn looks_that_may_find_something_else_are_counted() {
    let look = |inside: i64| Look { count: 7, inside_ns: 1000 * inside };
    let found = |form| Complete { form, requests: vec![completed(1, None)] };
    let seen = |calls: Vec<At>| {
        let unseen = read(vec![rank(2, vec![(0, 1, send(1, 0))], 1), rank(2, calls, 50)]).unseen;
        ((unseen.vain_looks, unseen.vain_ns), unseen.found_looks, unseen.is_open())
    };
    let posted = || (0, 0, irecv(0, 0, 1));
    let at = |inside, form| vec![posted(), (0, 40, look(inside)), (40, 41, found(form))];
    assert_eq!(seen(at(39, WaitForm::Test)), ((0, 0), 0, false));
    assert_eq!(seen(at(39, WaitForm::Testsome)), ((0, 0), 1, false));
    assert_eq!(seen(at(5, WaitForm::Test)), ((7, 5000), 1, true));
    assert_eq!(seen(vec![posted(), (0, 1, found(WaitForm::Test))]), ((0, 0), 1, false));
    assert_eq!(seen(vec![posted(), (0, 1, wait(&[1])), (1, 2, look(1))]), ((7, 1000), 0, true));
    let probe = Probe { is_wait: false, message: message(0, 0) };
    assert_eq!(seen(vec![(0, 1, probe), (1, 2, recv(0, 0))]), ((0, 0), 1, false));
}

/// Looks without computing between them are waiting if the last one finds something; else the time is computing.
#[test]
fn looks_in_vain_are_waiting_or_computing() {
    for (inside, finds, last) in [(39, true, 10), (5, true, 42), (39, false, 42)] {
        let look = Look { count: 100, inside_ns: 1000 * inside };
        let test = Complete { form: WaitForm::Test, requests: vec![completed(1, Some(message(0, 0)))] };
        let mut calls = vec![(0, 0, irecv(0, 0, 1)), (0, 40, look)];
        match finds {
            true => calls.push((40, 40, test)),
            false => calls.extend([(40, 40, isend(0, 1, 2)), (40, 41, wait(&[1, 2]))]),
        }
        let zero =
            if finds { vec![(0, 1, send(1, 0))] } else { vec![(0, 1, send(1, 0)), (1, 60, recv(1, 1))] };
        let ends = ends(vec![rank(2, zero, 60), rank(2, calls, 41)]);
        // If it looks in vain to the end it sends at 40, and receives at 42 what came meanwhile.
        assert_eq!(ends[1], if finds { last + 1 } else { 44 }, "{inside} {finds}");
    }
}

#[test]
fn cancelled_and_forgotten_requests_are_left_out() {
    let cancelled = Completed { request: 1, taken: None, is_cancelled: true };
    let calls = vec![
        (0, 0, irecv(1, 0, 1)),
        (0, 0, irecv(1, 1, 2)),
        (0, 1, Complete { form: WaitForm::Wait, requests: vec![cancelled] }),
        (1, 1, Forget(2)),
        (2, 2, isend(1, 2, 3)),
        (2, 2, Forget(3)),
    ];
    let program = read(vec![rank(2, calls, 3), rank(2, vec![(0, 3, recv(0, 2))], 3)]);
    // The send that is given up goes all the same, with 1 us of computing before it and after it.
    assert_eq!(finishes(&program.schedule), [4, 11]);
}

#[test]
fn persistent_requests_are_started_again() {
    let start = |request| {
        Start(vec![isend(1, 0, request), Recv { receive: receive(1, 1), request: Some(request + 1) }])
    };
    let calls = vec![(0, 0, start(1)), (0, 9, wait(&[1, 2])), (9, 9, start(3)), (9, 20, wait(&[3, 4]))];
    let one = vec![(0, 5, recv(0, 0)), (5, 5, send(0, 1)), (5, 9, recv(0, 0)), (9, 9, send(0, 1))];
    // Four messages that follow each other.
    assert_eq!(ends(vec![rank(2, calls, 20), rank(2, one, 9)]), [40, 32]);
}

/// Both sides of a send-receive begin together, and one of them may be missing.
#[test]
fn a_send_receive_is_both_at_once() {
    let both = |other, request| SendRecv {
        message: Some(message(other, 0)),
        receive: Some(receive(other, 0)),
        request,
    };
    let program = |request: Option<u64>| {
        (0..2).map(move |id: u32| {
            let mut calls = vec![(0, 9, both(1 - id, request))];
            calls.extend(request.map(|request| (9, 20, wait(&[request]))));
            rank(2, calls, 20)
        })
    };
    assert_eq!(ends(program(None).collect()), [21, 21]);
    assert_eq!(ends(program(Some(1)).collect()), [10, 10]);
    let half = SendRecv { message: Some(message(1, 0)), receive: None, request: None };
    assert_eq!(ends(vec![rank(2, vec![(0, 1, half)], 1), rank(2, vec![(0, 1, recv(0, 0))], 1)]), [2, 10]);
}

/// What a rank sends to itself crosses no network: the time of these calls is computing.
#[test]
fn messages_to_oneself_are_computing() {
    let own = SendRecv { message: Some(message(0, 1)), receive: Some(receive(0, 1)), request: None };
    let calls = vec![
        (10, 15, own),
        (15, 16, irecv(0, 2, 1)),
        (16, 18, isend(0, 2, 2)),
        (18, 20, wait(&[1, 2])),
        (20, 99, send(1, 3)),
    ];
    let program = read(vec![rank(2, calls, 100), rank(2, vec![(0, 90, recv(0, 3))], 90)]);
    // It computes for 20, sends by 22, and computes for 1.
    assert_eq!(finishes(&program.schedule), [23, 30]);
    assert_eq!(program.ranks[0].computing_ns, 21_000);
}

/// What one thread waits for does not keep another.
#[test]
fn threads_do_not_wait_for_each_other() {
    let mut zero = rank(3, vec![(0, 60, recv(1, 0)), (0, 1, send(2, 0))], 60);
    zero.calls[1].thread = 1;
    let one = rank(3, vec![(50, 51, send(0, 0))], 51);
    assert_eq!(ends(vec![zero, one, rank(3, vec![(0, 9, recv(0, 0))], 9)]), [60, 52, 10]);
}

#[test]
fn what_nobody_received_is_left_out_and_said() {
    let zero = rank(2, vec![(0, 1, send(1, 5)), (1, 2, send(1, 5)), (2, 3, send(1, 6))], 3);
    let program = read(vec![zero, rank(2, vec![(0, 9, recv(0, 5))], 9)]);
    let expected = "2 messages that nobody received are left out, the first from rank 0 to 1 with tag 5";
    assert_eq!(program.warnings, [expected]);
    // One message, and 2 us of computing... none is between the calls.
    assert_eq!(finishes(&program.schedule), [2, 10]);
    let lengths = rank(
        2,
        vec![(
            0,
            9,
            Recv {
                receive: Receive { taken: Some(Envelope { bytes: 8, ..message(0, 5) }), ..receive(0, 5) },
                request: None,
            },
        )],
        9,
    );
    let program = read(vec![rank(2, vec![(0, 1, send(1, 5))], 1), lengths]);
    assert!(program.warnings[0].contains("rank 0 sent 1 bytes with tag 5, and rank 1 received 8"));
}

#[test]
fn what_cannot_have_happened_is_refused() {
    let lone = |calls| vec![rank(2, vec![], 1), rank(2, calls, 9)];
    for (mut ranks, part) in [
        (
            lone(vec![(0, 9, recv(0, 5))]),
            "rank 1: it received 1 messages of tag 5 from rank 0, which sent it 0",
        ),
        (
            lone(vec![(0, 9, collective(CollectiveKind::Barrier, 0, 0))]),
            "it made 1 collectives of all ranks, and rank 0 made 0",
        ),
        (
            lone(vec![(0, 9, collective(CollectiveKind::Barrier, 7, 0))]),
            "a call names communicator 7, and the rank has 1",
        ),
        (lone(vec![(0, 9, send(7, 0))]), "rank 1 sends to rank 7, and there are ranks 0 to 1"),
        (lone(vec![(5, 9, send(0, 0)), (4, 5, send(0, 0))]), "a call begins before the last one ended"),
        (vec![copies(rank(2, vec![], 1), &[&[0, 9]]), rank(2, vec![], 1)], "communicator 1 has rank 9"),
        (
            vec![copies(rank(2, vec![], 1), &[&[1]]), rank(2, vec![], 1)],
            "communicator 1 does not have the rank itself",
        ),
    ] {
        let error = schedule::read(&mut ranks, ScheduleOptions::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// Of a program that was aborted, what both ends have is played.
#[test]
fn what_came_before_the_end_is_played() {
    let barrier = || collective(CollectiveKind::Barrier, 0, 0);
    let mut zero = rank(2, vec![(0, 1, barrier()), (1, 2, recv(1, 0)), (2, 3, barrier())], 3);
    let mut one = rank(2, vec![(0, 1, barrier())], 1);
    (zero.is_whole, one.is_whole) = (false, false);
    let program = read(vec![zero, one]);
    assert_eq!(finishes(&program.schedule), [10, 10]);
    let all = program.warnings.join("\n");
    assert!(all.contains("1 receives are left out") && all.contains("ends before MPI_Finalize"), "{all}");
}

/// Each operation is of a call, and each call of a place.
#[test]
fn operations_know_their_call() {
    let mut zero = rank(
        2,
        vec![(1, 2, isend(1, 0, 1)), (2, 3, wait(&[1])), (5, 6, collective(CollectiveKind::Barrier, 0, 0))],
        8,
    );
    let place = |line| Place { function: "main".into(), source: Some(("it.c".into(), line)) };
    zero.places.extend([place(3), place(7)]);
    (zero.calls[0].place, zero.calls[2].place) = (1, 2);
    let mut one = rank(2, vec![(0, 2, recv(0, 0)), (2, 6, collective(CollectiveKind::Barrier, 0, 0))], 8);
    one.places.push(place(7));
    one.calls[1].place = 1;
    let program = read(vec![zero, one]);
    let groups = |rank: usize| {
        let count = program.schedule.operations(rank).len() as u32;
        let spans = &program.ranks[rank].spans;
        let of = |operation| spans.get(spans.call_of(operation).unwrap()).unwrap().kind;
        (0..count)
            .map(|operation| (of(operation).group, program.places[of(operation).place as usize].clone()))
            .collect::<Vec<_>>()
    };
    let barrier = collective_group(CollectiveKind::Barrier);
    let zero = groups(0);
    // Computing and the send; computing, two messages and the end of the barrier; computing.
    assert_eq!(zero[..2], [(POINT_TO_POINT, place(3)), (POINT_TO_POINT, place(3))]);
    assert_eq!(zero[2..6].to_vec(), vec![(barrier, place(7)); 4]);
    assert_eq!(zero[6..], [(CallGroup::END, Place::default())]);
    assert_eq!(groups(1)[1], (barrier, place(7)));
}

/// The recorded and the predicted time of each group, which together are the whole.
#[test]
fn predicted_and_recorded_times_are_compared() {
    let barrier = || collective(CollectiveKind::Barrier, 0, 0);
    let zero = rank(2, vec![(10, 15, send(1, 0)), (20, 40, barrier())], 45);
    let one = rank(2, vec![(0, 18, recv(0, 0)), (20, 40, barrier())], 45);
    let program = read(vec![zero, one]);
    let mut watch = PlayWatch::new(&program);
    let played = player().run_watched(&program.schedule, &mut |beginning| watch.begin(beginning)).unwrap();
    let comparison = Comparison::new(&program, &played, Some(watch)).unwrap();
    let us = |time: Time| time.as_ps() / US.as_ps();
    // Rank 0 computes for 10, sends until 12, computes until 17 and sends in the barrier until 19. Rank 1 has the message
    // at 20, computes until 22, sends until 24 and receives what came at 25 until 27. Its own is there at 30 and received
    // at 32. Both compute for 5 more.
    assert_eq!(finishes(&program.schedule), [37, 32]);
    let expected =
        [((45, 37), (20, 20), vec![(5, 2), (20, 15)]), ((45, 32), (7, 7), vec![(18, 20), (20, 5)])];
    for (rank, (end, computing, groups)) in comparison.ranks.iter().zip(expected) {
        let pair = |pair: loggp_schedule::program::TimePair| (us(pair.recorded), us(pair.predicted));
        assert_eq!((pair(rank.end), pair(rank.computing)), (end, computing));
        assert_eq!(rank.groups.iter().map(|(_, one)| pair(*one)).collect::<Vec<_>>(), groups);
        let sum: Time = rank.groups.iter().map(|(_, one)| one.predicted).sum();
        assert_eq!(sum + rank.computing.predicted, rank.end.predicted);
    }
    assert_eq!((us(comparison.end.recorded), us(comparison.end.predicted)), (45, 37));
}
