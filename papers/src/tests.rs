//! Makes every exhibit on the virtual clock, and checks every row against its expectation.

use std::collections::BTreeSet;

use super::pins::pin_line;
use super::{Exhibit, ExhibitResult, ExhibitRow, Lab, PAPERS, Tally, Verdict, exhibits};

/// Asserts that every row of a paper is as expected, that every result is right, and that the paper's numbers,
/// which are so many, all became something.
fn check(paper: &str, printed: usize) {
    let lab = Lab::new(&|| ());
    let mut other: Vec<(&str, ExhibitRow)> = Vec::new();
    let mut results = Vec::new();
    for (_, exhibit) in exhibits().filter(|(one, _)| one.name == paper) {
        let result = exhibit.make(&lab).unwrap();
        let ExhibitResult { rows, left_out, pictures, tables, summary, .. } = &result;
        assert_complete(exhibit, *left_out, rows);
        assert_eq!(summary.wrong, Vec::<String>::new(), "{}", exhibit.id);
        other.extend(rows.iter().filter(|row| !row.as_expected).map(|row| (exhibit.id, row.clone())));
        assert!(pictures.iter().all(|picture| picture.svg.starts_with("<svg")), "{}", exhibit.id);
        assert!(tables.iter().all(|table| !table.rows.is_empty()), "{}", exhibit.id);
        results.push(result);
    }
    assert!(other.is_empty(), "{other:#?}");
    assert_eq!(Tally::new(&results).printed(), printed);
}

/// Asserts that the rows stand for all numbers that the paper prints there, or that it is said which are left
/// out; and that each difference has a cause, said in a line.
fn assert_complete(exhibit: &Exhibit, left_out: usize, rows: &[ExhibitRow]) {
    assert_eq!(left_out == 0, exhibit.left_out.is_empty(), "{}: {left_out} numbers are left out", exhibit.id);
    for row in rows {
        let is_told = row.cause.as_ref().is_some_and(|(_, brief)| !brief.is_empty() && brief.len() <= 120);
        assert_eq!(row.verdict == Verdict::Differs, is_told, "{}: {row:?}", exhibit.id);
    }
}

#[test]
fn left_out_of_figures_and_tables_is_only_what_is_listed_here() {
    let left_out: Vec<&str> = exhibits()
        .map(|(_, exhibit)| exhibit)
        .filter(|exhibit| !exhibit.left_out.is_empty())
        .map(|exhibit| exhibit.id)
        .collect();
    assert_eq!(left_out, ["logp-fig3", "logp-fig4"], "no exhibit may judge a part of a table in silence");
}

#[test]
fn every_row_of_logp_is_as_expected() {
    check("LogP", 86);
}

#[test]
fn every_row_of_karp_is_as_expected() {
    check("Karp et al.", 0);
}

#[test]
fn every_row_of_transportation_is_as_expected() {
    check("Transportation", 150);
}

#[test]
fn every_row_of_loggp_is_as_expected() {
    check("LogGP", 43);
}

#[test]
fn every_row_of_loggps_is_as_expected() {
    check("LogGPS", 165);
}

#[test]
#[ignore = "writes the pins of the papers whose folder is LOGGP_PINS anew, or of all: look at what changes"]
fn write_pins() {
    let folder = std::env::var("LOGGP_PINS").unwrap_or_default();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for paper in PAPERS.iter().filter(|paper| folder.is_empty() || paper.folder == folder) {
        for (full, file) in [(false, "pins.txt"), (true, "pins-full.txt")] {
            let lab = Lab { full, ..Lab::new(&|| ()) };
            let mut pins = String::new();
            for exhibit in paper.exhibits {
                let result = exhibit.make(&lab).unwrap();
                pins.extend(result.rows.iter().map(|row| pin_line(exhibit.id, row) + "\n"));
            }
            std::fs::write(source.join(paper.folder).join(file), pins).unwrap();
        }
    }
}

#[test]
fn exhibit_ids_are_unique_and_in_the_inventory() {
    let mut ids_so_far = BTreeSet::new();
    for paper in PAPERS {
        let ids: BTreeSet<&str> = paper.exhibits.iter().map(|exhibit| exhibit.id).collect();
        let mut known = BTreeSet::new();
        for place in paper.inventory() {
            assert!(!place.what.is_empty(), "{}: {place:?}", paper.name);
            let here = place.here.split(", ").filter(|id| ids.contains(id)).map(String::from);
            let here: Vec<String> = here.collect();
            let is_known =
                !here.is_empty() || ["idea", "out of reach: "].iter().any(|why| place.here.starts_with(why));
            assert!(is_known, "{}: {place:?}", paper.name);
            known.extend(here);
        }
        for exhibit in paper.exhibits {
            assert!(ids_so_far.insert(exhibit.id), "{} stands twice", exhibit.id);
            let has_pins = |pins: &&str| pins.lines().any(|pin| pin.split(" | ").next() == Some(exhibit.id));
            assert!(paper.pins.iter().all(has_pins), "{} has no pins", exhibit.id);
            assert!(known.contains(exhibit.id), "{} has no line in {}'s inventory", exhibit.id, paper.name);
        }
    }
}
