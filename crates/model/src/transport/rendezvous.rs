//! Long messages, to which their receivers have to agree (LogGPS, section 3.1), and who moves them.

use serde::{Deserialize, Serialize};

use super::capacity::Capacity;
use crate::message::{MessageId, RawTag};
use crate::params::{Params, ParamsError};
use crate::text::names;

names!(Protocol: "push" Push "pull" Pull);

/// The way in which a message of more than S words moves (LogGPS, section 3.1), once its receiver has taken the
/// announcement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// The receiver grants it, and the sender's next step sends it, as over TCP.
    #[default]
    Push,
    /// The receiver reads it from the sender's memory, and the sender takes no part, as network cards and Open MPI's
    /// single copy through shared memory do.
    Pull,
}

impl Protocol {
    /// The values by name, with what each means.
    #[doc(hidden)]
    pub const MEANINGS: &[(&str, &str)] = &[
        ("push", "Its sender, in its next step, as over TCP"),
        ("pull", "Its receiver, while the sender does something else, as network cards and shared memory do"),
    ];

    /// Returns whether receivers read long messages from their senders' memories.
    #[doc(hidden)]
    pub fn is_read(self) -> bool {
        self == Protocol::Pull
    }

    /// Returns the setting after a comma; empty for the default.
    pub fn setting(self) -> &'static str {
        if self.is_read() { ", receivers pull" } else { "" }
    }

    /// Refuses it on a machine with these parameters and a capacity that does not go with it.
    pub(super) fn check<'a>(
        self,
        mut all: impl Iterator<Item = &'a Params>,
        capacity: Capacity,
    ) -> Result<(), ParamsError> {
        let sentence = if self == Protocol::Push {
            return Ok(());
        } else if capacity.lasts_until_received() {
            "data that their receiver pulls leave without a send, so they cannot be in transit until they are received; \
             let messages be in transit until they arrive, or let data be pushed"
        } else if all.any(Params::has_negative_G_l) {
            "a negative G_l lets data travel while their sender is busy with them, and it is not where their receiver \
             pulls them; let them be pushed, or give G_l of 0 or more"
        } else {
            return Ok(());
        };
        Err(ParamsError::new(sentence))
    }
}

/// A read of a message from its sender's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRead {
    /// The message, whose number is the one after that of its announcement.
    pub message: MessageId,
    /// The number of its announcement in the tags of its grant and of itself.
    pub announced: u32,
    pub words: u32,
}

impl DataRead {
    /// Returns the tag of the data.
    pub fn tag(self) -> RawTag {
        RawTag::granted(self.announced)
    }
}
