//! Options of a case beside its traffic.

use std::borrow::Cow;

use super::generators::{self, FanOut, Skew};
use super::random::RandomSchedule;
use super::schedule::SendSchedule;
use crate::option::{CustomKind, Cycles, OneOf, OptionalKind, WholeNumber};
use crate::{Opt, TimeSpan};

/// The option for the communication matrix.
pub static MATRIX: Opt<Cow<str>> = Opt::new(
    "matrix",
    "NAME|FILE.csv",
    "the communication matrix, by its name or from a file; `loggp matrix` lists and shows them",
    Cow::Borrowed("skewed"),
    &CustomKind { read: generators::parse_name, write: |name| name.to_string() },
);

/// The option for the traffic t.
pub static TRAFFIC: Opt<Option<usize>> =
    Opt::new("traffic", "WORDS", "the traffic t, in place of --size", None, &OptionalKind(&ELEMENTS))
        .instead_of_size();

/// The option for the generator's k.
pub static FAN_OUT: Opt<Option<FanOut>> = Opt::new(
    "fan-out",
    "K|any",
    "of the matrix skewed: how many processors each sends to, or drawn from 2, 4 .. P [default: 8 or P]",
    None,
    &OptionalKind(&CustomKind {
        read: fan_out,
        write: |fan_out| match fan_out {
            FanOut::Any => ANY.into(),
            FanOut::Fixed(receivers) => receivers.to_string(),
        },
    }),
);

/// The option for the generator's l.
pub static SKEW: Opt<Option<Skew>> = Opt::new(
    "skew",
    "L|any",
    "of the matrix skewed: lK receivers share the fraction 1-l of the traffic; drawn from 1/2, 1/4 .. 1/K if \
     any [default: 1/K]",
    None,
    &OptionalKind(&CustomKind {
        read: skew,
        write: |skew| match skew {
            Skew::Any => ANY.into(),
            Skew::Fixed(over, 1.0) => over.to_string(),
            Skew::Fixed(over, under) => format!("{over}/{under}"),
        },
    }),
);

/// The option for the bound r of a random matrix.
pub static OUTGOING: Opt<Option<usize>> = Opt::new(
    "outgoing",
    "R",
    "of the matrix random: the most that a processor sends [default: the traffic]",
    None,
    &OptionalKind(&ELEMENTS),
);

/// The option for the bound c of a random matrix.
pub static INCOMING: Opt<Option<usize>> = Opt::new(
    "incoming",
    "C",
    "of the matrix random: the most that a processor receives [default: the traffic]",
    None,
    &OptionalKind(&ELEMENTS),
);

/// The option for the first stage's schedule.
pub static STAGE1: Opt<SendSchedule> = Opt::new(
    "stage1",
    "SCHEDULE",
    "how two-stage algorithms send in the first stage: linear, random or random-improved",
    SendSchedule::Linear,
    &OneOf(&[
        ("linear", SendSchedule::Linear),
        ("random", SendSchedule::Random(RandomSchedule::PLAIN)),
        ("random-improved", SendSchedule::Random(RandomSchedule::IMPROVED)),
    ]),
)
.for_algorithms(TWO_STAGE)
.with_choices(|_, _| ["linear", "random", "random-improved"].map(String::from).into());

/// The option for the elements of a message that are sent at once.
pub static CHUNK: Opt<usize> = Opt::new(
    "chunk",
    "WORDS|all",
    "how much the random algorithms send of a message before they serve others, or all of it",
    1024,
    &CustomKind {
        read: chunk,
        write: |chunk| if *chunk == usize::MAX { "all".into() } else { chunk.to_string() },
    },
)
.for_algorithms(WITH_RANDOM)
.with_choices(|_, _| ["256", "1024", "4096", "all"].map(String::from).into());

/// The option for the cost of setting up a part.
pub static PART: Opt<TimeSpan> = Opt::new(
    "part",
    "TIME",
    "what it costs to set the place and length of a part (figures 8 and 10); a bare number counts cycles",
    TimeSpan::from_cycles(1),
    &Cycles,
);

/// The algorithms with a random schedule, in their first stage or their only one: the two-stage ones first.
const WITH_RANDOM: &[&str] = &[
    "two-stage",
    "two-stage-scan",
    "two-stage-alternate",
    "two-stage-alternate-combine",
    "two-stage-shuffled",
    "two-stage-sparse",
    "random",
    "random-improved",
];
/// The algorithms with two stages.
const TWO_STAGE: &[&str] = WITH_RANDOM.split_at(6).0;
/// The value for a random choice.
const ANY: &str = "any";
/// Most elements that have addresses, of 4 bytes each.
const MOST: usize = (1 << 32) - 1;
/// Numbers of elements.
static ELEMENTS: WholeNumber = WholeNumber(0..=MOST);

/// Reads the elements of a message that are sent at once.
fn chunk(text: &str) -> Result<usize, String> {
    match (text, crate::option::parse_count(text)) {
        ("all", _) => Ok(usize::MAX),
        (_, Some(elements @ 1..=MOST)) => Ok(elements),
        _ => refuse!("give a number of elements of at least 1, or all"),
    }
}

fn fan_out(text: &str) -> Result<FanOut, String> {
    match text {
        ANY => Ok(FanOut::Any),
        _ => crate::option::parse_count(text)
            .map(FanOut::Fixed)
            .ok_or_else(|| "give a number of receivers from 1 to P, or any".into()),
    }
}

fn skew(text: &str) -> Result<Skew, String> {
    if text == ANY {
        return Ok(Skew::Any);
    }
    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
    let numbers = over.trim().parse::<f64>().ok().zip(under.trim().parse::<f64>().ok());
    let fraction = numbers.filter(|(over, under)| *over > 0.0 && over < under && under.is_finite());
    fraction
        .map(|(over, under)| Skew::Fixed(over, under))
        .ok_or_else(|| "give a fraction between 0 and 1, as 1/32 or 0.5, or any".into())
}
