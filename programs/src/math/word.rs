//! A value that counts as one word.

use loggp::{Pack, Payload, Unpack};

/// A value that travels in one word, whatever its size: it counts for one byte, which is a word on every
/// machine. The papers' items, operands and partial sums are a word each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Word<T>(pub T);

impl<T: Payload> Payload for Word<T> {
    const SIZE: Option<usize> = Some(1);

    fn bytes(&self) -> usize {
        1
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.0.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<Word<T>> {
        T::unpack(from).map(Word)
    }
}
