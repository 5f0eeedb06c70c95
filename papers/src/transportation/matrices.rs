//! Figures 1, 2 and 3: communication matrices.

use loggp_draw::heat_map::heat_map;
use loggp_programs::transportation::{Matrix, TRANSPORTATION};

use super::{add_formula_check, matrix_case, named_matrix};
use crate::prelude::*;

/// Formulas of a figure's margins.
const MARGINS: &[&str] = &[
    "bound: the two-stage forms take all messages of a stage to be as long as the longest; exact: linear (sections 5 and 7.3)",
    "exact: r_i = sum over j of m_ij, c_j = sum over i of m_ij, r = max r_i, c = max c_j, t = max(r, c) (section 2)",
];
const SAYS: &str = "The paper has no times of this matrix. Its elements hardly count in ours: nearly all of the time is what each message \
                    and each barrier costs. The formulas of the two-stage forms are far above the runs, by up to a quarter, since messages of so few \
                    elements differ most.";

/// Rows of the figures as they are printed, with a dot for each cell without a number.
const FIGURE_1_ROWS: [&str; 8] = [
    ". 3 1 . 2 1 2 1",
    "1 . 2 2 1 1 3 .",
    "4 1 . 2 . 2 . 1",
    ". 2 . . . 3 1 4",
    "3 . 4 . . 2 1 .",
    "1 2 1 2 . . . 4",
    ". 2 1 . 7 . . .",
    "1 . 1 4 . 1 3 .",
];
const FIGURE_2_ROWS: [&str; 8] = [
    ". 3 1 . . 1 . 1",
    "1 . 2 2 . 1 1 .",
    "1 1 . 2 . 2 . 1",
    ". 1 . . . 3 1 .",
    "3 . . . . 2 1 .",
    "1 1 1 2 . . . 2",
    ". . . . . . . .",
    "1 . 1 4 . 1 . .",
];
const FIGURE_3_ROWS: [&str; 4] = ["1 5 . 3", "2 . 5 2", ". 4 1 4", "6 . 3 ."];

pub(super) const FIGURE_1: Exhibit = Exhibit {
    id: "transport-fig1",
    place: "figure 1",
    title: "all-to-many communication with equal traffic",
    printed: 54,
    notes: SAYS,
    formulas: MARGINS,
    series: |_| series("figure-1", 8),
    show: |sheet| {
        let matrix = add_margins(
            sheet,
            "figure-1",
            &FIGURE_1_ROWS,
            ["10 10 10 10 10 10 10 10", "10 10 10 10 10 10 10 10"],
        )?;
        let kind = matrix.kind().to_string();
        let quote = "A matrix illustrating all-to-many communication with equal traffic";
        let rule = "all-to-many by section 2";
        sheet
            .add_judged_claim("kind of the communication", "figure 1", quote, rule, kind == "all-to-many")
            .by_count();
        add_equal_traffic(sheet, &matrix, "figure 1", quote);
        add_formula_check(sheet, 25.0);
        Ok(())
    },
    ..Exhibit::USUAL
};

pub(super) const FIGURE_2: Exhibit = Exhibit {
    id: "transport-fig2",
    place: "figure 2",
    title: "many-to-many communication with bounded traffic",
    printed: 45,
    notes: SAYS,
    formulas: MARGINS,
    series: |_| series("figure-2", 8),
    show: |sheet| {
        let matrix =
            add_margins(sheet, "figure-2", &FIGURE_2_ROWS, ["6 7 7 5 6 7 0 7", "7 6 5 10 0 10 3 4"])?;
        let kind = matrix.kind().to_string();
        let quote = "A matrix illustrating many-to-many communication with bounded traffic";
        let rule = "many-to-many by section 2";
        sheet
            .add_judged_claim("kind of the communication", "figure 2", quote, rule, kind == "many-to-many")
            .by_count();
        let quote = "a case where the incoming and outgoing traffic at each processor are not equal, and the incoming and outgoing traffic \
                     bounds are different";
        let apart = (0..8).map(|i| matrix.r_i(i).abs_diff(matrix.c_j(i)) as f64);
        sheet.add_claim("|r_i - c_i| of each processor", "3", quote, above(0.0), apart).by_count();
        let apart = matrix.r().abs_diff(matrix.c()) as f64;
        sheet.add_claim("|r - c|", "3", quote, above(0.0), [apart]).by_count();
        add_formula_check(sheet, 25.0);
        Ok(())
    },
    ..Exhibit::USUAL
};

pub(super) const FIGURE_3: Exhibit = Exhibit {
    id: "transport-fig3",
    place: "figure 3",
    title: "the bounded transportation problem",
    printed: 19,
    notes: SAYS,
    formulas: MARGINS,
    series: |_| series("figure-3", 4),
    show: |sheet| {
        let matrix = add_margins(sheet, "figure-3", &FIGURE_3_ROWS, ["9 9 9 9", "9 9 9 9"])?;
        let quote = "Transportation with an overall traffic bound of t, illustrated in figure 3";
        add_equal_traffic(sheet, &matrix, "3", quote);
        add_formula_check(sheet, 25.0);
        Ok(())
    },
    ..Exhibit::USUAL
};

/// Returns the series of the matrix transported by every algorithm; one of each kind is measured, to see that
/// the wall clock keeps up.
fn series(name: &'static str, P: usize) -> Vec<CaseSeries> {
    let make_series = |algorithm: &str| {
        let series = CaseSeries::from_case(algorithm, matrix_case(algorithm, P, name));
        let is_measured = ["two-stage", "linear", "random-improved"].contains(&algorithm);
        if is_measured { series.measured() } else { series }
    };
    TRANSPORTATION.algorithms.iter().map(|one| make_series(one.name)).collect()
}

/// Adds that the program's matrix has the numbers of a figure's rows.
pub(super) fn add_entries(sheet: &mut Sheet, matrix: &Matrix, place: &str, rows: &[&str]) {
    let cell = |elements: &usize| if *elements == 0 { ".".into() } else { elements.to_string() };
    let is_same = |(i, row): (usize, &&str)| join_words(matrix.row(i).iter().map(cell)) == *row;
    let numbers = matrix.entries().iter().filter(|elements| **elements > 0).count();
    let what = "rows of the matrix, which is the input";
    sheet.add_read_back(what, place, rows.iter().enumerate().map(is_same)).of_numbers(numbers);
}

/// Adds the matrix, its margins beside the printed ones, and section 2's quantities. Returns the matrix.
fn add_margins(
    sheet: &mut Sheet,
    name: &str,
    rows: &[&str],
    [out, into]: [&str; 2],
) -> Result<Matrix, StudyError> {
    let P = rows.len();
    let matrix = named_matrix(name, P)?;
    let place = name.replace('-', " ");
    add_entries(sheet, &matrix, &place, rows);
    let ours = join_words((0..P).map(|i| matrix.r_i(i)));
    sheet.add_text("outgoing traffic r_i, beside the rows", &place, out, ours).by_arithmetic();
    let ours = join_words((0..P).map(|j| matrix.c_j(j)));
    sheet.add_text("incoming traffic c_j, below the columns", &place, into, ours).by_arithmetic();
    let table = Table::new("matrix", "What section 2 defines").text("processor").exact("r_i", "elements");
    let mut table =
        table.exact("c_i", "elements").exact("fan-out f_i", "messages").exact("fan-in g_i", "messages");
    let mut row = |name: String, values: [usize; 4]| {
        table.push([name.into()].into_iter().chain(values.map(Into::into)).collect());
    };
    for i in 0..P {
        row(format!("P{i}"), [matrix.r_i(i), matrix.c_j(i), matrix.f_i(i), matrix.g_j(i)]);
    }
    row("bound: r, c, f, g".into(), [matrix.r(), matrix.c(), matrix.f(), matrix.g()]);
    sheet.add_table(table);
    let title = format!("{name}: t = {}, {}", matrix.t(), matrix.kind());
    let picture = heat_map(matrix.P(), matrix.entries(), &title).expect("it is small");
    sheet.add_picture("", "The matrix, with its margins.", picture);
    Ok(matrix)
}

/// Adds the claim that all traffic is t.
fn add_equal_traffic(sheet: &mut Sheet, matrix: &Matrix, section: &str, quote: &str) {
    let all = (0..matrix.P()).flat_map(|i| [matrix.r_i(i), matrix.c_j(i)]);
    let off = all.map(|traffic| (matrix.t() - traffic) as f64);
    sheet
        .add_claim("t less the traffic of each processor, in and out", section, quote, exactly(0.0), off)
        .by_count();
}
