//! Which processor is on which core.

/// Processors on cores. They go round the cores in blocks of so many, which is a power of two.
///
/// Processors that act at the same time do so in the order of their numbers. On the virtual clock a core therefore gets
/// neighbours: all of a block act, and then another core is told. On the wall clock each processor is a block of its own, because
/// those that act at the same time should share no core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    P: u32,
    cores: u32,
    /// The logarithm of the number of processors in a block.
    shift: u32,
}

impl Spread {
    /// One processor to each core in turn.
    pub(super) fn one_by_one(P: usize, cores: usize) -> Spread {
        Spread { P: P as u32, cores: cores as u32, shift: 0 }
    }

    /// Blocks as long as 32 processors, unless some core would get many more processors than others.
    pub(super) fn in_blocks(P: usize, cores: usize) -> Spread {
        const LONGEST: u32 = 5;
        /// With so many blocks for each core, one more or less is few.
        const MANY: usize = 8;
        let is_even = |shift: &u32| {
            let round = cores << shift;
            P.is_multiple_of(round) || P / round >= MANY
        };
        let shift = (0..=LONGEST).rev().find(is_even).unwrap_or(0);
        Spread { shift, ..Spread::one_by_one(P, cores) }
    }

    /// The number of processors.
    pub(super) fn P(&self) -> usize {
        self.P as usize
    }

    pub(super) fn cores(&self) -> usize {
        self.cores as usize
    }

    /// The core of a processor, and its place there.
    #[inline]
    pub(super) fn seat_of(&self, id: usize) -> (usize, usize) {
        let block = id as u32 >> self.shift;
        (((block % self.cores) as usize), self.place(id))
    }

    /// The place of a processor on its core.
    #[inline]
    pub(super) fn place(&self, id: usize) -> usize {
        let (id, round) = (id as u32, (id as u32 >> self.shift) / self.cores);
        (round << self.shift | (id - self.first_of_block(id))) as usize
    }

    /// The first processor of a processor's block.
    #[inline]
    pub(super) fn first_of_block(&self, id: u32) -> u32 {
        id >> self.shift << self.shift
    }

    /// The processor at a place of a core.
    pub(super) fn processor(&self, core: usize, place: usize) -> usize {
        let (core, place) = (core as u32, place as u32);
        let block = (place >> self.shift) * self.cores + core;
        (block << self.shift | (place - self.first_of_block(place))) as usize
    }

    /// The processors of a core, by their places.
    pub(super) fn processors(self, core: usize) -> impl Iterator<Item = usize> {
        let processors = (0..).map(move |place| self.processor(core, place));
        processors.take_while(move |id| *id < self.P as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_a_place_of_its_own() {
        for (P, cores) in (1..200).flat_map(|P| (1..=P.min(9)).map(move |cores| (P, cores))) {
            for spread in [Spread::one_by_one(P, cores), Spread::in_blocks(P, cores)] {
                let placed = (0..cores).flat_map(|core| {
                    spread.processors(core).enumerate().map(move |(place, id)| (id, (core, place)))
                });
                let mut placed: Vec<_> = placed.collect();
                placed.sort();
                let expected: Vec<_> = (0..P).map(|id| (id, spread.seat_of(id))).collect();
                assert_eq!(placed, expected);
                let counts = (0..cores).map(|core| spread.processors(core).count());
                assert!(counts.clone().max().unwrap() <= counts.min().unwrap() * 5 / 4 + 1, "{spread:?}");
            }
        }
    }
}
