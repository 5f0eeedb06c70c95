//! Names that live as long as the process: the library's tags and kinds of work have such names.

use std::collections::HashSet;

use parking_lot::Mutex;

/// Returns the name as one that lives as long as the process. Each different name is kept once.
pub fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(kept) = names.get(name) {
        return kept;
    }
    let kept: &'static str = name.to_owned().leak();
    names.insert(kept);
    kept
}
