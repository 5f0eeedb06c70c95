//! Table 2: the formulas of the scatters; and what section 4 says of how they split, and proves of them.

use loggp::{Params, US};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::{SCATTER, best_splits};
use loggp_study::Failed;

use super::common::{amount, simplified};
use super::search::{Machine, least};
use crate::{Exhibit, Lab, Series, Sheet, at_least, below, exactly, line};

/// The table, and sections 4.5 to 4.8.
pub const TABLE_2: Exhibit = Exhibit {
    id: "loggp-table2",
    place: "table 2 and sections 4.5 to 4.8",
    title: "the formulas of the scatters, and how the optimal one splits",
    says: &["All in the simplified LogGP, where o is 0 and G is 1."],
    formulas: &[
        "Short-Message: ((P-1)k - 1)g + L (table 2)",
        "Simple Long-Message: (P-2)g + (P-1)(k-1) + L (table 2)",
        "Binomial Tree: max(L, g)(ceil(log2 P) - 1) + L + (P-1)k - ceil(log2 P) (table 2 and section 4.8)",
        "optimal: t(P) = min over s of (sk-1) + max(L + t(s), g + t(P-s)) (sections 4.5 and 4.7)",
    ],
    unit: ("cycles", US),
    series: |_| {
        let all = MACHINES.iter().flat_map(|(L, g)| ["short", "long", "binomial"].map(|name| (*L, *g, name)));
        let all = all.flat_map(|(L, g, name)| [1, 10].map(|k| (L, g, name, k)));
        let of = |(L, g, name, k)| {
            let label = format!("{name}, L = {L}, g = {g}, k = {k}");
            Series::over(label, "P", [2, 4, 16, 64], move |P| case(name, simplified(P, L, g), k))
        };
        let measured = ["short", "long", "binomial", "optimal"]
            .map(|name| Series::one(name, case(name, simplified(64, 30, 10), 10)).measured());
        all.map(of).chain(measured).collect()
    },
    show: table_2,
};

/// Theorems 1 and 2, and lemmas 1 and 2.
pub const THEOREMS: Exhibit = Exhibit {
    id: "loggp-theorems",
    place: "lemmas 1 and 2, theorems 1 and 2",
    title: "what is proved of scatters, and a search through all of them",
    says: &[
        "The search knows neither the paper's restrictions nor its recurrences: anybody may send anything that it has, as often as it likes.",
    ],
    formulas: &["Binomial Tree: L ceil(log2 P) + (P-1)k - ceil(log2 P), if L >= g (lemma 2)"],
    unit: ("cycles", US),
    series,
    show: theorems,
};

/// The L and g of section 4.6, and two in which L is not above g.
const MACHINES: [(i64, i64); 3] = [(30, 10), (10, 10), (10, 30)];
/// Where L = g: theorem 2's machine, and how many processors.
const EQUAL: i64 = 10;
const SIZES: [usize; 10] = [2, 3, 5, 6, 8, 11, 16, 23, 32, 64];

fn case(algorithm: &str, params: Params, k: usize) -> Case {
    Case { size: k, ..Case::new(&SCATTER, algorithm, params) }
}

/// What the formula of a case says, in cycles.
fn formula(algorithm: &str, params: Params, k: usize) -> Result<f64, Failed> {
    Ok(amount(case(algorithm, params, k).plan()?.formula().unwrap_or_default()))
}

fn table_2(sheet: &mut Sheet) -> Result<(), Failed> {
    let runs = sheet.all().iter().filter(|ran| ran.along == "P").flat_map(|ran| &ran.points);
    let same: Vec<bool> = runs.map(|told| told.model() == told.formula()).collect();
    let right = same.iter().filter(|same| **same).count();
    sheet.own("table 2's formulas are the model's times", right, same.len());
    let best = |n: usize| best_splits(&case("optimal", simplified(n, 30, 10), 1), n);
    let numbers = |splits: &[usize]| splits.iter().map(|s| *s as f64).collect::<Vec<_>>();
    let (few, many) = (best(5), best(320));
    let quote = "when a processor has 5 items it must send exactly one of them in the first message";
    let what = "all optimal first splits of 5, L = 30, g = 10";
    sheet.claim(what, "4.6", quote, exactly(1.0), numbers(&few)).by_formula();
    let [only] = many[..] else { unreachable!("320 sets are split in one way") };
    let what = "the only optimal first split of 320, L = 30, g = 10";
    sheet.number(what, "4.6", "150", only as f64).by_formula();
    let most = (few[few.len() - 1] + 1) as f64 / 5.0;
    let quote = "Since 2/5 < 150/320, it is not possible to pick a fixed value for alpha that will produce an optimal algorithm.";
    let what = "the bound of alpha from 5, over that from 320";
    sheet.claim(what, "4.6", quote, below(1.0), [most / (only as f64 / 320.0)]).by_formula();
    let mut points = Vec::new();
    for n in 2..=320 {
        points.push((n as f64, best(n)[0] as f64 / n as f64));
    }
    let plot = Plot::new("The part that the optimal scatter sends first", "L = 30, g = 10, k = 1")
        .x("sets of items n", Scale::Log)
        .y("S(n)/n", Scale::Linear)
        .lines([loggp_draw::plot::Line::new("S(n)/n", 0, loggp_draw::plot::Look::Line, points)])
        .level("150/320", 150.0 / 320.0)
        .level("2/5", 0.4);
    sheet.plot("", "Below 2/5 for 5 sets, and 150/320 and more for many: no fixed ratio is optimal.", plot);
    Ok(())
}

fn series(_: &Lab) -> Vec<Series> {
    let split = |P| case("split", simplified(P, EQUAL, EQUAL), 10);
    vec![Series::over("a scatter that splits sets, L = g = 10, k = 10", "P", SIZES, split)]
}

fn theorems(sheet: &mut Sheet) -> Result<(), Failed> {
    let (mut found, mut all) = (0, 0);
    for P in 2..=sheet.lab.pick(5, 6) {
        for (L, g) in [(1, 1), (2, 1), (3, 1), (4, 2), (1, 3), (5, 2), (2, 2), (3, 3)] {
            let t = formula("optimal", simplified(P, i64::from(L), i64::from(g)), 1)? as u32;
            // By the footnote a processor ends when it may send again.
            let t = t.max(g);
            all += 1;
            found += usize::from(least(Machine { L, g }, P, 1, t) == t);
        }
    }
    let most = sheet.lab.pick(5, 6);
    let what = format!(
        "theorem 1, lemma 1: no scatter of one item, of all that there are, is faster than A_t, P = 2 to {most}"
    );
    sheet.own(what, found, all);

    let (mut points, mut powers, mut others) = (Vec::new(), (0, 0), (0, 0));
    for (L, g) in MACHINES {
        for P in 2..=1024 {
            let params = simplified(P, L, g);
            let (lemma, tree) = (formula("binomial", params, 1)?, formula("fixed", params, 1)?);
            if L > g {
                points.push((P, lemma, tree));
            }
            let tally = if L > g && !P.is_power_of_two() { &mut others } else { &mut powers };
            tally.0 += usize::from(lemma == tree);
            tally.1 += 1;
        }
    }
    let what = "lemma 2's formula is the tree's recurrence, P = 2 to 1,024: where P is a power of 2, and where L <= g";
    sheet.own(what, powers.0, powers.1);
    let quote = "If L \u{2265} g, the Binomial Tree algorithm runs in time t^k(P) = L\u{2308}log2 P\u{2309} + (P-1)k - \u{2308}log2 P\u{2309}.";
    let what = "the formula over the tree's own recurrence for P = 3, 5, 6, 7, L = 30, g = 10";
    let ours = [3, 5, 6, 7].map(|P| points[P - 2].1 / points[P - 2].2);
    sheet.claim(what, "lemma 2", quote, exactly(1.0), ours).by_formula().because(
        "1.5, 1.49, 1.28, 1.27",
        "the recurrence of the proof adds t(ceil(P/2)) to the L of the message, but the new source has floor(P/2) sets and the ceil(P/2) \
         stay with the old one, which waits for g and not for L; so the formula is an upper bound",
    );
    let same = SIZES.iter().map(|P| {
        let params = simplified(*P, EQUAL, EQUAL);
        Ok(formula("optimal", params, 10)? == formula("binomial", params, 10)?)
    });
    let same = same.collect::<Result<Vec<bool>, Failed>>()?;
    let right = same.iter().filter(|same| **same).count();
    sheet.own(
        "section 4.8: where L = g, the optimal algorithm's recurrence is the Binomial Tree's",
        right,
        same.len(),
    );

    let (mut bounded, mut all, mut nearest) = (0, 0, f64::INFINITY);
    for (P, k, L) in [(2, 2, 3), (3, 2, 2), (3, 2, 3), (3, 3, 2), (4, 1, 3), (3, 2, 4)] {
        let params = simplified(P, L, L);
        let binomial = formula("binomial", params, k)?;
        let best = f64::from(least(Machine { L: L as u32, g: L as u32 }, P, k, binomial as u32));
        let room = best - (binomial - (L as f64 - 1.0));
        (bounded, all) = (bounded + usize::from(room >= 0.0), all + 1);
        nearest = nearest.min(room);
    }
    sheet.own(
        "theorem 2: the best of all scatters of k items is not below its bound, P = 2 to 4, L = g = 2 to 4",
        bounded,
        all,
    );
    let quote = "the running time of any any k-item scatter algorithm is at least t^k(P) - (L - 1)";
    let ran = sheet.of("a scatter that splits sets, L = g = 10, k = 10");
    let room = ran.points.iter().map(|told| {
        let binomial = formula("binomial", simplified(told.x as usize, EQUAL, EQUAL), 10)?;
        Ok(amount(told.model()) - (binomial - (EQUAL as f64 - 1.0)))
    });
    let room = room.collect::<Result<Vec<f64>, Failed>>()?;
    let what = format!(
        "how far above that a scatter that splits sets ends, L = g = 10, k = 10; the best of the search comes to {nearest}"
    );
    sheet.claim(what, "theorem 2", quote, at_least(0.0), room);
    let part = |of: fn(&(usize, f64, f64)) -> f64| {
        points.iter().take(63).map(|one| (one.0 as f64, of(one))).collect()
    };
    let plot = Plot::new("The Binomial Tree, L = 30, g = 10, k = 1", "")
        .x("processors", Scale::Linear)
        .y("cycles", Scale::Linear)
        .lines([line("lemma 2", 1, part(|one| one.1)), line("recurrence", 3, part(|one| one.2))]);
    let caption = "What lemma 2 says, and what the algorithm's own recurrence comes to, up to 64 processors. They meet at powers of 2.";
    sheet.plot("", caption, plot);
    Ok(())
}
