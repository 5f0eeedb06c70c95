//! Figures 9 and 10: the optimal schedules of a scatter on six processors.

use std::num::NonZeroUsize;

use loggp_draw::digits::exact;
use loggp_programs::scatter::{DETOUR, Detour, SCATTER};

use super::machine_in_cycles;
use super::schedules::{both_clocks, route_to};
use crate::prelude::*;

pub(super) const FIGURE_9: Exhibit = Exhibit {
    id: "loggp-fig9",
    place: "figure 9",
    title: "the optimal schedule that splits no set of items",
    printed: 1,
    notes: "The full LogGP with L = 4, o = 1, g = 4, G = 1 and P = 6; every processor gets k = 10 items.",
    formulas: &["t(n) = min over s of (sk-1)G + max(L + 2o + t(s), g + t(n-s)) (section 4.7)"],
    unit: ("cycles", US),
    series: |_| both_clocks("optimal", six_processors("optimal")),
    show: show_unsplit,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_10: Exhibit = Exhibit {
    id: "loggp-fig10",
    place: "figure 10",
    title: "the optimal schedule with the message for P3 split",
    printed: 1,
    notes: "The first picture is the paper's schedule (--detour 2:5:3). It needs a machine without a capacity (--params C=none): LogGP states none. \
            Other machines here keep LogP's capacity, ceil(L/g), which is 1. The second picture shows what a search finds then.",
    unit: ("cycles", US),
    series: |_| {
        let split = six_processors("split");
        let params = Params { C: NonZeroUsize::new(Params::NO_LIMIT), ..split.params };
        let detour = Some(Detour { items: 2, carrier: 5, to: 3 });
        let paper = Case { params, ..split.clone() }.with(&DETOUR, detour);
        let all = [(PAPERS, paper), ("split", split), ("optimal", six_processors("optimal"))];
        all.into_iter().flat_map(|(name, case)| both_clocks(name, case)).collect()
    },
    show: show_split,
    ..Exhibit::USUAL
};

/// Name of figure 10's own schedule.
const PAPERS: &str = "split as in figure 10";

/// Returns the case of figures 9 and 10.
fn six_processors(algorithm: &'static str) -> Case {
    Case { size: 10, ..Case::new(&SCATTER, algorithm, machine_in_cycles(6, 4, 1, 4)) }
}

/// Caption of the timelines of figures 9 and 10.
const CAPTION: &str = "Processor 0 has 10 items for each. A message's arrow goes from when its first item enters the network to when \
                       its last one is there.";

fn show_unsplit(sheet: &mut Sheet) -> Result<(), StudyError> {
    let end = sheet.model_time("optimal");
    sheet.add_text("the end of the schedule [cycles]", "figure 9", "63", end.map(exact));
    sheet.add_own_check(
        "section 4.7: its recurrence gives this end too",
        [end.map(|end| end == sheet.formula_time("optimal"))],
    );
    let result = sheet.last_result("optimal").clone();
    let last = route_to(result.trace(), 3)[0];
    let received = in_us(last.arrival + result.trace().params.o);
    let is_last = end.map(|end| (last.id.from, last.words, last.to) == (2, 10, 3) && received == end);
    let quote = "The critical path in this case involves processor P2 sending 10 items to processor P3.";
    let rule = "P2's message of 10 items to P3 is received at the end";
    sheet.add_judged_claim("the message that is received last", "4.7", quote, rule, is_last);
    sheet.add_timeline("", CAPTION, "Figure 9: L = 4, o = 1, g = 4, G = 1, P = 6, k = 10", &result);
    Ok(())
}

fn show_split(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (whole, end) = (sheet.model_time("optimal"), sheet.model_time(PAPERS));
    sheet.add_text("the end of the schedule [cycles]", "figure 10", "61", end.map(exact));
    let quote = "two cycles less than the algorithm without splitting";
    let what = "how much sooner the schedule ends than figure 9's [cycles]";
    sheet.add_claim(what, "4.7", quote, exactly(2.0), [whole - end]);
    let found = sheet.model_time("split").map(|time| time == end.value());
    sheet.add_own_check(
        "section 4.7: with a capacity of 1 a search finds a detour that ends as soon",
        [found],
    );
    let [papers, split] = [PAPERS, "split"].map(|name| sheet.last_result(name).clone());
    sheet.add_timeline("", CAPTION, "Figure 10: the message for P3 is split", &papers);
    let caption = "With a capacity of 1, P5's message to P3 would make P2's wait for a cycle. The search sends 4 items by way of P4 instead, \
                   which has its items sooner.";
    sheet.add_timeline("found", caption, "Capacity 1: what a search finds", &split);
    Ok(())
}
