//! Settings of a case: its options, read and checked.

use loggp::{Params, Time};

use super::input::KeyDistribution;
use super::item::Digit;
use super::sort::SortMethod;
use crate::option::{Cycles, OneOf, WholeNumber};
use crate::{Case, Opt, Refusal, TimeSpan};

/// Bits of the widest digit: its 65,536 buckets are as many as a tag can tell apart.
const WIDEST: usize = 16;
/// Most bytes of a run.
const MOST: u128 = 4 << 30;

/// The option for the length of a key.
pub static KEY_BITS: Opt<u32> =
    Opt::new("key-bits", "BITS", "the bits of a key, 32 or 64", 32, &OneOf(&[("32", 32), ("64", 64)]));

/// The option for the length of a digit.
pub static RADIX: Opt<u32> = Opt::new(
    "radix",
    "BITS",
    "the bits of a digit, by which one pass sorts; the more keys, the wider",
    8,
    &WholeNumber(1..=WIDEST),
)
.with_choices(|_, _| (1..=WIDEST).map(|bits| bits.to_string()).collect());

/// The option for the distribution of the keys.
pub static INPUT: Opt<KeyDistribution> = Opt::new(
    "input",
    "KIND",
    "the keys: uniform, skewed (into four buckets), sorted or equal",
    KeyDistribution::Uniform,
    &OneOf(&[
        ("uniform", KeyDistribution::Uniform),
        ("skewed", KeyDistribution::Skewed),
        ("sorted", KeyDistribution::Sorted),
        ("equal", KeyDistribution::Equal),
    ]),
);

/// The option for the cost of a key in a histogram.
pub static KEY_HISTOGRAM: Opt<TimeSpan> =
    cost_option("key-histogram", "what counting a key costs where work is charged");
/// The option for the cost of a key in a local sort.
pub static KEY_SORT: Opt<TimeSpan> =
    cost_option("key-sort", "what a key in the local sort costs where work is charged");
/// The option for the cost of moving a key.
pub static KEY_MOVE: Opt<TimeSpan> =
    cost_option("key-move", "what finding a key's place and putting it there costs where work is charged");
/// The option for the cost of a bucket in a sum.
pub static BUCKET_SCAN: Opt<TimeSpan> =
    cost_option("bucket-scan", "what adding to a bucket's sum costs where work is charged");

/// Makes an option for a cost: a cycle by default, as for local operations (LogP, section 3).
const fn cost_option(name: &'static str, about: &'static str) -> Opt<TimeSpan> {
    Opt::new(name, "TIME", about, TimeSpan::from_cycles(1), &Cycles)
}

/// Costs of a unit of each kind of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortRates {
    /// Key in the histogram.
    pub histogram: Time,
    /// Key in the local sort.
    pub local_sort: Time,
    /// Key that is moved to its place.
    pub moving: Time,
    /// Bucket in a sum.
    pub scan: Time,
}

/// The settings of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortSetting {
    /// Bits of a key.
    pub bits: u32,
    /// Method of the sort.
    pub method: SortMethod,
    /// Distribution of the keys.
    pub input: KeyDistribution,
    /// Costs of computing where work is charged.
    pub charged: SortRates,
}

impl SortSetting {
    /// Reads the settings of a case.
    pub(super) fn new(case: &Case, bulk: bool) -> SortSetting {
        SortSetting {
            bits: case.get(&KEY_BITS),
            method: SortMethod { radix: case.get(&RADIX), bulk },
            input: case.get(&INPUT),
            charged: SortRates {
                histogram: case.time(&KEY_HISTOGRAM),
                local_sort: case.time(&KEY_SORT),
                moving: case.time(&KEY_MOVE),
                scan: case.time(&BUCKET_SCAN),
            },
        }
    }

    /// Returns the digits of a key.
    pub(super) fn digits(&self) -> impl ExactSizeIterator<Item = Digit> {
        Digit::all(self.bits, self.method.radix)
    }

    /// Refuses a case that there is no room for, or that the machine cannot send.
    pub(super) fn check(&self, case: &Case) -> Result<(), Refusal> {
        let Params { P, .. } = case.params;
        let (key, buckets) = ((self.bits / 8) as usize, 1_usize << self.method.radix);
        if case.size == 0 {
            refuse!("a size of 0 leaves nothing to sort; give at least 1");
        }
        // Keys: the input, its reference, two buffers and the messages. Buckets: counts, sums and ranks.
        let (per_key, per_bucket) = (5 * key as u128, 6 * 4);
        let sums = P as u128 * buckets as u128 * per_bucket;
        let room = MOST.saturating_sub(sums) / (P as u128 * per_key);
        if room == 0 {
            refuse!(
                "the sums of {P} processors for {buckets} buckets each leave no room for keys; give a smaller radix"
            );
        }
        if case.size as u128 > room {
            refuse!("there is no room for so many keys; give a size of at most {room}");
        }
        if P == 1 {
            return Ok(());
        }
        if !self.method.bulk && case.params.is_synchronous(case.params.words(key)) {
            refuse!(
                "everyone sends keys while it receives, and here a message of one key waits for its receiver; \
                 give an S of at least {}, or take the algorithm long",
                case.params.words(key)
            );
        }
        let Some(longest) = case.params.longest_message().filter(|_| self.method.bulk) else { return Ok(()) };
        let bytes = longest.saturating_mul(case.params.word.get());
        if bytes < 8 * buckets {
            refuse!(
                "a message of the sums for {buckets} buckets is longer than the machine can carry, \
                 {bytes} bytes; give a smaller radix"
            );
        }
        match bytes / key {
            most if case.size > most => refuse!(
                "a message may have all keys of a processor, and the machine can carry {bytes} bytes; \
                 give a size of at most {most}"
            ),
            _ => Ok(()),
        }
    }
}
