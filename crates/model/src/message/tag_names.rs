//! The names of a run's tags. Messages and receives carry only the numbers of their tags; the names are kept
//! here for errors about messages that were not received and processors that wait.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::tag::{NamedTag, RawTag};

/// The names of the tags with which processors have sent and received.
pub struct TagNames {
    /// The number and name recorded last for each slot, so that recording a tag again costs only a look.
    last: [AtomicU64; TagNames::SLOTS],
    all: Mutex<BTreeSet<(u16, &'static str)>>,
}

impl TagNames {
    const SLOTS: usize = 64;

    /// Records the name of a tag that is sent or received.
    #[inline]
    pub fn record(&self, (tag, name): NamedTag) {
        if let Some(name) = name {
            let number = tag.user_number();
            let heard = name.as_ptr().addr() as u64 ^ u64::from(number) << 48;
            let last = &self.last[usize::from(number) % TagNames::SLOTS];
            if last.load(Ordering::Relaxed) != heard {
                self.note(number, name);
                last.store(heard, Ordering::Relaxed);
            }
        }
    }

    #[cold]
    fn note(&self, number: u16, name: &'static str) {
        self.all.lock().insert((number, name));
    }

    /// Returns the description of a message with this tag, for errors.
    pub fn describe(&self, tag: RawTag) -> String {
        tag.display(self.name(tag).as_deref()).to_string()
    }

    /// Returns the tag's name, or `None` if it has none. If tags of different names share its number, all are
    /// given.
    pub fn name(&self, tag: RawTag) -> Option<String> {
        let (number, all) = (tag.user_number(), self.all.lock());
        let names = all.range((number, "")..).take_while(|(of, _)| *of == number);
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        (!names.is_empty()).then(|| names.join(" or "))
    }
}

impl Default for TagNames {
    fn default() -> TagNames {
        TagNames { last: std::array::from_fn(|_| AtomicU64::new(0)), all: Mutex::default() }
    }
}

impl std::fmt::Debug for TagNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.all.lock().fmt(f)
    }
}
