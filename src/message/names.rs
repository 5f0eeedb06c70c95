//! What a run's tags are called. Messages and receives carry their tags' numbers alone; the names are kept here, for the errors
//! that say that nobody received a message, or that a processor waits for one.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::tag::{NamedTag, RawTag};

/// The names of the tags with which processors have sent and received.
pub(crate) struct Names {
    /// The number and the name that came last, at the place of the number: a tag that is sent again costs a look.
    last: [AtomicU64; Names::PLACES],
    /// All that came.
    all: Mutex<BTreeSet<(u16, &'static str)>>,
}

impl Names {
    const PLACES: usize = 64;

    /// Notes what a tag is called with which something is sent or received.
    #[inline]
    pub(crate) fn hear(&self, (tag, name): NamedTag) {
        if let Some(name) = name {
            let number = tag.user_number();
            let heard = name.as_ptr().addr() as u64 ^ u64::from(number) << 48;
            let last = &self.last[usize::from(number) % Names::PLACES];
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

    /// What errors say of a message with this tag.
    pub(crate) fn told(&self, tag: RawTag) -> String {
        tag.told(self.of(tag).as_deref()).to_string()
    }

    /// What the tag is called. If different tags of a program have its number, it has all their names.
    pub(crate) fn of(&self, tag: RawTag) -> Option<String> {
        let (number, all) = (tag.user_number(), self.all.lock());
        let names = all.range((number, "")..).take_while(|(of, _)| *of == number);
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        (!names.is_empty()).then(|| names.join(" or "))
    }
}

impl Default for Names {
    fn default() -> Names {
        Names { last: std::array::from_fn(|_| AtomicU64::new(0)), all: Mutex::default() }
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.all.lock().fmt(f)
    }
}
