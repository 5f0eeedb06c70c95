//! Tables of a document.

use loggp_document::{Cell, CellFormat, Document, DocumentBlock, Table, TableColumn, Width, plain};

#[test]
fn numbers_are_rounded_and_grouped() {
    let show = |show, number: f64| {
        TableColumn { title: "x".into(), unit: String::new(), show }.cell_text(&Cell::from(number))
    };
    assert_eq!(show(CellFormat::Exact, 1171.0), "1,171");
    assert_eq!(show(CellFormat::Exact, 14.25), "14.25");
    assert_eq!(show(CellFormat::Rough, 0.012_345), "0.0123");
    assert_eq!(show(CellFormat::Percent, 0.012_349), "+1.23%");
    assert_eq!(show(CellFormat::Percent, -0.5), "-50.00%");
    assert_eq!(show(CellFormat::Percent, -0.000_001), "+0.00%");
    assert_eq!(show(CellFormat::Percent, 0.009_999), "+1.00%");
}

#[test]
fn a_wide_table_comes_in_parts_with_the_columns_that_tell_rows_apart() {
    let titles = ["name", "P"].into_iter().map(String::from).chain((0..30).map(|n| format!("column {n}")));
    let table = titles.fold(Table::new("", ""), |table, title| table.exact(&title, ""));
    let row = |P: f64| {
        let cells = [Cell::Text("ring".into()), Cell::Number(P)].into_iter();
        cells.chain((0..30).map(|n| Cell::Number(100.0 * P + f64::from(n)))).collect()
    };
    let text = Table { rows: vec![row(1.0), row(2.0)], ..table };
    let text = text.to_text(Width { table: 120, prose: usize::MAX });
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

/// At any width every word is printed whole, and no line is longer than the width.
#[test]
fn a_text_is_folded_between_words_and_loses_none() {
    let table = Table::new("", "")
        .text("algorithm")
        .exact("time of the formula", "us")
        .exact("P", "")
        .text("what it is");
    let prose = "a long sentence of many words that says what it is, and then what it is not";
    let row = |name: &str| vec![name.into(), Cell::from(1234.5), Cell::from(16_usize), prose.into()];
    let table = Table { rows: vec![row("two-stage"), row("single-stage")], ..table };
    let blocks = || vec![DocumentBlock::Paragraph(plain(prose)), DocumentBlock::Table(table.clone())];
    let text = |width| {
        let document = Document { title: "  a title, as long as it has to be".into(), blocks: blocks() };
        document.to_text(Width { table: width, prose: width })
    };
    let words = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(String::from).collect();
        words.sort();
        words
    };
    let whole = text(500);
    assert_eq!(whole.lines().count(), 2 + 1 + 1 + 3);
    for width in [60, 80, 100, 120, 200] {
        let folded = text(width);
        assert!(folded.lines().all(|line| line.chars().count() <= width), "{width}:\n{folded}");
        assert_eq!(words(&folded), words(&whole), "{width}:\n{folded}");
    }
    // If there is no room for two columns, the headings are folded too.
    let narrow = text(30);
    assert!(narrow.contains("time of the\n") || narrow.contains("time of\n"), "{narrow}");
}
