//! The options that had other names once: who gives one is told the new one.

/// The old names, and what stands in their place.
const RENAMED: &[(&str, &str)] = &[
    ("--all", "leave it out of reproduce, which makes all unless told; man takes -o FOLDER"),
    ("--anew", "it is called --force now"),
    ("--keys", "it is called --key-bits now"),
    ("--late", "it is called --receiver-delay now"),
    ("--markdown", "give -o FILE.md"),
    ("--out", "give -o FILE"),
    ("--model", "it is called --find now, of calibrate"),
    ("--piece", "it is called --chunk now"),
    ("--plot", "give -o FILE.svg"),
    ("--replay", "give the pattern to `loggp replay`"),
    ("--to", "give -o FOLDER"),
    ("--unit", "a pattern computes nothing; leave it out"),
    ("--w", "it is called --imbalance now"),
];

/// What stands in the place of this option.
pub fn now(option: &str) -> Option<String> {
    let (name, now) = RENAMED.iter().find(|(name, _)| *name == option)?;
    Some(format!("there is no {name}; {now}"))
}
