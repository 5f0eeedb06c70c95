//! What a rank hears of its calls.

use std::sync::Arc;

use crate::board::Taken;
use crate::parcel::ProgramMessage;
use crate::pending::Completion;

/// An answer to a rank: its words, and data behind them, in pieces.
#[derive(Debug, Default)]
pub(crate) struct RankAnswer<'d> {
    pub words: Vec<u64>,
    pub data: Vec<&'d [u8]>,
}

/// What a rank hears of a call.
pub(crate) enum Reply {
    Words(Vec<u64>),
    /// A message, and its sender in the communicator.
    Message(u64, ProgramMessage),
    Collective(Taken),
    /// What all have given to a call that ranks make together.
    Parts(Arc<GivenParts>),
    /// What a wait or a test has found; `None` if a test has found nothing.
    Found(Option<Vec<(usize, Completion)>>),
    /// The rank has come to its end, or does not wait for an answer.
    End,
}

/// What ranks have given to a call that they make together, in their order.
pub(crate) struct GivenParts {
    pub lengths: Vec<u64>,
    data: Vec<u8>,
}

impl GivenParts {
    pub(crate) fn of(mut given: Vec<(u32, Box<[u8]>)>) -> GivenParts {
        given.sort_unstable_by_key(|(rank, _)| *rank);
        let lengths = given.iter().map(|(_, part)| part.len() as u64).collect();
        GivenParts { lengths, data: given.iter().flat_map(|(_, part)| part.iter().copied()).collect() }
    }
}

impl Reply {
    pub(crate) const NOTHING: Reply = Reply::Words(Vec::new());

    pub(crate) fn answer(&self) -> RankAnswer<'_> {
        let mut answer = RankAnswer::default();
        match self {
            Reply::Words(words) => answer.words.extend(words),
            Reply::Message(from, parcel) => add_message(&mut answer, *from, parcel),
            Reply::Collective(taken) => add_collective(&mut answer, taken),
            Reply::Parts(parts) => {
                answer.words.push(parts.lengths.len() as u64);
                answer.words.extend(&parts.lengths);
                answer.data.push(&parts.data);
            }
            Reply::Found(None) => answer.words.push(0),
            Reply::Found(Some(found)) => {
                answer.words.extend([1, found.len() as u64]);
                for (index, completion) in found {
                    let (kind, is_cancelled) = completion.kind();
                    answer.words.extend([*index as u64, kind, u64::from(is_cancelled)]);
                    match completion {
                        Completion::Receive(from, parcel) => add_message(&mut answer, *from, parcel),
                        Completion::Collective(taken) => add_collective(&mut answer, taken),
                        Completion::Send | Completion::Cancelled => (),
                    }
                }
            }
            Reply::End => (),
        }
        answer
    }
}

fn add_message<'a>(answer: &mut RankAnswer<'a>, from: u64, parcel: &'a ProgramMessage) {
    answer.words.extend([from, u64::from(parcel.tag), parcel.data.len() as u64]);
    answer.data.push(&parcel.data);
}

fn add_collective<'a>(answer: &mut RankAnswer<'a>, taken: &'a Taken) {
    answer.words.extend([taken.form as u64, taken.parts().count() as u64]);
    answer.words.extend(taken.parts().map(|part| part.len() as u64));
    answer.data.extend(taken.parts());
}
