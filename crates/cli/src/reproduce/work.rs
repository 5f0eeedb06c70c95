//! The work that there is to do, and how far it is.

use std::time::Instant;

use loggp_papers::{Exhibit, Finding, Lab};

use super::super::failure::Failure;
use super::super::progress::Progress;
use super::selection::Selected;

/// The bar of the work that there is to do: a part for each case.
pub struct Work {
    bar: Progress,
}

impl Work {
    /// What of these is to be made.
    pub fn of(selected: &[Selected], lab: &Lab, is_to_do: impl Fn(&Exhibit) -> bool) -> Work {
        let to_do = selected.iter().filter(|selected| is_to_do(selected.exhibit));
        let cases = to_do.map(|selected| selected.exhibit.cases(lab)).sum();
        Work { bar: Progress::with(cases, "{bar:24} {pos} of {len} cases, now {msg}; {eta} left") }
    }

    /// Makes an exhibit, and tells how many seconds that took.
    pub fn make(&self, exhibit: &'static Exhibit, lab: &Lab) -> Result<(Finding, f64), Failure> {
        let begin = Instant::now();
        self.bar.next(exhibit.id);
        let lab = Lab { progress: &|| self.bar.step(), ..lab.again() };
        let made = exhibit.make(&lab);
        let finding = made.map_err(|failed| Failure::Run(format!("{}: {failed}", exhibit.id)))?;
        Ok((finding, begin.elapsed().as_secs_f64()))
    }

    /// Writes something while the bar is out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.aside(write)
    }
}
