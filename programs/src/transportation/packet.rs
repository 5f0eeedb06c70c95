//! What is sent: elements from several places, and in front of them how long the parts are.

use std::sync::Arc;

use loggp::Payload;

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

/// A part of a packet.
#[derive(Clone, Debug)]
pub struct Part {
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
    fn write(self, parts: &[Part]) -> Vec<u32> {
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
    pub fn of(parts: Vec<Part>, padding: Padding, order: Option<Padding>) -> Packet {
        let header = padding.write(&parts);
        let mut places = vec![0; order.map_or(0, |order| order.entries)];
        for (place, part) in places.iter_mut().zip(&parts) {
            *place = part.place.unwrap_or(0) as u32;
        }
        Packet { header, order: places, parts: parts.into_iter().map(|part| part.slice).collect() }
    }

    /// Takes it apart as its header says. `padding` makes the padding of the number of elements, which comes first.
    pub fn open(self, padding: impl FnOnce(usize) -> Padding) -> Vec<Part> {
        let padding = padding(self.header[0] as usize);
        let mut order = self.order.iter();
        let parts = padding.read(&self.header).zip(self.parts).map(|((whose, len), slice)| {
            let place = order.next().map(|place| *place as usize);
            Part { whose, place, slice: Slice { len: len as u32, ..slice } }
        });
        parts.collect()
    }

    /// The elements of a message in one part.
    pub fn into_elements(self) -> Vec<Element> {
        self.parts.iter().flat_map(Slice::elements).copied().collect()
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_says_what_is_in_it() {
        let all = Arc::new((0..100).collect());
        let part =
            |whose, start, len| Part { whose, place: Some(9 - whose), slice: Slice::new(&all, start, len) };
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
            let place = |whose| order.map(|_| 9 - whose);
            let right = [(1, place(1), vec![10, 11]), (4, place(4), vec![50]), (5, place(5), vec![0])];
            assert_eq!(said, right);
        }
    }
}
