//! Section 4.1.2: how the naive schedule stalls.

use loggp::Capacity;
use loggp_programs::remap::REMAP;

use super::P;
use crate::logp::enter_times;
use crate::prelude::*;

pub(crate) const SCHEDULE: Exhibit = Exhibit {
    id: "logp-sec4.1.2",
    place: "section 4.1.2",
    title: "how the naive schedule stalls",
    notes: "All send first to processor 0, then to processor 1, and so on: 128 processors of a CM-5, 16,384 points. The paper does not say \
            until when a message is in transit: until it arrives (our machine's default), or until its receiver begins to receive it.",
    formulas: &["none: the section only tells what happens"],
    series: |_| {
        let series = |name: &str, case| CaseSeries::from_case(name, case).traced();
        vec![
            series(ARRIVED, naive_case(Capacity::Arrived)),
            series(RECEIVED, naive_case(Capacity::Received)),
            series("staggered", remap_case("short-staggered")),
        ]
    },
    show: show_stalls,
    ..Exhibit::USUAL
};

/// Until when a message is in transit.
const ARRIVED: &str = "in transit until it arrives";
const RECEIVED: &str = "in transit until it is received";

/// Returns the remap of 16,384 points: one from each processor to each other.
fn remap_case(algorithm: &str) -> Case {
    Case { size: 16, ..Case::new(&REMAP, algorithm, cm5(P)) }
}

/// Returns the remap of the naive schedule.
fn naive_case(capacity: Capacity) -> Case {
    Case { capacity, ..remap_case("short-naive") }
}

fn show_stalls(sheet: &mut Sheet) -> Result<(), StudyError> {
    show_naive(sheet, RECEIVED);
    show_naive(sheet, ARRIVED)
        .expect_difference(
            DifferenceCause::Reading,
            "the paper does not say until when a message is in transit; until it is received, it is one every g",
            "the capacity is L/g rounded up, 2 messages. If they are in transit until they arrive, that allows 2 messages in each L = 6 us, \
             which is one every 3 us, and they wait at their receiver. If they are in transit until the receiver begins to \
             receive them, it is one every g = 4 us, as the row above shows",
        );
    let result = sheet.last_result("staggered");
    let stalls = result.ran(|result| result.answers().outcome.run.stalls() as f64);
    let quote = "staggering the starting rows such that no contention occurs";
    sheet.add_claim("sends that stall in the staggered schedule", "4.1.2", quote, exactly(0.0), [stalls]);
    Ok(())
}

/// Adds the rows of a naive remap, and returns the one on the time from message to message.
fn show_naive<'a>(sheet: &'a mut Sheet, name: &str) -> &'a mut ExhibitRow {
    let result = sheet.last_result(name).clone();
    let trace = result.trace();
    // Each processor's first message goes to 0, except that of 0 itself.
    let stalls = |id: usize| {
        let own = trace.activities.iter().filter(|one| one.id == id);
        let sends = own.clone().filter(|one| matches!(one.kind, ActivityKind::Send(_)));
        let second = sends.map(|one| one.start).nth(1);
        let mut stalls = own.filter(|one| matches!(one.kind, ActivityKind::Stall));
        stalls.any(|stall| second.is_some_and(|second| stall.start < second))
    };
    let stalled = trace.ran(|_| (1..P).filter(|id| stalls(*id)).count() as f64);
    let quote = "All but L/g processors will stall on the first send";
    let what = format!(
        "{name}: how many of the 127 processors that send to processor 0 stall, where the capacity is 2"
    );
    sheet.add_claim(what, "4.1.2", quote, exactly(125.0), [stalled]);
    let enters = enter_times(trace, 0);
    // Messages enter two at a time, so pairs of gaps are averaged.
    let gaps: Vec<f64> =
        enters.windows(3).skip(1).map(|three| ((three[2] - three[0]) / 2.0).value()).collect();
    let quote = "then one will send to processor 0 every g cycles";
    let what = format!("{name}: the mean time from one message to processor 0 to the next [us]");
    let rule = between(3.96, 4.04).because("g is 4 us, and at the end fewer processors are left to send");
    sheet.add_claim(what, "4.1.2", quote, rule, [trace.ran(|_| mean(&gaps))])
}
