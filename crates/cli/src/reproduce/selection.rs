//! Which exhibits are meant by ids and patterns, and the list of them.

use std::io::Write;

use loggp::{US, near};
use loggp_papers::{Exhibit, Paper};
use wildmatch::WildMatch;

use super::super::column::Column;
use super::super::failure::Failure;
use super::super::number::Unit;
use super::super::options::Format;
use super::super::report::Report;

/// An exhibit that was chosen, and its paper.
pub struct Selected {
    /// The paper.
    pub paper: &'static Paper,
    /// The exhibit.
    pub exhibit: &'static Exhibit,
}

/// The exhibits with these ids, or whose ids are like these patterns, in the papers' order; all without any.
pub fn select(ids: &[String]) -> Result<Vec<Selected>, Failure> {
    let all = || loggp_papers::exhibits().map(|(paper, exhibit)| Selected { paper, exhibit });
    let patterns: Vec<WildMatch> = ids.iter().map(|id| WildMatch::new(id)).collect();
    for (id, pattern) in ids.iter().zip(&patterns) {
        if !all().any(|selected| pattern.matches(selected.exhibit.id)) {
            let near = near(id, all().map(|selected| selected.exhibit.id));
            return Err(Failure::Request(format!(
                "there is no {id} to reproduce; {near}`loggp reproduce --list` has all"
            )));
        }
    }
    let meant = |id: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id));
    Ok(all().filter(|selected| meant(selected.exhibit.id)).collect())
}

/// Lists exhibits.
pub fn list(out: &mut dyn Write, selected: Vec<Selected>, format: Format) -> Result<(), Failure> {
    let columns = vec![
        Column::new("id", |one: &Selected| one.exhibit.id).titled("id"),
        Column::new("paper", |one: &Selected| one.paper.name).titled("paper"),
        Column::new("place", |one: &Selected| one.exhibit.place).titled("where"),
        Column::new("title", |one: &Selected| one.exhibit.title).titled("what"),
    ];
    let mut report = Report::new(out, format, columns);
    selected.into_iter().try_for_each(|one| report.add(one))?;
    report.finish("`loggp reproduce` makes these", Unit::of("us", US), 0, |_| Vec::new())
}
