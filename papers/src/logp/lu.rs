//! Section 4.2: the cost of matrix layouts in the LU decomposition.

use loggp::ParamsBuilder;
use loggp_programs::lu::LU;

use super::about;
use crate::prelude::*;
use loggp_study::pictures::curves::trend_lines;

pub(super) const LAYOUTS: Exhibit = Exhibit {
    id: "logp-lu",
    place: "section 4.2",
    title: "LU decomposition: what the layout of the matrix costs",
    notes: "The section has no machine and no measured number: ours is a CM-5 of 16 processors with a number in a word.",
    formulas: &[
        "replicated: the sum over k of 2(n-k)g + L and 2(n-k)^2/P (section 4.2)",
        "columns: (n-k)g + L; grid: 2(n-k)/sqrt(P) g + L; with all terms kept, a recurrence over panels",
    ],
    series,
    show,
    ..Exhibit::USUAL
};

/// Layouts, in the paper's order.
const LAYOUT: [&str; 5] = ["replicated", "column-cyclic", "column-blocked", "grid-blocked", "grid-cyclic"];
/// Number of processors.
const P: usize = 16;
/// A small and a large matrix, at the usual sizes and at larger ones.
const SIZES: [[usize; 2]; 2] = [[32, 256], [128, 512]];
/// Size of the matrix, and so steps, for which active processors are counted.
const STEPS: usize = 128;

/// Returns the CM-5 with a number in a word. The paper names no machine here.
fn machine() -> Params {
    ParamsBuilder::from(cm5(P)).word(8).build().expect("it is a paper's machine")
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let [small, large] = lab.pick(SIZES[0], SIZES[1]);
    let case = |name: &str, n| Case { size: n, ..Case::new(&LU, name, machine()) };
    let series = |name: &'static str| {
        let steps = name.starts_with("grid").then_some(STEPS);
        let mut sizes: Vec<usize> = [small, large].into_iter().chain(steps).collect();
        sizes.sort_unstable();
        sizes.dedup();
        CaseSeries::from_values(name, "n", sizes, |n| case(name, n)).measured_if(move |n| n == small as f64)
    };
    LAYOUT.into_iter().map(series).collect()
}

/// Returns the model's time of a phase of the bad layout at the largest size, in us.
fn phase(sheet: &Sheet, name: &str) -> Ran<f64> {
    sheet.last_result("replicated").phase_time(name, US)
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let words = |name: &str| sheet.last_result(name).metric("received mean");
    let ratios = [words("replicated") / words("column-cyclic"), words("replicated") / words("grid-cyclic")];
    let quote = "The communication can be reduced by a factor of 2 by choosing a column layout";
    let what = "words that a processor receives, bad layout over columns";
    sheet.add_claim(what, "4.2", quote, about(2.0), [ratios[0]]);
    let quote = "a gain of \u{221a}P in the communication ratio";
    let what = "words that a processor receives, bad layout over grid, P = 16";
    sheet.add_claim(what, "4.2", quote, about(4.0), [ratios[1]]);
    let times = [0, 1, 2, 3].map(|n| sheet.model_time(LAYOUT[n]) / sheet.model_time("grid-cyclic"));
    let quote = "the fastest Linpack benchmark programs actually employ a scattered grid layout, a scheme whose benefits are obvious from \
                 our model";
    let what = "times of bad layout, scattered columns, blocked columns and blocked grid over that of the scattered grid";
    sheet.add_claim(what, "4.2", quote, above(1.0), times);
    let n = sheet.lab.pick(SIZES[0], SIZES[1])[1];
    let steps = || (1..n).map(|k| (n - k) as f64);
    let communication = steps().map(|left| 2.0 * left * 4.0 + 6.0).sum::<f64>();
    let computation = steps().map(|left| 2.0 * left * left / P as f64 * 0.45).sum::<f64>();
    let quote =
        "step k would require 2(n - k)g + L time for communication and 2(n - k)^2/P time for computation";
    let what = "bad layout, all steps: the times of communication and of computation over those";
    let ours = [phase(sheet, "broadcast") / communication, phase(sheet, "update") / computation];
    sheet.add_claim(what, "4.2", quote, about(1.0), ours);
    show_balance(sheet);
    Ok(())
}

/// Adds the rows and the picture of who is active.
fn show_balance(sheet: &mut Sheet) {
    let active = |name: &str| {
        let result = sheet.series(name).at(STEPS as f64);
        let trend = result.answers().outcome.trend.as_ref().expect("a grid has a trend");
        result.ran(|_| trend.points.iter().map(|(_, active)| *active).collect::<Vec<f64>>())
    };
    let (blocked, scattered) = (active("grid-blocked"), active("grid-cyclic"));
    let quote = "by the time the algorithm completes n/\u{221a}P elimination steps, 2\u{221a}P processors would be idle";
    let idle = blocked.clone().map(|active| P as f64 - active[STEPS / 4 - 1]);
    sheet
        .add_claim("blocked grid, P = 16: processors that are idle after n/4 steps", "4.2", quote, exactly(8.0), [idle])
        .expect_difference(
            DifferenceCause::Reading,
            "2 sqrt(P) is a leading term: the processor in the finished row and in the finished column is one",
            "a row and a column of the grid are idle then, and each has 4 processors. One processor is in both, so \
             that it is 2 sqrt(P) - 1. The section says that it is a qualitative assessment",
        );
    // The trend counts the processors with something to update in step k; in the last step there is nothing
    // left.
    let alone =
        blocked.map(|active| active[..STEPS - 1].iter().filter(|active| **active == 1.0).count() as f64);
    let quote = "only one processor is active for the last n/\u{221a}P elimination steps";
    let what = "blocked grid, n = 128, P = 16: steps in which one processor is active";
    sheet.add_claim(what, "4.2", quote, exactly(32.0), [alone]);
    let all = scattered.map(|active| active.iter().take_while(|active| **active == P as f64).count() as f64);
    let quote =
        "the scattered layout allows all P processors to stay active for all but the last \u{221a}P steps";
    let what = "scattered grid, n = 128, P = 16: steps in which all processors are active";
    sheet.add_claim(what, "4.2", quote, exactly(124.0), [all]);

    let lines = [("grid-cyclic", "scattered grid"), ("grid-blocked", "blocked grid")].map(|(name, label)| {
        let number = LU.algorithms.iter().position(|other| other.name == name).unwrap_or(0);
        let answers = sheet.series(name).at(STEPS as f64).answers();
        trend_lines(label, number, answers.trend.as_ref(), answers.outcome.trend.as_ref(), (0, 1))
            .collect::<Vec<_>>()
    });
    let title = format!("Who has something to update, n = {STEPS}, P = {P}");
    let plot = Plot::new(title, "predicted as lines, observed as marks")
        .x("step", Scale::Linear)
        .y("processors that update", Scale::Linear)
        .lines(lines.concat());
    let caption = "How balanced the layouts are: a processor counts in a step if it has something to update.";
    sheet.add_plot("", caption, plot);
}
