//! Section 4: the optimal summation, which is a broadcast run backwards.

use loggp::{Time, Trace, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::broadcast::information;
use super::search::Sums;
use super::{CM5, cycles, list, machine, named};
use crate::pictures::curves::curves;
use crate::pictures::timeline::timeline;
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::math::trees;
use loggp_programs::summation::{SUMMATION as PROGRAM, TIME};
use loggp_programs::{Case, Length};
use loggp_study::{Answers, Failed};

/// The exhibit.
pub const SUMMATION: Exhibit = Exhibit {
    id: "karp-summation",
    place: "section 4, lemmas 4.1 and 4.2, theorem 4.1",
    title: "optimal summation",
    says: &[
        "A summation is a broadcast whose messages run backwards, on a machine whose latency is L + 1: a processor that \
         begins to send at S_i in t steps has the datum at t - S_i in the broadcast (section 4.1).",
        "In an optimal summation no processor sends more than one message, and none idles before it sends (definition 4.1, \
         lemma 4.1).",
        "A processor that receives k sums has S - (o + 1)k + 1 operands; summed over all that is the n of lemma 4.2, which the \
         text prints as the sum of S_i, less op, and 1 more.",
        "For t > B(P; L+1, o, g) the algorithm S(t) sums as many operands in t steps as can be (theorem 4.1).",
        "The paper has no example in numbers; LogP's figure 4 (P = 8, L = 5, o = 2, g = 4, T = 28) is one.",
    ],
    formulas: &[
        "n = sum of S_i - o(P-1) + 1 (lemma 4.2)",
        "where fewer than P processors are of use: S(T) = o + 1 + the sum of T - o - t over the labels t <= T - o of the first P",
    ],
    commands: &[
        "loggp run summation --params L=5,o=2,g=4 -P 8 --time 28 --timeline summation.svg",
        "loggp sweep summation --params L=5,o=2,g=4 -P 8 --over size=10..1000:log:9",
    ],
    seconds: Seconds { quick: 1.0, full: 25.0 },
    make,
};

/// The machine of LogP's figure 4.
const FIGURE_4: [i64; 3] = [5, 2, 4];

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let mut checks = searched(lab)?;
    lab.done(0.3);
    checks.extend(reversed(lab)?);
    lab.done(0.4);
    let (_, trace) = lab.traced(by_time(8, FIGURE_4, 28))?;
    let (plot, runs) = compared(lab)?;
    let picture =
        timeline(&trace, "Optimal summation of 79 operands: P = 8, L = 5, o = 2, g = 4", ("cycles", US));
    let agree = checks.iter().filter(|check| check.reason.is_none()).all(|check| check.paper == check.ours);
    let verdict = format!(
        "{} A search through all that a few processors can do in each cycle {}, and runs send when a broadcast with latency \
         L + 1 has it the other way round. The lemma as it is printed subtracts o once too often.",
        if agree { "It agrees." } else { "It does not agree everywhere." },
        if agree { "finds no more operands" } else { "finds other numbers of operands" },
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(operands(lab)?)
        .picture(
            "timeline",
            "79 operands in 28 cycles. Nobody idles before it sends; the receptions at P0 are a gap apart.",
            picture.expect("it is small"),
        )
        .picture(
            "",
            "The time to sum n operands on 8 processors. Lines are formulas, marks the model, and rings were measured.",
            plot.svg(),
        )
        .checks(checks))
}

/// Theorem 4.1 against a search through everything.
fn searched(lab: &Lab) -> Result<Vec<Check>, Failed> {
    const MACHINES: [[i64; 3]; 6] = [[1, 0, 1], [2, 1, 2], [3, 1, 3], [0, 1, 4], [2, 0, 2], [1, 1, 1]];
    let most_P = lab.pick(4, 5);
    let mut checks = Vec::new();
    for times in MACHINES {
        let mut search = Sums::on(times);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for P in 2..=most_P {
            for T in 0..=9 {
                theirs.push(summed(&lab.model(by_time(P, times, T))?));
                ours.push(search.most(T, P - 1));
            }
        }
        let what = format!(
            "S(t), theorem 4.1: no schedule sums more, t = 0 to 9, P = 2 to {most_P}, {}",
            named(times)
        );
        checks.push(Check::same(what, &list(&theirs), list(&ours)).by(Answer::Count));
    }
    Ok(checks)
}

/// Lemma 4.2 and the correspondence with broadcasts, on runs.
fn reversed(lab: &Lab) -> Result<Vec<Check>, Failed> {
    let mut checks = Vec::new();
    for (P, times) in [(8, FIGURE_4), (8, CM5), (13, [3, 0, 1]), (32, [9, 2, 4])] {
        let [L, o, g] = times;
        let longer = [L + 1, o, g];
        // The least T of the theorem, and more.
        let T = cycles(trees::B(P, (L + 1 + 2 * o) * US, g * US)) + 10;
        let T = if times == FIGURE_4 { 28 } else { T };
        let (answers, trace) = lab.traced(by_time(P, times, T))?;
        let at = format!("P = {P}, {}, t = {T}", named(times));

        let mut ready: Vec<i64> = send_times(&trace).iter().map(|S| T - S).collect();
        ready.sort_unstable();
        let (_, broadcast) = lab.traced(Case::new(&BROADCAST, "optimal", machine(P, longer)))?;
        let mut informed: Vec<i64> = information(&broadcast).into_iter().map(cycles).collect();
        informed.sort_unstable();
        checks.push(Check::same(
            format!("t - S_i, in a broadcast with latency L + 1: {at}"),
            &list(&informed),
            list(&ready),
        ));

        let S: i64 = send_times(&trace).iter().sum::<i64>() + T;
        let n = summed(&answers);
        checks.push(Check::equal(
            format!("operands, sum of S_i - o(P-1) + 1: {at}"),
            &(S - o * (P as i64 - 1) + 1).to_string(),
            n as f64,
        ));
        if times == FIGURE_4 {
            checks.push(
                Check::equal(
                    format!("operands, sum of S_i - op + 1, lemma 4.2 as printed, with p = P: {at}"),
                    &(S - o * P as i64 + 1).to_string(),
                    n as f64,
                )
                .because(
                    "the lemma's proof adds up S_i - (o + 1)k_i + 1, and the k_i receptions are P - 1 together: that is \
                     o(P - 1), and p is the number of messages",
                ),
            );
        }
        let stats = &answers.outcome.run.processors;
        let idle: Time = stats.iter().map(|processor| processor.idle + processor.gap + processor.stall).sum();
        let sent =
            (0..P).map(|id| trace.messages.iter().filter(|message| message.id.from == id).count()).max();
        checks.push(Check::same(
            format!("cycles idled before sending, and most messages of a processor, definition 4.1: {at}"),
            "0 1",
            list([cycles(idle), sent.unwrap_or(0) as i64]),
        ));
    }
    Ok(checks)
}

/// When each processor that sends begins to: S_i.
fn send_times(trace: &Trace) -> Vec<i64> {
    trace.messages.iter().map(|message| cycles(message.enter - trace.params.o)).collect()
}

/// How many operands can be summed by t.
fn operands(lab: &Lab) -> Result<Table, Failed> {
    let mut table = Table::new("operands", "Operands that can be summed by t, L = 5, o = 2, g = 4")
        .exact("t", "cycles")
        .exact("one processor", "")
        .exact("P = 2", "")
        .exact("P = 8", "")
        .exact("P = 32", "");
    for T in (0..=60).step_by(4) {
        let mut row = vec![(T as f64).into()];
        for P in [1, 2, 8, 32] {
            row.push((summed(&lab.model(by_time(P, FIGURE_4, T))?) as f64).into());
        }
        table.push(row);
    }
    Ok(table)
}

/// The time for n operands, by both algorithms; and their runs.
fn compared(lab: &Lab) -> Result<(Plot, Runs), Failed> {
    let sizes = [10, 20, 40, 79, 160, 320, 640, 1280];
    let mut runs = Runs::new(
        "runs",
        "Summation, P = 8, L = 5, o = 2, g = 4",
        &["algorithm", "operands"],
        ("cycles", US),
    );
    let mut lines = Vec::new();
    for (number, algorithm) in PROGRAM.algorithms.iter().enumerate() {
        let mut points = Vec::new();
        for (n, size) in sizes.into_iter().enumerate() {
            let case = Case { size, ..Case::new(&PROGRAM, algorithm.name, machine(8, FIGURE_4)) };
            let answers = if n % 3 == 0 { lab.measured(case)? } else { lab.model(case)? };
            points.push((size as f64, answers.prediction));
            if n % 3 == 0 {
                runs.push(&[algorithm.name, &size.to_string()], None, &answers);
            }
        }
        lines.extend(curves(algorithm.name, number, &points, |_, time| time.in_units(US)));
        lab.done(0.4 + 0.3 * (number + 1) as f64);
    }
    let plot = Plot::new("Summation on 8 processors", format!("{}, in cycles", named(FIGURE_4)))
        .x("operands n", Scale::Log)
        .y("time [cycles]", Scale::Log)
        .lines(lines);
    Ok((plot, runs))
}

/// As many operands as can be summed by T cycles.
fn by_time(P: usize, times: [i64; 3], T: i64) -> Case {
    Case::new(&PROGRAM, "optimal", machine(P, times)).with(&TIME, Some(Length::cycles(T as u32)))
}

/// How many operands there were.
fn summed(answers: &Answers) -> i64 {
    answers.outcome.metric("operands").expect("a summation says how many operands it had") as i64
}
