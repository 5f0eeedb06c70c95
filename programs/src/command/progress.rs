//! How far a command is, on stderr where that is a terminal.
//!
//! Nothing moves by itself: a thread that draws would take a core away from the processors.

use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt;

/// A bar with a part for each run. Dropped, it goes.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many runs.
    pub fn of(runs: usize) -> Progress {
        let style = ProgressStyle::with_template("{bar:24} {pos} of {len} runs, now {msg}");
        let bar = ProgressBar::new(runs as u64).with_style(style.expect("the template is right"));
        interrupt::set_bar(Some(bar.clone()));
        Progress { bar }
    }

    /// So many runs are done, and this is next.
    pub fn begin(&self, runs: usize, what: &'static str) {
        self.bar.set_position(runs as u64);
        self.bar.set_message(what);
    }

    /// Notes that one more run is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Writes something while the bar is out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        interrupt::set_bar(None);
    }
}
