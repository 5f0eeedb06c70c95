//! The words of the command line.

use std::ffi::OsString;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the words of the command line, the command's name first, and returns them.
pub fn set(words: impl IntoIterator<Item = OsString>) -> &'static [OsString] {
    WORDS.get_or_init(|| words.into_iter().collect())
}

/// Returns the words behind the command's name.
pub fn words() -> impl Iterator<Item = String> {
    WORDS.get().into_iter().flatten().skip(1).map(|word| word.to_string_lossy().into_owned())
}
