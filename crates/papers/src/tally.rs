//! The tally of exhibits: how many printed numbers and claims came out in each way. A printed number counts
//! once, however many rows are about it.

use std::collections::{BTreeMap, BTreeSet};

use super::Paper;
use super::answer::AnswerSource;
use super::finding::ExhibitResult;
use super::row::{ExhibitRow, Verdict};

/// The numbers of printed numbers and claims that came out in each way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Printed numbers of which ours has all digits.
    pub equal: usize,
    /// Printed numbers that ours is as near to as its rule asks.
    pub within: usize,
    /// Printed numbers that ours contradicts.
    pub numbers_differ: usize,
    /// Printed numbers, of all those, that a run stands beside.
    pub by_a_run: usize,
    /// Claims that hold.
    pub hold: usize,
    /// Claims that ours contradicts.
    pub claims_differ: usize,
    /// Checks of ours that came out right.
    pub checks: usize,
    /// Checks of ours that came out wrong.
    pub wrong: usize,
    /// Rows that only the paper's hardware could decide.
    pub out_of_reach: usize,
    /// Theorems, lemmas and facts that a search or a run confirms.
    pub theorems: BTreeSet<String>,
}

impl Tally {
    /// Counts what is in these results.
    pub fn new<'a>(results: impl IntoIterator<Item = &'a ExhibitResult>) -> Tally {
        let mut tally = Tally::default();
        results.into_iter().flat_map(|result| &result.rows).for_each(|row| tally.add(row));
        tally
    }

    fn add(&mut self, row: &ExhibitRow) {
        let is_number = row.numbers > 0;
        let (count, times) = match row.verdict {
            Verdict::Equal => (&mut self.equal, row.numbers),
            Verdict::Within => (&mut self.within, row.numbers),
            Verdict::Differs if is_number => (&mut self.numbers_differ, row.numbers),
            Verdict::Differs => (&mut self.claims_differ, 1),
            Verdict::Holds => (&mut self.hold, 1),
            Verdict::OwnCheck => (&mut self.checks, 1),
            Verdict::Wrong => (&mut self.wrong, 1),
            Verdict::OutOfReach => (&mut self.out_of_reach, 1),
            Verdict::ReadBack => return,
        };
        *count += times;
        if row.by == AnswerSource::Model
            && matches!(row.verdict, Verdict::Equal | Verdict::Within | Verdict::Differs)
        {
            self.by_a_run += row.numbers;
        }
        if matches!(row.verdict, Verdict::OwnCheck | Verdict::Holds | Verdict::Equal) {
            let subject = row.what.split_once(':').map_or("", |(subject, _)| subject);
            self.theorems.extend(parts_named(subject, &THEOREMS));
        }
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
    use crate::row::count_numbers;

    #[test]
    fn a_printed_number_counts_once_and_a_run_is_told_from_a_formula() {
        let run = loggp::Machine::new(crate::machines::cm5(1)).run(|_| ()).unwrap();
        let mut rows = vec![
            ExhibitRow::from_number("a", "1", "24", 24.0),
            ExhibitRow::from_number("a", "1", "24", 24.0),
            ExhibitRow::from_number("b", "1", "25", run.ran(|_| 24.0)),
        ];
        rows[1].of_numbers(0);
        let tally = Tally::new([&ExhibitResult { rows, ..ExhibitResult::default() }]);
        assert_eq!((tally.equal, tally.numbers_differ, tally.by_a_run), (1, 1, 1));
        assert_eq!(count_numbers("56 56 28, 0.44"), 4);
    }
}
