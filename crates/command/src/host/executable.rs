//! Programs of this computer.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns the file of a program: of a path, or of a name that a folder of `PATH` has.
pub fn find_program(word: impl AsRef<OsStr>) -> Option<PathBuf> {
    let path = Path::new(word.as_ref());
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_path_buf());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
}
