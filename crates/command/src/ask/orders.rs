//! The orders of messages that a check tries, and the file of a run that failed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, iter};

use clap::Args;
use loggp::check::{Check, Strategy};
use loggp::trace::Trace;

use super::options::{NamedValue, one_of, parse_count, parse_duration, parse_positive, parse_seed};
use crate::host::interrupt;
use crate::tell::progress::ProgressDisplay;

/// The options that choose the orders of messages.
#[derive(Args)]
#[command(next_help_heading = "Orders", next_display_order = 27)]
pub struct OrderOptions {
    /// Which orders of messages are tried
    #[arg(long, value_parser = one_of::<Strategy>(STRATEGIES), default_value = "mixed")]
    pub strategy: Strategy,
    /// How many runs are made [default: 1000; with --for as many as there is time for]
    #[arg(long, value_name = "N", value_parser = parse_positive, allow_negative_numbers = true)]
    pub runs: Option<usize>,
    /// For how long runs are begun: 30s
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>, // the id isn't `time`, since a program has an option of that name
    /// Draws the orders
    #[arg(long, value_name = "N", value_parser = parse_seed, default_value = "1", allow_negative_numbers = true, display_order = 33)]
    pub order_seed: u64,
    /// One run of so many is checked against the rules of the machine, as `loggp audit` does; 0 is none
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "50", allow_negative_numbers = true, display_order = 34)]
    pub audit: usize,
    /// Write the run that failed to this file, FILE.json or FILE.loggp [default: PROGRAM-ALGORITHM-failed.json, with a number
    /// if another run is there]
    #[arg(long, value_name = "FILE", display_order = 35)]
    pub trace: Option<PathBuf>,
}

/// The options that let messages get lost or come twice, and processors crash.
#[derive(Args)]
#[command(next_help_heading = "Orders", next_display_order = 30)]
pub(crate) struct FaultOptions {
    /// At most so many messages are lost in each run
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0", allow_negative_numbers = true)]
    losses: usize,
    /// At most so many messages come twice in each run
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0", allow_negative_numbers = true)]
    duplicates: usize,
    /// At most so many processors crash in each run
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0", allow_negative_numbers = true)]
    crashes: usize,
}

impl FaultOptions {
    /// Returns a check whose runs have these faults.
    pub(crate) fn apply(&self, check: Check) -> Check {
        check.losses(self.losses).duplicates(self.duplicates).crashes(self.crashes)
    }
}

const STRATEGIES: &[NamedValue] = &[
    ("mixed", "The next five, one run of each in turn"),
    ("random", "Each message is under way for any time up to L, and any processor goes first"),
    ("late-few", "One or two messages are under way for L, and all others arrive at once"),
    (
        "few-changes",
        "What a processor sends is under way for L or arrives at once, and few change in between",
    ),
    ("one-end", "All that one processor sends, or gets, is under way for L, and all else arrives at once"),
    ("ties", "Latencies are exact, and any processor goes first"),
    ("systematic", "All orders that differ in what a receive from anyone, a look or a wait takes"),
];

impl OrderOptions {
    /// Returns the check, of `usual` runs unless it is said how many or for how long, and its progress, which names what is
    /// checked.
    pub fn check(&self, usual: usize, cores: usize, name: &'static str) -> (Check, Arc<ProgressDisplay>) {
        // From when the progress shows, a signal ends the check in order.
        let check = self.silent_check(usual, cores);
        let progress = match self.time {
            None => ProgressDisplay::for_runs(self.most(usual)),
            Some(_) => ProgressDisplay::without_end(),
        };
        let progress = Arc::new(progress.with_time()); // the systematic strategy may search for long after a run
        progress.set_current(name);
        let step = Arc::clone(&progress);
        (check.on_run(move |_| step.finish_one()), progress)
    }

    fn most(&self, usual: usize) -> usize {
        self.runs.unwrap_or(if self.time.is_some() { usize::MAX } else { usual })
    }

    /// Returns the check without a progress. A signal ends it in order.
    pub fn silent_check(&self, usual: usize, cores: usize) -> Check {
        let OrderOptions { strategy, time, order_seed, audit, .. } = *self;
        let most = self.most(usual);
        let stop = interrupt::stop_in_order();
        let check = Check::new()
            .strategy(strategy)
            .runs(most)
            .seed(order_seed)
            .cores(cores)
            .audits(audit)
            .stop_on(stop);
        time.map_or(check.clone(), |time| check.time(time)).results_may_differ(true)
    }
}

/// Returns the path for a run that failed: this one, or with a number if there is the run of another check.
pub fn own_path(path: &Path, trace: &Trace) -> PathBuf {
    let mut written = Vec::new();
    if trace.write(&mut written).is_err() {
        return path.into(); // the file will say why
    }
    let is_free = |path: &PathBuf| match fs::read(path) {
        Ok(there) => there == written,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let stem = path.with_extension("").display().to_string();
    let numbered = (2..1000).map(|n| format!("{stem}-{n}.json").into());
    iter::once(path.to_path_buf()).chain(numbered).find(is_free).unwrap_or_else(|| path.into())
}
