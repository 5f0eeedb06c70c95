//! Round trips: table 6, figure 3, and figures 4 and 5 over the length of the messages.

use loggp_programs::message::MessageTerms;
use loggp_programs::rtt::{IMBALANCE, RTT};

use super::platforms::{PLATFORMS, Platform, with_changes};
use crate::prelude::*;
use loggp_study::pictures::curves::curves;

pub(super) const TABLE_6: Exhibit = Exhibit {
    id: "loggps-table6",
    place: "table 6",
    title: "round trips under LogGPS",
    notes: "Processor 0 sends a message, computes for a time w and receives one; processor 1 receives and sends (figure 3).",
    formulas: &[
        "k <= S: max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3 (12), with T2' above s (13)",
        "k > S: max(T2' + T3 + o' + L - w, 0) + w + 2T1 + T2' + T3 + 2T4 + 2T5 - (o' + L) (14), where T4 is that of a receiver \
         that waits",
    ],
    series: |_| {
        let slower = with_changes(preset_machine("myrinet", 2), "L=11.6us,G_s=20ns");
        let hidden = [("as it is", preset_machine("myrinet", 2)), ("with a slower network", slower)];
        let hidden =
            hidden.map(|(name, params)| CaseSeries::from_case(name, round_trip(params, 8191, 500 * US)));
        let trips = table_6_trips().map(|(name, case, _)| CaseSeries::from_case(name, case).measured());
        trips.chain(hidden).collect()
    },
    show: show_table_6,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_3: Exhibit = Exhibit {
    id: "loggps-fig3",
    place: "figure 3",
    title: "the round trip, call by call",
    notes: "On Myrinet, with k = 1,024 bytes, without an imbalance and with w = 500 us.",
    formulas: &[
        "P1 sends at T1 + T2 + T3, P0 receives at T1 + w, and is done max(T1 + 2T2 + T3 - w, 0) + T3 later (section 4.3)",
    ],
    series: |_| {
        let make_series = |(name, w): (&str, i64)| {
            CaseSeries::from_case(name, round_trip(preset_machine("myrinet", 2), 1024, w * US)).traced()
        };
        [("w = 0", 0), ("w = 500 us", 500)].map(make_series).into()
    },
    show: show_figure_3,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_4: Exhibit = Exhibit {
    id: "loggps-fig4",
    place: "figure 4",
    title: "round trips over the length of the messages, by LogGPS",
    notes: "W is the paper's imbalance, and for the Cenju-4, where its text has none, Myrinet's. On the Cenju-4 s = S, so that the curve bends \
            where it jumps; G_l is so negative there that a message of more than 4,333 bytes would be there before its send was called, and \
            the model ends.",
    formulas: &["(12) to (14) of table 6"],
    series: |_| PLATFORMS.iter().flat_map(|platform| curve_series(platform, 24, false)).collect(),
    show: show_figure_4,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_5: Exhibit = Exhibit {
    id: "loggps-fig5",
    place: "figure 5",
    title: "round trips over the length of the messages, measured",
    notes: "What is measured here is this computer as it emulates table 5's platforms, and so LogGPS itself: the paper's platforms are out of \
            reach.",
    formulas: &["(12) to (14) of table 6"],
    series: |lab| {
        PLATFORMS.iter().flat_map(|platform| curve_series(platform, lab.pick(3, 16), true)).collect()
    },
    show: show_figure_5,
    ..Exhibit::USUAL
};

/// Returns a round trip of messages of k bytes.
fn round_trip(params: Params, k: usize, w: Time) -> Case {
    Case { size: k, ..Case::new(&RTT, "blocking", params) }.with(&IMBALANCE, w.into())
}

/// Returns the model's time of a round trip at processor 0. The run is longer where processor 1 ends later.
fn round_trip_time(result: &CaseResult) -> Time {
    result.answers().phases[0].prediction.model.expect("the model has run")
}

/// Runs a round trip on the virtual clock, and returns its time at processor 0, in ns.
fn model_ns(lab: &Lab, params: Params, k: usize, w: Time) -> Result<Ran<f64>, StudyError> {
    let answers = lab.run_model(round_trip(params, k, w))?;
    Ok(answers.ran(|answers| answers.phases[0].prediction.model.expect("the model has run").as_ns()))
}

/// Returns the round trips of table 6: without an imbalance, with half of the least one that hides the
/// network, and with W.
fn table_6_trips() -> impl Iterator<Item = (String, Case, Time)> {
    let lengths: [&[usize]; 3] = [&[512, 4000], &[1024, 16_383, 20_000], &[512, 16_383, 20_000]];
    PLATFORMS.iter().zip(lengths).flat_map(|(platform, lengths)| {
        let make_trips = |k: &usize| {
            let (params, k) = (platform.params(), *k);
            let parts = MessageTerms::new(&params, k);
            let some = Time::from_ps((parts.T1 + 2 * parts.T2 + parts.T3).as_ps() / 2);
            [Time::ZERO, some, platform.W]
                .map(|w| (format!("{}, k = {k}, w = {w}", platform.name), round_trip(params, k, w), w))
        };
        lengths.iter().flat_map(make_trips).collect::<Vec<_>>()
    })
}

/// Computes a round trip from the costs of its routines in table 4, call by call.
fn time_by_routines(parts: &MessageTerms, w: Time) -> Time {
    // Processor 0 sends at 0, and processor 1 receives at 0.
    let (sent, received) = (parts.send(Time::ZERO), parts.recv(Time::ZERO));
    // Processor 1 answers when it has received; processor 0 receives when it has computed.
    let receive_start = sent + w;
    receive_start + parts.recv(receive_start - received)
}

fn show_table_6(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (mut same, mut follow) = (Vec::new(), Vec::new());
    for (name, case, w) in table_6_trips() {
        let result = sheet.last_result(&name);
        let formula = result.answers().phases[0].prediction.formula;
        same.push(result.ran(|result| formula == Some(round_trip_time(result))));
        let by_routines = time_by_routines(&MessageTerms::new(&case.params, case.size), w);
        follow.push(formula == Some(by_routines));
    }
    sheet.add_own_check("round trips that take what (12) to (14) say, to the picosecond", same);
    let what = "values of (12) to (14) that follow from the routines' costs in table 4";
    sheet.add_own_check(what, follow);
    let time = |name: &str| sheet.last_result(name).ran(|result| in_us(round_trip_time(result)));
    let apart = time("with a slower network") - time("as it is");
    let quote = "when w \u{2265} T_1 + 2T_2 + T_3, RTT_1 is independent of term T_2";
    let what = "Myrinet, 8,191 bytes, w = 500 us: a round trip with L = 11.6 us and G_s = 20 ns, less one with Myrinet's [us]";
    sheet.add_claim(what, "4.3", quote, exactly(0.0), [apart]);
    Ok(())
}

fn show_figure_3(sheet: &mut Sheet) -> Result<(), StudyError> {
    let MessageTerms { T1, T2, T3, .. } = MessageTerms::new(&preset_machine("myrinet", 2), 1024);
    let mut right = Vec::new();
    for (name, w) in [("w = 0", Time::ZERO), ("w = 500 us", 500 * US)] {
        let result = sheet.last_result(name).clone();
        let trace = result.trace();
        let from_1 = trace.messages.iter().find(|message| message.id.from == 1).expect("it answers");
        let done = T1 + w + (T1 + 2 * T2 + T3 - w).max(Time::ZERO) + T3;
        right.push(trace.ran(|_| from_1.enter - T1 == T1 + T2 + T3));
        right.push(result.ran(|result| round_trip_time(result) == done));
        let title = format!("A round trip of 1,024 bytes on Myrinet, {name}");
        let caption = format!("{name}: processor 0 computes while its message and the answer are under way.");
        let file = if w == Time::ZERO { "free" } else { "loaded" };
        sheet.add_timeline(file, caption, &title, &result);
    }
    sheet.add_own_check("moments that section 4.3 derives: when P1 answers, and when P0 is done", right);
    Ok(())
}

/// Returns lengths from 0 to a platform's longest, and both sides of its bend and its jump.
fn lengths(platform: &Platform, steps: usize) -> Vec<usize> {
    let gps = platform.params().gps().expect("it is a machine of LogGPS");
    let even = (0..=steps).map(|step| platform.longest * step / steps);
    let mut lengths: Vec<usize> = even.chain([gps.s, gps.S, gps.S + 1]).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Returns a platform's curves, without and with the imbalance.
fn curve_series(platform: &'static Platform, steps: usize, measured: bool) -> [CaseSeries; 2] {
    [Time::ZERO, platform.W].map(|w| {
        let case = |k| round_trip(platform.params(), k, w);
        let series =
            CaseSeries::from_values(curve_name(platform, w), "k [bytes]", lengths(platform, steps), case);
        series.measured_if(|_| measured)
    })
}

fn curve_name(platform: &Platform, w: Time) -> String {
    format!("{}, w = {w}", platform.name)
}

/// Adds the plot of a platform's curves.
fn add_curves(sheet: &mut Sheet, title: &str, platform: &Platform, caption: String) {
    let lines = [Time::ZERO, platform.W].into_iter().enumerate().flat_map(|(number, w)| {
        let results = sheet.series(&curve_name(platform, w));
        let points = results.points.iter().map(|result| (result.x, result.answers().phases[0].prediction));
        let points: Vec<_> = points.collect();
        curves(&format!("w = {w}"), number + 1, &points, |_, time| in_us(time)).collect::<Vec<_>>()
    });
    let plot = Plot::new(title, "")
        .x("length of the messages, k [bytes]", Scale::Linear)
        .y("round trip [us]", Scale::Linear)
        .lines(lines);
    sheet.add_plot(platform.machine, caption, plot);
}

/// Returns the growth of a round trip per byte between two lengths, in ns.
fn gradient(lab: &Lab, params: Params, [from, to]: [usize; 2], w: Time) -> Result<Ran<f64>, StudyError> {
    let grown = model_ns(lab, params, to, w)? - model_ns(lab, params, from, w)?;
    Ok(grown / (to - from) as f64)
}

/// Returns by how much a round trip of s + 1 bytes is longer than one of s bytes, in us, if T2 is kG_l + L
/// above s, and o' so much longer there that both are alike without an imbalance.
fn step_of_two_overheads(lab: &Lab, platform: &Platform, w: Time) -> Result<Ran<f64>, StudyError> {
    let params = platform.params();
    let gps = params.gps().expect("it is a machine of LogGPS");
    let o = params.o.as_ps() + gps.s as i64 * (gps.G_s - gps.G_l).as_ps() / 2;
    let above = with_changes(params, &format!("o={o}ps,s=0"));
    Ok((model_ns(lab, above, gps.s + 1, w)? - model_ns(lab, params, gps.s, w)?) / 1e3)
}

fn show_figure_4(sheet: &mut Sheet) -> Result<(), StudyError> {
    let lab = sheet.lab;
    let mut table =
        Table::new("gradients", "What the curves show: a byte's part of a round trip, and the jump at S")
            .text("platform")
            .exact("w = 0, up to s", "ns")
            .exact("w = 0, above s", "ns")
            .exact("w = W, up to S", "ns")
            .exact("w = W, above S", "ns")
            .exact("D(W)", "us");
    let [mut changed_by_G, mut positive, mut jumps, mut deeper] = [const { Vec::new() }; 4];
    for platform in &PLATFORMS {
        let Platform { name, W, longest, .. } = *platform;
        let params = platform.params();
        let gps = params.gps().expect("it is a machine of LogGPS");
        let (s, S) = (gps.s, gps.S);
        let free = |ends| gradient(lab, params, ends, Time::ZERO);
        let loaded = |ends| gradient(lab, params, ends, W);
        let shown = [free([0, s])?, free([S + 1, longest])?, loaded([0, S])?, loaded([S + 1, longest])?];
        let D = |S: usize| -> Result<Ran<f64>, StudyError> {
            let params = with_changes(params, &format!("S={S}"));
            Ok((model_ns(lab, params, S + 1, W)? - model_ns(lab, params, S, W)?) / 1e3)
        };
        let jump = D(S)?;
        let cells = shown.into_iter().chain([jump]).map(|number| number.value().into());
        table.push([name.into()].into_iter().chain(cells).collect());
        let changes = format!("G_s={}ps,G_l={}ps", gps.G_s.as_ps() + 300, gps.G_l.as_ps() - 300);
        let other = with_changes(params, &changes);
        changed_by_G.push((1e6 * (gradient(lab, other, [0, S], W)? - shown[2])).map(f64::round));
        positive.push(shown[1]);
        jumps.push(jump);
        deeper.push((D(S + 100)? - jump).map(f64::abs));
        let caption = format!(
            "{name}: lines are equations (12) to (14), marks are the model. The curves bend at s = {s} and jump at S = {S} bytes."
        );
        add_curves(sheet, &format!("Round trips on {name}"), platform, caption);
    }
    add_myrinet_numbers(sheet)?;
    add_steps_at_s(sheet)?;
    let quote = "the gradient of the graph is independent of both terms G_s and G_l";
    let what = "w = W, up to S, three platforms: the gradient with G_s + 0.3 ns and G_l - 0.3 ns, less that without [millionths of a ns]";
    sheet.add_claim(what, "4.3", quote, exactly(0.0), changed_by_G);
    let what = "2(O_s + O_r + G_l), the gradient for w = 0 above s, on three platforms [ns a byte]";
    sheet.add_claim(what, "4.3", "that seems to be always true from Figure 4", above(0.0), positive);
    let quote = "the performance of MPI programs become worse when the message length exceeds the value of S";
    let what = "D(W), by how much a round trip grows from S to S + 1 bytes, on three platforms [us]";
    sheet.add_claim(what, "4.3", quote, above(0.0), jumps);
    let quote = "D(w) in Figure 4 is dependent on term S";
    let what = "D(W) with S + 100 less D(W) with S, without its sign, on three platforms [us]";
    sheet.add_claim(what, "4.3", quote, above(0.0), deeper);
    let quote = "all MPI routine costs, defined as equations (4)-(11), take positive values";
    let what =
        "costs of MPI_Send and MPI_Recv by equations (4) to (9), every 100 bytes, on three platforms [us]";
    sheet.add_claim(what, "4.3", quote, above(0.0), PLATFORMS.iter().flat_map(least_costs));
    sheet.add_table(table);
    Ok(())
}

/// Returns the least cost of a send and a receive on a platform, in us, over the length of the message.
fn least_costs(platform: &Platform) -> Vec<f64> {
    let params = platform.params();
    let S = params.gps().expect("it is a machine of LogGPS").S;
    let least_cost = |k: usize| {
        let parts = MessageTerms::new(&params, k);
        in_us(parts.send(Time::ZERO).min(parts.recv(Time::ZERO)).min(parts.recv(SEC)))
    };
    (0..=platform.longest).step_by(100).chain([S + 1]).map(least_cost).collect()
}

/// Adds the rows of the curves at s, on the two platforms whose s is below S.
fn add_steps_at_s(sheet: &mut Sheet) -> Result<(), StudyError> {
    let [mut breaks, mut free_steps, mut loaded_steps] = [const { Vec::new() }; 3];
    for platform in &PLATFORMS[1..] {
        let (params, lab) = (platform.params(), sheet.lab);
        let gps = params.gps().expect("it is a machine of LogGPS");
        let loaded = |ends| gradient(lab, params, ends, platform.W);
        breaks.push((1e6 * (loaded([gps.s, gps.s + 1])? - loaded([0, gps.S])?)).map(f64::round));
        free_steps.push(step_of_two_overheads(lab, platform, Time::ZERO)?.map(f64::abs));
        loaded_steps.push(step_of_two_overheads(lab, platform, platform.W)?);
    }
    let quote = "when w = W, the graph is continuous at k = s (Fig. 4)";
    let what = "w = W, Myrinet and Fast Ethernet: the step from s to s + 1 bytes, less a byte's gradient [millionths of a ns]";
    sheet.add_claim(what, "4.3", quote, exactly(0.0), breaks);
    let what = "the same two with T2 = kG_l + L and a longer o' above s, w = 0: the step at s [us]";
    let quote = "to keep the graph continuous at k = s when w = 0";
    let rule = at_most(0.2).because("a byte takes up to 0.2 us");
    sheet.add_claim(what, "4.3", quote, rule, free_steps);
    let what = "the same, w = W: the step at s [us]";
    let quote = "If o' takes two values, the graph becomes discontinuous at k = s when w = W";
    let rule = above(1.0).because("a byte takes up to 0.2 us");
    sheet.add_claim(what, "4.3", quote, rule, loaded_steps);
    Ok(())
}

/// Adds the numbers that section 4.3 has for Myrinet, from runs.
fn add_myrinet_numbers(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (params, W, lab) = (preset_machine("myrinet", 2), PLATFORMS[1].W, sheet.lab);
    let gps = params.gps().expect("it is a machine of LogGPS");
    let (s, S, longest) = (gps.s, gps.S, PLATFORMS[1].longest);
    // Table 5 has times per byte to a hundredth of a ns, and L and o' to 10 ns.
    for (what, paper, ours, rounded) in [
        ("an empty round trip", "28509.02", model_ns(lab, params, 0, Time::ZERO)?, 30.0),
        ("an empty round trip with W", "513099.0", model_ns(lab, params, 0, W)?, 10.0),
        ("a byte, w = W, up to S", "9.430108", gradient(lab, params, [0, S], W)?, 0.01),
        ("a byte, w = 0, up to s", "49.81455", gradient(lab, params, [0, s], Time::ZERO)?, 0.03),
        ("a byte, w = 0, above s", "17.37150", gradient(lab, params, [s + 1, S], Time::ZERO)?, 0.03),
        ("a byte, w = W, above S", "15.54669", gradient(lab, params, [S + 1, longest], W)?, 0.02),
    ] {
        let number: f64 = paper.parse().expect("it is a number");
        let row = sheet.add_number(format!("Myrinet: {what} [ns]"), "4.3", paper, ours);
        row.accept_within(rounded / number, "so far table 5 rounds its values");
    }
    Ok(())
}

fn show_figure_5(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (ethernet, W) = (PLATFORMS[2].params(), PLATFORMS[2].W);
    let S = ethernet.gps().expect("it is a machine of LogGPS").S;
    let a_byte = gradient(sheet.lab, ethernet, [0, S], W)?;
    let quote = "the communication bandwidth is 292 Mbit/s";
    let why = "It was measured on the paper's cluster. Table 5's O_s + O_r, the gradient by the model, makes 484 Mbit/s.";
    let what = "Fast Ethernet: bandwidth with w = 5000 us, as measured";
    sheet.add_out_of_reach(what, "4.3", quote, why).of_numbers(1);
    let quote = "exceeds the theory bandwidth of the Fast Ethernet, 100 Mbit/s";
    let what = "Fast Ethernet, w = 5000 us: bandwidth by the gradient up to S [Mbit/s]";
    sheet.add_claim(what, "4.3", quote, above(100.0), [8.0e3 / a_byte]);
    let quote = "In Figure 5, the gradient takes non-zero on all platforms";
    let why = "It was measured on the paper's three platforms.";
    sheet.add_out_of_reach("the gradients of what was measured", "4.3", quote, why);
    for platform in &PLATFORMS {
        let name = platform.name;
        let caption = format!(
            "{name}: lines are table 6, marks the model, and rings what was measured on this computer."
        );
        add_curves(sheet, &format!("Round trips on {name}, measured"), platform, caption);
    }
    Ok(())
}
