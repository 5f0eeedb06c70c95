//! A value that counts as one word.

use loggp::Payload;

/// A value that travels in one word, however much is in it: it counts for one byte, which is a word on every
/// machine. The papers' items, operands and partial sums are a word each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Word<T>(pub T);

impl<T: Send + 'static> Payload for Word<T> {
    const SIZE: Option<usize> = Some(1);

    fn bytes(&self) -> usize {
        1
    }
}
