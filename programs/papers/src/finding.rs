//! What came of making an exhibit.

use serde::{Deserialize, Serialize};

use super::check::{Agreement, Check};
use loggp_document::Table;

/// What came of making an exhibit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its pictures.
    pub pictures: Vec<Picture>,
    /// The paper's numbers and claims beside ours.
    pub checks: Vec<Check>,
    /// What agrees, and what does not and why, in a sentence or two; the counts stand before it.
    pub verdict: String,
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
    /// The runs whose result was wrong, and what was wrong with it.
    pub wrong: Vec<String>,
}

impl Finding {
    /// A finding that has nothing yet but its verdict.
    pub fn new(verdict: impl Into<String>) -> Finding {
        Finding { verdict: verdict.into(), ..Finding::default() }
    }

    /// One more table.
    #[must_use]
    pub fn table(mut self, table: impl Into<Table>) -> Finding {
        self.tables.push(table.into());
        self
    }

    /// One more picture. Its name may be empty if it is the only one.
    #[must_use]
    pub fn picture(mut self, name: &str, caption: impl Into<String>, svg: impl Into<String>) -> Finding {
        self.pictures.push(Picture { name: name.into(), caption: caption.into(), svg: svg.into() });
        self
    }

    /// More checks.
    #[must_use]
    pub fn checks(mut self, checks: impl IntoIterator<Item = Check>) -> Finding {
        self.checks.extend(checks);
        self
    }

    /// How many checks came out so.
    pub fn count(&self, agreement: Agreement) -> usize {
        self.checks.iter().filter(|check| check.agreement == agreement).count()
    }

    /// The checks that differ.
    pub fn differing(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.agreement == Agreement::Differs)
    }

    /// Whether everything is right, or differs for a reason that is known.
    pub fn is_explained(&self) -> bool {
        self.held.wrong.is_empty() && self.differing().all(|check| check.reason.is_some())
    }
}
