//! Tables in Markdown, as they go into `docs/results/performance.md`.

/// Prints a table's name and its head.
pub fn begin(title: &str, columns: &[&str]) {
    println!("{title}\n");
    row(columns);
    row(&vec!["---"; columns.len()]);
}

/// Prints a row.
pub fn row(cells: &[impl AsRef<str>]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints what parts a table from the next.
pub fn end() {
    println!();
}

/// A whole number with its thousands apart: `1,048,576`.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let apart = |(i, digit): (usize, char)| {
        let comma = i > 0 && (digits.len() - i).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(apart).collect()
}

/// A number with about three digits that count: `0.25`, `23.8`, `1,280`.
pub fn rough(number: f64) -> String {
    match number {
        number if number < 10.0 => format!("{number:.2}"),
        number if number < 100.0 => format!("{number:.1}"),
        number => whole(number.round() as u64),
    }
}
