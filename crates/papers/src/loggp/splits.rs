//! Table 2 and section 4: the formulas of the scatters, how they split, and the theorems about them.

use loggp_programs::scatter::{SCATTER, best_splits};

use super::search::{SimplifiedMachine, least_time};
use super::simplified_machine;
use crate::prelude::*;

pub const TABLE_2: Exhibit = Exhibit {
    id: "loggp-table2",
    place: "table 2 and sections 4.5 to 4.8",
    title: "the formulas of the scatters, and how the optimal one splits",
    printed: 0,
    left_out: "",
    notes: "All in the simplified LogGP, where o is 0 and G is 1.",
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
        let make_series = |(L, g, name, k)| {
            let label = format!("{name}, L = {L}, g = {g}, k = {k}");
            CaseSeries::from_values(label, "P", [2, 4, 16, 64], |P| {
                case(name, simplified_machine(P, L, g), k)
            })
        };
        let measured = ["short", "long", "binomial", "optimal"].map(|name| {
            CaseSeries::from_case(name, case(name, simplified_machine(64, 30, 10), 10)).measured()
        });
        all.map(make_series).chain(measured).collect()
    },
    show: show_table_2,
};

pub const THEOREMS: Exhibit = Exhibit {
    id: "loggp-theorems",
    place: "lemmas 1 and 2, theorems 1 and 2",
    title: "what is proved of scatters, and a search through all of them",
    printed: 0,
    left_out: "",
    notes: "The search knows neither the paper's restrictions nor its recurrences: anybody may send anything that it has, as often as it likes.",
    formulas: &["Binomial Tree: L ceil(log2 P) + (P-1)k - ceil(log2 P), if L >= g (lemma 2)"],
    unit: ("cycles", US),
    series,
    show: show_theorems,
};

/// L and g of section 4.6, and two machines whose L is not above g.
const MACHINES: [(i64, i64); 3] = [(30, 10), (10, 10), (10, 30)];
/// L and g of theorem 2's machine; and the numbers of processors.
const EQUAL: i64 = 10;
const SIZES: [usize; 10] = [2, 3, 5, 6, 8, 11, 16, 23, 32, 64];

fn case(algorithm: &str, params: Params, k: usize) -> Case {
    Case { size: k, ..Case::new(&SCATTER, algorithm, params) }
}

/// Returns the formula's time of a case, in cycles.
fn formula_cycles(algorithm: &str, params: Params, k: usize) -> f64 {
    let formula = case(algorithm, params, k).plan().expect("the case can be run").formula();
    in_us(formula.expect("table 2 has its formula"))
}

fn show_table_2(sheet: &mut Sheet) -> Result<(), StudyError> {
    let over_P = sheet.results.iter().filter(|results| results.along == "P");
    let same: Vec<_> = over_P.flat_map(SeriesResult::formula_checks).collect();
    sheet.add_own_check("table 2's formulas are the model's times", same);
    let best = |n: usize| best_splits(&case("optimal", simplified_machine(n, 30, 10), 1), n);
    let (few, many) = (best(5), best(320));
    let quote = "when a processor has 5 items it must send exactly one of them in the first message";
    let what = "all optimal first splits of 5, L = 30, g = 10";
    sheet.add_claim(what, "4.6", quote, exactly(1.0), few.iter().map(|s| *s as f64));
    let [only] = many[..] else { unreachable!("320 sets are split in one way") };
    let what = "the only optimal first split of 320, L = 30, g = 10";
    sheet.add_number(what, "4.6", "150", only as f64);
    let most = (few[few.len() - 1] + 1) as f64 / 5.0;
    let quote = "Since 2/5 < 150/320, it is not possible to pick a fixed value for alpha that will produce an optimal algorithm.";
    let what = "the bound of alpha from 5, over that from 320";
    sheet.add_claim(what, "4.6", quote, below(1.0), [most / (only as f64 / 320.0)]);
    let quote = "when the number of items a processor owns is large, then the optimal splitting ratio for the first several messages is very close \
                 to 1/2";
    let part = |n: usize| best(n)[0] as f64 / n as f64;
    let what = "S(1024)/1024, L = 30, g = 10";
    sheet.add_claim(what, "4.6", quote, between(0.45, 0.5), [part(1024)]);
    let points = (2..=320).map(|n| (n as f64, part(n))).collect();
    let plot = Plot::new("The part that the optimal scatter sends first", "L = 30, g = 10, k = 1")
        .x("sets of items n", Scale::Log)
        .y("S(n)/n", Scale::Linear)
        .lines([PlotLine::new("S(n)/n", 0, Look::Line, points)])
        .level("150/320", 150.0 / 320.0)
        .level("2/5", 0.4);
    let caption = "Below 2/5 for 5 sets, and 150/320 and more for many: no fixed ratio is optimal.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

fn series(_: &Lab) -> Vec<CaseSeries> {
    let split = |P| case("split", simplified_machine(P, EQUAL, EQUAL), 10);
    vec![CaseSeries::from_values("a scatter that splits sets, L = g = 10, k = 10", "P", SIZES, split)]
}

/// Returns section 4.7's t(0) to t(P) for k = 1, as written: a processor ends when it may send again
/// (footnote 4).
fn recurrence(SimplifiedMachine { L, g }: SimplifiedMachine, P: usize) -> Vec<u32> {
    let mut t = vec![0, 0];
    for n in 2..=P {
        let split = |s: usize| s as u32 - 1 + (L + t[s]).max(g + t[n - s]);
        t.push((1..n).map(split).min().expect("there is a split"));
    }
    t
}

fn show_theorems(sheet: &mut Sheet) -> Result<(), StudyError> {
    let most = sheet.lab.pick(5, 6);
    let machines = [(1, 1), (2, 1), (3, 1), (4, 2), (1, 3), (5, 2), (2, 2), (3, 3)];
    let all = (2..=most).flat_map(|P| machines.map(|(L, g)| (P, SimplifiedMachine { L, g })));
    let found = all.map(|(P, machine)| least_time(machine, P, 1) == recurrence(machine, P)[P]);
    let what = format!(
        "theorem 1, lemma 1: the fastest scatter of one item, of all that there are, takes t(P), P = 2 to {most}"
    );
    sheet.add_own_check(what, found);

    let formula = |L: i64, g: i64| move |P| formula_cycles("binomial", simplified_machine(P, L, g), 1);
    // The Binomial Tree's recurrence splits in halves.
    let halves = |L: u32, g: u32| {
        let mut t = vec![0, 0];
        for P in 2..=1024 {
            let s = P / 2;
            t.push(s as u32 - 1 + (L + t[s]).max(g + t[P - s]));
        }
        t.into_iter().map(f64::from).collect::<Vec<f64>>()
    };
    let (tree, lemma) = (halves(30, 10), formula(30, 10));
    let what = "lemma 2's formula is the tree's recurrence where P is a power of 2, to 1,024, L = 30, g = 10";
    sheet.add_own_check(what, (1..=10).map(|log| 1 << log).map(|P: usize| lemma(P) == tree[P]));
    let quote = "If L \u{2265} g, the Binomial Tree algorithm runs in time t^k(P) = L\u{2308}log2 P\u{2309} + (P-1)k - \u{2308}log2 P\u{2309}.";
    let what = "the formula over the tree's own recurrence for P = 3, 5, 6, 7, L = 30, g = 10";
    let ours = [3, 5, 6, 7].map(|P: usize| lemma(P) / tree[P]);
    sheet.add_claim(what, "lemma 2", quote, exactly(1.0), ours).expect_difference(
        "1.5, 1.49, 1.28, 1.27",
        "the recurrence of the proof adds t(ceil(P/2)) to the L of the message, but the new source has floor(P/2) sets and the ceil(P/2) \
         stay with the old one, which waits for g and not for L; so the formula is an upper bound",
    );
    let (slow, general) = (halves(10, 30), formula(10, 30));
    let quote = "The complete formula for the general case becomes: t^k(P) = max{L,g}(\u{2308}log2 P\u{2309} - 1) + L + (P-1)k - \u{2308}log2 P\u{2309}.";
    let what = "that over the tree's own recurrence for P = 2, 3, 4, L = 10, g = 30";
    let ours = [2, 3, 4].map(|P: usize| general(P) / slow[P]);
    sheet.add_claim(what, "4.8", quote, exactly(1.0), ours).expect_difference(
        "0.333, 0.667, 0.672",
        "footnote 4 lets a processor end when it may communicate again, and so a single item take max{L,g}; the formula has L there",
    );
    let equal = |algorithm, P| formula_cycles(algorithm, simplified_machine(P, EQUAL, EQUAL), 10);
    let what = "section 4.8: where L = g, the optimal algorithm's recurrence is the Binomial Tree's";
    sheet.add_own_check(what, SIZES.map(|P| equal("optimal", P) == equal("binomial", P)));

    let cases = [(2, 2, 3), (3, 2, 2), (3, 2, 3), (3, 3, 2), (3, 3, 3), (3, 2, 4)];
    let best = cases.map(|(P, k, L)| {
        let tree = formula_cycles("binomial", simplified_machine(P, i64::from(L), i64::from(L)), k);
        f64::from(least_time(SimplifiedMachine { L, g: L }, P, k)) == tree
    });
    let what = "theorem 2: the best of all scatters of k items takes what the Binomial Tree takes, L - 1 more than its bound, P = 2 and 3, \
                L = g = 2 to 4";
    sheet.add_own_check(what, best);
    let results = sheet.series("a scatter that splits sets, L = g = 10, k = 10");
    let bound = |P| equal("binomial", P) - (EQUAL as f64 - 1.0);
    let above = results.points.iter().map(|result| in_us(result.model()) >= bound(result.x as usize));
    let above: Vec<bool> = above.collect();
    let what = "theorem 2: scatters that split sets are not below its bound, L = g = 10, k = 10";
    sheet.add_own_check(what, above);
    let points = (2..=64).map(|P| (P as f64, lemma(P))).collect();
    let tree = (2..=64).map(|P| (P as f64, tree[P])).collect();
    let plot = Plot::new("The Binomial Tree, L = 30, g = 10, k = 1", "")
        .x("processors", Scale::Linear)
        .y("cycles", Scale::Linear)
        .lines([marked_line("lemma 2", 1, points), marked_line("recurrence", 3, tree)]);
    let caption = "What lemma 2 says, and what the algorithm's own recurrence comes to, up to 64 processors. They meet at powers of 2.";
    sheet.add_plot("", caption, plot);
    Ok(())
}
