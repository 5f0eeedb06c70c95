//! `loggp man`: manual pages, for the command and for each subcommand.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command, ValueHint};
use clap_mangen::Man;

use crate::ask::lookup;
use crate::error::CliError;
use crate::host::draft::{self, Draft};

/// Print the manual page of the command or of a subcommand, or write all
#[derive(Args)]
#[command(after_help = "Examples:
  loggp man
  loggp man -o .")]
pub(crate) struct ManCommand {
    /// Whose page to print, such as `run` or `run lu` [default: the command's own]
    #[arg(value_name = "SUBCOMMAND", conflicts_with = "output")]
    subcommand: Vec<String>,
    /// Write all pages into a folder
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
}

impl ManCommand {
    /// Prints a page, or writes all pages into a folder.
    pub(crate) fn execute(&self, definition: &Command, out: &mut dyn Write) -> Result<(), CliError> {
        // The subcommand `help` needs no page of its own.
        let mut command = definition.clone().disable_help_subcommand(true);
        command.build();
        if let Some(folder) = &self.output {
            let of_programs = command.get_subcommands().flat_map(Command::get_subcommands);
            let commands = std::iter::once(&command).chain(command.get_subcommands()).chain(of_programs);
            let page = |command: &Command| {
                let page = Man::new(command.clone());
                let draft = Draft::create(&folder.join(page.get_filename()), "page")?;
                Ok((draft, render(&page)?))
            };
            return draft::write_all(commands.map(page).collect::<Result<_, CliError>>()?);
        }
        let mut page = &command;
        for name in &self.subcommand {
            page = page.find_subcommand(name).ok_or_else(|| lookup::unknown_subcommand(name, page))?;
        }
        Ok(out.write_all(&render(&Man::new(page.clone()))?)?)
    }
}

/// Renders a page in the form that `man` reads.
fn render(page: &Man) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(text)
}
