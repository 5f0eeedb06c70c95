//! Table 2: the formulas of the scatters; and what section 4 says of how they split.

use loggp::{Params, Time, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::common::{amount, colour, simplified};
use loggp_draw::digits::rough;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::{SCATTER, best_splits};
use loggp_study::Failed;

/// The table, and sections 4.5 to 4.8.
pub const TABLE_2: Exhibit = Exhibit {
    id: "loggp-table2",
    place: "table 2 and sections 4.5 to 4.8",
    title: "the formulas of the scatters, and how the optimal one splits",
    says: &[
        "Table 2 has the times of three scatters of k items in the simplified LogGP; that of the Binomial Tree is for P a power of 2.",
        "The optimal algorithm sends S(P) of P sets first. With L = 30 and g = 10 it must send exactly 1 of 5, so that a fixed ratio \
         alpha would have to be below 2/5; and exactly 150 of 320, so that alpha would have to be at least 150/320. So no fixed ratio \
         is optimal (section 4.6).",
        "Lemma 2: if L >= g, the Binomial Tree takes L ceil(log2 P) + (P-1)k - ceil(log2 P) for every P. For L < g too, with max(L, g) \
         for L but in the last message.",
        "If L = g, the Binomial Tree is the optimal algorithm, and no scatter of k items takes less than its time less L - 1 (theorem 2).",
    ],
    formulas: &[
        "Short-Message: ((P-1)k - 1)g + L (table 2)",
        "Simple Long-Message: (P-2)g + (P-1)(k-1) + L (table 2)",
        "Binomial Tree: max(L, g)(ceil(log2 P) - 1) + L + (P-1)k - ceil(log2 P) (table 2 and section 4.8)",
        "optimal: t(P) = min over s of (sk-1) + max(L + t(s), g + t(P-s)) (sections 4.5 and 4.7)",
    ],
    commands: &[
        "loggp compare scatter --params L=30,g=10,G=1,P=64 --size 10 --clock virtual",
        "loggp compare scatter optimal fixed --alpha 0.46875 --params L=30,g=10,G=1,P=320 --size 1 --clock virtual",
        "loggp compare scatter binomial --params L=30,g=10,G=1,P=3 --size 1 --clock virtual",
    ],
    seconds: Seconds { quick: 1.0, full: 6.0 },
    make,
};

/// The L and g of section 4.6, and two in which L is not above g.
const MACHINES: [(i64, i64); 3] = [(30, 10), (10, 10), (10, 30)];
/// Up to here formulas are compared: table 3's P.
const MOST: usize = 1024;

fn case(algorithm: &str, params: Params, k: usize) -> Case {
    Case { size: k, ..Case::new(&SCATTER, algorithm, params) }
}

fn formula(case: &Case) -> Result<Time, Failed> {
    Ok(case.plan()?.formula().unwrap_or_default())
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let mut checks = splits();
    let mut splits_table =
        Table::new("splits", "The optimal splits of n sets of one item with L = 30 and g = 10");
    splits_table = splits_table
        .exact("n", "")
        .exact("S(n)", "")
        .rough("S(n)/n", "")
        .exact("t(n)", "cycles")
        .exact("halves", "cycles");
    for n in [2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 128, 256, 320, 512, 1024] {
        let S = best_splits(&case("optimal", simplified(n, 30, 10), 1), n)[0];
        let [t, halves] =
            ["optimal", "fixed"].map(|way| formula(&case(way, simplified(n, 30, 10), 1)).map(amount));
        splits_table.push(vec![n.into(), S.into(), (S as f64 / n as f64).into(), t?.into(), halves?.into()]);
    }
    lab.done(0.2);

    let mut runs =
        Runs::new("times", "64 processors, 10 items each, L = 30 and g = 10", &["algorithm"], ("cycles", US));
    for algorithm in ["short", "long", "binomial", "optimal"] {
        runs.push(&[algorithm], None, &lab.measured(case(algorithm, simplified(64, 30, 10), 10))?);
    }
    lab.done(0.5);
    checks.push(table_2(lab)?);
    lab.done(0.6);
    let lemma = lemma_2()?;
    checks.extend(lemma.checks);
    lab.done(0.8);
    checks.extend(theorem_2(lab)?);
    let verdict = format!(
        "The formulas of table 2 are the model's times wherever the table says so, and the splits are the paper's. But lemma 2 holds \
         for powers of 2 only, unless L <= g: its proof lets a new source, which has floor(P/2) sets, take as long as one with \
         ceil(P/2), so that for other P the formula is an upper bound, up to {} times the tree's time. Theorem 2, where L = g, is not \
         touched by that.",
        rough(lemma.most)
    );
    let plot = Plot::new("The Binomial Tree, L = 30, g = 10, k = 1", "")
        .x("processors", Scale::Linear)
        .y("cycles", Scale::Linear)
        .lines(lemma.lines);
    let caption = "What lemma 2 says, and what the algorithm's own recurrence comes to, up to 64 processors. They meet at powers of 2.";
    Ok(Finding::new(verdict)
        .picture("lemma2", caption, plot.svg())
        .checks(checks)
        .table(splits_table)
        .table(runs.table()))
}

/// Section 4.6.
fn splits() -> Vec<Check> {
    let best = |n: usize| best_splits(&case("optimal", simplified(n, 30, 10), 1), n);
    let list = |splits: &[usize]| splits.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
    let (few, many) = (best(5), best(320));
    let most = (few.iter().max().map_or(0, |s| s + 1)) as f64 / 5.0;
    let least = many.iter().min().map_or(0, |s| *s) as f64 / 320.0;
    let checks = vec![
        Check::equal("S(5) for L = 30, g = 10", "1", few[0] as f64),
        Check::same("every optimal first split of 5 sets", "1", list(&few)),
        Check::equal("S(320) for L = 30, g = 10", "150", many[0] as f64),
        Check::same("every optimal first split of 320 sets", "150", list(&many)),
        Check::claim(
            "a ratio that is optimal for 5 and for 320",
            "below 2/5 and at least 150/320: there is none",
            format!("below {} and at least {}", rough(most), rough(least)),
            most <= least,
        ),
    ];
    checks.into_iter().map(|check| check.by(Answer::Formula)).collect()
}

/// The formulas of table 2 beside the model.
fn table_2(lab: &Lab) -> Result<Check, Failed> {
    let (mut equal, mut all) = (0, 0);
    for (L, g) in MACHINES {
        for P in [2, 4, 16, 64] {
            for k in [1, 10] {
                for algorithm in ["short", "long", "binomial"] {
                    let times = lab.model(case(algorithm, simplified(P, L, g), k))?.prediction;
                    equal += usize::from(times.model == times.formula);
                    all += 1;
                }
            }
        }
    }
    let cases =
        format!("in {equal} of {all} cases, for P = 2, 4, 16 and 64, k = 1 and 10, and L and g of 10 and 30");
    Ok(Check::claim("table 2's formulas against the model", "the time complexity", cases, equal == all))
}

/// What became of lemma 2.
struct Lemma {
    checks: Vec<Check>,
    /// The formula and the recurrence.
    lines: Vec<Line>,
    /// How many times the tree's own time the formula is, at most.
    most: f64,
}

/// Lemma 2's formula beside the recurrence of the tree that it is about, for every P.
fn lemma_2() -> Result<Lemma, Failed> {
    let mut checks = Vec::new();
    let mut lines = Vec::new();
    let mut most = 1.0_f64;
    for (L, g) in MACHINES {
        let mut points = Vec::new();
        for P in 2..=MOST {
            let params = simplified(P, L, g);
            let [lemma, tree] =
                ["binomial", "fixed"].map(|algorithm| formula(&case(algorithm, params, 1)).map(amount));
            points.push((P, lemma?, tree?));
        }
        let equal = |points: &mut dyn Iterator<Item = &(usize, f64, f64)>| {
            let (mut equal, mut all) = (0, 0);
            for (_, lemma, tree) in points {
                equal += usize::from(lemma == tree);
                all += 1;
            }
            (equal, all)
        };
        let said = |(equal, all): (usize, usize)| format!("for {equal} of {all}");
        let everywhere = equal(&mut points.iter());
        let what =
            format!("the Binomial Tree's time by its recurrence for L = {L}, g = {g}, up to P = {MOST}");
        if L > g {
            let powers = equal(&mut points.iter().filter(|(P, ..)| P.is_power_of_two()));
            let at = |P: usize| format!("{} against {}", points[P - 2].1, points[P - 2].2);
            most = points.iter().map(|(_, lemma, tree)| lemma / tree).fold(most, f64::max);
            checks.push(Check::claim(
                format!("{what}, where P is a power of 2"),
                "table 2's formula",
                said(powers),
                powers.0 == powers.1,
            ));
            let all = Check::claim(
                format!("{what}, for every P"),
                "lemma 2's formula",
                format!("{}; with P = 3, {}", said(everywhere), at(3)),
                everywhere.0 == everywhere.1,
            );
            checks.push(all.because(
                "the recurrence of the proof adds t(ceil(P/2)) to the L of the message, but the new source has floor(P/2) sets and \
                 the ceil(P/2) stay with the old one, which waits for g and not for L; so the formula is an upper bound",
            ));
            let line = |label: &str, number, y: fn(&(usize, f64, f64)) -> f64| {
                let points = points.iter().take(63).map(|point| (point.0 as f64, y(point)));
                Line::new(label, number, Look::Both, points.collect())
            };
            lines = vec![
                line("lemma 2", colour("binomial"), |point| point.1),
                line("recurrence", colour("fixed"), |point| point.2),
            ];
        } else {
            checks.push(Check::claim(
                format!("{what}, for every P"),
                "the formula of section 4.8",
                said(everywhere),
                everywhere.0 == everywhere.1,
            ));
        }
    }
    let checks = checks.into_iter().map(|check| check.by(Answer::Formula)).collect();
    Ok(Lemma { checks, lines, most })
}

/// Where L = g.
fn theorem_2(lab: &Lab) -> Result<Vec<Check>, Failed> {
    const L: i64 = 10;
    const K: usize = 10;
    let sizes = [2, 3, 5, 6, 8, 11, 16, 23, 32, 64];
    let (mut same, mut bounded, mut saved) = (0, 0, 0.0_f64);
    for P in sizes {
        let params = simplified(P, L, L);
        let binomial = formula(&case("binomial", params, K))?;
        same += usize::from(formula(&case("optimal", params, K))? == binomial);
        let split = lab.model(case("split", params, K))?.prediction.model.unwrap_or_default();
        bounded += usize::from(split >= binomial - (L - 1) * US);
        saved = saved.max(amount(binomial - split));
    }
    let of = |count: usize| format!("for {count} of {} numbers of processors up to 64", sizes.len());
    Ok(vec![
        Check::claim(
            "the optimal algorithm for L = g = 10, k = 10",
            "is the Binomial Tree",
            of(same),
            same == sizes.len(),
        )
        .by(Answer::Formula),
        Check::claim(
            "a scatter that splits sets, for L = g = 10, k = 10",
            "at most L - 1 = 9 sooner than the Binomial Tree (theorem 2)",
            format!("{}; at most {saved} sooner", of(bounded)),
            bounded == sizes.len(),
        ),
    ])
}
