//! Figures 4 to 6: the schedules of linear permutation and of distributed random scheduling.

use std::collections::BTreeSet;

use loggp_programs::transportation::{MATRIX, RandomSchedule, STAGE1, SendSchedule, TRAFFIC};

use super::{add_formula_check, case, matrix_case, named_matrix};
use crate::prelude::*;

pub(super) const FIGURE_4: Exhibit = Exhibit {
    id: "transport-fig4",
    place: "figure 4, section 5",
    title: "the linear permutation, step by step",
    notes: "Figure 1's matrix. In iteration k processors i and i xor k exchange what they have for each other, and a barrier ends the iteration.",
    formulas: &["bound: O(sp) for messages of up to s elements (section 5)"],
    series: |_| vec![CaseSeries::from_case("linear", matrix_case("linear", 8, "figure-1")).traced()],
    show: show_linear,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_5: Exhibit = Exhibit {
    id: "transport-fig5",
    place: "figures 5 and 6, section 6",
    title: "distributed random scheduling",
    notes: "Figure 1's matrix. A processor asks whether its receiver is free, and sends if it is.",
    series: |_| {
        let permutation = |name: &'static str| {
            CaseSeries::from_values(format!("permutation, {name}"), "P", [8, 16, 32], |P| {
                matrix_case(name, P, "permutation")
            })
        };
        let stage_1 = |of: &str, matrix: &'static str, t: usize, schedule: SendSchedule, name: &str| {
            let case = case("two-stage", 32).with(&MATRIX, matrix.into()).with(&TRAFFIC, Some(t));
            CaseSeries::from_case(format!("stage 1, {of}, {name}"), case.with(&STAGE1, schedule))
        };
        let distributed = SendSchedule::Random(RandomSchedule::IMPROVED);
        vec![
            stage_1(EQUAL, "uniform", 1 << 15, SendSchedule::Linear, "linear"),
            stage_1(EQUAL, "uniform", 1 << 15, distributed, "distributed"),
            stage_1(ONE, "one-message", 4, SendSchedule::Linear, "linear"),
            stage_1(ONE, "one-message", 4, distributed, "distributed"),
            CaseSeries::from_case("random", matrix_case("random", 8, "figure-1")).traced(),
            CaseSeries::from_case("random-improved", matrix_case("random-improved", 8, "figure-1")).traced(),
            permutation("random"),
            permutation("linear"),
        ]
    },
    show: show_random,
    ..Exhibit::USUAL
};

/// Names of the matrices of a first stage.
const EQUAL: &str = "equal traffic";
const ONE: &str = "one message of 4 elements";

/// Returns sender, receiver and entry time in ps of all messages, in the order of entry.
fn sent_messages(trace: &Trace) -> Vec<(usize, usize, i64)> {
    let all = trace.messages.iter();
    let mut all: Vec<_> = all.map(|one| (one.id.from, one.to, one.enter.as_ps())).collect();
    all.sort_by_key(|(_, _, enter)| *enter);
    all
}

fn show_linear(sheet: &mut Sheet) -> Result<(), StudyError> {
    let matrix = named_matrix("figure-1", 8)?;
    let result = sheet.last_result("linear").clone();
    // Before the first barrier the processors exchange their vectors.
    let barriers = result.trace().activities.iter().filter(|one| one.kind == ActivityKind::Barrier);
    let barriers: BTreeSet<i64> = barriers.map(|one| one.end.as_ps()).collect();
    let sent = sent_messages(result.trace());
    // Each of the 8 processors first sends its vector to the 7 others.
    let data = &sent[8 * 7..];
    let trace = result.trace();
    let step = |enter: i64| barriers.iter().filter(|end| **end <= enter).count();
    let first = step(data[0].2);
    let is_right = |&(from, to, enter): &(usize, usize, i64)| {
        to == from ^ (step(enter) - first + 1) && matrix.at(from, to) > 0
    };
    sheet.add_own_check(
        "messages that are sent in the iteration that figure 4 has them in",
        data.iter().map(|message| trace.ran(|_| is_right(message))),
    );
    let pairs = (0..8).flat_map(|i| (0..8).map(move |j| (i, j)));
    let expected = pairs.filter(|(i, j)| i != j && matrix.at(*i, *j) > 0);
    let is_sent_once = |pair| data.iter().filter(|(from, to, _)| (*from, *to) == pair).count() == 1;
    sheet.add_own_check(
        "messages of the matrix, each sent once",
        expected.map(|pair| trace.ran(|_| is_sent_once(pair))),
    );
    add_formula_check(sheet, 0.0);
    let quote = "The barrier also prevents the communication network from getting congested and this has been shown to improve performance";
    let why = "the model's network has no congestion: messages wait at its ports and for its capacity alone";
    sheet.add_out_of_reach("congestion without the barrier", "5", quote, why);
    let title = "Figure 1 by linear permutation, P = 8, CM-5";
    let caption = "First the exchange of the vectors, then seven steps with a barrier after each.";
    sheet.add_timeline("timeline", caption, title, &result);
    Ok(())
}

fn show_random(sheet: &mut Sheet) -> Result<(), StudyError> {
    let messages = named_matrix("figure-1", 8)?.entries().iter().filter(|elements| **elements > 0).count();
    for name in ["random", "random-improved"] {
        let result = sheet.last_result(name);
        let granted = result.metric("requests") - result.metric("rejected");
        let what = format!("{name}: inquiries that found their receiver free, one for each message");
        sheet.add_own_check(what, vec![granted.map(|granted| granted == messages as f64); messages]);
    }
    let quote = "A linear permutation algorithm could take as much as O(tp) time.";
    let over_t_mu = |name: &str| {
        let results = &sheet.series(&format!("permutation, {name}")).points;
        results.iter().map(|result| (result.x, 2.0 * result.metric("time / 2 t mu"))).collect::<Vec<_>>()
    };
    let [linear, random] = ["linear", "random"].map(over_t_mu);
    let what = "time of linear permutation over t p mu, where each processor has one message, p = 8, 16, 32";
    let rule =
        between(0.3, 1.0).because("of the order of t p: most of the p - 1 iterations have a message of t");
    sheet.add_claim(what, "6", quote, rule, linear.into_iter().map(|(p, time)| time / p));
    let quote =
        "We use a distributed random scheduling algorithm using spin locks to deal with such a situation.";
    let what = "time of random scheduling over t mu for the same matrices";
    let rule = between(0.9, 1.2).because("all messages go at once");
    sheet.add_claim(what, "6", quote, rule, random.into_iter().map(|(_, time)| time));
    add_stage_1(sheet);
    let result = sheet.last_result("random").clone();
    let title = "Figure 1 by distributed random scheduling, P = 8, CM-5";
    let caption = "After the exchange of the vectors inquiries, replies and the messages themselves.";
    sheet.add_timeline("timeline", caption, title, &result);
    Ok(())
}

/// Adds the first stage of two by linear permutation and by distributed scheduling.
fn add_stage_1(sheet: &mut Sheet) {
    let over = |sheet: &Sheet, of: &str| {
        let time =
            |name: &str| sheet.last_result(&format!("stage 1, {of}, {name}")).phase_time("stage 1", US);
        time("linear") / time("distributed")
    };
    let quote = "In the equal traffic case, since the communication is balanced with message lengths differing by just one element, linear \
                 permutation works best.";
    let what = "time of stage 1 by linear permutation over that by distributed scheduling, equal traffic 32,768, P = 32";
    let ours = [over(sheet, EQUAL)];
    sheet.add_claim(what, "7.1", quote, below(1.0), ours);
    let quote =
        "In the general case, distributed scheduling for the first stage's communication may perform better";
    let what = "the same where there is a single message of 4 elements";
    let rule = above(1.0).because("it may: one case is enough");
    let ours = [over(sheet, ONE)];
    sheet.add_claim(what, "7.1", quote, rule, ours);
}
