//! The version of the command: its number, the features that it was built with, and its commit.

/// The commit, or the reason why none is named; the build script finds it.
pub(crate) const COMMIT: &str = env!("LOGGP_COMMIT");

/// The features, each with whether the command has it.
pub(crate) const FEATURES: &str = match (cfg!(feature = "mpi"), cfg!(feature = "python")) {
    (true, true) => "mpi yes, python yes",
    (true, false) => "mpi yes, python no",
    (false, true) => "mpi no, python yes",
    (false, false) => "mpi no, python no",
};

/// Returns what `loggp --version` prints behind the name.
pub(crate) fn text() -> String {
    format!("{}\nfeatures: {FEATURES}\ncommit: {COMMIT}", env!("CARGO_PKG_VERSION"))
}
