//! Communicators as all ranks know them, and the tags that tell messages of different ones apart.
//!
//! A schedule has one space of tags. Messages of the world keep theirs, and its collectives have numbers from 2^30
//! on. Every other pair of a communicator and a tag gets a number from 2^31 on when it comes first.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::call::Communicator;

/// The number of the world.
pub(super) const WORLD: u32 = 0;
/// The first tag of the world's collectives.
const COLLECTIVES: u32 = 1 << 30;
/// The first tag of pairs.
const PAIRS: u32 = 1 << 31;
/// The first tag of collectives of other communicators.
const OTHER_COLLECTIVES: u32 = 3 << 30;
/// Collectives of one communicator that are under way at once have different tags if they are not more than this.
const AT_ONCE: u32 = 4096;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// A message of the program.
    Message,
    /// A message of the program, to a rank that receives with any tag only.
    AnyMessage,
    /// An answer to a synchronous send: its message was taken.
    Answer,
    /// A message of the persistent collective that has this number among its communicator's.
    Persistent,
}

/// With which tags ranks receive on their communicators, where it is not known what receives took: by the rank and the
/// communicator's number, whether with any tag and whether with certain ones.
#[derive(Debug, Default)]
pub(super) struct AskedTags(FxHashMap<(u32, u32), (bool, bool)>);

impl AskedTags {
    /// Notes with which tag, or with any, a rank receives on a communicator.
    pub(super) fn note(&mut self, rank: u32, communicator: u32, tag: Option<i32>) {
        let (any, certain) = self.0.entry((rank, communicator)).or_default();
        *any |= tag.is_none();
        *certain |= tag.is_some();
    }

    /// Returns where ranks receive with any tag only.
    pub(super) fn one_tag(&self) -> FxHashSet<(u32, u32)> {
        self.0.iter().filter(|(_, (any, certain))| *any && !*certain).map(|(at, _)| *at).collect()
    }
}

/// What all ranks know alike of a communicator.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    /// The parent's number; of an intercommunicator none.
    parent: u32,
    number_at_parent: u64,
    members: Vec<u32>,
    remote: Vec<u32>,
}

/// The communicators and tags of a program.
#[derive(Debug, Default)]
pub struct TagTable {
    communicators: FxHashMap<Identity, u32>,
    pairs: FxHashMap<(Use, u32, i32), u32>,
    /// The pairs in the order of their tags.
    by_tag: Vec<(Use, u32, i32)>,
}

impl TagTable {
    /// Returns the number of a communicator, given that of its parent. Of intercommunicators with the same groups,
    /// `earlier` had been made before at the rank.
    pub(super) fn number(&mut self, communicator: &Communicator, parent: u32, earlier: u64) -> u32 {
        let Communicator { members, remote, number_at_parent, .. } = communicator;
        let identity = match remote {
            None => Identity {
                parent,
                number_at_parent: *number_at_parent,
                members: members.clone(),
                remote: Vec::new(),
            },
            // Each group sees itself first, and they may have come from different parents.
            Some(remote) => Identity {
                parent: u32::MAX,
                number_at_parent: earlier,
                members: members.clone().min(remote.clone()),
                remote: members.clone().max(remote.clone()),
            },
        };
        let next = self.communicators.len() as u32 + 1;
        *self.communicators.entry(identity).or_insert(next)
    }

    /// Returns the schedule's tag for a message.
    #[inline]
    pub(super) fn tag(&mut self, what: Use, communicator: u32, tag: i32) -> u32 {
        match u32::try_from(tag) {
            Ok(tag) if communicator == WORLD && what == Use::Message && tag < COLLECTIVES => tag,
            _ => self.pair(what, communicator, tag),
        }
    }

    fn pair(&mut self, what: Use, communicator: u32, tag: i32) -> u32 {
        let by_tag = &mut self.by_tag;
        *self.pairs.entry((what, communicator, tag)).or_insert_with(|| {
            by_tag.push((what, communicator, tag));
            // After 2^30 of them they begin again: messages are matched in their order all the same.
            PAIRS + (by_tag.len() - 1) as u32 % COLLECTIVES
        })
    }

    /// Returns the tag of a communicator's collective with this number.
    pub(super) fn of_collective(&self, communicator: u32, number: u64) -> u32 {
        match communicator {
            WORLD => COLLECTIVES + (number % u64::from(COLLECTIVES)) as u32,
            other => {
                let slot = u64::from(other) * u64::from(AT_ONCE) + number % u64::from(AT_ONCE);
                OTHER_COLLECTIVES + (slot % u64::from(COLLECTIVES - 1)) as u32
            }
        }
    }

    /// Returns what a tag of the schedule is in the program.
    pub(super) fn describe(&self, tag: u32) -> String {
        match self.by_tag.get(tag.wrapping_sub(PAIRS) as usize) {
            Some((Use::Persistent, ..)) => "a persistent collective".into(),
            Some((_, WORLD, tag)) => format!("tag {tag}"),
            Some((_, communicator, tag)) => format!("tag {tag} of communicator {communicator}"),
            None if (COLLECTIVES..PAIRS).contains(&tag) => format!("collective {}", tag - COLLECTIVES),
            None if tag >= OTHER_COLLECTIVES => "a collective".into(),
            None => format!("tag {tag}"),
        }
    }
}
