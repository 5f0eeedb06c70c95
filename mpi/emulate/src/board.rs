//! The data of collectives. Each rank lays down what it contributes when it calls, and takes what it gets once its part in
//! the collective's messages is over; whose data these carry has called by then.

use std::ops::Range;
use std::sync::Arc;

use loggp_mpi_trace::call::{CollectiveKind, Counts, Root};
use loggp_mpi_trace::recording::post::{Signature, Types};
use loggp_mpi_trace::schedule::KnownCommunicator;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::failure::{LastCall, Unfinished};
use crate::fault::FaultKind;

/// A collective of the program: its communicator's number, and how many that had before.
pub(crate) type CollectiveId = (u32, u64);

/// What a rank lays down.
#[derive(Debug)]
pub(crate) struct Contribution {
    pub data: Vec<u8>,
    /// The bytes for each other one, where these differ.
    pub counts: Counts,
    /// To whom it goes in a collective of neighbours.
    pub destinations: Vec<Option<u32>>,
}

impl Contribution {
    /// Returns where the part lies that is for one of its receivers.
    fn part(&self, index: usize) -> Range<usize> {
        let (begin, length) = match &self.counts {
            Counts::Same(bytes) => (index as u64 * bytes, *bytes),
            Counts::Each(each) => (each.iter().take(index).sum(), each.get(index).copied().unwrap_or(0)),
        };
        let end = ((begin + length) as usize).min(self.data.len());
        (begin as usize).min(end)..end
    }
}

/// How a rank calls a collective, in what must be the same at all.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub kind: CollectiveKind,
    pub is_immediate: bool,
    pub root: Root,
    /// How many ranks take part.
    pub members: usize,
    /// The types of its data, and how many bytes of these each part has at least.
    pub data: (Signature, u64),
    /// The number of its operation, or 0.
    pub operation: u64,
    /// The rank, and its call in words.
    pub rank: usize,
    pub call: LastCall,
}

impl Manner {
    /// Returns the kind of a difference to an earlier rank's call and a sentence, if there is one that matters.
    fn difference(&self, first: &Manner) -> Option<(FaultKind, String)> {
        let (rank, other) = (self.rank, first.rank);
        let is_other = (self.kind, self.is_immediate) != (first.kind, first.is_immediate);
        // Places are looked up only for what is wrong.
        let say = |kind, what: &str| {
            let (call, earlier) = (self.call.text(), first.call.text());
            let sentence = match is_other {
                true => format!("rank {rank} is{call}, where rank {other} was{earlier}; {what}"),
                false => format!("rank {rank} is{call}, {what} that rank {other} has{earlier}"),
            };
            Some((kind, sentence))
        };
        if is_other {
            let right = "all ranks of a communicator call the same collectives in the same order";
            return say(FaultKind::CallOrdering, right);
        }
        let is_named = |root: Root| matches!(root, Root::Rank(_));
        if self.root != first.root && is_named(self.root) && is_named(first.root) {
            return say(FaultKind::ParameterMatching, "with another root than the one");
        }
        let (own, earlier) = (self.operation, first.operation);
        if own != 0 && earlier != 0 && own != earlier {
            return say(FaultKind::ParameterMatching, "with another operation than the one");
        }
        let ((own, bytes), (earlier, other_bytes)) = (&self.data, &first.data);
        if own.differs(earlier, *bytes.min(other_bytes)) {
            return say(FaultKind::ParameterMatching, "with data of another type than those");
        }
        None
    }
}

/// Returns the types of what a rank sends, or else of what it receives, and how many bytes each part has at least.
pub(crate) fn data_of(types: &Types, sent: &Counts, received: &Counts) -> (Signature, u64) {
    let (types, counts) =
        if types.sent.is_known() { (&types.sent, sent) } else { (&types.received, received) };
    let bytes = match counts {
        Counts::Same(bytes) => *bytes,
        Counts::Each(each) => each.iter().copied().filter(|bytes| *bytes > 0).min().unwrap_or(0),
    };
    (types.clone(), bytes)
}

#[derive(Default)]
struct Instance {
    /// How the first rank called it.
    first: Option<Manner>,
    laid: FxHashMap<u32, Arc<Contribution>>,
    /// How many ranks take part.
    members: usize,
    taken: usize,
}

/// What lies there of all collectives under way.
#[derive(Default)]
pub(crate) struct Board(Mutex<FxHashMap<CollectiveId, Instance>>);

/// What a rank does with the parts that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Nothing = 0,
    /// They are what it receives.
    Parts = 1,
    /// It combines them.
    Combine = 2,
}

/// What a rank takes: parts of what others have laid down.
#[derive(Debug)]
pub(crate) struct Taken {
    pub form: Form,
    parts: Vec<Option<(Arc<Contribution>, Range<usize>)>>,
}

impl Taken {
    /// Returns the data of each part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| match part {
            Some((of, range)) => &of.data[range.clone()],
            None => &[],
        })
    }
}

/// Which part of a contribution a rank takes.
enum TakenPart {
    Whole,
    /// The one for its index among the members.
    Mine,
}

impl Board {
    /// Lays down what a rank contributes. An error says what does not fit to the call of another one.
    pub(crate) fn lay(
        &self,
        id: CollectiveId,
        contribution: Contribution,
        manner: Manner,
    ) -> Result<(), (FaultKind, String)> {
        let mut instances = self.0.lock();
        let instance = instances.entry(id).or_default();
        instance.members = manner.members;
        instance.laid.insert(manner.rank as u32, Arc::new(contribution));
        match &instance.first {
            Some(first) => manner.difference(first).map_or(Ok(()), Err),
            None => {
                instance.first = Some(manner);
                Ok(())
            }
        }
    }

    /// Returns the collectives that not all of their communicator have called.
    pub(crate) fn unfinished(self) -> Vec<Unfinished> {
        let all = self.0.into_inner();
        let is_short = |instance: &Instance| instance.laid.len() < instance.members;
        let those = all.into_iter().filter(|(_, instance)| is_short(instance));
        let first = those.filter_map(|((communicator, _), instance)| Some((communicator, instance.first?)));
        first
            .map(|(communicator, Manner { kind, call, .. })| Unfinished {
                communicator,
                kind,
                place: call.address,
            })
            .collect()
    }

    /// Takes what a rank gets of a collective, which `takers` ranks take part in.
    pub(crate) fn take(
        &self,
        id: CollectiveId,
        kind: CollectiveKind,
        communicator: &KnownCommunicator,
        root: Root,
    ) -> Taken {
        use CollectiveKind::*;
        let mut instances = self.0.lock();
        let instance = instances.entry(id).or_default();
        let KnownCommunicator { members, remote, me, .. } = communicator;
        let peers = remote.as_ref().unwrap_or(members);
        let is_root = match root {
            Root::Rank(root) => remote.is_none() && root as usize == *me,
            Root::This => true,
            Root::None | Root::Nobody => false,
        };
        let of_root = |form| match root {
            Root::Rank(root) => (form, peers.get(root as usize).into_iter().copied().collect()),
            _ => (Form::Nothing, Vec::new()),
        };
        let at_root = |form| if is_root { (form, peers.clone()) } else { (Form::Nothing, Vec::new()) };
        let ((form, from), taken_part) = match kind {
            Barrier => ((Form::Nothing, Vec::new()), TakenPart::Whole),
            Bcast if is_root => ((Form::Nothing, Vec::new()), TakenPart::Whole),
            Bcast => (of_root(Form::Parts), TakenPart::Whole),
            Scatter | Scatterv => (of_root(Form::Parts), TakenPart::Mine),
            Gather | Gatherv => (at_root(Form::Parts), TakenPart::Whole),
            Reduce => (at_root(Form::Combine), TakenPart::Whole),
            Allgather | Allgatherv => ((Form::Parts, peers.clone()), TakenPart::Whole),
            Alltoall | Alltoallv | Alltoallw => ((Form::Parts, peers.clone()), TakenPart::Mine),
            Allreduce => ((Form::Combine, peers.clone()), TakenPart::Whole),
            Scan => ((Form::Combine, peers[..=*me].to_vec()), TakenPart::Whole),
            Exscan if *me == 0 => ((Form::Nothing, Vec::new()), TakenPart::Whole),
            Exscan => ((Form::Combine, peers[..*me].to_vec()), TakenPart::Whole),
            ReduceScatter | ReduceScatterBlock => ((Form::Combine, peers.clone()), TakenPart::Mine),
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => {
                let taken = take_from_neighbours(instance, kind, communicator);
                return end(&mut instances, id, communicator, taken);
            }
        };
        // Between two groups the vectors of one are divided as the other one says.
        let divided = match kind {
            ReduceScatter | ReduceScatterBlock => instance.laid.get(&members[*me]).map(|own| own.part(*me)),
            _ => None,
        };
        let part = |from: &u32| {
            let laid = instance.laid.get(from)?;
            let range = match (&divided, &taken_part) {
                (Some(range), _) => range.start.min(laid.data.len())..range.end.min(laid.data.len()),
                (None, TakenPart::Mine) => laid.part(*me),
                (None, TakenPart::Whole) => 0..laid.data.len(),
            };
            Some((laid.clone(), range))
        };
        let taken = Taken { form, parts: from.iter().map(part).collect() };
        end(&mut instances, id, communicator, taken)
    }
}

/// Forgets a collective of which all have taken their parts.
fn end(
    instances: &mut FxHashMap<CollectiveId, Instance>,
    id: CollectiveId,
    communicator: &KnownCommunicator,
    taken: Taken,
) -> Taken {
    let all = communicator.size();
    if let Some(instance) = instances.get_mut(&id) {
        instance.taken += 1;
        if instance.taken == all {
            instances.remove(&id);
        }
    }
    taken
}

fn take_from_neighbours(instance: &Instance, kind: CollectiveKind, of: &KnownCommunicator) -> Taken {
    use CollectiveKind::{NeighborAllgather, NeighborAllgatherv};
    let (KnownCommunicator { members, me, sources, .. }, own) = (of, of.members[of.me]);
    debug_assert_eq!(members[*me], own);
    let is_whole = matches!(kind, NeighborAllgather | NeighborAllgatherv);
    let part = |index: usize| {
        let from = sources[index]?;
        let laid = instance.laid.get(&from)?;
        if is_whole {
            return Some((laid.clone(), 0..laid.data.len()));
        }
        // In a grid what goes down comes from above: the directions are in pairs. Elsewhere the first message from
        // a neighbour is the first that it sends.
        let mirrored = index ^ 1;
        let earlier = sources[..index].iter().filter(|other| **other == Some(from)).count();
        let mut mine = laid.destinations.iter().enumerate().filter(|(_, to)| **to == Some(own));
        let is_grid = *sources == of.destinations && laid.destinations.get(mirrored) == Some(&Some(own));
        let at = if is_grid { mirrored } else { mine.nth(earlier)?.0 };
        Some((laid.clone(), laid.part(at)))
    };
    Taken { form: Form::Parts, parts: (0..sources.len()).map(part).collect() }
}
