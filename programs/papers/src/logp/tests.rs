//! LogP's numbers that do not depend on its hardware, on the virtual clock.

use super::super::tests::{differing as differs, found};
use super::super::{Agreement, Finding};
use super::PAPER;

/// What comes of an exhibit on the virtual clock.
fn made(id: &str) -> Finding {
    let exhibit = PAPER.exhibits.iter().find(|exhibit| exhibit.id == id).unwrap();
    let finding = found(exhibit);
    assert!(finding.pictures.iter().all(|picture| picture.svg.starts_with("<svg")), "{id}");
    assert!(finding.tables.iter().all(|table| !table.rows.is_empty()), "{id}");
    finding
}

#[test]
fn broadcast_and_summation_are_the_figures() {
    for id in ["logp-fig3", "logp-fig4"] {
        assert_eq!(differs(&made(id)), [""; 0], "{id}");
    }
}

#[test]
fn the_networks_are_those_of_section_5() {
    let distances = made("logp-distances");
    assert_eq!((differs(&distances), distances.count(Agreement::Equal)), (vec![], 16));
    let table = made("logp-table1");
    assert_eq!((differs(&table), table.count(Agreement::Equal)), (vec![], 14));
}

/// What the paper has wrong is known, and nothing else differs.
#[test]
fn the_fft_on_the_cm5_is_predicted_as_the_paper_predicts_it() {
    assert_eq!(differs(&made("logp-fig7")), [""; 0]);
    let ticks = ["o in ticks", "g in cycles of 4.5 us", "g in ticks", "1 us in ticks"];
    let finding = made("logp-fig8");
    assert_eq!(differs(&finding), ticks);
    assert!(finding.is_explained());
}

#[test]
fn the_naive_remap_is_what_the_model_does_not_explain() {
    let finding = made("logp-fig6");
    assert_eq!(differs(&finding), ["naive remap / computation, 1048576 points"]);
    assert!(finding.is_explained());
}

#[test]
fn layouts_and_load_are_as_sections_4_2_and_5_3_say() {
    let lu = made("logp-lu");
    assert_eq!(differs(&lu), ["blocked grid: idle processors after n/sqrt(P) steps, 2 sqrt(P)"]);
    assert!(lu.is_explained());
    assert_eq!(differs(&made("logp-saturation")), [""; 0]);
}
