//! The work that there is to do, and how far it is.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use loggp_papers::{Exhibit, Finding, Held, Lab};
use loggp_programs::Emulation;

use super::super::failure::Failure;
use super::super::progress::Progress;
use super::record::Asked;
use super::selection::{Selected, duration};

/// The work that there is to do, on a bar with the time left.
pub struct Work {
    /// The bar, in thousandths of what is expected.
    bar: Progress,
    /// Whether at the papers' own sizes.
    full: bool,
    /// How many exhibits there are to make, and how many are made.
    exhibits: (usize, usize),
    /// The seconds that all are expected to take, and those of what is done.
    expected: (f64, f64),
    /// The seconds that went by for what is done.
    took: f64,
}

impl Work {
    /// What of these is to be made.
    pub fn of(selected: &[Selected], full: bool, is_to_do: impl Fn(&Exhibit) -> bool) -> Work {
        let to_do: Vec<&Exhibit> =
            selected.iter().map(|selected| selected.exhibit).filter(|exhibit| is_to_do(exhibit)).collect();
        let seconds = to_do.iter().map(|exhibit| seconds(exhibit, full)).sum();
        let bar = Progress::with(1000, "{bar:24} {msg}");
        Work { bar, full, exhibits: (to_do.len(), 0), expected: (seconds, 0.0), took: 0.0 }
    }

    /// Makes an exhibit, and tells how many seconds that took.
    pub fn make(
        &mut self,
        exhibit: &'static Exhibit,
        asked: &Asked,
        emulation: &Emulation,
    ) -> Result<(Finding, f64), Failure> {
        let begin = Instant::now();
        let expected = seconds(exhibit, self.full);
        let part = Cell::new(0.0);
        let show = |told: Option<f64>| {
            let elapsed = begin.elapsed().as_secs_f64();
            part.set(told.unwrap_or_else(|| (elapsed / expected).min(0.95)).max(part.get()));
            self.show(exhibit.id, part.get() * expected, elapsed);
        };
        show(Some(0.0));
        let lab = Lab {
            full: asked.full,
            seed: asked.seed,
            repeat: asked.repeat,
            emulation: emulation.clone(),
            progress: &show,
            held: RefCell::new(Held::default()),
        };
        let made = (exhibit.make)(&lab);
        let held = lab.held.take();
        let failed = |failed| Failure::Run(format!("{}: {failed}", exhibit.id));
        let finding = Finding { held, ..made.map_err(failed)? };
        let took = begin.elapsed().as_secs_f64();
        self.exhibits.1 += 1;
        self.expected.1 += expected;
        self.took += took;
        Ok((finding, took))
    }

    /// Writes something while the bar is out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.aside(write)
    }

    /// Shows what is being made, and how many seconds are left if the rest takes as much longer than expected as what is done.
    fn show(&self, id: &str, done: f64, elapsed: f64) {
        const LITTLE: f64 = 5.0; // seconds after which what was expected gives way to what was seen
        let ((all, before), (exhibits, made)) = (self.expected, self.exhibits);
        let (done, took) = (before + done, self.took + elapsed);
        let slower = (took + LITTLE) / (done + LITTLE);
        let left = Duration::from_secs_f64(((all - done) * slower).max(0.0));
        let left = duration(left.as_secs_f64());
        let parts = (1000.0 * done / all.max(0.001)) as usize;
        self.bar.begin(parts, format!("{} of {exhibits}, now {id}; {left} left", made + 1));
    }
}

/// How long an exhibit is expected to take.
fn seconds(exhibit: &Exhibit, full: bool) -> f64 {
    if full { exhibit.seconds.full } else { exhibit.seconds.quick }
}
