//! The paper's numbers that depend on no hardware, on the virtual clock.

use super::super::Agreement;
use super::super::tests::{differing, found, in_lab};
use super::elimination::{CODES, Three};
use super::{PAPER, comparison, costs, loggp_models, parameters, protocols, round_trips};

#[test]
fn what_follows_from_the_model_is_equal() {
    for exhibit in [
        protocols::TABLE_2,
        costs::FIGURE_2,
        parameters::TABLE_5,
        round_trips::TABLE_6,
        round_trips::FIGURE_4,
    ]
    .into_iter()
    .chain([loggp_models::TABLE_8, loggp_models::FIGURE_7, loggp_models::TABLE_9])
    {
        let finding = found(&exhibit);
        assert_eq!(differing(&finding), [""; 0], "{}", exhibit.id);
        assert!(!finding.checks.is_empty() && !finding.tables.is_empty(), "{}", exhibit.id);
    }
}

/// 288 us is 289.5 by the paper's own numbers, the sign in (11) is exchanged, and 292 Mbit/s follows from nothing.
#[test]
fn what_the_paper_has_wrong_differs_for_a_reason() {
    for exhibit in [costs::TABLE_3, costs::TABLE_4, round_trips::FIGURE_5] {
        let finding = found(&exhibit);
        let differing = differing(&finding);
        assert_eq!(differing.len(), 1, "{}: {differing:?}", exhibit.id);
        assert!(finding.is_explained(), "{}", exhibit.id);
    }
}

/// The record of a run at a quarter, with lengths four times as long, takes on Myrinet what the run took.
#[test]
fn a_record_of_a_part_is_one_of_the_whole() {
    in_lab(|lab| {
        let three = Three::run(lab, 1280, 8).unwrap();
        assert!(three.differ());
        for (number, code) in CODES.iter().enumerate() {
            let run = three.get(number);
            let (time, _) = run.if_it_were(&format!("S={}", code.S)).unwrap();
            // The last of s = 8,191 bytes is no whole eighth.
            let off = time.in_units(run.time) - 1.0;
            assert!(off.abs() < 1e-3, "{}: {time} and {}", code.name, run.time);
        }
    });
}

#[test]
fn three_columns_of_errors_do_not_follow_from_table_10s_times() {
    let errors = comparison::misprints();
    let differ = errors.iter().filter(|check| check.agreement == Agreement::Differs).count();
    assert_eq!((errors.len(), differ), (6, 3));
}

#[test]
fn every_exhibit_of_the_paper_is_there() {
    let ids: Vec<&str> = PAPER.exhibits.iter().map(|exhibit| exhibit.id).collect();
    for id in (2..=10)
        .map(|n| format!("loggps-table{n}"))
        .chain([2, 4, 5, 6, 7, 8].map(|n| format!("loggps-fig{n}")))
    {
        assert!(ids.contains(&id.as_str()), "{id}");
    }
}
