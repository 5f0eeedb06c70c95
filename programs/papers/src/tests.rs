//! What the papers' tests share: a lab in which nothing is measured.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::{Check, Exhibit, Finding, Held, Lab, exhibits};
use loggp_programs::Emulation;

/// Does something in a lab on the virtual clock, at the usual sizes.
pub fn in_lab<T>(make: impl FnOnce(&Lab) -> T) -> T {
    make(&Lab {
        full: false,
        seed: 1,
        repeat: 1,
        emulation: Emulation::default(),
        progress: &|_| (),
        held: RefCell::new(Held::default()),
    })
}

/// What comes of an exhibit there; every result must be right.
pub fn found(exhibit: &Exhibit) -> Finding {
    in_lab(|lab| {
        let finding = (exhibit.make)(lab).unwrap();
        assert_eq!(lab.held.borrow().wrong, Vec::<String>::new(), "{}", exhibit.id);
        finding
    })
}

/// What differs, by what it is about.
pub fn differing(finding: &Finding) -> Vec<&str> {
    finding.differing().map(|Check { what, .. }| what.as_str()).collect()
}

#[test]
fn every_exhibit_has_a_name_of_its_own_and_says_what_it_is() {
    let mut seen = BTreeSet::new();
    for (paper, Exhibit { id, place, title, says, seconds, .. }) in exhibits() {
        assert!(seen.insert(id), "{id} stands twice");
        assert!(!place.is_empty() && !title.is_empty() && !says.is_empty(), "{} {id}", paper.name);
        assert!(seconds.quick > 0.0 && seconds.full >= seconds.quick, "{id}");
    }
}
