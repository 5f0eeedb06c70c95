//! Table 2 and section 4: the formulas of the scatters, how they split, and the theorems about them.

use loggp_programs::scatter::{SCATTER, best_splits};

use super::search::{PassingSearch, SimplifiedMachine, least_time};
use super::simplified_machine;
use crate::prelude::*;

pub(super) const TABLE_2: Exhibit = Exhibit {
    id: "loggp-table2",
    place: "table 2 and sections 4.5 to 4.8",
    title: "the formulas of the scatters, and how the optimal one splits",
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
    ..Exhibit::USUAL
};

pub(super) const THEOREMS: Exhibit = Exhibit {
    id: "loggp-theorems",
    place: "lemmas 1 and 2, theorems 1 and 2",
    title: "what is proved of scatters, and a search through all of them",
    notes: "Two searches know no recurrence of the paper. In one anybody may send anything that it has, as often as it likes. In the other \
            every item is passed on and never copied, which lemma 1 allows: it has room for more processors. A scatter ends as footnote 4 \
            has it, when all may communicate again.",
    formulas: &["Binomial Tree: L ceil(log2 P) + (P-1)k - ceil(log2 P), if L >= g (lemma 2)"],
    unit: ("cycles", US),
    series,
    show: show_theorems,
    ..Exhibit::USUAL
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
    sheet.add_own_check("table 2: its formulas are the model's times", same);
    let best = |n: usize| best_splits(case("optimal", simplified_machine(n, 30, 10), 1).setting(), n);
    let (few, many) = (best(5), best(320));
    let quote = "when a processor has 5 items it must send exactly one of them in the first message";
    let what = "how many of 5 items an optimal scatter may send first, all answers, L = 30, g = 10";
    sheet.add_claim(what, "4.6", quote, exactly(1.0), few.iter().map(|s| *s as f64));
    let [only] = many[..] else { unreachable!("320 sets are split in one way") };
    let what = "how many of 320 items an optimal scatter must send first, L = 30, g = 10";
    sheet.add_number(what, "4.6", "150", only as f64);
    let most = (few[few.len() - 1] + 1) as f64 / 5.0;
    let quote = "Since 2/5 < 150/320, it is not possible to pick a fixed value for alpha that will produce an optimal algorithm.";
    let what = "what alpha must be below for 5 items, over what it must be at least for 320 items";
    sheet.add_claim(what, "4.6", quote, below(1.0), [most / (only as f64 / 320.0)]);
    let quote = "when the number of items a processor owns is large, then the optimal splitting ratio for the first several messages is very close \
                 to 1/2";
    let part = |n: usize| best(n)[0] as f64 / n as f64;
    let what = "the part that an optimal scatter sends first of 1,024, 2,048 and 4,096 items, L = 30, g = 10";
    let rule = between(0.475, 0.525).because("very close is taken as 5% to either side");
    sheet.add_claim(what, "4.6", quote, rule, [1024, 2048, 4096].map(part));
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
    add_searches(sheet);
    let formula = |L: i64, g: i64| move |P| formula_cycles("binomial", simplified_machine(P, L, g), 1);
    let (tree, lemma) = (halves(30, 10), formula(30, 10));
    let what = "lemma 2: its formula is the Binomial Tree's own recurrence where P is a power of 2, to 1,024, L = 30, g = 10";
    sheet.add_own_check(what, (1..=10).map(|log| 1 << log).map(|P: usize| lemma(P) == tree[P]));
    let quote = "If L \u{2265} g, the Binomial Tree algorithm runs in time t^k(P) = L\u{2308}log2 P\u{2309} + (P-1)k - \u{2308}log2 P\u{2309}.";
    let what =
        "lemma 2: its formula over the Binomial Tree's own recurrence, P = 3, 5, 6, 7, k = 1, L = 30, g = 10";
    let ours = [3, 5, 6, 7].map(|P: usize| lemma(P) / tree[P]);
    sheet
        .add_claim(what, "lemma 2", quote, exactly(1.0), ours)
        .expect_difference(
            DifferenceCause::Misprint,
            "The proof lets the larger half wait for L, but by the algorithm it stays, and waits for g.",
            "In the proof's recurrence the larger half, ceil(P/2) sets, follows after L. But the message carries the smaller half, floor(P/2) \
             sets. The larger one stays with the old source, which goes on after g and not after L. Where P is odd and L > g, the \
             formula is therefore an upper bound.",
        );
    let (slow, general) = (halves(10, 30), formula(10, 30));
    let quote = "The complete formula for the general case becomes: t^k(P) = max{L,g}(\u{2308}log2 P\u{2309} - 1) + L + (P-1)k - \u{2308}log2 P\u{2309}.";
    let what = "section 4.8's general formula over the Binomial Tree's own recurrence, P = 2, 3, 4, k = 1, L = 10, g = 30";
    let ours = [2, 3, 4].map(|P: usize| general(P) / slow[P]);
    sheet
        .add_claim(what, "4.8", quote, exactly(1.0), ours)
        .expect_difference(
            DifferenceCause::Misprint,
            "Footnote 4 has max{L, g} for the last message, and the formula has L.",
            "By footnote 4 a processor ends when it may communicate again, so that a single item takes max{L, g}: the recurrence of section \
             4.5 counts so. The general formula has L for the last message.",
        );
    add_bounds(sheet);
    let points = (2..=64).map(|P| (P as f64, lemma(P))).collect();
    let tree = (2..=64).map(|P| (P as f64, tree[P])).collect();
    let plot = Plot::new("The Binomial Tree, L = 30, g = 10, k = 1", "")
        .x("processors P", Scale::Linear)
        .y("time [cycles]", Scale::Linear)
        .lines([marked_line("lemma 2", 1, points), marked_line("recurrence", 3, tree)]);
    let caption = "What lemma 2 says, and what the algorithm's own recurrence comes to, up to 64 processors. They meet at powers of 2.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Returns the times of the Binomial Tree for one item and up to 1,024 processors, by its own recurrence: it
/// splits in halves, and a processor ends when it may send again (footnote 4).
fn halves(L: u32, g: u32) -> Vec<f64> {
    let mut t = vec![0, 0];
    for P in 2..=1024 {
        let s = P / 2;
        t.push(s as u32 - 1 + (L + t[s]).max(g + t[P - s]));
    }
    t.into_iter().map(f64::from).collect()
}

/// Adds what the searches find.
fn add_searches(sheet: &mut Sheet) {
    let machines = [(1, 1), (2, 1), (3, 1), (4, 2), (1, 3), (5, 2), (2, 2), (3, 3)];
    let machines = machines.map(|(L, g)| SimplifiedMachine { L, g });
    let among = |most| (2..=most).flat_map(move |P| machines.map(|machine| (machine, P)));
    let most = sheet.lab.pick(4, 5);
    let found =
        among(most).map(|(machine, P)| least_time(machine, P, 1) == PassingSearch::least_time(machine, P, 1));
    let what = "lemma 1: of all scatters of one item none is faster than the fastest that copies no item";
    sheet.add_own_check(format!("{what}, P = 2 to {most}, 8 machines"), found);
    let most = sheet.lab.pick(6, 7);
    let found =
        among(most).map(|(machine, P)| PassingSearch::least_time(machine, P, 1) == recurrence(machine, P)[P]);
    let what = format!("theorem 1: the fastest scatter of one item takes t(P), P = 2 to {most}, 8 machines");
    sheet.add_own_check(what, found);

    // P, k, and L, which is g too.
    let few = [(2, 2, 3), (3, 2, 2), (3, 2, 3), (3, 3, 2), (3, 3, 3), (3, 2, 4)];
    let more = [(3, 6, 4), (4, 2, 3), (4, 3, 2), (4, 3, 5), (4, 4, 3), (5, 2, 2), (5, 2, 3)];
    let most = [(5, 3, 2), (6, 2, 2)];
    let tree = |P, k, L: u32| formula_cycles("binomial", simplified_machine(P, L.into(), L.into()), k);
    let found =
        few.map(|(P, k, L)| f64::from(least_time(SimplifiedMachine { L, g: L }, P, k)) == tree(P, k, L));
    let what = "theorem 2: the fastest of all scatters takes what the Binomial Tree takes, which is L - 1 more than the bound, P = 2 and 3, \
                k = 2 and 3, L = g = 2 to 4";
    sheet.add_own_check(what, found);
    let cases = more.iter().chain(sheet.lab.pick(&[][..], &most));
    let found = cases.map(|(P, k, L)| {
        let machine = SimplifiedMachine { L: *L, g: *L };
        let tree = tree(*P, usize::from(*k), *L) as u32;
        !PassingSearch::can_end_by(machine, *P, *k, tree - 1)
    });
    let found: Vec<bool> = found.collect();
    let what = "theorem 2: of those that copy no item none is faster either, P = 3 to ";
    sheet.add_own_check(format!("{what}{}, k = 2 to 6, L = g = 2 to 5", sheet.lab.pick(5, 6)), found);
}

/// Adds what follows where L = g.
fn add_bounds(sheet: &mut Sheet) {
    let equal = |algorithm, P| formula_cycles(algorithm, simplified_machine(P, EQUAL, EQUAL), 10);
    let what = "section 4.8: where L = g, the optimal algorithm's recurrence is the Binomial Tree's";
    sheet.add_own_check(what, SIZES.map(|P| equal("optimal", P) == equal("binomial", P)));
    let chain = (1..=10).flat_map(|L| {
        let one = halves(L, L);
        let holds = move |P: usize, k: usize| {
            let tree = formula_cycles("binomial", simplified_machine(P, L.into(), L.into()), k);
            one[k * P] - one[k] >= tree - (f64::from(L) - 1.0)
        };
        [2, 3, 7, 16, 33, 64].into_iter().flat_map(move |P| [1, 2, 5, 16].map(|k| holds(P, k)))
    });
    let what = "theorem 2: t^1(kP) - t^1(k), which bounds all scatters in its proof, is no less than its bound, L = g = 1 to 10, P = 2 to 64, \
                k = 1 to 16";
    sheet.add_own_check(what, chain.collect::<Vec<bool>>());
    let results = sheet.series("a scatter that splits sets, L = g = 10, k = 10");
    let bound = |P| equal("binomial", P) - (EQUAL as f64 - 1.0);
    let above = results.map_runs(|result| in_us(result.model()) >= bound(result.x as usize));
    let what = "theorem 2: runs that split sets do not end before its bound, P = 2 to 64, L = g = 10, k = 10";
    sheet.add_own_check(what, above);
}
