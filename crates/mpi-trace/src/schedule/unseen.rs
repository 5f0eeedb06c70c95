//! The part of a program that its schedule does not say: calls that are not modelled, and what looks might have found at other times.

use super::thread::VainLooks;
use crate::call::{CallKind, Unmodelled, WaitForm};

/// The part of a program that its schedule does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Calls that are not modelled: mostly they exchange messages, and here they are computing.
    pub calls: Vec<Unmodelled>,
    /// Tests and probes that found nothing, and after which a rank did something else than to wait.
    pub vain_looks: u64,
    /// The time inside of these.
    pub vain_ns: i64,
    /// Tests and probes that found something, but for tests that only ended a wait.
    pub found_looks: u64,
}

impl Unseen {
    /// Returns whether the time of the run on another machine hangs on what was not recorded.
    pub fn is_open(&self) -> bool {
        !self.calls.is_empty() || self.vain_looks > 0
    }

    /// Adds calls of a rank that are not modelled.
    pub(super) fn add_calls(&mut self, calls: &Unmodelled) {
        match self.calls.iter_mut().find(|known| known.name == calls.name) {
            Some(known) => {
                known.count = known.count.saturating_add(calls.count);
                let inside_ns = known.inside_ns.zip(calls.inside_ns);
                known.inside_ns = inside_ns.map(|(one, other)| one.saturating_add(other));
            }
            None => self.calls.push(calls.clone()),
        }
    }

    pub(super) fn add_vain(&mut self, looks: Option<VainLooks>) {
        if let Some(VainLooks { count, inside_ns, .. }) = looks {
            self.vain_looks = self.vain_looks.saturating_add(count);
            self.vain_ns = self.vain_ns.saturating_add(inside_ns);
        }
    }

    /// Adds a call that looked and found something. If it `ends_wait`, the looks before it did nothing but wait; then it
    /// is open only which one of several it found.
    pub(super) fn add_found(&mut self, kind: &CallKind, ends_wait: bool) {
        let is_open = match kind {
            CallKind::Complete { form: WaitForm::Test | WaitForm::Testall, .. } => !ends_wait,
            CallKind::Complete { form: WaitForm::Testany | WaitForm::Testsome, .. } => true,
            CallKind::Probe { is_wait, .. } => !is_wait,
            _ => false,
        };
        self.found_looks += u64::from(is_open);
    }
}
