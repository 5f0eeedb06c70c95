//! Figures 8, 9 and 11: how messages are split in parts, one by each intermediate processor.

use loggp::US;

use super::super::{Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::{arrivals, case, ends, form, lengths, list, named};
use crate::pictures::timeline::timeline;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{
    Arrival, FAN_OUT, FanOut, MATRIX, Matrix, SKEW, Scheme, Skew, TRAFFIC, matrix,
};
use loggp_study::Failed;

/// Figure 8.
pub const FIGURE_8: Exhibit = Exhibit {
    id: "transport-fig8",
    place: "figure 8, section 7.1",
    title: "local pre-processing in stage 1",
    says: &[
        "The procedure of a source: of sendl[j] elements sendl[j] div p go by each intermediate, and the other \
         sendl[j] mod p by one each, in a round robin that goes on from one j to the next.",
        "So no message of stage 1 is longer than t/p, rounded up. With equal traffic the shortest is t/p, rounded down: \
         lengths differ by one element at most.",
        "It takes O(p^2). The constants of the analysis are small, typically between 2 and 3 (section 7.3).",
    ],
    formulas: &["stage 1: messages of floor(t/p) to ceil(t/p) elements (section 7.1)"],
    commands: &[
        "loggp run transportation two-stage --matrix figure-9 --machine cm5 -P 4 --barrier 5us",
        "loggp run transportation two-stage --machine cm5 -P 32 --barrier 5us --fan-out 32 --skew 1/32 --traffic 6400",
    ],
    seconds: Seconds { quick: 4.0, full: 6.0 },
    make: figure_8,
};

/// Figure 9.
pub const FIGURE_9: Exhibit = Exhibit {
    id: "transport-fig9",
    place: "figure 9, section 7.1",
    title: "splitting of messages in the two-stage algorithm",
    says: &[
        "The matrix of 4 processors, each of which sends 17 elements and receives 17: the margins. How the parts go is a picture.",
        "A scan of each processor's traffic modulo p says at which intermediate its round robin begins. It is an \
         additional step: with it the messages that reach an intermediate have p ceil(t/p) elements at most together, and t at \
         most as is said further on.",
        "No message of stage 1 is longer than ceil(t/p).",
    ],
    formulas: &["messages of floor(t/p) to ceil(t/p) elements; at an intermediate t together (section 7.1)"],
    commands: &[
        "loggp matrix figure-9 -o figure-9.svg",
        "loggp run transportation two-stage-scan --matrix figure-9 --machine cm5 -P 4 --barrier 5us --timeline scan.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 2.0 },
    make: figure_9,
};

/// Figure 11.
pub const FIGURE_11: Exhibit = Exhibit {
    id: "transport-fig11",
    place: "figures 11 and 12, section 8",
    title: "an alternate scheme for the splitting of messages",
    says: &[
        "The same matrix by another scheme, for r > c. How its parts go is a picture.",
        "The round robin goes on from one source to the next, for each destination by itself; a prefix sum over the sources says \
         where it begins. So no message of stage 2 is longer than ceil(t/p).",
        "An additional step, a sum of vectors, makes what leaves an intermediate t and not p ceil(t/p) at most.",
        "Figure 12 is the code: it begins with the scan of sendl modulo p, and adds all elements of a source for a destination \
         to the same message.",
    ],
    formulas: &["stage 2: messages of ceil(c/p) elements at most; stage 1: of r/p + p at most (section 8)"],
    commands: &[
        "loggp run transportation two-stage-alternate --matrix figure-11 --machine cm5 -P 4 --barrier 5us --timeline alternate.svg",
        "loggp run transportation two-stage-alternate-combine --matrix figure-11 --machine cm5 -P 4 --barrier 5us",
    ],
    seconds: Seconds { quick: 1.0, full: 2.0 },
    make: figure_11,
};

/// The procedure of figure 8, line by line; it begins at intermediate k. Entry [k][j] is how much goes by k to j. And how
/// many steps its loops take.
fn stage_1_preprocessing(sendl: &[usize], mut k: usize) -> (Vec<Vec<usize>>, usize) {
    let P = sendl.len();
    let (mut send_msg_len, mut steps) = (vec![vec![0; P]; P], 0);
    for j in 0..P {
        for row in &mut send_msg_len {
            row[j] = sendl[j] / P;
            steps += 1;
        }
    }
    for j in 0..P {
        for _ in 0..sendl[j] % P {
            send_msg_len[k][j] += 1;
            k = (k + 1) % P;
            steps += 1;
        }
    }
    // The places of the parts, which are known when their lengths are.
    steps += P * P;
    (send_msg_len, steps)
}

/// The changes of figure 12, line by line: who sends how much by whom to whom, as `[i][k][j]`. It moves on from one
/// intermediate to the next, as figure 8 does, or it does not, as it is printed.
fn figure_12(matrix: &Matrix, moves_on: bool) -> Vec<Vec<Vec<usize>>> {
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

/// The longest message of stage 2: by one intermediate, for one destination.
fn longest_2(parts: &[Vec<Vec<usize>>]) -> usize {
    let P = parts.len();
    let message = |k: usize, j: usize| parts.iter().map(|source| source[k][j]).sum();
    (0..P * P).map(|n| message(n / P, n % P)).max().unwrap_or(0)
}

/// The most that comes to an intermediate in stage 1.
fn most_coming(lengths: &Matrix) -> usize {
    (0..lengths.P()).map(|k| lengths.c_j(k)).max().unwrap_or(0)
}

/// The most that leaves one in stage 2.
fn most_leaving(lengths: &Matrix) -> usize {
    (0..lengths.P()).map(|k| lengths.r_i(k)).max().unwrap_or(0)
}

/// A case with a message to each of the 32 processors, one of which gets all but 1/l of the traffic.
fn skewed(algorithm: &str, l: usize) -> Case {
    let case = case(algorithm, 32).with(&FAN_OUT, Some(FanOut::Of(32)));
    case.with(&SKEW, Some(Skew::fraction(1, l))).with(&TRAFFIC, Some(6411))
}

fn figure_8(lab: &Lab) -> Result<Finding, Failed> {
    let mut table = Table::new("lengths", "Messages of stage 1, in elements")
        .text("matrix")
        .exact("P", "")
        .exact("t", "elements")
        .exact("shortest of the matrix", "")
        .exact("longest of the matrix", "")
        .exact("shortest of stage 1", "")
        .exact("longest of stage 1", "")
        .exact("steps of figure 8 / p^2", "");
    let mut checks = Vec::new();
    // Of the skewed matrices: the shortest and the longest message, before and after.
    let (mut matrices, mut of_skewed) = (Vec::new(), Vec::new());
    for (name, P) in [("figure-1", 8), ("figure-3", 4), ("figure-9", 4)] {
        matrices.push((name.to_string(), named(name, P)?));
    }
    let skews: &[usize] = lab.pick(&[2, 8, 32], &[2, 4, 8, 16, 32]);
    for l in skews {
        matrices.push((format!("k = 32, l = 1/{l}"), matrix(&skewed("linear", *l))?));
    }
    let (mut least_steps, mut most_steps) = (f64::MAX, 0.0_f64);
    for (n, (name, matrix)) in matrices.iter().enumerate() {
        let (P, t) = (matrix.P(), matrix.t());
        let arrivals = arrivals(lab, matrix, form(Scheme::Local))?;
        let (mut others, mut steps) = (0, 0.0_f64);
        for (i, arrival) in arrivals.iter().enumerate() {
            let (right, taken) = stage_1_preprocessing(matrix.row(i), 0);
            others += different(&arrival.parts, &right);
            let taken = taken as f64 / (P * P) as f64;
            (least_steps, most_steps, steps) =
                (least_steps.min(taken), most_steps.max(taken), steps.max(taken));
        }
        let (shortest, longest) = ends(&lengths(&arrivals, 0));
        checks.push(Check::equal(
            format!("parts of a run that are not those of figure 8, of {}: {name}", P * P * P),
            "0",
            others as f64,
        ));
        checks.push(Check::same(
            format!("shortest and longest message of stage 1, t = {t}, p = {P}: {name}"),
            &list([t / P, t.div_ceil(P)]),
            list([shortest, longest]),
        ));
        let of_matrix = ends(matrix);
        if P == 32 {
            of_skewed.push([of_matrix.0, of_matrix.1, shortest, longest]);
        }
        table.push(vec![
            name.as_str().into(),
            P.into(),
            t.into(),
            of_matrix.0.into(),
            of_matrix.1.into(),
            shortest.into(),
            longest.into(),
            steps.into(),
        ]);
        lab.done(0.5 * (n + 1) as f64 / matrices.len() as f64);
    }
    checks.push(Check::claim(
        "steps of the loops of figure 8, over p^2",
        "O(p^2), with constants typically between 2 and 3",
        format!("{least_steps:.2} to {most_steps:.2}"),
        2.0 <= least_steps && most_steps <= 3.0,
    ));

    let mut runs = Runs::new("runs", "Skewed matrices, P = 32, t = 6,411, k = 32", &["l"], ("ms", super::MS));
    for l in [2, 32] {
        let skewed = skewed("two-stage", l);
        let answers = if l == 32 { lab.measured(skewed)? } else { lab.model(skewed)? };
        runs.push(&[&format!("1/{l}")], None, &answers);
    }
    let line = |label: &str, number, which: usize| {
        let points = skews
            .iter()
            .zip(&of_skewed)
            .map(|(l, lengths): (_, &[usize; 4])| (*l as f64, lengths[which] as f64));
        Line::new(label, number, Look::Both, points.collect())
    };
    let plot = Plot::new("Messages before and after splitting", "P = 32, t = 6,411 elements, fan-out k = 32")
        .x("1 / l, for the skew l", Scale::Points)
        .y("elements of a message", Scale::Log)
        .lines([
            line("shortest of the matrix", 3, 0),
            line("longest of the matrix", 1, 1),
            line("shortest of stage 1", 4, 2),
            line("longest of stage 1", 2, 3),
        ])
        .level("t/p", 6411.0 / 32.0);
    let verdict = format!(
        "{} The loops take {least_steps:.2} to {most_steps:.2} p^2 steps.",
        match checks.iter().all(|check| check.agreement < super::super::Agreement::Differs) {
            true =>
                "It agrees: runs split as the procedure does line by line, and no two messages differ by more than an element.",
            false => "It does not agree everywhere.",
        }
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table)
        .picture(
            "",
            "However skewed the matrix is, the messages of stage 1 are as long as each other, but for an element.",
            plot.svg(),
        )
        .checks(checks))
}

/// How many entries are not the same.
fn different(one: &[Vec<usize>], other: &[Vec<usize>]) -> usize {
    one.iter().flatten().zip(other.iter().flatten()).filter(|(one, other)| one != other).count()
}

/// Who sends how much by whom to whom.
fn parts_table(title: &str, arrivals: &[Arrival]) -> Table {
    let P = arrivals.len();
    let mut table = Table::new("parts", title).text("from").text("by");
    table = (0..P).fold(table, |table, j| table.exact(&format!("to P{j}"), "")).exact("together", "");
    for (i, arrival) in arrivals.iter().enumerate() {
        for (k, parts) in arrival.parts.iter().enumerate() {
            let mut row = vec![format!("P{i}").into(), format!("P{k}").into()];
            row.extend(parts.iter().map(|part| (*part).into()));
            row.push(parts.iter().sum::<usize>().into());
            table.push(row);
        }
    }
    table
}

fn figure_9(lab: &Lab) -> Result<Finding, Failed> {
    let matrix = named("figure-9", 4)?;
    let scanned = arrivals(lab, &matrix, form(Scheme::Scan))?;
    let local = arrivals(lab, &matrix, form(Scheme::Local))?;
    let (stage_1, plain) = (lengths(&scanned, 0), lengths(&local, 0));

    // The round robin of a source begins where the sum of what is left over before it says.
    let mut first = 0;
    let others = scanned.iter().enumerate().map(|(i, arrival)| {
        let (right, _) = stage_1_preprocessing(matrix.row(i), first % 4);
        first += matrix.r_i(i);
        different(&arrival.parts, &right)
    });
    let others: usize = others.sum();
    let (shortest, longest) = ends(&stage_1);
    let checks = vec![
        Check::same("outgoing traffic, beside the rows", "17 17 17 17", list((0..4).map(|i| matrix.r_i(i)))),
        Check::same(
            "incoming traffic, below the columns",
            "17 17 17 17",
            list((0..4).map(|j| matrix.c_j(j))),
        ),
        Check::equal(
            "parts of a run that are not those of figure 8 begun where the scan says, of 64",
            "0",
            others as f64,
        ),
        Check::same(
            "shortest and longest message of stage 1: t/p down and up",
            "4 5",
            list([shortest, longest]),
        ),
        Check::claim(
            "what comes to the busiest intermediate, without the additional step",
            "p ceil(t/p) = 20 at most",
            most_coming(&plain).to_string(),
            most_coming(&plain) <= 20,
        ),
        Check::equal(
            "what comes to the busiest intermediate, with it: t",
            "17",
            most_coming(&stage_1) as f64,
        ),
    ];
    let agree = checks.iter().all(|check| check.agreement < super::super::Agreement::Differs);
    let verdict = format!(
        "{} The scan takes the busiest intermediate from {} elements to {}, which is t.",
        if agree { "It agrees." } else { "It does not agree everywhere." },
        most_coming(&plain),
        most_coming(&stage_1),
    );
    split(lab, "figure-9", &["two-stage", "two-stage-scan"], &scanned, Finding::new(verdict).checks(checks))
}

fn figure_11(lab: &Lab) -> Result<Finding, Failed> {
    let matrix = named("figure-11", 4)?;
    let alternate = arrivals(lab, &matrix, form(Scheme::Alternate))?;
    let combined = arrivals(lab, &matrix, form(Scheme::Combine))?;
    let [stage_1, stage_2] = [0, 1].map(|stage| lengths(&alternate, stage));
    let leaving = lengths(&combined, 1);
    let parts: Vec<Vec<Vec<usize>>> = alternate.iter().map(|arrival| arrival.parts.clone()).collect();
    let printed = longest_2(&figure_12(&matrix, false));
    let inclusive = longest_2(&figure_12(&matrix, true));
    let (longest, bound) = (ends(&stage_2).1, 17 / 4 + 4);
    let checks = vec![
        Check::equal("longest message of stage 2: ceil(t/p)", "5", longest as f64),
        Check::equal("the same, added up from the parts of stage 1", "5", longest_2(&parts) as f64),
        Check::claim(
            "longest message of stage 1",
            "r/p + p = 8.25 at most",
            ends(&stage_1).1.to_string(),
            ends(&stage_1).1 <= bound,
        ),
        Check::claim(
            "what leaves the busiest intermediate, without the additional step",
            "p ceil(t/p) = 20 at most",
            most_leaving(&stage_2).to_string(),
            most_leaving(&stage_2) <= 20,
        ),
        Check::equal("what leaves the busiest intermediate, with it: t", "17", most_leaving(&leaving) as f64),
        Check::equal("longest message of stage 2 by figure 12 as it is printed: ceil(t/p)", "5", printed as f64).because(
            "its loop gives all elements that are left over of a message to the same intermediate; figure 8 goes on to the next \
             after each, and the text has a round robin",
        ),
        Check::equal("the same, going on to the next as figure 8 does: ceil(t/p)", "5", inclusive as f64).because(
            "a prefix sum that counts the source's own elements begins where they should end, so that those of two sources \
             overlap; the sum of the sources before it is meant",
        ),
    ];
    let verdict = format!(
        "{} By figure 12 as it is printed a message of stage 2 would have up to {printed} elements, or {inclusive} if its loop went \
         on from one intermediate to the next; begun at the sum of the sources before, it has {longest}.",
        match checks
            .iter()
            .all(|check| check.agreement < super::super::Agreement::Differs || check.reason.is_some())
        {
            true => "The scheme keeps to its bounds.",
            false => "The scheme does not keep to all its bounds.",
        }
    );
    let algorithms = ["two-stage-alternate", "two-stage-alternate-combine"];
    split(lab, "figure-11", &algorithms, &alternate, Finding::new(verdict).checks(checks))
}

/// The parts, a timeline of the last algorithm, and the runs of all.
fn split(
    lab: &Lab,
    name: &str,
    algorithms: &[&str],
    arrivals: &[Arrival],
    finding: Finding,
) -> Result<Finding, Failed> {
    let mut runs = Runs::new("runs", "The matrix transported on the CM-5", &["algorithm"], ("us", US));
    for algorithm in algorithms {
        runs.push(
            &[algorithm],
            None,
            &lab.measured(case(algorithm, 4).with(&MATRIX, name.to_string().into()))?,
        );
    }
    let shown = algorithms.last().expect("there are algorithms");
    let (_, trace) = lab.traced(case(shown, 4).with(&MATRIX, name.to_string().into()))?;
    let picture = timeline(&trace, &format!("{shown} of {name}, P = 4, CM-5"), ("us", US));
    Ok(finding
        .table(runs.table())
        .table(parts_table("How many elements of each message go by each intermediate", arrivals))
        .picture(
            "timeline",
            "A run of the model: what is computed together, then for each stage the exchange of the vectors and three steps with \
             barriers.",
            picture.expect("it is small"),
        ))
}
