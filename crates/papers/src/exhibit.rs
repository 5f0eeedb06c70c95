//! An exhibit: a figure, a table or a result of a paper, and how it is made here.

use loggp::Time;

use loggp_study::Failed;

use super::command;
use super::finding::Finding;
use super::lab::Lab;
use super::series::Series;
use super::sheet::Sheet;

/// A figure, a table or a result of a paper.
#[derive(Debug)]
pub struct Exhibit {
    /// Its name on the command line, such as `logp-fig3`.
    pub id: &'static str,
    /// Where it stands in its paper, such as `figure 3`.
    pub place: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// What one must know of it to read its rows, in our words, a sentence each.
    pub says: &'static [&'static str],
    /// The formulas it is predicted by, each with where the paper has it.
    pub formulas: &'static [&'static str],
    /// The unit of its times, and how long that is.
    pub unit: (&'static str, Time),
    /// What is run for it.
    pub series: fn(&Lab) -> Vec<Series>,
    /// Puts its tables, pictures and rows on the sheet.
    pub show: fn(&mut Sheet) -> Result<(), Failed>,
}

impl Exhibit {
    /// Makes it.
    pub fn make(&'static self, lab: &Lab) -> Result<Finding, Failed> {
        Sheet::make(self, lab)
    }

    /// The commands that run what it runs.
    pub fn commands(&self, lab: &Lab) -> Vec<String> {
        let mut commands: Vec<String> = (self.series)(lab).iter().flat_map(command::commands).collect();
        commands.dedup();
        commands
    }

    /// How many cases it runs.
    pub fn cases(&self, lab: &Lab) -> usize {
        (self.series)(lab).iter().map(|series| series.points.len()).sum()
    }
}
