//! Tables of a document.

use loggp_document::{Cell, Column, Show, Table};

#[test]
fn shows_numbers_as_people_read_them() {
    let show = |show, number: f64| {
        Column { title: "x".into(), unit: String::new(), show }.shown(&Cell::from(number))
    };
    assert_eq!(show(Show::Exact, 1171.0), "1,171");
    assert_eq!(show(Show::Exact, 14.25), "14.25");
    assert_eq!(show(Show::Rough, 0.012_345), "0.0123");
    assert_eq!(show(Show::Percent, 0.012_349), "+1.23%");
    assert_eq!(show(Show::Percent, -0.5), "-50.00%");
    assert_eq!(show(Show::Percent, -0.000_001), "+0.00%");
    assert_eq!(show(Show::Percent, 0.009_999), "+1.00%");
}

#[test]
fn a_wide_table_comes_in_parts_with_the_columns_that_tell_rows_apart() {
    let titles = ["name", "P"].into_iter().map(String::from).chain((0..30).map(|n| format!("column {n}")));
    let table = titles.fold(Table::new("", ""), |table, title| table.exact(&title, ""));
    let row = |P: f64| {
        let cells = [Cell::Text("ring".into()), Cell::Number(P)].into_iter();
        cells.chain((0..30).map(|n| Cell::Number(100.0 * P + f64::from(n)))).collect()
    };
    let text = Table { rows: vec![row(1.0), row(2.0)], ..table }.to_text();
    assert!(text.lines().all(|line| line.len() <= 120));
    let parts: Vec<&str> = text.split("\n\n").collect();
    assert!(parts.len() > 2);
    for part in parts {
        let starts: Vec<Vec<&str>> =
            part.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
        assert_eq!(starts, [["name", "P"], ["ring", "1"], ["ring", "2"]]);
    }
    for n in 0..30 {
        assert_eq!(
            text.matches(&format!("column {n} ")).count() + text.matches(&format!("column {n}\n")).count(),
            1
        );
    }
}
