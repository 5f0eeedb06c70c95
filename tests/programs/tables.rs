//! Tables of a document.

use loggp_document::{Cell, Column, Show};

#[test]
fn shows_numbers_as_people_read_them() {
    let show = |show, number: f64| {
        Column { title: "x".into(), unit: String::new(), show }.shown(&Cell::from(number))
    };
    assert_eq!(show(Show::Exact, 1171.0), "1,171");
    assert_eq!(show(Show::Exact, 14.25), "14.25");
    assert_eq!(show(Show::Rough, 0.012_345), "0.0123");
    assert_eq!(show(Show::Percent, 0.012_349), "+1.23%");
    assert_eq!(show(Show::Percent, -0.5), "-50.00%");
    assert_eq!(show(Show::Percent, -0.000_001), "+0.00%");
    assert_eq!(show(Show::Percent, 0.009_999), "+1.00%");
}
