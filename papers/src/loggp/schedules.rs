//! Figures 7 and 8: the schedules of scatters on a few processors.

use loggp::trace::Message;
use loggp_programs::scatter::SCATTER;

use super::{machine_in_cycles, simplified_machine};
use crate::prelude::*;

pub(super) const FIGURE_7: Exhibit = Exhibit {
    id: "loggp-fig7",
    place: "figure 7",
    title: "the Short-Message algorithm, which is optimal under LogP",
    printed: 1,
    notes: "The figure is a drawing. k = 1 item for each of P = 4 processors: on the full LogGP with L = o = 5, g = 10 and G = 1, and on the simplified one.",
    formulas: &["((P-1)k - 1)g + L (table 2), with L + 2o for L in the full LogGP"],
    unit: ("cycles", US),
    series: |_| view_series("short"),
    show: |sheet| {
        let Params { L, o, .. } = machine_in_cycles(4, 5, 5, 10);
        let way = in_us(L + 2 * o);
        let what = "L', the latency of the simplified LogGP: L + 2o [cycles]";
        sheet.add_number(what, "figure 7", "15", way).by_arithmetic();
        let quote = "working with a restricted version of LogGP without sacrificing any accuracy";
        let what = "the end of the schedule on the full LogGP less that on the simplified one [cycles]";
        let apart = sheet.model_time(FULL) - sheet.model_time(SIMPLE);
        sheet.add_claim(what, "4.1", quote, exactly(0.0), [apart]);
        show_two_views(sheet)
    },
    ..Exhibit::USUAL
};

pub(super) const FIGURE_8: Exhibit = Exhibit {
    id: "loggp-fig8",
    place: "figure 8",
    title: "the Binomial Tree algorithm",
    notes: "With the parameters of figure 7.",
    formulas: &["max(L, g)(log2 P - 1) + L + (P-1)k - log2 P (table 2), with L + 2o for L in the full LogGP"],
    unit: ("cycles", US),
    series: |_| {
        let short = Case { size: 1, ..Case::new(&SCATTER, "short", machine_in_cycles(4, 5, 5, 10)) };
        let large = Case { size: 10, ..Case::new(&SCATTER, "binomial", simplified_machine(64, 30, 10)) };
        let more = [
            CaseSeries::from_case("short", short).traced(),
            CaseSeries::from_case("P = 64, k = 10", large).traced(),
        ];
        view_series("binomial").into_iter().chain(more).collect()
    },
    show: |sheet| {
        show_two_views(sheet)?;
        let times = sheet.last_result(FULL).trace().ran(|trace| route_to(trace, 3).len() as f64);
        let quote = "item 3 is sent twice over the network";
        sheet.add_claim("how often item 3 is sent over the network", "4.4", quote, exactly(2.0), [times]);
        let large = sheet.last_result("P = 64, k = 10").trace();
        let kept = |id: usize| large.ran(|trace| route_to(trace, id)[0].words as f64 - 10.0);
        let off = [32, 16, 8, 4, 2, 1].map(|id| kept(id) - 10.0 * (id - 1) as f64);
        let quote = "processor P_{P/2} needs to buffer k(P/2 - 1) items destined for other processors, P_{P/4} must buffer k(P/4 - 1) \
                     items, and so on";
        let what = "items that P32, P16, P8, P4, P2 and P1 buffer for others, less what the paper says, P = 64, k = 10";
        sheet.add_claim(what, "4.4", quote, exactly(0.0), off);
        let words = |name: &str| {
            let all = |trace: &Trace| trace.messages.iter().map(|message| message.words).sum::<usize>();
            sheet.last_result(name).trace().ran(|trace| all(trace) as f64)
        };
        let quote = "the Binomial Tree algorithm achieves a better runing time at the expense of increased network traffic";
        let ours = [sheet.model_time("short") / sheet.model_time(FULL), words(FULL) / words("short")];
        let what = "the time of figure 7's schedule over this one's; and the words that this one sends over those of figure 7's";
        sheet.add_claim(what, "4.4", quote, above(1.0), ours);
        Ok(())
    },
    ..Exhibit::USUAL
};

const FULL: &str = "full LogGP: L = o = 5, g = 10, G = 1";
const SIMPLE: &str = "simplified LogGP: L' = 15, g' = 10";

/// Returns a case on the full and on the simplified LogGP.
fn view_series(algorithm: &'static str) -> Vec<CaseSeries> {
    let full = machine_in_cycles(4, 5, 5, 10);
    let Params { L, o, g, .. } = full;
    let short = simplified_machine(4, in_us(L + 2 * o) as i64, in_us(g) as i64);
    let make_series =
        |(name, params)| both_clocks(name, Case { size: 1, ..Case::new(&SCATTER, algorithm, params) });
    [(FULL, full), (SIMPLE, short)].into_iter().flat_map(make_series).collect()
}

/// Returns a case on both clocks.
pub(super) fn both_clocks(name: &str, case: Case) -> Vec<CaseSeries> {
    vec![
        CaseSeries::from_case(name, case.clone()).traced(),
        CaseSeries::from_case(format!("{name}, measured"), case).measured(),
    ]
}

/// Returns the messages that bring a processor's items to it from the source, the last first.
pub(super) fn route_to(trace: &Trace, to: usize) -> Vec<&Message> {
    let bringer = |to: usize| trace.messages.iter().find(move |message| message.to == to);
    std::iter::successors(bringer(to), |message| bringer(message.id.from)).collect()
}

fn show_two_views(sheet: &mut Sheet) -> Result<(), StudyError> {
    let right =
        [FULL, SIMPLE].map(|name| sheet.model_time(name).map(|time| time == sheet.formula_time(name)));
    sheet.add_own_check("table 2: both schedules end when its formula says", right);
    for (name, title) in [("full", FULL), ("simplified", SIMPLE)] {
        let result = sheet.last_result(title).clone();
        sheet.add_timeline(name, format!("Through the {title}."), title, &result);
    }
    Ok(())
}
