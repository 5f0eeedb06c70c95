//! The timeline of a run, from its trace.

use std::collections::HashMap;
use std::mem::take;

use crate::analysis::accounts::Account;
use crate::analysis::for_each_agreement_wait;
use loggp::path::Events;
use loggp::trace::{Activity, ActivityKind, Message, Trace};
use loggp::{Noise, Params, Time};
use loggp_draw::letters::{Letter, MOST_LETTERED, letters};
use loggp_draw::palette::ActivityStyle;
use loggp_draw::timeline::{self, ActivitySlice, MOST_SHAPES, MOST_WORDS, TimelinePicture};

use super::styles;

/// The part of a run that is drawn.
pub struct Window {
    pub from: Time,
    /// End of what is drawn.
    pub until: Time,
    /// Processors whose rows are drawn, from the top; `None` for all.
    pub only: Option<Vec<usize>>,
}

impl Default for Window {
    fn default() -> Window {
        Window { from: Time::ZERO, until: Time::MAX, only: None }
    }
}

/// Draws a trace as SVG, with time in this unit; or returns why it cannot be drawn.
pub fn draw_timeline(trace: &Trace, title: &str, unit: (&str, Time)) -> Result<String, String> {
    timeline_from_trace(trace, title, unit, &Window::default()).svg()
}

/// Returns the timeline of a part of a trace, with time in this unit.
pub fn timeline_from_trace(
    trace: &Trace,
    title: &str,
    unit: (&str, Time),
    window: &Window,
) -> TimelinePicture {
    let kinds = Account::all().map(styles::account_style).into();
    let (title, unit) = (title.into(), (unit.0.into(), unit.1.as_ps()));
    let rows = window.only.clone().unwrap_or_else(|| (0..trace.params.P).collect());
    let row: HashMap<usize, usize> = rows.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    let is_in = |start: Time, end: Time| start <= window.until && end >= window.from;
    let mut timeline = TimelinePicture { title, unit, kinds, ..TimelinePicture::default() };
    let activities = trace.activities.iter().map(|one| (one.id, one.start, one.end, &one.kind, false));
    // A request's activities lie within those of its processor.
    let progress = trace.progress.iter().map(|one| (one.id, one.start, one.end, &one.kind, true));
    for (id, start, end, what, is_within) in activities.chain(progress) {
        let Some(row) = row.get(&id).filter(|_| is_in(start, end)) else { continue };
        let Some(style) = styles::activity_style(what) else { continue };
        let detail = match what {
            ActivityKind::Work(kind) if !kind.is_empty() => format!(" ({kind})"),
            _ => String::new(),
        };
        let kind = kind_index(&mut timeline.kinds, style);
        let (row, start, end) = (*row, start.as_ps(), end.as_ps());
        timeline.slices.push(ActivitySlice { row, start, end, kind, detail, is_within });
    }
    for_each_agreement_wait(trace, &mut |wait| {
        let Some(row) = row.get(&wait.id).filter(|_| is_in(wait.start, wait.end)) else { return };
        let kind = kind_index(&mut timeline.kinds, styles::account_style(wait.account));
        let (row, start, end) = (*row, wait.start.as_ps(), wait.end.as_ps());
        let detail = String::new();
        timeline.slices.push(ActivitySlice { row, start, end, kind, detail, is_within: false });
    });
    if let Some(noise) = &trace.noise {
        add_noise(&mut timeline, trace, noise, window, &row);
    }
    let idle = |activity: &Activity| activity.kind == ActivityKind::Idle && activity.start < activity.end;
    timeline.has_idle = trace.activities.iter().any(|activity| {
        idle(activity) && is_in(activity.start, activity.end) && row.contains_key(&activity.id)
    });
    // A message is drawn if the rows of both its ends are.
    let messages = trace.messages.iter().filter(|message| is_in(message.enter, message.arrival));
    timeline.messages = messages
        .filter_map(|message| {
            let (from, to) = (*row.get(&message.id.from)?, *row.get(&message.to)?);
            Some(timeline::MessageArrow { from, to, ..drawn_message(message, &trace.params) })
        })
        .collect();
    if rows.len() <= MOST_LETTERED {
        let placed = |(moment, id)| row.get(&id).map(|row| (moment, *row));
        let place = |letter: Letter| {
            let [start, end] = letter.ends.map(placed);
            Some(Letter { ends: [start?, end?], ..letter })
        };
        timeline.letters = letters(&Events::new(trace)).into_iter().filter_map(place).collect();
    }
    timeline.window = (window.from > Time::ZERO || window.until < Time::MAX)
        .then_some((window.from.as_ps(), window.until.as_ps()));
    timeline.rows = rows;
    if timeline.slices.len() + timeline.messages.len() > MOST_SHAPES {
        summarize(&mut timeline);
    }
    timeline
}

/// Adds the host's detours within busy activities, unless they are too many to be seen.
fn add_noise(
    timeline: &mut TimelinePicture,
    trace: &Trace,
    noise: &Noise,
    window: &Window,
    row: &HashMap<usize, usize>,
) {
    let kind = kind_index(&mut timeline.kinds, styles::NOISE);
    let (before, mut left) = (timeline.slices.len(), MOST_SHAPES.saturating_sub(trace.messages.len()));
    left = left.saturating_sub(before);
    for activity in &trace.activities {
        let Some(row) = row.get(&activity.id).filter(|_| activity.kind.is_busy()) else { continue };
        let (from, until) = (activity.start.max(window.from), activity.end.min(window.until));
        let most = usize::try_from(noise.max_detours(until - from)).unwrap_or(usize::MAX);
        if from < until && most > left {
            timeline.slices.truncate(before);
            timeline.note = "there is more noise than can be shown".into();
            return;
        }
        for (start, end) in noise.detours(activity.id, from, until) {
            left -= 1;
            let (row, start, end, is_within) = (*row, start.as_ps(), end.as_ps(), true);
            let detail = String::new();
            timeline.slices.push(ActivitySlice { row, start, end, kind, detail, is_within });
        }
    }
}

/// Replaces too many slices by the most frequent kind in each stretch of a row, and drops the messages.
fn summarize(timeline: &mut TimelinePicture) {
    /// Most stretches of a row that can be told apart.
    const MOST: usize = 800;
    timeline.messages.clear();
    let slices = take(&mut timeline.slices);
    let ends = || slices.iter().map(|slice| slice.end);
    let (from, until) = timeline.window.unwrap_or((0, i64::MAX));
    let until = until.min(ends().max().unwrap_or(1)).max(from + 1);
    let stretches = (MOST_SHAPES / timeline.rows.len().max(1)).clamp(1, MOST) as i64;
    let width = (until - from).div_euclid(stretches) + 1;
    let kinds = timeline.kinds.len();
    let mut sums = vec![0_i128; timeline.rows.len() * stretches as usize * kinds];
    for slice in slices.iter().filter(|slice| !slice.is_within) {
        let (mut start, end) = (slice.start.max(from), slice.end.min(until));
        while start < end {
            let stretch = (start - from) / width;
            let next = end.min(from + (stretch + 1) * width);
            sums[(slice.row * stretches as usize + stretch as usize) * kinds + slice.kind] +=
                i128::from(next - start);
            start = next;
        }
    }
    for (index, of_kinds) in sums.chunks(kinds).enumerate() {
        let (row, stretch) = (index / stretches as usize, index as i64 % stretches);
        let (kind, most) = of_kinds.iter().enumerate().max_by_key(|(_, sum)| **sum).expect("there are kinds");
        let start = from + stretch * width;
        if *most == 0 || *most < i128::from(width) - of_kinds.iter().sum::<i128>() {
            continue; // most of the stretch is empty
        }
        match timeline.slices.last_mut() {
            Some(last) if (last.row, last.kind, last.end) == (row, kind, start) => last.end = start + width,
            _ => {
                let (end, detail) = (start + width, " for the most part".into());
                timeline.slices.push(ActivitySlice { row, start, end, kind, detail, is_within: false });
            }
        }
    }
    timeline.note = "each place shows what there is most of".into();
}

/// Returns the index of a kind, which is added if it is new.
fn kind_index(kinds: &mut Vec<ActivityStyle>, kind: ActivityStyle) -> usize {
    kinds.iter().position(|other| *other == kind).unwrap_or_else(|| {
        kinds.push(kind);
        kinds.len() - 1
    })
}

/// Returns a message as it is drawn. Only words that can be seen one by one get times of their own.
fn drawn_message(message: &Message, params: &Params) -> timeline::MessageArrow {
    let words = message.words;
    let from = if words <= MOST_WORDS { 2 } else { words };
    let stream = message.arrival - message.first;
    let last = (words > 1).then_some(stream);
    let delays = (from..words).map(|word| params.stream(word).min(stream));
    timeline::MessageArrow {
        from: message.id.from,
        to: message.to,
        words,
        enter: message.enter.as_ps(),
        first_arrival: message.first.as_ps(),
        arrival: message.arrival.as_ps(),
        word_delays: delays.chain(last).map(Time::as_ps).collect(),
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
            p.send((p.id() + 1) % p.P(), WORD, vec![1; words]);
            p.recv(WORD);
        });
        draw_timeline(&run.unwrap().trace.unwrap(), "a < b & c", ("us", US))
    }

    #[test]
    fn timeline_shows_every_activity_and_every_message() {
        let svg = picture(5, 1).unwrap();
        assert_eq!(svg.matches("send overhead: ").count(), 5);
        assert_eq!(svg.matches("receive overhead: ").count(), 5);
        assert_eq!(svg.matches(", 1 word: 2 to 8 us").count(), 5);
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("time [us]"));
        assert!(!svg.contains(BYTES.name), "a word is in no port");
    }

    #[test]
    fn timeline_shows_the_bytes_in_both_ports() {
        let svg = picture(3, 11).unwrap();
        for bytes in ["P0 bytes in the port: 2 to 12 us, 11 words from P0 to P1", ", 11 words: 2 to "] {
            assert!(svg.contains(bytes), "{bytes}");
        }
        assert_eq!(svg.matches(" bytes in the port: ").count(), 6);
    }

    #[test]
    fn timeline_refuses_too_many_processors() {
        assert!(picture(600, 1).unwrap_err().contains("at most 512 processors, and there are 600"));
    }
}
