//! Table 3: the running times of four scatters on 1,024 processors.

use loggp_draw::digits::exact;
use loggp_programs::scatter::SCATTER;

use super::simplified_machine;
use crate::prelude::*;

pub(super) const TABLE_3: Exhibit = Exhibit {
    id: "loggp-table3",
    place: "table 3",
    title: "scatters of k items among 1,024 processors",
    printed: 24,
    notes: "In the simplified LogGP of section 4.1: no o, and a G of 1 per item. A cycle lasts 1 us here.",
    formulas: &[
        "Short-Message: ((P-1)k - 1)g + L (table 2)",
        "Simple Long-Message: (P-2)g + (P-1)(k-1) + L (table 2)",
        "Binomial Tree: max(L, g)(log2 P - 1) + L + (P-1)k - log2 P (table 2)",
        "optimal: t(P) = min over s of (sk-1) + max(L + t(s), g + t(P-s)) (section 4.7)",
    ],
    unit: ("cycles", US),
    series: |lab| {
        // Longer cells are measured only at the papers' own sizes.
        let most = lab.pick(15 * MS, 60_000 * MS);
        let cells = ROWS.iter().flat_map(|(paper, algorithm, _)| {
            COLUMNS.map(|(k, g, L)| {
                let case = Case { size: k, ..Case::new(&SCATTER, algorithm, simplified_machine(1024, L, g)) };
                let is_short =
                    case.plan().ok().and_then(|plan| plan.formula()).is_some_and(|time| time <= most);
                let series = CaseSeries::from_case(series_name(paper, (k, g, L)), case);
                if is_short { series.measured() } else { series }
            })
        });
        cells.collect()
    },
    show,
    ..Exhibit::USUAL
};

/// Columns: k, g and L.
const COLUMNS: [(usize, i64, i64); 6] =
    [(1, 10, 30), (1, 100, 300), (10, 10, 30), (10, 100, 300), (100, 10, 30), (100, 100, 300)];
/// Rows: the paper's name, ours, and the printed times.
const ROWS: [(&str, &str, [&str; 6]); 4] = [
    ("Short-Message", "short", ["10,250", "102,500", "102,320", "1,023,200", "1,023,020", "10,230,200"]),
    ("Simple Long-Message", "long", ["10,250", "102,500", "19,457", "111,707", "111,527", "203,777"]),
    ("Binomial Tree", "binomial", ["1,313", "4,013", "10,520", "13,220", "102,590", "105,290"]),
    ("Optimal", "optimal", ["1,171", "2,860", "10,358", "11,819", "102,419", "103,688"]),
];

fn series_name(paper: &str, (k, g, L): (usize, i64, i64)) -> String {
    format!("{paper}, k = {k}, g = {g}, L = {L}")
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    for (paper, _, cells) in ROWS {
        for (column, cell) in COLUMNS.into_iter().zip(cells) {
            let name = series_name(paper, column);
            sheet.add_text(format!("{name} [cycles]"), "table 3", cell, sheet.model_time(&name).map(exact));
        }
    }
    let over = |one: &str, other: &str, columns: &[(usize, i64, i64)]| {
        let time = |paper: &str, column| sheet.model_time(&series_name(paper, column));
        columns.iter().map(|column| time(one, *column) / time(other, *column)).collect::<Vec<_>>()
    };
    let same = over("Simple Long-Message", "Short-Message", &COLUMNS[..2]);
    let faster = over("Short-Message", "Simple Long-Message", &COLUMNS[2..]);
    let [tree, superior, best] = [
        over("Simple Long-Message", "Binomial Tree", &COLUMNS),
        over("Binomial Tree", "Optimal", &COLUMNS),
        over("Short-Message", "Optimal", &COLUMNS),
    ];
    let twice = || at_least(2.0).because("significantly is taken as twice as fast");
    let quote = "for k = 1 it takes exactly as much time as the Short-Message algorithm";
    let what = "the time of Simple Long-Message over that of Short-Message, k = 1";
    sheet.add_claim(what, "4.3", quote, exactly(1.0), same);
    let quote = "the new algorithm is significantly faster than the Short-Message algorithm for k > 1 items";
    let what = "the time of Short-Message over that of Simple Long-Message, k = 10 and 100";
    sheet.add_claim(what, "4.3", quote, twice(), faster);
    let quote = "The Binomial Tree algorithm is faster than the Simple Long-Message algorithm but nevertheless is generally suboptimal.";
    let what = "the time of Simple Long-Message over that of Binomial Tree, all columns";
    sheet.add_claim(what, "4.5", quote, above(1.0), tree);
    let quote = "A_t is superior to the Binomial Tree algorithm";
    let what = "how much longer Binomial Tree takes than the optimal algorithm, all columns [%]";
    sheet.add_claim(what, "4.5", quote, above(0.0), superior.into_iter().map(|over| 100.0 * (over - 1.0)));
    let quote = "several algorithms that are fundamentally different from, and significantly faster than, the LogP (short-message) optimal algorithm";
    let what = "the time of Short-Message over that of the optimal algorithm, all columns";
    sheet.add_claim(what, "5", quote, twice(), best);
    let same: Vec<_> = sheet.results.iter().flat_map(SeriesResult::formula_checks).collect();
    sheet.add_own_check("table 3: cells in which the formula is the model's time", same);
    Ok(())
}
