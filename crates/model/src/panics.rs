//! Where a panic of the program ends.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code of the program where nothing can be unwound, such as the destructor of one of its values: a panic
/// ends here, when it has been printed.
pub fn contain(code: impl FnOnce()) {
    // The payload may have a destructor that panics, too.
    _ = catch_unwind(AssertUnwindSafe(code)).map_err(std::mem::forget);
}
