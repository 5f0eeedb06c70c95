//! What is sent: elements from several places, and in front of them how long the parts are.

use std::sync::Arc;

use loggp::{Pack, Payload, Unpack};

/// An element.
pub type Element = u32;

/// The bytes of an element, of a length, and of a place in an order: a word of the CM-5.
pub const BYTES: usize = size_of::<Element>();

/// Elements that lie together at their source.
#[derive(Clone, Debug)]
pub struct Slice {
    /// All elements of the source.
    all: Arc<Vec<Element>>,
    /// The first of these.
    start: u32,
    /// How many they are.
    len: u32,
}

impl Slice {
    /// So many elements from this place on.
    pub fn new(all: &Arc<Vec<Element>>, start: usize, len: usize) -> Slice {
        Slice { all: Arc::clone(all), start: start as u32, len: len as u32 }
    }

    /// The elements.
    pub fn elements(&self) -> &[Element] {
        &self.all[self.start as usize..][..self.len as usize]
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Adds what comes behind it at its source: there is nothing to copy, unless both have come from another process.
    fn goes_on(&mut self, rest: Slice) {
        if !Arc::ptr_eq(&self.all, &rest.all) {
            let both = [self.elements(), rest.elements()].concat();
            *self = Slice::new(&Arc::new(both), 0, self.len());
        }
        self.len += rest.len;
    }
}

/// A message: elements that leave from the places where they are, without being copied together (section 7.1).
#[derive(Clone, Debug)]
pub struct Packet {
    /// The sum of the parts' lengths and then these, if receivers need to know them.
    header: Vec<u32>,
    /// To which part of its message every part belongs that is not empty, if that was shuffled.
    order: Vec<u32>,
    /// The parts that are not empty.
    parts: Vec<Slice>,
}

/// A piece of a packet. Its number counts for nothing, as a receiver knows from the address where a word belongs.
#[derive(Clone, Debug, Payload)]
pub struct Block {
    /// The how manieth it is.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Whether its first elements belong to the last part of the block before.
    goes_on: bool,
    /// What is in it.
    pub packet: Packet,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub struct Piece {
    /// From whom it comes or to whom it goes, whichever the packet's two ends do not say.
    pub whose: usize,
    /// Which part of its message it is, if that was shuffled.
    pub place: Option<usize>,
    /// Its elements.
    pub slice: Slice,
}

/// How a header says what the lengths of P parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The number of parts, the empty ones among them.
    pub P: usize,
    /// How many of them have an entry; less than P where so many at most are not empty.
    pub entries: usize,
}

impl Padding {
    /// P lengths (section 7.1).
    pub fn all(P: usize) -> Padding {
        Padding { P, entries: P }
    }

    /// No more lengths than a message has elements (section 7.3).
    pub fn least(P: usize, elements: usize) -> Padding {
        Padding { P, entries: P.min(elements) }
    }

    /// What it adds to a message, in elements: the lengths, their sum, and perhaps an order.
    pub fn elements(self, ordered: Option<Padding>) -> usize {
        1 + self.entries + ordered.map_or(0, |order| order.entries)
    }

    /// The header for these parts. Where there is no room for all lengths, a length shares an element with the part's
    /// number: both are less than P.
    fn write(self, parts: &[Piece]) -> Vec<u32> {
        let mut header = vec![0; 1 + self.entries];
        header[0] = parts.iter().map(|part| part.slice.len).sum();
        for (n, part) in parts.iter().enumerate() {
            match self.entries == self.P {
                true => header[1 + part.whose] = part.slice.len,
                false => header[1 + n] = (part.whose as u32) << 16 | part.slice.len,
            }
        }
        header
    }

    /// The parts that are not empty, by number and length.
    fn read(self, header: &[u32]) -> impl Iterator<Item = (usize, usize)> {
        let entry = move |(n, &entry): (usize, &u32)| match self.entries == self.P {
            true => (n, entry as usize),
            false => ((entry >> 16) as usize, (entry & 0xffff) as usize),
        };
        header[1..].iter().enumerate().map(entry).filter(|(_, len)| *len > 0)
    }
}

impl Packet {
    /// A message in one part, of which its receiver knows all that it needs.
    pub fn whole(slice: Slice) -> Packet {
        Packet { header: Vec::new(), order: Vec::new(), parts: vec![slice] }
    }

    /// These parts, none of them empty and in the order of `whose`, with their lengths; and with their places in an order of
    /// that many entries, if there is one.
    pub fn of(parts: Vec<Piece>, padding: Padding, order: Option<Padding>) -> Packet {
        let header = padding.write(&parts);
        let mut places = vec![0; order.map_or(0, |order| order.entries)];
        for (place, part) in places.iter_mut().zip(&parts) {
            *place = part.place.unwrap_or(0) as u32;
        }
        Packet { header, order: places, parts: parts.into_iter().map(|part| part.slice).collect() }
    }

    /// Takes it apart as its header says. `padding` makes the padding of the number of elements, which comes first.
    pub fn open(self, padding: impl FnOnce(usize) -> Padding) -> Vec<Piece> {
        let padding = padding(self.header[0] as usize);
        let mut order = self.order.iter();
        let parts = padding.read(&self.header).zip(self.parts).map(|((whose, len), slice)| {
            let place = order.next().map(|place| *place as usize);
            Piece { whose, place, slice: Slice { len: len as u32, ..slice } }
        });
        parts.collect()
    }

    /// The elements of a message in one part.
    pub fn into_elements(self) -> Vec<Element> {
        self.parts.iter().flat_map(Slice::elements).copied().collect()
    }

    /// Cuts it into blocks of about so many bytes. What a receiver must know comes first.
    pub fn cut(self, bytes: usize) -> Vec<Block> {
        let most = (bytes / BYTES).max(1) as u32;
        let Packet { header, order, parts } = self;
        let mut room = most.saturating_sub((header.len() + order.len()) as u32);
        let mut blocks = vec![Packet { header, order, parts: Vec::new() }];
        let mut goes_on = vec![false];
        for mut slice in parts {
            let mut begun = false;
            while slice.len > 0 {
                if room == 0 {
                    blocks.push(Packet { header: Vec::new(), order: Vec::new(), parts: Vec::new() });
                    goes_on.push(begun);
                    room = most;
                }
                let len = slice.len.min(room);
                blocks[goes_on.len() - 1].parts.push(Slice { len, ..slice.clone() });
                slice = Slice { start: slice.start + len, len: slice.len - len, ..slice };
                (room, begun) = (room - len, true);
            }
        }
        let of = blocks.len();
        let block = |(number, (packet, goes_on))| Block { number, of, goes_on, packet };
        blocks.into_iter().zip(goes_on).enumerate().map(block).collect()
    }

    /// Joins the blocks of a packet, all of them and in their order.
    pub fn join(blocks: impl IntoIterator<Item = Block>) -> Packet {
        let mut joined = Packet { header: Vec::new(), order: Vec::new(), parts: Vec::new() };
        for Block { goes_on, packet, .. } in blocks {
            joined.header.extend(packet.header);
            joined.order.extend(packet.order);
            let mut parts = packet.parts.into_iter();
            if let (true, Some(last)) = (goes_on, joined.parts.last_mut()) {
                parts.next().into_iter().for_each(|rest| last.goes_on(rest));
            }
            joined.parts.extend(parts);
        }
        joined
    }

    /// How many elements are in it.
    pub fn elements(&self) -> usize {
        self.parts.iter().map(Slice::len).sum()
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
            Some(Slice::new(&elements, 0, elements.len()))
        };
        let parts = (0..usize::unpack(from)?).map(|_| part(from)).collect::<Option<_>>()?;
        Some(Packet { header, order, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_is_cut_can_be_joined() {
        let all = Arc::new((0..100).collect());
        let part = |whose, start, len| Piece { whose, place: None, slice: Slice::new(&all, start, len) };
        let packet = Packet::of(vec![part(0, 3, 20), part(2, 60, 9), part(3, 70, 1)], Padding::all(4), None);
        for bytes in [1, 4, 8, 20, 24, 40, 100, 139, 140, 1000] {
            let blocks = packet.clone().cut(bytes);
            let sum: usize = blocks.iter().map(|block| block.packet.bytes()).sum();
            assert_eq!((sum, packet.bytes()), (140, 140));
            assert!(blocks.iter().skip(1).all(|block| block.packet.bytes() <= bytes.max(4)), "{bytes}");
            assert!(
                blocks.iter().enumerate().all(|(n, block)| (block.number, block.of) == (n, blocks.len()))
            );
            let joined = Packet::join(blocks);
            assert_eq!(joined.header, packet.header);
            let lengths: Vec<usize> = joined.parts.iter().map(Slice::len).collect();
            assert_eq!(lengths, [20, 9, 1]);
            assert_eq!(joined.into_elements(), packet.clone().into_elements());
        }
    }

    #[test]
    fn a_packet_says_what_is_in_it() {
        let all = Arc::new((0..100).collect());
        let part =
            |whose, start, len| Piece { whose, place: Some(9 - whose), slice: Slice::new(&all, start, len) };
        let parts = vec![part(1, 10, 2), part(4, 50, 1), part(5, 0, 1)];
        for (padding, order, bytes) in [
            (Padding::all(6), None, 4 * (1 + 6 + 4)),
            (Padding::least(6, 4), Some(Padding::least(6, 4)), 4 * (1 + 4 + 4 + 4)),
        ] {
            let packet = Packet::of(parts.clone(), padding, order);
            assert_eq!((packet.elements(), packet.bytes()), (4, bytes));
            let opened = packet.open(|_| padding);
            let said: Vec<_> =
                opened.iter().map(|part| (part.whose, part.place, part.slice.elements().to_vec())).collect();
            let place = |whose: usize| order.map(|_| 9 - whose);
            let right = [(1, place(1), vec![10, 11]), (4, place(4), vec![50]), (5, place(5), vec![0])];
            assert_eq!(said, right);
        }
    }
}
