//! Tables of a document.

use loggp_document::{Cell, CellFormat, Document, DocumentBlock, Table, TableColumn, Width, plain};

#[test]
fn numbers_are_rounded_and_grouped() {
    let show = |show, number: f64| {
        TableColumn { title: "x".into(), unit: String::new(), show, yields: false }
            .cell_text(&Cell::from(number))
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
    let titles = ["name", "P"].into_iter().map(String::from).chain((0..30).map(|n| format!("column-{n}")));
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
            text.matches(&format!("column-{n} ")).count() + text.matches(&format!("column-{n}\n")).count(),
            1
        );
    }
}

/// A table that is too wide says in a line below what all its rows have in columns that yield.
#[test]
fn columns_give_way_before_a_table_is_broken() {
    let table =
        Table::new("", "").text("algorithm").exact("messages", "").yielding().text("verified").yielding();
    let row = |name: &str, messages: f64| vec![name.into(), Cell::from(messages), "yes".into()];
    let table = Table { rows: vec![row("optimal", 63.0), row("long", 63.0)], ..table };
    let text = |width| table.to_text(Width { table: width, prose: usize::MAX });
    assert_eq!(text(80).lines().next(), Some("algorithm  messages  verified"));
    assert_eq!(text(20), "algorithm  messages\noptimal          63\nlong             63\n\nverified: yes\n");
    assert_eq!(text(10), "algorithm\noptimal\nlong\n\nmessages: 63, verified: yes\n");
    let mut other = table.clone();
    other.rows[1][2] = "NO".into();
    let narrow = other.to_text(Width { table: 12, prose: usize::MAX });
    assert!(narrow.contains("NO") && narrow.ends_with("\nmessages: 63\n"), "{narrow}");
}

/// Headings are folded before a table is broken.
#[test]
fn headings_of_a_wide_table_are_folded() {
    let table = Table::new("", "").text("run").exact("sender sync", "").exact("receiver sync", "");
    let table = Table { rows: vec![vec!["a.json".into(), 19.0.into(), 5.0.into()]], ..table };
    let text = table.to_text(Width { table: 24, prose: usize::MAX });
    assert_eq!(text, "run     sender  receiver\n          sync      sync\na.json      19         5\n");
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
    assert!(narrow.contains("time of ") && !narrow.contains("time of the"), "{narrow}");
}
