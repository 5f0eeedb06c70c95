//! Reproductions of the papers' figures and tables. An [`Exhibit`] is a figure, a table or a result of a
//! paper; its [`ExhibitResult`] has tables, pictures, and every number of the paper beside ours.
//!
//! To add an exhibit, write its `Exhibit` into a file of its paper's folder, and name both in the folder's
//! `mod.rs`. The compiler warns of one that is not in the paper's list.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod answer;
mod command;
mod exhibit;
mod finding;
mod karp;
mod lab;
mod loggp;
mod loggps;
mod logp;
mod machines;
mod pins;
mod prelude;
mod reproduce;
mod row;
mod runs;
mod series;
mod sheet;
mod tally;
#[cfg(test)]
mod tests;
mod transportation;

pub use answer::{Answer, AnswerSource, Ran, RunResult};
pub use exhibit::Exhibit;
pub use finding::{ExhibitResult, Picture, RunSummary};
pub use lab::Lab;
pub use row::{DifferenceCause, ExhibitRow, Verdict, above, at_least, at_most, below, between, exactly};
pub use series::{CaseResult, CaseSeries, SeriesResult};
pub use sheet::{Sheet, join_words, marked_line};
pub use tally::{NumberFate, Tally};

use loggp_command::annex::{Annex, DerivedSubcommand};
use serde::{Deserialize, Serialize};

/// What the command has for the papers.
pub const ANNEX: Annex = Annex {
    feature: "papers",
    subcommands: &[&DerivedSubcommand::<reproduce::ReproduceCommand>::new("reproduce")],
    ..Annex::EMPTY
};

/// A paper and its exhibits.
#[derive(Debug)]
pub struct Paper {
    /// Name of the paper here, such as `LogP`.
    pub name: &'static str,
    /// Folder of its exhibits in the source.
    pub folder: &'static str,
    /// Authors, title and place of publication.
    pub source: &'static str,
    /// Sentence on how our text of it was made, and what it may have wrong.
    pub text: &'static str,
    /// Exhibits, in the paper's order.
    pub exhibits: &'static [Exhibit],
    /// All that the paper shows, proves and counts, one line each: see [`Paper::inventory`].
    pub inventory: &'static str,
    /// The rows' results when they were last reviewed, at the usual sizes and at the paper's own.
    pub(crate) pins: [&'static str; 2],
}

/// Something that a paper shows, proves or counts, and where it is reproduced here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InventoryEntry {
    /// Place in the paper, such as `figure 3`.
    pub place: String,
    /// Short description.
    pub what: String,
    /// Ids of the exhibits that reproduce it; or `idea` for a picture of an idea; or `out of reach` and the
    /// reason.
    pub here: String,
}

impl Paper {
    /// Returns all figures, tables, theorems, lemmas and numbers of the paper, in its order.
    pub fn inventory(&self) -> impl Iterator<Item = InventoryEntry> {
        self.inventory.lines().map(|line| {
            let mut parts = line.splitn(3, " | ").map(String::from);
            let mut part = || parts.next().unwrap_or_default();
            InventoryEntry { place: part(), what: part(), here: part() }
        })
    }
}

/// A sentence on the making of our text of most papers.
const BY_OCR: &str = "Our text of it was read from the printed pages by a program (OCR): it has no drawings, and may have signs that the paper \
                      has not. What is called a misprint here is one of the text that we have.";

/// The papers, in order of publication.
pub static PAPERS: &[&Paper] =
    &[&logp::PAPER, &karp::PAPER, &transportation::PAPER, &loggp::PAPER, &loggps::PAPER];

/// Returns all exhibits, each with its paper.
pub fn exhibits() -> impl Iterator<Item = (&'static Paper, &'static Exhibit)> {
    PAPERS.iter().flat_map(|paper| paper.exhibits.iter().map(move |exhibit| (*paper, exhibit)))
}

/// Examples of the page on one's own programs and exhibits, run by `cargo test`. `docs/` has a link, so that the packaged crate has
/// it too.
#[cfg(doctest)]
#[doc = include_str!("../docs/programs.md")]
struct ProgramsPage;
