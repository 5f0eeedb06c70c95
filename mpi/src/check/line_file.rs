//! A file that an option names, with something on each line. Empty lines and those that begin with `#` say nothing.

use std::path::Path;

use loggp_command::error::CliError;
use loggp_command::host::source;

/// The most bytes of a file.
const MOST: u64 = 1 << 20;

/// Reads the file of an option by `parse`, whose errors begin with the option and the file.
pub(super) fn read<T>(
    option: &str,
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, CliError> {
    let text = source::read_source(path, MOST, "");
    let parsed = text.and_then(|text| parse(&String::from_utf8_lossy(&text)));
    parsed.map_err(|why| CliError::Request(format!("{option} {}: {why}", path.display())))
}

/// Returns the lines that say something, with their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
}
