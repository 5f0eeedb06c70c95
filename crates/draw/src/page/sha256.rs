//! SHA-256 (FIPS 180-4), by which a page names the one script that may run in it.

use super::bytes::base64;

/// Returns the source of a script as a Content-Security-Policy has it.
#[doc(hidden)]
pub fn script_source(script: &str) -> String {
    format!("'sha256-{}'", base64(&sha256(script.as_bytes())))
}

/// The first primes, of whose roots the constants are the fractional parts.
const PRIMES: [u32; 64] = {
    let (mut primes, mut count, mut candidate) = ([0; 64], 0, 2);
    while count < 64 {
        let mut divisor = 0;
        while divisor < count && candidate % primes[divisor] != 0 {
            divisor += 1;
        }
        if divisor == count {
            primes[count] = candidate;
            count += 1;
        }
        candidate += 1;
    }
    primes
};

/// Returns the first 32 bits of the fractional part of a number's root of this degree.
const fn fraction_of_root(number: u32, degree: u32) -> u32 {
    // The greatest number whose power is at most number * 2^(32 * degree), bit by bit.
    let (mut root, mut bit) = (0_u128, 1_u128 << 36);
    while bit > 0 {
        let tried = root + bit;
        let fits = match degree {
            2 => tried * tried <= (number as u128) << 64,
            _ => tried * tried <= ((number as u128) << 96) / tried,
        };
        if fits {
            root = tried;
        }
        bit >>= 1;
    }
    root as u32
}

fn sha256(text: &[u8]) -> [u8; 32] {
    let rounds: [u32; 64] = PRIMES.map(|prime| fraction_of_root(prime, 3));
    let mut state: [u32; 8] = std::array::from_fn(|index| fraction_of_root(PRIMES[index], 2));
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((8 * text.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            words[at] = words[at - 16].wrapping_add(a).wrapping_add(words[at - 7]).wrapping_add(b);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, round) in words.iter().zip(rounds) {
            let one = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = e & f ^ !e & g;
            let first = [one, choice, round, *word].into_iter().fold(h, u32::wrapping_add);
            let zero = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = a & b ^ a & c ^ b & c;
            (h, g, f, e, d, c, b, a) =
                (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(zero).wrapping_add(majority));
        }
        for (sum, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(more);
        }
    }
    let mut bytes = [0; 32];
    for (four, word) in bytes.chunks_exact_mut(4).zip(state) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let hex = |text: &str| sha256(text.as_bytes()).map(|byte| format!("{byte:02x}")).concat();
        for (text, hash) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(hex(text), hash);
        }
        assert_eq!(hex(&"a".repeat(1_000_000))[..16], *"cdc76e5c9914fb92");
    }
}
