//! The benchmarks' command line, and medians.

/// Returns the tables that the command line names, or all if it names none.
///
/// Returns no table unless `--bench` is given: `cargo bench` does, and `cargo test --benches`, which only
/// checks that this runs, does not.
pub fn selected_tables<T: Copy>(tables: &[(&'static str, T)]) -> Vec<T> {
    let arguments = arguments();
    if !arguments.iter().any(|argument| argument == "--bench") || arguments.iter().any(|it| it == "--test") {
        return Vec::new();
    }
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let any = tables.iter().any(|(name, _)| named(name));
    tables.iter().filter(|(name, _)| !any || named(name)).map(|(_, table)| *table).collect()
}

pub fn arguments() -> Vec<String> {
    std::env::args().skip(1).collect()
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
