//! A number or a claim of a paper, beside what came out here.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use loggp_draw::digits::exact;

/// A number or a claim of a paper, beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What it is about.
    pub what: String,
    /// What the paper says, as it says it.
    pub paper: String,
    /// What came out here.
    pub ours: String,
    /// Who says that.
    pub by: Answer,
    /// Whether the two agree.
    pub agreement: Agreement,
    /// What agreement means where it is not equality, or why there is none.
    pub reason: Option<String>,
}

/// Who says what a time or a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// A closed form of the paper.
    Formula,
    /// A run on the virtual clock.
    Model,
    /// A run on the wall clock.
    Measured,
    /// A count, of a schedule or a graph.
    Count,
}

/// Whether a paper and we agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    /// To the last digit that the paper has.
    Equal,
    /// As near as the paper itself says it can be, or the claim holds.
    Within,
    /// Neither.
    Differs,
}

impl Check {
    /// A number that does not depend on the paper's hardware, as the paper writes it: `24` or `9.33`. It must be ours, rounded
    /// to as many digits.
    ///
    /// # Panics
    ///
    /// If what the paper says is not a number.
    pub fn equal(what: impl Into<String>, paper: &str, ours: f64) -> Check {
        let (number, unit) = read(paper);
        let agreement = if (ours - number).abs() <= unit { Agreement::Equal } else { Agreement::Differs };
        Check::of(what.into(), paper.into(), exact(ours), agreement)
    }

    /// The same of what is not a number, such as a list of them.
    pub fn same(what: impl Into<String>, paper: &str, ours: impl Into<String>) -> Check {
        let ours = ours.into();
        let agreement = if ours == paper { Agreement::Equal } else { Agreement::Differs };
        Check::of(what.into(), paper.into(), ours, agreement)
    }

    /// A number that the paper measured on its hardware, or rounded. Ours must come within this part of it; and why that is
    /// near enough.
    ///
    /// # Panics
    ///
    /// If what the paper says is not a number.
    pub fn within(what: impl Into<String>, paper: &str, ours: f64, part: f64, why: &str) -> Check {
        let (number, unit) = read(paper);
        let off = (ours - number).abs();
        let agreement = match () {
            () if off <= unit => Agreement::Equal,
            () if off <= part * number.abs() => Agreement::Within,
            () => Agreement::Differs,
        };
        let mut check = Check::of(what.into(), paper.into(), exact(ours), agreement);
        check.reason = (agreement == Agreement::Within).then(|| why.into());
        check
    }

    /// What the paper claims in words, what came out here, and whether the claim holds for that.
    pub fn claim(what: impl Into<String>, paper: &str, ours: impl Into<String>, holds: bool) -> Check {
        let agreement = if holds { Agreement::Within } else { Agreement::Differs };
        Check::of(what.into(), paper.into(), ours.into(), agreement)
    }

    /// From the model, unless [told](Check::by).
    fn of(what: String, paper: String, ours: String, agreement: Agreement) -> Check {
        Check { what, paper, ours, by: Answer::Model, agreement, reason: None }
    }

    /// Who says what is ours.
    #[must_use]
    pub fn by(self, by: Answer) -> Check {
        Check { by, ..self }
    }

    /// Why it differs, if it does.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Check {
        if self.agreement == Agreement::Differs {
            self.reason = Some(reason.into());
        }
        self
    }
}

/// Numbers, as a list for people.
pub fn list<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// A number as a paper writes it, and half a unit of its last digit.
fn read(paper: &str) -> (f64, f64) {
    let digits = paper.replace(',', "");
    let number = digits.parse().unwrap_or_else(|_| panic!("{paper} is not a number"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    // A little more, for what floats round.
    (number, 0.5000001 * 10_f64.powi(-(decimals as i32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_equal_to_the_last_digit_that_the_paper_has() {
        let agreement = |paper, ours| Check::equal("x", paper, ours).agreement;
        assert_eq!(agreement("9.33", 28.0 / 3.0), Agreement::Equal);
        assert_eq!(agreement("9.33", 9.336), Agreement::Differs);
        assert_eq!(agreement("1,171", 1171.0), Agreement::Equal);
        assert_eq!(agreement("24", 25.0), Agreement::Differs);
    }

    #[test]
    fn what_depends_on_hardware_has_room() {
        let agreement = |ours| Check::within("x", "100", ours, 0.1, "so says the paper").agreement;
        assert_eq!(agreement(100.4), Agreement::Equal);
        assert_eq!(agreement(91.0), Agreement::Within);
        assert_eq!(agreement(111.0), Agreement::Differs);
    }

    #[test]
    fn a_reason_is_kept_where_it_is_needed() {
        assert_eq!(Check::equal("x", "1", 1.0).because("no").reason, None);
        assert_eq!(Check::equal("x", "1", 2.0).because("yes").reason.as_deref(), Some("yes"));
    }
}
