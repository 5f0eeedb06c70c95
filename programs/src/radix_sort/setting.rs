//! What a case asks for: its options, read and checked.

use loggp::{Params, Time};

use super::input::Input;
use super::item::Digit;
use super::sort::Method;
use crate::option::{Cycles, OneOf, Whole};
use crate::{Case, Length, Opt, ProgramOption, Refusal};

/// The widest digit: its 65,536 buckets are as many as a tag can tell apart.
const WIDEST: usize = 16;
/// More bytes than this are not worth a run.
const MOST: u128 = 4 << 30;

/// The options.
pub static OPTIONS: [&dyn ProgramOption; 7] =
    [&KEY_BITS, &RADIX, &INPUT, &KEY_HISTOGRAM, &KEY_SORT, &KEY_MOVE, &BUCKET_SCAN];

/// How long a key is.
pub static KEY_BITS: Opt<u32> =
    Opt::new("key-bits", "BITS", "the bits of a key, 32 or 64", 32, &OneOf(&[("32", 32), ("64", 64)]));

/// How long a digit is.
pub static RADIX: Opt<u32> = Opt::new(
    "radix",
    "BITS",
    "the bits of a digit, by which one pass sorts; the more keys, the wider",
    8,
    &Whole(1..=WIDEST),
);

/// What the keys are like.
pub static INPUT: Opt<Input> = Opt::new(
    "input",
    "KIND",
    "the keys: uniform, skewed (into four buckets), sorted or equal",
    Input::Uniform,
    &OneOf(&[
        ("uniform", Input::Uniform),
        ("skewed", Input::Skewed),
        ("sorted", Input::Sorted),
        ("equal", Input::Equal),
    ]),
);

/// What a key in a histogram costs.
pub static KEY_HISTOGRAM: Opt<Length> =
    cost("key-histogram", "what counting a key costs where work is charged");
/// What a key in a local sort costs.
pub static KEY_SORT: Opt<Length> =
    cost("key-sort", "what a key in the local sort costs where work is charged");
/// What it costs to move a key.
pub static KEY_MOVE: Opt<Length> =
    cost("key-move", "what finding a key's place and putting it there costs where work is charged");
/// What a bucket in a sum costs.
pub static BUCKET_SCAN: Opt<Length> =
    cost("bucket-scan", "what adding to a bucket's sum costs where work is charged");

/// An option that says what something costs: a cycle unless told, as local operations do (LogP, section 3).
const fn cost(name: &'static str, about: &'static str) -> Opt<Length> {
    Opt::new(name, "TIME", about, Length::cycles(1), &Cycles)
}

/// What a unit of each kind of work costs.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// A key in the histogram.
    pub histogram: Time,
    /// A key in the local sort.
    pub local_sort: Time,
    /// A key that is moved to its place.
    pub moving: Time,
    /// A bucket in a sum.
    pub scan: Time,
}

/// What a case asks for.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The bits of a key.
    pub bits: u32,
    /// How to sort.
    pub method: Method,
    /// What the keys are like.
    pub input: Input,
    /// What computing costs where it is charged.
    pub charged: Rates,
}

impl Setting {
    /// What the case asks for.
    pub fn of(case: &Case, bulk: bool) -> Setting {
        Setting {
            bits: case.get(&KEY_BITS),
            method: Method { radix: case.get(&RADIX), bulk },
            input: case.get(&INPUT),
            charged: Rates {
                histogram: case.time(&KEY_HISTOGRAM),
                local_sort: case.time(&KEY_SORT),
                moving: case.time(&KEY_MOVE),
                scan: case.time(&BUCKET_SCAN),
            },
        }
    }

    /// The digits of a key.
    pub fn digits(&self) -> impl ExactSizeIterator<Item = Digit> {
        Digit::all(self.bits, self.method.radix)
    }

    /// Refuses what there is no room for, and what the machine cannot send.
    pub fn check(&self, case: &Case) -> Result<(), Refusal> {
        let Params { P, .. } = case.params;
        let (key, buckets) = ((self.bits / 8) as usize, 1_usize << self.method.radix);
        if case.size == 0 {
            return Err("a size of 0 leaves nothing to sort; give at least 1".into());
        }
        // Keys: the input, its reference, two buffers and what is in messages. Buckets: counts, sums and ranks.
        let (per_key, per_bucket) = (5 * key as u128, 6 * 4);
        let sums = P as u128 * buckets as u128 * per_bucket;
        let room = MOST.saturating_sub(sums) / (P as u128 * per_key);
        if room == 0 {
            return Err(format!(
                "the sums of {P} processors for {buckets} buckets each leave no room for keys; give a smaller radix"
            )
            .into());
        }
        if case.size as u128 > room {
            return Err(format!("there is no room for so many keys; give a size of at most {room}").into());
        }
        if P == 1 {
            return Ok(());
        }
        if !self.method.bulk && case.params.is_synchronous(case.params.words(key)) {
            return Err(format!(
                "everyone sends keys while it receives, and here a message of one key waits for its receiver; \
                 give an S of at least {}, or take the algorithm long",
                case.params.words(key)
            )
            .into());
        }
        let Some(longest) = case.params.longest().filter(|_| self.method.bulk) else { return Ok(()) };
        let bytes = longest.saturating_mul(case.params.word.get());
        if bytes < 8 * buckets {
            return Err(format!(
                "a message of the sums for {buckets} buckets is longer than the machine can carry, \
                 {bytes} bytes; give a smaller radix"
            )
            .into());
        }
        match bytes / key {
            most if case.size > most => Err(format!(
                "a message may have all keys of a processor, and the machine can carry {bytes} bytes; \
                 give a size of at most {most}"
            )
            .into()),
            _ => Ok(()),
        }
    }
}
