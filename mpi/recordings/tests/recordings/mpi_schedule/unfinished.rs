//! Receives that get no message, and calls that come long before what says what came of them.

use loggp::schedule::{PlacedOperation, Requirement};
use loggp_mpi_trace::error::ProgramError;
use loggp_mpi_trace::source::{CallSource, TakeCalls};

use super::*;

/// The calls of ranks in pieces.
pub(super) struct Pieces<'a> {
    pub ranks: &'a [RankCalls],
    /// The most calls of a piece.
    pub length: usize,
}

impl CallSource for Pieces<'_> {
    fn ranks(&self) -> usize {
        self.ranks.len()
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        let RankCalls { calls, unmodelled, .. } = &self.ranks[rank];
        let rest = RankCalls { calls: Vec::new(), unmodelled: Vec::new(), ..self.ranks[rank].clone() };
        for piece in calls.chunks(self.length) {
            take(&RankCalls { calls: piece.to_vec(), ..rest.clone() })?;
        }
        take(&RankCalls { unmodelled: unmodelled.clone(), ..rest })
    }
}

/// Asserts that a program's schedule is the same in pieces of any length.
pub(crate) fn assert_same_in_pieces(
    ranks: &[RankCalls],
    program: &ProgramSchedule,
    options: ScheduleOptions,
) {
    for length in [1, 2, 7, 1024] {
        let pieces = schedule::read(&mut Pieces { ranks, length }, options).unwrap();
        let about = format!("in pieces of {length}");
        assert!(all(&pieces.schedule) == all(&program.schedule), "{about}");
        assert!((&pieces.ranks, &pieces.places) == (&program.ranks, &program.places), "{about}");
        assert_eq!(pieces.warnings, program.warnings, "{about}");
    }
}

/// Returns all operations of a schedule, and what they wait for.
fn all(schedule: &Schedule) -> Vec<(Vec<PlacedOperation>, Vec<Requirement>)> {
    let of_rank = |rank| (schedule.operations(rank).collect(), schedule.requirements_of(rank).collect());
    (0..schedule.ranks()).map(of_rank).collect()
}

/// Waits for a request that was cancelled.
fn cancelled(request: u64) -> MpiCallKind {
    let requests = vec![Completed { request, taken: None, is_cancelled: true }];
    Complete { form: WaitForm::Wait, requests }
}

/// Of two receives that were posted at the beginning the second one got the message.
#[test]
fn a_receive_is_cancelled_much_later() {
    let own = || collective(CollectiveKind::Barrier, 1, 0);
    let mut calls = vec![(0, 0, irecv(1, 0, 1)), (0, 0, any(None, Some(2))), (0, 0, irecv(1, 0, 3))];
    calls.extend((0..1100).map(|_| (0, 0, own())));
    calls.extend([(0, 0, cancelled(1)), (0, 0, cancelled(2)), (0, 60, wait(&[3])), (65, 70, recv(1, 0))]);
    let one = rank(2, vec![(50, 51, send(0, 0)), (51, 52, send(0, 0))], 52);
    // Sent by 52 and 56, and received by 60; then 5 of computing, and by 67.
    assert_eq!(ends(vec![copies(rank(2, calls, 70), &[&[0]]), one]), [67, 56]);
}

/// A receive that would take anything on a communicator of the rank alone never gets a message, nor does it keep the
/// rank from its end.
#[test]
fn a_receive_never_completes() {
    let lone = Recv {
        receive: Receive { from: None, tag: None, communicator: 1, bytes: 8, taken: None },
        request: Some(1),
    };
    let barrier = || collective(CollectiveKind::Barrier, 0, 0);
    let zero = rank(2, vec![(0, 0, lone), (0, 9, recv(1, 0)), (9, 20, barrier())], 20);
    let one = rank(2, vec![(0, 1, send(0, 0)), (1, 20, barrier())], 20);
    // The message is received by 10. In the barrier rank 0 sends by 12 and has received by 14; its message is there at 18.
    assert_eq!(ends(vec![copies(zero, &[&[0]]), one]), [14, 20]);
}

/// Where a receive that is given up stands before one that completed, the message is the second one's.
#[test]
fn what_is_given_up_takes_no_message_of_others() {
    for gives_up in [true, false] {
        let mut calls = vec![(0, 0, irecv(1, 0, 1)), (0, 0, irecv(1, 0, 2)), (0, 60, wait(&[2]))];
        if gives_up {
            calls.insert(1, (0, 0, Forget(1)));
        }
        let one = rank(2, vec![(50, 51, send(0, 0))], 51);
        assert_eq!(ends(vec![rank(2, calls, 60), one]), [60, 52]);
    }
    // With two messages both have one, though nobody waits for the first.
    let calls = vec![(0, 0, irecv(1, 0, 1)), (0, 0, irecv(1, 0, 2)), (0, 60, wait(&[2]))];
    let one = rank(2, vec![(50, 51, send(0, 0)), (60, 61, send(0, 0))], 61);
    assert_eq!(ends(vec![rank(2, calls, 60), one]), [71, 63]);
}

/// A message that is found by a probe and one that is taken by a receive from anyone later are told apart.
#[test]
fn what_was_probed_and_what_any_receive_took_are_all() {
    let both = vec![completed(1, Some(message(1, 0))), completed(2, Some(message(1, 0)))];
    let calls = vec![
        (0, 12, Probe { is_wait: true, message: message(1, 0) }),
        (12, 12, any(None, Some(1))),
        (12, 16, Probe { is_wait: true, message: message(1, 0) }),
        (16, 16, any(None, Some(2))),
        (16, 16, Complete { form: WaitForm::Waitall, requests: both }),
    ];
    let one = rank(2, vec![(0, 1, send(0, 0)), (1, 2, send(0, 0))], 2);
    assert_eq!(ends(vec![rank(2, calls, 16), one]), [14, 6]);
}

/// A thread whose first calls look in vain waits from then on.
#[test]
fn a_thread_begins_with_looks() {
    let test = Complete { form: WaitForm::Test, requests: vec![completed(1, Some(message(1, 0)))] };
    let mut zero =
        rank(2, vec![(0, 0, irecv(1, 0, 1)), (1, 9, Look { count: 9, inside_ns: 8000 }), (9, 9, test)], 9);
    (zero.calls[1].thread, zero.calls[2].thread) = (1, 1);
    // The first one computes for 9 until the end, and the message is received by 11.
    assert_eq!(ends(vec![zero, rank(2, vec![(0, 1, send(0, 0))], 1)]), [11, 2]);
}
