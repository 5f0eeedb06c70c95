//! The selection of exhibits by ids and patterns, and the list of them.

use std::io::Write;

use crate::{Exhibit, Paper, exhibits};
use loggp::US;
use loggp_model::text::nearest_name;
use loggp_study::rows::Columns;
use wildmatch::WildMatch;

use loggp_command::ask::format::Format;
use loggp_command::error::CliError;
use loggp_command::number::Unit;
use loggp_command::tell::report::Report;

/// A selected exhibit, with its paper before it.
pub(super) type SelectedExhibit = (&'static Paper, &'static Exhibit);

/// Returns the exhibits whose ids match these patterns, in the papers' order; all without patterns.
pub(super) fn select(ids: &[String]) -> Result<Vec<SelectedExhibit>, CliError> {
    let patterns: Vec<WildMatch> = ids.iter().map(|id| WildMatch::new(id)).collect();
    for (id, pattern) in ids.iter().zip(&patterns) {
        if !exhibits().any(|(_, exhibit)| pattern.matches(exhibit.id)) {
            let near = nearest_name(id, exhibits().map(|(_, exhibit)| exhibit.id));
            return Err(CliError::Request(format!(
                "there is no {id} to reproduce; {near}`loggp reproduce --list` has all"
            )));
        }
    }
    let is_selected = |id: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id));
    Ok(exhibits().filter(|(_, exhibit)| is_selected(exhibit.id)).collect())
}

pub(super) fn list(
    out: &mut dyn Write,
    selected: Vec<SelectedExhibit>,
    format: Format,
) -> Result<(), CliError> {
    let mut columns = Columns::<SelectedExhibit>::new();
    columns.add("id", |(_, exhibit)| exhibit.id).title("id");
    columns.add("paper", |(paper, _)| paper.name).title("paper");
    columns.add("place", |(_, exhibit)| exhibit.place).title("where");
    columns.add("title", |(_, exhibit)| exhibit.title).title("what");
    let mut report = Report::new(out, format, columns);
    selected.into_iter().try_for_each(|selected| report.add(selected))?;
    report.finish("`loggp reproduce` makes these", Unit::from_text("us", US), |_| Vec::new())
}
