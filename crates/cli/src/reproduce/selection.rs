//! The selection of exhibits by ids and patterns, and the list of them.

use std::io::Write;

use loggp::__private::nearest_name;
use loggp::US;
use loggp_papers::{Exhibit, Paper};
use wildmatch::WildMatch;

use super::super::column::ReportColumn;
use super::super::error::CliError;
use super::super::format::Format;
use super::super::number::Unit;
use super::super::report::Report;

/// A selected exhibit, and its paper.
pub struct SelectedExhibit {
    pub paper: &'static Paper,
    pub exhibit: &'static Exhibit,
}

/// Returns the exhibits whose ids match these patterns, in the papers' order; all without patterns.
pub fn select(ids: &[String]) -> Result<Vec<SelectedExhibit>, CliError> {
    let all = || loggp_papers::exhibits().map(|(paper, exhibit)| SelectedExhibit { paper, exhibit });
    let patterns: Vec<WildMatch> = ids.iter().map(|id| WildMatch::new(id)).collect();
    for (id, pattern) in ids.iter().zip(&patterns) {
        if !all().any(|selected| pattern.matches(selected.exhibit.id)) {
            let near = nearest_name(id, all().map(|selected| selected.exhibit.id));
            return Err(CliError::Request(format!(
                "there is no {id} to reproduce; {near}`loggp reproduce --list` has all"
            )));
        }
    }
    let is_selected = |id: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id));
    Ok(all().filter(|selected| is_selected(selected.exhibit.id)).collect())
}

pub fn list(out: &mut dyn Write, selected: Vec<SelectedExhibit>, format: Format) -> Result<(), CliError> {
    let columns = vec![
        ReportColumn::new("id", |selected: &SelectedExhibit| selected.exhibit.id).with_title("id"),
        ReportColumn::new("paper", |selected: &SelectedExhibit| selected.paper.name).with_title("paper"),
        ReportColumn::new("place", |selected: &SelectedExhibit| selected.exhibit.place).with_title("where"),
        ReportColumn::new("title", |selected: &SelectedExhibit| selected.exhibit.title).with_title("what"),
    ];
    let mut report = Report::new(out, format, columns);
    selected.into_iter().try_for_each(|selected| report.add(selected))?;
    report.finish("`loggp reproduce` makes these", Unit::from_text("us", US), 0, |_| Vec::new())
}
