//! Section 4.1.1: what the layouts of the FFT communicate.

use super::{P, POINTS, computing_time, gap_limited_case, remap_time};
use crate::prelude::*;

pub(crate) const HYBRID: Exhibit = Exhibit {
    id: "logp-sec4.1.1",
    place: "section 4.1.1",
    title: "what the layouts of the FFT communicate",
    notes: "The section's times assume that g limits the remap. On the CM-5 it does not: loading a point and two overheads take 5 us, and g is 4 \
            us. So this is the CM-5 with o = 1 us, on which a point costs nothing to load.",
    formulas: &["g(n/P - n/P^2) + L by the hybrid layout, (g n/P + L) log P by one layout (section 4.1.1)"],
    series: |_| {
        let series =
            |name: &str, algorithm, n| CaseSeries::from_case(name, gap_limited_case(algorithm, P, n));
        let few = gap_limited_case("short-staggered", 16, 1 << 12);
        let hybrid = |n| gap_limited_case("short-staggered", P, n);
        vec![
            CaseSeries::from_case("P = 16", few).traced(),
            CaseSeries::from_values("hybrid", POINTS, SIZES, hybrid),
            series("cyclic", "cyclic", SIZES[0]),
            series("blocked", "blocked", SIZES[0]),
        ]
    },
    show: show_hybrid,
    ..Exhibit::USUAL
};

/// Sizes of figure 6.
const SIZES: [usize; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];

fn show_hybrid(sheet: &mut Sheet) -> Result<(), StudyError> {
    let result = sheet.last_result("P = 16").clone();
    let pairs = (0..16).flat_map(|from| (0..16).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let trace = result.trace();
    let count = |pair| trace.messages.iter().filter(|one| (one.id.from, one.to) == pair).count() as f64;
    let sent = pairs.map(|pair| trace.ran(|_| count(pair)));
    let quote = "each processor sends n/P^2 messages to every other";
    let what = "messages from each processor to each other, n = 4,096, P = 16: n/P^2 is 16";
    sheet.add_claim(what, "4.1.1", quote, exactly(16.0), sent);
    let first = |sheet: &Sheet, name: &str| remap_time(sheet.series(name).at(SIZES[0] as f64));
    let hybrid = first(sheet, "hybrid");
    let near = || between(0.99, 1.0).because("the first message waits for no gap");
    let quote = "requiring only g(n/P - n/P^2) + L time";
    let what = "the remap's time over that, n = 16,384, P = 128";
    sheet.add_claim(what, "4.1.1", quote, near(), [hybrid / (4.0 * (128.0 - 1.0) + 6.0)]);
    let one_layout = ["cyclic", "blocked"].map(|name| remap_time(sheet.last_result(name)));
    let quote = "Under either layout, each processor spends n/P log n time computing and (g n/P + L) log P time communicating, assuming g \u{2265} 2o.";
    let ours = one_layout.map(|time| time / (7.0 * (4.0 * 128.0 + 6.0)));
    let what = "the time of communication over that, cyclic and blocked layout, n = 16,384, P = 128";
    sheet.add_claim(what, "4.1.1", quote, near(), ours);
    let quote = "the communication time is lower by a factor of log P";
    let what = "the time of communication with one layout over that with the hybrid one, cyclic and blocked, log P = 7";
    let rule = between(7.0, 7.1).because("L comes log P times with one layout, and once with the hybrid one");
    sheet.add_claim(what, "4.1.1", quote, rule, one_layout.map(|time| time / hybrid));
    let quote = "The total time is within a factor of (1 + g/log n) of optimal";
    // g/log n of the computation, which is n/P log n, are g n/P.
    let added = sheet.series("hybrid").map_points(|result| {
        (result.ran(|one| in_us(one.model())) - computing_time(result)) / (4.0 * result.x / P as f64)
    });
    let last = sheet.series("hybrid").points.iter();
    let totals = last.map(|one| (one.ran(|one| in_us(one.model())) / computing_time(one)).value());
    let totals = join_words(totals.map(|total| format!("{total:.4}")));
    let what = format!(
        "what the remap adds to the computation over g/log n of it, 2^14, 2^16, 2^18 and 2^20 points (the total is {totals} times \
         the computation)"
    );
    let added = added.into_iter().map(|(x, added)| sheet.series("hybrid").at(x).ran(|_| added));
    let added: Vec<_> = added.collect();
    let rule = between(0.99, 1.0).because("the factor is a bound that long remaps come near to");
    sheet.add_claim(what, "4.1.1", quote, rule, added);
    Ok(())
}
