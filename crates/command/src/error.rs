//! The errors of the command, and the exit status of each.

use std::io::{self, ErrorKind, Write};

use clap::error::{ContextKind, ErrorKind as Kind};
use loggp_model::text::escaped;
use loggp_study::StudyError;

use crate::number::thousands;
use crate::tell::style::colored;

/// An error of the command.
#[derive(Debug)]
pub enum CliError {
    /// The request was wrong: a sentence on what is wrong, and what would be right.
    Request(String),
    /// The run failed, or its result was wrong.
    Run(String),
    /// The command line is invalid, or asks for help.
    CommandLine(clap::Error),
    /// A program that the command started failed: its exit status, and a sentence.
    Program(u8, String),
    /// The reader of stdout closed it, as `| head` does.
    OutputClosed,
}

impl CliError {
    pub fn request(sentence: impl ToString) -> CliError {
        CliError::Request(sentence.to_string())
    }

    pub fn run(error: impl ToString) -> CliError {
        CliError::Run(error.to_string())
    }

    /// Returns the sentence of a wrong request or a failed run.
    pub fn into_sentence(self) -> Option<String> {
        match self {
            CliError::Request(why) | CliError::Run(why) => Some(why),
            _ => None,
        }
    }

    /// Prints on stderr why parts of a request are left out, each reason once and not more than some.
    pub fn warn_all(errors: Vec<CliError>) {
        /// How many reasons are said.
        const MOST: usize = 8;
        let reasons = merge_sentences(errors.into_iter().filter_map(CliError::into_sentence));
        reasons.iter().take(MOST).for_each(|why| say("left out: ", why));
        if reasons.len() > MOST {
            say("left out: ", &format!("{} more cases", thousands(reasons.len() - MOST)));
        }
    }

    /// Prints on stderr why a part of a request is left out.
    pub fn warn(self) {
        if let Some(why) = self.into_sentence() {
            say("left out: ", &why);
        }
    }

    /// Prints the error on stderr, or help on stdout, and returns the exit status.
    pub fn report(self) -> u8 {
        if let CliError::CommandLine(error) = &self
            && !error.use_stderr()
        {
            return match error.print().and_then(|()| io::stdout().flush()) {
                Err(why) => CliError::from(why).report(),
                Ok(()) => 0,
            };
        }
        let (begin, text, status) = match self {
            CliError::Request(sentence) => ("error: ", with_thousands(&sentence), 2),
            CliError::Run(error) => ("error: ", with_thousands(&error), 1),
            CliError::Program(status, sentence) => ("", sentence, status),
            CliError::CommandLine(error) => match command_line_sentence(&error) {
                Some(sentence) => ("error: ", sentence.trim_start_matches("error: ").to_string(), 2),
                None => {
                    drop(error.print());
                    return 2;
                }
            },
            CliError::OutputClosed => return 0,
        };
        say(begin, &text);
        status
    }
}

/// Returns a sentence with commas between the thousands of its numbers of five digits and more. Numbers that are part of
/// a command, a name or a seed stay as they are.
fn with_thousands(sentence: &str) -> String {
    let mut is_code = false;
    let mut last = "";
    let word = |word| {
        let was_code = is_code;
        is_code ^= str::matches(word, '`').count() % 2 == 1;
        let is_free = !was_code && !is_code && !last.starts_with('-') && !last.ends_with("seed");
        last = word;
        let digits = word.trim_end_matches([',', ';', '.', ':', ')']);
        let number = digits.parse::<u64>().ok().filter(|_| is_free && digits.len() > 4);
        number.map_or(word.into(), |number| thousands(number) + &word[digits.len()..])
    };
    sentence.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// Returns an error of the system as a part of a sentence, without its number and the names of drafts.
pub fn system_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = [" (os error ", " at path "].iter().filter_map(|part| text.find(part)).min();
    text[..end.unwrap_or(text.len())].into()
}

/// Returns a text without the numbers that the system gives its errors, which say what the words before them do, and
/// without the names of drafts.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let rest = part.split_once(')').map_or(part, |(_, rest)| rest);
        let draft = rest.strip_prefix(" at path \"").and_then(|path| path.split_once('"'));
        text + draft.map_or(rest, |(_, rest)| rest)
    })
}

/// Returns why bytes are no text.
pub fn no_text(why: &std::str::Utf8Error) -> String {
    format!("it is no text: byte {} is not UTF-8", why.valid_up_to())
}

/// Writes lines to stderr. They may quote files, paths and arguments, so control characters are escaped.
pub fn say(begin: &str, lines: &str) {
    let lines = without_error_numbers(lines);
    let lines = lines.split('\n').map(|line| escaped(line).max_chars(usize::MAX).to_string());
    // If stderr cannot be written, there is nowhere to report it.
    drop(writeln!(io::stderr(), "{}{}", colored(begin), lines.collect::<Vec<_>>().join("\n")));
}

/// Merges sentences of the form `subject: reason` that have the same reason into one with all the subjects.
pub fn merge_sentences(sentences: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for sentence in sentences {
        let (subject, reason) = sentence.split_once(": ").unwrap_or(("", &sentence));
        match reasons.iter_mut().find(|(other, _)| other == reason) {
            Some((_, subjects)) if subjects.iter().any(|other| other == subject) => (),
            Some((_, subjects)) => subjects.push(subject.into()),
            None => reasons.push((reason.into(), vec![subject.into()])),
        }
    }
    let join = |(reason, subjects): (String, Vec<String>)| match join_subjects(&subjects) {
        subject if subject.is_empty() => reason,
        subject => format!("{subject}: {reason}"),
    };
    reasons.into_iter().map(join).collect()
}

/// Joins subjects with commas. Words that all of them begin with or end with stand there once.
fn join_subjects(subjects: &[String]) -> String {
    let words: Vec<Vec<&str>> = subjects.iter().map(|subject| subject.split(' ').collect()).collect();
    let least = words.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
    let alike = |most: usize, word: &dyn Fn(&[&str], usize) -> String| {
        (0..most).take_while(|n| words.iter().all(|subject| word(subject, *n) == word(&words[0], *n))).count()
    };
    let before = alike(least, &|subject, n| subject[n].into());
    let behind = alike(least - before, &|subject, n| subject[subject.len() - 1 - n].into());
    let middle_words = |subject: &Vec<&str>| subject[before..subject.len() - behind].join(" ");
    let (first, last) = (&words[0][..before], &words[0][words[0].len() - behind..]);
    let middle = words.iter().map(middle_words).collect::<Vec<_>>().join(", ");
    [first.join(" "), middle, last.join(" ")]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

impl From<StudyError> for CliError {
    fn from(failed: StudyError) -> CliError {
        match failed {
            StudyError::Refused(why) => CliError::request(why),
            failed => CliError::run(failed),
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        match error.kind() {
            ErrorKind::BrokenPipe => CliError::OutputClosed,
            _ => CliError::Run(format!("the output cannot be written: {}", system_reason(&error))),
        }
    }
}

/// Returns what is wrong with a command line on one line, and then the usage and where the help is; `None` if it
/// asks for help.
fn command_line_sentence(error: &clap::Error) -> Option<String> {
    if matches!(error.kind(), Kind::DisplayHelp | Kind::DisplayVersion)
        || error.kind() == Kind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return None;
    }
    if error.kind() == Kind::ArgumentConflict
        && let Some(prior) = error.get(ContextKind::PriorArg)
        && prior.to_string().contains("<TRACE|PROGRAM>")
    {
        return Some(
            "error: give one trace, or one program; --beside FILE shows another trace below it".into(),
        );
    }
    let text = error.to_string();
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.starts_with("tip: to pass"));
    let (tail, sentence): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.starts_with("Usage:") || part.starts_with("For more"));
    let sentence = sentence.iter().map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let sentence = with_thousands(&sentence.collect::<Vec<_>>().join("; "));
    Some([sentence].into_iter().chain(tail.into_iter().map(String::from)).collect::<Vec<_>>().join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_commas() {
        for (given, said) in [
            ("give one from 1 to 16777216; or", "give one from 1 to 16,777,216; or"),
            ("`loggp run -P 65536` or 65536", "`loggp run -P 65536` or 65,536"),
            ("--seed 123456, seed 123456, a12345 4096", "--seed 123456, seed 123456, a12345 4096"),
        ] {
            assert_eq!(with_thousands(given), said);
        }
    }

    #[test]
    fn system_errors_have_no_numbers() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(system_reason(&error), "No such file or directory");
        let of_draft = io::Error::other("Permission denied (os error 13) at path \"/tmp/.x.abc\"");
        assert_eq!(system_reason(&of_draft), "Permission denied");
        assert_eq!(without_error_numbers("a: no (os error 2); b"), "a: no; b");
        assert_eq!(without_error_numbers("no (os error 2) at path \"/.x\"; b"), "no; b");
    }

    #[test]
    fn sentences_with_the_same_reason_are_merged() {
        let said = |sentences: &[&str]| merge_sentences(sentences.iter().map(ToString::to_string));
        assert_eq!(
            said(&[
                "fft long: it is odd",
                "fft short: it is odd",
                "fft short: it is small",
                "fft both: it is odd"
            ]),
            ["fft long, short, both: it is odd", "fft short: it is small"]
        );
        assert_eq!(said(&["a at P = 3 failed: no", "b at P = 3 failed: no"]), ["a, b at P = 3 failed: no"]);
        assert_eq!(said(&["at P = 3, P is odd", "at P = 3, P is odd"]), ["at P = 3, P is odd"]);
        assert_eq!(said(&["a: no", "a: no", "a b: no"]), ["a, a b: no"]);
        assert_eq!(said(&[]), [""; 0]);
    }
}
