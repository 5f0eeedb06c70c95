//! Figure 7: how fast the FFT's two phases of computing are.

use loggp::Work;

use super::{P, POINTS, case};
use crate::prelude::*;

pub(crate) const FIGURE_7: Exhibit = Exhibit {
    id: "logp-fig7",
    place: "figure 7",
    title: "how fast the FFT's two phases of computing are",
    notes: "The figure has curves and no numbers. The rate depends on the size in the paper, because of the node's cache of 64 KB, which LogP \
            leaves out.",
    formulas: &["10 operations per butterfly / 2.2 Mflops (section 4.1.4)"],
    series: |lab| {
        let case = |n| Case { work: Work::Measured, ..case("short-staggered", cm5(2), n) };
        let sizes = lab.pick(&[12, 15, 18][..], &[12, 14, 16, 18]).iter().map(|log| 1 << log);
        // This measures the computer's own rate.
        let host =
            lab.is_wall().then(|| CaseSeries::from_values("this computer", POINTS, sizes, case).measured());
        let model = CaseSeries::from_case("CM-5", self::case("short-staggered", cm5(P), 1 << 16));
        host.into_iter().chain([model]).collect()
    },
    show: show_figure_7,
    ..Exhibit::USUAL
};

/// Metrics of the rates of the two phases of computing.
const RATES: [&str; 2] = ["compute I per processor", "compute III per processor"];

fn show_figure_7(sheet: &mut Sheet) -> Result<(), StudyError> {
    let cycle = 10.0 / 2.2;
    let what = "the cycle: 10 operations at 2.2 Mflops [us]";
    sheet.add_number(what, "4.1.4", "4.5", cycle).by_arithmetic();
    sheet.add_number("the same cycle in ticks of 33 MHz", "4.1.4", "150", cycle * 33.0).by_arithmetic();
    let rates =
        RATES.map(|name| sheet.last_result("CM-5").metric(name).map(|rate| (rate - 2.2).abs() < 0.05));
    let what = "phases I and III compute at 2.2 Mflops, which is what an operation costs here";
    sheet.add_read_back(what, "4.1.4", rates).of_numbers(1);
    let quote = "The drop in performance for the local FFT from 2.8 Mflops to 2.2 Mflops occurs when the size of the local FFTs exceeds \
                 cache capacity.";
    let why = "LogP leaves caches out, and so do we";
    sheet.add_out_of_reach("the rates below and above the cache's size", "4.1.3", quote, why).of_numbers(2);
    let quote = "a CM-5's Sparc node achieves roughly 3.2 MFLOPS on the Linpack benchmark";
    let why = "it is the rate of the paper's machine";
    sheet.add_out_of_reach("the rate in Linpack", "4.1.3", quote, why).of_numbers(1);
    if sheet.lab.is_wall() {
        let rate_line = |number: usize, label| {
            let rates = sheet.series("this computer").map_points(|result| result.metric(RATES[number]));
            marked_line(label, number, rates)
        };
        let plot = Plot::new(
            "Rates of this computer's processor in the FFT's phases",
            "measured, on two processors: the computer's caches, and who else uses it",
        )
        .x("FFT size [points]", Scale::Points)
        .y("Mflops per processor", Scale::Linear)
        .lines([rate_line(0, "phase I: one large FFT"), rate_line(1, "phase III: many small FFTs")]);
        let caption = "The paper's two curves, measured on this computer instead of a CM-5's node. No number of the paper is \
                       compared with them.";
        sheet.add_plot("host", caption, plot);
    }
    Ok(())
}
