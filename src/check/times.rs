//! When messages must arrive so that a run takes what it should.
//!
//! The unknowns are when calls begin and when messages arrive. Some must be no earlier than others: what happens later, and
//! what is not taken. Some are no later than the latest of others: a call begins when the one before is over and its
//! message is there, and no message is under way for longer than L. Solutions are closed under the later of two, so that there is a
//! latest one, and going down from the end of time finds it; without the second kind there is an earliest one, and
//! going up from 0 finds that (Cuninghame-Green, "Minimax Algebra", 1979).
//!
//! How long calls take is known from a run. What they wait for a gap or for room is taken to last as long as it did there.

use std::collections::HashMap;

use super::history::{History, Origin};
use crate::message::MessageId;
use crate::time::{PS, Time};
use crate::trace::CallKind;

/// What latencies make a run take what it should.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// How long messages are under way that are sent before the last take that is settled.
    latencies: HashMap<MessageId, Time>,
    /// For each processor: all other messages to it arrive after this.
    after: Vec<Time>,
}

/// What must be no earlier than another by so much.
type Least = (usize, usize, Time);

/// What must be no later than the latest of others by so much.
type Most = (usize, Vec<(usize, Time)>);

/// What is known of when calls begin and when messages arrive. Unknowns are numbered: first the calls, then the messages.
struct Times {
    least: Vec<Least>,
    most: Vec<Most>,
    /// The first calls of processors, which begin at 0.
    firsts: Vec<usize>,
    unknowns: usize,
}

/// So many rounds at most: each settles one more unknown at least, unless there is no solution.
const ROUNDS: usize = 2000;

impl Script {
    /// How long a message to a processor is under way that is ready at this time.
    pub(super) fn latency(&self, message: MessageId, to: usize, ready: Time) -> Time {
        self.latencies.get(&message).copied().unwrap_or_else(|| {
            let after = self.after.get(to).copied().unwrap_or(-PS);
            if after >= ready { after + PS - ready } else { Time::ZERO }
        })
    }

    /// Latencies for which these takes get these messages, one of them another than in the run. They must follow no other
    /// takes. `bounded` says whether no message may be under way for longer than L.
    pub(super) fn of(history: &History, settled: &[(usize, Option<usize>)], bounded: bool) -> Option<Script> {
        let P = history.to.len();
        let calls = &history.trace.calls;
        let got: HashMap<usize, Option<usize>> = settled.iter().copied().collect();
        // The first call of each processor that shows what is not settled.
        let mut open = vec![u32::MAX; P];
        for (place, take) in history.takes.iter().enumerate() {
            if got.get(&place) != Some(&take.got) {
                open[take.id] = open[take.id].min(history.number(take.call) as u32);
            }
        }
        let is_settled =
            |call: usize| history.followed(call).iter().zip(&open).all(|(followed, open)| followed <= open);
        let sent: Vec<usize> = (0..history.trace.messages.len())
            .filter(|message| {
                let origin = history.origins.get(&history.message(*message).id);
                origin.is_some_and(|origin| origin.follows.is_none_or(is_settled))
            })
            .collect();
        let place_of: HashMap<usize, usize> =
            sent.iter().enumerate().map(|(place, message)| (*message, calls.len() + place)).collect();
        let mut times = Times::of(calls.len() + sent.len());
        times.adds_calls(history, &is_settled, &got, &place_of);
        for message in &sent {
            let (place, call) = (place_of[message], history.origins[&history.message(*message).id].call);
            let way = history.soonest(*message) - calls[call].start;
            times.least.push((place, call, way));
            let longest = if bounded { history.longest(*message) } else { Time::MAX / 1024 };
            times.most.push((place, vec![(call, way + longest)]));
        }
        for &(place, got) in settled {
            let take = &history.takes[place];
            let until = take.until.or(take.in_vain.filter(|_| got.is_none()));
            let look = until.map(|until| until - calls[take.call].start);
            let is_gone = |message: usize| {
                let takes = |(other, got): &(usize, Option<usize>)| {
                    let other = &history.takes[*other];
                    !other.leaves && *got == Some(message) && other.is_before(take)
                };
                settled.iter().any(takes)
            };
            if let (Some(got), Some(look)) = (got, look) {
                times.least.push((take.call, *place_of.get(&got)?, -look));
            }
            for other in history.wanted(take).filter(|other| place_of.contains_key(other)) {
                let later = match got {
                    Some(got) if got == other => continue,
                    Some(got) => {
                        // A request is done no sooner than when it was called for.
                        let called =
                            history.taker(got).filter(|_| take.waits()).map(|taker| taker.posted + 1);
                        if let Some(called) = called.filter(|called| *called <= take.call && !is_gone(other))
                        {
                            times.least.push((place_of[&other], called, Time::ZERO));
                        }
                        let is_first = history.message(got).id < history.message(other).id;
                        (*place_of.get(&got)?, if is_first { Time::ZERO } else { PS })
                    }
                    None => (take.call, look.unwrap_or_default() + PS),
                };
                if !is_gone(other) {
                    times.least.push((place_of[&other], later.0, later.1));
                }
            }
        }
        let found = times.earliest().or_else(|| times.latest())?;
        let latency = |message: &usize| {
            let Origin { call, .. } = history.origins[&history.message(*message).id];
            let way = history.soonest(*message) - calls[call].start;
            (history.message(*message).id, found[place_of[message]] - found[call] - way)
        };
        let mut after = vec![-PS; P];
        for (place, got) in settled {
            let take = &history.takes[*place];
            let at = match got {
                Some(got) => found[place_of[got]],
                None => {
                    found[take.call] + take.until.map_or(Time::ZERO, |until| until - calls[take.call].start)
                }
            };
            after[take.id] = after[take.id].max(at);
        }
        Some(Script { latencies: sent.iter().map(latency).collect(), after })
    }
}

impl Times {
    /// When each of so many things is, of which nothing is known.
    fn of(unknowns: usize) -> Times {
        Times { least: Vec::new(), most: Vec::new(), firsts: Vec::new(), unknowns }
    }

    /// Says of calls that each begins when the one before is over, if that is settled.
    fn adds_calls(
        &mut self,
        history: &History,
        is_settled: &dyn Fn(usize) -> bool,
        got: &HashMap<usize, Option<usize>>,
        place_of: &HashMap<usize, usize>,
    ) {
        let calls = &history.trace.calls;
        let takes = history.takes.iter().enumerate().filter(|(_, take)| !take.leaves);
        let taken = takes.filter_map(|(place, take)| Some((take.call, (*got.get(&place)?)?)));
        let taken: HashMap<usize, usize> = taken.collect();
        let mut barriers: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut passed = vec![0; history.to.len()];
        for (place, call) in calls.iter().enumerate() {
            if history.number(place) == 0 {
                self.firsts.push(place);
            }
            if call.what == CallKind::Barrier {
                barriers.entry(passed[call.id]).or_default().push(place);
                passed[call.id] += 1;
            }
            let next = place + 1;
            if !is_settled(place) || calls.get(next).is_none_or(|next| next.id != call.id) {
                continue;
            }
            let from = match taken.get(&place).map(|message| (*message, place_of.get(message))) {
                Some((message, Some(of_message))) => {
                    let start = call.start.max(history.message(message).arrival);
                    vec![(place, call.end - start), (*of_message, call.end - start)]
                }
                _ if call.what == CallKind::Barrier => continue,
                _ => vec![(place, call.end - call.start)],
            };
            self.is_latest(next, from);
        }
        for all in barriers.into_values() {
            let last = all.iter().map(|place| calls[*place].start).max().unwrap_or_default();
            for place in all.iter().filter(|place| is_settled(**place)) {
                if calls.get(place + 1).is_some_and(|next| next.id == calls[*place].id) {
                    let over = calls[*place].end - last;
                    self.is_latest(place + 1, all.iter().map(|other| (*other, over)).collect());
                }
            }
        }
    }

    /// Something is as late as the latest of others by so much.
    fn is_latest(&mut self, what: usize, of: Vec<(usize, Time)>) {
        self.least.extend(of.iter().map(|(other, by)| (what, *other, *by)));
        self.most.push((what, of));
    }

    /// The earliest times, if no message would be under way for longer than it can be.
    fn earliest(&self) -> Option<Vec<Time>> {
        let mut times = vec![Time::ZERO; self.unknowns];
        let mut goes_on = true;
        for _ in 0..ROUNDS {
            if !std::mem::take(&mut goes_on) {
                let holds =
                    |(what, of): &Most| of.iter().any(|(other, by)| times[*what] <= times[*other] + *by);
                let begins = self.firsts.iter().all(|first| times[*first] == Time::ZERO);
                return (begins && self.most.iter().all(holds)).then_some(times);
            }
            for (what, other, by) in &self.least {
                let least = times[*other] + *by;
                if times[*what] < least {
                    (times[*what], goes_on) = (least, true);
                }
            }
        }
        None
    }

    /// The latest times.
    fn latest(&self) -> Option<Vec<Time>> {
        const END: Time = Time::from_ps(i64::MAX / 4);
        let mut times = vec![END; self.unknowns];
        self.firsts.iter().for_each(|first| times[*first] = Time::ZERO);
        let mut goes_on = true;
        for _ in 0..ROUNDS {
            if !std::mem::take(&mut goes_on) {
                // What nothing holds does not matter: it is where it was.
                return Some(times);
            }
            for (what, of) in &self.most {
                let most = of.iter().map(|(other, by)| times[*other] + *by).max().unwrap_or(END);
                if most < times[*what] {
                    (times[*what], goes_on) = (most, true);
                }
            }
            for (what, other, by) in &self.least {
                let most = times[*what] - *by;
                if most < times[*other] {
                    (times[*other], goes_on) = (most, true);
                }
            }
            if times.iter().any(|time| *time < Time::ZERO) {
                return None;
            }
        }
        None
    }
}
