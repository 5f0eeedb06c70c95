//! The hand-over of cores, messages between them and the end of a run: loom tries every order of the threads' steps, Miri and
//! ThreadSanitizer what they draw, and `cargo test` what the host does.

#[cfg(loom)]
use loom::{sync as tried, thread};
#[cfg(not(loom))]
use std::{sync as tried, thread};

use super::carrier::thread::ThreadBerth;
use super::*;
use crate::message::parcel::Parcel;
use crate::message::{Outside, RawTag, Receiver, Want};
use crate::rules::reception::Purpose;
use crate::time::US;

fn deliver(clock: &mut dyn Clock, (seen, parcel): (Seen, Parcel)) {
    clock.deliver(seen, parcel);
}

fn message(from: u32, to: u32, arrival: Time) -> (Seen, Parcel) {
    let (tag, parcel) = (RawTag::user(0), Parcel::new(from));
    ((arrival, Outside { from, to: Receiver::new(to, false), number: 0, words: 1, tag }), parcel)
}

fn receive(clock: &mut dyn Clock, from: u32) -> Envelope {
    let want = Want { from, tag: RawTag::user(0) };
    let look = Reception::look(want, Time::ZERO);
    let mut got = None;
    clock.receive(&mut Reception { deadline: Time::MAX, purpose: Purpose::Take, ..look }, &mut got);
    got.unwrap()
}

/// Where processors note their acts.
type Acts = tried::Arc<tried::Mutex<Vec<(i64, usize)>>>;

/// Waits until the processor may act at a time, in microseconds, and notes the act.
fn act(clock: &mut dyn Clock, acts: &Acts, time: i64, id: usize) {
    clock.act_at(time * US);
    acts.lock().unwrap().push((time, id));
}

/// Runs `body` under every order of its threads' steps that so many preemptions can make, or as many as `LOOM_MAX_PREEMPTIONS`
/// says.
#[cfg(loom)]
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(body);
}

/// Runs `body` in some orders.
#[cfg(not(loom))]
fn model(_: usize, body: impl Fn()) {
    (0..if TRIED { 1 } else { 20 }).for_each(|_| body());
}

/// Receives a message and notes that.
fn take(clock: &mut dyn Clock, acts: &Acts, from: u32, time: i64, id: usize) {
    receive(clock, from);
    acts.lock().unwrap().push((time, id));
}

/// Runs a program, and checks how it ends, how many acts there were, and their order.
fn try_all(P: usize, cores: usize, status: u8, done: usize, program: fn(usize, &mut dyn Clock, &Acts)) {
    model(if P > 2 { 1 } else { 2 }, move || {
        let parkers: Vec<Parker> = (0..P).map(|_| Parker::new()).collect();
        let watched = Watched::new(cores, Patience::default());
        let spread = Spread::one_by_one(P, cores);
        let wall = Wall::new(spread, HostClock::that_has_come(), Foreknown::default(), watched, &parkers);
        let (wall, acts) = (tried::Arc::new(wall), Acts::default());
        let threads: Vec<_> = (0..)
            .zip(parkers)
            .map(|(id, parker)| {
                let (wall, acts) = (wall.clone(), acts.clone());
                thread::spawn(move || {
                    let berth = ThreadBerth { parker, unparkers: &wall.unparkers };
                    let mut waiter = Waiter::new(&wall, id, &berth);
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        waiter.start();
                        program(id, &mut waiter, &acts);
                        waiter.wait_until(Time::ZERO);
                        waiter.end(Time::ZERO, true);
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
    try_all(P, cores, OVER, 2 * P, |id, clock, acts| {
        for round in 0..2 {
            act(clock, acts, 4 * round + id as i64, id);
        }
    });
}

#[test]
fn a_core_is_handed_over_and_back() {
    in_turn(2, 1);
}

#[test]
fn a_core_is_handed_round() {
    in_turn(4, 1);
}

#[test]
fn two_cores_act_in_turn() {
    in_turn(2, 2);
}

#[test]
fn a_message_wakes_a_processor_of_the_same_core() {
    try_all(2, 1, OVER, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 0, 0),
        _ => deliver(clock, message(1, 0, Time::ZERO)),
    });
}

#[test]
fn a_message_wakes_a_blocked_processor_of_another_core() {
    try_all(2, 2, OVER, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 1, 0),
        _ => {
            clock.wait_until(US);
            deliver(clock, message(1, 0, US));
        }
    });
}

#[test]
fn a_message_wakes_a_parked_processor_of_another_core() {
    // Processors 0 and 2 share a core. Either of them watches it when the message for 0 comes.
    try_all(3, 2, OVER, 1, |id, clock, acts| match id {
        0 => take(clock, acts, 1, 0, 0),
        1 => deliver(clock, message(1, 0, Time::ZERO)),
        _ => {}
    });
}

#[test]
fn a_deadlock_across_cores_is_found_and_a_message_under_way_is_none() {
    try_all(2, 2, FAILED, 1, |id, clock, acts| {
        match id {
            0 => deliver(clock, message(0, 1, Time::ZERO)),
            _ => take(clock, acts, 0, 0, 1),
        }
        receive(clock, 1 - id as u32);
    });
}

#[test]
fn a_deadlock_beside_a_finished_processor_is_found() {
    // Processors 0 and 2 share a core.
    try_all(3, 2, FAILED, 1, |id, clock, acts| match id {
        0 => drop(receive(clock, 2)),
        1 => deliver(clock, message(1, 2, Time::ZERO)),
        _ => take(clock, acts, 1, 0, 2),
    });
}

#[test]
fn a_failed_run_wakes_who_is_parked_and_who_watches() {
    // Processors 0 and 2 share a core, and wait for ever.
    try_all(3, 2, FAILED, 0, |id, clock, _| {
        if id == 1 {
            clock.fail(Cause::Forsaken { id });
        }
        receive(clock, 1);
    });
}

#[test]
fn who_looks_is_not_forsaken_by_who_will_send() {
    try_all(2, 2, FAILED, 1, |id, clock, acts| {
        if id == 1 {
            act(clock, acts, 1, 1);
            deliver(clock, message(1, 0, 2 * US));
            receive(clock, 0);
        }
        (2..).find(|time| {
            clock.act_at(*time * US);
            clock.looks_in_vain()
        });
        assert_eq!(acts.lock().unwrap().len(), 1, "processor 1 had something to do");
        clock.fail(Cause::Forsaken { id });
        clock.act_at(Time::MAX);
    });
}

#[test]
fn who_is_sent_to_acts_before_later_ones() {
    // Processor 1 acts at 2, when the message from 0 arrives; processor 0 acts again at 3.
    try_all(2, 2, OVER, 3, |id, clock, acts| match id {
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
