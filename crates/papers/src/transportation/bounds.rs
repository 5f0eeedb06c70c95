//! Sections 7 and 8: bounds on the lengths of messages, on the traffic at an intermediate, and on the time.

use loggp::Ports;
use loggp_document::Table;
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{
    FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, OUTGOING, SKEW, Scheme, Skew, TRAFFIC, TwoStageForm, matrix,
};
use loggp_study::StudyError;

use super::{MS, case, message_lengths, run_two_stage, shortest_and_longest};
use crate::{CaseSeries, Exhibit, Lab, Sheet, at_most, between, marked_line};

pub const BOUNDS: Exhibit = Exhibit {
    id: "transport-bounds",
    place: "sections 7, 8 and 10",
    title: "how long messages may be, and how long two stages take",
    notes: &["Ports carry messages both ways at once where times are compared with the traffic's own."],
    formulas: &["O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms"],
    unit: ("ms", MS),
    series,
    show,
};

/// A matrix and its two stages.
struct SplitMatrix {
    matrix: Matrix,
    /// Lengths of the messages of both stages.
    stages: [Matrix; 2],
}

impl SplitMatrix {
    /// Returns a traffic over p, rounded up.
    fn rounded_up_share(&self, traffic: usize) -> f64 {
        traffic.div_ceil(self.matrix.P()) as f64
    }

    /// Returns a traffic over p, and p.
    fn share_and_P(&self, traffic: usize) -> (f64, f64) {
        let p = self.matrix.P() as f64;
        (traffic as f64 / p, p)
    }

    fn shortest(&self, stage: usize) -> f64 {
        shortest_and_longest(&self.stages[stage]).0 as f64
    }

    fn longest(&self, stage: usize) -> f64 {
        shortest_and_longest(&self.stages[stage]).1 as f64
    }

    /// Returns the most elements that an intermediate receives.
    fn most_received(&self) -> f64 {
        (0..self.matrix.P()).map(|k| self.stages[0].c_j(k)).max().unwrap_or(0) as f64
    }

    /// Returns the most elements that an intermediate sends.
    fn most_sent(&self) -> f64 {
        (0..self.matrix.P()).map(|k| self.stages[1].r_i(k)).max().unwrap_or(0) as f64
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
    room: fn(&SplitMatrix) -> f64,
) -> PaperBound {
    PaperBound { what, paper, scheme, applies_to: |_| true, room }
}

/// Bounds of sections 7.1, 7.2 and 8.
const ALL: [PaperBound; 13] = [
    bound("stage 1, longest message (7.1)", "ceil(t/p)", Scheme::Local, |s| {
        s.rounded_up_share(s.matrix.t()) - s.longest(0)
    }),
    PaperBound {
        applies_to: Matrix::is_equal,
        ..bound("stage 1, shortest message, equal traffic (7.1)", "floor(t/p)", Scheme::Local, |s| {
            s.shortest(0) - (s.matrix.t() / s.matrix.P()) as f64
        })
    },
    bound("stage 1, at an intermediate (7.1)", "p ceil(t/p)", Scheme::Local, |s| {
        s.matrix.P() as f64 * s.rounded_up_share(s.matrix.t()) - s.most_received()
    }),
    bound("the same with the additional step (7.1)", "t", Scheme::Scan, |s| {
        s.matrix.t() as f64 - s.most_received()
    }),
    bound("stage 2, longest message (7.2)", "t/p + p", Scheme::Local, |s| {
        let (part, p) = s.share_and_P(s.matrix.t());
        part + p - s.longest(1)
    }),
    PaperBound {
        applies_to: Matrix::is_equal,
        ..bound("stage 2, shortest message, equal traffic (7.2)", "t/p - p", Scheme::Local, |s| {
            let (part, p) = s.share_and_P(s.matrix.t());
            s.shortest(1) - (part - p)
        })
    },
    bound("stage 2, at a destination (7.2)", "t + p^2", Scheme::Local, |s| {
        let comes = (0..s.matrix.P()).map(|j| s.stages[1].c_j(j)).max().unwrap_or(0);
        (s.matrix.t() + s.matrix.P().pow(2) - comes) as f64
    }),
    PaperBound {
        applies_to: |matrix| matrix.entries().iter().all(|elements| elements % matrix.P() == 0),
        ..bound("stage 2, longest message, all a_ij multiples of p (7.3)", "t/p", Scheme::Local, |s| {
            s.share_and_P(s.matrix.t()).0 - s.longest(1)
        })
    },
    bound("stage 1, longest message (8)", "ceil(r/p)", Scheme::Local, |s| {
        s.rounded_up_share(s.matrix.r()) - s.longest(0)
    }),
    bound("stage 2, longest message (8)", "c/p + p", Scheme::Local, |s| {
        let (part, p) = s.share_and_P(s.matrix.c());
        part + p - s.longest(1)
    }),
    bound("alternate: stage 1, longest message (8)", "r/p + p", Scheme::Alternate, |s| {
        let (part, p) = s.share_and_P(s.matrix.r());
        part + p - s.longest(0)
    }),
    bound("alternate: stage 2, longest message (8)", "ceil(c/p)", Scheme::Alternate, |s| {
        s.rounded_up_share(s.matrix.c()) - s.longest(1)
    }),
    bound("alternate with the additional step: leaves an intermediate (8)", "t", Scheme::Combine, |s| {
        s.matrix.t() as f64 - s.most_sent()
    }),
];

/// The series' quantity.
const TRAFFIC_BOUND: &str = "traffic bound t";

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let dual = |algorithm: &str, P: usize| Case { ports: Ports::Dual, ..case(algorithm, P) };
    let equal = |name: &str, t: usize| {
        let case = dual(name, 32).with(&TRAFFIC, Some(t)).with(&FAN_OUT, Some(FanOut::Fixed(32)));
        case.with(&SKEW, Some(Skew::fraction(1, 2)))
    };
    let random = |name: &str, r: usize, c: usize| {
        let case = dual(name, 16).with(&MATRIX, "random".into());
        case.with(&OUTGOING, Some(r)).with(&INCOMING, Some(c))
    };
    let uniform = |t: usize| dual("linear", 32).with(&TRAFFIC, Some(t)).with(&MATRIX, "uniform".into());
    let sizes = || (10..=lab.pick(18, 20)).step_by(2).map(|power| 1 << power);
    vec![
        CaseSeries::from_values("two-stage", TRAFFIC_BOUND, sizes(), |t| equal("two-stage", t))
            .measured_if(|t| t == 4096.0),
        CaseSeries::from_values("r = c/4", TRAFFIC_BOUND, sizes(), |t| random("two-stage", t / 4, t)),
        CaseSeries::from_values("c = r/4, alternate", TRAFFIC_BOUND, sizes(), |t| {
            random("two-stage-alternate", t, t / 4)
        }),
        CaseSeries::from_values("linear, uniform", TRAFFIC_BOUND, sizes(), uniform),
        CaseSeries::from_values("two-stage-sparse", TRAFFIC_BOUND, [128, 256, 512], |t| {
            equal("two-stage-sparse", t)
        }),
        CaseSeries::from_values("two-stage, little traffic", TRAFFIC_BOUND, [128, 256, 512], |t| {
            equal("two-stage", t)
        }),
    ]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new("bounds", "The bounds of sections 7 and 8, held against runs")
        .text("what")
        .text("bound")
        .exact("matrices", "")
        .exact("nearest: below by", "elements");
    let checks = check_bounds(sheet.lab)?;
    for (PaperBound { what, paper, .. }, (count, least)) in ALL.iter().zip(&checks) {
        table.push(vec![(*what).into(), (*paper).into(), (*count).into(), (*least).into()]);
    }
    let right = checks.iter().filter(|(count, least)| *count > 0 && *least >= 0.0).count();
    sheet.add_own_check("bounds of sections 7.1, 7.2 and 8 that hold in all runs", right, ALL.len());
    sheet.add_table(table);

    let over = |name: &str, metric: &str| sheet.series(name).map_points(|result| result.metric(metric));
    let last = |points: &[(f64, f64)]| points[points.len() - 1].1;
    let equal = over("two-stage", "time / 2 t mu");
    let (plain, alternate) =
        (over("r = c/4", "time / (r + c) mu"), over("c = r/4, alternate", "time / (r + c) mu"));
    let quote = "transportation can be done in 2t\u{3bc} time (+ lower order terms)";
    let what = "time over 2 t mu at the largest t, P = 32";
    sheet.add_claim(what, "abstract", quote, at_most(1.0), [last(&equal)]);
    let quote = "transportation can be done in (r+c)\u{3bc} time";
    let what = "time over (r + c) mu at the largest t, P = 16: r = c/4, and c = r/4 by the alternate scheme";
    sheet.add_claim(what, "abstract", quote, at_most(1.0), [last(&plain), last(&alternate)]);
    let quote = "the performance of the two-stage algorithm is roughly half that of an all-to-all personalized communication with the same \
                 amount of traffic";
    let what = "time over that of a uniform all-to-all by linear permutation, at the largest t, P = 32";
    let ours = sheet.model_time("two-stage") / sheet.model_time("linear, uniform");
    sheet.add_claim(what, "10", quote, between(1.5, 2.5), [ours]);
    let sparse = sheet.series("two-stage-sparse").ratios_to(sheet.series("two-stage, little traffic"));
    let quote = "the pre-processing time can be reduced to O(t) by working with sparse representations";
    let what = "time of the sparse form over the plain one, t = 128, 256 and 512, p = 32";
    sheet.add_claim(what, "7.3", quote, at_most(1.0), sparse);

    let formula = sheet
        .series("two-stage")
        .map_points(|result| result.metric("time / 2 t mu") * result.formula().in_units(result.model()));
    let plot = Plot::new("The time, over that for the traffic alone", "CM-5, with ports in both directions")
        .x("traffic bound t [words]", Scale::Log)
        .y("time / 2 t mu, or / (r + c) mu", Scale::Log)
        .lines([
            PlotLine::new("2 t mu, formula", 0, Look::Line, formula),
            PlotLine::new("2 t mu, model", 0, Look::Marks, equal),
            marked_line("(r + c) mu, r = c/4, model", 4, plain),
            marked_line("(r + c) mu, alternate, c = r/4, model", 2, alternate),
        ])
        .level("1", 1.0);
    sheet.add_plot("", "Lower-order terms vanish as the traffic grows.", plot);
    Ok(())
}

/// Returns for each bound the number of matrices with which it was compared, and the least room that one of
/// them left.
fn check_bounds(lab: &Lab) -> Result<Vec<(usize, f64)>, StudyError> {
    let mut checks = vec![(0, f64::MAX); ALL.len()];
    for matrix in matrices(lab)? {
        for scheme in [Scheme::Local, Scheme::Scan, Scheme::Alternate, Scheme::Combine] {
            let deliveries = run_two_stage(lab, &matrix, TwoStageForm::new(scheme))?;
            let stages = [0, 1].map(|stage| message_lengths(&deliveries, stage));
            let split = SplitMatrix { matrix: matrix.clone(), stages };
            for (bound, (count, least)) in ALL.iter().zip(&mut checks) {
                if bound.scheme == scheme && (bound.applies_to)(&matrix) {
                    *count += 1;
                    *least = (bound.room)(&split).min(*least);
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
