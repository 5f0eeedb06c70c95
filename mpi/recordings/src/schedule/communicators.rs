//! The communicators of a rank while its schedule is written.

use rustc_hash::FxHashMap;

use super::tags::{TagTable, WORLD};
use crate::call::Communicator;
use crate::error::ProgramError;

/// From this number at its parent on not all ranks of the parent took part when a communicator was made.
const OF_SOME: u64 = 1 << 32;

/// A communicator of a rank.
#[derive(Clone, Debug)]
pub struct KnownCommunicator {
    /// Its number, which is the same on all its ranks.
    pub number: u32,
    pub members: Vec<u32>,
    pub remote: Option<Vec<u32>>,
    /// This rank's index among the members.
    pub me: usize,
    pub destinations: Vec<Option<u32>>,
    pub sources: Vec<Option<u32>>,
    /// True if not all ranks of its parent took part when it was made.
    pub is_of_some: bool,
    /// The number of collectives so far, and a hash of what they were.
    pub collectives: u64,
    pub hash: u64,
    /// The same of the starts of each persistent collective.
    pub persistent: FxHashMap<u64, (u64, u64)>,
}

impl KnownCommunicator {
    /// Returns the number of its ranks: of both groups, if there are two.
    pub fn size(&self) -> usize {
        self.members.len() + self.remote.as_ref().map_or(0, Vec::len)
    }
}

/// The communicators of a rank, by the rank's own numbers.
#[derive(Debug, Default)]
pub struct CommunicatorList {
    known: Vec<KnownCommunicator>,
    /// How many intercommunicators had the same groups.
    earlier: FxHashMap<(Vec<u32>, Vec<u32>), u64>,
}

impl CommunicatorList {
    /// Adds the communicators that have come since.
    pub fn add(
        &mut self,
        communicators: &[Communicator],
        tags: &mut TagTable,
        rank: usize,
        P: usize,
    ) -> Result<(), ProgramError> {
        for communicator in communicators.iter().skip(self.known.len()) {
            let known = self.read(communicator, tags, rank, P)?;
            self.known.push(known);
        }
        Ok(())
    }

    fn read(
        &mut self,
        communicator: &Communicator,
        tags: &mut TagTable,
        rank: usize,
        P: usize,
    ) -> Result<KnownCommunicator, ProgramError> {
        let Communicator { members, remote, parent, .. } = communicator;
        let number = self.known.len();
        let refuse = |what: String| ProgramError::of_rank(rank, format!("communicator {number} {what}"));
        let is_rank = |member: &u32| (*member as usize) < P;
        let all = members.iter().chain(remote.iter().flatten());
        let neighbours = communicator.destinations.iter().chain(&communicator.sources);
        if let Some(odd) = all.chain(neighbours.flatten()).find(|member| !is_rank(member)) {
            return Err(refuse(format!("has rank {odd}, and there are ranks 0 to {}", P - 1)));
        }
        let Some(me) = members.iter().position(|member| *member as usize == rank) else {
            return Err(refuse("does not have the rank itself".into()));
        };
        let parent = self.known.get(*parent as usize).map_or(WORLD, |parent| parent.number);
        let is_world = number == 0 && remote.is_none();
        let number = if is_world {
            WORLD
        } else {
            let earlier = match remote {
                None => 0,
                Some(remote) => {
                    let groups = (members.clone().min(remote.clone()), members.clone().max(remote.clone()));
                    let count = self.earlier.entry(groups).or_insert(0);
                    *count += 1;
                    *count - 1
                }
            };
            tags.number(communicator, parent, earlier)
        };
        Ok(KnownCommunicator {
            number,
            members: members.clone(),
            remote: remote.clone(),
            me,
            destinations: communicator.destinations.clone(),
            sources: communicator.sources.clone(),
            is_of_some: communicator.number_at_parent >= OF_SOME,
            collectives: 0,
            hash: 0,
            persistent: FxHashMap::default(),
        })
    }

    /// Returns a communicator, or an error if there is none.
    #[inline]
    pub fn get(&mut self, number: u32, rank: usize) -> Result<&mut KnownCommunicator, ProgramError> {
        let count = self.known.len();
        self.known.get_mut(number as usize).ok_or_else(|| {
            ProgramError::of_rank(
                rank,
                format!("a call names communicator {number}, and the rank has {count}"),
            )
        })
    }

    /// Returns the number of communicators.
    #[allow(clippy::len_without_is_empty)] // the world is always there
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns all communicators.
    pub fn iter(&self) -> impl Iterator<Item = &KnownCommunicator> {
        self.known.iter()
    }
}
