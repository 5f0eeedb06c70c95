//! Figure 8: the rate of the staggered remap, where processors keep in step and where they do not.

use loggp::Noise;

use super::{POINTS, case, idle_times, predicted_remap_time, remap_time};
use crate::prelude::*;

pub(crate) const FIGURE_8: Exhibit = Exhibit {
    id: "logp-fig8",
    place: "figure 8",
    title: "the rate of the staggered remap, predicted and with processors that drift out of step",
    notes: "The figure has curves and no numbers. Rates are of all n/P points of a processor, 16 bytes each, on a CM-5 of 128 processors (of 32 \
            at the usual sizes, with as many points for each). The paper does not say what the CM-5's barrier costs: here it costs \
            nothing.\nIn the model nobody drifts out of step. The paper's processors do, because of cache misses and collisions. So here \
            each processor stands still for a fifth of the time, at random, which is what cache misses take by figure 7 (2.8 and 2.2 Mflops). \
            How long it does so at a time the paper does not say: the drop is judged for each length that was tried, from 2 us in every 10 \
            us to 200 us in every ms. The barrier is judged, and drawn, with 4 us in every 20 us; the table has the others. Detours are \
            random: of these there are three draws, of which the picture shows the first.",
    formulas: &[
        "predicted: n/P max(1 us + 2o, g) + L (section 4.1.4)",
        "with all terms kept: (n/P - n/P^2) max(1 us + 2o, g) + n/P^2 1 us + L",
    ],
    series,
    show: show_figure_8,
    ..Exhibit::USUAL
};

/// Curves of figure 8: name, colour, machine and algorithm.
const CURVES: [(&str, usize, &str, &str); 3] = [
    ("staggered", 1, "cm5", "short-staggered"),
    ("synchronized", 2, "cm5", "short-synchronized"),
    ("double net", 4, "cm5-double-net", "short-staggered"),
];
/// Name of the series with all processors of the figure.
const ALL: &str = "staggered, 128 processors";
/// Bytes of a point.
const POINT: f64 = 16.0;
/// The cycle of the analysis, in us.
const CYCLE: f64 = 4.5;
/// Names of the draws of the detours with which the barrier is judged.
const DRAWS: [&str; 3] = [", detours", ", detours, second draw", ", detours, third draw"];
/// Names of detours of other lengths.
const LENGTHS: [&str; 3] = [", detours of 2 us", ", detours of 10 us", ", detours of 200 us"];
/// The least change of a curve that counts as one.
const SEEN: &str = "a change of a twentieth is the least that one sees in a figure";

/// Reasons why processors that drift out of step make other curves than the paper's.
const DRIFT: &str = "LogP has no caches and no collisions: detours stand for them, and their length decides how far one drifts";
const WHY_DRIFT: &str = "What the CM-5's processors wait for, caches and collisions, is not in the model, and detours at random stand for it. \
                         Where they are short the rate falls with the size. Where they are long, it is low at the smallest size already.";
const BARRIER: &str =
    "LogP has no caches and no collisions: detours stand for them, and a barrier waits for the longest";
const WHY_BARRIER: &str = "What the CM-5's processors wait for, caches and collisions, is not in the model, and detours at random stand for it. \
                           A barrier waits for whoever has a detour last. After every n/P^2 messages, which are few where n is small, it \
                           costs more than it brings: the rate grows with the size, and is above that without it at the largest sizes alone.";

/// Returns the interruptions of the processors: name, length, and the number of the draw. They take a fifth of
/// the time.
fn detours() -> [(&'static str, Option<Noise>, u64); 7] {
    let noise = |long| Noise::from_periods([(5 * long, long)]).expect("a fifth of a period is a detour");
    let ([first, second, third], [short, longer, longest]) = (DRAWS, LENGTHS);
    [
        ("", None, 0),
        (first, Some(noise(4 * US)), 0),
        (second, Some(noise(4 * US)), 1),
        (third, Some(noise(4 * US)), 2),
        (short, Some(noise(2 * US)), 0),
        (longer, Some(noise(10 * US)), 0),
        (longest, Some(noise(200 * US)), 0),
    ]
}

/// Returns the number of processors, and the sizes of the FFT.
fn sizes(lab: &Lab) -> (usize, Vec<usize>) {
    let logs = lab.pick(14..=18, 14..=22);
    (lab.pick(32, super::P), logs.step_by(2).map(|log| 1 << log).collect())
}

/// Returns a case whose barrier costs nothing.
fn figure_case(machine: &str, algorithm: &str, processors: usize, n: usize) -> Case {
    Case { barrier: Some(Time::ZERO), ..case(algorithm, preset_machine(machine, processors), n) }
}

/// Returns the curves without detours and with those with which the barrier is judged, at all sizes; and with
/// others at the smallest and the largest.
fn series(lab: &Lab) -> Vec<CaseSeries> {
    let (P, sizes) = sizes(lab);
    let all = detours().into_iter();
    let all = all.flat_map(|(kind, noise, draw)| CURVES.map(|curve| (kind, noise.clone(), draw, curve)));
    let ends = [sizes[0], sizes[sizes.len() - 1]];
    let series = all.map(|(kind, noise, draw, (name, _, machine, algorithm))| {
        let case = |P, n| {
            Case { noise: noise.clone(), ..figure_case(machine, algorithm, P, n) }.with_seeds_plus(draw)
        };
        let shown = if LENGTHS.contains(&kind) { &ends[..] } else { &sizes[..] };
        let name = format!("{name}{kind}");
        let curve = CaseSeries::from_values(&name, POINTS, shown.iter().copied(), |n| case(P, n));
        let measured = (kind.is_empty())
            .then(|| CaseSeries::from_case(format!("{name}, 16 processors"), case(16, 1 << 12)).measured());
        [Some(curve), measured]
    });
    let all = CaseSeries::from_case(ALL, figure_case("cm5", "short-staggered", super::P, 1 << 18));
    series.flatten().flatten().chain([all]).collect()
}

/// Returns a processor's rate in a remap of n points, in MB/s.
fn rate(P: usize, n: f64, us: Ran<f64>) -> Ran<f64> {
    n / P as f64 * POINT / us
}

fn show_figure_8(sheet: &mut Sheet) -> Result<(), StudyError> {
    show_parameters(sheet);
    show_in_step(sheet);
    show_drifting(sheet);
    add_figure(sheet);
    Ok(())
}

/// Adds the rows of processors that keep in step.
fn show_in_step(sheet: &mut Sheet) {
    let predicted = rate(super::P, (1 << 18) as f64, remap_time(sheet.last_result(ALL)));
    let checks: Vec<_> = CURVES
        .iter()
        .flat_map(|(name, ..)| {
            sheet.series(name).map_runs(|one| predicted_remap_time(one) == remap_time(one).value())
        })
        .collect();
    let idle = idle_times(sheet.last_result(ALL));
    let what = "the predicted rate, in a run without detours on 128 processors, 262,144 points [MB/s]";
    sheet.add_number(what, "4.1.4", "3.2", predicted);
    sheet.add_own_check(
        "by formula and in a run the remap takes as long, at all sizes without detours",
        checks,
    );
    let quote = "The observed performance is roughly 2MB/s for this phase, nearly half of the available network bandwidth.";
    let why =
        "it is the rate of the paper's CM-5: how far its processors drift apart, the paper does not say";
    sheet.add_out_of_reach("the rate that was observed", "4.1.4", quote, why).of_numbers(1);
    // 16 bytes of data travel with 4 of address.
    let parts = [2.0 / 5.0, 2.0 * 20.0 / 16.0 / 5.0];
    let what =
        "the observed 2 MB/s over the 5 MB/s of the network, without the 4 bytes of address and with them";
    let rule = between(0.4, 0.5).because("nearly half is at most half, and at least 0.8 of it");
    sheet.add_claim(what, "4.1.4", quote, rule, parts);
    let quote = "the processors are 100% busy all the time (ignoring the insignificant L at the end of the communication phase)";
    let what = "without detours on 128 processors: for how long each is idle, where L is 6 us [us]";
    sheet.add_claim(what, "4.1.4", quote, at_most(6.0), idle);
}

/// Adds the rows of processors that drift out of step.
fn show_drifting(sheet: &mut Sheet) {
    let (P, sizes) = sizes(sheet.lab);
    let (smallest, largest) = (sizes[0], sizes[sizes.len() - 1]);
    let at = |name: &str, kind: &str, n: usize| {
        rate(P, n as f64, remap_time(sheet.series(&format!("{name}{kind}")).at(n as f64)))
    };
    // The mean of the draws.
    let mean_at = |name: &str, n: usize| {
        let [first, second, third] = DRAWS.map(|kind| at(name, kind, n));
        (first + second + third) / 3.0
    };
    let [staggered, synchronized, double] = CURVES.map(|(name, ..)| name);
    let drop = |kind: &&str| at(staggered, kind, largest) / at(staggered, kind, smallest);
    let drops: Vec<_> = [mean_at(staggered, largest) / mean_at(staggered, smallest)]
        .into_iter()
        .chain(LENGTHS.iter().map(drop))
        .collect();
    let kept =
        sizes.iter().map(|n| mean_at(synchronized, *n) / mean_at(synchronized, smallest)).collect::<Vec<_>>();
    let gained = sizes.iter().map(|n| mean_at(synchronized, *n) / mean_at(staggered, *n)).collect::<Vec<_>>();
    let gains = DRAWS.map(|kind| at(double, kind, largest) / at(staggered, kind, largest));
    let quote = "The analysis does not predict the gradual performance drop for large FFTs. In reality, processors execute asynchronously";
    let what =
        "detours of 4, 2, 10 and 200 us: the staggered rate at the largest size over that at the smallest";
    sheet.add_claim(what, "4.1.4", quote, at_most(0.95).because(SEEN), drops).expect_difference(
        DifferenceCause::ModelLimit,
        DRIFT,
        WHY_DRIFT,
    );
    let quote = "we added a barrier synchronizing all processors after every n/P\u{b2} messages. Figure 8 shows that this eliminates the \
                 performance drop.";
    let what = "detours of 4 us: the rate with the barrier at each size over that at the smallest";
    sheet.add_claim(what, "4.1.4", quote, between(0.95, 1.05).because(SEEN), kept).expect_difference(
        DifferenceCause::ModelLimit,
        BARRIER,
        WHY_BARRIER,
    );
    let what = "detours of 4 us: the rate with the barrier over that without it, at each size";
    sheet.add_claim(what, "4.1.4", quote, at_least(0.95).because(SEEN), gained).expect_difference(
        DifferenceCause::ModelLimit,
        BARRIER,
        WHY_BARRIER,
    );
    let percents = gains.map(|gain| format!("{:.0}%", 100.0 * (gain.value() - 1.0))).join(", ");
    let quote = "the performance increases by only 15% because the network interface overhead (o) and the loop processing dominate";
    let why = format!(
        "it is the gain of the paper's CM-5. Without detours both networks bring nothing, since 1 us + 2o is 5 us, more than either gap. In our \
         draws of detours they bring {percents} at the largest size"
    );
    sheet.add_out_of_reach("what both networks bring", "4.1.4", quote, &why).of_numbers(1);
    sheet.add_table(detour_table(sheet, largest as f64));
}

/// Adds the rows of section 4.1.4's parameters.
fn show_parameters(sheet: &mut Sheet) {
    let cm5 = cm5(super::P);
    let cycles = |time: Time| time.in_units(US) / CYCLE;
    for (what, paper, ours) in [
        ("g: the time of 20 bytes at 5 MB/s [us]", "4", 20.0 / 5.0),
        ("o = 2 us in cycles of 4.5 us", "0.44", cycles(cm5.o)),
        ("L = 6 us in cycles of 4.5 us", "1.3", cycles(cm5.L)),
        ("L = 6 us in ticks, 150 a cycle", "200", 150.0 * cycles(cm5.L)),
        ("1 us in cycles of 4.5 us", "0.22", cycles(US)),
    ] {
        sheet.add_number(what, "4.1.4", paper, ours).by_arithmetic();
    }
    let ticks = |time: Time| format!("{:.0}", 150.0 * cycles(time));
    let ours = format!("{} {} {}, {:.2}", ticks(cm5.o), ticks(cm5.g), ticks(US), cycles(cm5.g));
    let what = "o = 2 us, g = 4 us and 1 us in ticks, and g in cycles";
    sheet
        .add_text(what, "4.1.4", "56 56 28, 0.44", ours)
        .by_arithmetic()
        .expect_difference(
            DifferenceCause::Misprint,
            "28 ticks for 1 us are a clock of 28 MHz and not of 33, and g has the values of o",
            "150 ticks are a cycle of 4.5 us, so 1 us is 33 ticks. The paper has 28, and 56 for 2 us. For g, which is 4 us, it repeats \
             what it has for o, which is 2 us",
        );
}

/// Returns the table of what detours do at the largest size.
fn detour_table(sheet: &Sheet, largest: f64) -> Table {
    let mut table =
        Table::new("detours", "Rates at the largest size, by what interrupts the processors").text("detours");
    for (name, ..) in CURVES {
        table = table.rough(name, "MB/s");
    }
    let names = [
        "none",
        "4 us in every 20 us",
        "the same, second draw",
        "the same, third draw",
        "2 us in every 10 us",
        "10 us in every 50 us",
        "200 us in every ms",
    ];
    for (name, (kind, ..)) in names.into_iter().zip(detours()) {
        let rates = CURVES.map(|(curve, ..)| {
            let P = sizes(sheet.lab).0;
            rate(P, largest, remap_time(sheet.series(&format!("{curve}{kind}")).at(largest))).value().into()
        });
        table.push([name.into()].into_iter().chain(rates).collect());
    }
    table
}

/// Adds the picture: the paper's curves.
fn add_figure(sheet: &mut Sheet) {
    let P = sizes(sheet.lab).0;
    let cm5 = cm5(super::P);
    let printed = sheet.series("staggered").points.iter().map(|result| {
        // n/P max(1 us + 2o, g) + L.
        let n = result.x;
        let time = n / P as f64 * in_us(cm5.g.max(US + 2 * cm5.o)) + in_us(cm5.L);
        (n, n / P as f64 * POINT / time)
    });
    let mut lines = vec![PlotLine::new("predicted", 0, Look::Line, printed.collect())];
    let rates = |name: &str| sheet.series(name).map_points(|result| rate(P, result.x, remap_time(result)));
    lines.push(PlotLine::new("staggered, in step", 0, Look::Marks, rates("staggered")));
    let drifting =
        CURVES.map(|(name, number, ..)| marked_line(name, number, rates(&format!("{name}, detours"))));
    lines.extend(drifting);
    let plot = Plot::new(
        format!("Rate of the remap on a CM-5 of {P} processors"),
        "predicted as a line; the model's runs as marks",
    )
    .x("FFT size [points]", Scale::Points)
    .y("MB/s per processor", Scale::Linear)
    .lines(lines)
    .level("2 observed", 2.0);
    let caption = "The paper's four curves: predicted, staggered, synchronized and double net. In the last three the processors drift out of \
                   step, by detours of 4 us in every 20 us.";
    sheet.add_plot("", caption, plot);
}
