//! Names in sentences.

/// Returns names as a list: `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns the sentence that these are the fastest.
pub fn are_fastest(names: &[&str]) -> String {
    match names {
        [one] => format!("{one} is the fastest"),
        names => format!("{} are equally fast", listed(names)),
    }
}
