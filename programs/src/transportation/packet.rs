//! Packets, the messages of the program: elements from several places, and a header with the lengths of the
//! parts.

use std::sync::Arc;

use loggp::{Pack, Payload, Unpack};

pub(super) type Element = u32;

/// Bytes of an element, of a length, and of a place in an order: a word of the CM-5.
pub(super) const BYTES: usize = size_of::<Element>();

/// Elements that lie together at their source.
#[derive(Clone, Debug)]
pub struct ElementSlice {
    all: Arc<Vec<Element>>,
    /// First element of the slice.
    start: u32,
    len: u32,
}

impl ElementSlice {
    /// Creates a slice of `len` elements from `start` on.
    pub fn new(all: &Arc<Vec<Element>>, start: usize, len: usize) -> ElementSlice {
        ElementSlice { all: Arc::clone(all), start: start as u32, len: len as u32 }
    }

    /// Returns the elements.
    pub fn elements(&self) -> &[Element] {
        &self.all[self.start as usize..][..self.len as usize]
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Appends the elements that follow it at its source. Nothing is copied, unless both came from another
    /// process.
    fn append(&mut self, rest: ElementSlice) {
        if !Arc::ptr_eq(&self.all, &rest.all) {
            let both = [self.elements(), rest.elements()].concat();
            *self = ElementSlice::new(&Arc::new(both), 0, self.len());
        }
        self.len += rest.len;
    }
}

/// A message: elements that are sent from their places without being copied together (section 7.1).
#[derive(Clone, Debug)]
pub struct Packet {
    /// Sum of the parts' lengths, and then these, if receivers need to know them.
    header: Vec<u32>,
    /// Index in its message of each part that is not empty, if the parts were shuffled.
    order: Vec<u32>,
    /// Parts that are not empty.
    parts: Vec<ElementSlice>,
}

/// A block of a packet. Its number counts for no bytes, as a receiver knows from the address where a word
/// belongs.
#[derive(Clone, Debug, Payload)]
pub struct PacketBlock {
    /// Index of the block.
    pub number: usize,
    /// Number of blocks of the packet.
    pub count: usize,
    /// True if its first elements belong to the last part of the block before.
    is_continuation: bool,
    /// Contents.
    pub packet: Packet,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub struct PacketPart {
    /// Source or destination of the part, whichever the packet's two ends do not say.
    pub peer: usize,
    /// Index of the part in its message, if the parts were shuffled.
    pub place: Option<usize>,
    /// Elements of the part.
    pub slice: ElementSlice,
}

/// The form in which a header has the lengths of P parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// Number of parts, including empty ones.
    pub P: usize,
    /// Number of parts that have an entry; less than P where at most so many are not empty.
    pub entries: usize,
}

impl Padding {
    /// Returns the padding with P lengths (section 7.1).
    pub fn full(P: usize) -> Padding {
        Padding { P, entries: P }
    }

    /// Returns the padding with no more lengths than a message has elements (section 7.3).
    pub fn sparse(P: usize, elements: usize) -> Padding {
        Padding { P, entries: P.min(elements) }
    }

    /// Returns the elements that it adds to a message: the lengths, their sum, and perhaps an order.
    pub fn elements(self, ordered: Option<Padding>) -> usize {
        1 + self.entries + ordered.map_or(0, |order| order.entries)
    }

    /// Writes the header for these parts. Where there is no room for all lengths, a length shares an element
    /// with the part's number: both are less than P.
    fn write(self, parts: &[PacketPart]) -> Vec<u32> {
        let mut header = vec![0; 1 + self.entries];
        header[0] = parts.iter().map(|part| part.slice.len).sum();
        for (n, part) in parts.iter().enumerate() {
            match self.entries == self.P {
                true => header[1 + part.peer] = part.slice.len,
                false => header[1 + n] = (part.peer as u32) << 16 | part.slice.len,
            }
        }
        header
    }

    /// Reads the number and the length of each part that is not empty.
    fn read(self, header: &[u32]) -> impl Iterator<Item = (usize, usize)> {
        let entry = move |(n, &entry): (usize, &u32)| match self.entries == self.P {
            true => (n, entry as usize),
            false => ((entry >> 16) as usize, (entry & 0xffff) as usize),
        };
        header[1..].iter().enumerate().map(entry).filter(|(_, len)| *len > 0)
    }
}

impl Packet {
    /// Creates a packet of one part without a header, as its receiver knows the length.
    pub fn from_slice(slice: ElementSlice) -> Packet {
        Packet { header: Vec::new(), order: Vec::new(), parts: vec![slice] }
    }

    /// Creates a packet with a header from these parts, which are not empty and in the order of `peer`. With
    /// an `order` it also has the parts' places, in so many entries.
    pub fn new(parts: Vec<PacketPart>, padding: Padding, order: Option<Padding>) -> Packet {
        let header = padding.write(&parts);
        let mut places = vec![0; order.map_or(0, |order| order.entries)];
        for (place, part) in places.iter_mut().zip(&parts) {
            *place = part.place.unwrap_or(0) as u32;
        }
        Packet { header, order: places, parts: parts.into_iter().map(|part| part.slice).collect() }
    }

    /// Takes the packet apart as its header says. `padding` makes the padding from the number of elements,
    /// which comes first.
    pub fn open(self, padding: impl FnOnce(usize) -> Padding) -> Vec<PacketPart> {
        let padding = padding(self.header[0] as usize);
        let mut order = self.order.iter();
        let parts = padding.read(&self.header).zip(self.parts).map(|((peer, len), slice)| {
            let place = order.next().map(|place| *place as usize);
            PacketPart { peer, place, slice: ElementSlice { len: len as u32, ..slice } }
        });
        parts.collect()
    }

    /// Returns the elements of all parts.
    pub fn into_elements(self) -> Vec<Element> {
        self.parts.iter().flat_map(ElementSlice::elements).copied().collect()
    }

    /// Cuts the packet into blocks of about `bytes` bytes. The header comes first.
    pub fn cut(self, bytes: usize) -> Vec<PacketBlock> {
        let most = (bytes / BYTES).max(1) as u32;
        let Packet { header, order, parts } = self;
        let mut room = most.saturating_sub((header.len() + order.len()) as u32);
        let mut blocks = vec![Packet { header, order, parts: Vec::new() }];
        let mut continuations = vec![false];
        for mut slice in parts {
            let mut is_begun = false;
            while slice.len > 0 {
                if room == 0 {
                    blocks.push(Packet { header: Vec::new(), order: Vec::new(), parts: Vec::new() });
                    continuations.push(is_begun);
                    room = most;
                }
                let len = slice.len.min(room);
                blocks[continuations.len() - 1].parts.push(ElementSlice { len, ..slice.clone() });
                slice = ElementSlice { start: slice.start + len, len: slice.len - len, ..slice };
                (room, is_begun) = (room - len, true);
            }
        }
        let count = blocks.len();
        let block =
            |(number, (packet, is_continuation))| PacketBlock { number, count, is_continuation, packet };
        blocks.into_iter().zip(continuations).enumerate().map(block).collect()
    }

    /// Joins all blocks of a packet, in their order.
    pub fn join(blocks: impl IntoIterator<Item = PacketBlock>) -> Packet {
        let mut joined = Packet { header: Vec::new(), order: Vec::new(), parts: Vec::new() };
        for PacketBlock { is_continuation, packet, .. } in blocks {
            joined.header.extend(packet.header);
            joined.order.extend(packet.order);
            let mut parts = packet.parts.into_iter();
            if let (true, Some(last)) = (is_continuation, joined.parts.last_mut()) {
                parts.next().into_iter().for_each(|rest| last.append(rest));
            }
            joined.parts.extend(parts);
        }
        joined
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> usize {
        self.parts.iter().map(ElementSlice::len).sum()
    }
}

impl Payload for Packet {
    fn bytes(&self) -> usize {
        BYTES * (self.header.len() + self.order.len() + self.elements())
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.header.pack(to);
        self.order.pack(to);
        to.add(&self.parts.len().to_ne_bytes());
        self.parts.iter().for_each(|part| part.elements().pack(to));
    }

    fn unpack(from: &mut Unpack) -> Option<Packet> {
        let (header, order) = (Vec::unpack(from)?, Vec::unpack(from)?);
        let part = |from: &mut Unpack| {
            let elements = Arc::new(Vec::unpack(from)?);
            Some(ElementSlice::new(&elements, 0, elements.len()))
        };
        let parts = (0..usize::unpack(from)?).map(|_| part(from)).collect::<Option<_>>()?;
        Some(Packet { header, order, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_can_be_cut_and_joined() {
        let all = Arc::new((0..100).collect());
        let part =
            |peer, start, len| PacketPart { peer, place: None, slice: ElementSlice::new(&all, start, len) };
        let packet =
            Packet::new(vec![part(0, 3, 20), part(2, 60, 9), part(3, 70, 1)], Padding::full(4), None);
        for bytes in [1, 4, 8, 20, 24, 40, 100, 139, 140, 1000] {
            let blocks = packet.clone().cut(bytes);
            let sum: usize = blocks.iter().map(|block| block.packet.bytes()).sum();
            assert_eq!((sum, packet.bytes()), (140, 140));
            assert!(blocks.iter().skip(1).all(|block| block.packet.bytes() <= bytes.max(4)), "{bytes}");
            assert!(
                blocks.iter().enumerate().all(|(n, block)| (block.number, block.count) == (n, blocks.len()))
            );
            let joined = Packet::join(blocks);
            assert_eq!(joined.header, packet.header);
            let lengths: Vec<usize> = joined.parts.iter().map(ElementSlice::len).collect();
            assert_eq!(lengths, [20, 9, 1]);
            assert_eq!(joined.into_elements(), packet.clone().into_elements());
        }
    }

    #[test]
    fn packet_header_has_the_parts() {
        let all = Arc::new((0..100).collect());
        let part = |peer, start, len| PacketPart {
            peer,
            place: Some(9 - peer),
            slice: ElementSlice::new(&all, start, len),
        };
        let parts = vec![part(1, 10, 2), part(4, 50, 1), part(5, 0, 1)];
        for (padding, order, bytes) in [
            (Padding::full(6), None, 4 * (1 + 6 + 4)),
            (Padding::sparse(6, 4), Some(Padding::sparse(6, 4)), 4 * (1 + 4 + 4 + 4)),
        ] {
            let packet = Packet::new(parts.clone(), padding, order);
            assert_eq!((packet.elements(), packet.bytes()), (4, bytes));
            let opened = packet.open(|_| padding);
            let parts_read: Vec<_> =
                opened.iter().map(|part| (part.peer, part.place, part.slice.elements().to_vec())).collect();
            let place = |peer: usize| order.map(|_| 9 - peer);
            let right = [(1, place(1), vec![10, 11]), (4, place(4), vec![50]), (5, place(5), vec![0])];
            assert_eq!(parts_read, right);
        }
    }
}
