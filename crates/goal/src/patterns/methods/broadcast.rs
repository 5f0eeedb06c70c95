//! Broadcasts.

use super::trees::{self, TreeNeighbours};
use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::member::{Lengths, MemberWriter};

/// The root sends to everyone.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (id, root) = (rank.id, of.root());
    if id != root {
        return rank.recv(root, of.whole());
    }
    rank.send_all((0..rank.P).filter(|to| *to != root), of.whole())
}

pub(crate) fn chain(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let place = trees::chains(rank.P, rank.place_from(of.root()), algorithm.fan_out.unwrap_or(1));
    down_tree(rank, of, algorithm, &place)
}

pub(crate) fn binary(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let place = trees::binary(rank.P, rank.place_from(of.root()));
    down_tree(rank, of, algorithm, &place)
}

/// Down a binary tree in which the two children of a rank are neighbours.
pub(crate) fn heap(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let (P, place) = (rank.P, rank.place_from(of.root()));
    let children = (2 * place + 1..=2 * place + 2).filter(|child| *child < P).collect();
    let parent = place.checked_sub(1).map(|before| before / 2);
    down_tree(rank, of, algorithm, &TreeNeighbours { parent, children })
}

pub(crate) fn binomial(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let place = trees::binomial(rank.P, rank.place_from(of.root()));
    down_tree(rank, of, algorithm, &place)
}

pub(crate) fn knomial(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let place = trees::knomial(rank.P, rank.place_from(of.root()), algorithm.fan_out.unwrap_or(4));
    down_tree(rank, of, algorithm, &place)
}

/// Passes segments down a tree: a rank sends one to all its children at once, and then the next, which it
/// receives meanwhile.
fn down_tree(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
    place: &TreeNeighbours,
) -> WriteResult {
    let whole = of.whole();
    let segments = segments(whole, of.segment(algorithm.segment, whole));
    let children: Vec<usize> = place.children.iter().map(|child| rank.member_at(*child, of.root())).collect();
    let Some(parent) = place.parent.map(|parent| rank.member_at(parent, of.root())) else {
        return segments.iter().try_for_each(|length| rank.send_all(children.iter().copied(), *length));
    };
    let mut next = segments.first().map(|length| rank.start_recv(parent, *length)).transpose()?;
    for (number, length) in segments.iter().enumerate() {
        let this = next;
        next = segments.get(number + 1).map(|length| rank.start_recv(parent, *length)).transpose()?;
        rank.wait(this)?;
        rank.send_all(children.iter().copied(), *length)?;
    }
    Ok(())
}

/// Returns the lengths of the segments of a whole. Nothing is one segment too.
pub(crate) fn segments(whole: u64, segment: u64) -> Vec<u64> {
    if whole == 0 {
        return vec![0];
    }
    let full = whole.checked_div(segment).unwrap_or(0);
    let rest = whole - full * segment;
    let mut all = vec![segment; full as usize];
    all.extend(Some(rest).filter(|rest| *rest > 0));
    all
}

/// Passes nearly equal segments along a chain.
pub(crate) fn even_chain(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let place = trees::chains(rank.P, rank.place_from(of.root()), 1);
    let [before, next] = [place.parent, place.children.first().copied()]
        .map(|place| place.map(|place| rank.member_at(place, of.root())));
    let segments = even_segments(of, algorithm);
    let Some(before) = before else {
        let next = next.expect("there are at least two ranks");
        let sent = segments.into_iter().map(|length| rank.start_send(next, length));
        let sent = sent.collect::<Result<Vec<_>, _>>()?;
        return rank.wait(sent);
    };
    let mut sent = None;
    for length in segments {
        let received = rank.start_recv(before, length)?;
        rank.wait([received].into_iter().chain(sent.take()))?;
        sent = next.map(|next| rank.start_send(next, length)).transpose()?;
    }
    rank.wait(sent)
}

/// Returns the lengths of nearly equal segments with about so many bytes.
pub(crate) fn even_segments(of: &Lengths, algorithm: &CollectiveAlgorithm) -> Vec<u64> {
    let whole = of.whole();
    let count = if algorithm.segment == 0 { 1 } else { of.call.whole().div_ceil(algorithm.segment).max(1) };
    let mut all = vec![whole / count; count as usize];
    all[count as usize - 1] += whole % count;
    all
}

/// One half goes down the left half of a binary tree and the other down the right one; then ranks of both exchange
/// them in pairs.
pub(crate) fn split_binary(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, whole, root, id) = (rank.P, of.whole(), of.root(), rank.id);
    let halves = [whole.div_ceil(2), whole / 2];
    let segment = match algorithm.segment {
        0 => None,
        bytes => Some(of.elements(bytes).max(1)),
    };
    if halves[1] == 0 || segment.is_some_and(|segment| segment > halves[1]) {
        let alone = CollectiveAlgorithm { fan_out: Some(1), ..*algorithm };
        return rank.write_instead(("chain", chain), of, &alone);
    }
    let segments = halves.map(|half| segments(half, segment.unwrap_or(half)));
    let place = rank.place_from(root);
    let tree = trees::binary(P, place);
    let children: Vec<usize> = tree.children.iter().map(|child| rank.member_at(*child, root)).collect();
    let side = (place + 1) % 2;
    if let Some(parent) = tree.parent {
        let parent = rank.member_at(parent, root);
        let mut next = Some(rank.start_recv(parent, segments[side][0])?);
        for (number, length) in segments[side].iter().enumerate() {
            let this = next;
            next = match segments[side].get(number + 1) {
                Some(length) => Some(rank.start_recv(parent, *length)?),
                None => None,
            };
            rank.wait(this)?;
            children.iter().try_for_each(|child| rank.send(*child, *length))?;
        }
    } else {
        for number in 0..segments[0].len() {
            for (child, segments) in children.iter().zip(&segments) {
                segments.get(number).map_or(Ok(()), |length| rank.send(*child, *length))?;
            }
        }
    }
    // Neighbours have different halves. In an even number of ranks the last one has none but the root.
    let last = rank.member_at(P - 1, root);
    if P.is_multiple_of(2) && id == root {
        return rank.send(last, halves[1]);
    } else if P.is_multiple_of(2) && id == last {
        return rank.recv(root, halves[1]);
    } else if id == root {
        return Ok(());
    }
    let pair = if side == 0 { rank.ahead(1) } else { rank.behind(1) };
    rank.send_recv((pair, halves[side]), (pair, halves[1 - side]))
}

/// The blocks of a message that is scattered over all ranks, by places from the root.
struct ScatteredBlocks {
    P: usize,
    whole: u64,
    block: u64,
    /// True if a rank that is not the root gives its first child all that is left of the message.
    gives_rest: bool,
}

impl ScatteredBlocks {
    /// Returns the length of some blocks from this one on, or of those that there are.
    fn length(&self, first: usize, count: usize) -> u64 {
        self.whole.saturating_sub(first as u64 * self.block).min(count as u64 * self.block)
    }

    /// Scatters the blocks down a binomial tree.
    fn scatter(&self, rank: &mut MemberWriter, root: usize) -> WriteResult {
        let place = rank.place_from(root);
        let tree = trees::knomial(self.P, place, 2);
        // The ranks below a place are those up to its lowest bit.
        let below = |place: usize| self.length(place, place & place.wrapping_neg());
        if let Some(parent) = tree.parent.filter(|_| below(place) > 0) {
            let is_first = || trees::knomial(self.P, parent, 2).children[0] == place;
            let gets_rest = self.gives_rest && parent > 0 && is_first();
            let length = if gets_rest { self.length(place, self.P) } else { below(place) };
            rank.recv(rank.member_at(parent, root), length)?;
        }
        for (number, child) in tree.children.into_iter().enumerate().filter(|(_, child)| below(*child) > 0) {
            let gets_rest = self.gives_rest && place > 0 && number == 0;
            let length = if gets_rest { self.length(child, self.P) } else { below(child) };
            rank.send(rank.member_at(child, root), length)?;
        }
        Ok(())
    }
}

fn blocks(rank: &MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> Option<ScatteredBlocks> {
    let (P, whole) = (rank.P, of.whole());
    let gives_rest = algorithm.method.gives_rest;
    (whole >= P as u64).then(|| ScatteredBlocks { P, whole, block: whole.div_ceil(P as u64), gives_rest })
}

/// The root scatters the message, and all gather it by recursive doubling.
pub(crate) fn scatter_allgather(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let Some(blocks) = blocks(rank, of, algorithm) else {
        return rank.write_instead(("linear", linear), of, algorithm);
    };
    let (P, root, place) = (rank.P, of.root(), rank.place_from(of.root()));
    blocks.scatter(rank, root)?;
    for distance in rank.distances() {
        let (here, there) = (place & !(distance - 1), (place ^ distance) & !(distance - 1));
        let other = place ^ distance;
        if other < P {
            let lengths = (blocks.length(here, distance), blocks.length(there, distance));
            let other = rank.member_at(other, root);
            rank.send_recv((other, lengths.0), (other, lengths.1))?;
        }
        if there + distance > P {
            // Some have no partner, and get their blocks from those that had one.
            let (complete, length) =
                (P.saturating_sub(here + distance), blocks.length(here + distance, distance));
            for half in (0..distance.ilog2()).rev().map(|bit| 1 << bit) {
                let (other, first) = (place ^ half, place & !(2 * half - 1));
                let is_split = |low: usize, high: usize| low < first + complete && high >= first + complete;
                if other > place && is_split(place, other) {
                    rank.send(rank.member_at(other, root), length)?;
                } else if other < place && is_split(other, place) {
                    rank.recv(rank.member_at(other, root), length)?;
                }
            }
        }
    }
    Ok(())
}

/// The root scatters the message, and all gather it round a ring.
pub(crate) fn scatter_ring(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let Some(blocks) = blocks(rank, of, algorithm) else {
        return rank.write_instead(("linear", linear), of, algorithm);
    };
    let (P, place) = (rank.P, rank.place_from(of.root()));
    blocks.scatter(rank, of.root())?;
    for step in 0..P - 1 {
        let block = |behind: usize| blocks.length((place + P - behind) % P, 1);
        rank.send_recv((rank.ahead(1), block(step)), (rank.behind(1), block(step + 1)))?;
    }
    Ok(())
}
