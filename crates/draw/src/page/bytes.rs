//! The bytes of a page's columns: numbers of variable length, deflated, in base64.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// A buffer of encoded numbers.
#[derive(Debug, Default)]
pub(super) struct ByteWriter(pub Vec<u8>);

impl ByteWriter {
    /// Adds a number with seven bits in a byte, the lowest first. The eighth bit says that another byte
    /// follows.
    pub(super) fn number(&mut self, mut number: u64) {
        while number > 0x7F {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds a number that may be negative. Numbers near to 0 are short.
    pub(super) fn signed(&mut self, number: i64) {
        self.number(zigzag(number));
    }

    /// Returns the bytes deflated, in base64.
    pub(super) fn to_base64(&self) -> String {
        /// Higher levels take twice as long and save a tenth.
        const LEVEL: u8 = 4;
        base64(&compress_to_vec_zlib(&self.0, LEVEL))
    }
}

/// Maps 0, -1, 1, -2, 2 ... to 0, 1, 2, 3, 4 ...
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Encodes bytes in base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for letter in 0..4 {
            let six = bits >> (18 - 6 * letter) & 0x3F;
            text.push(if letter > three.len() { '=' } else { char::from(LETTERS[six as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_makes_four_letters_of_three_bytes() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob?~", "Zm9vYj9+")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
