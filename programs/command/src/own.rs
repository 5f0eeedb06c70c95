//! The options that programs have of their own, as `--NAME VALUE`.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use loggp_programs::{PROGRAMS, Program, ProgramOption};

use super::failure::Failure;

/// The values that were given, by the options' names.
pub struct OwnOptions(Vec<(&'static str, String)>);

impl OwnOptions {
    /// The values of all options of a program. Refuses one that it does not have.
    pub fn of(&self, program: &Program) -> Result<Vec<(&'static str, String)>, Failure> {
        let has = |name: &str| program.options.iter().any(|option| option.name == name);
        if let Some((name, _)) = self.0.iter().find(|(name, _)| !has(name)) {
            let who: Vec<&str> = owners(name).map(|program| program.name).collect();
            return Err(Failure::Request(format!(
                "--{name} is for {}; leave it out, as {} has no use for it",
                who.join(" and "),
                program.name
            )));
        }
        let value = |option: &ProgramOption| {
            let given = self.0.iter().find(|(name, _)| *name == option.name);
            (option.name, given.map_or(option.default.into(), |(_, value)| value.clone()))
        };
        Ok(program.options.iter().map(value).collect())
    }

    /// Whether a value was given for this option.
    pub fn gives(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| *other == name)
    }
}

/// The programs that have this option.
fn owners(name: &str) -> impl Iterator<Item = &'static Program> {
    let has = move |program: &&Program| program.options.iter().any(|option| option.name == name);
    PROGRAMS.iter().copied().filter(has)
}

/// The value of this option unless told; where programs differ, that of each.
fn defaults(name: &str) -> String {
    let of = |program: &'static Program| {
        let option = program.options.iter().find(|option| option.name == name);
        option.map(|option| (program.name, option.default))
    };
    let defaults: Vec<(&str, &str)> = owners(name).filter_map(of).collect();
    match defaults.split_first() {
        Some(((_, first), rest)) if rest.iter().all(|(_, default)| default == first) => first.to_string(),
        _ => {
            let each = |(program, default): &(&str, &str)| format!("{default} for {program}");
            defaults.iter().map(each).collect::<Vec<String>>().join(", ")
        }
    }
}

/// Every name once: programs that share a name share its meaning.
fn all() -> Vec<&'static ProgramOption> {
    let mut all: Vec<&ProgramOption> = Vec::new();
    for option in PROGRAMS.iter().flat_map(|program| program.options) {
        if !all.iter().any(|other| other.name == option.name) {
            all.push(option);
        }
    }
    all
}

impl Args for OwnOptions {
    fn augment_args(command: Command) -> Command {
        let argument = |option: &'static ProgramOption| {
            let check = option.check;
            let who: Vec<&str> = owners(option.name).map(|program| program.name).collect();
            let default = match defaults(option.name) {
                default if default.is_empty() => String::new(),
                default => format!(" [default: {default}]"),
            };
            Arg::new(option.name)
                .long(option.name)
                .value_name(option.value)
                .allow_hyphen_values(true)
                .value_parser(move |text: &str| check(text).map(|()| text.to_string()))
                .help(format!("Of {}: {}{default}", who.join(" and "), option.about))
                .help_heading("Program")
        };
        command.args(all().into_iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        OwnOptions::augment_args(command)
    }
}

impl FromArgMatches for OwnOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<OwnOptions, clap::Error> {
        let given = |option: &'static ProgramOption| {
            matches.get_one::<String>(option.name).map(|value| (option.name, value.clone()))
        };
        Ok(OwnOptions(all().into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = OwnOptions::from_arg_matches(matches)?;
        Ok(())
    }
}
