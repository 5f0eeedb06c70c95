//! The making of exhibits, with its progress.

use std::time::Instant;

use loggp_papers::{Exhibit, ExhibitResult, Lab};

use super::super::error::CliError;
use super::super::progress::ProgressDisplay;
use super::selection::SelectedExhibit;

/// The maker of exhibits, with a progress bar that has a part for each case.
pub struct ExhibitMaker {
    bar: ProgressDisplay,
}

impl ExhibitMaker {
    /// Creates the bar for those of the selected exhibits that are to be made.
    pub fn new(selected: &[SelectedExhibit], lab: &Lab, is_to_do: impl Fn(&Exhibit) -> bool) -> ExhibitMaker {
        let to_do = selected.iter().filter(|selected| is_to_do(selected.exhibit));
        let cases = to_do.map(|selected| selected.exhibit.case_count(lab)).sum();
        ExhibitMaker {
            bar: ProgressDisplay::with_template(
                cases,
                "{bar:24} {pos} of {len} cases, now {msg}; {eta} left",
            ),
        }
    }

    /// Makes an exhibit, and returns the time that it took, in s.
    pub fn make(&self, exhibit: &'static Exhibit, lab: &Lab) -> Result<(ExhibitResult, f64), CliError> {
        let begin = Instant::now();
        self.bar.set_current(exhibit.id);
        let lab = Lab { progress: &|| self.bar.finish_one(), ..lab.with_empty_summary() };
        let result = exhibit.make(&lab);
        let finding = result.map_err(|failed| CliError::Run(format!("{}: {failed}", exhibit.id)))?;
        Ok((finding, begin.elapsed().as_secs_f64()))
    }

    /// Hides the bar while `write` runs.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}
