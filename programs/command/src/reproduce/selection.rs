//! Which exhibits are meant by ids and patterns, and the list of them.

use std::io::Write;

use loggp::US;
use loggp_papers::{Exhibit, Paper, Seconds};
use wildmatch::WildMatch;

use super::super::column::Column;
use super::super::failure::Failure;
use super::super::name::nearest;
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
            let nearest = nearest(id, all().map(|selected| selected.exhibit.id));
            return Err(Failure::Request(format!(
                "there is no {id} to reproduce; the nearest id is {nearest}; `loggp reproduce --list` has all"
            )));
        }
    }
    let meant = |id: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id));
    Ok(all().filter(|selected| meant(selected.exhibit.id)).collect())
}

/// Lists exhibits.
pub fn list(out: &mut dyn Write, selected: Vec<Selected>, format: Format) -> Result<(), Failure> {
    let seconds = |which: fn(&Seconds) -> f64| move |one: &Selected| which(&one.exhibit.seconds);
    let total = |which| duration(selected.iter().map(seconds(which)).sum());
    let heading = format!(
        "`loggp reproduce` makes these in about {}, and at the papers' own sizes in about {}",
        total(|seconds| seconds.quick),
        total(|seconds| seconds.full)
    );
    let columns = vec![
        Column::new("id", |one: &Selected| one.exhibit.id).titled("id"),
        Column::new("paper", |one: &Selected| one.paper.name).titled("paper"),
        Column::new("place", |one: &Selected| one.exhibit.place).titled("where"),
        Column::new("title", |one: &Selected| one.exhibit.title).titled("what"),
        Column::new("seconds.quick", seconds(|seconds| seconds.quick)),
        Column::new("seconds.full", seconds(|seconds| seconds.full)),
        Column::shown("takes", |one: &Selected| duration(one.exhibit.seconds.quick)),
        Column::shown("--full", |one: &Selected| duration(one.exhibit.seconds.full)),
    ];
    let mut report = Report::new(out, format, columns);
    selected.into_iter().try_for_each(|one| report.add(one))?;
    report.finish(&heading, Unit::of("us", US), 0, |_| Vec::new())
}

/// About how long: `5 s`, `3 min`, `2 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{} s", seconds.ceil()),
        seconds if seconds < 5400.0 => format!("{} min", (seconds / 60.0).round()),
        seconds => format!("{} h", (seconds / 3600.0).round()),
    }
}
