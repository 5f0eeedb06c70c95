//! The folder of this command.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The folder, if it is not that of the process's own file.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder, before the command begins.
pub fn set_folder(folder: PathBuf) {
    FOLDER.get_or_init(|| folder);
}

/// Returns the folder, if it is known.
pub fn own_folder() -> Option<PathBuf> {
    let own = || Some(env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_path_buf());
    FOLDER.get().cloned().or_else(own)
}
