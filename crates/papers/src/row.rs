//! A row of an exhibit: what its paper says, what came out here, and the rule that decides whether the two agree.

use loggp_draw::digits::{exact, rough};
use serde::{Deserialize, Serialize};

/// A row of an exhibit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is about.
    pub what: String,
    /// What stands in the paper: a number as it is printed, or its words.
    pub paper: String,
    /// Where it stands there.
    pub section: String,
    /// What came out here.
    pub ours: String,
    /// Who says that.
    pub by: Answer,
    /// What decides whether the two agree.
    pub rule: String,
    /// How it came out.
    pub mark: Mark,
    /// Why it differs, or why something is out of reach.
    pub reason: Option<String>,
    /// Whether it came out as the exhibit says that it does.
    pub as_expected: bool,
}

/// Who says what is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// A closed form of the paper.
    Formula,
    /// A run on the virtual clock.
    Model,
    /// A count, of a schedule or a graph.
    Count,
}

/// What a row is, and how it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A number of the paper, and ours is the same to its last digit.
    Equal,
    /// A number of the paper, and ours is as near as the rule says.
    Within,
    /// A claim in the paper's words, and it holds by the rule.
    Holds,
    /// A number or a claim that ours contradicts.
    Differs,
    /// A check of ours, such as a theorem against a search, that came out right: no number of the paper.
    Own,
    /// A check of ours that came out wrong.
    Wrong,
    /// Values that were copied from the paper, and are the same when they are read back.
    ReadBack,
    /// What only the paper's hardware can say.
    OutOfReach,
}

impl Mark {
    /// All of them, in the order of the summary, with their names there and what they mean.
    pub const ALL: [(Mark, &'static str, &'static str); 8] = [
        (Mark::Equal, "equal", "a number that the paper prints, and ours has all its digits, two at least"),
        (
            Mark::Within,
            "within",
            "a number that the paper prints, and ours is as near as the rule beside it asks",
        ),
        (Mark::Holds, "holds", "a claim in the paper's words, which holds by the rule beside it"),
        (Mark::Differs, "differs", "a number or a claim that ours contradicts, and why"),
        (
            Mark::Own,
            "own check",
            "our check of a theorem by a search, or of a formula by the machine: no number of the paper",
        ),
        (Mark::Wrong, "wrong", "a check of ours that came out wrong"),
        (Mark::ReadBack, "read back", "a machine that has the paper's values, read back: it is not counted"),
        (Mark::OutOfReach, "out of reach", "what only the paper's hardware can say"),
    ];

    /// Its name in the summary.
    pub fn name(self) -> &'static str {
        Mark::ALL.iter().find(|(mark, ..)| *mark == self).map_or("", |(_, name, _)| name)
    }
}

impl Row {
    /// A row that came out so, and was to agree.
    pub(crate) fn of(what: impl Into<String>, section: &str, paper: &str, mark: Mark) -> Row {
        Row {
            what: what.into(),
            paper: paper.into(),
            section: section.into(),
            ours: String::new(),
            by: Answer::Model,
            rule: String::new(),
            mark,
            reason: None,
            as_expected: !matches!(mark, Mark::Differs | Mark::Wrong),
        }
    }

    /// A number that the paper prints: ours must have all its digits.
    pub(crate) fn number(what: impl Into<String>, section: &str, paper: &str, ours: f64) -> Row {
        let (number, half) = read(paper);
        let is_equal = (ours - number).abs() <= half;
        let digits = paper.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count();
        let mark = match (is_equal, digits) {
            (true, 2..) => Mark::Equal,
            // A single digit says little.
            (true, _) => Mark::Within,
            (false, _) => Mark::Differs,
        };
        let rule = if digits > 1 { "all printed digits" } else { "the printed digit" };
        Row { ours: shown(ours, paper), rule: rule.into(), ..Row::of(what, section, paper, mark) }
    }

    /// Who says what is ours: the model, unless told.
    pub fn by(&mut self, by: Answer) -> &mut Row {
        self.by = by;
        self
    }

    /// A number that the paper rounded, or of which ours can only come near: within this part of it, and why that is near
    /// enough.
    ///
    /// # Panics
    ///
    /// If the row is no number's.
    pub fn within(&mut self, part: f64, why: &str) -> &mut Row {
        let ((number, _), ours) = (read(&self.paper), read(&self.ours).0);
        self.rule = format!("within {}%: {why}", rough(100.0 * part));
        if self.mark == Mark::Differs && (ours - number).abs() <= part * number.abs() {
            (self.mark, self.as_expected) = (Mark::Within, true);
        }
        self
    }

    /// A number that ours is only rounded to, such as a count where the paper has what it tends to.
    pub fn rounded(&mut self) -> &mut Row {
        if self.mark == Mark::Equal {
            (self.mark, self.rule) = (Mark::Within, "rounded".into());
        }
        self
    }

    /// It is known to differ, with this for ours, and why. Another value, or one that agrees, is not as expected. Nothing for ours is any
    /// value, for sizes at which none is known.
    pub fn because(&mut self, ours: &str, why: &str) -> &mut Row {
        self.as_expected = self.mark == Mark::Differs && (self.ours == ours || ours.is_empty());
        self.reason = Some(match self.as_expected {
            true => why.into(),
            false => format!("not as expected, which is {ours}: {why}"),
        });
        self
    }
}

/// A number that is read from a paper, and half a unit of its last digit.
fn read(paper: &str) -> (f64, f64) {
    let digits = paper.replace(',', "");
    let number = digits.parse().unwrap_or_else(|_| panic!("{paper} is not a number"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    // A little more, for what floats round.
    (number, 0.5000001 * 10_f64.powi(-(decimals as i32)))
}

/// Ours with a digit more than the paper has, if there is one to show.
fn shown(ours: f64, paper: &str) -> String {
    let decimals = paper.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match decimals {
        0..3 => exact(ours),
        _ => {
            let digits = format!("{ours:.*}", decimals + 1);
            digits.trim_end_matches('0').trim_end_matches('.').into()
        }
    }
}

/// What a claim asks of numbers, and how that is said.
pub struct Rule {
    /// What is asked of each.
    text: String,
    /// Whether a number is so.
    holds: Box<dyn Fn(f64) -> bool>,
    /// Of how many it is asked.
    of: Of,
}

/// Of how many numbers something is asked.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    All,
    Most,
    Mean,
}

fn rule(text: String, holds: impl Fn(f64) -> bool + 'static) -> Rule {
    Rule { text, holds: Box::new(holds), of: Of::All }
}

/// At most this.
pub fn at_most(most: f64) -> Rule {
    rule(format!("at most {}", exact(most)), move |ours| ours <= most)
}

/// At least this.
pub fn at_least(least: f64) -> Rule {
    rule(format!("at least {}", exact(least)), move |ours| ours >= least)
}

/// Less than this.
pub fn below(most: f64) -> Rule {
    rule(format!("less than {}", exact(most)), move |ours| ours < most)
}

/// More than this.
pub fn above(least: f64) -> Rule {
    rule(format!("more than {}", exact(least)), move |ours| ours > least)
}

/// From one to the other.
pub fn between(least: f64, most: f64) -> Rule {
    rule(format!("{} to {}", exact(least), exact(most)), move |ours| (least..=most).contains(&ours))
}

/// Exactly this.
pub fn exactly(number: f64) -> Rule {
    rule(exact(number), move |ours| ours == number)
}

impl Rule {
    /// The same of the mean.
    #[must_use]
    pub fn in_the_mean(self) -> Rule {
        Rule { of: Of::Mean, ..self }
    }

    /// The same of more than half of them.
    #[must_use]
    pub fn for_most(self) -> Rule {
        Rule { of: Of::Most, ..self }
    }

    /// Whether it holds, and how it and what came out are said.
    pub(crate) fn judge(&self, ours: &[f64]) -> (bool, String, String) {
        let right = ours.iter().filter(|ours| (self.holds)(**ours)).count();
        let mean = ours.iter().sum::<f64>() / ours.len() as f64;
        let (holds, rule) = match self.of {
            _ if ours.len() == 1 => (right == 1, self.text.clone()),
            Of::All => (right == ours.len() && right > 0, format!("each {}", self.text)),
            Of::Most => (2 * right > ours.len(), format!("more than half {}", self.text)),
            Of::Mean => ((self.holds)(mean), format!("{} in the mean", self.text)),
        };
        let least = ours.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let said = match ours.len() {
            1 => rough(ours[0]),
            2..=6 => ours.iter().map(|ours| rough(*ours)).collect::<Vec<_>>().join(", "),
            all => {
                format!("{right} of {all}; {} to {}, {} in the mean", rough(least), rough(most), rough(mean))
            }
        };
        (holds, rule, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(paper: &str, ours: f64) -> Mark {
        Row::number("x", "1", paper, ours).mark
    }

    #[test]
    fn a_number_is_equal_to_the_last_digit_that_the_paper_has() {
        assert_eq!(mark("9.33", 28.0 / 3.0), Mark::Equal);
        assert_eq!(mark("9.33", 9.336), Mark::Differs);
        assert_eq!(mark("1,171", 1171.0), Mark::Equal);
        assert_eq!(mark("24", 25.0), Mark::Differs);
        assert_eq!(mark("4", 4.274), Mark::Within);
        assert_eq!(mark("0.5", 0.49), Mark::Within);
    }

    #[test]
    fn what_is_rounded_has_room() {
        let mark = |ours| Row::number("x", "1", "100", ours).within(0.1, "it is rounded").mark;
        assert_eq!([100.4, 91.0, 111.0].map(mark), [Mark::Equal, Mark::Within, Mark::Differs]);
    }

    #[test]
    fn only_the_expected_value_differs_as_expected() {
        let row = |ours| Row::number("x", "1", "10", ours).because("2", "so it is").clone();
        assert!(row(2.0).as_expected);
        assert!(!row(3.0).as_expected && !row(10.0).as_expected);
        assert!(!Row::number("x", "1", "10", 3.0).as_expected);
    }

    #[test]
    fn a_rule_says_what_it_asks() {
        assert_eq!(at_most(1.5).judge(&[1.2]), (true, "at most 1.5".into(), "1.2".into()));
        let (holds, rule, ours) = at_most(1.5).judge(&[1.2, 1.6]);
        assert_eq!((holds, rule.as_str(), ours.as_str()), (false, "each at most 1.5", "1.2, 1.6"));
        assert!(at_most(1.5).in_the_mean().judge(&[1.2, 1.6]).0);
        assert!(!at_most(1.5).for_most().judge(&[1.2, 1.6]).0);
        assert!(!at_most(1.5).judge(&[f64::NAN]).0 && !at_most(1.5).judge(&[]).0);
    }
}
