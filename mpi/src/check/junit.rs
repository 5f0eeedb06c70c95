//! Checks as test cases, in the XML that JUnit's Ant task writes and that services for continuous integration read.

use std::fmt::Write as _;
use std::time::Duration;

/// A checked program as a test case.
pub(super) struct TestCase<'a> {
    pub(super) name: &'a str,
    pub(super) took: Duration,
    pub(super) outcome: &'a TestOutcome,
    /// What the program wrote to stderr last.
    pub(super) stderr: &'a [String],
}

/// What came of a check.
pub(super) enum TestOutcome {
    Right,
    /// Its first fault's kind, and what is wrong.
    Wrong(String, String),
    /// It could not be checked: why.
    Unchecked(String),
}

/// Returns a file with these test cases.
pub(super) fn write(cases: &[TestCase]) -> String {
    let count = |is: fn(&TestOutcome) -> bool| cases.iter().filter(|case| is(case.outcome)).count();
    let failures = count(|outcome| matches!(outcome, TestOutcome::Wrong(..)));
    let errors = count(|outcome| matches!(outcome, TestOutcome::Unchecked(_)));
    let took: Duration = cases.iter().map(|case| case.took).sum();
    let counts = format!(
        "name=\"loggp check\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\"",
        cases.len(),
        took.as_secs_f64()
    );
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n");
    let _ = writeln!(text, "  <testsuite {counts} skipped=\"0\">");
    for TestCase { name, took, outcome, stderr } in cases {
        let name = escaped(name);
        let seconds = took.as_secs_f64();
        let _ =
            write!(text, "    <testcase classname=\"loggp.check\" name=\"{name}\" time=\"{seconds:.3}\">");
        let line = |why: &str| escaped(why.lines().next().unwrap_or_default());
        let _ = match outcome {
            TestOutcome::Right => Ok(()),
            TestOutcome::Wrong(kind, why) => {
                let (kind, first, all) = (escaped(kind), line(why), escaped(why));
                write!(text, "\n      <failure type=\"{kind}\" message=\"{first}\">{all}</failure>")
            }
            TestOutcome::Unchecked(why) => {
                write!(
                    text,
                    "\n      <error type=\"not checked\" message=\"{}\">{}</error>",
                    line(why),
                    escaped(why)
                )
            }
        };
        if !stderr.is_empty() {
            let _ = write!(text, "\n      <system-err>{}</system-err>", escaped(&stderr.join("\n")));
        }
        let _ = match (outcome, stderr) {
            (TestOutcome::Right, []) => writeln!(text, "</testcase>"),
            _ => writeln!(text, "\n    </testcase>"),
        };
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// Returns a text as XML may have it in an attribute or between tags.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            // XML has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_have_is_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{1b}[0m\n"), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}[0m\n");
    }

    #[test]
    fn cases_are_counted() {
        let wrong = TestOutcome::Wrong("crash".into(), "crash: rank 0\nmore".into());
        let outcomes = [TestOutcome::Right, wrong, TestOutcome::Unchecked("no".into())];
        let took = Duration::from_millis(250);
        let text =
            write(&outcomes.each_ref().map(|outcome| TestCase { name: "a", took, outcome, stderr: &[] }));
        assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"1\" time=\"0.750\""), "{text}");
        assert!(
            text.contains("<failure type=\"crash\" message=\"crash: rank 0\">crash: rank 0\nmore</failure>")
        );
    }
}
