//! Tables that say which algorithm a library takes for a collective.

use super::algorithm::CollectiveAlgorithm;
use super::call::{CollectiveCall, CollectiveKind};
use super::methods;

/// Which algorithm is taken for each kind of collective, by the number of ranks and the bytes.
///
/// A table is text. A line is `collective min-ranks min-bytes algorithm [segment-bytes]`; what is behind a `#` is a
/// comment.
///
/// - `collective` is MPI's name in small letters, such as `bcast`, `ibcast` or `reduce_scatter`. `allreduce-ordered`
///   is for operations that are not commutative. Without lines of its own an immediate collective is done as the
///   blocking one, and an ordered one as the other.
/// - `min-ranks` is the least number of ranks for the line: `16`, or `pow2:16` for powers of 2 alone. Of all that hold,
///   the lines with the most ranks count, and among these those for powers of 2.
/// - `min-bytes` is the least number of bytes. They are the whole message in a broadcast and in reductions, and
///   otherwise what a rank gives each other one, or their mean; `total:4096` counts as much for every rank. Of the
///   lines left, the one with the most bytes counts.
/// - `algorithm` is a name of [`METHODS`](super::METHODS), with `:` and a fan-out where it has one, as `knomial:4`.
/// - `segment-bytes` divides messages, where the algorithm can.
///
/// A line `empty` and names of collectives says which of them send messages though they have no bytes: collectives
/// without any, or messages of those with a length for each rank. Others leave them out.
///
/// A line `communicator` and collectives with their bytes, such as `iallreduce:4 iallreduce:4`, says by which messages
/// ranks agree on a new communicator.
///
/// What a table does not say, another one can: see [`or`](CollectiveTable::or).
#[derive(Clone, Debug)]
pub struct CollectiveTable {
    /// The lines of each kind, by its number and [`CollectiveForm`].
    bands: Vec<Vec<Band>>,
    /// The kinds that send messages of no bytes, by the same number; `None` if no line names any.
    empty: Option<Vec<bool>>,
    /// The collectives by which a communicator is made; `None` if no line names them.
    agreement: Option<Vec<AgreementStep>>,
    /// The table for all that this one does not say.
    usual: Option<&'static CollectiveTable>,
}

/// A collective without a root by which ranks agree on a new communicator, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreementStep {
    pub kind: CollectiveKind,
    pub is_immediate: bool,
    /// The bytes that each rank gives.
    pub bytes: u64,
}

impl AgreementStep {
    pub const BARRIER: AgreementStep =
        AgreementStep { kind: CollectiveKind::Barrier, is_immediate: false, bytes: 0 };
}

/// Lines for the same numbers of ranks.
#[derive(Clone, Debug)]
struct Band {
    ranks: usize,
    is_power_of_2: bool,
    steps: Vec<Threshold>,
}

/// An algorithm, and the least bytes for which the algorithm is chosen.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    bytes: u64,
    is_total: bool,
    algorithm: CollectiveAlgorithm,
}

/// An error in a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// The error, in one sentence.
    pub why: String,
}

impl CollectiveTable {
    /// Reads a table from text.
    ///
    /// ```
    /// use loggp_goal::patterns::{CollectiveCall, CollectiveKind, CollectiveTable, Sizes};
    ///
    /// let table = CollectiveTable::parse("bcast 2 0 linear\nbcast 16 4096 knomial:4 1024 # long ones")?;
    /// let whole = Sizes::Same(8000);
    /// let call = CollectiveCall { sent: whole, received: whole, ..CollectiveCall::new(CollectiveKind::Bcast) };
    /// assert_eq!(table.choose(&call, 15).unwrap().method.name, "linear");
    /// let algorithm = table.choose(&call, 16).unwrap();
    /// assert_eq!((algorithm.method.name, algorithm.fan_out, algorithm.segment), ("knomial", Some(4), 1024));
    ///
    /// let error = CollectiveTable::parse("\nbcast 2 0 ring").unwrap_err();
    /// assert!(error.to_string().starts_with("line 2: bcast cannot be done by \"ring\"; give linear, chain, "));
    /// # Ok::<(), loggp_goal::patterns::TableError>(())
    /// ```
    pub fn parse(text: &str) -> Result<CollectiveTable, TableError> {
        let bands = vec![Vec::new(); 4 * CollectiveKind::ALL.len()];
        let mut table = CollectiveTable { bands, empty: None, agreement: None, usual: None };
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if !words.is_empty() {
                table.read_line(&words).map_err(|why| TableError { line: number + 1, why })?;
            }
        }
        Ok(table)
    }

    fn read_line(&mut self, words: &[&str]) -> Result<(), String> {
        if let ["empty", names @ ..] = words {
            let kinds = self.bands.len();
            let empty = self.empty.get_or_insert_with(|| vec![false; kinds]);
            for name in names {
                let (kind, form) = kind_and_form(name)?;
                empty[index(kind, form)] = true;
            }
            return Ok(());
        }
        if let ["communicator", steps @ ..] = words {
            let steps: Result<_, _> = steps.iter().map(|step| read_agreement_step(step)).collect();
            return match self.agreement.replace(steps?) {
                None => Ok(()),
                Some(_) => Err("there are two lines that say how a communicator is made; give one".into()),
            };
        }
        let (&[name, ranks, bytes, algorithm], segment) = (match words {
            [four @ .., segment] if four.len() == 4 => (four, Some(*segment)),
            four => (four, None),
        }) else {
            return Err(format!(
                "a line has 4 or 5 words, and here are {}; give collective min-ranks min-bytes algorithm [segment-bytes]",
                words.len()
            ));
        };
        let (kind, form) = kind_and_form(name)?;
        let (is_power_of_2, least) = prefixed(ranks, "pow2:");
        let ranks: usize = number(least, ranks, "a number of ranks, such as 16 or pow2:16")?;
        let (is_total, least) = prefixed(bytes, "total:");
        let bytes = number(least, bytes, "a number of bytes, such as 4096 or total:4096")?;
        let algorithm = read_algorithm(kind, algorithm, segment)?;
        let bands = &mut self.bands[index(kind, form)];
        let step = Threshold { bytes, is_total, algorithm };
        match bands.iter_mut().find(|band| (band.ranks, band.is_power_of_2) == (ranks, is_power_of_2)) {
            Some(band) if band.steps.iter().any(|one| (one.bytes, one.is_total) == (bytes, is_total)) => {
                return Err(format!("{name} has two lines for the same ranks and bytes; give one"));
            }
            Some(band) => band.steps.push(step),
            None => bands.push(Band { ranks, is_power_of_2, steps: vec![step] }),
        }
        Ok(())
    }

    /// Adds what another table says, where this one says nothing: of a collective, of those that send messages of no bytes,
    /// of the making of a communicator.
    pub fn or(self, usual: &'static CollectiveTable) -> CollectiveTable {
        CollectiveTable { usual: Some(usual), ..self }
    }

    /// Returns the algorithm for a call of this many ranks, or `None` if the table has none for it. One rank is like two, if
    /// no line is for one.
    pub fn choose(&self, call: &CollectiveCall, ranks: usize) -> Option<CollectiveAlgorithm> {
        let usual = self.usual.unwrap_or(self);
        let found = self.choose_here(call, ranks).or_else(|| usual.choose_here(call, ranks.max(2)));
        let empty = self.empty.as_ref().or(usual.empty.as_ref());
        let sends_empty = empty.is_some_and(|empty| empty[index(call.kind, CollectiveForm::of(call))]);
        found.map(|algorithm| CollectiveAlgorithm { sends_empty, ..*algorithm })
    }

    /// Returns the collectives by which ranks agree on a new communicator.
    pub fn agreement(&self) -> &[AgreementStep] {
        let usual = || self.usual.map(CollectiveTable::agreement);
        self.agreement.as_deref().or_else(usual).unwrap_or_default()
    }

    fn choose_here(&self, call: &CollectiveCall, ranks: usize) -> Option<&CollectiveAlgorithm> {
        let (block, total) = call.measure(ranks);
        let CollectiveForm { is_ordered, .. } = CollectiveForm::of(call);
        let forms = [
            (call.is_immediate && is_ordered)
                .then_some(CollectiveForm { is_immediate: true, is_ordered: true }),
            call.is_immediate.then_some(CollectiveForm { is_immediate: true, is_ordered: false }),
            is_ordered.then_some(CollectiveForm { is_immediate: false, is_ordered: true }),
            Some(CollectiveForm { is_immediate: false, is_ordered: false }),
        ];
        forms.into_iter().flatten().find_map(|form| {
            let bands = self.bands[index(call.kind, form)].iter();
            let band = bands
                .filter(|band| band.ranks <= ranks && (!band.is_power_of_2 || ranks.is_power_of_two()))
                .max_by_key(|band| (band.ranks, band.is_power_of_2))?;
            let least_of_all = |step: &Threshold| match step.is_total {
                true => step.bytes,
                false => step.bytes.saturating_mul(ranks as u64),
            };
            let steps =
                band.steps.iter().filter(|step| step.bytes <= if step.is_total { total } else { block });
            steps.max_by_key(|step| least_of_all(step)).map(|step| &step.algorithm)
        })
    }
}

/// Which form of a collective lines are for.
#[derive(Clone, Copy)]
struct CollectiveForm {
    is_immediate: bool,
    is_ordered: bool,
}

impl CollectiveForm {
    fn of(call: &CollectiveCall) -> CollectiveForm {
        let is_ordered = call.kind.is_reduction() && !call.is_commutative;
        CollectiveForm { is_immediate: call.is_immediate, is_ordered }
    }
}

fn index(kind: CollectiveKind, form: CollectiveForm) -> usize {
    4 * kind as usize + 2 * usize::from(form.is_immediate) + usize::from(form.is_ordered)
}

fn kind_and_form(name: &str) -> Result<(CollectiveKind, CollectiveForm), String> {
    let base = name.strip_suffix("-ordered").unwrap_or(name);
    let is_ordered = base != name;
    let found = CollectiveKind::find(base).map(|kind| (kind, false));
    let found =
        found.or_else(|| base.strip_prefix('i').and_then(CollectiveKind::find).map(|kind| (kind, true)));
    match found {
        Some((kind, is_immediate)) if kind.is_reduction() || !is_ordered => {
            Ok((kind, CollectiveForm { is_immediate, is_ordered }))
        }
        _ => {
            let all: Vec<&str> = CollectiveKind::ALL.into_iter().map(CollectiveKind::name).collect();
            Err(format!(
                "{name:?} is no collective; give one of {}, with i before it if it is immediate, and -ordered behind \
                 reductions that are not commutative",
                all.join(", ")
            ))
        }
    }
}

fn read_agreement_step(word: &str) -> Result<AgreementStep, String> {
    let (name, bytes) = word.split_once(':').unwrap_or((word, ""));
    let (kind, CollectiveForm { is_immediate, is_ordered }) = kind_and_form(name)?;
    match (kind, bytes.parse()) {
        (CollectiveKind::Barrier | CollectiveKind::Allgather | CollectiveKind::Allreduce, Ok(bytes))
            if !is_ordered =>
        {
            Ok(AgreementStep { kind, is_immediate, bytes })
        }
        _ => Err(format!(
            "a communicator is not made by {word:?}; give barrier, allgather or allreduce with bytes, such as iallreduce:4"
        )),
    }
}

/// Returns whether a word begins with this, and the rest.
fn prefixed<'a>(word: &'a str, prefix: &str) -> (bool, &'a str) {
    word.strip_prefix(prefix).map_or((false, word), |rest| (true, rest))
}

fn number<T: std::str::FromStr>(text: &str, word: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{word:?} is not {what}"))
}

fn read_algorithm(
    kind: CollectiveKind,
    word: &str,
    segment: Option<&str>,
) -> Result<CollectiveAlgorithm, String> {
    let (name, fan_out) = word.split_once(':').map_or((word, None), |(name, fan_out)| (name, Some(fan_out)));
    let Some(method) = methods::find(kind, name) else {
        let all: Vec<&str> = methods::of(kind).map(|method| method.name).collect();
        return Err(format!("{} cannot be done by {name:?}; give {}", kind.name(), all.join(", ")));
    };
    let fan_out = match fan_out {
        None => method.fan_out,
        Some(_) if method.fan_out.is_none() => {
            return Err(format!("{name} has no fan-out; give {name} alone"));
        }
        Some(fan_out) => {
            match number(fan_out, word, &format!("an algorithm and a number, such as {name}:4"))? {
                // A tree with one child each would have no end, and no messages at once no beginning.
                least if least >= 2 || least == 1 && name == "chain" => Some(least),
                _ => {
                    return Err(format!("{word:?} has too small a fan-out; give at least 2, as in {name}:4"));
                }
            }
        }
    };
    let segment = match segment {
        None => 0,
        Some(_) if !method.has_segments => {
            return Err(format!("{name} does not divide messages into segments; give {name} alone"));
        }
        Some(segment) => number(segment, segment, "a number of bytes for segments, such as 8192")?,
    };
    Ok(CollectiveAlgorithm { method, fan_out, segment, sends_empty: false })
}
