//! Sections 7 and 8: how long messages may be, how much an intermediate may have, and how long all takes.

use loggp::Ports;
use loggp_document::Table;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{
    FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, OUTGOING, SKEW, Scheme, Skew, TRAFFIC, matrix,
};
use loggp_study::Failed;

use super::{MS, arrivals, case, ends, form, lengths};
use crate::{Exhibit, Lab, Series, Sheet, at_most, between, line};

/// Sections 7 and 8.
pub const BOUNDS: Exhibit = Exhibit {
    id: "transport-bounds",
    place: "sections 7, 8 and 10",
    title: "how long messages may be, and how long two stages take",
    says: &["Ports carry messages both ways at once where times are compared with the traffic's own."],
    formulas: &["O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms"],
    unit: ("ms", MS),
    series,
    show,
};

/// The matrix and its two stages.
struct Split {
    matrix: Matrix,
    /// The messages of both stages.
    stages: [Matrix; 2],
}

impl Split {
    /// What is over p, a whole number of it up.
    fn up(&self, traffic: usize) -> f64 {
        traffic.div_ceil(self.matrix.P()) as f64
    }

    /// P and a traffic, to count with.
    fn over(&self, traffic: usize) -> (f64, f64) {
        let p = self.matrix.P() as f64;
        (traffic as f64 / p, p)
    }

    /// The shortest or the longest message of a stage.
    fn shortest(&self, stage: usize) -> f64 {
        ends(&self.stages[stage]).0 as f64
    }

    fn longest(&self, stage: usize) -> f64 {
        ends(&self.stages[stage]).1 as f64
    }

    /// What comes to the busiest intermediate.
    fn comes(&self) -> f64 {
        (0..self.matrix.P()).map(|k| self.stages[0].c_j(k)).max().unwrap_or(0) as f64
    }

    /// What leaves the busiest one.
    fn leaves(&self) -> f64 {
        (0..self.matrix.P()).map(|k| self.stages[1].r_i(k)).max().unwrap_or(0) as f64
    }
}

/// A bound: of a scheme, for which matrices, as the paper writes it, and by how much it is kept; below 0 it is not.
struct Bound {
    what: &'static str,
    paper: &'static str,
    scheme: Scheme,
    is_for: fn(&Matrix) -> bool,
    room: fn(&Split) -> f64,
}

const fn bound(what: &'static str, paper: &'static str, scheme: Scheme, room: fn(&Split) -> f64) -> Bound {
    Bound { what, paper, scheme, is_for: |_| true, room }
}

/// The bounds of sections 7.1, 7.2 and 8.
const ALL: [Bound; 13] = [
    bound("stage 1, longest message (7.1)", "ceil(t/p)", Scheme::Local, |s| {
        s.up(s.matrix.t()) - s.longest(0)
    }),
    Bound {
        is_for: Matrix::is_equal,
        ..bound("stage 1, shortest message, equal traffic (7.1)", "floor(t/p)", Scheme::Local, |s| {
            s.shortest(0) - (s.matrix.t() / s.matrix.P()) as f64
        })
    },
    bound("stage 1, at an intermediate (7.1)", "p ceil(t/p)", Scheme::Local, |s| {
        s.matrix.P() as f64 * s.up(s.matrix.t()) - s.comes()
    }),
    bound("the same with the additional step (7.1)", "t", Scheme::Scan, |s| s.matrix.t() as f64 - s.comes()),
    bound("stage 2, longest message (7.2)", "t/p + p", Scheme::Local, |s| {
        let (part, p) = s.over(s.matrix.t());
        part + p - s.longest(1)
    }),
    Bound {
        is_for: Matrix::is_equal,
        ..bound("stage 2, shortest message, equal traffic (7.2)", "t/p - p", Scheme::Local, |s| {
            let (part, p) = s.over(s.matrix.t());
            s.shortest(1) - (part - p)
        })
    },
    bound("stage 2, at a destination (7.2)", "t + p^2", Scheme::Local, |s| {
        let comes = (0..s.matrix.P()).map(|j| s.stages[1].c_j(j)).max().unwrap_or(0);
        (s.matrix.t() + s.matrix.P().pow(2) - comes) as f64
    }),
    Bound {
        is_for: |matrix| matrix.entries().iter().all(|elements| elements % matrix.P() == 0),
        ..bound("stage 2, longest message, all a_ij multiples of p (7.3)", "t/p", Scheme::Local, |s| {
            s.over(s.matrix.t()).0 - s.longest(1)
        })
    },
    bound("stage 1, longest message (8)", "ceil(r/p)", Scheme::Local, |s| s.up(s.matrix.r()) - s.longest(0)),
    bound("stage 2, longest message (8)", "c/p + p", Scheme::Local, |s| {
        let (part, p) = s.over(s.matrix.c());
        part + p - s.longest(1)
    }),
    bound("alternate: stage 1, longest message (8)", "r/p + p", Scheme::Alternate, |s| {
        let (part, p) = s.over(s.matrix.r());
        part + p - s.longest(0)
    }),
    bound("alternate: stage 2, longest message (8)", "ceil(c/p)", Scheme::Alternate, |s| {
        s.up(s.matrix.c()) - s.longest(1)
    }),
    bound("alternate with the additional step: leaves an intermediate (8)", "t", Scheme::Combine, |s| {
        s.matrix.t() as f64 - s.leaves()
    }),
];

/// What series go along.
const TRAFFIC_BOUND: &str = "traffic bound t";

fn series(lab: &Lab) -> Vec<Series> {
    let dual = |algorithm: &str, P: usize| Case { ports: Ports::Dual, ..case(algorithm, P) };
    let equal = |name: &str, t: usize| {
        let case = dual(name, 32).with(&TRAFFIC, Some(t)).with(&FAN_OUT, Some(FanOut::Of(32)));
        case.with(&SKEW, Some(Skew::fraction(1, 2)))
    };
    let random = |name: &str, r: usize, c: usize| {
        let case = dual(name, 16).with(&MATRIX, "random".into());
        case.with(&OUTGOING, Some(r)).with(&INCOMING, Some(c))
    };
    let uniform = |t: usize| dual("linear", 32).with(&TRAFFIC, Some(t)).with(&MATRIX, "uniform".into());
    let sizes = || (10..=lab.pick(18, 20)).step_by(2).map(|power| 1 << power);
    vec![
        Series::over("two-stage", TRAFFIC_BOUND, sizes(), |t| equal("two-stage", t))
            .measured_if(|t| t == 4096.0),
        Series::over("r = c/4", TRAFFIC_BOUND, sizes(), |t| random("two-stage", t / 4, t)),
        Series::over("c = r/4, alternate", TRAFFIC_BOUND, sizes(), |t| {
            random("two-stage-alternate", t, t / 4)
        }),
        Series::over("linear, uniform", TRAFFIC_BOUND, sizes(), uniform),
        Series::over("two-stage-sparse", TRAFFIC_BOUND, [128, 256, 512], |t| equal("two-stage-sparse", t)),
        Series::over("two-stage, little traffic", TRAFFIC_BOUND, [128, 256, 512], |t| equal("two-stage", t)),
    ]
}

fn show(sheet: &mut Sheet) -> Result<(), Failed> {
    let mut table = Table::new("bounds", "The bounds of sections 7 and 8, held against runs")
        .text("what")
        .text("bound")
        .exact("matrices", "")
        .exact("nearest: below by", "elements");
    let held = held(sheet.lab)?;
    for (Bound { what, paper, .. }, (count, least)) in ALL.iter().zip(&held) {
        table.push(vec![(*what).into(), (*paper).into(), (*count).into(), (*least).into()]);
    }
    let right = held.iter().filter(|(count, least)| *count > 0 && *least >= 0.0).count();
    sheet.own("bounds of sections 7.1, 7.2 and 8 that hold in all runs", right, ALL.len());
    sheet.table(table);

    let over = |name: &str, metric: &str| sheet.of(name).each(|told| told.metric(metric));
    let last = |points: &[(f64, f64)]| points[points.len() - 1].1;
    let equal = over("two-stage", "time / 2 t mu");
    let (plain, alternate) =
        (over("r = c/4", "time / (r + c) mu"), over("c = r/4, alternate", "time / (r + c) mu"));
    let quote = "transportation can be done in 2t\u{3bc} time (+ lower order terms)";
    let what = "time over 2 t mu at the largest t, P = 32";
    sheet.claim(what, "abstract", quote, at_most(1.0), [last(&equal)]);
    let quote = "transportation can be done in (r+c)\u{3bc} time";
    let what = "time over (r + c) mu at the largest t, P = 16: r = c/4, and c = r/4 by the alternate scheme";
    sheet.claim(what, "abstract", quote, at_most(1.0), [last(&plain), last(&alternate)]);
    let quote = "the performance of the two-stage algorithm is roughly half that of an all-to-all personalized communication with the same \
                 amount of traffic";
    let what = "time over that of a uniform all-to-all by linear permutation, at the largest t, P = 32";
    let ours = sheet.time("two-stage") / sheet.time("linear, uniform");
    sheet.claim(what, "10", quote, between(1.5, 2.5), [ours]);
    let sparse = sheet.of("two-stage-sparse").over(sheet.of("two-stage, little traffic"));
    let quote = "the pre-processing time can be reduced to O(t) by working with sparse representations";
    let what = "time of the sparse form over the plain one, t = 128, 256 and 512, p = 32";
    sheet.claim(what, "7.3", quote, at_most(1.0), sparse);

    let formula = sheet
        .of("two-stage")
        .each(|told| told.metric("time / 2 t mu") * told.formula().in_units(told.model()));
    let plot = Plot::new("The time, over that for the traffic alone", "CM-5, with ports in both directions")
        .x("traffic bound t [words]", Scale::Log)
        .y("time / 2 t mu, or / (r + c) mu", Scale::Log)
        .lines([
            Line::new("2 t mu, formula", 0, Look::Line, formula),
            Line::new("2 t mu, model", 0, Look::Marks, equal),
            line("(r + c) mu, r = c/4, model", 4, plain),
            line("(r + c) mu, alternate, c = r/4, model", 2, alternate),
        ])
        .level("1", 1.0);
    sheet.plot("", "Lower-order terms vanish as the traffic grows.", plot);
    Ok(())
}

/// For each bound how many matrices it was held against, and the least room that one of them left.
fn held(lab: &Lab) -> Result<Vec<(usize, f64)>, Failed> {
    let mut held = vec![(0, f64::MAX); ALL.len()];
    for matrix in matrices(lab)? {
        for scheme in [Scheme::Local, Scheme::Scan, Scheme::Alternate, Scheme::Combine] {
            let arrivals = arrivals(lab, &matrix, form(scheme))?;
            let stages = [0, 1].map(|stage| lengths(&arrivals, stage));
            let split = Split { matrix: matrix.clone(), stages };
            for (bound, (count, least)) in ALL.iter().zip(&mut held) {
                if bound.scheme == scheme && (bound.is_for)(&matrix) {
                    *count += 1;
                    *least = (bound.room)(&split).min(*least);
                }
            }
        }
    }
    Ok(held)
}

/// Matrices of all kinds, for several numbers of processors.
fn matrices(lab: &Lab) -> Result<Vec<Matrix>, Failed> {
    let of = |name: &'static str, P: usize| case("linear", P).with(&MATRIX, name.into());
    let mut cases = Vec::new();
    for P in [3, 8, 13, 32] {
        for name in ["uniform", "random", "skewed", "multiples", "remainders", "hot-receiver", "hot-sender"] {
            for more in 0..lab.pick(2, 8) {
                cases.push(of(name, P).with(&TRAFFIC, Some(P * P * (2 + more) + 5 * more)));
            }
        }
        cases.push(of("random", P).with(&OUTGOING, Some(2 * P * P)).with(&INCOMING, Some(P * P)));
    }
    cases.into_iter().map(|case| Ok(matrix(&Case { seed: lab.seed, ..case })?)).collect()
}
