//! `loggp completions`: what a shell needs to complete requests.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};

use super::failure::Failure;

/// The arguments.
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the shell's script for this command line.
    pub fn execute(&self, mut command: clap::Command, out: &mut dyn Write) -> Result<(), Failure> {
        let name = command.get_name().to_string();
        let subcommands: Vec<String> =
            command.get_subcommands().map(|subcommand| subcommand.get_name().to_string()).collect();
        // Only here, as the list of the subcommands cannot be in one of them.
        command = command.mut_subcommand("man", |man| {
            man.mut_arg("subcommand", |subcommand| {
                subcommand.value_parser(PossibleValuesParser::new(subcommands))
            })
        });
        // Into memory first, for it panics where nobody reads.
        let mut script = Vec::new();
        generate(self.shell, &mut command, name, &mut script);
        Ok(out.write_all(&script)?)
    }
}
