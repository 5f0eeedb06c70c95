//! Figures 8 to 12: how messages are split into parts, one for each intermediate processor.

use loggp::Run;
use loggp_programs::transportation::{
    Delivery, FAN_OUT, FanOut, Matrix, SKEW, Scheme, Skew, TRAFFIC, TwoStageForm, matrix,
};

use super::matrices::add_entries;
use super::{
    add_formula_check, case, matrix_case, message_lengths, named_matrix, run_two_stage, shortest_and_longest,
};
use crate::prelude::*;

pub(super) const FIGURE_8: Exhibit = Exhibit {
    id: "transport-fig8",
    place: "figure 8, section 7.1",
    title: "local pre-processing in stage 1",
    notes: "Of the sendl[j] elements for j, sendl[j] div p go by each intermediate. The other sendl[j] mod p go by one intermediate each, in a \
            round robin that goes on from one j to the next.",
    formulas: &["bound: stage 1: messages of floor(t/p) to ceil(t/p) elements (section 7.1)"],
    series: |_| vec![CaseSeries::from_case("l = 1/32", skewed_case("two-stage", 32)).measured()],
    show: show_figure_8,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_9: Exhibit = Exhibit {
    id: "transport-fig9",
    place: "figure 9, section 7.1",
    title: "splitting of messages in the two-stage algorithm",
    printed: 23,
    notes: "The numbers in the paper's drawing are lost in our copy of the text, which has the matrix and its margins. A scan of each \
            processor's traffic modulo p says at which intermediate its round robin begins.",
    formulas: &[
        "bound: messages of floor(t/p) to ceil(t/p) elements; at an intermediate t together (section 7.1)",
    ],
    series: |_| split_series("figure-9", ["two-stage", "two-stage-scan"]),
    show: show_figure_9,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_10: Exhibit = Exhibit {
    id: "transport-fig10",
    place: "figure 10, section 7.2",
    title: "local pre-processing in stage 2",
    notes: "An intermediate has p messages one after the other. Each has its length, p lengths of its parts, and t/p elements. The code finds \
            the parts. Here p = 4, and every processor sends 16 elements to itself and the others.",
    formulas: &["order: O(p^2) (section 7.2)"],
    show: show_figure_10,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_11: Exhibit = Exhibit {
    id: "transport-fig11",
    place: "figures 11 and 12, section 8",
    title: "an alternate scheme for the splitting of messages",
    notes: "The drawing of figure 11 is lost in our copy of the text, and its matrix with it: figure 9's is taken. The round robin goes on from \
            one source to the next, for each destination by itself. A prefix sum over the sources says where it begins.",
    formulas: &[
        "bound: stage 2: messages of ceil(c/p) elements at most; stage 1: of r/p + p at most (section 8)",
    ],
    series: |_| split_series("figure-11", ["two-stage-alternate", "two-stage-alternate-combine"]),
    show: show_figure_11,
    ..Exhibit::USUAL
};

/// Returns the series of a matrix transported by two algorithms, both measured and the second one traced too.
fn split_series(name: &'static str, algorithms: [&'static str; 2]) -> Vec<CaseSeries> {
    let measured = algorithms.map(|one| CaseSeries::from_case(one, matrix_case(one, 4, name)).measured());
    let traced = CaseSeries::from_case("traced", matrix_case(algorithms[1], 4, name)).traced();
    measured.into_iter().chain([traced]).collect()
}

/// Runs the procedure of figure 8, line by line, from intermediate k on. Entry `[k][j]` is the number of
/// elements that go by k to j.
fn stage_1_preprocessing(sendl: &[usize], mut k: usize) -> Vec<Vec<usize>> {
    let P = sendl.len();
    let mut send_msg_len = vec![vec![0; P]; P];
    for j in 0..P {
        for row in &mut send_msg_len {
            row[j] = sendl[j] / P;
        }
    }
    for j in 0..P {
        for _ in 0..sendl[j] % P {
            send_msg_len[k][j] += 1;
            k = (k + 1) % P;
        }
    }
    send_msg_len
}

/// Runs the procedure of figure 10, line by line, as printed or as it must be to find the parts. Returns the
/// lengths that it finds in an intermediate's memory, `[j][i]` of the message from i to j; `None` where it
/// reads beyond the memory.
fn stage_2_preprocessing(
    data_int: &[usize],
    P: usize,
    T: usize,
    as_printed: bool,
) -> Vec<Vec<Option<usize>>> {
    let mut send_msg_len = vec![vec![None; P]; P];
    for i in 0..P {
        // Each message has its length and those of its parts before its elements.
        let message = (T / P + 1 + P) * i;
        let mut start = if as_printed { (T / P) * i + 1 + P } else { message + 1 + P };
        for (j, found) in send_msg_len.iter_mut().enumerate() {
            let at = if as_printed { start * i + j + 1 } else { message + j + 1 };
            found[i] = data_int.get(at).copied();
            start += found[i].unwrap_or(0);
        }
    }
    send_msg_len
}

/// Runs the changes of figure 12, line by line. Entry `[i][k][j]` is the number of elements that i sends by k
/// to j. It moves on from one intermediate to the next, as figure 8 does, or does not, as printed.
fn split_by_figure_12(matrix: &Matrix, moves_on: bool) -> Vec<Vec<Vec<usize>>> {
    let P = matrix.P();
    let mut scan = vec![0; P];
    let source = |i: usize| {
        let mut send_msg_len: Vec<Vec<usize>> =
            (0..P).map(|_| matrix.row(i).iter().map(|elements| elements / P).collect()).collect();
        for j in 0..P {
            let sendl = matrix.at(i, j) % P;
            scan[j] += sendl;
            let mut k = scan[j] % P;
            for _ in 0..sendl {
                send_msg_len[k][j] += 1;
                k = if moves_on { (k + 1) % P } else { k };
            }
        }
        send_msg_len
    };
    (0..P).map(source).collect()
}

/// Returns the longest message of stage 2, from one intermediate to one destination.
fn longest_of_stage_2(parts: &[Vec<Vec<usize>>]) -> usize {
    let P = parts.len();
    let message = |k: usize, j: usize| parts.iter().map(|source| source[k][j]).sum();
    (0..P * P).map(|n| message(n / P, n % P)).max().unwrap_or(0)
}

/// Returns a case with a message to each of the 32 processors, one of which gets all but 1/l of the traffic.
fn skewed_case(algorithm: &str, l: usize) -> Case {
    let case = case(algorithm, 32).with(&FAN_OUT, Some(FanOut::Fixed(32)));
    case.with(&SKEW, Some(Skew::fraction(1, l))).with(&TRAFFIC, Some(6411))
}

fn show_figure_8(sheet: &mut Sheet) -> Result<(), StudyError> {
    let skews = [2, 4, 8, 16, 32];
    let figures = [("figure-1", 8), ("figure-3", 4), ("figure-9", 4)].map(|(name, P)| named_matrix(name, P));
    let of_skewed = skews.map(|l| Ok(matrix(&skewed_case("linear", l))?));
    let matrices: Vec<Matrix> = figures.into_iter().chain(of_skewed).collect::<Result<_, StudyError>>()?;
    let (mut same, mut even) = (Vec::new(), Vec::new());
    let mut curves = [const { Vec::new() }; 4];
    for (n, matrix) in matrices.iter().enumerate() {
        let (P, t) = (matrix.P(), matrix.t());
        let run = run_two_stage(sheet.lab, matrix, TwoStageForm::new(Scheme::Local))?;
        let is_same =
            |i: usize| run.ran(|run| run.results[i].parts == stage_1_preprocessing(matrix.row(i), 0));
        same.extend((0..P).map(is_same));
        let lengths = run.ran(|run| shortest_and_longest(&message_lengths(run, 0)));
        even.push(lengths.map(|lengths| lengths == ((t / P) as f64, t.div_ceil(P) as f64)));
        if let Some(l) = n.checked_sub(3).map(|n| skews[n]) {
            let whole = shortest_and_longest(matrix);
            let (shortest, longest) = lengths.value();
            let lengths = [whole.0, whole.1, shortest, longest];
            curves.iter_mut().zip(lengths).for_each(|(curve, length)| curve.push((l as f64, length)));
        }
    }
    sheet.add_own_check("processors of 8 matrices that split as figure 8 does line by line", same);
    let what = "matrices whose messages of stage 1 have t/p elements, rounded down or up";
    sheet.add_own_check(what, even);
    add_formula_check(sheet, 1.0);
    let [a, b, c, d] = curves;
    let plot = Plot::new("Messages before and after splitting", "P = 32, t = 6,411 elements, fan-out k = 32")
        .x("1 / l, for the skew l", Scale::Points)
        .y("elements of a message", Scale::Log)
        .lines([
            marked_line("shortest of the matrix", 3, a),
            marked_line("longest of the matrix", 1, b),
            marked_line("shortest of stage 1", 4, c),
            marked_line("longest of stage 1", 2, d),
        ])
        .level("t/p", 6411.0 / 32.0);
    let caption = "However skewed the matrix is, the messages of stage 1 are as long as each other, but for an element.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Returns the table of the parts by sender, intermediate and destination.
fn parts_table(deliveries: &[Delivery]) -> Table {
    let P = deliveries.len();
    let table = Table::new("parts", "How many elements of each message go by each intermediate")
        .text("from")
        .text("by");
    let mut table = (0..P).fold(table, |table, j| table.exact(&format!("to P{j}"), "")).exact("together", "");
    for (i, delivery) in deliveries.iter().enumerate() {
        for (k, parts) in delivery.parts.iter().enumerate() {
            let mut row = vec![format!("P{i}").into(), format!("P{k}").into()];
            row.extend(parts.iter().map(|part| (*part).into()));
            row.push(parts.iter().sum::<usize>().into());
            table.push(row);
        }
    }
    table
}

fn show_figure_9(sheet: &mut Sheet) -> Result<(), StudyError> {
    let matrix = named_matrix("figure-9", 4)?;
    let scanned = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Scan))?;
    let plain = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Local))?;
    let received = |run: &Run<Delivery>| run.ran(|run| message_lengths(run, 0).c() as f64);
    let margins = [join_words((0..4).map(|i| matrix.r_i(i))), join_words((0..4).map(|j| matrix.c_j(j)))];
    for (what, ours) in
        ["outgoing traffic, beside the rows", "incoming traffic, below the columns"].into_iter().zip(margins)
    {
        sheet.add_text(what, "figure 9", "17 17 17 17", ours).by_arithmetic();
    }
    add_entries(sheet, &matrix, "figure 9", &["11 1 4 1", "2 . 3 12", "3 10 3 1", "1 6 7 3"]);
    // A source's round robin begins where the sum of the earlier sources' traffic says.
    let mut first = 0;
    let same = (0..4).map(|i| {
        let right = stage_1_preprocessing(matrix.row(i), first % 4);
        first += matrix.r_i(i);
        scanned.ran(|run| run.results[i].parts == right)
    });
    sheet.add_own_check("processors that split as figure 8 does, begun where the scan says", same);
    let quote = "each intermediate processor P_k receives messages of size no more than \u{2308}t/p\u{2309}. In the equal traffic case, the \
                 message sizes can vary by only one element";
    let lengths = scanned.ran(|run| shortest_and_longest(&message_lengths(run, 0)));
    let what = "elements of the shortest and the longest message of stage 1: t/p = 4.25";
    let ours = [lengths.map(|(shortest, _)| shortest), lengths.map(|(_, longest)| longest)];
    sheet.add_claim(what, "7.1", quote, between(4.0, 5.0), ours);
    let quote = "In the algorithm description above the total length was upper-bounded by t + p^2.";
    let what = "elements that come to the busiest intermediate without the additional step: t + p^2 = 33";
    sheet.add_claim(what, "7.1", quote, at_most(33.0), [received(&plain)]);
    let quote = "The additional step reduces the total length of messages reaching an intermediate processor from t + p to t";
    let what = "elements that come to the busiest intermediate with the additional step: t = 17";
    sheet.add_claim(what, "7.1", quote, at_most(17.0), [received(&scanned)]);
    add_formula_check(sheet, 0.0);
    add_parts_and_timeline(sheet, &scanned.results, "two-stage-scan of figure-9");
    Ok(())
}

/// Adds the table of the parts and the timeline of a run.
fn add_parts_and_timeline(sheet: &mut Sheet, deliveries: &[Delivery], title: &str) {
    sheet.add_table(parts_table(deliveries));
    let result = sheet.last_result("traced").clone();
    let caption = "A run of the model: what is computed together, then for each stage the exchange of the vectors and three steps with \
                   barriers.";
    sheet.add_timeline("timeline", caption, &format!("{title}, P = 4, CM-5"), &result);
}

fn show_figure_10(sheet: &mut Sheet) -> Result<(), StudyError> {
    const P: usize = 4;
    let sendl = [[7, 1, 4, 4], [2, 6, 5, 3], [3, 8, 3, 2], [4, 1, 4, 7]];
    let T = 16;
    // The parts at intermediate 1 after stage 1.
    let parts: Vec<Vec<usize>> =
        sendl.iter().map(|sendl| stage_1_preprocessing(sendl, 0)[1].clone()).collect();
    let message = |parts: &Vec<usize>| {
        let header = [parts.iter().sum()].into_iter().chain(parts.iter().copied());
        header.chain(std::iter::repeat_n(0, T / P)).collect::<Vec<usize>>()
    };
    let data_int: Vec<usize> = parts.iter().flat_map(message).collect();
    let right = |as_printed: bool| {
        let found = stage_2_preprocessing(&data_int, P, T, as_printed);
        let is_right = |n: usize| found[n % P][n / P] == Some(parts[n / P][n % P]);
        (0..P * P).map(is_right).collect::<Vec<_>>()
    };
    let what = "lengths of parts that the code finds if message i begins at (T/P + 1 + P) i, and its lengths are read there";
    sheet.add_own_check(what, right(false));
    let printed = right(true).into_iter().filter(|is_right| *is_right).count() as f64;
    let quote = "start := (T/P)*i + 1 + P; ... total := data_int[start*i+j+1];";
    let what = "lengths of parts, of 16, that the printed code finds";
    sheet.add_claim(what, "figure 10", quote, exactly(16.0), [printed]).by_count().expect_difference(
        DifferenceCause::Misprint,
        "as printed the code does not find where a message begins, nor where its lengths are",
        "Message i begins at (T/P + 1 + P) i, since p lengths and their sum go before each message: the code has (T/P) i + 1 + P. Its \
         lengths are read from there: the code reads at start * i, and start grows with what was read. So it finds the 4 lengths of the \
         first message, and two more by chance.",
    );
    Ok(())
}

fn show_figure_11(sheet: &mut Sheet) -> Result<(), StudyError> {
    let matrix = named_matrix("figure-11", 4)?;
    let alternate = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Alternate))?;
    let combined = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Combine))?;
    let leaving = |run: &Run<Delivery>| run.ran(|run| message_lengths(run, 1).r() as f64);
    let quote = "The new scheme ensures that each intermediate processor sends messages of size no more than \u{2308}t/p\u{2309} to any \
                 destination processor.";
    let longest = alternate.ran(|run| shortest_and_longest(&message_lengths(run, 1)).1);
    sheet.add_claim(
        "elements of the longest message of stage 2: ceil(t/p) = 5",
        "8",
        quote,
        at_most(5.0),
        [longest],
    );
    let printed = longest_of_stage_2(&split_by_figure_12(&matrix, false)) as f64;
    sheet.add_claim("the longest message of stage 2 by the printed figure 12", "8", quote, at_most(5.0), [printed]).by_count().expect_difference(
        DifferenceCause::Misprint,
        "the printed loop does not go on from one intermediate to the next",
        "The loop of figure 12 gives all elements of a message that are left over to the same intermediate. The text has a round robin, and \
         figure 8 goes on to the next intermediate after each element.",
    );
    let inclusive = longest_of_stage_2(&split_by_figure_12(&matrix, true)) as f64;
    sheet.add_claim("the same by figure 12 with figure 8's step to the next intermediate", "8", quote, at_most(5.0), [inclusive]).by_count().expect_difference(
        DifferenceCause::Misprint,
        "the scan counts a source's own elements, so that those of two sources overlap",
        "The prefix sum of section 4.2 counts a source's own elements. So a source begins where its elements should end, and those of two \
         sources overlap. The sum of the sources before it is right.",
    );
    let quote = "an additional step can reduce the upper bound on the total length of messages leaving an intermediate processor from \
                 p\u{2308}t/p\u{2309} to t";
    let what = "elements that leave the busiest intermediate without the additional step: p ceil(t/p) = 20";
    sheet.add_claim(what, "8", quote, at_most(20.0), [leaving(&alternate)]);
    sheet.add_claim(
        "elements that leave the busiest intermediate with the additional step: t = 17",
        "8",
        quote,
        at_most(17.0),
        [leaving(&combined)],
    );
    add_formula_check(sheet, 0.0);
    add_parts_and_timeline(sheet, &alternate.results, "two-stage-alternate-combine of figure-11");
    Ok(())
}
