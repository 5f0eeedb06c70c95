//! Sections 7 and 8: bounds on the lengths of messages, on the traffic at an intermediate, and on the time.

use loggp::{ParamsBuilder, Run};
use loggp_programs::TimeSpan;
use loggp_programs::transportation::{
    Delivery, FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, OUTGOING, PART, SKEW, Scheme, Skew, TRAFFIC,
    TwoStageForm, matrix,
};

use super::{BARRIER, add_formula_check, case, message_lengths, run_two_stage, shortest_and_longest};
use crate::prelude::*;

pub(super) const BOUNDS: Exhibit = Exhibit {
    id: "transport-bounds",
    place: "sections 7, 8 and 10",
    title: "how long messages may be, and how long two stages take",
    notes: "Sorting is not run: its movements are the paper's counts added up.\n\
            The constants of section 7.3 follow from runs that differ in one quantity. By hand they are 2 of p^2, of p tau and of mu t, and 2 \
            to 3 of mu p^2: p lengths before each message of either stage, and up to p elements that a message of stage 2 is longer.",
    formulas: &[
        "bound: O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms; with all messages as long as they may be",
    ],
    unit: ("ms", MS),
    series,
    show,
    ..Exhibit::USUAL
};

/// A matrix and its two stages, in elements.
struct SplitMatrix {
    p: f64,
    /// Bounds of the outgoing and the incoming traffic, and of both.
    r: f64,
    c: f64,
    t: f64,
    /// Shortest and longest message of each stage.
    shortest: [f64; 2],
    longest: [f64; 2],
    /// Most that an intermediate receives in stage 1 and sends in stage 2.
    received: f64,
    sent: f64,
    /// Most that comes to a destination in stage 2.
    delivered: f64,
}

impl SplitMatrix {
    /// Returns a matrix and its stages in a run.
    fn new(matrix: &Matrix, run: &Run<Delivery>) -> SplitMatrix {
        let stages = [0, 1].map(|stage| message_lengths(run, stage));
        let [r, c, t] = [matrix.r(), matrix.c(), matrix.t()].map(|traffic| traffic as f64);
        let [(shortest_1, longest_1), (shortest_2, longest_2)] = stages.each_ref().map(shortest_and_longest);
        SplitMatrix {
            p: matrix.P() as f64,
            r,
            c,
            t,
            shortest: [shortest_1, shortest_2],
            longest: [longest_1, longest_2],
            received: stages[0].c() as f64,
            sent: stages[1].r() as f64,
            delivered: stages[1].c() as f64,
        }
    }
}

/// A bound of the paper: its subject and text, the scheme and the matrices that it is for, and the room that
/// it leaves, which is negative if it does not hold.
struct PaperBound {
    what: &'static str,
    paper: &'static str,
    scheme: Scheme,
    applies_to: fn(&Matrix) -> bool,
    room: fn(&SplitMatrix) -> f64,
}

const fn bound(
    what: &'static str,
    paper: &'static str,
    scheme: Scheme,
    applies_to: fn(&Matrix) -> bool,
    room: fn(&SplitMatrix) -> f64,
) -> PaperBound {
    PaperBound { what, paper, scheme, applies_to, room }
}

const ANY: fn(&Matrix) -> bool = |_| true;
const EQUAL: fn(&Matrix) -> bool = Matrix::is_equal;
const MULTIPLES: fn(&Matrix) -> bool =
    |matrix| matrix.entries().iter().all(|elements| elements % matrix.P() == 0);

/// Bounds of sections 7.1, 7.2 and 8.
const ALL: [PaperBound; 13] = {
    use Scheme::{Alternate, Combine, Local, Scan};
    [
        bound("stage 1, longest message (7.1)", "ceil(t/p)", Local, ANY, |s| {
            (s.t / s.p).ceil() - s.longest[0]
        }),
        bound("stage 1, shortest message, equal traffic (7.1)", "floor(t/p)", Local, EQUAL, |s| {
            s.shortest[0] - (s.t / s.p).floor()
        }),
        bound("stage 1, at an intermediate (7.1)", "p ceil(t/p)", Local, ANY, |s| {
            s.p * (s.t / s.p).ceil() - s.received
        }),
        bound("the same with the additional step (7.1)", "t", Scan, ANY, |s| s.t - s.received),
        bound("stage 2, longest message (7.2)", "t/p + p", Local, ANY, |s| s.t / s.p + s.p - s.longest[1]),
        bound("stage 2, shortest message, equal traffic (7.2)", "t/p - p", Local, EQUAL, |s| {
            s.shortest[1] - (s.t / s.p - s.p)
        }),
        bound("stage 2, at a destination (7.2)", "t + p^2", Local, ANY, |s| s.t + s.p.powi(2) - s.delivered),
        bound("stage 2, longest message, all a_ij multiples of p (7.3)", "t/p", Local, MULTIPLES, |s| {
            s.t / s.p - s.longest[1]
        }),
        bound("stage 1, longest message (8)", "ceil(r/p)", Local, ANY, |s| (s.r / s.p).ceil() - s.longest[0]),
        bound("stage 2, longest message (8)", "c/p + p", Local, ANY, |s| s.c / s.p + s.p - s.longest[1]),
        bound("alternate: stage 1, longest message (8)", "r/p + p", Alternate, ANY, |s| {
            s.r / s.p + s.p - s.longest[0]
        }),
        bound("alternate: stage 2, longest message (8)", "ceil(c/p)", Alternate, ANY, |s| {
            (s.c / s.p).ceil() - s.longest[1]
        }),
        bound("alternate with the additional step: leaves an intermediate (8)", "t", Combine, ANY, |s| {
            s.t - s.sent
        }),
    ]
};

/// Name of the series with the least traffic for which section 7.3 calls the algorithm optimal.
const LEAST_TRAFFIC: &str = "t = p^2 + p tau/mu";
/// The series' quantity.
const TRAFFIC_BOUND: &str = "traffic bound t";

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let equal = |name: &str, t: usize| equal_case(name, 32, t);
    let random = |name: &str, r: usize, c: usize| {
        let case = case(name, 16).with(&MATRIX, "random".into());
        case.with(&OUTGOING, Some(r)).with(&INCOMING, Some(c))
    };
    let uniform = |t: usize| case("linear", 32).with(&TRAFFIC, Some(t)).with(&MATRIX, "uniform".into());
    let (sizes, little) = (|| (10..=lab.pick(18, 20)).step_by(2).map(|power| 1 << power), [128, 256, 512]);
    let mut all = vec![
        CaseSeries::from_values("two-stage", TRAFFIC_BOUND, sizes(), |t| equal("two-stage", t))
            .measured_if(|t| t == 4096.0),
        CaseSeries::from_values("two-stage, P = 8", TRAFFIC_BOUND, sizes(), |t| {
            equal_case("two-stage", 8, t)
        }),
        CaseSeries::from_values(LEAST_TRAFFIC, "P", [8, 16, 32, 64], |P| {
            let Params { L, o, g, .. } = case("two-stage", P).params;
            let tau_over_mu = (L + 2 * o + BARRIER).in_units(g / 4);
            equal_case("two-stage", P, P * P + (P as f64 * tau_over_mu).ceil() as usize)
        }),
        CaseSeries::from_values("r = c/4", TRAFFIC_BOUND, sizes(), |t| random("two-stage", t / 4, t)),
        CaseSeries::from_values("c = r/4, alternate", TRAFFIC_BOUND, sizes(), |t| {
            random("two-stage-alternate", t, t / 4)
        }),
        CaseSeries::from_values("linear, uniform", TRAFFIC_BOUND, sizes(), uniform),
        CaseSeries::from_values("two-stage-sparse", TRAFFIC_BOUND, little, |t| equal("two-stage-sparse", t)),
        CaseSeries::from_values("two-stage, little traffic", TRAFFIC_BOUND, little, |t| {
            equal("two-stage", t)
        }),
    ];
    all.extend(constants());
    all
}

/// Returns a case in which all processors send and receive t, in messages of any lengths.
fn equal_case(algorithm: &str, P: usize, t: usize) -> Case {
    let case = case(algorithm, P).with(&TRAFFIC, Some(t)).with(&FAN_OUT, Some(FanOut::Fixed(P)));
    case.with(&SKEW, Some(Skew::fraction(1, 2)))
}

/// Traffic of the cases from which the constants follow.
const CONSTANTS_T: usize = 1 << 15;

/// Returns the cases that differ in one of the quantities of section 7.3's terms: a part's cost, tau, t and
/// mu.
fn constants() -> [CaseSeries; 5] {
    let base = || equal_case("two-stage", 32, CONSTANTS_T);
    let params = base().params;
    let mu = ParamsBuilder::from(params)
        .G(2 * params.g)
        .build()
        .expect("it is the paper's machine, with a larger G");
    [
        CaseSeries::from_case("constants", base()),
        CaseSeries::from_case("parts at twice the cost", base().with(&PART, TimeSpan::from_cycles(2))),
        CaseSeries::from_case("a barrier of 10 us", Case { barrier: Some(2 * BARRIER), ..base() }),
        CaseSeries::from_case("twice the traffic", equal_case("two-stage", 32, 2 * CONSTANTS_T)),
        CaseSeries::from_case("twice mu", Case { params: mu, ..base() }),
    ]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    add_bounds(sheet)?;
    add_times(sheet);
    add_constants(sheet);
    add_formula_check(sheet, 5.0);
    add_moves(sheet)?;
    let over = |name: &str, metric: &str| sheet.series(name).map_points(|result| result.metric(metric));
    let formula = sheet
        .series("two-stage")
        .map_points(|result| result.metric("time / 2 t mu") * result.formula().in_units(result.model()));
    let plot = Plot::new("The time, over that for the traffic alone", "the paper's CM-5")
        .x("traffic bound t [words]", Scale::Log)
        .y("time / 2 t mu, or / (r + c) mu", Scale::Log)
        .lines([
            PlotLine::new("2 t mu, P = 32, formula", 0, Look::Line, formula),
            PlotLine::new("2 t mu, P = 32, model", 0, Look::Marks, over("two-stage", "time / 2 t mu")),
            marked_line("2 t mu, P = 8, model", 1, over("two-stage, P = 8", "time / 2 t mu")),
            marked_line("(r + c) mu, r = c/4, model", 4, over("r = c/4", "time / (r + c) mu")),
            marked_line(
                "(r + c) mu, alternate, c = r/4, model",
                2,
                over("c = r/4, alternate", "time / (r + c) mu"),
            ),
        ])
        .level("1", 1.0);
    sheet.add_plot("", "Lower-order terms vanish as the traffic grows.", plot);
    Ok(())
}

/// Adds the bounds, each checked by runs.
fn add_bounds(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new("bounds", "The bounds of sections 7 and 8, checked by runs")
        .text("what")
        .text("bound")
        .exact("matrices", "")
        .exact("nearest: below by", "elements");
    let checks = check_bounds(sheet.lab)?;
    for (PaperBound { what, paper, .. }, (count, least)) in ALL.iter().zip(&checks) {
        let least = least.map(Ran::value);
        table.push(vec![(*what).into(), (*paper).into(), (*count).into(), least.into()]);
    }
    let right = checks.iter().filter_map(|(_, least)| Some(least.as_ref()?.map(|least| least >= 0.0)));
    sheet.add_own_check("bounds of sections 7.1, 7.2 and 8 that hold in all runs", right);
    sheet.add_table(table);
    Ok(())
}

/// Adds the times for much traffic, and for little.
fn add_times(sheet: &mut Sheet) {
    let rule = || at_most(1.0).because("a part of each message stays, which pays for the lower-order terms");
    let quote = "transportation can be done in 2t\u{3bc} time (+ lower order terms)";
    let what = "time over 2 t mu at the largest t, P = 8 and 32";
    let ours = ["two-stage, P = 8", "two-stage"];
    let ours = ours.map(|name| sheet.last_result(name).metric("time / 2 t mu"));
    sheet.add_claim(what, "abstract", quote, rule(), ours);
    let quote = "The algorithm takes time O(t) and is optimal when traffic";
    let what = "time over 2 t mu at t = p^2 + p tau/mu, P = 8, 16, 32, 64";
    let least = between(1.0, 3.5)
        .because("1 for the traffic, and up to 2.5 for 2 p^2 parts, 2 p tau and 3 p^2 of mu");
    let ours = sheet.series(LEAST_TRAFFIC).map_runs(|result| result.metric("time / 2 t mu").value());
    sheet.add_claim(what, "7.3", quote, least, ours);
    let quote = "transportation can be done in (r+c)\u{3bc} time";
    let what = "time over (r + c) mu at the largest t, P = 16: r = c/4, and c = r/4 by the alternate scheme";
    let ours =
        ["r = c/4", "c = r/4, alternate"].map(|name| sheet.last_result(name).metric("time / (r + c) mu"));
    sheet.add_claim(what, "abstract", quote, rule(), ours);
    let quote = "the performance of the two-stage algorithm is roughly half that of an all-to-all personalized communication with the same \
                 amount of traffic";
    let what = "time over that of a uniform all-to-all by linear permutation, at the largest t, P = 32";
    let ours = sheet.model_time("two-stage") / sheet.model_time("linear, uniform");
    sheet.add_claim(
        what,
        "10",
        quote,
        between(1.5, 2.5).because("roughly half is a quarter either way"),
        [ours],
    );
    let sparse = sheet.series("two-stage-sparse");
    let quote = "the pre-processing time can be reduced to O(t) by working with sparse representations";
    let what =
        "pre-processing of stage 1 in the sparse form for each element [us], t = 128, 256, 512, P = 32";
    let ours: Vec<Ran<f64>> =
        sparse.points.iter().map(|result| result.phase_time("preprocessing 1", US) / result.x).collect();
    let plain = sparse.ratios_to(sheet.series("two-stage, little traffic"));
    let rule = between(0.9, 1.1).because("O(t): a part costs 1 us here, and each element is one");
    sheet.add_claim(what, "7.3", quote, rule, ours);
    let what = "time of the sparse form over the plain one, t = 128, 256, 512, P = 32";
    sheet.add_claim(what, "7.3", quote, below(1.0).because("it is for little traffic"), plain);
}

/// Adds the constants of section 7.3: by how much the time grows with the quantities of each term.
fn add_constants(sheet: &mut Sheet) {
    let base = sheet.model_time("constants");
    // In ms: parts cost 1 us, barriers 5 us, and mu is 1 us.
    let more = |name: &str, of: f64| (sheet.model_time(name) - base) / (of / 1000.0);
    let (p, t) = (32.0, CONSTANTS_T as f64);
    let of_t = more("twice the traffic", t);
    let of_mu = more("twice mu", 1.0);
    let ours = [
        more("parts at twice the cost", p * p),
        more("a barrier of 10 us", p * 5.0),
        of_t,
        (of_mu - of_t * t) / (p * p),
    ];
    let quote =
        "The constants associated with the O notation in the analysis are small, typically between 2 and 3.";
    let what = "constants of p^2, p tau, mu t and mu p^2: what the time grows by with a part's cost, the barrier, t and mu, P = 32";
    let rule = between(1.9, 3.0).because("of 32 parts one stays, which makes 2 to 1.94");
    sheet.add_claim(what, "7.3", quote, rule, ours);
}

/// Adds how often data are moved, by two stages and by sorting.
fn add_moves(sheet: &mut Sheet) -> Result<(), StudyError> {
    let matrix = matrix(&equal_case("two-stage", 32, CONSTANTS_T))?;
    let run = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Local))?;
    let moved = run.ran(|run| {
        let sent = |stage: &Matrix| stage.total() - (0..32).map(|i| stage.at(i, i)).sum::<usize>();
        let sent: usize = [0, 1].map(|stage| sent(&message_lengths(run, stage))).iter().sum();
        sent as f64 / matrix.total() as f64
    });
    let quote = "compared to the 2 movements required in the two-stage algorithm";
    let what = "movements of an element between processors by two stages, P = 32";
    let rule = between(1.9, 2.0).because("of 32 parts one stays, in either stage");
    sheet.add_claim(what, "7.3", quote, rule, [moved]);
    // Six rotates are fixed permutations. A row-wise sort is a transpose, a radix sort and a transpose; the
    // least is one transpose for each.
    let (rotates, row_wise_sorts) = (6, 3);
    let moves = format!("{} to {}", rotates + row_wise_sorts, rotates + 2 * row_wise_sorts);
    let what = "movements by sorting: six rotates, and three row-wise sorts of one or two transposes";
    sheet.add_text(what, "7.3", "9 to 12", moves).by_arithmetic();
    Ok(())
}

/// The number of matrices with which a bound was compared, and the least room that one of them left.
type BoundCheck = (usize, Option<Ran<f64>>);

/// Compares each bound with runs.
fn check_bounds(lab: &Lab) -> Result<Vec<BoundCheck>, StudyError> {
    let mut checks: Vec<BoundCheck> = vec![(0, None); ALL.len()];
    for matrix in matrices(lab)? {
        for scheme in [Scheme::Local, Scheme::Scan, Scheme::Alternate, Scheme::Combine] {
            let run = run_two_stage(lab, &matrix, TwoStageForm::new(scheme))?;
            let split = SplitMatrix::new(&matrix, &run);
            for (bound, (count, least)) in ALL.iter().zip(&mut checks) {
                if bound.scheme == scheme && (bound.applies_to)(&matrix) {
                    *count += 1;
                    let room = run.ran(|_| (bound.room)(&split));
                    *least = Some(least.map_or(room, |least| room.map(|room| room.min(least.value()))));
                }
            }
        }
    }
    Ok(checks)
}

/// Returns matrices of all kinds, for several numbers of processors.
fn matrices(lab: &Lab) -> Result<Vec<Matrix>, StudyError> {
    let make_case = |name: &'static str, P: usize| case("linear", P).with(&MATRIX, name.into());
    let mut cases = Vec::new();
    for P in [3, 8, 13, 32] {
        for name in ["uniform", "random", "skewed", "multiples", "remainders", "hot-receiver", "hot-sender"] {
            for more in 0..lab.pick(2, 8) {
                cases.push(make_case(name, P).with(&TRAFFIC, Some(P * P * (2 + more) + 5 * more)));
            }
        }
        cases.push(make_case("random", P).with(&OUTGOING, Some(2 * P * P)).with(&INCOMING, Some(P * P)));
    }
    cases.into_iter().map(|case| Ok(matrix(&Case { seed: lab.seed, ..case })?)).collect()
}
