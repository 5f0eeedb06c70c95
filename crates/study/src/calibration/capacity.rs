//! Experiments that measure C, the capacity.

use loggp::{Proc, RunError, Tag, Time};

use super::lab::{BlankMessage, CalibrationLab, LabClock, MESSAGE, REPLY, receive};
use super::parameter::{Bound, FoundParameter};
use super::reading::{Reading, is_near, share};

/// Readings on which the measurements of the gap and the capacity are based.
pub(super) struct BasicReadings {
    /// max(o, g): the time from one short message of a burst to the next.
    pub interval: Reading,
    pub o: Reading,
    pub L: Reading,
    /// Gap per word.
    pub G: Reading,
    /// 2L + 4o.
    pub round_trip: Reading,
}

/// Messages of more words would overflow a count on some machines.
const LONGEST: i64 = 1 << 31;
/// Most messages that are put in transit at once.
const MOST_IN_TRANSIT: usize = 1 << 10;
/// Tells the helper to close its port.
const BEGIN: Tag<BlankMessage> = Tag::named(2, "begin");

/// Measures C: the number of messages in transit to a processor when the next one stalls.
///
/// A sender alone never stalls, for C = ceil(L/g) is just what it has in transit at one message every g.
/// Messages must be kept in transit longer than L, or there must be more messages.
///
/// - If G > 0, processor 1 closes its own port by sending itself one message of very many words. Messages of
///   two words that processor 0 sends it meanwhile stay in transit until the port is open again. The long
///   message takes a slot too, so the send that stalls after n others shows that C = n + 1. Two processors
///   are enough for any C, and the stall can be made as long as needed.
/// - If G = 0, no port is ever occupied. Then all P processors send to processor 0, also itself, every max(o,
///   g), and those that enter before the first arrives are C, or all that were sent.
pub(super) fn measure_capacity(
    lab: &mut CalibrationLab,
    readings: &BasicReadings,
) -> Result<FoundParameter<usize>, RunError> {
    if ![readings.interval, readings.o, readings.L, readings.G].into_iter().all(Reading::is_reliable) {
        let how =
            "not tried: without the others nobody can tell how long a send takes that does not stall".into();
        return Ok(FoundParameter { value: 1, bound: Bound::AtLeast, how, on_time: false });
    }
    let mut M = 4;
    loop {
        // A burst without a stall takes less than this, so a send that takes longer has stalled.
        let regular =
            readings.L.time + M as i64 * (readings.interval.time + readings.o.time + readings.G.time);
        let closed = 2 * (regular + readings.round_trip.time + lab.rest);
        let Some(words) =
            closed.as_ps().checked_div(readings.G.time.as_ps()).filter(|words| *words < LONGEST)
        else {
            return measure_crowd(lab, readings);
        };
        let (n, on_time) =
            measure_closed_port(lab, M, words as usize + 2, readings.round_trip.time, regular)?;
        if n < M {
            let how = format!("one message closes a port, {n} more are let in, and a send stalls");
            return Ok(FoundParameter { value: n + 1, bound: Bound::Exact, how, on_time });
        }
        if M >= MOST_IN_TRANSIT || !on_time {
            let how = format!("one message closes a port, {M} more are let in, and none stalls");
            return Ok(FoundParameter { value: M + 1, bound: Bound::AtLeast, how, on_time });
        }
        M *= 2;
    }
}

/// Returns how many of M messages enter at once while their receiver's port is closed by a message of `words`
/// words, and whether repetitions that were on time agree on it. A send that takes longer than `regular` has
/// stalled.
fn measure_closed_port(
    lab: &mut CalibrationLab,
    M: usize,
    words: usize,
    round_trip: Time,
    regular: Time,
) -> Result<(usize, bool), RunError> {
    let (plug, message, signal) = (lab.message(words), lab.message(2), lab.message(1));
    let (rest, slack) = (lab.rest, lab.slack());
    let pause = round_trip + rest; // after that the port is closed
    let close = |p: &mut Proc, clock: LabClock| {
        p.recv(BEGIN.from(0));
        p.send(1, MESSAGE, plug);
        let closed = clock.read(p);
        receive(p, M + 1);
        p.send(0, REPLY, signal);
        closed
    };
    let send = |p: &mut Proc, clock: LabClock| {
        p.wait_until(p.now() + rest);
        p.send(1, BEGIN, signal);
        let rested = clock.rest(p, pause);
        let mut times = vec![rested, clock.read(p)];
        for _ in 0..M {
            p.send(1, MESSAGE, message);
            times.push(clock.read(p));
        }
        p.recv(REPLY.from(1));
        times.push(clock.rest(p, rest));
        times
    };
    let experiment = |p: &mut Proc, clock: LabClock, repetitions| match p.id() {
        0 => (0..repetitions).flat_map(|_| send(p, clock)).collect(),
        1 => (0..repetitions).map(|_| close(p, clock)).collect(),
        _ => Vec::new(),
    };
    let judge = |times: &[Vec<Time>]| {
        let judge = |(sends, closed): (&[Time], &Time)| {
            let (rests, sends) = ((sends[0], sends[M + 2]), &sends[1..M + 2]);
            let entered = sends.windows(2).position(|pair| pair[1] - pair[0] > regular).unwrap_or(M);
            let rested = is_near(rests.0, pause, slack) && is_near(rests.1, rest, slack);
            // The port must have been closed when the burst began.
            (rested && *closed <= sends[0], entered)
        };
        times[0].chunks(M + 3).zip(&times[1]).map(judge).collect()
    };
    let (n, found) = lab.median(experiment, judge, |_| true)?;
    Ok((n, found.is_some_and(|found| found.low == found.high)))
}

/// Measures C by the messages of all processors to processor 0 that enter before the first has arrived.
fn measure_crowd(
    lab: &mut CalibrationLab,
    readings: &BasicReadings,
) -> Result<FoundParameter<usize>, RunError> {
    let (interval, L) = (readings.interval.time, readings.L.time);
    // A stall ends L after the first entry; messages that enter clearly before have not stalled.
    let soon = L - (10 * lab.noise).min(share(L, 4));
    let before = share(soon + L, 2);
    let P = lab.machine.params().P;
    let most = (MOST_IN_TRANSIT / P).max(1);
    // This many of each processor would enter in time if nothing stalled.
    let each = match interval.as_ps() {
        0 => most,
        interval => most.min((soon.as_ps() as u64).div_ceil(interval as u64) as usize),
    };
    let (message, rest, slack) = (lab.message(1), lab.rest, lab.slack());
    // All processors begin at time 0, so an experiment is one repetition, however many are asked for.
    let experiment = |p: &mut Proc, clock: LabClock, _| {
        let mut times = vec![clock.rest(p, rest)];
        for _ in 0..each {
            p.send(0, MESSAGE, message);
            times.push(clock.read(p));
        }
        if p.id() == 0 {
            receive(p, P * each);
        }
        times.push(clock.rest(p, rest));
        times
    };
    let judge = |times: &[Vec<Time>]| {
        let rests = times.iter().flat_map(|times| [times[0], times[each + 1]]);
        let entries = times.iter().flat_map(|times| &times[1..=each]);
        let first = entries.clone().min().copied().unwrap_or_default();
        let n = entries.filter(|entry| **entry - first < before).count();
        vec![(rests.into_iter().all(|time| is_near(time, rest, slack)), n)]
    };
    let (n, found) = lab.median(experiment, judge, |_| true)?;
    let on_time = found.is_some_and(|found| found.low == found.high);
    if n < P * each && n > 0 {
        let how = format!("{P} processors sent to one: {n} messages entered before the first arrived");
        return Ok(FoundParameter { value: n, bound: Bound::Exact, how, on_time });
    }
    let how = format!("{P} processors sent {each} each to one, and none stalled; more processors show more");
    Ok(FoundParameter { value: n.max(1), bound: Bound::AtLeast, how, on_time })
}
