//! Section 4.1.5: a remap that is interleaved with computing.

use loggp_programs::fft::POINT;

use super::{case, idle_times};
use crate::prelude::*;

pub(crate) const OVERLAP: Exhibit = Exhibit {
    id: "logp-sec4.1.5",
    place: "section 4.1.5",
    title: "a remap that is interleaved with computing",
    notes: "The section is about future machines, whose o is small against g. So this is a CM-5 of 16 processors with o = 0.5 us, on which a \
            point costs nothing to load.",
    formulas: &["none"],
    series: |_| {
        let make_series = |name: &str, algorithm: &str, g: i64| {
            let params = Params { o: US / 2, g: g * US, ..cm5(16) };
            let case = case(algorithm, params, 1 << 12).with(&POINT, Time::ZERO);
            CaseSeries::from_case(name, case).traced()
        };
        vec![
            make_series("short-staggered", "short-staggered", 4),
            make_series("overlapped", "overlapped", 4),
            make_series("overlapped, g = 100", "overlapped", 100),
        ]
    },
    show: show_overlap,
    ..Exhibit::USUAL
};

fn show_overlap(sheet: &mut Sheet) -> Result<(), StudyError> {
    let result = sheet.last_result("short-staggered").clone();
    let trace = result.trace();
    let own = || trace.activities.iter().filter(|one| one.id == 0);
    let sends = own().filter(|one| matches!(one.kind, ActivityKind::Send(_)));
    let mut sends: Vec<(Time, Time)> = sends.map(|one| (one.start, one.end)).collect();
    sends.sort();
    // Between two sends a processor may also receive.
    let busy = |from: Time, to: Time| {
        let receives = own().filter(|one| matches!(one.kind, ActivityKind::Receive(_)));
        let between = receives.filter(|one| one.start >= from && one.end <= to);
        between.map(|one| one.end - one.start).sum::<Time>()
    };
    let idle = |(_, from), (to, _)| in_us(to - from - busy(from, to));
    let idle: Vec<f64> = sends.windows(2).skip(4).map(|two| idle(two[0], two[1])).collect();
    let quote = "If o is small compared to g, each processor idles for g - 2o cycles between successive transmissions during the remap phase.";
    let what = "mean idling of processor 0 between two sends, where g - 2o is 3 us [us]";
    sheet.add_claim(what, "4.1.5", quote, exactly(3.0), [trace.ran(|_| mean(&idle))]);
    let [left, large] = ["overlapped", "overlapped, g = 100"].map(|name| idle_times(sheet.last_result(name)));
    let quote = "Unless g is extremely large, this eliminates idling of processors during remap.";
    let what = "idling of each processor where the remap is interleaved and g is 4 us [us]";
    let rule =
        || at_most(7.0).because("the last message is under way for L + 2o, 7 us, and nothing can hide that");
    sheet.add_claim(what, "4.1.5", quote, rule(), left);
    let what = "idling of each processor where the remap is interleaved and g is 100 us [us]";
    let rule = above(7.0).because("more than the way of the last message");
    sheet.add_claim(what, "4.1.5", "Unless g is extremely large", rule, large);
    Ok(())
}
