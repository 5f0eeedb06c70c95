//! The papers' figures and tables, made again. An [`Exhibit`] is one of them: what its paper says of it, and how it is made
//! here. A [`Finding`] is what came of that: tables, pictures, and every number of the paper beside ours.
//!
//! To add one: write its `Exhibit` into its paper's file.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod check;
mod finding;
mod karp;
mod lab;
mod loggp;
mod loggps;
mod logp;
pub mod pictures;
mod runs;
#[cfg(test)]
mod tests;
pub mod topology;
mod transportation;
pub mod unloaded;

pub use check::{Agreement, Answer, Check};
pub use finding::{Finding, Held, Picture};
pub use lab::Lab;
pub use runs::Runs;

use loggp_document::{Cell, Table};
use loggp_study::Failed;

/// A figure, a table or a result of a paper.
#[derive(Debug)]
pub struct Exhibit {
    /// Its name on the command line, such as `logp-fig3`.
    pub id: &'static str,
    /// Where it stands in its paper, such as `figure 3`.
    pub place: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// What the paper's text says of it, in our words, a sentence each; no number that only a curve shows.
    pub says: &'static [&'static str],
    /// The formulas it is predicted by, each with where the paper has it.
    pub formulas: &'static [&'static str],
    /// Commands that show the same by themselves, from `loggp` on.
    pub commands: &'static [&'static str],
    /// How long making it takes on two cores, in seconds.
    pub seconds: Seconds,
    /// Makes it.
    pub make: fn(&Lab) -> Result<Finding, Failed>,
}

/// How long an exhibit takes, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// At the sizes that are usual.
    pub quick: f64,
    /// At the paper's own sizes.
    pub full: f64,
}

/// A paper and its exhibits.
#[derive(Debug)]
pub struct Paper {
    /// What it is called here, such as `LogP`.
    pub name: &'static str,
    /// Who wrote it, what it is called and where it appeared.
    pub source: &'static str,
    /// Its exhibits, in its order.
    pub exhibits: &'static [Exhibit],
}

/// The papers, in the order in which they appeared.
pub static PAPERS: &[&Paper] =
    &[&logp::PAPER, &karp::PAPER, &transportation::PAPER, &loggp::PAPER, &loggps::PAPER];

/// All exhibits, each with its paper.
pub fn exhibits() -> impl Iterator<Item = (&'static Paper, &'static Exhibit)> {
    PAPERS.iter().flat_map(|paper| paper.exhibits.iter().map(move |exhibit| (*paper, exhibit)))
}
