//! All-to-all broadcast: every processor has k items, and every processor gets all of them.
//!
//! Processor i sends an item to i+1, i+2, ..., i+P-1, one each g, so that no processor is the target of two
//! at the same time; and it does so k times (Karp et al., section 5.1). The first item cannot arrive before
//! L + 2o, and the others follow g apart: no algorithm is faster than L + 2o + g(k(P-1) - 1).
//!
//! The paper lets a processor receive while it sends. Here it is busy for o with either, so a gap has room
//! for both only if g >= 2o. Where a reception would overlap the o of a send, the end is up to 2o later.

use std::iter;

use loggp::schedule::{Schedule, ScheduleError};
use loggp::{Params, Time, Work};
#[cfg(feature = "machine")]
use loggp::{RunError, Tag};

use crate::math::word::Word;
use crate::steps::{self, Step};
#[cfg(feature = "machine")]
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, ClosedForm, FormKind, Plan, PlanResult, Program, Size};
#[cfg(feature = "machine")]
use crate::{Emulation, Outcome};

/// All-to-all broadcast of every processor's items.
pub static ALL_TO_ALL_BROADCAST: Program = Program {
    name: "all-to-all-broadcast",
    about: "every processor's items reach all (Karp et al., section 5.1)",
    algorithms: &[Algorithm {
        name: "optimal",
        about: "processor i sends an item to i+1, i+2, ..., i+P-1, k times",
        formula: ClosedForm::Paper(
            "Karp et al., section 5.1",
            "L + 2o + g(k(P-1) - 1), where g >= 2o; up to 2o more where receptions overlap sends",
        ),
        plan: AllToAllBroadcast::plan,
    }],
    size: Size { meaning: "items of each processor, a word each", default: 16 },
    options: &[],
    work: Work::Charged,
};

/// An item with its number.
type Item = Word<(usize, u64)>;

/// The plan of a case.
struct AllToAllBroadcast<'a>(&'a Case);

impl AllToAllBroadcast<'_> {
    fn plan(case: &Case) -> PlanResult<'_> {
        let P = case.params.P;
        case.check_eager()?;
        case.check_room(P.saturating_mul(P).saturating_mul(size_of::<u64>()))?;
        Ok(Box::new(AllToAllBroadcast(case)))
    }
}

impl Plan for AllToAllBroadcast<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let Case { params, size, .. } = self.0;
        let Params { L, o, g, P, .. } = *params;
        if g < 2 * o {
            return None;
        }
        let messages = *size * (P - 1);
        let time = if messages == 0 { Time::ZERO } else { L + 2 * o + (messages as i64 - 1) * g };
        // A reception that would overlap a send waits for its end.
        let is_exact = messages == 0 || Rhythm::new(params, messages).first == o + L;
        let kind = if is_exact { FormKind::Exact } else { FormKind::LowerBound };
        Some((kind, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Case { params, levels, size, .. } = self.0;
        let messages = size * (params.P - 1);
        let rhythm = Rhythm::new(params, messages);
        levels.is_empty().then(|| steps::schedule(params, |id| rhythm.steps(id, params.P, messages)))
    }

    #[cfg(feature = "machine")]
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let case = self.0;
        let (P, k) = (case.params.P, case.size);
        let messages = k * (P - 1);
        let rhythm = Rhythm::new(&case.params, messages);
        let mut rng = fastrand::Rng::with_seed(case.seed);
        let items: Vec<Vec<u64>> = (0..P).map(|_| (0..k).map(|_| rng.u64(..)).collect()).collect();
        let run = case.machine(emulation).measure_across(|p| {
            let id = p.id();
            let mut all = vec![vec![0; k]; P];
            all[id].copy_from_slice(&items[id]);
            perform(p, rhythm.steps(id, P, messages), Items { id, all, sent: 0 }).all
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &items)))
    }
}

/// The times at which a processor sends and receives, if every message takes exactly L. All processors do the
/// same.
#[derive(Debug)]
struct Rhythm {
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
        let (send, reception) = (params.send_overhead(1), params.recv_overhead(1));
        let arrival = send + params.stream(1) + params.L;
        let last = messages as i64 - 1;

        let pace = params.g.max(send + reception);
        let in_turn = Rhythm { pace, send, first: arrival, reception }.clear_of_sends(last);
        let pace = params.g.max(send);
        let sends_first = Rhythm { pace, send, first: arrival.max(last * pace + send), reception };
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
    fn steps(&self, id: usize, P: usize, messages: usize) -> impl Iterator<Item = Step> + '_ {
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

/// The items that a processor has.
#[cfg(feature = "machine")]
struct Items {
    id: usize,
    /// Those of each processor.
    all: Vec<Vec<u64>>,
    /// The number of items that it has sent.
    sent: usize,
}

#[cfg(feature = "machine")]
impl StepData for Items {
    type Value = Item;
    const TAG: Tag<Item> = Tag::named(0, "item");

    fn give(&mut self, _: usize, _: usize, _: Option<usize>) -> Item {
        let number = self.sent / (self.all.len() - 1);
        self.sent += 1;
        Word((number, self.all[self.id][number]))
    }

    fn take(&mut self, from: usize, Word((number, item)): Item) {
        self.all[from][number] = item;
    }
}

/// Checks that every processor has all items.
fn verify(results: &[Vec<Vec<u64>>], items: &[Vec<u64>]) -> Result<(), String> {
    for (id, result) in results.iter().enumerate() {
        if let Some(from) = (0..items.len()).find(|from| result.get(*from) != Some(&items[*from])) {
            return Err(format!("processor {id} has other items from processor {from} than that sent"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_wrong_items() {
        let items = [vec![1, 2], vec![3, 4]];
        assert_eq!(verify(&[items.to_vec(), items.to_vec()], &items), Ok(()));
        for wrong in [vec![], vec![vec![1, 2]], vec![vec![1, 2], vec![3, 5]]] {
            let refusal = verify(&[items.to_vec(), wrong], &items).unwrap_err();
            assert!(refusal.starts_with("processor 1 has other items"), "{refusal}");
        }
    }
}
