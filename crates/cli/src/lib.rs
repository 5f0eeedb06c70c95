//! The command `loggp`: the main house, and the annexes that features put in.

use std::ffi::OsString;
use std::path::PathBuf;

use loggp_command::annex::Annex;

/// The annexes of this build.
pub const ANNEXES: &[Annex] = &[
    #[cfg(feature = "papers")]
    loggp_papers::ANNEX,
    #[cfg(feature = "mpi")]
    loggp_mpi::ANNEX,
];

/// Carries out a command line, whose first word is the command's name, and returns the exit status. This is all that
/// the process is for: signals end it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    loggp_command::main_with(ANNEXES, words)
}

/// As [`main`], of a command in a folder that is not that of the process's own file: Python carries it out.
pub fn main_in(folder: PathBuf, words: impl IntoIterator<Item = OsString>) -> u8 {
    loggp_command::host::folder::set_folder(folder);
    main(words)
}
