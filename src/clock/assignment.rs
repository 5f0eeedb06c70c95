//! The assignment of processors to cores.

/// An assignment of processors to cores, in blocks that go round the cores. The length of a block is a power
/// of two.
///
/// Processors that act at the same time do so in the order of their numbers. On the virtual clock a core
/// therefore gets blocks of neighbours, so that its front changes only after a whole block has acted. On
/// the wall clock each processor is a block of its own, because processors that act at the same time should
/// not share a core.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoreAssignment {
    P: u32,
    cores: u32,
    /// Base-2 logarithm of the length of a block.
    shift: u32,
}

impl CoreAssignment {
    /// Assigns one processor to each core in turn.
    pub(super) fn round_robin(P: usize, cores: usize) -> CoreAssignment {
        CoreAssignment { P: P as u32, cores: cores as u32, shift: 0 }
    }

    /// Assigns blocks of up to 32 processors: shorter ones where some core would get many more processors
    /// than others.
    pub(super) fn in_blocks(P: usize, cores: usize) -> CoreAssignment {
        const LONGEST: u32 = 5;
        /// With this many blocks for each core, one block more on some cores hardly matters.
        const MANY: usize = 8;
        let is_even = |shift: &u32| {
            let round = cores << shift;
            P.is_multiple_of(round) || P / round >= MANY
        };
        let shift = (0..=LONGEST).rev().find(is_even).unwrap_or(0);
        CoreAssignment { shift, ..CoreAssignment::round_robin(P, cores) }
    }

    /// Returns the number of processors.
    pub(super) fn P(&self) -> usize {
        self.P as usize
    }

    pub(super) fn cores(&self) -> usize {
        self.cores as usize
    }

    /// Returns the core of a processor, and the index of its seat there.
    #[inline]
    pub(super) fn core_and_seat(&self, id: usize) -> (usize, usize) {
        let block = id as u32 >> self.shift;
        (((block % self.cores) as usize), self.seat_index(id))
    }

    /// Returns the index of a processor's seat on its core.
    #[inline]
    pub(super) fn seat_index(&self, id: usize) -> usize {
        let (id, round) = (id as u32, (id as u32 >> self.shift) / self.cores);
        (round << self.shift | (id - self.first_of_block(id))) as usize
    }

    /// Returns the first processor of a processor's block.
    #[inline]
    pub(super) fn first_of_block(&self, id: u32) -> u32 {
        id >> self.shift << self.shift
    }

    /// Returns the processor in a seat of a core.
    pub(super) fn processor(&self, core: usize, seat_index: usize) -> usize {
        let (core, seat_index) = (core as u32, seat_index as u32);
        let block = (seat_index >> self.shift) * self.cores + core;
        (block << self.shift | (seat_index - self.first_of_block(seat_index))) as usize
    }

    /// Returns the processors of a core in the order of their seats.
    pub(super) fn processors(self, core: usize) -> impl Iterator<Item = usize> {
        let processors = (0..).map(move |seat_index| self.processor(core, seat_index));
        processors.take_while(move |id| *id < self.P as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_its_own_seat() {
        for (P, cores) in (1..200).flat_map(|P| (1..=P.min(9)).map(move |cores| (P, cores))) {
            for assignment in [CoreAssignment::round_robin(P, cores), CoreAssignment::in_blocks(P, cores)] {
                let seats = (0..cores).flat_map(|core| {
                    assignment
                        .processors(core)
                        .enumerate()
                        .map(move |(seat_index, id)| (id, (core, seat_index)))
                });
                let mut seats: Vec<_> = seats.collect();
                seats.sort();
                let expected: Vec<_> = (0..P).map(|id| (id, assignment.core_and_seat(id))).collect();
                assert_eq!(seats, expected);
                let counts = (0..cores).map(|core| assignment.processors(core).count());
                assert!(counts.clone().max().unwrap() <= counts.min().unwrap() * 5 / 4 + 1, "{assignment:?}");
            }
        }
    }
}
