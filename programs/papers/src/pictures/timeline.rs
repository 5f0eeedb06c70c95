//! The timeline of a run, from its trace.

use loggp::{ActivityKind, Message, Params, Time, Trace};
use loggp_draw::palette::Kind;
use loggp_draw::timeline::{self, MOST_WORDS, Slice, Timeline};
use loggp_study::analysis::accounts::Account;

use super::kinds;

/// Draws a trace as SVG, with time in this unit; or says why it cannot.
pub fn timeline(trace: &Trace, title: &str, unit: (&str, Time)) -> Result<String, String> {
    of_trace(trace, title, unit).svg()
}

/// The timeline of a trace, with time in this unit.
pub fn of_trace(trace: &Trace, title: &str, unit: (&str, Time)) -> Timeline {
    let kinds = Account::ALL.map(kinds::of_account).into();
    let (title, unit) = (title.into(), (unit.0.into(), unit.1.as_ps()));
    let mut timeline = Timeline { title, processors: trace.params.P, unit, kinds, ..Timeline::default() };
    for activity in &trace.activities {
        add(&mut timeline, activity.id, (activity.start, activity.end), &activity.what, false);
    }
    // What a request does lies within what its processor does meanwhile.
    for progress in &trace.progress {
        add(&mut timeline, progress.id, (progress.start, progress.end), &progress.what, true);
    }
    timeline.messages = trace.messages.iter().map(|message| drawn(message, &trace.params)).collect();
    timeline
}

/// Adds what a processor did, if that is shown.
fn add(timeline: &mut Timeline, id: usize, span: (Time, Time), what: &ActivityKind, is_within: bool) {
    let Some(kind) = kinds::of_activity(what) else { return };
    let of = match what {
        ActivityKind::Work(kind) if !kind.is_empty() => format!(" ({kind})"),
        _ => String::new(),
    };
    let (start, end) = (span.0.as_ps(), span.1.as_ps());
    let kind = number(&mut timeline.kinds, kind);
    timeline.slices.push(Slice { id, start, end, kind, of, is_within });
}

/// The number of a kind, which is added if it is new.
fn number(kinds: &mut Vec<Kind>, kind: Kind) -> usize {
    kinds.iter().position(|other| *other == kind).unwrap_or_else(|| {
        kinds.push(kind);
        kinds.len() - 1
    })
}

/// A message as it is drawn. Only words that can be seen one by one need their own moments.
fn drawn(message: &Message, params: &Params) -> timeline::Message {
    let words = message.words;
    let from = if words <= MOST_WORDS { 2 } else { words };
    timeline::Message {
        from: message.id.from,
        to: message.to,
        words,
        enter: message.enter.as_ps(),
        first: message.first.as_ps(),
        arrival: message.arrival.as_ps(),
        later: (from..=words).map(|word| params.stream(word).as_ps()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{Machine, Tag, US, Work};
    use loggp_draw::palette::BYTES;

    const WORD: Tag<Vec<u64>> = Tag::new(0);

    fn picture(P: usize, words: usize) -> Result<String, String> {
        let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap();
        let run = Machine::new(params).work(Work::Charged).trace(true).run(|p| {
            p.send((p.id() + 1) % p.p(), WORD, vec![1; words]);
            p.recv(WORD);
        });
        timeline(&run.unwrap().trace.unwrap(), "a < b & c", ("us", US))
    }

    #[test]
    fn shows_every_activity_and_every_message() {
        let svg = picture(5, 1).unwrap();
        assert_eq!(svg.matches("send overhead: ").count(), 5);
        assert_eq!(svg.matches("receive overhead: ").count(), 5);
        assert_eq!(svg.matches(", 1 word: 2 to 8 us").count(), 5);
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("time [us]"));
        assert!(!svg.contains(BYTES.name), "a word is in no port");
    }

    #[test]
    fn shows_the_bytes_in_both_ports() {
        let svg = picture(3, 11).unwrap();
        for bytes in ["P0 bytes in the port: 2 to 12 us, 11 words from P0 to P1", ", 11 words: 2 to "] {
            assert!(svg.contains(bytes), "{bytes}");
        }
        assert_eq!(svg.matches(" bytes in the port: ").count(), 6);
    }

    #[test]
    fn refuses_what_would_be_a_blur() {
        assert!(picture(200, 1).unwrap_err().contains("at most 128 processors, and there are 200"));
    }
}
