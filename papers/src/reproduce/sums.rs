//! The sums of a report: what became of the figures, of the printed numbers, of the claims and of the theorems. They
//! stand on the page as tables, and there and at the end of the command as sentences.

use crate::{NumberFate, PAPERS, Paper, Tally};
use loggp_document::{Cell, CellFormat, DocumentBlock, RichText, Span, Table, plain};

use super::record::ExhibitRecord;
use loggp_command::number::count;

/// A part, and the whole that it is a part of.
type Share = (usize, usize);

/// The sums of a paper, or of all.
#[derive(Default)]
struct Sums {
    /// Figures and tables that are made again.
    figures: Share,
    tally: Tally,
    /// Theorems, lemmas and facts of the paper.
    theorems: usize,
    /// Measured runs that ended in time.
    runs: Share,
}

impl Sums {
    /// Adds up what became of a paper.
    fn of_paper(records: &[ExhibitRecord], paper: &Paper) -> Sums {
        let findings: Vec<_> = records
            .iter()
            .filter(|record| record.paper == paper.name)
            .map(|record| &record.finding)
            .collect();
        let figures = paper.figures();
        let is_made = |id: &&&str| records.iter().any(|record| record.id == **id);
        let runs: usize = findings.iter().map(|finding| finding.summary.wall_runs).sum();
        let late: usize = findings.iter().map(|finding| finding.summary.late).sum();
        Sums {
            figures: (figures.values().flatten().filter(is_made).count(), figures.len()),
            tally: Tally::new(findings),
            theorems: paper.theorems().len(),
            runs: (runs - late, runs),
        }
    }

    /// Adds up what became of all papers.
    fn of_all(records: &[ExhibitRecord]) -> Sums {
        let mut all = Sums::default();
        for paper in PAPERS {
            let Sums { figures, tally, theorems, runs } = Sums::of_paper(records, paper);
            all.figures = (all.figures.0 + figures.0, all.figures.1 + figures.1);
            all.tally += tally;
            all.theorems += theorems;
            all.runs = (all.runs.0 + runs.0, all.runs.1 + runs.1);
        }
        all
    }
}

/// Returns the sums as sentences, on the printed numbers, on the claims, and on the theorems. What there is none of is
/// left out.
pub(super) fn sentences(records: &[ExhibitRecord]) -> Vec<String> {
    let tally = Sums::of_all(records).tally;
    let number = |fate| tally.numbers(fate);
    let equal = number(NumberFate::RunEqual);
    let run = format!("came out in a run that could have missed them, {equal} of these to the last digit");
    let numbers = [
        (equal + number(NumberFate::RunWithin), &*run),
        (number(NumberFate::Formula), "came from a formula or a count"),
        (number(NumberFate::AddsUp), "added up, by the papers' own arithmetic"),
        (number(NumberFate::ReadBack), "went into our machines and programs, and came back"),
        (number(NumberFate::Differs), "differed"),
        (number(NumberFate::OutOfReach), "only the papers' hardware could say"),
        (number(NumberFate::LeftOut), "stood in drawings that our texts do not have"),
        (number(NumberFate::Repeat), "repeated others"),
    ];
    let claims = [
        (tally.hold, "held"),
        (tally.claims_differ, "differed"),
        (tally.claims_out_of_reach, "only the papers' hardware could decide"),
    ];
    let theorems = [
        (tally.theorems_as_printed, "held as they are printed"),
        (tally.theorems_corrected, "held once they were corrected"),
    ];
    let sentences =
        [sentence("printed number", &numbers), sentence("claim", &claims), sentence("theorem", &theorems)];
    sentences.into_iter().flatten().collect()
}

/// Returns the sentence on so many of a thing, each of which became one of these, or `None` without any.
fn sentence(thing: &str, parts: &[(usize, &str)]) -> Option<String> {
    let all: usize = parts.iter().map(|(count, _)| count).sum();
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join("; ");
    (all > 0).then(|| format!("Of {} {parts}.", count(all, thing)))
}

/// Returns what must be said where exhibits have not the papers' own sizes, or `None`.
pub(super) fn sizes_note(records: &[ExhibitRecord]) -> Option<String> {
    records.iter().any(|record| !record.asked.full).then(|| {
        "Sizes are the usual ones, which are smaller than the papers' own: with --full some numbers and claims come out otherwise.".into()
    })
}

/// Returns the sums for the page: sentences, tables by paper, and what their columns mean.
pub(super) fn blocks(records: &[ExhibitRecord]) -> Vec<DocumentBlock> {
    let sentences = sentences(records).into_iter().chain(sizes_note(records));
    let mut blocks: Vec<_> = sentences.map(|sentence| DocumentBlock::Paragraph(plain(sentence))).collect();
    blocks.push(DocumentBlock::Table(number_table(records)));
    blocks.push(DocumentBlock::List(
        NumberFate::ALL.map(|(_, name, meaning)| meaning_of(name, meaning)).into(),
    ));
    blocks.push(DocumentBlock::Table(other_table(records)));
    let others = [
        ("figures, tables", "those of the paper that are made again"),
        ("claims hold, differ, out of reach", "sentences of the paper, by the rule beside them"),
        (
            "theorems as printed, corrected",
            "theorems, lemmas and facts that searches and runs confirm as our text has them, and those that they confirm once \
             corrected, as a row that differs says",
        ),
        (
            "own checks",
            "checks of ours that came out right, of a formula by a run or of a schedule by a search",
        ),
        ("runs in time", "measured runs in which this computer kept the model's time"),
    ];
    blocks.push(DocumentBlock::List(others.map(|(name, meaning)| meaning_of(name, meaning)).into()));
    blocks.push(DocumentBlock::Paragraph(plain(not_made())));
    blocks
}

/// Returns the line on what a column means.
fn meaning_of(name: &str, meaning: &str) -> RichText {
    vec![Span::Mark(name.into(), String::new()), Span::Plain(format!(": {meaning}."))]
}

/// Returns the sums of each paper, and of all, with their names.
fn rows(records: &[ExhibitRecord]) -> impl Iterator<Item = (&'static str, Sums)> {
    let papers = PAPERS.iter().map(move |paper| (paper.name, Sums::of_paper(records, paper)));
    papers.chain([("all", Sums::of_all(records))])
}

/// Returns the table of what became of the printed numbers.
fn number_table(records: &[ExhibitRecord]) -> Table {
    let table = Table::new("numbers", "").text("paper").exact("printed numbers", "");
    let mut table = NumberFate::ALL.into_iter().fold(table, |table, (_, name, _)| table.exact(name, ""));
    for (name, Sums { tally, .. }) in rows(records) {
        let fates = NumberFate::ALL.map(|(fate, ..)| tally.numbers(fate).into());
        table.push([name.into(), tally.printed().into()].into_iter().chain(fates).collect());
    }
    table
}

/// Returns the table of figures, claims, theorems, checks and measured runs.
fn other_table(records: &[ExhibitRecord]) -> Table {
    let table = Table::new("summary", "").text("paper").column("figures, tables", "", CellFormat::Right);
    let table = table.exact("claims hold", "").exact("differ", "").exact("out of reach", "");
    let table = table.column("theorems as printed", "", CellFormat::Right).exact("corrected", "");
    let mut table =
        table.column("own checks", "", CellFormat::Right).column("runs in time", "", CellFormat::Right);
    for (name, Sums { figures, tally, theorems, runs }) in rows(records) {
        table.push(vec![
            name.into(),
            share(figures),
            tally.hold.into(),
            tally.claims_differ.into(),
            tally.claims_out_of_reach.into(),
            share((tally.theorems_as_printed, theorems)),
            tally.theorems_corrected.into(),
            share((tally.checks, tally.checks + tally.wrong)),
            share(runs),
        ]);
    }
    table
}

/// Returns the cell of a share, which is empty where there is nothing of which it could be one.
fn share((part, whole): Share) -> Cell {
    if whole == 0 { Cell::Nothing } else { format!("{part} of {whole}").into() }
}

/// Returns which figures and tables are not made again.
fn not_made() -> String {
    let named = PAPERS.iter().flat_map(|paper| {
        let name = |(figure, here): (String, Result<_, String>)| {
            here.err().map(|why| format!("{}'s {figure} ({why})", paper.name))
        };
        paper.figures().into_iter().filter_map(name)
    });
    format!("Not made again: {}.", named.collect::<Vec<_>>().join("; "))
}
