//! Tables 8 and 9, and figure 7: the costs of a message under the LogGP models with which LogGPS is compared.

use loggp::NS;
use loggp_programs::message::MessageTerms;
use loggp_study::analysis::WhatIf;

use super::platforms::message_case;
use super::protocols::LATE;
use crate::prelude::*;

pub(super) const TABLE_8: Exhibit = Exhibit {
    id: "loggps-table8",
    place: "table 8",
    title: "what three models make of a message",
    notes: "(D1) LogGP-1 has the shortest synchronization as a constant in o; LogGP-2 models it separately; LogGPS calculates it from when the \
            routines are called. (D2) LogGP-1 has a constant o for every length, for sender and receiver; LogGP-2 two constants, up to s and \
            above; LogGPS two linear functions. (D3) LogGP-1 has constants for every length; LogGP-2 and LogGPS two.",
    formulas: &["LogGP-1: o of a message above S is longer by 4o' + 2L, the shortest T4 + T5 of table 3"],
    series: |_| series(&[2000, 4000, 6000, 10_000, 12_000, 14_000]),
    show: show_table_8,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_7: Exhibit = Exhibit {
    id: "loggps-fig7",
    place: "figure 7",
    title: "LogGP-1's parameters for Myrinet",
    notes: "The paper's values are a picture. These are what they would be without the cost of a clock, as they follow from LogGPS's.",
    formulas: &["o_s = T1, above S T4 + T5 + T1 with the shortest T4; o_r = T3; G = (T2 - L)/k (table 3)"],
    series: |_| series(&LENGTHS),
    show: show_figure_7,
    ..Exhibit::USUAL
};

pub(super) const TABLE_9: Exhibit = Exhibit {
    id: "loggps-table9",
    place: "table 9",
    title: "LogGP's parameters for Myrinet",
    printed: 6,
    notes: "The table's columns are up to 8,191 bytes and above 8,192, so that 8,192 bytes are in neither.",
    formulas: &["a message of k bytes takes o + kG + L + o, half of a round trip (LogGP-2)"],
    series: |_| series(&[4000, 8000, 12_000, 16_000]),
    show: show_table_9,
    ..Exhibit::USUAL
};

/// The costs of a message under a model.
#[derive(Clone, Copy, Debug)]
struct ModeledMessage {
    /// Time of the sender in its routine.
    send: Time,
    /// Time of the receiver in its routine.
    recv: Time,
    /// Time from its entry to its arrival.
    under_way: Time,
}

/// Lengths of figure 7, in bytes.
const LENGTHS: [usize; 17] = [
    1, 2000, 4000, 6000, 8000, 8191, 8192, 10_000, 12_000, 14_000, 16_000, 16_383, 16_384, 18_000, 20_000,
    22_000, 24_000,
];

/// Returns messages of these lengths on Myrinet, with receivers on time and late.
fn series(lengths: &[usize]) -> Vec<CaseSeries> {
    let make_series = |(name, late): (&str, Time)| {
        let case = |k| message_case("blocking", preset_machine("myrinet", 2), k, late);
        let lengths = lengths.iter().copied().chain([20_000]);
        CaseSeries::from_values(name, "k [bytes]", lengths, case).traced()
    };
    [("at once", Time::ZERO), ("1 ms late", LATE)].map(make_series).into()
}

/// Replays one of these messages under a model.
fn modeled_message(
    sheet: &Sheet,
    model: &str,
    k: usize,
    is_late: bool,
) -> Result<Ran<ModeledMessage>, StudyError> {
    let (name, late) = if is_late { ("1 ms late", LATE) } else { ("at once", Time::ZERO) };
    let trace = sheet.series(name).at(k as f64).trace();
    let again = WhatIf::read(&format!("model={model}"), trace.params)?.replay(trace)?;
    Ok(again.ran(|again| {
        let message = again.messages.iter().find(|message| message.id.from == 0 && message.words == k);
        let message = message.expect("the message is in the trace");
        let under_way = message.arrival - message.enter;
        ModeledMessage { send: end_time(again, 0), recv: end_time(again, 1) - late, under_way }
    }))
}

/// Returns when a processor's last activity ends.
fn end_time(trace: &Trace, id: usize) -> Time {
    let own = trace.activities.iter().filter(|activity| activity.id == id);
    own.map(|activity| activity.end).max().unwrap_or(Time::ZERO)
}

/// Returns whether all differences of neighbours are equal.
fn has_even_steps(numbers: &[Time]) -> bool {
    numbers.windows(3).all(|three| three[1] - three[0] == three[2] - three[1])
}

fn show_table_8(sheet: &mut Sheet) -> Result<(), StudyError> {
    // Evenly spaced: three up to s = 8,191, and three up to S = 16,383.
    const RANGES: [[usize; 3]; 2] = [[2000, 4000, 6000], [10_000, 12_000, 14_000]];
    let mut right = Vec::new();
    for model in ["loggp-1", "loggp-2", "loggps"] {
        let ranges = RANGES.map(|range| range.map(|k| modeled_message(sheet, model, k, true)));
        let mut by_cost = [const { Vec::new() }; 3];
        for range in ranges {
            let range: Vec<Ran<ModeledMessage>> = range.into_iter().collect::<Result<_, _>>()?;
            let range = || range.iter().map(|message| message.value());
            by_cost[0].push(range().map(|message| message.send).collect::<Vec<Time>>());
            by_cost[1].push(range().map(|message| message.recv).collect());
            by_cost[2].push(range().map(|message| message.under_way).collect());
        }
        let [sends, recvs, ways] = by_cost;
        let [at_once, late] = [false, true].map(|is_late| modeled_message(sheet, model, 20_000, is_late));
        let (at_once, late) = (at_once?, late?);
        let waits = late.value().send > at_once.value().send;
        let constant =
            |ranges: &[Vec<Time>]| ranges.iter().all(|range| range.iter().all(|time| *time == range[0]));
        let linear =
            |ranges: &[Vec<Time>]| ranges.iter().all(|range| has_even_steps(range) && range[0] < range[1]);
        let step = |range: &[Time]| range[1] - range[0];
        let overhead = match model {
            "loggp-1" => sends != recvs && !constant(&sends),
            "loggp-2" => constant(&sends) && sends == recvs && sends[0] != sends[1],
            _ => linear(&sends) && linear(&recvs) && sends != recvs,
        };
        let byte = ways.iter().all(|range| has_even_steps(range)) && step(&ways[0]) != step(&ways[1]);
        right.extend([waits == (model != "loggp-1"), overhead, byte].map(|is_right| late.map(|_| is_right)));
    }
    let what = "what the table says of D1, D2 and D3, in messages replayed under the three models";
    sheet.add_own_check(what, right);
    Ok(())
}

fn show_figure_7(sheet: &mut Sheet) -> Result<(), StudyError> {
    let myrinet = preset_machine("myrinet", 2);
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    let mut same = Vec::new();
    for k in LENGTHS {
        let message = modeled_message(sheet, "loggp-1", k, true)?;
        let ModeledMessage { send, recv, under_way } = message.value();
        let G = (under_way - myrinet.L).as_ns() / k as f64;
        let times = [in_us(send), in_us(recv), G];
        curves.iter_mut().zip(times).for_each(|(curve, time)| curve.push((k as f64, time)));
        let parts = MessageTerms::new(&myrinet, k);
        let expected = (parts.send(Time::ZERO), parts.T3, parts.T2);
        same.push(message.map(|message| (message.send, message.recv, message.under_way) == expected));
    }
    let what = "lengths whose overheads and gap are those of LogGPS with the shortest synchronization";
    sheet.add_own_check(what, same);
    let quote = "defines o_s as a constant value for every message length";
    let why = "They were measured on the paper's cluster, and the figure's text has no numbers.";
    sheet.add_out_of_reach("the curves' values", "figure 7", quote, why);
    let [send, recv, G] = curves;
    let plot = |title: &str, y: &str, lines: Vec<PlotLine>| {
        let plot = Plot::new(title, "as they follow from LogGPS's");
        plot.x("length of the message, k [bytes]", Scale::Linear).y(y, Scale::Linear).lines(lines)
    };
    let lines = vec![marked_line("send", 0, send), marked_line("receive", 1, recv)];
    let overheads = plot("LogGP-1's overheads on Myrinet", "overhead [us]", lines);
    let caption = "Overheads of sending and receiving, (a) and (b): above S a send has the shortest synchronization in its overhead.";
    sheet.add_plot("overheads", caption, overheads);
    let gap = plot("LogGP-1's G on Myrinet", "G [ns a byte]", vec![marked_line("G", 2, G)]);
    sheet.add_plot("gap", "The gap per byte, (c): the mean of G_s and G_l over the message's bytes.", gap);
    Ok(())
}

fn show_table_9(sheet: &mut Sheet) -> Result<(), StudyError> {
    let myrinet = preset_machine("myrinet", 2);
    let [shorter, short, longer, long] =
        [4000, 8000, 12_000, 16_000].map(|k| modeled_message(sheet, "loggp-2", k, true));
    let run = short?;
    let (shorter, short, longer, long) = (shorter?.value(), run.value(), longer?.value(), long?.value());
    let G_short = (short.under_way - shorter.under_way).as_ns() / 4000.0;
    let G_long = (long.under_way - longer.under_way).as_ns() / 4000.0;
    let L = short.under_way.as_ns() - 8000.0 * G_short;
    let [o_short, o_long] = [short, long].map(|message| message.send.in_units(NS));
    // The same under LogGPS: half of a round trip.
    let gps = myrinet.gps().expect("it is a machine of LogGPS");
    let half = |k: usize| MessageTerms::new(&myrinet, k).communication(Time::ZERO).as_ns();
    let slope = |from: usize, to: usize| (half(to) - half(from)) / (to - from) as f64;
    let [by_short, by_long] = [slope(0, gps.s), slope(gps.s + 1, gps.S)];
    let extended = half(gps.S) - gps.S as f64 * by_long;
    let mut table =
        Table::new("parameters", "LogGP-2's parameters, by its messages, and what LogGPS makes of the same")
            .text("parameter")
            .exact("paper", "ns")
            .exact("model", "ns")
            .exact("half a round trip by LogGPS", "ns");
    let (mut right, mut near) = (Vec::new(), Vec::new());
    for (name, paper, model, loggps) in [
        ("L", Some(7000.0), L, None),
        ("o, up to 8,191 bytes", Some(3830.0), o_short, None),
        ("o, above", Some(72_880.0), o_long, None),
        ("G, up to 8,191 bytes", Some(24.98), G_short, Some(by_short)),
        ("G, above", Some(8.85), G_long, Some(by_long)),
        ("2o + L, up to 8,191 bytes", None, 2.0 * o_short + L, Some(half(0))),
        ("2o + L, above", None, 2.0 * o_long + L, Some(extended)),
    ] {
        table.push(vec![name.into(), paper.into(), model.into(), loggps.into()]);
        right.extend(paper.map(|paper: f64| run.map(|_| (paper - model).abs() < 1e-6)));
        near.extend(loggps.map(|loggps: f64| run.map(|_| (loggps / model - 1.0).abs() < 0.05)));
    }
    let what = "LogGP-2's L, and its o and G up to 8,191 bytes and above: told to the model, and found in its messages";
    sheet.add_read_back(what, "table 9", right).of_numbers(5);
    let why = "It was measured on the paper's cluster, with the overheads of figure 7. Our LogGP-1 has LogGPS's L instead.";
    sheet.add_out_of_reach("LogGP-1's L", "table 9", "7.46 us", why).of_numbers(1);
    let what = "LogGP-2's slopes and heights of half a round trip, which are LogGPS's with table 5 to 5%";
    sheet.add_own_check(what, near);
    sheet.add_table(table);
    Ok(())
}
