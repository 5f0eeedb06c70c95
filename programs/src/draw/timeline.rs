//! The timeline of a run: what each processor did when, and how the messages travelled, as in LogP's figure 3. A long
//! message is seen in the ports through which its bytes pass, as in LogGP's figures 7 to 10.

use std::collections::BTreeSet;

use loggp::{Activity, ActivityKind, Message, Time, Trace};

use super::axis::{Axis, Scale, tick_texts};
use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Place, Shape, WIDTH, high, wide, widest, wrap};
use super::legend::{Entry, legend};
use super::palette::{BYTES, GREY, Kind, PALE, PAPER, TEXT};
use crate::digits::{figures, thousands};
use crate::study::analysis::accounts::Account;

/// A timeline.
pub struct Timeline<'a> {
    /// The text above it.
    pub title: &'a str,
    /// What stands below that, smaller: a line or several.
    pub subtitle: &'a str,
    /// What is shown.
    pub trace: &'a Trace,
    /// What a unit of time is called, and how long it is.
    pub unit: (&'a str, Time),
    /// What the notes say.
    pub noted: &'a str,
    /// What stands at the end of each processor's row, from the first, for any of them.
    pub notes: &'a [String],
}

/// More than this would be a blur; a trace viewer can zoom.
const MOST_PROCESSORS: usize = 128;
/// As many slices and arrows as a browser draws without effort.
const MOST_SHAPES: usize = 50_000;
/// The height of a row, at most and at least, and of all rows unless these need more.
const ROWS: (f64, f64, f64) = (32.0, 6.5, 640.0);
/// The parts of a row that a processor's activity and the bytes in its port fill.
const ACTIVITY: f64 = 0.5;
const PORT: f64 = 0.18;
/// The room for notes, unless these are longer.
const NOTE: f64 = 120.0;
/// Words are seen one by one if each is so wide, and there are not more.
const WORD: f64 = 3.5;
const MOST_WORDS: usize = 200;
/// From so many messages on, arrows are paler, and paler still; then they have no heads.
const CROWDS: [usize; 2] = [80, 400];

/// Draws a trace as SVG, with time in this unit; or says why it cannot.
pub fn timeline(trace: &Trace, title: &str, unit: (&str, Time)) -> Result<String, String> {
    Timeline { title, subtitle: "", trace, unit, noted: "", notes: &[] }.svg()
}

/// Where things are.
struct Scene {
    /// From where to where time goes.
    x: (f64, f64),
    /// When the last thing ended.
    end: Time,
    /// Where the first row begins.
    top: f64,
    /// How high a row is.
    row: f64,
    /// Whether ports have bytes in them.
    has_ports: bool,
    /// Whether arrows have heads.
    has_heads: bool,
}

impl Timeline<'_> {
    /// The timeline as SVG; or says why it cannot be drawn.
    pub fn svg(&self) -> Result<String, String> {
        let trace = self.trace;
        let P = trace.params.P;
        if P > MOST_PROCESSORS {
            return Err(format!("a timeline shows at most {MOST_PROCESSORS} processors, and there are {P}"));
        }
        let shapes = trace.activities.len() + trace.messages.len() + trace.progress.len();
        if shapes > MOST_SHAPES {
            return Err(format!(
                "a timeline shows at most {MOST_SHAPES} activities and messages, and there are {shapes}"
            ));
        }
        let ends = trace.activities.iter().map(|activity| activity.end);
        let ends = ends.chain(trace.progress.iter().map(|progress| progress.end));
        let end = ends.chain(trace.messages.iter().map(|message| message.arrival)).max();
        let end = end.unwrap_or_default().max(Time::from_ps(1));

        let beside = if self.notes.is_empty() { 0.0 } else { widest(self.notes, NORMAL) + 10.0 };
        // Longer notes take no room from what happened.
        let mut canvas = Canvas::new(WIDTH + (beside - NOTE).max(0.0));
        let width = canvas.width();
        let mut top = canvas.head(self.title, self.subtitle);
        let row = (ROWS.2 / P as f64).clamp(ROWS.1, ROWS.0);
        if !self.noted.is_empty() {
            let lines = wrap(self.noted, NORMAL, width - 2.0 * MARGIN);
            top = canvas.lines(GREY, (width - MARGIN, top - 4.0), Anchor::End, NORMAL, &lines) + 2.0;
        }
        let names: Vec<String> = (0..P).map(|id| format!("P{id}")).collect();
        let left = MARGIN + widest(&names, NORMAL) + 8.0;

        let span = end.in_units(self.unit.1);
        let axis = Axis::new(Scale::Linear, [0.0, span].into_iter());
        // The end is a tick too, if it is round.
        let ticks = axis.ticks(&(0.0..span * (1.0 + 1e-9)));
        let texts = tick_texts(&ticks);
        let edge = widest(&texts, NORMAL) / 2.0;
        let right = width - (MARGIN + beside).max(edge + 4.0);
        let has_ports = trace.messages.iter().any(|message| self.has_bytes(message));
        let has_heads = trace.messages.len() <= CROWDS[1];
        let scene = Scene { x: (left, right), end, top, row, has_ports, has_heads };

        let bottom = top + row * P as f64;
        let mut free = f64::NEG_INFINITY;
        for (tick, text) in ticks.iter().zip(&texts) {
            let x = left + (right - left) * tick / span;
            canvas.line(PALE, Shape::Thin, "", &[(x, top), (x, bottom + 4.0)]);
            let half = wide(text, NORMAL) / 2.0;
            if x - half >= free {
                canvas.text(TEXT, (x, bottom + 6.0 + high(1, NORMAL) / 2.0), Anchor::Middle, NORMAL, text);
                free = x + half + 6.0;
            }
        }
        // Where rows are narrow, only some have names.
        let step = [1, 2, 4, 8, 16].into_iter().find(|step| *step as f64 * row >= high(1, NORMAL) - 2.0);
        for (id, name) in names.iter().enumerate() {
            let y = scene.middle(id);
            canvas.line(PALE, Shape::Thin, "", &[(left, y), (right, y)]);
            if id % step.unwrap_or(16) == 0 {
                canvas.text(TEXT, (left - 8.0, y), Anchor::End, NORMAL, name);
                if let Some(note) = self.notes.get(id) {
                    canvas.text(TEXT, (right + 10.0, y), Anchor::Start, NORMAL, note);
                }
            }
        }
        self.draw(&mut canvas, &scene);

        let y = bottom + 8.0 + high(1, NORMAL);
        let name = wrap(&format!("time [{}]", self.unit.0), NORMAL, width - 2.0 * MARGIN);
        let y = canvas.lines(TEXT, ((left + right) / 2.0, y), Anchor::Middle, NORMAL, &name);
        let end = legend(&mut canvas, y + 8.0, &self.entries(&scene));
        Ok(canvas.finish(end + MARGIN / 2.0, self.title))
    }

    /// Whether a message's bytes pass one after the other for a while.
    fn has_bytes(&self, message: &Message) -> bool {
        self.stream(message) > Time::ZERO
    }

    /// For how long a message's bytes pass through its sender's port.
    fn stream(&self, message: &Message) -> Time {
        if message.words > 1 { self.trace.params.stream(message.words) } else { Time::ZERO }
    }

    /// A moment as it is told.
    fn told(&self, time: Time) -> String {
        figures(time.in_units(self.unit.1), 9)
    }

    /// Draws what happened.
    fn draw(&self, canvas: &mut Canvas, scene: &Scene) {
        let trace = self.trace;
        let crowd = CROWDS.iter().filter(|crowd| trace.messages.len() > **crowd).count();
        let long = || trace.messages.iter().filter(|message| self.has_bytes(message));
        canvas.faint([1.0, 0.6, 0.35][crowd], |canvas| {
            long().for_each(|message| self.draw_way(canvas, scene, message));
        });
        long().for_each(|message| self.draw_bytes(canvas, scene, message));
        for Activity { id, start, end, what } in &trace.activities {
            let high = scene.row * ACTIVITY;
            self.draw_activity(canvas, scene, *id, (*start, *end), what, high);
        }
        // What a request does lies within what its processor does meanwhile.
        for progress in &trace.progress {
            let high = scene.row * ACTIVITY / 2.0;
            self.draw_activity(
                canvas,
                scene,
                progress.id,
                (progress.start, progress.end),
                &progress.what,
                high,
            );
        }
        canvas.faint([0.9, 0.55, 0.3][crowd], |canvas| {
            for message in &trace.messages {
                self.draw_message(canvas, scene, message);
            }
        });
    }

    /// Draws an activity so high, in the middle of its row.
    fn draw_activity(
        &self,
        canvas: &mut Canvas,
        scene: &Scene,
        id: usize,
        (start, end): (Time, Time),
        what: &ActivityKind,
        high: f64,
    ) {
        let Some(Kind { name, ink }) = Kind::of_activity(what) else { return };
        let (x, right) = (scene.x(start), scene.x(end));
        let of = match what {
            ActivityKind::Work(kind) if !kind.is_empty() => format!(" ({kind})"),
            _ => String::new(),
        };
        // A rim would be all that is seen of what is small.
        let shape = if scene.row >= 12.0 && right - x >= 2.0 { Shape::Box } else { Shape::Area };
        let (start, end, unit) = (self.told(start), self.told(end), self.unit.0);
        canvas.told(format_args!("P{id} {name}: {start} to {end} {unit}{of}"), |canvas| {
            let size = ((right - x).max(0.6), high);
            canvas.rectangle(
                ink,
                shape,
                (x, scene.activity(id) + scene.row * ACTIVITY / 2.0 - high / 2.0),
                size,
            );
        });
    }

    /// A long message's bytes in the ports of its sender and of its receiver.
    fn ports(&self, message: &Message) -> [(usize, Time, Time); 2] {
        let sent = message.enter + self.stream(message);
        [(message.id.from, message.enter, sent), (message.to, message.first, message.arrival)]
    }

    /// Draws a long message's bytes on their way.
    fn draw_way(&self, canvas: &mut Canvas, scene: &Scene, message: &Message) {
        let [(from, start, last), (to, first, arrival)] = self.ports(message);
        let (y, out) = (scene.edge(from, to), scene.edge(to, from));
        let corners = [(start, y), (last, y), (arrival, out), (first, out)];
        canvas.polygon(BYTES.ink, Shape::Band, &corners.map(|(time, y)| (scene.x(time), y)));
    }

    /// Draws a long message's bytes in the ports of both its ends.
    fn draw_bytes(&self, canvas: &mut Canvas, scene: &Scene, message: &Message) {
        let (from, to) = (message.id.from, message.to);
        for (id, start, end) in self.ports(message) {
            let (x, y, high) = (scene.x(start), scene.port(id), scene.row * PORT);
            let width = scene.x(end) - x;
            let told = format!(
                "P{id} {}: {} to {} {}, {} words from P{from} to P{to}",
                BYTES.name,
                self.told(start),
                self.told(end),
                self.unit.0,
                thousands(message.words)
            );
            canvas.told(told, |canvas| {
                canvas.rectangle(BYTES.ink, Shape::Box, (x, y), (width.max(0.6), high));
                let k = message.words;
                if k <= MOST_WORDS && width / k as f64 >= WORD {
                    let all = self.stream(message);
                    for j in 2..k {
                        let x = x + width * self.trace.params.stream(j).in_units(all);
                        canvas.line(PAPER, Shape::Thin, "", &[(x, y), (x, y + high)]);
                    }
                }
            });
        }
    }

    /// Draws the way of a message: of its first byte and its last, if these part.
    fn draw_message(&self, canvas: &mut Canvas, scene: &Scene, message: &Message) {
        let (from, to) = (message.id.from, message.to);
        let words =
            if message.words == 1 { "1 word".into() } else { format!("{} words", thousands(message.words)) };
        let told = format!(
            "P{from} to P{to}, {words}: {} to {} {}",
            self.told(message.enter),
            self.told(message.arrival),
            self.unit.0
        );
        let (start, end) = (scene.edge(from, to), scene.edge(to, from));
        let last = message.enter + self.stream(message);
        let mut ways = vec![(last, message.arrival)];
        if self.has_bytes(message) {
            ways.push((message.enter, message.first));
        }
        canvas.told(told, |canvas| {
            for (enter, out) in ways {
                let ends = [(scene.x(enter), start), (scene.x(out), end)];
                if scene.has_heads {
                    arrow(canvas, ends, if scene.row >= 16.0 { 6.5 } else { 4.5 });
                } else {
                    canvas.line(GREY, Shape::Thin, "", &ends);
                }
            }
        });
    }

    /// An entry for each look that occurs.
    fn entries(&self, scene: &Scene) -> Vec<Entry<'_>> {
        let trace = self.trace;
        let all = trace.activities.iter().map(|activity| &activity.what);
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in
            all.chain(trace.progress.iter().map(|progress| &progress.what)).filter_map(Kind::of_activity)
        {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.sort_by_key(|kind| {
            Account::ALL.iter().position(|account| account.name() == kind.name).unwrap_or(99)
        });
        if scene.has_ports {
            kinds.push(BYTES);
        }
        let mut entries: Vec<Entry> = kinds.iter().map(|kind| Entry::of(kind.name, kind.ink)).collect();
        let parted: BTreeSet<bool> = trace.messages.iter().map(|message| self.has_bytes(message)).collect();
        let has_heads = scene.has_heads;
        let sample = move |canvas: &mut Canvas, left: Place, right: Place| match has_heads {
            true => arrow(canvas, [left, right], 6.5),
            false => canvas.line(GREY, Shape::Thin, "", &[left, right]),
        };
        if !parted.is_empty() {
            let label = if parted.contains(&true) { "first and last byte of a message" } else { "message" };
            entries.push(Entry { label: label.into(), sample: Box::new(sample) });
        }
        entries
    }
}

impl Scene {
    /// Where a moment is.
    fn x(&self, time: Time) -> f64 {
        self.x.0 + (self.x.1 - self.x.0) * time.in_units(self.end)
    }

    /// The middle of a processor's row.
    fn middle(&self, id: usize) -> f64 {
        self.top + self.row * (id as f64 + 0.5)
    }

    /// How high what is in a row is.
    fn filled(&self) -> f64 {
        self.row * if self.has_ports { ACTIVITY + PORT } else { ACTIVITY }
    }

    /// Where the activities of a processor begin, from the top.
    fn activity(&self, id: usize) -> f64 {
        self.middle(id) - self.filled() / 2.0
    }

    /// Where the bytes in a processor's port begin, from the top.
    fn port(&self, id: usize) -> f64 {
        self.activity(id) + self.row * ACTIVITY
    }

    /// The edge of what is in a processor's row that looks to another.
    fn edge(&self, id: usize, other: usize) -> f64 {
        let half = self.filled() / 2.0;
        self.middle(id) + if other > id { half } else { -half }
    }
}

/// Draws a line with a head at its end, so long.
fn arrow(canvas: &mut Canvas, [start, end]: [Place; 2], head: f64) {
    let (right, down) = (end.0 - start.0, end.1 - start.1);
    let length = right.hypot(down).max(1e-9);
    let (right, down) = (head * right / length, head * down / length);
    let (x, y) = (end.0 - right, end.1 - down);
    canvas.line(GREY, Shape::Thin, "", &[start, (x, y)]);
    let corners = [end, (x - 0.38 * down, y + 0.38 * right), (x + 0.38 * down, y - 0.38 * right)];
    canvas.polygon(GREY, Shape::Area, &corners);
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{Machine, Params, Tag, US, Work};

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
