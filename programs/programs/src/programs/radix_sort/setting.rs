//! What a case asks for: its options, read and checked.

use loggp::{Params, Time, US};

use super::input::Input;
use super::item::Digit;
use super::sort::Plan;
use crate::costs::duration;
use crate::{Case, ProgramOption, Refusal};

/// The widest digit: its 65,536 buckets are as many as a tag can tell apart.
const WIDEST: u32 = 16;
/// More bytes than this are not worth a run.
const MOST: u128 = 4 << 30;

/// The options.
pub static OPTIONS: [ProgramOption; 7] = [
    ProgramOption {
        name: "key-bits",
        value: "BITS",
        about: "the bits of a key, 32 or 64",
        default: "32",
        instead_of_size: false,
        check: |text| key_bits(text).map(|_| ()),
    },
    ProgramOption {
        name: "radix",
        value: "BITS",
        about: "the bits of a digit, by which one pass sorts; the more keys, the wider",
        default: "8",
        instead_of_size: false,
        check: |text| radix(text).map(|_| ()),
    },
    ProgramOption {
        name: "input",
        value: "KIND",
        about: "the keys: uniform, skewed (into four buckets), sorted or equal",
        default: "uniform",
        instead_of_size: false,
        check: |text| Input::named(text).map(|_| ()),
    },
    cost("key-histogram", "what counting a key costs where work is charged"),
    cost("key-sort", "what a key in the local sort costs where work is charged"),
    cost("key-move", "what finding a key's place and putting it there costs where work is charged"),
    cost("bucket-scan", "what adding to a bucket's sum costs where work is charged"),
];

/// An option that says what something costs: a cycle unless told, as local operations do (LogP, section 3).
const fn cost(name: &'static str, about: &'static str) -> ProgramOption {
    ProgramOption {
        name,
        value: "TIME",
        about,
        default: "1",
        instead_of_size: false,
        check: |text| duration(text, US).map(drop),
    }
}

fn key_bits(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|bits| [32, 64].contains(bits)).ok_or_else(|| "give 32 or 64".into())
}

fn radix(text: &str) -> Result<u32, String> {
    let bits = text.parse().ok().filter(|bits| (1..=WIDEST).contains(bits));
    bits.ok_or_else(|| format!("give a number of bits from 1 to {WIDEST}"))
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
    pub plan: Plan,
    /// What the keys are like.
    pub input: Input,
    /// What computing costs where it is charged.
    pub charged: Rates,
}

impl Setting {
    /// What the case asks for, or a sentence that says what of it cannot be.
    pub fn of(case: &Case, bulk: bool) -> Result<Setting, Refusal> {
        let cost = |name| case.read(name, |text| duration(text, case.params.cycle));
        Ok(Setting {
            bits: case.read("key-bits", key_bits)?,
            plan: Plan { radix: case.read("radix", radix)?, bulk },
            input: case.read("input", Input::named)?,
            charged: Rates {
                histogram: cost("key-histogram")?,
                local_sort: cost("key-sort")?,
                moving: cost("key-move")?,
                scan: cost("bucket-scan")?,
            },
        })
    }

    /// The digits of a key.
    pub fn digits(&self) -> impl ExactSizeIterator<Item = Digit> {
        Digit::all(self.bits, self.plan.radix)
    }

    /// Refuses what there is no room for, and what the machine cannot send.
    pub fn check(&self, case: &Case) -> Result<(), Refusal> {
        let Params { P, .. } = case.params;
        let (key, buckets) = ((self.bits / 8) as usize, 1_usize << self.plan.radix);
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
        if !self.plan.bulk && case.params.is_synchronous(case.params.words(key)) {
            return Err(format!(
                "everyone sends keys while it receives, and here a message of one key waits for its receiver; \
                 give an S of at least {}, or take the algorithm long",
                case.params.words(key)
            )
            .into());
        }
        let Some(longest) = case.params.longest().filter(|_| self.plan.bulk) else { return Ok(()) };
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
