//! All-to-all broadcast: every processor has k items, and every processor gets all of them.
//!
//! Processor i sends an item to i+1, i+2, ..., i+P-1, one each g, so that no processor is the target of two
//! at the same time; and it does so k times (Karp et al., section 5.1). The first item cannot arrive before
//! L + 2o, and the others follow g apart: no algorithm is faster than L + 2o + g(k(P-1) - 1).
//!
//! The paper lets a processor receive while it sends. Here it is busy for o with either, so a gap has room
//! for both only if g >= 2o. Where a reception would overlap the o of a send, the end is up to 2o later.

use std::iter;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::plan::boxed;
use crate::steps::{self, Step};
use crate::{ClosedForm, Description, FormKind, Predict, Refusal, Setting, Size, StepProgram};

/// Purpose and source of the program.
pub const ABOUT: &str = "every processor's items reach all (Karp et al., section 5.1)";
/// Meaning and default of its size.
pub const SIZE: Size = Size { meaning: "items of each processor, a word each", default: 16 };

/// The program.
pub static ALL_TO_ALL_BROADCAST: StepProgram =
    StepProgram { about: ABOUT, size: SIZE, algorithms: &[(OPTIMAL, |s| boxed(AllToAllBroadcast::new(s)))] };

/// The algorithm `optimal`.
pub const OPTIMAL: Description = Description {
    name: "optimal",
    about: "processor i sends an item to i+1, i+2, ..., i+P-1, k times",
    formula: ClosedForm::Paper(
        "Karp et al., section 5.1",
        "L + 2o + g(k(P-1) - 1), where g >= 2o; up to 2o more where receptions overlap sends",
    ),
};

/// An all-to-all broadcast.
pub struct AllToAllBroadcast<'a>(Setting<'a>);

impl<'a> AllToAllBroadcast<'a> {
    /// Returns the broadcast, or refuses it.
    pub fn new(setting: Setting<'a>) -> Result<AllToAllBroadcast<'a>, Refusal> {
        let P = setting.params.P;
        setting.check_eager()?;
        setting.check_room(P.saturating_mul(P).saturating_mul(size_of::<u64>()))?;
        Ok(AllToAllBroadcast(setting))
    }

    /// Returns the number of messages of each processor.
    fn messages(&self) -> usize {
        self.0.size * (self.0.params.P - 1)
    }

    /// Returns the times of its steps.
    pub fn rhythm(&self) -> Rhythm {
        Rhythm::new(self.0.params, self.messages())
    }
}

impl Predict for AllToAllBroadcast<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let Params { L, o, g, .. } = *self.0.params;
        if g < 2 * o {
            return None;
        }
        let messages = self.messages();
        let time = if messages == 0 { Time::ZERO } else { L + 2 * o + (messages as i64 - 1) * g };
        // A reception that would overlap a send waits for its end.
        let is_exact = messages == 0 || self.rhythm().first == o + L;
        let kind = if is_exact { FormKind::Exact } else { FormKind::LowerBound };
        Some((kind, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Setting { params, levels, .. } = self.0;
        let rhythm = self.rhythm();
        levels.is_empty().then(|| steps::schedule(params, |id| rhythm.steps(id)))
    }
}

/// The times at which a processor sends and receives, if every message takes exactly L. All processors do the
/// same.
#[derive(Debug)]
pub struct Rhythm {
    P: usize,
    /// The number of messages of each processor.
    messages: usize,
    /// Time from one send to the next.
    pace: Time,
    /// Time from the start of a send to its end.
    send: Time,
    /// Start of the first reception; the others follow at the sends' pace.
    first: Time,
    /// Time from the start of a reception to its end.
    reception: Time,
}

impl Rhythm {
    /// Returns the rhythm of `messages` messages from each processor. Sends and receptions alternate, or all
    /// sends come first where that ends sooner, as it may if a gap has no room for both.
    fn new(params: &Params, messages: usize) -> Rhythm {
        let P = params.P;
        let (send, reception) = (params.send_overhead(1), params.recv_overhead(1));
        let arrival = send + params.stream(1) + params.L;
        let last = messages as i64 - 1;

        let pace = params.g.max(send + reception);
        let in_turn = Rhythm { P, messages, pace, send, first: arrival, reception }.clear_of_sends(last);
        let pace = params.g.max(send);
        let sends_first =
            Rhythm { P, messages, pace, send, first: arrival.max(last * pace + send), reception };
        let end = |rhythm: &Rhythm, gap: Time| rhythm.first + last * gap;
        match end(&in_turn, in_turn.pace) <= end(&sends_first, params.g.max(reception)) {
            true => in_turn,
            false => sends_first,
        }
    }

    /// Delays the receptions so that they overlap no send. If the first reception overlaps none, no other
    /// does, as they keep the sends' pace.
    fn clear_of_sends(mut self, last: i64) -> Rhythm {
        if self.pace > Time::ZERO {
            let sends = self.first.as_ps() / self.pace.as_ps();
            // So many sends begin after the first one, and before or with the reception.
            let begun = sends * self.pace;
            let next = begun + self.pace;
            if sends <= last && self.first < begun + self.send {
                self.first = begun + self.send;
            } else if sends < last && self.first + self.reception > next {
                self.first = next + self.send;
            }
        }
        self
    }

    /// Returns the number of receptions before a send.
    fn receptions_before(&self, send: usize) -> usize {
        let spare = send as i64 * self.pace - self.first - self.reception;
        match (spare.as_ps(), self.pace.as_ps()) {
            (..0, _) | (_, 0) => 0,
            (spare, pace) => send.min((spare / pace) as usize + 1),
        }
    }

    /// Returns what a processor does: it sends an item to all others in turn, from its successor on, and again
    /// and again.
    pub fn steps(&self, id: usize) -> impl Iterator<Item = Step> + '_ {
        let Rhythm { P, messages, .. } = *self;
        let before =
            move |send: usize| if send == messages { messages } else { self.receptions_before(send) };
        (0..=messages).flat_map(move |message| {
            let received = message.checked_sub(1).map_or(0, before);
            let receive = Step::Receive { from: None, number: None };
            let due = Step::WaitUntil(message as i64 * self.pace);
            let send = Step::Send { to: (id + 1 + message % (P - 1).max(1)) % P, bytes: 1, number: None };
            iter::repeat_n(receive, before(message).saturating_sub(received))
                .chain((message < messages).then_some([due, send]).into_iter().flatten())
        })
    }
}
