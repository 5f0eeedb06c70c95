//! Processors and network interfaces of ranks. Nearly always only the first ones are used, which lie in a
//! vector.

use std::collections::BTreeMap;

/// A processor and a network interface of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HardwareUnit {
    pub rank: u32,
    pub cpu: u8,
    pub nic: u8,
}

impl HardwareUnit {
    /// Returns the key for the processor alone.
    #[inline]
    pub(super) fn processor(self) -> HardwareUnit {
        HardwareUnit { nic: 0, ..self }
    }

    /// Returns the key for the interface alone.
    #[inline]
    pub(super) fn interface(self) -> HardwareUnit {
        HardwareUnit { cpu: 0, ..self }
    }
}

/// A value for each unit.
#[derive(Debug)]
pub(super) struct HardwareTable<T> {
    /// Values of the first processor and interface of each rank.
    first: Vec<T>,
    /// Values of other units that were used.
    others: BTreeMap<HardwareUnit, T>,
}

impl<T: Clone + Default> HardwareTable<T> {
    /// Creates a table of default values for this many ranks.
    pub(super) fn new(ranks: usize) -> HardwareTable<T> {
        HardwareTable { first: vec![T::default(); ranks], others: BTreeMap::new() }
    }

    /// Returns the value of a unit, which is created if need be.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, unit: HardwareUnit) -> &mut T {
        match unit {
            HardwareUnit { rank, cpu: 0, nic: 0 } => &mut self.first[rank as usize],
            unit => self.other(unit),
        }
    }

    #[cold]
    fn other(&mut self, unit: HardwareUnit) -> &mut T {
        self.others.entry(unit).or_default()
    }

    /// Returns the value of a unit, or `None` if the unit was never used.
    #[inline]
    pub(super) fn get(&self, unit: HardwareUnit) -> Option<&T> {
        match unit {
            HardwareUnit { rank, cpu: 0, nic: 0 } => Some(&self.first[rank as usize]),
            unit => self.others.get(&unit),
        }
    }

    /// Returns the values of all units, each with its rank.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.first).chain(self.others.iter().map(|(unit, it)| (unit.rank, it)))
    }
}
