//! The version of the command: its number, the features that it was built with, and its commit.

use crate::annex;

/// The commit, or the reason why none is named; the build script finds it.
pub(crate) const COMMIT: &str = env!("LOGGP_COMMIT");

/// Returns the features, each with whether the command has it.
pub(crate) fn features() -> String {
    let features = [
        ("papers", annex::has_feature("papers")),
        ("mpi", annex::has_feature("mpi")),
        ("mpi-link", annex::real_machine().is_some()),
        ("pictures", cfg!(feature = "pictures")),
        ("python", cfg!(feature = "python")),
    ];
    features.map(|(name, is_built)| format!("{name} {}", if is_built { "yes" } else { "no" })).join(", ")
}

/// Returns what `loggp --version` prints behind the name.
pub(crate) fn text() -> String {
    format!("{}\nfeatures: {}\ncommit: {COMMIT}", env!("CARGO_PKG_VERSION"), features())
}
