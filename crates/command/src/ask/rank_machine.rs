//! The machine for so many ranks.

use std::num::NonZeroUsize;

use super::choice::{MachineChoice, is_parameter_given, partial_machine};
use super::levels::LevelOptions;
use super::options::ChoiceOptions;
use crate::error::CliError;

/// Returns the machine for so many ranks that the options choose. Without a name its words are bytes.
pub fn machine_for(
    options: &ChoiceOptions,
    levels: &LevelOptions,
    ranks: usize,
) -> Result<MachineChoice, CliError> {
    let machine = partial_machine(options, Some(ranks))?;
    let file_levels = machine.levels.clone();
    let mut choice = machine.complete(options)?;
    if choice.name.is_none() && !is_parameter_given(options, "word") {
        choice.params.word = NonZeroUsize::MIN;
    }
    choice.levels = levels.build(&file_levels, &choice.params).map_err(CliError::Request)?;
    choice.machine().check().map_err(CliError::request)?;
    Ok(choice)
}
