//! The tally of exhibits: what became of the printed numbers, the claims and the theorems. A printed number
//! counts once, in one way, so that the ways add up to what the papers print.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use super::Paper;
use super::answer::AnswerSource;
use super::finding::ExhibitResult;
use super::row::{ExhibitRow, Verdict};

/// Counts of what became of the printed numbers, the claims and the theorems of some exhibits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Printed numbers by what became of them, in the order of [`NumberFate::ALL`].
    numbers: [usize; NumberFate::ALL.len()],
    /// Claims that hold.
    pub hold: usize,
    /// Claims that ours contradicts.
    pub claims_differ: usize,
    /// Claims that only the paper's hardware could decide.
    pub claims_out_of_reach: usize,
    /// Checks of ours that came out right.
    pub checks: usize,
    /// Checks of ours that came out wrong.
    pub wrong: usize,
    /// Theorems, lemmas and facts that searches and runs confirm as they are printed.
    pub theorems_as_printed: usize,
    /// Theorems, lemmas and facts that searches and runs contradict as they are printed, and confirm as corrected.
    pub theorems_corrected: usize,
}

/// What became of a printed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFate {
    RunEqual,
    RunWithin,
    Formula,
    AddsUp,
    ReadBack,
    Differs,
    OutOfReach,
    LeftOut,
    Repeat,
}

impl NumberFate {
    /// All, with their names and meanings in the summary.
    pub const ALL: [(NumberFate, &'static str, &'static str); 9] = [
        (
            NumberFate::RunEqual,
            "by a run",
            "a run could have missed it, and has all its digits, two at least",
        ),
        (
            NumberFate::RunWithin,
            "near a run",
            "a run could have missed it, and is within the tolerance that stands beside it",
        ),
        (NumberFate::Formula, "by a formula", "a formula or a count makes it: no run stands beside it"),
        (
            NumberFate::AddsUp,
            "adds up",
            "the paper's own arithmetic: it follows from other numbers beside it, and does",
        ),
        (NumberFate::ReadBack, "read back", "our machine or program was made by it, and gives it back"),
        (NumberFate::Differs, "differs", "ours contradicts it"),
        (NumberFate::OutOfReach, "out of reach", "only the paper's hardware could say"),
        (NumberFate::LeftOut, "not in our text", "it stands in a drawing, and our text has none"),
        (
            NumberFate::Repeat,
            "once more",
            "it is one of the others, printed again, such as in the columns of codes that do not differ",
        ),
    ];
}

impl ExhibitRow {
    /// Returns what became of the numbers that it stands for, or `None` if it stands for none.
    fn fate(&self) -> Option<NumberFate> {
        let by_a_run = self.by == AnswerSource::Model;
        (self.numbers > 0).then_some(match self.verdict {
            Verdict::Equal if by_a_run => NumberFate::RunEqual,
            Verdict::Within if by_a_run => NumberFate::RunWithin,
            Verdict::Equal | Verdict::Within => NumberFate::Formula,
            Verdict::AddsUp => NumberFate::AddsUp,
            Verdict::ReadBack => NumberFate::ReadBack,
            Verdict::OutOfReach => NumberFate::OutOfReach,
            Verdict::Differs | Verdict::Wrong | Verdict::Holds | Verdict::OwnCheck => NumberFate::Differs,
        })
    }
}

impl Tally {
    /// Counts what is in these results of a paper.
    pub fn new<'a>(results: impl IntoIterator<Item = &'a ExhibitResult>) -> Tally {
        let mut tally = Tally::default();
        let (mut confirmed, mut contradicted) = (BTreeSet::new(), BTreeSet::new());
        for result in results {
            tally.numbers[NumberFate::LeftOut as usize] += result.left_out;
            for row in &result.rows {
                tally.add(row);
                let subject = row.what.split_once(':').map_or("", |(subject, _)| subject);
                let theorems = match row.verdict {
                    Verdict::OwnCheck | Verdict::Holds => &mut confirmed,
                    Verdict::Wrong | Verdict::Differs => &mut contradicted,
                    _ => continue,
                };
                theorems.extend(parts_named(subject, &THEOREMS));
            }
        }
        tally.theorems_as_printed = confirmed.difference(&contradicted).count();
        tally.theorems_corrected = confirmed.intersection(&contradicted).count();
        tally
    }

    fn add(&mut self, row: &ExhibitRow) {
        self.numbers[NumberFate::Repeat as usize] += row.repeats;
        if let Some(fate) = row.fate() {
            self.numbers[fate as usize] += row.numbers;
            return;
        }
        match row.verdict {
            Verdict::Holds => self.hold += 1,
            Verdict::Differs => self.claims_differ += 1,
            Verdict::OutOfReach => self.claims_out_of_reach += 1,
            Verdict::OwnCheck => self.checks += 1,
            Verdict::Wrong => self.wrong += 1,
            // Such a row stands for numbers that another row stands for already.
            Verdict::Equal | Verdict::Within | Verdict::AddsUp | Verdict::ReadBack => (),
        }
    }

    /// Returns how many printed numbers became this.
    pub fn numbers(&self, fate: NumberFate) -> usize {
        self.numbers[fate as usize]
    }

    /// Returns how many numbers are printed.
    pub fn printed(&self) -> usize {
        self.numbers.iter().sum()
    }
}

impl AddAssign for Tally {
    /// Adds the tally of another paper.
    fn add_assign(&mut self, other: Tally) {
        self.numbers.iter_mut().zip(other.numbers).for_each(|(all, more)| *all += more);
        self.hold += other.hold;
        self.claims_differ += other.claims_differ;
        self.claims_out_of_reach += other.claims_out_of_reach;
        self.checks += other.checks;
        self.wrong += other.wrong;
        self.theorems_as_printed += other.theorems_as_printed;
        self.theorems_corrected += other.theorems_corrected;
    }
}

/// Beginnings of the names of figures and tables; a table of LogP has no number.
const FIGURES: [&str; 3] = ["figure ", "table ", "its table"];
const THEOREMS: [&str; 3] = ["theorem ", "lemma ", "fact "];

impl Paper {
    /// Returns the figures and tables of the paper, each with an exhibit that makes it again, or with what
    /// became of it instead.
    pub fn figures(&self) -> BTreeMap<String, Result<&'static str, String>> {
        let mut figures = BTreeMap::new();
        for entry in self.inventory() {
            let made = self.exhibits.iter().find(|exhibit| entry.here.split(", ").any(|id| id == exhibit.id));
            let made = made.map(|exhibit| exhibit.id).ok_or(entry.here);
            for figure in parts_named(&entry.place, &FIGURES) {
                // A figure may stand in several lines.
                let known = figures.entry(figure).or_insert_with(|| made.clone());
                if known.is_err() {
                    known.clone_from(&made);
                }
            }
        }
        figures
    }

    /// Returns the theorems, lemmas and facts of the paper.
    pub fn theorems(&self) -> BTreeSet<String> {
        self.inventory().flat_map(|entry| parts_named(&entry.place, &THEOREMS).collect::<Vec<_>>()).collect()
    }
}

/// Returns the parts of a list of places that begin with one of these words.
fn parts_named(places: &str, words: &'static [&str]) -> impl Iterator<Item = String> {
    let is_named = |part: &&str| words.iter().any(|word| part.starts_with(word));
    places.split(", ").filter(is_named).map(String::from).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::RunResult;
    use crate::row::{DifferenceCause, count_numbers};

    fn tally_of(rows: Vec<ExhibitRow>) -> Tally {
        Tally::new([&ExhibitResult { rows, ..ExhibitResult::default() }])
    }

    #[test]
    fn a_printed_number_counts_once_and_in_one_way() {
        let run = loggp::Machine::new(crate::machines::cm5(1)).run(|_| ()).unwrap();
        let row = |paper| ExhibitRow::from_number("a", "1", paper, run.ran(|_| 24.0));
        let mut rows = vec![
            row("24"),
            row("24"),
            row("24"),
            row("25"),
            ExhibitRow::from_number("b", "1", "24", 24.0),
            ExhibitRow::from_number("b", "1", "24", 24.0),
        ];
        rows[0].of_numbers(3).with_repeats(2);
        rows[1].of_numbers(0);
        rows[2].by_design("the run was made for it");
        rows[5].by_arithmetic();
        let tally = tally_of(rows);
        let fates = NumberFate::ALL.map(|(fate, ..)| tally.numbers(fate));
        assert_eq!((fates, tally.printed()), ([1, 0, 1, 1, 1, 1, 0, 0, 2], 7));
        assert_eq!(count_numbers("56 56 28, 0.44"), 4);
    }

    #[test]
    fn a_theorem_that_a_row_contradicts_does_not_hold_as_printed() {
        let row = |what: &str, verdict| {
            let row = ExhibitRow::new(what, "1", "", (verdict, ""), (String::new(), AnswerSource::Count));
            ExhibitRow { cause: Some((DifferenceCause::Misprint, "so".into())), ..row }
        };
        let tally = tally_of(vec![
            row("lemma 1: in a search", Verdict::OwnCheck),
            row("lemma 2: by its proof", Verdict::OwnCheck),
            row("lemma 2: as it is printed", Verdict::Differs),
            row("lemma 3: as it is printed", Verdict::Differs),
        ]);
        assert_eq!((tally.theorems_as_printed, tally.theorems_corrected), (1, 1));
    }
}
