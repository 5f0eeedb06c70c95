//! Tags of the radix sort. Processors may be a pass apart, and messages overtake each other: so each pass has
//! its own tags.

use loggp::Tag;

/// A bucket's count on its way through the processors; the index is the bucket.
pub(super) const SCAN: Tag<u32> = Tag::named(0, "scan");
/// A bucket's sum of all counts; the index is the bucket.
pub(super) const TOTAL: Tag<u32> = Tag::named(1, "total");
/// The counts of all buckets; the index is the round.
pub(super) const COUNTS: Tag<Vec<u32>> = Tag::named(2, "counts");
/// The sums of all buckets, up to a processor and of all.
pub(super) const SUMS: Tag<(Vec<u32>, Vec<u32>)> = Tag::named(3, "sums");

/// Keys: one with its place, or many.
pub(super) const fn keys<T>() -> Tag<T> {
    Tag::named(4, "keys")
}

/// Returns the tag of one kind of message in a pass, with an index below 2^16.
pub(super) fn pass_tag<T>(kind: Tag<T>, pass: usize, index: usize) -> Tag<T> {
    kind.step(pass << 16 | index)
}
