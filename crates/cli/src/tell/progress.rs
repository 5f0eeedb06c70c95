//! The progress of a command, on stderr if that is a terminal.
//!
//! The bar does not move by itself: a thread that draws would take a core away from the processors.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressStyle};

use super::style::is_quiet;
use crate::host::interrupt;

/// A progress bar, which is removed when it is dropped.
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
}

impl ProgressDisplay {
    /// Creates a bar for a number of runs.
    pub(crate) fn for_runs(runs: usize) -> ProgressDisplay {
        ProgressDisplay::with_template(runs, "{bar:24} {pos} of {len} runs, now {msg}")
    }

    /// Creates a bar of a number of parts with a template.
    pub(crate) fn with_template(parts: usize, template: &str) -> ProgressDisplay {
        let style = ProgressStyle::with_template(template).expect("the template is right");
        let bar = match is_quiet() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(parts as u64).with_style(style),
        };
        interrupt::set_bar(Some(bar.clone()));
        ProgressDisplay { bar }
    }

    /// Sets the name of the next part.
    pub(crate) fn set_current(&self, what: impl Into<Cow<'static, str>>) {
        self.bar.set_message(what);
    }

    /// Counts one more part as finished.
    pub(crate) fn finish_one(&self) {
        self.bar.inc(1);
    }

    /// Hides the bar while `write` runs. That may block until somebody reads, so the bar is unregistered
    /// meanwhile: a signal that ends the command must not wait for it.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        interrupt::set_bar(None);
        let written = self.bar.suspend(write);
        interrupt::set_bar(Some(self.bar.clone()));
        written
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        interrupt::set_bar(None);
    }
}
