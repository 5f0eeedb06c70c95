//! `loggp completions`: scripts with which shells complete the command line.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};

use crate::ask::arguments::binary_name;
use crate::error::CliError;

/// Print a script that lets a shell complete requests
#[derive(Args)]
#[command(after_help = "Examples:
  loggp completions bash
  loggp completions fish")]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    /// Prints the shell's script.
    pub(crate) fn execute(&self, definition: &clap::Command, out: &mut dyn Write) -> Result<(), CliError> {
        let mut command = definition.clone();
        let name = binary_name();
        let subcommands: Vec<String> =
            command.get_subcommands().map(|subcommand| subcommand.get_name().to_string()).collect();
        // `man` takes the name of a subcommand, and only here is the list of them complete.
        command = command.mut_subcommand("man", |man| {
            man.mut_arg("subcommand", |subcommand| {
                subcommand.value_parser(PossibleValuesParser::new(subcommands))
            })
        });
        // Into memory first: `generate` panics if stdout is closed.
        let mut script = Vec::new();
        generate(self.shell, &mut command, name, &mut script);
        Ok(out.write_all(&script)?)
    }
}
