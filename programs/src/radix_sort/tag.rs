//! What messages are about. Processors may be a pass apart, and messages overtake each other: so a tag says
//! the pass, and what of it.

/// The tags of a pass.
#[derive(Clone, Copy)]
pub struct Tags {
    /// The number of the pass.
    pub pass: u32,
}

/// Counts, on their way through the processors; the index is a bucket, or a round.
pub const SCAN: u32 = 0;
/// Sums of all counts.
pub const TOTAL: u32 = 1;
/// Keys.
pub const KEYS: u32 = 2;

impl Tags {
    /// The tag of one kind of message with an index below 2^16.
    pub fn of(self, kind: u32, index: usize) -> u32 {
        (self.pass * 3 + kind) << 16 | index as u32
    }
}
