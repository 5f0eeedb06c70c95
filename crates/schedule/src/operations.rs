//! The operations of scripts, in few bytes: a program computes for ever other times, and sends the same few
//! messages again and again.

use loggp_model::message::{RawTag, RecvFilter};
use loggp_model::time::Time;

/// An operation as a script stores it, or with the peer of a given rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedOperation {
    pub kind: OperationKind,
    /// The receiver or sender; in a script its distance from the origin.
    pub peer: u32,
    pub tag: u32,
    /// True if it waits for another operation.
    pub waits: bool,
    pub cpu: u8,
    pub nic: u8,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    /// Sends a message of this many bytes.
    Send(u64),
    /// Receives a message, for which it names this many bytes.
    Recv(u64),
    /// Computes for this time.
    Calc(Time),
    /// Waits until this moment.
    WaitUntil(Time),
    /// Puts this many bytes into the peer's memory.
    Put(u64),
    /// Gets this many bytes from the peer's memory, which it asks for with as many bytes as its tag says.
    Get(u64),
    /// Waits until all is there that was put into the peer's memory, or into any.
    Flush,
}

impl OperationKind {
    const RECV: u64 = 1;

    /// Returns the kind as a number, and its bytes or picoseconds. LogGOPSim takes operations that become ready
    /// at once in the order of these numbers.
    #[inline]
    pub(super) fn code(self) -> (u64, u64) {
        match self {
            OperationKind::Send(bytes) => (0, bytes),
            OperationKind::Recv(bytes) => (OperationKind::RECV, bytes),
            OperationKind::Calc(time) => (2, time.as_ps() as u64),
            OperationKind::WaitUntil(time) => (3, time.as_ps() as u64),
            OperationKind::Put(bytes) => (4, bytes),
            OperationKind::Get(bytes) => (5, bytes),
            OperationKind::Flush => (6, 0),
        }
    }

    #[inline]
    fn from_code(number: u64, size: u64) -> OperationKind {
        match number {
            0 => OperationKind::Send(size),
            OperationKind::RECV => OperationKind::Recv(size),
            2 => OperationKind::Calc(Time::from_ps(size as i64)),
            3 => OperationKind::WaitUntil(Time::from_ps(size as i64)),
            4 => OperationKind::Put(size),
            5 => OperationKind::Get(size),
            _ => OperationKind::Flush,
        }
    }
}

impl PackedOperation {
    /// Returns the bytes of its message, of two the longer one; 0 if it has none.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        match self.kind {
            OperationKind::Send(bytes) | OperationKind::Recv(bytes) | OperationKind::Put(bytes) => bytes,
            OperationKind::Get(bytes) => bytes.max(u64::from(self.tag)),
            OperationKind::Calc(_) | OperationKind::WaitUntil(_) | OperationKind::Flush => 0,
        }
    }

    /// Returns the filter of a receive, or the tag of a send in one.
    #[inline]
    pub(super) fn filter(&self) -> RecvFilter {
        let named = |number: u32| (number != ANY).then_some(number);
        RecvFilter { from: self.peer, tag: RawTag::from_schedule(named(self.tag)) }
    }
}

/// Any sender or any tag; also the peer of a computation.
pub(super) const ANY: u32 = u32::MAX;

/// The operations of all scripts. One takes eight bytes, and a message that differs from those before 24 more.
#[derive(Clone, Debug, Default)]
pub(super) struct OperationList {
    /// For each operation its kind, whether it waits for others, whether it is in the table, and above these
    /// its index there, or its size.
    words: Vec<u64>,
    table: Vec<TableEntry>,
}

/// The fields of an operation in the table, which operations may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableEntry {
    size: u64,
    peer: u32,
    tag: u32,
    cpu: u8,
    nic: u8,
}

/// Where in the table some of the latest entries are, by their hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestEntries(Vec<u32>);

const KIND: u64 = 15;
const WAITS: u64 = 1 << 4;
const IN_TABLE: u64 = 1 << 5;
/// The bits below the index or the size.
const BITS: u32 = 6;
const LATEST: u32 = 12;

impl OperationList {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Adds an operation.
    #[inline]
    pub(super) fn push(&mut self, packed: PackedOperation, latest: &mut LatestEntries) {
        let PackedOperation { kind, peer, tag, waits, cpu, nic } = packed;
        let (number, size) = kind.code();
        let is_plain = (peer, tag, cpu, nic) == (ANY, 0, 0, 0) && size >> (u64::BITS - BITS) == 0;
        let rest = match is_plain {
            true => size << BITS,
            false => {
                let entry = TableEntry { size, peer, tag, cpu, nic };
                IN_TABLE | u64::from(latest.find_or_add(entry, &mut self.table)) << BITS
            }
        };
        self.words.push(number | if waits { WAITS } else { 0 } | rest);
    }

    /// Returns the operation at an index.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> PackedOperation {
        let word = self.words[index];
        let (rest, waits) = (word >> BITS, word & WAITS != 0);
        let TableEntry { size, peer, tag, cpu, nic } = match word & IN_TABLE {
            0 => TableEntry { size: rest, peer: ANY, tag: 0, cpu: 0, nic: 0 },
            _ => self.table[rest as usize],
        };
        PackedOperation { kind: OperationKind::from_code(word & KIND, size), peer, tag, waits, cpu, nic }
    }

    /// Returns the bytes of the message of the send or receive at an index.
    #[inline]
    pub(super) fn bytes(&self, index: usize) -> u64 {
        let word = self.words[index];
        if word & IN_TABLE == 0 { word >> BITS } else { self.table[(word >> BITS) as usize].size }
    }

    /// Returns whether the operation at an index is a receive.
    #[inline]
    pub(super) fn is_receive(&self, index: usize) -> bool {
        self.words[index] & KIND == OperationKind::RECV
    }

    /// Returns the word of an operation, to be prefetched.
    #[inline]
    pub(super) fn word(&self, index: usize) -> &u64 {
        &self.words[index]
    }

    /// Notes that an operation waits for another one.
    #[inline]
    pub(super) fn set_waits(&mut self, index: usize) {
        self.words[index] |= WAITS;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = PackedOperation> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Removes the operations from an index on, and what the table has from there on.
    pub(super) fn truncate(&mut self, index: usize, in_table: usize) {
        self.words.truncate(index);
        self.table.truncate(in_table);
    }

    /// Returns the length of the table.
    pub(super) fn table_len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.words.shrink_to_fit();
        self.table.shrink_to_fit();
    }
}

/// The table may have an entry twice.
impl PartialEq for OperationList {
    fn eq(&self, other: &OperationList) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for OperationList {}

impl LatestEntries {
    /// Returns the index of an entry in the table, to which it is added unless it is among the latest ones.
    #[inline]
    fn find_or_add(&mut self, entry: TableEntry, table: &mut Vec<TableEntry>) -> u32 {
        let TableEntry { size, peer, tag, .. } = entry;
        let mixed = (size.rotate_left(32) ^ u64::from(peer) << 32 ^ u64::from(tag))
            .wrapping_mul(0x517C_C1B7_2722_0A95);
        let slot = (mixed >> (u64::BITS - LATEST)) as usize;
        if self.0.is_empty() {
            self.0.resize(1 << LATEST, 0);
        }
        let index = self.0[slot];
        if table.get(index as usize) == Some(&entry) {
            return index;
        }
        self.0[slot] = table.len() as u32;
        table.push(entry);
        self.0[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_as_they_were_added() {
        let (mut list, mut latest) = (OperationList::default(), LatestEntries::default());
        let mut random = fastrand::Rng::with_seed(12);
        let mut all = Vec::new();
        for _ in 0..20_000 {
            let number = random.u64(..4);
            let few = random.bool();
            let size = random.u64(..) >> if few { 60 } else { random.u32(..64) };
            let is_message = number <= OperationKind::RECV;
            let packed = PackedOperation {
                kind: OperationKind::from_code(number, if is_message { size } else { size >> 1 }),
                peer: if is_message { random.u32(..9) } else { ANY },
                tag: if is_message { random.u32(..9) } else { 0 },
                waits: random.bool(),
                cpu: u8::from(random.u8(..9) == 0),
                nic: u8::from(is_message && random.u8(..9) == 0),
            };
            list.push(packed, &mut latest);
            all.push(packed);
        }
        assert!(list.iter().eq(all.iter().copied()));
        let is_receive = |index: usize| matches!(all[index].kind, OperationKind::Recv(_));
        assert!((0..all.len()).all(|index| list.is_receive(index) == is_receive(index)));
        assert!(list.table.len() < 12_000, "{}", list.table.len());
        list.truncate(100, 50);
        assert!(list.len() == 100 && list.table_len() == 50);
    }

    #[test]
    fn operations_are_small() {
        assert_eq!(size_of::<TableEntry>(), 24);
    }
}
