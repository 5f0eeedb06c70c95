//! Communicators: a trace has the name, this rank's number and the size of each, and how it was made, but not
//! its members. They follow from what all ranks said when they made the communicator.
//!
//! A name that was not there before is that of the oldest new communicator that has no name yet, and in which the
//! rank has this number among so many.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::line::Handle;

/// A communicator that was made by a call, as one of its ranks knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
    pub members: Rc<[u32]>,
    /// Its number among all, which the members share.
    pub number: usize,
    /// The communicator from which it was made, by its number, and the number of those made from that before.
    pub parent: usize,
    pub number_at_parent: u64,
}

/// What a rank did with communicators, in its order.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommunicatorUse {
    /// The rank used a communicator whose name was new.
    Name(Handle),
    Split {
        parent: Handle,
        color: i64,
        key: i64,
    },
    /// The rank made a communicator with the same members, or one whose members are not said. The latter gets a name
    /// only if it has as many members as its parent.
    Copy {
        parent: Handle,
    },
}

/// The number of the communicator of all ranks.
pub(super) const WORLD: usize = 0;
/// `MPI_UNDEFINED`, in all libraries.
const UNDEFINED: i64 = -32766;

/// The communicators of a rank, by their names.
#[derive(Debug)]
pub(super) struct Names {
    me: u32,
    P: usize,
    named: FxHashMap<u64, (Handle, usize)>,
    /// The communicators that have no name so far.
    nameless: Vec<Made>,
    /// True if a name could be that of several.
    pub is_guessed: bool,
}

/// What a name stands for.
pub(super) enum Named {
    /// All ranks.
    World,
    /// A communicator that was made, and is used for the first time.
    New(Made),
    /// A communicator with this rank alone.
    Alone,
    Unknown,
}

impl Names {
    pub(super) fn new(me: usize, P: usize) -> Names {
        Names { me: me as u32, P, named: FxHashMap::default(), nameless: Vec::new(), is_guessed: false }
    }

    /// Adds a communicator, which gets its name when it is used.
    pub(super) fn add(&mut self, made: Made) {
        self.nameless.push(made);
    }

    /// Returns what a name stands for if that is known already.
    #[inline]
    pub(super) fn find(&self, handle: Handle) -> Option<usize> {
        self.named.get(&handle.name).filter(|(known, _)| *known == handle).map(|(_, number)| *number)
    }

    /// Returns what a new name stands for. Unless it is unknown, `set` must say its number.
    pub(super) fn resolve(&mut self, handle: Handle) -> Named {
        let Handle { rank, size, .. } = handle;
        let is_in = |made: &Made| {
            made.members.len() == size && made.members.get(rank).is_some_and(|member| *member == self.me)
        };
        if let Some(index) = self.nameless.iter().position(is_in) {
            let made = self.nameless.remove(index);
            self.is_guessed |=
                self.nameless.iter().any(|other| is_in(other) && other.members != made.members);
            return Named::New(made);
        }
        match (rank, size) {
            (rank, size) if (rank, size) == (self.me as usize, self.P) => Named::World,
            (0, 1) => Named::Alone,
            _ => Named::Unknown,
        }
    }

    /// Says which communicator a name stands for.
    pub(super) fn set(&mut self, handle: Handle, number: usize) {
        self.named.insert(handle.name, (handle, number));
    }
}

/// A rank while communicators are found.
struct FoundRank {
    names: Names,
    /// The next of its events.
    next: usize,
    /// The parent for which it waits, once it is known.
    waits_for: Option<usize>,
}

/// Returns for each rank the communicators that it made, in its order, from the events of all. `None` are those of
/// which the rank is no member.
pub(super) fn resolve(events: &[Vec<CommunicatorUse>]) -> Vec<Vec<Option<Made>>> {
    let P = events.len();
    let mut known: Vec<Rc<[u32]>> = vec![(0..P as u32).collect()];
    let mut children: Vec<u64> = vec![0];
    let state = |me| FoundRank { names: Names::new(me, P), next: 0, waits_for: None };
    let mut ranks: Vec<FoundRank> = (0..P).map(state).collect();
    let mut results: Vec<Vec<Option<Made>>> = vec![Vec::new(); P];
    let mut arrived: FxHashMap<usize, usize> = FxHashMap::default();
    let mut open: Vec<usize> = (0..P).rev().collect();
    while let Some(me) = open.pop() {
        let Some(parent) = ranks[me].advance(&events[me], &mut results[me]) else { continue };
        let count = arrived.entry(parent).or_insert(0);
        *count += 1;
        if *count < known[parent].len() {
            continue;
        }
        arrived.remove(&parent);
        let members = known[parent].clone();
        let number_at_parent = children[parent];
        children[parent] += 1;
        for group in groups(&members, &ranks, events) {
            let made = Made { members: group.clone(), number: known.len(), parent, number_at_parent };
            for member in &*group {
                results[*member as usize].push(Some(made.clone()));
                ranks[*member as usize].names.add(made.clone());
            }
            known.push(group);
            children.push(0);
        }
        for member in &*members {
            let state = &mut ranks[*member as usize];
            state.next += 1;
            state.waits_for = None;
            // Of which it is no member.
            results[*member as usize].resize(state.count_made(&events[*member as usize]), None);
        }
        open.extend(members.iter().map(|member| *member as usize));
    }
    results
}

impl FoundRank {
    /// Goes on to the next communicator that is made, and returns its parent, or `None` if the rank already waits or
    /// has made all.
    fn advance(&mut self, events: &[CommunicatorUse], result: &mut Vec<Option<Made>>) -> Option<usize> {
        if self.waits_for.is_some() {
            return None;
        }
        while let Some(event) = events.get(self.next) {
            let (CommunicatorUse::Name(handle)
            | CommunicatorUse::Split { parent: handle, .. }
            | CommunicatorUse::Copy { parent: handle }) = *event;
            let number = self.number(handle);
            match (event, number) {
                (CommunicatorUse::Name(_), _) => (),
                (_, Some(parent)) => {
                    self.waits_for = Some(parent);
                    return Some(parent);
                }
                // Made of one that is unknown or has this rank alone.
                (_, None) => result.push(None),
            }
            self.next += 1;
        }
        None
    }

    fn number(&mut self, handle: Handle) -> Option<usize> {
        if let Some(number) = self.names.find(handle) {
            return Some(number);
        }
        let number = match self.names.resolve(handle) {
            Named::World => WORLD,
            Named::New(made) => made.number,
            Named::Alone | Named::Unknown => return None,
        };
        self.names.set(handle, number);
        Some(number)
    }

    /// Returns how many communicators the rank's events so far have made.
    fn count_made(&self, events: &[CommunicatorUse]) -> usize {
        events[..self.next].iter().filter(|event| !matches!(event, CommunicatorUse::Name(_))).count()
    }
}

/// Returns the members of the communicators that the members of one make.
fn groups(members: &Rc<[u32]>, ranks: &[FoundRank], events: &[Vec<CommunicatorUse>]) -> Vec<Rc<[u32]>> {
    let event = |member: u32| events[member as usize][ranks[member as usize].next];
    if !members.iter().all(|member| matches!(event(*member), CommunicatorUse::Split { .. })) {
        return vec![members.clone()];
    }
    let mut sorted: Vec<(i64, i64, usize, u32)> = Vec::new();
    for (index, member) in members.iter().enumerate() {
        if let CommunicatorUse::Split { color, key, .. } = event(*member)
            && color != UNDEFINED
        {
            sorted.push((color, key, index, *member));
        }
    }
    sorted.sort_unstable();
    let same = sorted.chunk_by(|one, other| one.0 == other.0);
    same.map(|group| group.iter().map(|(.., member)| *member).collect()).collect()
}
