//! Tables in Markdown, as they go into `docs/results/performance.md`.

/// Prints a table's title and header.
pub fn begin(title: &str, columns: &[&str]) {
    println!("{title}\n");
    row(columns);
    row(&vec!["---"; columns.len()]);
}

pub fn row(cells: &[impl AsRef<str>]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints the empty line after a table.
pub fn end() {
    println!();
}

/// Formats a whole number with separated thousands: `1,048,576`.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let apart = |(i, digit): (usize, char)| {
        let comma = i > 0 && (digits.len() - i).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(apart).collect()
}

/// Formats a number with about three significant digits: `0.25`, `23.8`, `1,280`.
pub fn rough(number: f64) -> String {
    match number {
        number if number < 10.0 => format!("{number:.2}"),
        number if number < 100.0 => format!("{number:.1}"),
        number => whole(number.round() as u64),
    }
}
