//! The names that the command knows, for a shell to complete. A name that it does not know is refused where it is looked
//! up, with the nearest one.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use loggp::presets;
use loggp_goal::patterns::PATTERNS;
use loggp_papers::exhibits;
use loggp_programs::Program;
use loggp_programs::stress::STRESS;

/// Reads as another parser does, and tells shells which values there are.
#[derive(Clone)]
pub struct Known<Parser> {
    /// Reads a value.
    parser: Parser,
    /// The names, with what they mean.
    names: Vec<(&'static str, String)>,
}

impl<Parser> Known<Parser> {
    /// What this parser reads, and these names of it.
    pub fn new(parser: Parser, names: impl Iterator<Item = (&'static str, String)>) -> Known<Parser> {
        Known { parser, names: names.collect() }
    }
}

impl<Parser: TypedValueParser> TypedValueParser for Known<Parser> {
    type Value = Parser::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Parser::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |(name, about): &(&'static str, String)| PossibleValue::new(*name).help(about.clone());
        Some(Box::new(self.names.iter().map(value)))
    }
}

/// The name of an algorithm of this program.
pub fn algorithm(program: &Program) -> impl TypedValueParser<Value = String> {
    let names = program.algorithms.iter().map(|algorithm| (algorithm.name, algorithm.about.into()));
    Known::new(StringValueParser::new(), names)
}

/// The id of an exhibit, or a pattern.
pub fn exhibit() -> impl TypedValueParser<Value = String> {
    let names = exhibits().map(|(paper, exhibit)| (exhibit.id, format!("{}: {}", paper.name, exhibit.title)));
    Known::new(StringValueParser::new(), names)
}

/// The name of a machine, or of a file.
pub fn machine() -> impl TypedValueParser<Value = String> {
    let names = presets().iter().map(|preset| (preset.name, preset.about.into()));
    Known::new(StringValueParser::new(), names)
}

/// The name of a pattern of a schedule.
pub fn pattern() -> impl TypedValueParser<Value = String> {
    Known::new(StringValueParser::new(), PATTERNS.iter().map(|pattern| (pattern.name, pattern.about.into())))
}

/// The name of a pattern that stresses a machine.
pub fn stress() -> impl TypedValueParser<Value = String> {
    let names = STRESS.algorithms.iter().map(|algorithm| (algorithm.name, algorithm.about.into()));
    Known::new(StringValueParser::new(), names)
}
