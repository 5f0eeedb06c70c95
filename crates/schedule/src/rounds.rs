//! Who exchanges with whom in which round, for processors that call a collective and for schedules alike.

/// A round in which a rank sends to one rank and receives from one, as many values each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The rank that gets what this one sends.
    pub to: usize,
    /// The rank from which this one receives.
    pub from: usize,
    /// The number of values that are sent, and received.
    pub values: usize,
}

/// Returns 1, 2, 4 ... below P.
pub fn distances(P: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..P.next_power_of_two().ilog2()).map(|step| 1 << step)
}

/// Dissemination: everyone tells the rank 2^r ahead.
pub fn dissemination(P: usize, id: usize) -> impl Iterator<Item = Round> {
    distances(P).map(move |distance| ahead(P, id, distance))
}

/// Bruck's all-gather: everyone sends the rank 2^r behind the 2^r values that it has, or as many as lack there.
pub fn bruck(P: usize, id: usize) -> impl DoubleEndedIterator<Item = Round> {
    distances(P).map(move |distance| {
        let Round { to, from, .. } = ahead(P, id, distance);
        Round { to: from, from: to, values: distance.min(P - distance) }
    })
}

/// Everyone sends to the rank 1 ahead, to that 2 ahead, and so on.
pub fn staggered(P: usize, id: usize) -> impl Iterator<Item = Round> {
    (1..P).map(move |distance| ahead(P, id, distance))
}

fn ahead(P: usize, id: usize, distance: usize) -> Round {
    Round { to: (id + distance) % P, from: (id + P - distance) % P, values: 1 }
}

/// A place in a binomial tree in which those below a place are the next ones: its parent lacks the lowest bit of its
/// number.
#[derive(Clone, Copy, Debug)]
pub struct BinomialPlace {
    /// The number of places.
    pub P: usize,
    /// The place, from 0, the root.
    pub place: usize,
}

impl BinomialPlace {
    /// Returns the parent, or `None` for the root.
    pub fn parent(self) -> Option<usize> {
        (self.place > 0).then(|| self.place & (self.place - 1))
    }

    /// Returns the children, the nearest one first.
    pub fn children(self) -> impl DoubleEndedIterator<Item = usize> {
        let BinomialPlace { P, place } = self;
        let bits = if place == 0 { P.next_power_of_two().ilog2() } else { place.trailing_zeros() };
        (0..bits).map(move |bit| place + (1 << bit)).filter(move |child| *child < P)
    }

    /// Returns how many places are below this one, itself included.
    pub fn size(self) -> usize {
        match self.place {
            0 => self.P,
            place => (self.P - place).min(1 << place.trailing_zeros()),
        }
    }
}

/// The nodes of an algorithm for a power of 2 of ranks. The first ranks are in pairs, so that there are as many pairs
/// as ranks too many; one of a pair is a node, and so are all ranks behind them.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// The number of nodes.
    pub count: usize,
    /// The number of pairs.
    pub pairs: usize,
    /// Whether the odd ranks of pairs are nodes, and not the even ones.
    pub is_odd: bool,
}

impl Nodes {
    /// Returns the nodes of this many ranks.
    pub fn new(P: usize, is_odd: bool) -> Nodes {
        let count = 1 << P.ilog2();
        Nodes { count, pairs: P - count, is_odd }
    }

    /// Returns the other rank of a rank's pair, or `None` if it has none.
    pub fn partner(&self, id: usize) -> Option<usize> {
        (id < 2 * self.pairs).then_some(id ^ 1)
    }

    /// Returns the node that a rank is, or `None`.
    pub fn node(&self, id: usize) -> Option<usize> {
        match self.partner(id) {
            Some(_) => (id.is_multiple_of(2) != self.is_odd).then_some(id / 2),
            None => Some(id - self.pairs),
        }
    }

    /// Returns the rank that is a node.
    pub fn rank(&self, node: usize) -> usize {
        if node < self.pairs { 2 * node + usize::from(self.is_odd) } else { node + self.pairs }
    }
}
