//! The letters of the model on a picture of a few rows: the lengths that o, L and g name, on the first message of a run
//! and between the first two sends of a processor.

use loggp_model::time::Time;
use loggp_trace::ActivityKind;
use loggp_trace::path::{Events, Track};
use serde::Serialize;

/// The most rows above which there are letters.
pub const MOST_LETTERED: usize = 16;

/// A length that a letter names: `o`, `L`, `(k−1)G` or `g`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Letter {
    /// The letter.
    pub text: String,
    /// True for the bracket of a gap, which lies above the lengths of the message.
    pub is_gap: bool,
    /// The ends of the length: a time in ps, and the processor that is there.
    pub ends: [(i64, usize); 2],
}

impl Letter {
    fn new(text: &str, is_gap: bool, start: (Time, usize), end: (Time, usize)) -> Letter {
        Letter { text: text.into(), is_gap, ends: [start, end].map(|(time, id)| (time.as_ps(), id)) }
    }
}

/// Returns the letters of a run. A run of many processors has none.
pub fn letters(events: &Events) -> Vec<Letter> {
    if events.trace.params.P > MOST_LETTERED {
        return Vec::new();
    }
    let mut letters = message_letters(events);
    // A receiver keeps the gap too, which counts where nobody sends twice.
    let is_send = |kind: &ActivityKind| matches!(kind, ActivityKind::Send(_));
    let is_receive = |kind: &ActivityKind| matches!(kind, ActivityKind::Receive(_));
    letters.extend(first_gap(events, is_send).or_else(|| first_gap(events, is_receive)));
    letters.retain(|letter| letter.ends[0].0 < letter.ends[1].0);
    letters
}

/// Returns the lengths of the message that enters first.
fn message_letters(events: &Events) -> Vec<Letter> {
    let sent = (0..events.message_count()).filter(|index| events.send_event(*index).is_some());
    let Some(first) = sent.min_by_key(|index| (events.message(*index).enter, *index)) else {
        return Vec::new();
    };
    let message = events.message(first);
    let (from, to) = (message.id.from, message.to);
    let overhead = |index: usize| {
        let event = events.event(index);
        Letter::new("o", false, (event.start, event.id), (event.end, event.id))
    };
    let mut letters: Vec<Letter> = events.send_event(first).map(overhead).into_iter().collect();
    letters.push(Letter::new("L", false, (message.enter, from), (message.enter + message.latency, to)));
    letters.push(Letter::new("(k\u{2212}1)G", false, (message.first, to), (message.arrival, to)));
    letters.extend(events.receive_event(first).map(overhead));
    letters
}

/// Returns the bracket of the earliest gap between the first two of a processor's activities of a kind, if their starts
/// are so far apart.
fn first_gap(events: &Events, is_kind: impl Fn(&ActivityKind) -> bool) -> Option<Letter> {
    let bracket = |track: &Track| {
        let mut indices = track.indices.clone().filter(|index| is_kind(events.event(*index).kind));
        let [one, other] = [indices.next()?, indices.next()?];
        let [start, next] = [one, other].map(|index| events.event(index).start);
        let message = events.message(events.message_of(one)?);
        let stream = message.arrival - message.first;
        let text = if stream > Time::ZERO { "(k\u{2212}1)G + g" } else { "g" };
        (next - start == events.trace.params.g + stream)
            .then(|| Letter::new(text, true, (start, track.id), (next, track.id)))
    };
    events.processors().filter_map(bracket).min_by_key(|letter| letter.ends[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{Machine, Params, Proc, Tag, US};

    const WORDS: Tag<Vec<u64>> = Tag::new(0);

    fn letters_of(P: usize, program: impl Fn(&mut Proc) + Send + Sync) -> Vec<(String, i64, i64)> {
        let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap();
        let trace = Machine::new(params).trace(true).run(program).unwrap().trace.unwrap();
        let us = |time: i64| time / US.as_ps();
        let told = |letter: Letter| (letter.text, us(letter.ends[0].0), us(letter.ends[1].0));
        letters(&Events::new(&trace)).into_iter().map(told).collect()
    }

    /// Sends words from the first processor to each other one.
    fn tell_all(p: &mut Proc, words: usize) {
        match p.id() {
            0 => (1..p.P()).for_each(|to| p.send(to, WORDS, vec![0; words])),
            _ => drop(p.recv(WORDS)),
        }
    }

    #[test]
    fn letters_are_on_the_first_message_and_the_first_gap() {
        let message = [("o", 0, 2), ("L", 2, 8), ("o", 8, 10)];
        let own = |all: &[(&str, i64, i64)]| {
            all.iter().map(|one| (one.0.to_owned(), one.1, one.2)).collect::<Vec<_>>()
        };
        assert_eq!(letters_of(2, |p| tell_all(p, 1)), own(&message), "who sends once keeps no gap");
        assert_eq!(letters_of(3, |p| tell_all(p, 1)), own(&[&message[..], &[("g", 0, 4)]].concat()));
        let long =
            [("o", 0, 2), ("L", 2, 8), ("(k\u{2212}1)G", 8, 11), ("o", 11, 13), ("(k\u{2212}1)G + g", 0, 7)];
        assert_eq!(letters_of(3, |p| tell_all(p, 4)), own(&long));
        assert_eq!(letters_of(17, |p| tell_all(p, 1)), [], "many rows");
        // Where nobody sends twice, it is the receiver's gap.
        let tell_first = |p: &mut Proc| match p.id() {
            0 => (1..p.P()).for_each(|_| drop(p.recv(WORDS))),
            _ => p.send(0, WORDS, vec![0]),
        };
        assert_eq!(letters_of(3, tell_first).last(), Some(&("g".into(), 8, 12)));
        assert_eq!(letters_of(1, |_| ()), []);
    }
}
