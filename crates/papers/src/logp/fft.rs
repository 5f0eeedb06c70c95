//! Figures 6, 7 and 8, and sections 4.1.2 and 4.1.5: the FFT on the CM-5, by phases.

use loggp::Work;
use loggp_programs::fft::{FFT, POINT as POINT_COST};
use loggp_programs::remap::REMAP;

use super::enter_times;
use crate::prelude::*;

pub const FIGURE_6: Exhibit = Exhibit {
    id: "logp-fig6",
    place: "figure 6",
    title: "the FFT's computation, and its remap with a naive and with a staggered schedule",
    printed: 0,
    left_out: "",
    notes: "On a CM-5 of 128 processors, over the size of the whole FFT. The rows are those of 1,048,576 points.",
    formulas: &[
        "compute: n/P log n nodes (section 4.1.1), two of them a butterfly of 4.5 us (section 4.1.4)",
        "staggered: (n/P - n/P^2) max(1 us + 2o, g) + n/P^2 1 us + L, with all terms kept (sections 4.1.1 and 4.1.4)",
    ],
    unit: ("us", US),
    series: |lab| {
        let sizes = || (14..=lab.pick(20, 24)).step_by(2).map(|log| 1 << log);
        let make_series = |name| CaseSeries::from_values(name, POINTS, sizes(), |n| case(name, cm5(P), n));
        let (few, n) = (lab.pick(cm5(16), cm5(P)), lab.pick(1 << 12, 1 << 14));
        let measured =
            |name: &str| CaseSeries::from_case(format!("{name}, measured"), case(name, few, n)).measured();
        let names = ["short-naive", "short-staggered"];
        let cyclic = CaseSeries::from_case("cyclic", case("cyclic", cm5(P), 1 << 14));
        names.map(make_series).into_iter().chain(names.map(measured)).chain([cyclic]).collect()
    },
    show: show_figure_6,
};

pub const FIGURE_7: Exhibit = Exhibit {
    id: "logp-fig7",
    place: "figure 7",
    title: "how fast the FFT's two phases of computing are",
    printed: 0,
    left_out: "",
    notes: "The rate depends on the size in the paper, by the node's cache of 64 KB, which LogP leaves out.",
    formulas: &["10 operations per butterfly / 2.2 Mflops (section 4.1.4)"],
    unit: ("us", US),
    series: |lab| {
        let case = |n| Case { work: Work::Measured, ..case("short-staggered", cm5(2), n) };
        let sizes = lab.pick(&[12, 15, 18][..], &[12, 14, 16, 18, 20, 22]).iter().map(|log| 1 << log);
        // This measures the computer's own rate.
        let host =
            lab.is_wall().then(|| CaseSeries::from_values("this computer", POINTS, sizes, case).measured());
        let model = CaseSeries::from_case("CM-5", self::case("short-staggered", cm5(P), 1 << 16));
        host.into_iter().chain([model]).collect()
    },
    show: show_figure_7,
};

pub const FIGURE_8: Exhibit = Exhibit {
    id: "logp-fig8",
    place: "figure 8",
    title: "the rate of the staggered remap, predicted and measured",
    printed: 0,
    left_out: "",
    notes: "The remap is predicted to take n/P max(1 us + 2o, g) + L: processing and overhead limit it, and not bandwidth. Rates are of all \
            n/P points of a processor, 16 bytes each. The paper does not say what the CM-5's barrier costs, so here it costs nothing.",
    formulas: &[
        "n/P max(1 us + 2o, g) + L (section 4.1.4)",
        "with all terms kept: (n/P - n/P^2) max(1 us + 2o, g) + n/P^2 1 us + L",
    ],
    unit: ("us", US),
    series: |lab| {
        let sizes = || (14..=lab.pick(20, 22)).step_by(lab.pick(2, 1)).map(|log| 1 << log);
        let make_series = |(name, _, machine, algorithm): (&str, usize, &str, &str)| {
            let all =
                CaseSeries::from_values(name, POINTS, sizes(), |n| figure_8_case(machine, algorithm, P, n));
            let few = figure_8_case(machine, algorithm, 16, 1 << 12);
            [all, CaseSeries::from_case(format!("{name}, 16 processors"), few).measured()]
        };
        SCHEDULES.into_iter().flat_map(make_series).collect()
    },
    show: show_figure_8,
};

pub const SCHEDULE: Exhibit = Exhibit {
    id: "logp-sec4.1.2",
    place: "section 4.1.2",
    title: "how the naive schedule stalls",
    printed: 0,
    left_out: "",
    notes: "All send first to processor 0, then to processor 1, and so on: 128 processors, 16,384 points, on a CM-5 and on one with L = 8 us, where L/g is 2 and is not rounded.",
    formulas: &["none: the section only tells what happens"],
    unit: ("us", US),
    series: |_| {
        let case = |name: &str, params| Case { size: 16, ..Case::new(&REMAP, name, params) };
        vec![
            CaseSeries::from_case("L = 8", case("short-naive", Params { L: 8 * US, ..cm5(P) })).traced(),
            CaseSeries::from_case("CM-5", case("short-naive", cm5(P))).traced(),
            CaseSeries::from_case("staggered", case("short-staggered", cm5(P))).traced(),
        ]
    },
    show: show_stalls,
};

pub const HYBRID: Exhibit = Exhibit {
    id: "logp-sec4.1.1",
    place: "section 4.1.1",
    title: "what layouts of the FFT communicate",
    printed: 0,
    left_out: "",
    notes: "A CM-5 with o = 1 us: on it g is at least 2o and what it costs to load a point and to look for messages, which the section does not \
            know.",
    formulas: &["g(n/P - n/P^2) + L by the hybrid layout, (g n/P + L) log P by one layout (section 4.1.1)"],
    unit: ("us", US),
    series: |_| {
        let make_series = |name: &str, algorithm: &str, processors, n| {
            let params = Params { o: US, ..cm5(processors) };
            CaseSeries::from_case(name, case(algorithm, params, n).with(&POINT_COST, Time::ZERO))
        };
        vec![
            make_series("P = 16", "short-staggered", 16, 1 << 12).traced(),
            make_series("hybrid", "short-staggered", P, 1 << 14),
            make_series("cyclic", "cyclic", P, 1 << 14),
            make_series("blocked", "blocked", P, 1 << 14),
        ]
    },
    show: show_hybrid,
};

pub const OVERLAP: Exhibit = Exhibit {
    id: "logp-sec4.1.5",
    place: "section 4.1.5",
    title: "a remap that is interleaved with computing",
    printed: 0,
    left_out: "",
    notes: "A CM-5 of 16 processors with o = 0.5 us: an interface with little overhead, as the section expects it of the future.",
    formulas: &["none"],
    unit: ("us", US),
    series: |_| {
        let make_series = |name: &str, algorithm: &str, g: i64| {
            let params = Params { o: US / 2, g: g * US, ..cm5(16) };
            let case = case(algorithm, params, 1 << 12).with(&POINT_COST, Time::ZERO);
            CaseSeries::from_case(name, case).traced()
        };
        vec![
            make_series("short-staggered", "short-staggered", 4),
            make_series("overlapped", "overlapped", 4),
            make_series("overlapped, g = 100", "overlapped", 100),
        ]
    },
    show: show_overlap,
};

/// Processors of the CM-5 in the figures.
const P: usize = 128;
const POINT: f64 = 16.0;
/// The cycle of the analysis, in us.
const CYCLE: f64 = 4.5;
/// The series' quantity.
const POINTS: &str = "points";
/// Points of the FFT that the rows are about.
const LARGE: f64 = (1 << 20) as f64;

fn case(algorithm: &str, params: Params, n: usize) -> Case {
    Case { size: n, ..Case::new(&FFT, algorithm, params) }
}

/// Returns the model's time of the remap, in us.
fn remap_time(result: &CaseResult) -> Ran<f64> {
    result.phase_time("remap", US)
}

/// Returns the formula's time of the remap, in us.
fn predicted_remap_time(result: &CaseResult) -> f64 {
    in_us(result.phase("remap").formula.expect("the remap has a formula"))
}

/// Returns the model's time of both phases of computing, in us.
fn computing_time(result: &CaseResult) -> Ran<f64> {
    result.phase_time("compute I", US) + result.phase_time("compute III", US)
}

fn show_figure_6(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (bad, good) = (sheet.series("short-naive"), sheet.series("short-staggered"));
    let (slow, fast) = (remap_time(bad.at(LARGE)), remap_time(good.at(LARGE)));
    let (compute, total) =
        (computing_time(good.at(LARGE)), good.at(LARGE).ran(|result| in_us(result.model())));
    let hybrid = remap_time(good.at((1 << 14) as f64));
    let alone = remap_time(sheet.last_result("cyclic"));
    let in_s = |points: Vec<(f64, f64)>| points.into_iter().map(|(n, us)| (n, us / 1e6)).collect();
    let lines = [
        marked_line("compute", 0, in_s(good.map_points(computing_time))),
        marked_line("bad remap", 3, in_s(bad.map_points(remap_time))),
        PlotLine::new("good remap, formula", 1, Look::Line, in_s(good.map_points(predicted_remap_time))),
        PlotLine::new("good remap, model", 1, Look::Marks, in_s(good.map_points(remap_time))),
    ];
    let one_by_one = "LogP says who stalls, and not who goes on next. Here whoever asked first does, and those who are done go on to the \
                      next receiver, so that receivers are not served one after the other. The paper's CM-5 lies between that and the \
                      remap program's closed form, in which they are: 5.64 times the computation, and 51 times the staggered remap";
    let quote = "With the naive schedule, the remap takes more than 1.5 times as long as the computation";
    let row = sheet.add_claim("naive remap over computation", "4.1.3", quote, above(1.5), [slow / compute]);
    row.expect_difference("0.641", one_by_one);
    let quote = "whereas with staggering it takes only 1/3 th as long";
    let what = "staggered remap over computation";
    sheet.add_claim(what, "4.1.3", quote, between(1.0 / 3.5, 1.0 / 2.5), [fast / compute]).expect_difference(
        "0.11",
        "the remap is predicted to take 5 us for a point, and its computing 45: 1/9. 1/3 goes with neither \"th\" nor with the caption's \
         order of magnitude; 1.5 and a factor of ten would make 1/7, which is our emendation",
    );
    let quote = "with a contention-free communication schedule, which is an order of magnitude faster";
    let what = "naive remap over staggered remap";
    let row = sheet.add_claim(what, "figure 6", quote, at_least(10.0), [slow / fast]);
    row.expect_difference("5.8", one_by_one);
    let quote = "the communication time is lower by a factor of log P";
    let what = "remap of one layout over that of the hybrid one, 16,384 points, log P = 7";
    sheet.add_claim(what, "4.1.1", quote, between(7.0, 7.06), [alone / hybrid]);
    let quote = "The total time is within a factor of (1 + g/log n) of optimal";
    // A node is half a butterfly of 4.5 us, and the paper's g is 4 us.
    let bound = 1.0 + 4.0 / (CYCLE / 2.0) / LARGE.log2();
    sheet.add_claim("total over computation", "4.1.1", quote, at_most(bound), [total / compute]).expect_difference(
        "1.11",
        "that counts g = 4 us for a point; by section 4.1.4 a point takes max(1 us + 2o, g), which is 5 us",
    );
    let plot = Plot::new(
        "FFT on 128 processors of a CM-5: computing and two remaps",
        "the model's times; the staggered remap's formula as a line",
    )
    .x("points of the whole FFT", Scale::Points)
    .y("time of the phase [s]", Scale::Log)
    .lines(lines);
    sheet.add_plot("", "Both axes go by ratio. The paper's curves are only a picture.", plot);
    Ok(())
}

/// Metrics of the rates of the two phases of computing.
const RATES: [&str; 2] = ["compute I per processor", "compute III per processor"];

fn show_figure_7(sheet: &mut Sheet) -> Result<(), StudyError> {
    let cycle = 10.0 / 2.2;
    let what = "the cycle: 10 operations at 2.2 Mflops [us]";
    sheet.add_number(what, "4.1.4", "4.5", cycle);
    sheet.add_number("the same in ticks of 33 MHz", "4.1.4", "150", cycle * 33.0);
    let rates =
        RATES.map(|name| sheet.last_result("CM-5").metric(name).map(|rate| (rate - 2.2).abs() < 0.05));
    let what = "phases I and III compute at 2.2 Mflops, which is what an operation costs here";
    sheet.add_read_back(what, "4.1.4", rates);
    let quote = "The drop in performance for the local FFT from 2.8 Mflops to 2.2 Mflops occurs when the size of the local FFTs exceeds \
                 cache capacity.";
    sheet.add_out_of_reach("the drop of the rate", "4.1.3", quote, "LogP leaves caches out, and so do we");
    let quote = "a CM-5's Sparc node achieves roughly 3.2 MFLOPS on the Linpack benchmark";
    sheet.add_out_of_reach("Linpack", "4.1.3", quote, "it is that of the paper's machine");
    if sheet.lab.is_wall() {
        let rate_line = |number: usize, label| {
            let rates = sheet.series("this computer").map_points(|result| result.metric(RATES[number]));
            marked_line(label, number, rates)
        };
        let plot = Plot::new(
            "Rates of this computer's processor in the FFT's phases",
            "measured, on two processors: the computer's caches, and who else uses it",
        )
        .x("points of the whole FFT", Scale::Points)
        .y("rate of a processor [Mflops]", Scale::Linear)
        .lines([rate_line(0, "phase I, one FFT"), rate_line(1, "phase III, small FFTs")]);
        let caption = "What the paper's figure shows of a CM-5's node, measured on this computer. No number of the paper is \
                       held against it.";
        sheet.add_plot("host", caption, plot);
    }
    Ok(())
}

/// Curves of figure 8: name, colour, machine and algorithm.
const SCHEDULES: [(&str, usize, &str, &str); 3] = [
    ("staggered", 1, "cm5", "short-staggered"),
    ("synchronized", 2, "cm5", "short-synchronized"),
    ("double net", 4, "cm5-double-net", "short-staggered"),
];

/// Returns a case of figure 8, whose barrier costs nothing.
fn figure_8_case(machine: &str, algorithm: &str, processors: usize, n: usize) -> Case {
    Case { barrier: Some(Time::ZERO), ..case(algorithm, preset_machine(machine, processors), n) }
}

/// Returns a processor's rate in a remap of n points, in MB/s.
fn rate(n: f64, us: f64) -> f64 {
    n / P as f64 * POINT / us
}

fn show_figure_8(sheet: &mut Sheet) -> Result<(), StudyError> {
    let cm5 = cm5(P);
    let rates =
        |name: &str| sheet.series(name).map_points(|result| remap_time(result).map(|us| rate(result.x, us)));
    let [staggered, synchronized, double] = SCHEDULES.map(|(name, ..)| rates(name));
    let printed = sheet.series("staggered").map_points(|result| {
        // n/P max(1 us + 2o, g) + L.
        let n = result.x;
        rate(n, n / P as f64 * in_us(cm5.g.max(US + 2 * cm5.o)) + in_us(cm5.L))
    });
    let kept = sheet.series("staggered").map_points(|result| rate(result.x, predicted_remap_time(result)));
    let last = |points: &[(f64, f64)]| points[points.len() - 1].1;
    let run = sheet.series("staggered").at(LARGE).clone();

    let cycles = |time: Time| time.in_units(US) / CYCLE;
    for (what, paper, ours) in [
        ("g: 20 bytes at 5 MB/s [us]", "4", 20.0 / 5.0),
        ("o = 2 us in cycles of 4.5 us", "0.44", cycles(cm5.o)),
        ("L = 6 us in cycles of 4.5 us", "1.3", cycles(cm5.L)),
        ("L = 6 us in ticks, 150 a cycle", "200", 150.0 * cycles(cm5.L)),
        ("1 us in cycles of 4.5 us", "0.22", cycles(US)),
    ] {
        sheet.add_number(what, "4.1.4", paper, ours);
    }
    let ticks = |time: Time| format!("{:.0}", 150.0 * cycles(time));
    let ours = format!("{} {} {}, {:.2}", ticks(cm5.o), ticks(cm5.g), ticks(US), cycles(cm5.g));
    let what = "ticks of o = 2 us, g = 4 us and 1 us, and cycles of g";
    sheet.add_text(what, "4.1.4", "56 56 28, 0.44", ours).expect_difference(
        "67 133 33, 0.89",
        "28 ticks for 1 us would be a clock of 28 MHz, and 56 are twice that; behind g stands what stands behind o. One chain \
         of misprints",
    );
    let what = "the rate that is predicted, n/P max(1 us + 2o, g) + L [MB/s]";
    sheet.add_number(what, "4.1.4", "3.2", last(&printed));
    let what = "the rate of 1,048,576 points in a run [MB/s]";
    sheet.add_number(what, "4.1.4", "3.2", remap_time(&run).map(|us| rate(LARGE, us)));
    let quote = "The observed performance is roughly 2MB/s for this phase, nearly half of the available network bandwidth.";
    let why = "it is that of the paper's CM-5: LogP predicts 3.2";
    sheet.add_out_of_reach("the rate that was measured", "4.1.4", quote, why);
    let quote = "The analysis does not predict the gradual performance drop for large FFTs.";
    sheet.add_out_of_reach("the drop for large FFTs", "4.1.4", quote, "neither does the model");
    let quote = "we added a barrier synchronizing all processors after every n/P\u{b2} messages. Figure 8 shows that this eliminates the \
                 performance drop.";
    let gains = [synchronized[0].1 / staggered[0].1, rate_at(&synchronized) / rate_at(&staggered)];
    let what = "rate with the barrier over that without it, at 16,384 and at 1,048,576 points";
    sheet.add_claim(what, "4.1.4", quote, at_least(1.0), gains).expect_difference(
        "0.459, 0.982",
        "in the model nobody drifts out of step, so that a barrier only costs: L, the more often the fewer points there are",
    );
    let gain = 100.0 * (rate_at(&double) / rate_at(&staggered) - 1.0);
    let what = "what half of g brings, 1,048,576 points [%]";
    sheet
        .add_number(what, "4.1.4", "15", gain)
        .expect_difference("0.005", "1 us + 2o is 5 us, above either g: the model gains nothing");
    let idle = idle_times(&run);
    let quote = "the processors are 100% busy all the time (ignoring the insignificant L at the end of the communication phase)";
    let what = "for how long a processor is not, where L is 6 [us]";
    sheet.add_claim(what, "4.1.4", quote, at_most(6.0), idle);

    let mut lines = vec![
        PlotLine::new("as printed", 0, Look::Line, printed),
        PlotLine::new("all terms kept", 1, Look::Line, kept),
    ];
    for (points, (name, number, ..)) in [staggered, synchronized, double].into_iter().zip(SCHEDULES) {
        lines.push(PlotLine::new(format!("{name}, model"), number, Look::Marks, points));
    }
    let plot = Plot::new(
        "Rate of the remap on 128 processors of a CM-5",
        "formulas as lines, the model as marks; the barrier costs nothing",
    )
    .x("points of the whole FFT", Scale::Points)
    .y("rate per processor [MB/s]", Scale::Linear)
    .lines(lines)
    .level("3.2 predicted", 3.2)
    .level("2 measured", 2.0);
    sheet.add_plot("", "The barrier ends nothing in the model, where nobody drifts out of step.", plot);
    Ok(())
}

/// Returns the rate at the size that the rows are about.
fn rate_at(points: &[(f64, f64)]) -> f64 {
    points.iter().find(|(n, _)| *n == LARGE).map_or(f64::NAN, |(_, rate)| *rate)
}

fn show_stalls(sheet: &mut Sheet) -> Result<(), StudyError> {
    for (name, pinned) in [("L = 8", None), ("CM-5", Some("3"))] {
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
        let stalled = (1..P).filter(|id| stalls(*id)).count() as f64;
        let quote = "All but L/g processors will stall on the first send";
        let what = format!("{name}: how many of the 127 that send to 0 do, where the capacity is 2");
        sheet.add_claim(what, "4.1.2", quote, exactly(125.0), [stalled]).by_count();
        let enters = enter_times(trace, 0);
        // Messages enter two at a time, so pairs of gaps are averaged.
        let gaps = enters.windows(3).skip(1).map(|three| (three[2] - three[0]) / 2.0).collect::<Vec<_>>();
        let quote = "then one will send to processor 0 every g cycles";
        let what = format!("{name}: from one message to 0 to the next, in the mean [us]");
        let row = sheet.add_claim(what, "4.1.2", quote, exactly(4.0), [mean(&gaps)]);
        if let Some(pinned) = pinned {
            row.expect_difference(
                pinned,
                "the capacity is L/g rounded up: two messages in each L = 6 us are one every 3",
            );
        }
    }
    let none = sheet.last_result("staggered").answers().outcome.run.stalls() as f64;
    let quote = "staggering the starting rows such that no contention occurs";
    sheet.add_claim("stalls of the staggered schedule", "4.1.2", quote, exactly(0.0), [none]).by_count();
    Ok(())
}

/// Returns for how long each processor was idle or in a gap, in us.
fn idle_times(result: &CaseResult) -> Vec<f64> {
    let processors = &result.answers().outcome.run.processors;
    processors.iter().map(|one| in_us(one.idle + one.gap)).collect()
}

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
    let what = "that of processor 0, in the mean, where g - 2o = 3 [us]";
    sheet.add_claim(what, "4.1.5", quote, between(2.99, 3.01), [mean(&idle)]);
    let [left, large] = ["overlapped", "overlapped, g = 100"].map(|name| idle_times(sheet.last_result(name)));
    let quote = "Unless g is extremely large, this eliminates idling of processors during remap.";
    let what = "idling of each processor with the remap interleaved, where a message's way L + 2o is 7 [us]";
    sheet.add_claim(what, "4.1.5", quote, at_most(7.0), left);
    let what = "the same with g = 100 us [us]";
    sheet.add_claim(what, "4.1.5", "Unless g is extremely large", above(7.0), large);
    Ok(())
}

fn show_hybrid(sheet: &mut Sheet) -> Result<(), StudyError> {
    let result = sheet.last_result("P = 16").clone();
    let pairs = (0..16).flat_map(|from| (0..16).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let messages = &result.trace().messages;
    let sent = pairs.map(|pair| messages.iter().filter(|one| (one.id.from, one.to) == pair).count() as f64);
    let quote = "each processor sends n/P^2 messages to every other";
    let what = "messages from each to each, n = 4,096, P = 16";
    sheet.add_claim(what, "4.1.1", quote, exactly(16.0), sent).by_count();
    let quote = "requiring only g(n/P - n/P^2) + L time";
    let ours = remap_time(sheet.last_result("hybrid")) / (4.0 * (128.0 - 1.0) + 6.0);
    let what = "the remap over that time, n = 16,384, P = 128 (the first message waits for no gap)";
    sheet.add_claim(what, "4.1.1", quote, between(0.99, 1.0), [ours]);
    let quote = "Under either layout, each processor spends n/P log n time computing and (g n/P + L) log P time communicating, assuming g \u{2265} 2o.";
    let ours =
        ["cyclic", "blocked"].map(|name| remap_time(sheet.last_result(name)) / (7.0 * (4.0 * 128.0 + 6.0)));
    let what = "communication over that time, cyclic and blocked, n and P as above";
    sheet.add_claim(what, "4.1.1", quote, between(0.99, 1.0), ours);
    Ok(())
}
