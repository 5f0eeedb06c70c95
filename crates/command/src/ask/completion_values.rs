//! Values of arguments that shells can complete. Other values are accepted here, and refused with the nearest
//! name where they are looked up.

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use loggp::params::presets;
use loggp_goal::patterns::{PATTERNS, collective_names};
use loggp_programs::Program;

/// A value parser that reads as another does, and tells shells possible values.
#[derive(Clone)]
pub struct CompletionValues<Parser> {
    parser: Parser,
    /// Possible values, each with its meaning.
    names: Vec<(&'static str, String)>,
}

/// Creates a parser that reads as `parser` does, with these names as possible values, each with its meaning.
pub fn completed<Parser>(
    parser: Parser,
    names: impl Iterator<Item = (&'static str, impl Into<String>)>,
) -> CompletionValues<Parser> {
    CompletionValues { parser, names: names.map(|(name, about)| (name, about.into())).collect() }
}

impl<Parser: TypedValueParser> TypedValueParser for CompletionValues<Parser> {
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

/// Returns a parser for the name of an algorithm of this program.
pub fn algorithm(program: &Program) -> impl TypedValueParser<Value = String> {
    let algorithms = program.algorithms.iter();
    completed(StringValueParser::new(), algorithms.map(|algorithm| (algorithm.name, algorithm.about)))
}

/// Returns a parser for the name of a machine, or of a file.
pub fn machine() -> impl TypedValueParser<Value = String> {
    completed(StringValueParser::new(), presets().iter().map(|preset| (preset.name, preset.about)))
}

/// Returns a parser for the name of a pattern of schedules.
pub fn pattern() -> impl TypedValueParser<Value = String> {
    static COLLECTIVES: LazyLock<Vec<(String, &str)>> = LazyLock::new(|| collective_names().collect());
    let patterns = PATTERNS.iter().map(|pattern| (pattern.name, pattern.about));
    let collectives = COLLECTIVES.iter().map(|(name, about)| (name.as_str(), *about));
    completed(StringValueParser::new(), patterns.chain(collectives))
}
