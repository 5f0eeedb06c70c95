//! The files to which links lead.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Limit of links that are followed; more are taken for a circle.
const MOST_LINKS: usize = 40;

/// Returns the canonical path of the file that `path` names. Links are followed, so that their target is
/// replaced and the link stays.
pub fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    let mut links = 0;
    while let Ok(to) = fs::read_link(&path) {
        links += 1;
        if links > MOST_LINKS {
            let sentence = "it is a link that leads to no file; give the name of one, new or old";
            return Err(io::Error::other(sentence));
        }
        path = parent_folder(&path).join(to);
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::other("it is not a name; give that of a file, new or old"));
    };
    let folder = parent_folder(&path).canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => io::Error::new(error.kind(), "its folder is not there; give one that is"),
        _ => error,
    })?;
    Ok(folder.join(name))
}

/// Returns the folder that contains `path`.
pub fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
