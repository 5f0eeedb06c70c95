//! The error for a file that is not a trace, or cannot be read.

use std::{fmt, io};

use loggp_model::text::escaped;

/// The version of both forms of file. It grows when an older reader would read a newer file wrongly.
pub(super) const VERSION: u64 = 1;

/// The refusal of a file of another version.
pub(super) const OTHER_VERSION: &str = "it has another version of its form, and only version 1 is read; take the loggp that wrote it, or write it anew";

/// The reason why a file is not a trace, or cannot be read, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(String);

impl TraceError {
    pub(super) fn new(why: impl fmt::Display) -> TraceError {
        // The reason may quote the file at any length, so the quotation is cut; the position stands after the
        // quotation.
        let why = why.to_string();
        let (why, position) = why.split_at(why.rfind(" at line ").unwrap_or(why.len()));
        TraceError(format!("this is not the trace of a run: {}{position}", escaped(why).max_chars(400)))
    }

    /// Returns the refusal of a file of which nothing can be read.
    pub(super) fn unreadable(why: &io::Error) -> TraceError {
        TraceError(format!("it cannot be read: {why}"))
    }
}

/// Returns why a text is no JSON of the form that is expected, and where, in words that are not the parser's own.
#[doc(hidden)]
pub fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rfind(" at line ").map_or(&*text, |position| &text[..position]);
    let what = match text {
        "EOF while parsing an object" => "it ends too early: a } is missing".into(),
        "EOF while parsing a list" => "it ends too early: a ] is missing".into(),
        "EOF while parsing a string" => "it ends too early: a \" is missing".into(),
        "EOF while parsing a value" => "it ends too early: a value is missing".into(),
        "trailing comma" => "nothing follows this comma".into(),
        "trailing characters" => "something stands behind the end".into(),
        "key must be a string" => "a name must stand between \" and \"".into(),
        "expected value" => "a value is missing".into(),
        "expected ident" => "a word is none of true, false and null".into(),
        "recursion limit exceeded" => "it is nested too deeply".into(),
        _ if text.starts_with("missing field ") => text.replacen("missing field", "there is no", 1),
        _ if text.starts_with("unknown variant ") => {
            let text = text.replacen("unknown variant", "there is no", 1).replacen("one of ", "", 1);
            text.replacen(", expected ", "; there are ", 1)
        }
        _ if text.starts_with("invalid type: ") => {
            text.replacen("invalid type: ", "there is ", 1).replacen(", expected ", " in place of ", 1)
        }
        _ => match text.strip_prefix("expected ") {
            Some(what) => format!("{what} is missing"),
            None => text.into(),
        },
    };
    match (error.line(), error.column()) {
        (0, _) => what,
        (line, 0) => format!("{what}, at line {line}"),
        (line, column) => format!("{what}, at line {line} column {column}"),
    }
}
