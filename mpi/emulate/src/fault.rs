//! A fault of a checked program: its kind, a sentence, and the places in the program that the sentence names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use loggp_mpi_trace::call::Place;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    InvalidParameter,
    ParameterMatching,
    CallOrdering,
    ReliesOnBuffering,
    MessageRace,
    RequestLifecycle,
    LocalConcurrency,
    GlobalConcurrency,
    EpochLifecycle,
    ResourceLeak,
    ThreadLevel,
    Crash,
    Abort,
    EarlyExit,
    EndlessLoop,
    WrongResult,
}

/// The kinds with their names, and what each is.
const KINDS: &[(FaultKind, &str, &str)] = &[
    (FaultKind::InvalidParameter, "invalid parameter", "a call has an argument that cannot be"),
    (
        FaultKind::ParameterMatching,
        "parameter matching",
        "two calls that belong together differ in an argument",
    ),
    (FaultKind::CallOrdering, "call ordering", "a call has no partner, or its calls come in another order"),
    (
        FaultKind::ReliesOnBuffering,
        "relies on buffering",
        "a send waits for ever unless an MPI buffers its message",
    ),
    (
        FaultKind::MessageRace,
        "message race",
        "the program is right only where messages come in another order",
    ),
    (FaultKind::RequestLifecycle, "request lifecycle", "a request is not started, or not completed"),
    (FaultKind::LocalConcurrency, "local concurrency", "a buffer is used while its request is open"),
    (
        FaultKind::GlobalConcurrency,
        "global concurrency",
        "two accesses to the same bytes of a window, of which one writes, have no order",
    ),
    (
        FaultKind::EpochLifecycle,
        "epoch lifecycle",
        "a one-sided call is outside of an epoch, or an epoch is not closed or begins in another one",
    ),
    (FaultKind::ResourceLeak, "resource leak", "what the program has made is never freed"),
    (FaultKind::ThreadLevel, "thread level", "a thread calls that may not"),
    (FaultKind::Crash, "crash", "a signal has ended a rank"),
    (FaultKind::Abort, "abort", "a rank has called MPI_Abort"),
    (FaultKind::EarlyExit, "early exit", "a rank has ended before it called MPI_Finalize"),
    (FaultKind::EndlessLoop, "endless loop", "a rank computes for longer than the limit between two calls"),
    (FaultKind::WrongResult, "wrong result", "the program ends with another exit status than 0"),
];

impl FaultKind {
    /// Returns all kinds.
    pub fn all() -> impl Iterator<Item = FaultKind> {
        KINDS.iter().map(|(kind, ..)| *kind)
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<FaultKind> {
        KINDS.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    fn row(self) -> &'static (FaultKind, &'static str, &'static str) {
        KINDS.iter().find(|(kind, ..)| *kind == self).expect("each kind has a row")
    }

    /// Returns the name by which reports know the kind.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns what faults of the kind have in common.
    pub fn meaning(self) -> &'static str {
        self.row().2
    }

    /// Returns whether the program itself has ended, so that it may have said why.
    pub fn is_end(self) -> bool {
        use FaultKind::{Abort, Crash, EarlyExit, EndlessLoop, WrongResult};
        matches!(self, Crash | Abort | EarlyExit | EndlessLoop | WrongResult)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Faults that do not end a run, sentences with marks, and the ranks of which each is said.
pub type Notes = BTreeMap<(FaultKind, String), BTreeSet<usize>>;

/// A fault of a checked program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// A sentence on what is wrong, and a line on what each rank was doing.
    pub sentence: String,
    /// The rank with which the sentence begins.
    pub rank: Option<usize>,
    /// The places that the sentence names, in its order and each once. Files have their whole paths.
    pub places: Vec<Place>,
    /// True if the program may be right where messages come in another order.
    pub may_be_race: bool,
}

impl Fault {
    /// Makes a fault of a sentence in which places have marks, as those of a [`Session`](crate::Session) have.
    pub fn new(kind: FaultKind, marked: &str) -> Fault {
        let (sentence, places) = read_marks(marked);
        let rank = sentence.strip_prefix("rank ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        Fault { kind, sentence, rank, places, may_be_race: false }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.sentence)
    }
}

/// What stands before and behind a place in a marked sentence, and between its parts.
const MARK: char = '\u{1e}';
const PART: char = '\u{1f}';

/// Returns a place so that a [`Fault`] finds it in its sentence.
pub(crate) fn mark(place: &Place) -> String {
    let (file, line) = place.source.clone().unwrap_or_default();
    format!("{MARK}{}{PART}{file}{PART}{line}{MARK}", place.function)
}

/// Returns a marked sentence as it is shown: a file has its name alone.
pub(crate) fn without_marks(marked: &str) -> String {
    read_marks(marked).0
}

fn read_marks(marked: &str) -> (String, Vec<Place>) {
    let (mut sentence, mut places) = (String::new(), Vec::new());
    for (n, part) in marked.split(MARK).enumerate() {
        let mut parts = part.split(PART);
        let (true, Some(function), Some(file), Some(line)) =
            (n % 2 == 1, parts.next(), parts.next(), parts.next())
        else {
            sentence += part;
            continue;
        };
        let source = line.parse().ok().filter(|_| !file.is_empty()).map(|line| (file.to_owned(), line));
        sentence += function;
        if let Some((file, line)) = &source {
            sentence += &format!(" ({}:{line})", file.rsplit('/').next().unwrap_or(file));
        }
        let place = Place { function: function.into(), source };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    (sentence, places)
}
