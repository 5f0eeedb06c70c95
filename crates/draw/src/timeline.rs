//! The timeline of a run: what each processor did when, and how the messages travelled, as in LogP's figure 3. A long
//! message is seen in the ports through which its bytes pass, as in LogGP's figures 7 to 10. A moment is a number of ticks.

use super::axis::{Axis, Scale, tick_texts};
use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Place, Shape, WIDTH, high, wide, widest, wrap};
use super::digits::{figures, thousands};
use super::legend::{Entry, legend};
use super::palette::{BYTES, GREY, Kind, PALE, PAPER, TEXT};

/// A timeline.
#[derive(Default)]
pub struct Timeline {
    /// The text above it.
    pub title: String,
    /// What stands below that, smaller: a line or several.
    pub subtitle: String,
    /// The processor of each row, from the top.
    pub rows: Vec<usize>,
    /// From when until when it is drawn; all of it, unless told.
    pub window: Option<(i64, i64)>,
    /// What a unit of time is called, and of how many ticks it is.
    pub unit: (String, i64),
    /// The kinds of slices, in the order of the legend.
    pub kinds: Vec<Kind>,
    /// What processors did, in the order in which it is drawn.
    pub slices: Vec<Slice>,
    /// Whether a processor is idle at times, which shows as the bare line of its row.
    pub has_idle: bool,
    /// The messages.
    pub messages: Vec<Message>,
    /// What the notes say.
    pub noted: String,
    /// What stands at the end of each processor's row, from the first, for any of them.
    pub notes: Vec<String>,
}

/// What a processor did for a while.
pub struct Slice {
    /// Which row it is in.
    pub row: usize,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Which of the kinds it is.
    pub kind: usize,
    /// What is told of it beside that.
    pub of: String,
    /// Whether it lies within what its processor does meanwhile.
    pub is_within: bool,
}

/// A message on its way.
pub struct Message {
    /// In which row it was sent.
    pub from: usize,
    /// In which row it was received.
    pub to: usize,
    /// How many words it had.
    pub words: usize,
    /// When its first byte entered the network.
    pub enter: i64,
    /// When its first byte came out.
    pub first: i64,
    /// When its last byte came out.
    pub arrival: i64,
    /// How long after the first word each of the others entered.
    pub later: Vec<i64>,
}

/// More than this would be a blur; a trace viewer can zoom.
const MOST_PROCESSORS: usize = 512;
/// As many slices and arrows as a browser draws without effort.
pub const MOST_SHAPES: usize = 50_000;
/// The height of a row, at most and at least, and of all rows unless these need more.
const ROWS: (f64, f64, f64) = (32.0, 3.0, 640.0);
/// Up to so many rows one is not lower than this.
const FEW_ROWS: (usize, f64) = (128, 6.5);
/// The parts of a row that a processor's activity and the bytes in its port fill.
const ACTIVITY: f64 = 0.5;
const PORT: f64 = 0.18;
/// The room for notes, unless these are longer.
const NOTE: f64 = 120.0;
/// Words are seen one by one if each is so wide, and there are not more.
const WORD: f64 = 3.5;
pub const MOST_WORDS: usize = 200;
/// From so many messages on, arrows are paler, and paler still; then they have no heads.
const CROWDS: [usize; 2] = [80, 400];

/// Where things are.
struct Scene {
    /// From where to where time goes.
    x: (f64, f64),
    /// From when until when it is drawn.
    span: (i64, i64),
    /// Where the first row begins.
    top: f64,
    /// How high a row is.
    row: f64,
    /// Whether ports have bytes in them.
    has_ports: bool,
    /// Whether arrows have heads.
    has_heads: bool,
}

impl Timeline {
    /// The timeline as SVG; or says why it cannot be drawn.
    pub fn svg(&self) -> Result<String, String> {
        let P = self.rows.len();
        if P > MOST_PROCESSORS {
            return Err(format!("a picture shows at most {MOST_PROCESSORS} processors, and there are {P}"));
        }
        let shapes = self.slices.len() + self.messages.len();
        if shapes > MOST_SHAPES {
            return Err(format!(
                "a picture shows at most {MOST_SHAPES} activities and messages, and there are {shapes}"
            ));
        }
        let ends = self.slices.iter().map(|slice| slice.end);
        let end = ends.chain(self.messages.iter().map(|message| message.arrival)).max().unwrap_or(0).max(1);
        let (begin, end) = match self.window {
            None => (0, end),
            Some((from, until)) => (from, until.min(end).max(from.saturating_add(1))),
        };

        let beside = if self.notes.is_empty() { 0.0 } else { widest(&self.notes, NORMAL) + 10.0 };
        // Longer notes take no room from what happened.
        let mut canvas = Canvas::new(WIDTH + (beside - NOTE).max(0.0));
        let width = canvas.width();
        let mut top = canvas.head(&self.title, &self.subtitle);
        let least = if P <= FEW_ROWS.0 { FEW_ROWS.1 } else { ROWS.1 };
        let row = (ROWS.2 / P as f64).clamp(least, ROWS.0);
        if !self.noted.is_empty() {
            let lines = wrap(&self.noted, NORMAL, width - 2.0 * MARGIN);
            top = canvas.lines(GREY, (width - MARGIN, top - 4.0), Anchor::End, NORMAL, &lines) + 2.0;
        }
        let names: Vec<String> = self.rows.iter().map(|id| format!("P{id}")).collect();
        let left = MARGIN + widest(&names, NORMAL) + 8.0;

        let (first, last) = (part(begin, self.unit.1), part(end, self.unit.1));
        let span = last - first;
        let axis = Axis::new(Scale::Linear, [first, last].into_iter());
        // The end is a tick too, if it is round.
        let ticks = axis.ticks(&(first..last + span * 1e-9));
        let texts = tick_texts(&ticks);
        let edge = widest(&texts, NORMAL) / 2.0;
        let right = width - (MARGIN + beside).max(edge + 4.0);
        let has_ports = self.messages.iter().any(Message::has_bytes);
        let has_heads = self.messages.len() <= CROWDS[1];
        let scene = Scene { x: (left, right), span: (begin, end), top, row, has_ports, has_heads };

        let bottom = top + row * P as f64;
        let mut free = f64::NEG_INFINITY;
        for (tick, text) in ticks.iter().zip(&texts) {
            let x = left + (right - left) * (tick - first) / span;
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
        match self.window {
            None => self.draw(&mut canvas, &scene),
            Some(_) => {
                canvas.clipped((left, top), (right - left, bottom - top), |canvas| self.draw(canvas, &scene))
            }
        }

        let y = bottom + 8.0 + high(1, NORMAL);
        let name = wrap(&format!("time [{}]", self.unit.0), NORMAL, width - 2.0 * MARGIN);
        let y = canvas.lines(TEXT, ((left + right) / 2.0, y), Anchor::Middle, NORMAL, &name);
        let end = legend(&mut canvas, y + 8.0, &self.entries(&scene));
        Ok(canvas.finish(end + MARGIN / 2.0, &self.title))
    }

    /// A moment as it is told.
    fn told(&self, moment: i64) -> String {
        figures(part(moment, self.unit.1), 9)
    }

    /// Draws what happened.
    fn draw(&self, canvas: &mut Canvas, scene: &Scene) {
        let crowd = CROWDS.iter().filter(|crowd| self.messages.len() > **crowd).count();
        let long = || self.messages.iter().filter(|message| message.has_bytes());
        canvas.faint([1.0, 0.6, 0.35][crowd], |canvas| {
            long().for_each(|message| draw_way(canvas, scene, message));
        });
        long().for_each(|message| self.draw_bytes(canvas, scene, message));
        self.slices.iter().for_each(|slice| self.draw_slice(canvas, scene, slice));
        canvas.faint([0.9, 0.55, 0.3][crowd], |canvas| {
            for message in &self.messages {
                self.draw_message(canvas, scene, message);
            }
        });
    }

    /// Draws a slice in the middle of its row, half as high if it lies within another.
    fn draw_slice(&self, canvas: &mut Canvas, scene: &Scene, slice: &Slice) {
        let Slice { row: id, start, end, kind, ref of, is_within } = *slice;
        let Kind { name, ink } = self.kinds[kind];
        let high = scene.row * ACTIVITY / if is_within { 2.0 } else { 1.0 };
        let (x, right) = (scene.x(start), scene.x(end));
        // A rim would be all that is seen of what is small.
        let shape = if scene.row >= 12.0 && right - x >= 2.0 { Shape::Box } else { Shape::Area };
        let (start, end, unit) = (self.told(start), self.told(end), &self.unit.0);
        canvas.told(format_args!("P{} {name}: {start} to {end} {unit}{of}", self.rows[id]), |canvas| {
            let size = ((right - x).max(0.6), high);
            canvas.rectangle(
                ink,
                shape,
                (x, scene.activity(id) + scene.row * ACTIVITY / 2.0 - high / 2.0),
                size,
            );
        });
    }

    /// Draws a long message's bytes in the ports of both its ends.
    fn draw_bytes(&self, canvas: &mut Canvas, scene: &Scene, message: &Message) {
        let (from, to) = (self.rows[message.from], self.rows[message.to]);
        for (id, start, end) in message.ports() {
            let (x, y, high) = (scene.x(start), scene.port(id), scene.row * PORT);
            let width = scene.x(end) - x;
            let told = format!(
                "P{} {}: {} to {} {}, {} words from P{from} to P{to}",
                self.rows[id],
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
                    for later in &message.later[..k - 2] {
                        let x = x + width * part(*later, message.stream());
                        canvas.line(PAPER, Shape::Thin, "", &[(x, y), (x, y + high)]);
                    }
                }
            });
        }
    }

    /// Draws the way of a message: of its first byte and its last, if these part.
    fn draw_message(&self, canvas: &mut Canvas, scene: &Scene, message: &Message) {
        let (from, to) = (message.from, message.to);
        let words =
            if message.words == 1 { "1 word".into() } else { format!("{} words", thousands(message.words)) };
        let told = format!(
            "P{} to P{}, {words}: {} to {} {}",
            self.rows[from],
            self.rows[to],
            self.told(message.enter),
            self.told(message.arrival),
            self.unit.0
        );
        let (start, end) = (scene.edge(from, to), scene.edge(to, from));
        let last = message.enter + message.stream();
        let mut ways = vec![(last, message.arrival)];
        if message.has_bytes() {
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
        let occurs = |kind: &usize| self.slices.iter().any(|slice| slice.kind == *kind);
        let mut kinds: Vec<Kind> =
            (0..self.kinds.len()).filter(occurs).map(|kind| self.kinds[kind]).collect();
        if scene.has_ports {
            kinds.push(BYTES);
        }
        let mut entries: Vec<Entry> = kinds.iter().map(|kind| Entry::of(kind.name, kind.ink)).collect();
        if self.has_idle {
            let sample = |canvas: &mut Canvas, left: Place, right: Place| {
                canvas.line(PALE, Shape::Line, "", &[left, right]);
            };
            entries.push(Entry { label: "idle".into(), sample: Box::new(sample) });
        }
        let has_heads = scene.has_heads;
        let sample = move |canvas: &mut Canvas, left: Place, right: Place| match has_heads {
            true => arrow(canvas, [left, right], 6.5),
            false => canvas.line(GREY, Shape::Thin, "", &[left, right]),
        };
        if !self.messages.is_empty() {
            let label = if scene.has_ports { "first and last byte of a message" } else { "message" };
            entries.push(Entry { label: label.into(), sample: Box::new(sample) });
        }
        entries
    }
}

impl Message {
    /// Whether its bytes pass one after the other for a while.
    fn has_bytes(&self) -> bool {
        self.stream() > 0
    }

    /// For how long its bytes pass through its sender's port.
    fn stream(&self) -> i64 {
        self.later.last().copied().unwrap_or(0)
    }

    /// Its bytes in the ports of its sender and of its receiver.
    fn ports(&self) -> [(usize, i64, i64); 2] {
        [(self.from, self.enter, self.enter + self.stream()), (self.to, self.first, self.arrival)]
    }
}

/// Draws a long message's bytes on their way.
fn draw_way(canvas: &mut Canvas, scene: &Scene, message: &Message) {
    let [(from, start, last), (to, first, arrival)] = message.ports();
    let (y, out) = (scene.edge(from, to), scene.edge(to, from));
    let corners = [(start, y), (last, y), (arrival, out), (first, out)];
    canvas.polygon(BYTES.ink, Shape::Band, &corners.map(|(moment, y)| (scene.x(moment), y)));
}

/// One number of ticks as a part of another.
fn part(ticks: i64, of: i64) -> f64 {
    ticks as f64 / of as f64
}

impl Scene {
    /// Where a moment is.
    fn x(&self, moment: i64) -> f64 {
        let (from, until) = self.span;
        self.x.0 + (self.x.1 - self.x.0) * part(moment - from, until - from)
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
