//! The papers' figures and tables, made again. An [`Exhibit`] is one of them: what its paper says of it, and how it is made
//! here. A [`Finding`] is what came of that: tables, pictures, and every number of the paper beside ours.
//!
//! To add one, write its `Exhibit` into a file of its paper's folder, and its name into the paper's list.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod command;
mod exhibit;
mod finding;
mod karp;
mod lab;
mod loggp;
mod loggps;
mod logp;
pub mod pictures;
mod pins;
mod row;
mod runs;
mod series;
mod sheet;
#[cfg(test)]
mod tests;
pub mod topology;
mod transportation;
pub mod unloaded;

pub use exhibit::Exhibit;
pub use finding::{Finding, Held, Picture};
pub use lab::Lab;
pub use row::{Answer, Mark, Row, above, at_least, at_most, below, between, exactly};
pub use series::{Ran, Series, Told};
pub use sheet::{Sheet, line, list};

use serde::{Deserialize, Serialize};

/// A paper and its exhibits.
#[derive(Debug)]
pub struct Paper {
    /// What it is called here, such as `LogP`.
    pub name: &'static str,
    /// Who wrote it, what it is called and where it appeared.
    pub source: &'static str,
    /// Its exhibits, in its order.
    pub exhibits: &'static [Exhibit],
    /// All that it shows, proves and counts, a line each: see [`Paper::inventory`].
    pub inventory: &'static str,
}

/// Something that a paper shows, proves or counts, and what became of it here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Where it stands, such as `figure 3`.
    pub place: String,
    /// What it is, in a few words.
    pub what: String,
    /// The ids of the exhibits that have it; or `idea`, if it is a picture of one; or `out of reach`, and why.
    pub here: String,
}

impl Paper {
    /// All figures, tables, theorems, lemmas and numbers of the paper, in its order.
    pub fn inventory(&self) -> impl Iterator<Item = Place> {
        self.inventory.lines().map(|line| {
            let mut parts = line.splitn(3, " | ").map(String::from);
            let mut part = || parts.next().unwrap_or_default();
            Place { place: part(), what: part(), here: part() }
        })
    }
}

/// The papers, in the order in which they appeared.
pub static PAPERS: &[&Paper] =
    &[&logp::PAPER, &karp::PAPER, &transportation::PAPER, &loggp::PAPER, &loggps::PAPER];

/// All exhibits, each with its paper.
pub fn exhibits() -> impl Iterator<Item = (&'static Paper, &'static Exhibit)> {
    PAPERS.iter().flat_map(|paper| paper.exhibits.iter().map(move |exhibit| (*paper, exhibit)))
}

/// The document's examples, which `cargo test` runs. It is a link to the document of the project, so that the packaged crate has it
/// too.
#[cfg(doctest)]
#[doc = include_str!("../docs/programs.md")]
struct Programs;
