//! What a rank hears of its calls.

use crate::board::Taken;
use crate::link::Answer;
use crate::parcel::Parcel;
use crate::pending::Completion;

/// What a rank hears of a call.
pub(crate) enum Reply {
    Words(Vec<u64>),
    /// A message, and its sender in the communicator.
    Message(u64, Parcel),
    Collective(Taken),
    /// What a wait or a test has found; `None` if a test has found nothing.
    Found(Option<Vec<(usize, Completion)>>),
    /// The rank has come to its end, or does not wait for an answer.
    End,
}

impl Reply {
    pub(crate) const NOTHING: Reply = Reply::Words(Vec::new());

    pub(crate) fn answer(&self) -> Answer<'_> {
        let mut answer = Answer::default();
        match self {
            Reply::Words(words) => answer.words.extend(words),
            Reply::Message(from, parcel) => add_message(&mut answer, *from, parcel),
            Reply::Collective(taken) => add_collective(&mut answer, taken),
            Reply::Found(None) => answer.words.push(0),
            Reply::Found(Some(found)) => {
                answer.words.extend([1, found.len() as u64]);
                for (place, completion) in found {
                    let (kind, is_cancelled) = completion.kind();
                    answer.words.extend([*place as u64, kind, u64::from(is_cancelled)]);
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

fn add_message<'a>(answer: &mut Answer<'a>, from: u64, parcel: &'a Parcel) {
    answer.words.extend([from, u64::from(parcel.tag), parcel.data.len() as u64]);
    answer.data.push(&parcel.data);
}

fn add_collective<'a>(answer: &mut Answer<'a>, taken: &'a Taken) {
    answer.words.extend([taken.form as u64, taken.parts().count() as u64]);
    answer.words.extend(taken.parts().map(|part| part.len() as u64));
    answer.data.extend(taken.parts());
}
