//! The paper's numbers that do not depend on its hardware, made on the virtual clock.

use super::super::{Agreement, Finding, tests};
use super::PAPER;

/// What comes of the exhibit with this id.
fn found(id: &str) -> Finding {
    tests::found(PAPER.exhibits.iter().find(|exhibit| exhibit.id == id).unwrap())
}

/// What differs in an exhibit, each with its reason.
fn differing(finding: &Finding) -> Vec<&str> {
    finding.differing().map(|check| check.reason.as_deref().unwrap_or("there is no reason")).collect()
}

#[test]
fn all_cells_of_table_3_are_equal() {
    let finding = found("loggp-table3");
    assert_eq!(finding.checks.len(), 25);
    assert_eq!(finding.count(Agreement::Equal), 25, "{:?}", finding.checks);
}

#[test]
fn the_schedules_end_at_63_and_61() {
    let finding = found("loggp-fig9");
    assert_eq!(differing(&finding), [""; 0]);
    assert_eq!((finding.checks[0].ours.as_str(), finding.checks[1].ours.as_str()), ("63", "63"));
    let finding = found("loggp-fig10");
    assert_eq!(finding.checks[0].ours, "61");
    let [reason] = differing(&finding)[..] else { panic!("{:?}", finding.checks) };
    assert_eq!(finding.checks[3].ours, "6 from P2 and 4 from P4");
    assert!(reason.starts_with("a search found ours"), "{reason}");
}

#[test]
fn both_views_of_figures_7_and_8_are_one() {
    for id in ["loggp-fig7", "loggp-fig8"] {
        let finding = found(id);
        assert_eq!(differing(&finding), [""; 0], "{id}");
        assert_eq!(finding.pictures.len(), 2);
    }
}

#[test]
fn messages_take_what_section_2_says() {
    for id in ["loggp-fig1", "loggp-table1", "loggp-fig3"] {
        assert_eq!(differing(&found(id)), [""; 0], "{id}");
    }
    let finding = found("loggp-fig2");
    let [reason] = differing(&finding)[..] else { panic!("{:?}", finding.checks) };
    assert!(reason.starts_with("4 bytes in each gap of table 1's 14.2 us make 0.282 MB/s"), "{reason}");
}

#[test]
fn lemma_2_alone_differs_among_what_section_4_says_of_splits() {
    let finding = found("loggp-table2");
    let [reason] = differing(&finding)[..] else { panic!("{:?}", finding.checks) };
    assert!(reason.starts_with("the recurrence of the proof"), "{reason}");
    let lemma = finding.checks.iter().find(|check| check.agreement == Agreement::Differs).unwrap();
    assert_eq!(lemma.ours, "for 10 of 1023; with P = 3, 60 against 40");
}

#[test]
fn halves_are_the_best_ratio_and_nearly_optimal() {
    assert_eq!(differing(&found("loggp-fig12")), [""; 0]);
    let finding = found("loggp-fig11");
    let [reason] = differing(&finding)[..] else { panic!("{:?}", finding.checks) };
    assert!(reason.contains("table 1 has 17.6 us and 13.8 us"), "{reason}");
}

#[test]
fn applications_gain_by_long_messages() {
    for id in ["loggp-fig4", "loggp-fig5", "loggp-fig6"] {
        let finding = found(id);
        assert_eq!(differing(&finding), [""; 0], "{id}: {:?}", finding.checks);
    }
}
