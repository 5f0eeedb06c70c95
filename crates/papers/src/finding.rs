//! What came of making an exhibit.

use serde::{Deserialize, Serialize};

use super::row::{Mark, Row};
use loggp_document::Table;

/// What came of making an exhibit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What its paper says beside what came out here.
    pub rows: Vec<Row>,
    /// Its pictures.
    pub pictures: Vec<Picture>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// The commands that run what it ran.
    pub commands: Vec<String>,
    /// How this computer held the runs on the wall clock.
    pub held: Held,
}

/// A picture of a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// What its file is called: the exhibit's id, and this. It may be empty for one of the pictures.
    pub name: String,
    /// What it shows, and how to read it; it stands below the picture.
    pub caption: String,
    /// The picture, which has a file of its own.
    #[serde(skip)]
    pub svg: String,
    /// The same for a narrow screen, if it is another there.
    #[serde(skip)]
    pub narrow: Option<String>,
}

/// How this computer held the runs on the wall clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// How many runs there were on the virtual clock.
    pub virtual_runs: usize,
    /// How many on the wall clock are reported, each the median of its repeats.
    pub wall_runs: usize,
    /// How many of those ended late by more than a hundredth, or out of order.
    pub late: usize,
    /// The largest dilation.
    pub dilation: f64,
    /// By how much the latest of their waits ended late, in microseconds.
    pub latest_us: f64,
    /// By what part the farthest of those that were in time is from the model.
    pub farthest: f64,
    /// The runs whose result was wrong, and what was wrong with it.
    pub wrong: Vec<String>,
}

impl Finding {
    /// How many rows came out so.
    pub fn count(&self, mark: Mark) -> usize {
        self.rows.iter().filter(|row| row.mark == mark).count()
    }

    /// The rows that came out so.
    pub fn marked(&self, mark: Mark) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.mark == mark)
    }

    /// Whether all results are right and every row is as expected.
    pub fn is_as_expected(&self) -> bool {
        self.held.wrong.is_empty() && self.rows.iter().all(|row| row.as_expected)
    }
}
