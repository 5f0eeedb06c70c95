//! Figures 11 and 12: the scatters on the Meiko CS-2 with its Elan library.

use loggp_programs::scatter::{ALPHA, SCATTER};

use crate::prelude::*;

pub(super) const FIGURE_11: Exhibit = Exhibit {
    id: "loggp-fig11",
    place: "figure 11",
    title: "three scatters on the Meiko CS-2",
    notes: "Simple Long-Message, Binomial Tree and optimal algorithm on 64 processors with the Elan library, over the number of items.",
    formulas: &[
        "Simple Long-Message: (P-2)((k-1)G + g) + (k-1)G + L + 2o (table 2)",
        "Binomial Tree: max(L + 2o, g)(log2 P - 1) + L + 2o + ((P-1)k - log2 P)G (table 2)",
        "optimal: t(n) = min over s of (sk-1)G + max(L + 2o + t(s), g + t(n-s)) (section 4.7)",
    ],
    series: |lab| {
        let sizes = lab.pick(&[1, 16, 64, 128, 256][..], &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
        let make_series = |name, algorithm, params| {
            CaseSeries::from_values(name, ITEMS, sizes.iter().copied(), |size| case(algorithm, params, size))
        };
        let elan = preset_machine("cs2-elan", P);
        // Latency plus a single overhead.
        let without = Params { L: elan.L + elan.o, o: Time::ZERO, ..elan };
        let others = [("optimal, L + o", "optimal"), ("binomial, L + o", "binomial")];
        let others = others.map(|(name, algorithm)| make_series(name, algorithm, without));
        let by_processors = [("optimal, by P", "optimal"), ("binomial, by P", "binomial")];
        let by_processors = by_processors.map(|(name, algorithm)| {
            let machine = |processors| preset_machine("cs2-elan", processors);
            CaseSeries::from_values(name, "P", PROCESSORS, |all| case(algorithm, machine(all), 128))
        });
        let main = ALGORITHMS.map(|name| make_series(name, name, elan).measured());
        main.into_iter().chain(others).chain(by_processors).collect()
    },
    show: show_three,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_12: Exhibit = Exhibit {
    id: "loggp-fig12",
    place: "figure 12",
    title: "a scatter with a fixed splitting ratio",
    notes: "k = 128 items (512 bytes) on 64 processors with the Elan library; every owner of n sets sends alpha n of them.",
    formulas: &[
        "t(n) = (sk-1)G + max(L + 2o + t(s), g + t(n-s)) with s = max(floor(n alpha), 1) (sections 4.6 and 4.7)",
    ],
    series: |lab| {
        let every = lab.pick(10, 5);
        let all = (5..=95).map(|hundredths| f64::from(hundredths) / 100.0);
        let fixed =
            all.map(|alpha| (alpha, case("fixed", preset_machine("cs2-elan", P), 128).with(&ALPHA, alpha)));
        let is_tenth = move |alpha: f64| ((100.0 * alpha).round() as usize).is_multiple_of(every);
        let fixed = CaseSeries::from_cases("fixed", "alpha", fixed).measured_if(is_tenth);
        vec![fixed, CaseSeries::from_case("binomial", case("binomial", preset_machine("cs2-elan", P), 128))]
    },
    show: show_ratios,
    ..Exhibit::USUAL
};

const P: usize = 64;
const ITEMS: &str = "items per processor";
/// Algorithms, in the paper's order.
const ALGORITHMS: [&str; 3] = ["long", "binomial", "optimal"];
/// Processors of the paper's machine, and of larger ones.
const PROCESSORS: [usize; 4] = [64, 128, 256, 512];
/// Reason why the paper's measurements are out of reach.
const HARDWARE: &str =
    "the measured times are those of the paper's machine, and no number of the curves stands in the text";

fn case(algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(&SCATTER, algorithm, params) }
}

fn show_three(sheet: &mut Sheet) -> Result<(), StudyError> {
    // Only the sizes that stand in both forms of the exhibit.
    let over = |one: &str, other: &str| {
        let ratios = sheet.series(one).ratios_to(sheet.series(other));
        let points = sheet.series(one).points.iter().zip(ratios);
        let shown = points.filter(|(result, _)| [1.0, 16.0, 64.0, 128.0, 256.0].contains(&result.x));
        shown.map(|(_, ratio)| ratio - 1.0).collect::<Vec<_>>()
    };
    let (elan, without) = (over("optimal", "binomial"), over("optimal, L + o", "binomial, L + o"));
    let quote = "the optimal algorithm is exactly the Binomial Tree algorithm for the set of parameters for a 64 processor Meiko CS-2";
    let what =
        "the optimal algorithm's time over the Binomial Tree's, less 1, for 1, 16, 64, 128 and 256 items";
    sheet
        .add_claim(what, "4.10", quote, exactly(0.0), elan)
        .expect_difference(
            DifferenceCause::Misprint,
            "Table 1 has L + 2o = 17.6 us and g = 13.8 us, so halves are not optimal; with L + o they are.",
            "Halves are optimal where L + 2o = g (section 4.6). Table 1 has L + 2o = 17.6 us and g = 13.8 us. One o was probably left \
             out, since L + o is 13.8 us too, and then the two algorithms are the same.",
        );
    let what = "section 4.10: with L + o for L + 2o both algorithms take the same time, for these items";
    sheet.add_own_check(what, without.iter().map(|over| over.map(|over| over == 0.0)));
    add_larger_machines(sheet);
    let same = ALGORITHMS.map(|name| sheet.series(name).formula_checks()).concat();
    sheet.add_own_check("figure 11: runs that take what the formula says", same);
    let quote = "the predicted times closely match the measured";
    sheet.add_out_of_reach("the measured times of the three algorithms", "4.10", quote, HARDWARE);
    let plot = Plot::new("Predicted times for the scatter algorithms, P = 64", "")
        .x("items k for each processor, 4 bytes each", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&ALGORITHMS));
    let caption = "The paper's right graph: the time to give each processor its items by Simple Long-Message (long), Binomial Tree and the optimal \
                   algorithm. The last two lie on each other. The left graph has the times that the paper measured.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Adds the row on more processors than the paper's machine has.
fn add_larger_machines(sheet: &mut Sheet) {
    let gains = sheet.series("binomial, by P").ratios_to(sheet.series("optimal, by P"));
    let optimal = sheet.series("optimal, by P").map_runs(|result| in_us(result.model()));
    let saved = |(gain, time): (Ran<f64>, Ran<f64>)| (gain - 1.0) * time;
    let saved: Vec<Ran<f64>> = gains.into_iter().zip(optimal).map(saved).collect();
    let quote = "To detect a significant difference between the optimal and Binomial Tree algorithms, we would need a larger number of \
                 processors, at least on the Meiko CS-2.";
    let what = "how many us longer the Binomial Tree takes than the optimal algorithm, P = 128, 256 and 512, over the same for P = 64 (k = 128)";
    sheet.add_claim(what, "4.10", quote, above(1.0), saved[1..].iter().map(|more| *more / saved[0])).note(
        "As a part of the time the difference becomes smaller: the time to send all items grows with P, and is the same for both \
         algorithms, and what the optimal one saves grows with log P. The paper does not say which of the two it means.",
    );
}

fn show_ratios(sheet: &mut Sheet) -> Result<(), StudyError> {
    let times = sheet.series("fixed").map_runs(|result| (result.x, result.model()));
    let best = |every: usize| {
        let is_among = |alpha: f64| ((100.0 * alpha).round() as usize).is_multiple_of(every);
        let some = times.iter().filter(|time| is_among(time.value().0)).copied();
        some.min_by_key(|time| time.value().1).expect("there are runs")
    };
    let (tenths, hundredths) = (best(10), best(1));
    sheet.add_number("the best alpha of all tenths", "4.10", "0.5", tenths.map(|(alpha, _)| alpha));
    let quote = "the optimal alpha is 0.5 which corresponds to the Binomial Tree algorithm";
    let alpha = hundredths.value().0;
    let what = format!("the least time of all hundredths, with alpha = {alpha}, over the Binomial Tree's");
    let ours = [hundredths.map(|(_, time)| in_us(time)) / sheet.model_time("binomial")];
    sheet
        .add_claim(what, "4.10", quote, at_least(1.0), ours)
        .expect_difference(
            DifferenceCause::Reading,
            "The paper does not say how fine its steps of alpha are: in tenths 0.5 is the best.",
            "Of all tenths 0.5 is the best, and the paper does not say how fine its steps are. In hundredths 0.49 is a little better, since \
             L + 2o is more than g. With L + o for L + 2o it would be 0.5, as for figure 11.",
        );
    let same = sheet.series("fixed").formula_checks();
    sheet.add_own_check("figure 12: runs that take what the formula says", same);
    let quote = "The figure shows a close match between predicted and measured times.";
    sheet.add_out_of_reach("the measured times by alpha", "4.10", quote, HARDWARE);
    let plot = Plot::new("Scatter with a fixed splitting ratio, 64 processors of the CS-2, k = 128", "")
        .x("alpha", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&["fixed"]));
    sheet.add_plot("", "The time over the part of its sets that every source sends on.", plot);
    Ok(())
}
