//! Groups of processors, and how a run tells them apart.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::message::RawTag;

/// Some of a machine's processors, in an order: the rows and the columns of a grid, for example. Within a group its
/// members call collectives as all do, see [`Proc::within`](crate::Proc::within).
///
/// Groups with the same members in the same order are the same group, wherever they are made. Making one takes no
/// time and no message: every member makes it for itself, or a program makes it before the run, for all.
///
/// ```
/// use loggp::{Group, Machine, Params, US, collectives};
///
/// // The sums of the rows of a 2 x 3 grid, and of its columns.
/// let machine = Machine::new(Params::builder(6).L(6 * US).o(2 * US).g(4 * US).build()?);
/// let run = machine.run(|p| {
///     let (id, value) = (p.id(), p.id() as u64);
///     let row = Group::new(id / 3 * 3..id / 3 * 3 + 3);
///     let column = Group::new((id % 3..6).step_by(3));
///     let across = collectives::all_reduce(&mut p.within(&row), value, |a, b| a + b);
///     let down = collectives::all_reduce(&mut p.within(&column), value, |a, b| a + b);
///     (across, down)
/// })?;
/// assert_eq!(run.results, [(3, 3), (3, 5), (3, 7), (12, 3), (12, 5), (12, 7)]);
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone)]
pub struct Group(Arc<Members>);

/// Who is in a group.
struct Members {
    /// The processors, by their ranks.
    processors: Box<[usize]>,
    /// The processors and their ranks, by the processors' numbers.
    ranks: Box<[(usize, usize)]>,
    /// A number that all groups with these members have.
    hash: u64,
}

impl Group {
    /// The group of these processors. A member's rank is its place here, from 0 on.
    pub fn new(processors: impl IntoIterator<Item = usize>) -> Group {
        let processors: Box<[usize]> = processors.into_iter().collect();
        let mut ranks: Box<[(usize, usize)]> = (0..).zip(&processors).map(|(rank, id)| (*id, rank)).collect();
        ranks.sort_unstable();
        let mut hasher = DefaultHasher::new();
        processors.hash(&mut hasher);
        Group(Arc::new(Members { processors, ranks, hash: hasher.finish() }))
    }

    /// Its processors, by their ranks.
    pub fn members(&self) -> &[usize] {
        &self.0.processors
    }

    /// The rank of a processor, if it is a member.
    pub fn rank(&self, processor: usize) -> Option<usize> {
        let place = self.0.ranks.binary_search_by_key(&processor, |(id, _)| *id).ok()?;
        Some(self.0.ranks[place].1)
    }

    /// A processor that is in it more than once.
    pub(crate) fn duplicate(&self) -> Option<usize> {
        self.0.ranks.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0)
    }

    /// The members with the lowest number and the highest.
    pub(crate) fn number_range(&self) -> Option<(usize, usize)> {
        Some((self.0.ranks.first()?.0, self.0.ranks.last()?.0))
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash && self.members() == other.members()
    }
}

impl Eq for Group {}

impl Hash for Group {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.0.processors).finish()
    }
}

/// The first members, for errors.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LISTED: usize = 8;
        let members: Vec<String> = self.members().iter().take(LISTED).map(usize::to_string).collect();
        match self.members().len() {
            0 => f.write_str("the group of nobody"),
            n if n > LISTED => write!(f, "the group of {} and {} more", members.join(", "), n - LISTED),
            _ => write!(f, "the group of {}", members.join(", ")),
        }
    }
}

/// The groups of a run, each with a number of its own from 1 on, which its messages have in their tags. Whoever acts in
/// a group first gets it the number; the others find it here. This is the host's business and no communication: the
/// number decides nothing but which messages belong together. Who is first depends on the host too, so traces have
/// [other numbers](Groups::in_order).
#[derive(Default)]
pub(crate) struct Groups {
    numbers: Mutex<HashMap<Group, u32>>,
    /// Whether each process finds a group's number for itself, from its members.
    is_hashed: bool,
}

impl Groups {
    /// Groups of processors that are processes. Two groups of 16 million can have the same number by chance.
    pub(crate) fn for_processes() -> Groups {
        Groups { is_hashed: true, ..Groups::default() }
    }

    /// The group's number.
    pub(crate) fn number(&self, group: &Group) -> u32 {
        let mut groups = self.numbers.lock();
        let next = match self.is_hashed {
            true => (group.0.hash % u64::from(RawTag::LAST_GROUP)) as u32 + 1,
            false => groups.len() as u32 + 1,
        };
        *groups.entry(group.clone()).or_insert(next)
    }

    /// The place of each group among all, by their members, at the place of its number: the same in every run.
    pub(crate) fn sorted_places(&self) -> Vec<u32> {
        let groups = self.numbers.lock();
        let mut sorted: Vec<(&Group, &u32)> = groups.iter().collect();
        sorted.sort_unstable_by_key(|(group, _)| group.members());
        let mut places = vec![0; sorted.len() + 1];
        for (place, (_, number)) in (1..).zip(sorted) {
            places[*number as usize] = place;
        }
        places
    }
}

/// A processor's place in the group in which it acts.
#[derive(Clone)]
pub(crate) struct GroupMembership {
    /// The group.
    pub group: Group,
    /// The group's number in this run.
    pub number: u32,
    /// The processor's rank in it.
    pub rank: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_same_by_their_members_and_their_order() {
        let groups = Groups::default();
        let row = Group::new([4, 2, 9]);
        let number = groups.number(&row);
        assert_eq!(groups.number(&Group::new(vec![4, 2, 9])), number);
        for other in [vec![2, 4, 9], vec![4, 2], vec![4, 2, 9, 0], vec![]] {
            assert_ne!(groups.number(&Group::new(other)), number);
        }
        assert_eq!([0, 2, 4, 9].map(|id| row.rank(id)), [None, Some(1), Some(0), Some(2)]);
        assert_eq!((row.duplicate(), Group::new([1, 3, 1]).duplicate()), (None, Some(1)));
        assert_eq!(row.to_string(), "the group of 4, 2, 9");
        assert_eq!(Group::new(0..10).to_string(), "the group of 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
    }

    /// Two groups that a hash would take for each other have numbers of their own all the same.
    #[test]
    fn groups_of_the_same_hash_are_told_apart() {
        let with = |processors: &[usize]| {
            Group(Arc::new(Members { processors: processors.into(), ranks: Box::default(), hash: 7 }))
        };
        let groups = Groups::default();
        assert_ne!(groups.number(&with(&[0, 1])), groups.number(&with(&[0, 1, 2])));
        assert_eq!(groups.number(&with(&[0, 1])), groups.number(&with(&[0, 1])));
    }
}
