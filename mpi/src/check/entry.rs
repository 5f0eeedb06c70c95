//! A program that is checked, as it stands on a command line.

use std::ffi::OsString;

use crate::ranks::StartOptions;
use loggp_command::ask::arguments::quoted;

/// A program that is checked: how it is started, and its words.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) start: StartOptions,
    pub(super) words: Vec<OsString>,
}

impl Entry {
    /// Returns the program and its arguments, as a shell takes them.
    pub(super) fn name(&self) -> String {
        self.words.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// Returns the program as it stands on a command line.
    pub(super) fn text(&self) -> String {
        self.start.text(&self.name())
    }
}
