//! The progress of a command, on stderr if that is a terminal.
//!
//! The bar does not move by itself, except in a check: a thread that draws would take a core away from the processors.

use std::borrow::Cow;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::style::is_quiet;
use crate::host::interrupt;

/// A progress bar, which is removed when it is dropped.
pub struct ProgressDisplay {
    bar: ProgressBar,
    /// Is there while a thread shows the time.
    running: Option<Sender<()>>,
}

impl ProgressDisplay {
    /// Creates a bar for a number of runs.
    pub fn for_runs(runs: usize) -> ProgressDisplay {
        ProgressDisplay::with_template(
            runs,
            "{bar:24} {pos} of {len} runs, {elapsed}, {eta} left, now {wide_msg}",
        )
    }

    /// Creates a line for runs that nobody counted before.
    pub fn without_end() -> ProgressDisplay {
        ProgressDisplay::with_template(usize::MAX, "{pos} runs, {elapsed}, now {wide_msg}")
    }

    /// Lets the time on the bar go on while nothing is finished, if it is shown and this computer has a thread for that.
    pub fn with_time(mut self) -> ProgressDisplay {
        let (running, is_over) = channel::<()>();
        let bar = self.bar.clone();
        let tick = move || {
            while is_over.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
        };
        if !self.bar.is_hidden() {
            drop(thread::Builder::new().spawn(tick));
        }
        self.running = Some(running);
        self
    }

    /// Creates a bar of a number of parts with a template.
    pub fn with_template(parts: usize, template: &str) -> ProgressDisplay {
        let style = ProgressStyle::with_template(template).expect("the template is right");
        let bar = match is_quiet() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(parts as u64).with_style(style),
        };
        interrupt::set_bar(Some(bar.clone()));
        ProgressDisplay { bar, running: None }
    }

    /// Sets the name of the next part.
    pub fn set_current(&self, what: impl Into<Cow<'static, str>>) {
        self.bar.set_message(what);
    }

    /// Counts one more part as finished.
    pub fn finish_one(&self) {
        self.bar.inc(1);
    }

    /// Hides the bar while `write` runs. That may block until somebody reads, so the bar is unregistered
    /// meanwhile: a signal that ends the command must not wait for it.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        interrupt::set_bar(None);
        let written = self.bar.suspend(write);
        interrupt::set_bar(Some(self.bar.clone()));
        written
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.running = None;
        self.bar.finish_and_clear();
        interrupt::set_bar(None);
    }
}
