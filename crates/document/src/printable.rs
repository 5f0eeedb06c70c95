//! Text from outside on a terminal.

use std::borrow::Cow;

/// Returns text as a terminal may get it: what it might take for an order, or what turns the direction of writing,
/// is written as in JSON, `\u001b`. Line ends and tabs stay.
///
/// ```
/// assert_eq!(loggp_document::printable("a\u{1b}[2J\u{202e}\n"), "a\\u001b[2J\\u202e\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    written(text, |c| !matches!(c, '\n' | '\t') && is_order(c))
}

/// Returns [printable] text on one line: line ends and tabs are written as in JSON too.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    written(text, is_order)
}

/// Returns whether a terminal might take a character for an order, or for a mark that turns the direction of
/// the text.
fn is_order(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn written(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let one = |c: char| if is_escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() };
    text.chars().map(one).collect::<String>().into()
}
