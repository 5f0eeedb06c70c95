//! The result of making an exhibit.

use loggp_document::Table;
use serde::{Deserialize, Serialize};

use super::row::{ExhibitRow, Verdict};

/// The result of making an exhibit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExhibitResult {
    /// The paper's numbers and claims beside our results.
    pub rows: Vec<ExhibitRow>,
    /// Number of printed numbers that no row judges: see [`Exhibit::left_out`](super::Exhibit::left_out).
    pub left_out: usize,
    pub pictures: Vec<Picture>,
    pub tables: Vec<Table>,
    /// Commands that run its series.
    pub commands: Vec<String>,
    /// Summary of its runs.
    #[serde(rename = "held")]
    pub summary: RunSummary,
}

/// A picture of an exhibit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Name of its file, after the exhibit's id. It may be empty for one of the pictures.
    pub name: String,
    /// Text below the picture, on what it shows and how to read it.
    pub caption: String,
    /// The picture, which has a file of its own.
    #[serde(skip)]
    pub svg: String,
    /// The picture for narrow screens, if it differs.
    #[serde(skip)]
    pub narrow: Option<String>,
}

/// Summary of runs: their number, and how well this computer kept time on the wall clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Number of runs on the virtual clock.
    pub virtual_runs: usize,
    /// Number of reported runs on the wall clock, each the median of its repetitions.
    pub wall_runs: usize,
    /// Number of those that ended late by more than a hundredth, or out of order.
    pub late: usize,
    /// Largest dilation.
    pub dilation: f64,
    /// Largest lateness of a wait, in microseconds.
    pub latest_us: f64,
    /// Largest relative deviation from the model among the runs on time.
    pub farthest: f64,
    /// Runs with a wrong result, and what was wrong.
    pub wrong: Vec<String>,
}

impl ExhibitResult {
    /// Returns the number of rows with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Returns whether all results are right and every row is as expected.
    pub fn is_as_expected(&self) -> bool {
        self.summary.wrong.is_empty() && self.rows.iter().all(|row| row.as_expected)
    }
}
