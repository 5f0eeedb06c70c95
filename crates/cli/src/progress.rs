//! How far a command is, on stderr where that is a terminal.
//!
//! Nothing moves by itself: a thread that draws would take a core away from the processors.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt;

/// A bar, with a part for each run unless told. Dropped, it goes.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many runs.
    pub fn of(runs: usize) -> Progress {
        Progress::with(runs, "{bar:24} {pos} of {len} runs, now {msg}")
    }

    /// A bar of so many parts that looks so.
    pub fn with(parts: usize, template: &str) -> Progress {
        let style = ProgressStyle::with_template(template).expect("the template is right");
        let bar = ProgressBar::new(parts as u64).with_style(style);
        interrupt::set_bar(Some(bar.clone()));
        Progress { bar }
    }

    /// So many parts are done, and this is next.
    pub fn begin(&self, parts: usize, what: impl Into<Cow<'static, str>>) {
        self.bar.set_position(parts as u64);
        self.bar.set_message(what);
    }

    /// This is next.
    pub fn next(&self, what: impl Into<Cow<'static, str>>) {
        self.bar.set_message(what);
    }

    /// Notes that one more run is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Writes something while the bar is out of the way. It may take until somebody reads, and who ends the command
    /// meanwhile must not wait for the bar.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        interrupt::set_bar(None);
        let written = self.bar.suspend(write);
        interrupt::set_bar(Some(self.bar.clone()));
        written
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        interrupt::set_bar(None);
    }
}
