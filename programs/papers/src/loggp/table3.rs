//! Table 3: what four scatters take on 1024 processors.

use loggp::{MS, US};

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Runs, Seconds};
use super::common::{amount, simplified};
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::{Failed, Prediction};

/// The table.
pub const TABLE_3: Exhibit = Exhibit {
    id: "loggp-table3",
    place: "table 3",
    title: "the scatters of k items on 1,024 processors",
    says: &[
        "Predicted times in the simplified LogGP for P = 1024, k = 1, 10 and 100 items, and two sets of parameters: g = 10, L = 30, \
         and g = 100, L = 300.",
        "Its 24 numbers stand below, each beside ours.",
    ],
    formulas: &[
        "Short-Message: ((P-1)k - 1)g + L (table 2)",
        "Simple Long-Message: (P-2)g + (P-1)(k-1) + L (table 2)",
        "Binomial Tree: max(L, g)(log2 P - 1) + L + (P-1)k - log2 P (table 2)",
        "optimal: t(P) = min over s of (sk-1) + max(L + t(s), g + t(P-s)) (section 4.7)",
    ],
    commands: &[
        "loggp compare scatter short long binomial optimal --params L=30,g=10,G=1,P=1024 --size 1 --clock virtual",
        "loggp compare scatter short long binomial optimal --params L=300,g=100,G=1,P=1024 --size 100 --clock virtual",
    ],
    seconds: Seconds { quick: 23.0, full: 120.0 },
    make,
};

const P: usize = 1024;
/// The columns: k, g and L.
const COLUMNS: [(usize, i64, i64); 6] =
    [(1, 10, 30), (1, 100, 300), (10, 10, 30), (10, 100, 300), (100, 10, 30), (100, 100, 300)];
/// The rows: the paper's name, ours, and the numbers.
pub const ROWS: [(&str, &str, [&str; 6]); 4] = [
    ("Short-Message", "short", ["10,250", "102,500", "102,320", "1,023,200", "1,023,020", "10,230,200"]),
    ("Simple Long-Message", "long", ["10,250", "102,500", "19,457", "111,707", "111,527", "203,777"]),
    ("Binomial Tree", "binomial", ["1,313", "4,013", "10,520", "13,220", "102,590", "105,290"]),
    ("Optimal", "optimal", ["1,171", "2,860", "10,358", "11,819", "102,419", "103,688"]),
];

fn make(lab: &Lab) -> Result<Finding, Failed> {
    // A cycle lasts 1 us, and longer cells are not waited for unless all are.
    let most = lab.pick(15 * MS, 60_000 * MS);
    let mut runs = Runs::new("times", "The cells", &["algorithm", "k", "g", "L"], ("cycles", US));
    let (mut checks, mut formulas, mut measured) = (Vec::new(), 0, 0);
    for (row, (paper, algorithm, cells)) in ROWS.into_iter().enumerate() {
        for (column, ((k, g, L), cell)) in COLUMNS.into_iter().zip(cells).enumerate() {
            let case = Case { size: k, ..Case::new(&SCATTER, algorithm, simplified(P, L, g)) };
            let short = case.plan()?.formula().is_some_and(|time| time <= most);
            let answers = if short { lab.measured(case)? } else { lab.model(case)? };
            let [k, g, L] = [k.to_string(), g.to_string(), L.to_string()];
            let printed = cell.replace(',', "").parse().ok();
            runs.push(&[paper, &k, &g, &L], printed, &answers);
            let Prediction { formula, model, measured: waited } = answers.prediction;
            measured += usize::from(waited.is_some());
            checks.push(Check::equal(
                format!("{paper}, k = {k}, g = {g}, L = {L}"),
                cell,
                amount(model.unwrap_or_default()),
            ));
            formulas += usize::from(formula.map(amount) == printed);
            lab.done((row * COLUMNS.len() + column + 1) as f64 / (ROWS.len() * COLUMNS.len()) as f64);
        }
    }
    let equal = checks.iter().filter(|check| check.agreement == Agreement::Equal).count();
    checks.push(Check::equal("cells to which the formulas come", "24", formulas as f64).by(Answer::Formula));
    let mut verdict =
        format!("The model is equal in {equal} of the table's 24 cells, and the formulas are in {formulas}.");
    if lab.is_wall() && measured < checks.len() - 1 {
        verdict += &format!(" {measured} cells are measured too; the longer ones are with --full.");
    }
    Ok(Finding::new(verdict).checks(checks).table(runs.table()))
}
