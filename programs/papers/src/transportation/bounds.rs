//! Sections 7 and 8: how long messages may be, how much an intermediate may have, and how long all takes.

use loggp::Ports;

use super::super::{Answer, Check, Lab, Runs, Table};
use super::{MS, arrivals, case, ends, form, lengths};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{
    FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, OUTGOING, SKEW, Scheme, Skew, TRAFFIC, TRANSPORTATION, matrix,
};
use loggp_study::{Answers, Failed};

/// What a matrix and its two stages are held to.
struct Split {
    /// The matrix.
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
    /// What is bounded.
    what: &'static str,
    /// What the paper says.
    paper: &'static str,
    /// The scheme it is of.
    scheme: Scheme,
    /// Whether it is for this matrix.
    is_for: fn(&Matrix) -> bool,
    /// How far from the bound it is.
    room: fn(&Split) -> f64,
}

const fn bound(what: &'static str, paper: &'static str, scheme: Scheme, room: fn(&Split) -> f64) -> Bound {
    Bound { what, paper, scheme, is_for: |_| true, room }
}

/// The bounds of sections 7.1, 7.2 and 8.
const BOUNDS: [Bound; 13] = [
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
        is_for: is_multiples,
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

/// Whether all messages are multiples of p.
fn is_multiples(matrix: &Matrix) -> bool {
    matrix.entries().iter().all(|elements| elements % matrix.P() == 0)
}

/// Every bound held against runs of matrices of all kinds; and how near they come to it.
pub fn bounds(lab: &Lab) -> Result<(Table, Vec<Check>), Failed> {
    let matrices = matrices(lab)?;
    let schemes = [Scheme::Local, Scheme::Scan, Scheme::Alternate, Scheme::Combine];
    // For each bound how many matrices it was held against, and the least room that one of them left.
    let mut held = vec![(0, f64::MAX); BOUNDS.len()];
    for (n, matrix) in matrices.iter().enumerate() {
        for scheme in schemes {
            let arrivals = arrivals(lab, matrix, form(scheme))?;
            let stages = [0, 1].map(|stage| lengths(&arrivals, stage));
            let split = Split { matrix: matrix.clone(), stages };
            for (bound, (count, least)) in BOUNDS.iter().zip(&mut held) {
                if bound.scheme == scheme && (bound.is_for)(matrix) {
                    *count += 1;
                    *least = (bound.room)(&split).min(*least);
                }
            }
        }
        lab.done(0.4 * (n + 1) as f64 / matrices.len() as f64);
    }
    let mut table = Table::new("bounds", "The bounds of sections 7 and 8, held against runs")
        .text("what")
        .text("bound")
        .exact("matrices", "")
        .exact("nearest: below by", "elements");
    let mut checks = Vec::new();
    for (Bound { what, paper, .. }, (count, least)) in BOUNDS.iter().zip(held) {
        table.push(vec![(*what).into(), (*paper).into(), count.into(), least.into()]);
        let ours = format!("in {count} matrices, the nearest {} from it", loggp_draw::digits::exact(least));
        checks.push(Check::claim(*what, paper, ours, count > 0 && least >= 0.0).by(Answer::Model));
    }
    Ok((table, checks))
}

/// Matrices of all kinds, for several numbers of processors.
fn matrices(lab: &Lab) -> Result<Vec<Matrix>, Failed> {
    let of = |name: &'static str, P: usize, traffic: usize| -> Result<Matrix, Failed> {
        Ok(matrix(
            &Case { seed: lab.seed, ..case("linear", P) }
                .with(&MATRIX, name.into())
                .with(&TRAFFIC, Some(traffic)),
        )?)
    };
    let mut matrices = Vec::new();
    for P in [3, 8, 13, 32] {
        for name in ["uniform", "random", "skewed", "multiples", "remainders", "hot-receiver", "hot-sender"] {
            for more in 0..lab.pick(2, 8) {
                matrices.push(of(name, P, P * P * (2 + more) + 5 * more)?);
            }
        }
        let unequal = case("linear", P)
            .with(&MATRIX, "random".into())
            .with(&OUTGOING, Some(2 * P * P))
            .with(&INCOMING, Some(P * P));
        matrices.push(matrix(&Case { seed: lab.seed, ..unequal })?);
    }
    Ok(matrices)
}

/// The time over 2 t mu, where it falls to; and over (r + c) mu.
pub fn scaling(lab: &Lab) -> Result<(Runs, String, Vec<Check>), Failed> {
    let dual = |algorithm: &str, P: usize| Case { ports: Ports::Dual, ..case(algorithm, P) };
    let equal = |t: usize| {
        dual("two-stage", 32)
            .with(&TRAFFIC, Some(t))
            .with(&FAN_OUT, Some(FanOut::Of(32)))
            .with(&SKEW, Some(Skew::fraction(1, 2)))
    };
    let random = |algorithm: &str, r: usize, c: usize| {
        dual(algorithm, 16).with(&MATRIX, "random".into()).with(&OUTGOING, Some(r)).with(&INCOMING, Some(c))
    };
    let most = lab.pick(18, 20);
    let mut runs =
        Runs::new("runs", "Two stages, with ports in both directions", &["what", "traffic"], ("ms", MS));
    let [mut of_equal, mut formula, mut of_plain, mut of_alternate] = [const { Vec::new() }; 4];
    for (n, power) in (10..=most).step_by(2).enumerate() {
        let t = 1_usize << power;
        let x = t as f64;
        let answers = if n == 1 { lab.measured(equal(t))? } else { lab.model(equal(t))? };
        let ratio = metric(&answers, "time / 2 t mu");
        of_equal.push((x, ratio));
        let prediction = answers.prediction;
        let part = prediction.formula.zip(prediction.model).map(|(formula, model)| formula.in_units(model));
        formula.extend(part.map(|part| (x, ratio * part)));
        runs.push(&["2 t mu, P = 32", &loggp_draw::digits::thousands(t)], None, &answers);

        for (points, algorithm, (r, c)) in
            [(&mut of_plain, "two-stage", (t / 4, t)), (&mut of_alternate, "two-stage-alternate", (t, t / 4))]
        {
            let answers = lab.model(random(algorithm, r, c))?;
            points.push((x, metric(&answers, "time / (r + c) mu")));
            runs.push(
                &[&format!("(r + c) mu, P = 16, {algorithm}"), &loggp_draw::digits::thousands(t)],
                None,
                &answers,
            );
        }
        lab.done(0.6 + 0.4 * (n + 1) as f64 / ((most - 8) / 2) as f64);
    }
    let last = |points: &[(f64, f64)]| points.last().map_or(f64::NAN, |(_, ratio)| *ratio);
    let first = |points: &[(f64, f64)]| points.first().map_or(f64::NAN, |(_, ratio)| *ratio);
    let claim = |what: &str, paper: &str, points: &[(f64, f64)]| {
        let ours = format!(
            "{:.2} of it at t = 1,024, {:.3} at {}",
            first(points),
            last(points),
            loggp_draw::digits::thousands(1 << most)
        );
        // Lower-order terms are what is left, and they must vanish.
        Check::claim(what, paper, ours, last(points) < first(points) && last(points) < 1.05)
    };
    let checks = vec![
        claim("two stages, equal traffic, P = 32 (7.3)", "2 t mu (+ lower order terms)", &of_equal),
        claim("two stages, r = c/4, P = 16 (8)", "(r + c) mu (+ lower order terms)", &of_plain),
        claim("alternate scheme, c = r/4, P = 16 (8)", "(r + c) mu (+ lower order terms)", &of_alternate),
    ];
    let colour = |algorithm: &str| {
        let place = TRANSPORTATION.algorithms.iter().position(|other| other.name == algorithm);
        place.expect("the program has it")
    };
    let line = |label: &str, number, look, points| Line::new(label, number, look, points);
    let plot = Plot::new("The time, over that for the traffic alone", "CM-5, with ports in both directions")
        .x("traffic bound t [words]", Scale::Log)
        .y("time / 2 t mu, or / (r + c) mu", Scale::Log)
        .lines([
            line("2 t mu, formula", colour("two-stage"), Look::Line, formula),
            line("2 t mu, model", colour("two-stage"), Look::Marks, of_equal),
            line("(r + c) mu, r = c/4, model", 4, Look::Both, of_plain),
            line(
                "(r + c) mu, alternate, c = r/4, model",
                colour("two-stage-alternate"),
                Look::Both,
                of_alternate,
            ),
        ])
        .level("1", 1.0);
    Ok((runs, plot.svg(), checks))
}

/// Something that a run showed.
fn metric(answers: &Answers, name: &str) -> f64 {
    answers.outcome.metric(name).unwrap_or(f64::NAN)
}
