//! Figure 2 and tables 3 and 4: the cost of a message by the model and in MPI's routines.

use loggp::ParamsBuilder;
use loggp_programs::message::{MEANWHILE, MessageTerms, RECV, WAIT_RECV, WAIT_SEND};
use loggp_study::PhasePrediction as Phase;

use super::platforms::{PLATFORMS, all, message_case};
use crate::prelude::*;

pub(super) const FIGURE_2: Exhibit = Exhibit {
    id: "loggps-fig2",
    place: "figure 2",
    title: "three messages under LogGPS, with s = 2 and S = 4",
    notes: "A picture of an idea, drawn again: the text gives no other parameters than s and S, and those here are ours.",
    formulas: &["T1 + T2 + T3, T1 + T2' + T3, and T4 + T5 + T1 + T2' + T3 (table 3)"],
    series: |_| {
        let make_series = |(name, k, late)| {
            CaseSeries::from_case(name, message_case("blocking", figure_2_machine(), k, late * US)).traced()
        };
        SENDS.map(make_series).into()
    },
    show: |sheet| {
        let cost = |(_, k, late): &(&str, usize, i64)| {
            MessageTerms::new(&figure_2_machine(), *k).communication(*late * US)
        };
        let right = SENDS.map(|send| sheet.last_result(send.0).ran(|result| result.model() == cost(&send)));
        sheet.add_own_check("messages that take the sum of the parts that the figure draws", right);
        for (name, k, _) in SENDS {
            let caption = match k > 4 {
                true => "It is longer than S: a request goes first, and the message only after the reply.",
                false => "It is no longer than S, and goes at once.",
            };
            let result = sheet.last_result(name).clone();
            sheet.add_timeline(name, caption, &format!("{name}: {k} bytes"), &result);
        }
        Ok(())
    },
    ..Exhibit::USUAL
};

/// Messages of figure 2: name, bytes, and delay of the receiver in us.
const SENDS: [(&str, usize, i64); 3] = [("send1", 2, 0), ("send2", 4, 0), ("send3", 6, 20)];

fn figure_2_machine() -> Params {
    const MACHINE: &str = "L=5us,o=2us,O_s=1us,O_r=1us,G_s=2us,G_l=1us,s=2,S=4,word=1";
    Params::builder(2).set(MACHINE).and_then(ParamsBuilder::build).expect("such a machine can be")
}

pub(super) const TABLE_3: Exhibit = Exhibit {
    id: "loggps-table3",
    place: "table 3",
    title: "what a message costs under LogGPS",
    notes: "Above S the cost has the larger of t_r - t_s and o' + L in it: so the model has the wait for the receiver.",
    formulas: &[
        "T1 = o' + kO_s, T2 = kG_s + L, T2' = sG_s + (k-s)G_l + L, T3 = o' + kO_r",
        "T4 = max(o' + L, t_r - t_s) + o', T5 = o' + L + o'",
        "(1) T1 + T2 + T3; (2) T1 + T2' + T3; (3) T4 + T5 + T1 + T2' + T3",
    ],
    series: |_| {
        late_messages()
            .map(|(name, params, k, late)| {
                CaseSeries::from_case(name, message_case("blocking", params, k, late)).measured()
            })
            .collect()
    },
    show: show_table_3,
    ..Exhibit::USUAL
};

pub(super) const TABLE_4: Exhibit = Exhibit {
    id: "loggps-table4",
    place: "table 4",
    title: "what MPI's routines cost under LogGPS",
    notes: "On Myrinet. t_s and t_r are when send and receive are called, t_i and t_w a nonblocking call and its wait.",
    formulas: &[
        "MPI_Send: (4) T1 up to S, (5) T4 + T5 + T1 above; MPI_Isend, MPI_Irecv: (6), (10) o'",
        "MPI_Recv: (7) max(T1 + T2 - (t_r - t_s), 0) + T3 up to s, (8) the same with T2' up to S, \
         (9) max(o' + L - (t_r - t_s), 0) + o' + T5 + T1 + T2' + T3 above",
        "MPI_Wait: (11) max(T_blk - (t_w - t_i), o')",
    ],
    series: |_| {
        let make_series = |(algorithm, k, late, meanwhile): (&str, usize, i64, i64)| {
            let case = message_case(algorithm, preset_machine("myrinet", 2), k, late * US);
            let name =
                format!("{algorithm}, k = {k}, receiver {late} us late, {meanwhile} us before the wait");
            CaseSeries::from_case(name, case.with(&MEANWHILE, (meanwhile * US).into())).measured()
        };
        CASES.map(make_series).into()
    },
    show: show_table_4,
    ..Exhibit::USUAL
};

/// Returns the model's time of a routine, or `None` if it was not called.
fn routine_time(result: &CaseResult, name: &str) -> Option<Time> {
    result.answers().phases.iter().find(|phase| phase.name == name)?.prediction.model
}

/// Returns the messages of table 3. A receiver that calls after its message has arrived makes it wait in a
/// buffer, which the table does not cover: so only messages above S have late receivers.
fn late_messages() -> impl Iterator<Item = (String, Params, usize, Time)> {
    let lengths: [&[usize]; 3] = [&[512, 1028, 4000], &[8191, 16_383, 16_384], &[1023, 16_383, 16_384]];
    PLATFORMS.iter().zip(lengths).flat_map(|(platform, lengths)| {
        let params = platform.params();
        let late = move |k: usize| {
            let late: &[i64] = if params.is_synchronous(k) { &[0, 1000] } else { &[0] };
            let make_message = move |us: &i64| {
                (format!("{}, k = {k}, receiver {us} us late", platform.name), params, k, *us * US)
            };
            late.iter().map(make_message)
        };
        lengths.iter().copied().flat_map(late).collect::<Vec<_>>()
    })
}

fn show_table_3(sheet: &mut Sheet) -> Result<(), StudyError> {
    let costs = late_messages().map(|(name, params, k, late)| {
        sheet.last_result(&name).ran(|result| {
            let received = late + routine_time(result, RECV).expect("it is a blocking receive");
            received == MessageTerms::new(&params, k).communication(late)
        })
    });
    let costs: Vec<Ran<bool>> = costs.collect();
    let what = "messages that cost what equations (1) to (3) say, to the picosecond";
    sheet.add_own_check(what, costs);
    let longest = sheet.last_result("Myrinet, k = 16383, receiver 0 us late").phase_time(RECV, US);
    sheet
        .add_number("a message of S = 16,383 bytes on Myrinet [us]", "4.5", "288", longest)
        .expect_difference(
            DifferenceCause::Misprint,
            "the paper's equation (2), with its table 5, makes 289.5 us",
            "Equation (2) with table 5's values makes 289.5. The paper's next number needs that too: 1,438 messages of 289.5 us take 0.416 s, \
             which is its 0.42. With 288 us they would take 0.414 s, which is 0.41.",
        );
    add_exchanged_gaps(sheet)
}

/// Adds the row of difference D3, in which G_s and G_l have changed places: what a byte of a message adds to
/// its time beside the overheads, up to s and above.
fn add_exchanged_gaps(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("myrinet", 2);
    let gps = params.gps().expect("it is a machine of LogGPS");
    let cost = |k| -> Result<Ran<f64>, StudyError> {
        let answers = sheet.lab.run_model(message_case("blocking", params, k, Time::ZERO))?;
        Ok(answers.ran(|answers| answers.prediction.model.unwrap_or_default().as_ns()))
    };
    let gap = |from, to| -> Result<Ran<f64>, StudyError> {
        Ok((cost(to)? - cost(from)?) / (to - from) as f64 - (gps.O_s + gps.O_r).as_ns())
    };
    let (short, long) = (gap(0, gps.s)?, gap(gps.s + 1, gps.S)?);
    let is_so = short.map(|short| (short - gps.G_l.as_ns()).abs() < 0.01);
    let quote = "Gap G_l for k \u{2264} s and G_s for k > s";
    let what = "Myrinet: a byte up to s takes G_l = -0.74 ns and one above s takes G_s = 15.48 ns";
    let row = sheet.add_judged_claim(what, "3", quote, "the model's gaps are these", is_so);
    row.ours = format!("{:.2} ns, {:.2} ns", short.value(), long.value());
    row.expect_difference(
        DifferenceCause::Misprint,
        "the paper's equations (1) and (2) have G_s up to s and G_l above",
        "Equations (1) and (2), figure 2 and section 4.3 have G_s up to s and G_l above. Only the sentence of D3 has them the other way round.",
    );
    Ok(())
}

/// Cases of table 4: algorithm, bytes, delay of the receiver in us, and computing before the wait in us.
const CASES: [(&str, usize, i64, i64); 10] = [
    ("blocking", 1, 1000, 0),
    ("blocking", 1024, 0, 0),
    ("blocking", 16_383, 100, 0),
    ("blocking", 20_000, 0, 0),
    ("blocking", 20_000, 1000, 0),
    ("nonblocking", 1024, 0, 0),
    ("nonblocking", 1024, 0, 500),
    ("nonblocking", 16_383, 100, 50),
    ("nonblocking", 20_000, 100, 50),
    ("nonblocking", 20_000, 0, 1000),
];

fn show_table_4(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("myrinet", 2);
    let (mut same, mut as_printed) = (Vec::new(), Vec::new());
    for (results, (_, k, late, meanwhile)) in sheet.results.iter().zip(CASES) {
        let result = results.last_result();
        let routines = result.answers().phases.iter();
        let is_same = |phase: &Phase| phase.prediction.formula == phase.prediction.model;
        same.extend(routines.map(|phase| result.ran(|_| is_same(phase))));
        // The paper prints the time that has passed as t_i - t_w, which is negative.
        let parts = MessageTerms::new(&params, k);
        for (name, blocking) in [(WAIT_SEND, parts.send(late * US)), (WAIT_RECV, parts.recv(late * US))] {
            if let Some(wait) = routine_time(result, name) {
                let printed = parts.wait(blocking, -(params.o + meanwhile * US));
                as_printed.push(result.ran(|_| wait == printed));
            }
        }
    }
    let one_byte = sheet.results[0].last_result().phase_time(RECV, US);
    sheet.add_number("MPI_Recv of a message of one byte that is there [us]", "4.6", "6.55", one_byte);
    let what = "routines that take what equations (4) to (11) say, with t_w - t_i in (11)";
    sheet.add_own_check(what, same);
    let quote = "max{T_blk - (t_i - t_w), o'}";
    let right = as_printed.iter().filter(|is_right| is_right.value()).count();
    let text = format!("{right} of {}", as_printed.len());
    let what = "calls of MPI_Wait that take what equation (11) says as it is printed";
    let row = sheet.add_judged_claim(what, "table 4", quote, "all of them", all(as_printed));
    row.ours = text;
    row.expect_difference(
        DifferenceCause::Misprint,
        "the time that has passed is t_w - t_i by the paper's own definitions",
        "The wait is called at t_w, after the nonblocking call at t_i (section 3.2). So t_w - t_i has passed. With t_i - t_w, as it is printed \
         here and in the text, a wait would take the longer the later it is called.",
    );
    Ok(())
}
