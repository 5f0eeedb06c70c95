//! An exhibit: a figure, a table or a result of a paper, and how it is reproduced.

use loggp::{Time, US};
use loggp_study::StudyError;

use super::command;
use super::finding::ExhibitResult;
use super::lab::Lab;
use super::row::ExhibitRow;
use super::series::CaseSeries;
use super::sheet::Sheet;

/// A figure, a table or a result of a paper.
#[derive(Debug)]
pub struct Exhibit {
    /// Name on the command line, such as `logp-fig3`.
    pub id: &'static str,
    /// Place in the paper, such as `figure 3`.
    pub place: &'static str,
    /// Short description.
    pub title: &'static str,
    /// Number of numbers that the paper prints in the figure or table itself: the rows of this place stand for
    /// all of them, or `left_out` says which are left out, and why.
    pub printed: usize,
    /// The numbers of the figure or table that no row judges, and the reason; empty if none is left out.
    pub left_out: &'static str,
    /// Notes that its rows need, a paragraph a line.
    pub notes: &'static str,
    /// Formulas that predict it, each with its place in the paper.
    pub formulas: &'static [&'static str],
    /// Name and length of the unit of its times.
    pub unit: (&'static str, Time),
    /// Returns the series to be run.
    pub series: fn(&Lab) -> Vec<CaseSeries>,
    /// Adds the tables, pictures and rows to the sheet.
    pub show: fn(&mut Sheet) -> Result<(), StudyError>,
}

impl Exhibit {
    /// What most exhibits have: times in us, no series, and no printed number in the figure or table itself.
    pub const USUAL: Exhibit = Exhibit {
        id: "",
        place: "",
        title: "",
        printed: 0,
        left_out: "",
        notes: "",
        formulas: &[],
        unit: ("us", US),
        series: |_| Vec::new(),
        show: |_| Ok(()),
    };

    /// Runs the exhibit's series, and makes its tables, pictures and rows.
    pub fn make(&self, lab: &Lab) -> Result<ExhibitResult, StudyError> {
        let series = (self.series)(lab);
        let mut sheet = Sheet::start(self.id, self.unit, &series, lab)?;
        (self.show)(&mut sheet)?;
        let result = sheet.finish();
        let left_out = self.printed - self.judged(&result.rows);
        Ok(ExhibitResult { left_out, commands: self.commands(lab), summary: lab.summary.take(), ..result })
    }

    /// Returns how many numbers of the figure or table itself these rows stand for.
    fn judged(&self, rows: &[ExhibitRow]) -> usize {
        let is_there = |row: &&ExhibitRow| self.place.split(", ").any(|place| place == row.section);
        rows.iter().filter(is_there).map(|row| row.numbers + row.repeats).sum()
    }

    /// Returns the commands that run its series, without repeats in a row.
    pub fn commands(&self, lab: &Lab) -> Vec<String> {
        let mut commands: Vec<String> = (self.series)(lab).iter().flat_map(command::commands).collect();
        commands.dedup();
        commands
    }

    /// Returns the number of its cases.
    pub fn case_count(&self, lab: &Lab) -> usize {
        (self.series)(lab).iter().map(|series| series.points.len()).sum()
    }
}
