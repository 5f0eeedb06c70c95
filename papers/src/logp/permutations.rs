//! Section 5.6: good and bad permutations.

use std::collections::HashMap;

use loggp::{Machine, Tag};

use crate::prelude::*;

pub(super) const PERMUTATIONS: Exhibit = Exhibit {
    id: "logp-sec5.6",
    place: "section 5.6",
    title: "good and bad permutations are the same to the model",
    notes: "A CM-5 of 64 processors: each sends 32 words to another, by a permutation. Beside it, how many messages pass the busiest link of a \
            hypercube of 64, where a message corrects the bits of its place from the lowest to the highest.",
    formulas: &["none"],
    show: show_permutations,
    ..Exhibit::USUAL
};

/// Bits of a processor's number.
const BITS: u32 = 6;
const P: usize = 1 << BITS;
const WORD: Tag<u64> = Tag::named(0, "word");
/// Words that a processor sends.
const WORDS: u64 = 32;

/// A function from a processor to its receiver.
type Permutation = fn(usize) -> usize;

/// Permutations: two that are good on a hypercube, and two that are bad.
const KINDS: [(&str, Permutation); 4] = [
    ("next processor", |id| (id + 1) % P),
    ("all bits complemented", |id| P - 1 - id),
    ("halves of the bits exchanged", |id| id % 8 * 8 + id / 8),
    ("bits reversed", |id| id.reverse_bits() >> (usize::BITS - BITS)),
];

/// Returns the number of messages that pass the busiest link of the hypercube.
fn busiest_link(permute: Permutation) -> u32 {
    let mut loads: HashMap<(usize, u32), u32> = HashMap::new();
    for id in 0..P {
        let mut at = id;
        for bit in (0..BITS).filter(|bit| (id ^ permute(id)) >> bit & 1 == 1) {
            *loads.entry((at, bit)).or_default() += 1;
            at ^= 1 << bit;
        }
    }
    loads.into_values().max().unwrap_or(0)
}

fn show_permutations(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new("permutations", "Permutations of 64 processors")
        .text("to")
        .exact("time in the model", "us")
        .exact("messages over a hypercube's busiest link", "");
    let mut times = Vec::new();
    for (name, permute) in KINDS {
        let run = Machine::new(cm5(P)).run(|p| {
            let to = permute(p.id());
            // A processor that is its own receiver has nothing to send.
            if to != p.id() {
                let mut missing = WORDS;
                for word in 0..WORDS {
                    p.send_receiving(to, WORD, word, WORD, |_, _| missing -= 1);
                }
                for _ in 0..missing {
                    p.recv(WORD);
                }
            }
        })?;
        times.push(run.ran(|run| in_us(run.time)));
        let link = f64::from(busiest_link(permute));
        table.push(vec![name.into(), in_us(run.time).into(), link.into()]);
    }
    let quote = "the model cannot distinguish between \u{201c}good\u{201d} permutations and \u{201c}bad\u{201d} permutations";
    let what = "time of each of four permutations over that of the first";
    let ratios: Vec<_> = times.iter().map(|time| *time / times[0]).collect();
    sheet.add_claim(what, "5.6", quote, exactly(1.0), ratios);
    let quote = "Various network interconnection topologies are known to have specific contention-free routing patterns.";
    let what = "messages over the busiest link of a hypercube: next processor, all bits complemented";
    sheet.add_claim(what, "5.6", quote, exactly(1.0), KINDS[..2].iter().map(|kind| busiest_link(kind.1)));
    let quote = "whereas other communication patterns will saturate intermediate routers in the network";
    let what = "messages over the busiest link of a hypercube: halves of the bits exchanged, bits reversed";
    sheet.add_claim(what, "5.6", quote, above(1.0), KINDS[2..].iter().map(|kind| busiest_link(kind.1)));
    sheet.add_table(table);
    Ok(())
}
