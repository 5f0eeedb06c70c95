//! A row of an exhibit: what the paper says, our result, and the rule that decides whether the two agree.

use loggp_draw::digits::{exact, rough};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, AnswerSource};

/// A row of an exhibit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExhibitRow {
    /// Subject of the row.
    pub what: String,
    /// A number as the paper prints it, or the paper's words.
    pub paper: String,
    /// Place in the paper.
    pub section: String,
    /// Our result.
    pub ours: String,
    /// Source of our result.
    pub by: AnswerSource,
    /// Rule that decides whether the two agree.
    pub rule: String,
    #[serde(rename = "mark")]
    pub verdict: Verdict,
    /// Number of printed numbers that the row stands for.
    pub numbers: usize,
    /// Number of places in which the paper prints one of these once more, such as the columns of codes that do
    /// not differ.
    pub repeats: usize,
    /// Kind of the difference, and its reason in a few words.
    pub cause: Option<(DifferenceCause, String)>,
    /// Reason why it differs or is out of reach, or what else one must know of it.
    pub reason: Option<String>,
    /// True if it came out as the exhibit expects.
    pub as_expected: bool,
}

/// Kind of a row, and how it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A number of the paper; ours is the same to its last digit.
    Equal,
    /// A number of the paper; ours is within the tolerance of its rule.
    Within,
    /// A claim in the paper's words, which holds by the rule.
    Holds,
    /// A number or a claim that ours contradicts.
    Differs,
    /// A check of ours, such as a theorem against a search, that came out right: no number of the paper.
    #[serde(rename = "own")]
    OwnCheck,
    /// A check of ours that came out wrong.
    Wrong,
    /// A number of the paper that follows from others beside it, and does. Nothing of ours stands beside it.
    #[serde(rename = "adds up")]
    AddsUp,
    /// A number of the paper by which the machine or the program was made, and which it gives back.
    ReadBack,
    /// A claim that only the paper's hardware can decide.
    OutOfReach,
}

/// Kind of a difference: who or what causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceCause {
    /// The text that we have contradicts the paper's own numbers, formulas or definitions.
    Misprint,
    /// The same, but the paper probably has it right: our text was read from a scan.
    Scan,
    /// The paper does not say, or can be read in two ways: our reading or size makes other numbers.
    Reading,
    /// The paper's program is lost, and ours is one of its kind.
    LostProgram,
    /// The model does not have what the paper's machine has.
    ModelLimit,
}

impl DifferenceCause {
    /// All causes in the order of their weight, with their names and meanings in the summary.
    pub const ALL: [(DifferenceCause, &'static str, &'static str); 5] = [
        (
            DifferenceCause::Misprint,
            "misprints and slips of the text that we have",
            "what stands there contradicts the paper's own numbers, formulas or definitions",
        ),
        (
            DifferenceCause::Scan,
            "probably the scan's",
            "what stands in our text contradicts the paper, and was probably misread from the printed page",
        ),
        (
            DifferenceCause::Reading,
            "readings and sizes",
            "the paper leaves something open, and our reading of it makes another number",
        ),
        (
            DifferenceCause::LostProgram,
            "the lost program",
            "the paper's program is lost, and ours is another of its kind",
        ),
        (
            DifferenceCause::ModelLimit,
            "limits of the model",
            "the paper's machine has what no model of the LogP family has",
        ),
    ];
}

impl Verdict {
    /// All verdicts in the order of the summary, with their names and meanings there.
    pub const ALL: [(Verdict, &'static str, &'static str); 9] = [
        (
            Verdict::Equal,
            "equal",
            "a number that the paper prints, and ours has all its digits, two at least",
        ),
        (
            Verdict::Within,
            "within",
            "a number that the paper prints, and ours is within the tolerance that stands beside it",
        ),
        (Verdict::Holds, "holds", "a claim in the paper's words, which holds by the rule beside it"),
        (Verdict::Differs, "differs", "a number or a claim that ours contradicts, and why"),
        (
            Verdict::OwnCheck,
            "own check",
            "our check of a theorem by a search, or of a formula by the machine: no number of the paper",
        ),
        (Verdict::Wrong, "wrong", "a check of ours that came out wrong"),
        (
            Verdict::AddsUp,
            "adds up",
            "the paper's own arithmetic: a number that follows from others beside it, and does",
        ),
        (
            Verdict::ReadBack,
            "read back",
            "a number by which our machine or program was made, and which it gives back",
        ),
        (Verdict::OutOfReach, "out of reach", "what only the paper's hardware can say"),
    ];

    /// Returns the verdict's name in the summary.
    pub fn name(self) -> &'static str {
        Verdict::ALL.iter().find(|(verdict, ..)| *verdict == self).map_or("", |(_, name, _)| name)
    }
}

impl ExhibitRow {
    /// Makes a row that was to agree.
    pub(crate) fn new(
        what: impl Into<String>,
        section: &str,
        paper: &str,
        (verdict, rule): (Verdict, &str),
        (ours, by): (String, AnswerSource),
    ) -> ExhibitRow {
        let (what, paper, section, rule) = (what.into(), paper.into(), section.into(), rule.into());
        let as_expected = !matches!(verdict, Verdict::Differs | Verdict::Wrong);
        let (numbers, repeats, cause, reason) = (0, 0, None, None);
        ExhibitRow {
            what,
            paper,
            section,
            ours,
            by,
            rule,
            verdict,
            numbers,
            repeats,
            cause,
            reason,
            as_expected,
        }
    }

    /// Makes the row of a number that the paper prints: ours must have all its digits.
    pub(crate) fn from_number<A: Answer<f64>>(
        what: impl Into<String>,
        section: &str,
        paper: &str,
        ours: A,
    ) -> ExhibitRow {
        let ours = ours.into_value();
        let (number, half) = parse_printed(paper);
        let is_equal = (ours - number).abs() <= half;
        let digits = paper.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count();
        let verdict = match (is_equal, digits) {
            (true, 2..) => Verdict::Equal,
            // A single digit says little.
            (true, _) => Verdict::Within,
            (false, _) => Verdict::Differs,
        };
        let rule = if digits > 1 { "all printed digits" } else { "the printed digit" };
        let ours = (format_like(ours, paper), A::SOURCE);
        ExhibitRow { numbers: 1, ..ExhibitRow::new(what, section, paper, (verdict, rule), ours) }
    }

    /// Sets that our result was counted, and not computed, where no run made it.
    pub fn by_count(&mut self) -> &mut ExhibitRow {
        if self.by == AnswerSource::Formula {
            self.by = AnswerSource::Count;
        }
        self
    }

    /// Sets that our result is arithmetic on numbers that the paper prints beside this one. Where the two agree
    /// the paper adds up, and nothing is made again.
    pub fn by_arithmetic(&mut self) -> &mut ExhibitRow {
        self.by = AnswerSource::Arithmetic;
        self.agree_by(Verdict::AddsUp);
        self
    }

    /// Sets that our machine or program was made with this number in view, and how: where the two agree, the
    /// number is read back.
    pub fn by_design(&mut self, how: &str) -> &mut ExhibitRow {
        self.rule = format!("{}: {how}", self.rule);
        self.agree_by(Verdict::ReadBack);
        self
    }

    /// Replaces the verdict of a number on which paper and ours agree.
    fn agree_by(&mut self, verdict: Verdict) {
        if matches!(self.verdict, Verdict::Equal | Verdict::Within) {
            self.verdict = verdict;
        }
    }

    /// Sets how many printed numbers the row stands for: 0 for numbers that another row stands for already.
    pub fn of_numbers(&mut self, numbers: usize) -> &mut ExhibitRow {
        self.numbers = numbers;
        self
    }

    /// Sets that of the numbers which the row stands for so many only print another one of them once more.
    pub fn with_repeats(&mut self, repeats: usize) -> &mut ExhibitRow {
        self.numbers -= repeats;
        self.repeats = repeats;
        self
    }

    /// Adds what one must know of a row that agrees.
    pub fn note(&mut self, what: &str) -> &mut ExhibitRow {
        self.reason = Some(what.into());
        self
    }

    /// Accepts a number that deviates by no more than `part` of the paper's, and notes why that is near
    /// enough.
    ///
    /// # Panics
    ///
    /// If the row is not that of a number.
    pub fn accept_within(&mut self, part: f64, why: &str) -> &mut ExhibitRow {
        let ((number, _), ours) = (parse_printed(&self.paper), parse_printed(&self.ours).0);
        self.rule = format!("within {}%: {why}", rough(100.0 * part));
        if self.verdict == Verdict::Differs && (ours - number).abs() <= part * number.abs() {
            (self.verdict, self.as_expected) = (Verdict::Within, true);
        }
        self
    }

    /// Accepts a number that ours only rounds to, such as a count where the paper has a limit.
    pub fn accept_rounded(&mut self) -> &mut ExhibitRow {
        if self.verdict == Verdict::Equal {
            (self.verdict, self.rule) = (Verdict::Within, "rounded".into());
        }
        self
    }

    /// Expects the row to differ. Says what causes that: its kind, the reason in a few words, and the reason
    /// at length. A row that agrees is not as expected, and neither is one with another result than its pin.
    pub fn expect_difference(&mut self, cause: DifferenceCause, brief: &str, why: &str) -> &mut ExhibitRow {
        self.as_expected = self.verdict == Verdict::Differs;
        self.cause = Some((cause, brief.trim_end_matches('.').into()));
        self.reason = Some(match self.as_expected {
            true => why.into(),
            false => format!("not as expected, which is to differ: {why}"),
        });
        self
    }
}

/// Returns how many numbers a paper's list has.
pub(crate) fn count_numbers(list: &str) -> usize {
    let has_digit = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    list.split_whitespace().filter(has_digit).count()
}

/// Parses a number as a paper prints it. Returns it and half a unit of its last digit.
fn parse_printed(paper: &str) -> (f64, f64) {
    let number = paper.replace(',', "").parse().unwrap_or_else(|_| panic!("{paper} is not a number"));
    // A little more, for rounding errors.
    (number, 0.5000001 * 10_f64.powi(-(decimals(paper) as i32)))
}

fn decimals(paper: &str) -> usize {
    paper.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Writes our number with one digit more than the paper's, if there is one to show.
fn format_like(ours: f64, paper: &str) -> String {
    if decimals(paper) < 3 {
        return exact(ours);
    }
    let digits = format!("{ours:.*}", decimals(paper) + 1);
    digits.trim_end_matches('0').trim_end_matches('.').into()
}

/// A condition on numbers, and its text.
pub struct ClaimRule {
    text: String,
    holds: Box<dyn Fn(f64) -> bool>,
    scope: RuleScope,
}

/// The numbers for which a rule must hold.
#[derive(Clone, Copy, PartialEq)]
enum RuleScope {
    All,
    Any,
    Most,
    Mean,
}

fn claim_rule(text: String, holds: impl Fn(f64) -> bool + 'static) -> ClaimRule {
    ClaimRule { text, holds: Box::new(holds), scope: RuleScope::All }
}

/// Asks for at most `most`.
pub fn at_most(most: f64) -> ClaimRule {
    claim_rule(format!("at most {}", exact(most)), move |ours| ours <= most)
}

/// Asks for at least `least`.
pub fn at_least(least: f64) -> ClaimRule {
    claim_rule(format!("at least {}", exact(least)), move |ours| ours >= least)
}

/// Asks for less than `most`.
pub fn below(most: f64) -> ClaimRule {
    claim_rule(format!("less than {}", exact(most)), move |ours| ours < most)
}

/// Asks for more than `least`.
pub fn above(least: f64) -> ClaimRule {
    claim_rule(format!("more than {}", exact(least)), move |ours| ours > least)
}

/// Asks for a number from `least` to `most`.
pub fn between(least: f64, most: f64) -> ClaimRule {
    claim_rule(format!("{} to {}", exact(least), exact(most)), move |ours| (least..=most).contains(&ours))
}

/// Asks for exactly `number`.
pub fn exactly(number: f64) -> ClaimRule {
    claim_rule(exact(number), move |ours| ours == number)
}

/// Returns the mean of some numbers.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Returns the variance of some numbers.
pub(crate) fn variance(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64
}

impl ClaimRule {
    /// Asks it of the mean only.
    #[must_use]
    pub fn in_the_mean(self) -> ClaimRule {
        ClaimRule { scope: RuleScope::Mean, ..self }
    }

    /// Asks it of at least one of the numbers.
    #[must_use]
    pub fn for_any(self) -> ClaimRule {
        ClaimRule { scope: RuleScope::Any, ..self }
    }

    /// Asks it of more than half of the numbers.
    #[must_use]
    pub fn for_most(self) -> ClaimRule {
        ClaimRule { scope: RuleScope::Most, ..self }
    }

    /// Says why the rule is this one.
    #[must_use]
    pub fn because(self, why: &str) -> ClaimRule {
        ClaimRule { text: format!("{}: {why}", self.text), ..self }
    }

    /// Returns whether the rule holds, its text, and the text of our numbers.
    pub(crate) fn judge(&self, ours: &[f64]) -> (bool, String, String) {
        let right = ours.iter().filter(|ours| (self.holds)(**ours)).count();
        let mean = mean(ours);
        let (holds, rule) = match self.scope {
            _ if ours.len() == 1 => (right == 1, self.text.clone()),
            RuleScope::All => (right == ours.len() && right > 0, format!("each {}", self.text)),
            RuleScope::Any => (right > 0, format!("at least one {}", self.text)),
            RuleScope::Most => (2 * right > ours.len(), format!("more than half {}", self.text)),
            RuleScope::Mean => ((self.holds)(mean), format!("{} in the mean", self.text)),
        };
        let least = ours.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let numbers = match ours.len() {
            1 => rough(ours[0]),
            2..=6 => ours.iter().map(|ours| rough(*ours)).collect::<Vec<_>>().join(", "),
            all => {
                format!("{right} of {all}; {} to {}, {} in the mean", rough(least), rough(most), rough(mean))
            }
        };
        (holds, rule, numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(paper: &str, ours: f64) -> Verdict {
        ExhibitRow::from_number("x", "1", paper, ours).verdict
    }

    #[test]
    fn number_is_equal_to_the_last_printed_digit() {
        assert_eq!(verdict_of("9.33", 28.0 / 3.0), Verdict::Equal);
        assert_eq!(verdict_of("9.33", 9.336), Verdict::Differs);
        assert_eq!(verdict_of("1,171", 1171.0), Verdict::Equal);
        assert_eq!(verdict_of("24", 25.0), Verdict::Differs);
        assert_eq!(verdict_of("4", 4.274), Verdict::Within);
        assert_eq!(verdict_of("0.5", 0.49), Verdict::Within);
    }

    #[test]
    fn accept_within_gives_a_rounded_number_room() {
        let verdict =
            |ours| ExhibitRow::from_number("x", "1", "100", ours).accept_within(0.1, "it is rounded").verdict;
        assert_eq!([100.4, 91.0, 111.0].map(verdict), [Verdict::Equal, Verdict::Within, Verdict::Differs]);
    }

    #[test]
    fn what_cannot_differ_is_no_number_that_was_made_again() {
        let row = |ours| ExhibitRow::from_number("x", "1", "10", ours);
        assert_eq!(row(10.0).by_arithmetic().verdict, Verdict::AddsUp);
        assert_eq!(row(10.0).by_design("we chose it").verdict, Verdict::ReadBack);
        assert_eq!([row(2.0).by_arithmetic().verdict, row(2.0).by_design("").verdict], [Verdict::Differs; 2]);
    }

    #[test]
    fn a_difference_is_expected_only_where_it_is_said() {
        let row = |ours| ExhibitRow::from_number("x", "1", "10", ours);
        let expected =
            |ours| row(ours).expect_difference(DifferenceCause::Reading, "so", "so it is").as_expected;
        assert!(expected(2.0) && !expected(10.0) && !row(2.0).as_expected);
    }

    #[test]
    fn rule_text_and_numbers_are_written() {
        assert_eq!(at_most(1.5).judge(&[1.2]), (true, "at most 1.5".into(), "1.2".into()));
        let (holds, rule, ours) = at_most(1.5).judge(&[1.2, 1.6]);
        assert_eq!((holds, rule.as_str(), ours.as_str()), (false, "each at most 1.5", "1.2, 1.6"));
        assert!(at_most(1.5).in_the_mean().judge(&[1.2, 1.6]).0);
        assert!(!at_most(1.5).for_most().judge(&[1.2, 1.6]).0);
        assert!(at_most(1.5).for_any().judge(&[1.2, 1.6]).0 && !at_most(1.0).for_any().judge(&[1.2, 1.6]).0);
        assert!(!at_most(1.5).judge(&[f64::NAN]).0 && !at_most(1.5).judge(&[]).0);
    }
}
