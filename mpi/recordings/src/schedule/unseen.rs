//! What looks of a program found, which they might have found at other times, or not.

use loggp_schedule::program::Unseen;

use super::thread::VainLooks;
use crate::call::{MpiCallKind, WaitForm};

/// Adds looks in vain.
pub(super) fn add_vain(unseen: &mut Unseen, looks: Option<VainLooks>) {
    if let Some(VainLooks { count, inside_ns, .. }) = looks {
        unseen.vain_looks = unseen.vain_looks.saturating_add(count);
        unseen.vain_ns = unseen.vain_ns.saturating_add(inside_ns);
    }
}

/// Adds a call that looked and found something. If it `ends_wait`, the looks before it did nothing but wait; then it
/// is open only which one of several it found.
pub(super) fn add_found(unseen: &mut Unseen, kind: &MpiCallKind, ends_wait: bool) {
    let is_open = match kind {
        MpiCallKind::Complete { form: WaitForm::Test | WaitForm::Testall, .. } => !ends_wait,
        MpiCallKind::Complete { form: WaitForm::Testany | WaitForm::Testsome, .. } => true,
        MpiCallKind::Probe { is_wait, .. } => !is_wait,
        _ => false,
    };
    unseen.found_looks += u64::from(is_open);
}
