//! Rows as comma-separated values.
//!
//! The titles are the paths of the same values in JSON, and they are always the same, so that files with the
//! rows of different machines and clocks can be put together. What a row has not stays empty.

use std::io::{self, Write};

use serde_json::Value;

use super::row::Row;

/// The titles, in order.
const TITLES: [&str; 35] = [
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
    "clock",
    "formula_ns",
    "model_ns",
    "measured_ns",
    "error_model",
    "error_formula",
    "verified",
    "messages",
    "stalls.count",
    "stalls.ns",
    "stalls.max_in_transit",
    "stalls.capacity",
    "dilation",
    "cores",
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

/// Writes a row as a line. No value has a comma in it: they are numbers, and names from a list.
pub fn write_row(out: &mut dyn Write, row: &Row) -> io::Result<()> {
    let object = serde_json::to_value(row)?;
    let cell = |title: &str| {
        let at_path = title.split('.').try_fold(&object, |value, name| value.get(name));
        match at_path {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    };
    writeln!(out, "{}", TITLES.map(cell).join(","))
}
