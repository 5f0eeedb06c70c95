//! Rows as comma-separated values.
//!
//! The titles are the paths of the same values in JSON, and they are always the same, so that files with the
//! rows of different machines and clocks can be put together. What a row has not stays empty.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::row::Row;

/// The titles, in order.
const TITLES: [&str; 50] = [
    "program",
    "algorithm",
    "machine",
    "params.L",
    "params.o",
    "params.g",
    "params.G",
    "params.O_s",
    "params.O_r",
    "params.G_s",
    "params.G_l",
    "params.P",
    "params.word",
    "params.s",
    "params.S",
    "size",
    "options",
    "cycle_ns",
    "latency",
    "ports",
    "barrier_ns",
    "work",
    "seed",
    "repeat",
    "dilation_asked",
    "clock",
    "formula_ns",
    "model_ns",
    "measured_ns",
    "measured_min_ns",
    "measured_max_ns",
    "error_model",
    "error_formula",
    "phases",
    "figures",
    "verified",
    "messages",
    "stalls.count",
    "stalls.ns",
    "stalls.max_in_transit",
    "stalls.capacity",
    "dilation",
    "dilation_why",
    "cores",
    "held",
    "lateness_ns.p50",
    "lateness_ns.p90",
    "lateness_ns.p99",
    "lateness_ns.max",
    "lateness_ns.finish",
];

/// Writes the line of titles.
pub fn write_titles(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", TITLES.join(","))
}

/// Writes a row as a line.
pub fn write_row(out: &mut dyn Write, row: &Row) -> io::Result<()> {
    write_values(out, &TITLES, row)
}

/// Writes the values of an object that have these titles as a line.
pub fn write_values(out: &mut dyn Write, titles: &[&str], object: &impl Serialize) -> io::Result<()> {
    let object = serde_json::to_value(object)?;
    let cell = |title: &&str| {
        let at_path = title.split('.').try_fold(&object, |value, name| value.get(name));
        at_path.map_or(String::new(), shown)
    };
    let cells: Vec<String> = titles.iter().map(cell).collect();
    writeln!(out, "{}", cells.join(","))
}

/// A value as a cell: quoted where it could be taken for more than one.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        value => quoted(&value.to_string()),
    }
}

/// A text, in quotes if it has what could end a cell.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_has_a_comma() {
        for (value, cell) in
            [("as asked".into(), "as asked"), ("at 2.0, late".into(), "\"at 2.0, late\""), (Value::Null, "")]
        {
            assert_eq!(shown(&value), cell);
        }
    }
}
