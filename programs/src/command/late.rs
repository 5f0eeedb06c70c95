//! How a report says that this computer did not keep up with a run: a mark in the table, a line below it that says
//! what the mark means, and a warning. In JSON and CSV it is `held`, which is false then.
//!
//! The exit status does not change: the result is right, and what was measured says of itself that it is not.

use std::io::{self, Write};

/// What the mark in a table means.
pub const NOTE: &str = "late: this computer did not keep up with the run, so do not trust its time";

/// Says on stderr which runs were late, if any were, and what helps.
pub fn warn(late: &[&str]) {
    if late.is_empty() {
        return;
    }
    drop(writeln!(
        io::stderr(),
        "warning: this computer was late: {}; a larger --dilation or --cycle, fewer processors or an otherwise idle \
         computer would help",
        late.join(", ")
    ));
}
