//! The header of a merged file, as it is written.

use super::clock::ClockCorrection;
use super::header::{Facts, MERGED_MAGIC, VERSION};
use crate::call::Place;

/// A place in the program, and what is known of the place.
pub(super) type NamedPlace = ((String, u64), Place);

/// Returns the first bytes of a merged file. The places are in the order of their modules and addresses.
pub(super) fn merged_header(
    facts: &Facts,
    sections: &[u64],
    clocks: &[ClockCorrection],
    places: &[NamedPlace],
) -> Vec<u8> {
    let mut header = Vec::new();
    for text in [&facts.mpi, &facts.library, &facts.program] {
        put_text(&mut header, text);
    }
    put_signed(&mut header, clocks.first().map_or(0, |clock| clock.origin));
    put(&mut header, sections.len() as u64);
    for ((section, clock), host) in sections.iter().zip(clocks).zip(&facts.hosts) {
        put(&mut header, *section);
        put_text(&mut header, host);
        put(&mut header, clock.offsets.len() as u64);
        for (when, offset) in &clock.offsets {
            put_signed(&mut header, *when);
            put_signed(&mut header, *offset);
        }
    }
    let mut texts: Vec<&str> = Vec::new();
    for ((module, _), place) in places {
        texts.push(module);
        texts.push(&place.function);
        texts.extend(place.source.as_ref().map(|(file, _)| file.as_str()));
    }
    texts.sort_unstable();
    texts.dedup();
    put(&mut header, texts.len() as u64);
    texts.iter().for_each(|text| put_text(&mut header, text));
    let number = |text: &str| texts.binary_search(&text).unwrap_or_default() as u64;
    put(&mut header, places.len() as u64);
    for ((module, address), place) in places {
        put(&mut header, number(module));
        put(&mut header, *address);
        put(&mut header, number(&place.function));
        put(&mut header, place.source.as_ref().map_or(0, |(file, _)| number(file) + 1));
        put(&mut header, place.source.as_ref().map_or(0, |(_, line)| u64::from(*line)));
    }
    let mut bytes = MERGED_MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    bytes
}

/// Appends a number as `Cursor::number` reads it.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number as `Cursor::signed` reads it.
fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

/// Appends a text as `Cursor::text` reads it.
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}
