//! What `loggp doctor` says of this computer.

/// The finding about a subject.
pub struct Diagnosis {
    pub subject: &'static str,
    /// True if it is as runs on the wall clock need it; `None` if they do not need it.
    pub good: Option<bool>,
    pub found: String,
    /// A sentence on what to do.
    pub advice: String,
}
