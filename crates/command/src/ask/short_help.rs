//! The short help: `-h` shows the common options of a command that has many, and `--help` all of them.

use clap::{Arg, Command};

/// The most options that `-h` shows all of.
const MOST: usize = 12;

/// The options that most requests need, by their ids.
const COMMON: &[&str] = &[
    "help",
    "machine",
    "params",
    "P",
    "size",
    "over",
    "clock",
    "format",
    "output",
    "trace",
    "draw",
    "beside",
    "what_if",
    "open",
    "parameter",
    "runs",
    "strategy",
    "losses",
    "crashes",
    "find",
    "from",
    "rules",
    "list",
    "full",
    "fan_out",
    "traffic",
    "load",
    "rate",
    "all",
];

/// Leaves the options that few requests need out of the short help of a command that has many.
pub fn shorten(command: Command) -> Command {
    if command.get_arguments().count() <= MOST {
        return command;
    }
    command.mut_args(|option: Arg| {
        let is_common = option.is_positional() || COMMON.contains(&option.get_id().as_str());
        option.hide_short_help(!is_common)
    })
}
