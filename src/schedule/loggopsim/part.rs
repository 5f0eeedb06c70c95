//! Parts of ranks' hardware. Nearly always only the first ones are used, and these lie in a row.

use std::collections::BTreeMap;

/// A processor and a network interface of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The rank.
    pub rank: u32,
    /// Its processor.
    pub cpu: u8,
    /// Its network interface.
    pub nic: u8,
}

impl Part {
    /// The processor alone.
    #[inline]
    pub(super) fn processor(self) -> Part {
        Part { nic: 0, ..self }
    }

    /// The interface alone.
    #[inline]
    pub(super) fn interface(self) -> Part {
        Part { cpu: 0, ..self }
    }
}

/// Something for each part.
#[derive(Debug)]
pub(super) struct Parts<T> {
    /// For the first processor and the first interface of each rank.
    first: Vec<T>,
    /// For others, as far as they are used.
    others: BTreeMap<Part, T>,
}

impl<T: Clone + Default> Parts<T> {
    /// For so many ranks.
    pub(super) fn new(ranks: usize) -> Parts<T> {
        Parts { first: vec![T::default(); ranks], others: BTreeMap::new() }
    }

    /// What a part has.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, part: Part) -> &mut T {
        match part {
            Part { rank, cpu: 0, nic: 0 } => &mut self.first[rank as usize],
            part => self.other(part),
        }
    }

    /// What another part has.
    #[cold]
    fn other(&mut self, part: Part) -> &mut T {
        self.others.entry(part).or_default()
    }

    /// What a part has, if it was ever used.
    #[inline]
    pub(super) fn get(&self, part: Part) -> Option<&T> {
        match part {
            Part { rank, cpu: 0, nic: 0 } => Some(&self.first[rank as usize]),
            part => self.others.get(&part),
        }
    }

    /// What all parts have, and whose they are.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.first).chain(self.others.iter().map(|(part, it)| (part.rank, it)))
    }
}
