//! Trees of ranks, whose places count from the root.

use loggp_schedule::rounds::{BinomialPlace, distances};

/// A rank's neighbours in a tree: the parent, if it has one, and the children, in the order in which they get
/// messages.
pub(crate) struct TreeNeighbours {
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

/// Some chains that begin at the root's children, each of which has nearly as many ranks.
pub(crate) fn chains(P: usize, place: usize, count: usize) -> TreeNeighbours {
    if P == 1 {
        return TreeNeighbours { parent: None, children: Vec::new() };
    }
    let count = count.clamp(1, P - 1);
    let (long, longest) = ((P - 1) % count, (P - 1).div_ceil(count));
    // The first ranks of the chains; the longer chains come first.
    let head = |chain: usize| match long {
        0 => 1 + chain * longest,
        _ => 1 + chain.min(long) * longest + chain.saturating_sub(long) * (longest - 1),
    };
    if place == 0 {
        return TreeNeighbours { parent: None, children: (0..count).map(head).collect() };
    }
    let is_head = |place: usize| (0..count).any(|chain| head(chain) == place);
    let next = Some(place + 1).filter(|next| *next < P && !is_head(*next));
    TreeNeighbours {
        parent: Some(if is_head(place) { 0 } else { place - 1 }),
        children: next.into_iter().collect(),
    }
}

/// A tree in which every rank of a level has two children in the next one: the levels are filled in order, first
/// with the first children of all.
pub(crate) fn binary(P: usize, place: usize) -> TreeNeighbours {
    let level = 1 << (place + 1).ilog2();
    let children = [place + level, place + 2 * level].into_iter().filter(|child| *child < P).collect();
    let parent = match place {
        0 => None,
        1 | 2 => Some(0),
        // The first rank of the level is `level` - 1.
        _ => Some((place + 1 - level) % (level / 2) + level / 2 - 1),
    };
    TreeNeighbours { parent, children }
}

/// A binomial tree in which a rank's parent lacks the highest bit of its place. The nearest child comes first.
pub(crate) fn binomial(P: usize, place: usize) -> TreeNeighbours {
    let children =
        distances(P).filter(|bit| place < *bit && place + bit < P).map(|bit| place + bit).collect();
    TreeNeighbours { parent: place.checked_ilog2().map(|bit| place - (1 << bit)), children }
}

/// A k-nomial tree: in the digits of base k a rank's parent lacks the lowest digit that is not 0. The furthest
/// children come first. Ranks below another are contiguous.
pub(crate) fn knomial(P: usize, place: usize, k: usize) -> TreeNeighbours {
    let (mut unit, mut parent) = (1, None);
    while unit < P {
        if !place.is_multiple_of(unit * k) {
            parent = Some(place / (unit * k) * (unit * k));
            break;
        }
        unit *= k;
    }
    let mut children = Vec::new();
    while unit > 1 {
        unit /= k;
        children.extend((1..k).map(|digit| place + unit * digit).filter(|child| *child < P));
    }
    TreeNeighbours { parent, children }
}

/// The binomial tree with contiguous ranks below each other, the nearest child first.
pub(crate) fn contiguous_binomial(P: usize, place: usize) -> TreeNeighbours {
    let tree = BinomialPlace { P, place };
    TreeNeighbours { parent: tree.parent(), children: tree.children().collect() }
}

/// A binary tree with root P - 1 whose ranks are in order: those of the right child come first, then those of the
/// left one, then the parent.
pub(crate) fn in_order_binary(P: usize, id: usize) -> TreeNeighbours {
    let (mut first, mut size, mut parent) = (0, P, None);
    loop {
        let top = first + size - 1;
        let right = size / 2;
        let left = size - right - 1;
        if id == top {
            let mut children = Vec::new();
            if size > 1 {
                children.push(top - 1);
            }
            if size > 2 {
                children.push(first + right - 1);
            }
            return TreeNeighbours { parent, children };
        }
        parent = Some(top);
        if size == 2 {
            (first, size) = (top - 1, 1);
        } else if id < first + right {
            size = right;
        } else {
            (first, size) = (first + right, left);
        }
    }
}
