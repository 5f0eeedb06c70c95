//! What to measure, and the middle of what was measured.

/// The tables that were asked for by name, of those that there are; all, if none was named.
///
/// None where nothing is to be measured: `cargo bench` says `--bench`, and `cargo test --benches`, which asks only
/// whether this runs, does not.
pub fn asked<T: Copy>(tables: &[(&'static str, T)]) -> Vec<T> {
    let arguments = arguments();
    if !arguments.iter().any(|argument| argument == "--bench") || arguments.iter().any(|it| it == "--test") {
        return Vec::new();
    }
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let any = tables.iter().any(|(name, _)| named(name));
    tables.iter().filter(|(name, _)| !any || named(name)).map(|(_, table)| *table).collect()
}

/// The arguments of the command line.
pub fn arguments() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
