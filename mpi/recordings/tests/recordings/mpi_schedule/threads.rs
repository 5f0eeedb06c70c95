//! Threads that compute at once.

use loggp_mpi_trace::error::ProgramError;
use loggp_mpi_trace::source::{CallSource, TakeCalls};

use super::*;

/// Hands over its calls in small pieces.
struct Pieces(Vec<RankCalls>);

impl CallSource for Pieces {
    fn ranks(&self) -> usize {
        self.0.len()
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        let whole = &self.0[rank];
        for calls in whole.calls.chunks(3) {
            take(&RankCalls { calls: calls.to_vec(), ..whole.clone() })?;
        }
        take(&RankCalls { calls: Vec::new(), ..whole.clone() })
    }
}

fn of_thread(thread: u16, (begin, end, kind): At) -> MpiCall {
    MpiCall { begin: 1000 * begin, end: 1000 * end, place: 0, thread, kind }
}

/// Two threads compute from 0 to 10 and then send.
#[test]
fn threads_that_compute_at_once_count_once() {
    let zero = RankCalls {
        calls: vec![
            of_thread(0, (0, 0, wait(&[]))),
            of_thread(1, (0, 0, wait(&[]))),
            of_thread(0, (10, 12, send(1, 0))),
            of_thread(1, (10, 14, send(1, 1))),
        ],
        ..rank(2, Vec::new(), 14)
    };
    let one = rank(2, vec![(0, 20, recv(0, 0)), (20, 30, recv(0, 1))], 30);
    let program = read(vec![zero, one]);
    // Sends at 10 and, after the gap, at 14, with the first thread's last 2 between them; messages are there at 18 and 22.
    assert_eq!(finishes(&program.schedule), [16, 24]);
    assert_eq!(program.ranks[0].computing_ns, 12_000);
}

/// The computing of random threads is as long as there were moments in which one of them computed.
#[test]
fn computing_is_the_time_in_which_any_thread_computes() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (threads, last) = (rng.u16(1..5), rng.i64(20..400));
        let mut calls = Vec::new();
        let mut computes = vec![false; last as usize + 1];
        let mut mark = |from: i64, to: i64| computes[from as usize..to as usize].fill(true);
        for thread in 0..threads {
            let mut now = if thread == 0 { 0 } else { rng.i64(0..last) };
            let mut is_first = thread > 0;
            while now < last && rng.u8(..20) > 0 {
                let begin = (now + rng.i64(0..30)).min(last);
                let end = (begin + rng.i64(0..30)).min(last);
                if !std::mem::take(&mut is_first) {
                    mark(now, begin);
                }
                calls.push(MpiCall { begin, end, place: 0, thread, kind: wait(&[]) });
                now = end;
            }
            if thread == 0 {
                mark(now, last);
            }
        }
        // A recorder writes a call when it ends.
        calls.sort_by_key(|call| call.end);
        let expected = computes.iter().filter(|computes| **computes).count() as i64;
        let ranks = vec![RankCalls { calls, end: last, ..rank(1, Vec::new(), 0) }];
        let program = schedule::read(&mut Pieces(ranks), ScheduleOptions::default()).unwrap();
        let calcs = program.schedule.operations(0).map(|placed| match placed.operation {
            Operation::Calc(time) => time.as_ps() / 1000,
            other => panic!("{other:?}"),
        });
        assert_eq!(calcs.sum::<i64>(), expected, "seed {seed}");
        assert_eq!(program.ranks[0].computing_ns, expected, "seed {seed}");
    }
}
