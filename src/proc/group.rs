//! Groups of processors, and their numbers in a run.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use loggp_model::message::RawTag;
use parking_lot::Mutex;

/// Some of a machine's processors, in an order, such as a row or a column of a grid. The members of a group
/// call collectives within it, see [`Proc::within`](crate::Proc::within).
///
/// Groups with the same members in the same order are the same group, wherever they are created. Creating one
/// takes no time and no message: every member creates it for itself, or a program creates it before the run,
/// for all.
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

struct Members {
    /// The processors, by rank.
    processors: Box<[usize]>,
    /// The processors and their ranks, by processor.
    ranks: Box<[(usize, usize)]>,
    /// Hash of the processors.
    hash: u64,
}

impl Group {
    /// Creates the group of these processors. A member's rank is its place here, from 0 on.
    pub fn new(processors: impl IntoIterator<Item = usize>) -> Group {
        let processors: Box<[usize]> = processors.into_iter().collect();
        let mut ranks: Box<[(usize, usize)]> = (0..).zip(&processors).map(|(rank, id)| (*id, rank)).collect();
        ranks.sort_unstable();
        let mut hasher = DefaultHasher::new();
        processors.hash(&mut hasher);
        Group(Arc::new(Members { processors, ranks, hash: hasher.finish() }))
    }

    /// Returns its processors, by rank.
    pub fn members(&self) -> &[usize] {
        &self.0.processors
    }

    /// Returns the rank of a processor, or `None` if it is no member.
    pub fn rank(&self, processor: usize) -> Option<usize> {
        let index = self.0.ranks.binary_search_by_key(&processor, |(id, _)| *id).ok()?;
        Some(self.0.ranks[index].1)
    }

    /// Returns a processor that is in it more than once, or `None`.
    pub(crate) fn duplicate(&self) -> Option<usize> {
        self.0.ranks.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0)
    }

    /// Returns the lowest and the highest number of its members, or `None` if there are none.
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

/// Lists the first members, for errors.
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

/// The groups of a run. Each has a number of its own from 1 on, which its messages have in their tags. The
/// first processor that acts in a group assigns the number; the others find it here. This is no
/// communication: the number only decides which messages belong together. Which processor is first depends on
/// the host, so traces have [other numbers](Groups::sorted_numbers).
#[derive(Default)]
pub(crate) struct Groups {
    numbers: Mutex<HashMap<Group, u32>>,
    /// True if each process computes a group's number from its members, without the others.
    is_hashed: bool,
}

impl Groups {
    /// Creates the groups of processors that are processes. Two groups of 16 million can have the same number
    /// by chance.
    pub(crate) fn for_processes() -> Groups {
        Groups { is_hashed: true, ..Groups::default() }
    }

    /// Returns the group's number.
    pub(crate) fn number(&self, group: &Group) -> u32 {
        let mut groups = self.numbers.lock();
        let next = match self.is_hashed {
            true => (group.0.hash % u64::from(RawTag::LAST_GROUP)) as u32 + 1,
            false => groups.len() as u32 + 1,
        };
        *groups.entry(group.clone()).or_insert(next)
    }

    /// Returns, by number, the number of each group among all groups sorted by their members: it is the same
    /// in every run.
    pub(crate) fn sorted_numbers(&self) -> Vec<u32> {
        let groups = self.numbers.lock();
        let mut sorted: Vec<(&Group, &u32)> = groups.iter().collect();
        sorted.sort_unstable_by_key(|(group, _)| group.members());
        let mut numbers = vec![0; sorted.len() + 1];
        for (sorted, (_, number)) in (1..).zip(sorted) {
            numbers[*number as usize] = sorted;
        }
        numbers
    }
}

/// The group in which a processor acts, and its rank there.
#[derive(Clone)]
pub(crate) struct GroupMembership {
    pub group: Group,
    /// The group's number in this run.
    pub number: u32,
    pub rank: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_equal_by_members_and_order() {
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

    #[test]
    fn groups_of_the_same_hash_have_different_numbers() {
        let with = |processors: &[usize]| {
            Group(Arc::new(Members { processors: processors.into(), ranks: Box::default(), hash: 7 }))
        };
        let groups = Groups::default();
        assert_ne!(groups.number(&with(&[0, 1])), groups.number(&with(&[0, 1, 2])));
        assert_eq!(groups.number(&with(&[0, 1])), groups.number(&with(&[0, 1])));
    }
}
