//! Tests of the hand-over of cores, of messages between them and of the end of a run. Loom tries every order
//! of the threads' steps, Miri and ThreadSanitizer random ones, and `cargo test` those of the host.

#[cfg(not(loom))]
use std::{sync, thread};

use loggp_model::message::parcel::Parcel;
use loggp_model::message::{Header, RawTag, Receiver, RecvFilter};
use loggp_model::rules::message_wait::Purpose;
use loggp_model::time::US;
#[cfg(loom)]
use loom::{sync, thread};

use super::carrier::ThreadBerth;
use super::*;

fn deliver(clock: &mut dyn Clock, (arrived, parcel): (ArrivedHeader, Parcel)) {
    clock.deliver(arrived, parcel);
}

fn message(from: u32, to: u32, arrival: Time) -> (ArrivedHeader, Parcel) {
    let (tag, parcel) = (RawTag::user(0), Parcel::new(from));
    ((arrival, Header { from, to: Receiver::new(to, false), number: 0, words: 1, tag }), parcel)
}

fn receive(clock: &mut dyn Clock, from: u32) -> ArrivedMessage {
    let want = RecvFilter { from, tag: RawTag::user(0) };
    let look = MessageWait::for_probe(want, Time::ZERO);
    let mut got = None;
    clock.receive(&mut MessageWait { deadline: Time::MAX, purpose: Purpose::Receive, ..look }, &mut got);
    got.unwrap()
}

/// A list on which processors note their acts.
type NotedActs = sync::Arc<sync::Mutex<Vec<(i64, usize)>>>;

/// Waits until the processor may act at a time, in microseconds, and notes the act.
fn act(clock: &mut dyn Clock, acts: &NotedActs, time: i64, id: usize) {
    clock.wait_to_act(time * US);
    acts.lock().unwrap().push((time, id));
}

/// Runs `body` under every order of its threads' steps with at most this number of preemptions, or with that
/// of `LOOM_MAX_PREEMPTIONS`.
#[cfg(loom)]
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(body);
}

/// Runs `body` in some orders.
#[cfg(not(loom))]
fn model(_: usize, body: impl Fn()) {
    (0..if IS_MODEL_CHECKED { 1 } else { 20 }).for_each(|_| body());
}

/// Receives a message and notes the act.
fn take(clock: &mut dyn Clock, acts: &NotedActs, from: u32, time: i64, id: usize) {
    receive(clock, from);
    acts.lock().unwrap().push((time, id));
}

/// Runs a program, and checks its status at the end, the number of acts, and their order.
fn try_all(P: usize, cores: usize, status: u8, done: usize, program: fn(usize, &mut dyn Clock, &NotedActs)) {
    model(if P > 2 { 1 } else { 2 }, move || {
        let parkers: Vec<Parker> = (0..P).map(|_| Parker::new()).collect();
        let watch_guard = WatchGuard::new(cores, crate::clock::watchdog::Patience::default());
        let assignment = CoreAssignment::round_robin(P, cores);
        let wall =
            WallState::new(assignment, HostClock::unpaced(), RunInfo::default(), watch_guard, &parkers);
        let (wall, acts) = (sync::Arc::new(wall), NotedActs::default());
        let threads: Vec<_> = (0..)
            .zip(parkers)
            .map(|(id, parker)| {
                let (wall, acts) = (wall.clone(), acts.clone());
                thread::spawn(move || {
                    let berth = ThreadBerth { parker, unparkers: &wall.unparkers };
                    let mut clock = WallClock::new(&wall, id, &berth);
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        clock.start();
                        program(id, &mut clock, &acts);
                        clock.wait_until(Time::ZERO);
                        clock.end(Time::ZERO, true);
                    }));
                    assert_eq!(outcome.is_err(), wall.status.load(Ordering::SeqCst) == FAILED);
                })
            })
            .collect();
        wall.unparkers[..cores].iter().for_each(Unparker::unpark);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(wall.status.load(Ordering::SeqCst), status);
        let acts = acts.lock().unwrap();
        assert!(acts.is_sorted() && acts.len() == done, "{acts:?}");
    });
}

/// Every processor acts twice, in turn.
fn in_turn(P: usize, cores: usize) {
    try_all(P, cores, FINISHED, 2 * P, |id, clock, acts| {
        for round in 0..2 {
            act(clock, acts, 4 * round + id as i64, id);
        }
    });
}

#[test]
fn core_is_handed_over_and_back() {
    in_turn(2, 1);
}

#[test]
fn core_is_handed_round() {
    in_turn(4, 1);
}

#[test]
fn two_cores_act_in_turn() {
    in_turn(2, 2);
}

#[test]
fn message_wakes_a_processor_of_the_same_core() {
    try_all(2, 1, FINISHED, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 0, 0),
        _ => deliver(clock, message(1, 0, Time::ZERO)),
    });
}

#[test]
fn message_wakes_a_blocked_processor_of_another_core() {
    try_all(2, 2, FINISHED, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 1, 0),
        _ => {
            clock.wait_until(US);
            deliver(clock, message(1, 0, US));
        }
    });
}

#[test]
fn message_wakes_a_parked_processor_of_another_core() {
    // Processors 0 and 2 share a core. Either of them watches it when the message for 0 comes.
    try_all(3, 2, FINISHED, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 0, 0),
        1 => deliver(clock, message(1, 0, Time::ZERO)),
        _ => {}
    });
}

#[test]
fn deadlock_across_cores_is_found_only_without_messages_under_way() {
    try_all(2, 2, FAILED, 1, |id, clock, acts| {
        match id {
            0 => deliver(clock, message(0, 1, Time::ZERO)),
            _ => take(clock, acts, 0, 0, 1),
        }
        receive(clock, 1 - id as u32);
    });
}

#[test]
fn deadlock_beside_a_finished_processor_is_found() {
    // Processors 0 and 2 share a core.
    try_all(3, 2, FAILED, 1, |id, clock, acts| match id {
        0 => drop(receive(clock, 2)),
        1 => deliver(clock, message(1, 2, Time::ZERO)),
        _ => take(clock, acts, 1, 0, 2),
    });
}

#[test]
fn failed_run_wakes_parked_and_watching_processors() {
    // Processors 0 and 2 share a core, and wait for ever.
    try_all(3, 2, FAILED, 0, |id, clock, _| {
        if id == 1 {
            clock.fail(Cause::PollingDeadlock { id });
        }
        receive(clock, 1);
    });
}

#[test]
fn processor_that_looks_is_not_forsaken_while_another_will_send() {
    try_all(2, 2, FAILED, 1, |id, clock, acts| {
        if id == 1 {
            act(clock, acts, 1, 1);
            deliver(clock, message(1, 0, 2 * US));
            receive(clock, 0);
        }
        (2..).find(|time| {
            clock.wait_to_act(*time * US);
            clock.report_vain_looks()
        });
        assert_eq!(acts.lock().unwrap().len(), 1, "processor 1 had something to do");
        clock.fail(Cause::PollingDeadlock { id });
        clock.wait_to_act(Time::MAX);
    });
}

#[test]
fn receiver_acts_before_later_acts_of_others() {
    // Processor 1 acts at 2, when the message from 0 arrives; processor 0 acts again at 3.
    try_all(2, 2, FINISHED, 3, |id, clock, acts| match id {
        0 => {
            act(clock, acts, 1, 0);
            deliver(clock, message(0, 1, 2 * US));
            act(clock, acts, 3, 0);
        }
        _ => {
            receive(clock, 0);
            act(clock, acts, 2, 1);
        }
    });
}
