//! The timeline of a run: the activities of each processor, and the messages, as in LogP's figure 3. A long
//! message is also shown in the ports through which its bytes pass, as in LogGP's figures 7 to 10. Times are
//! numbers of ticks.

use super::axis::{Axis, Scale};
use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, Position, ShapeStyle, WIDTH, lines_height, text_width, widest, wrap,
};
use super::digits::{figures, thousands};
use super::legend::{LegendEntry, draw_legend};
use super::letters::Letter;
use super::palette::{ActivityStyle, BYTES, GREY, PALE, PAPER, TEXT};

/// A picture of a run.
#[derive(Default)]
pub struct TimelinePicture {
    /// Title above the timeline.
    pub title: String,
    /// One or more smaller lines below the title.
    pub subtitle: String,
    /// Processor of each row, from the top.
    pub rows: Vec<usize>,
    /// Start and end of the part that is drawn; `None` for the whole run.
    pub window: Option<(i64, i64)>,
    /// Name of the unit of time, and its length in ticks.
    pub unit: (String, i64),
    /// Kinds of activities, in the order of the legend.
    pub kinds: Vec<ActivityStyle>,
    /// Activities, in the order in which they are drawn.
    pub slices: Vec<ActivitySlice>,
    /// True if a processor is idle at times, which shows as a bare line.
    pub has_idle: bool,
    /// Messages.
    pub messages: Vec<MessageArrow>,
    /// Note on what is drawn, above the rows.
    pub note: String,
    /// Letters above the rows; the processors at their ends are indices of rows.
    pub letters: Vec<Letter>,
}

/// An activity of a processor.
pub struct ActivitySlice {
    /// Index of its row.
    pub row: usize,
    /// Start, in ticks.
    pub start: i64,
    /// End, in ticks.
    pub end: i64,
    /// Index of its kind.
    pub kind: usize,
    /// Further text of its tooltip.
    pub detail: String,
    /// True if it is within another activity of its processor.
    pub is_within: bool,
}

/// A message.
pub struct MessageArrow {
    /// Index of the sender's row.
    pub from: usize,
    /// Index of the receiver's row.
    pub to: usize,
    /// Length in words.
    pub words: usize,
    /// Time when its first byte enters the network.
    pub enter: i64,
    /// Time when its first byte arrives.
    pub first_arrival: i64,
    /// Time when its last byte arrives.
    pub arrival: i64,
    /// Delays of the other words behind the first one.
    pub word_delays: Vec<i64>,
}

/// Limit of the number of processors; more would be a blur.
const MOST_PROCESSORS: usize = 512;
/// Limit of the number of slices and arrows, which a browser draws without effort.
pub const MOST_SHAPES: usize = 50_000;
/// Greatest and least height of a row, and the height of all rows unless they need more.
const ROWS: (f64, f64, f64) = (32.0, 3.0, 640.0);
/// A number of rows, and the least height of a row if there are no more.
const FEW_ROWS: (usize, f64) = (128, 6.5);
/// Parts of a row that are for activities, and for the bytes in the port.
const ACTIVITY: f64 = 0.5;
const PORT: f64 = 0.18;
/// Least width of a word, and greatest number of words, for words to be drawn one by one.
const WORD: f64 = 3.5;
pub const MOST_WORDS: usize = 200;
/// Height of a line of letters.
const LETTER: f64 = 15.0;
/// Space between timelines.
const BETWEEN: f64 = 22.0;
/// Numbers of messages above which arrows are pale, and paler still and without heads.
const CROWDS: [usize; 2] = [80, 400];

/// The layout of a timeline.
struct Scene {
    /// Left and right end of the time axis.
    x: (f64, f64),
    /// Start and end of the time that is drawn.
    span: (i64, i64),
    /// Top of the first row.
    top: f64,
    /// Height of a row.
    row: f64,
    /// True if bytes in ports are drawn.
    has_ports: bool,
    has_heads: bool,
}

/// The axis of time, which is that of all timelines of a picture.
struct TimeAxis {
    /// Left and right end.
    x: (f64, f64),
    /// Start and end of the time that is drawn, in ticks and in units.
    span: (i64, i64),
    units: (f64, f64),
    marks: Vec<f64>,
    texts: Vec<String>,
}

impl TimeAxis {
    /// Returns the axis to the right of `left`.
    fn new(pictures: &[TimelinePicture], left: f64) -> TimeAxis {
        let ends = pictures.iter().flat_map(|picture| {
            let slices = picture.slices.iter().map(|slice| slice.end);
            slices.chain(picture.messages.iter().map(|message| message.arrival))
        });
        let end = ends.max().unwrap_or(0).max(1);
        let TimelinePicture { window, unit, .. } = &pictures[0];
        let (begin, end) = match *window {
            None => (0, end),
            Some((from, until)) => (from, until.min(end).max(from.saturating_add(1))),
        };
        let (first, last) = (part(begin, unit.1), part(end, unit.1));
        let axis = Axis::new(Scale::Linear, [first, last].into_iter());
        // The range is extended so that a round end has a tick too.
        let (marks, texts) = axis.labelled_ticks(&(first..last + (last - first) * 1e-9));
        let edge = widest(&texts, NORMAL) / 2.0;
        let x = (left, WIDTH - MARGIN.max(edge + 4.0));
        TimeAxis { x, span: (begin, end), units: (first, last), marks, texts }
    }

    /// Draws its grid, and below the last timeline its numbers.
    fn draw(&self, canvas: &mut Canvas, (top, bottom): (f64, f64), is_last: bool) {
        let ((left, right), (first, last)) = (self.x, self.units);
        let mut free = f64::NEG_INFINITY;
        for (mark, text) in self.marks.iter().zip(&self.texts) {
            let x = left + (right - left) * (mark - first) / (last - first);
            canvas.draw_thin_line(PALE, &[(x, top), (x, bottom + 4.0)]);
            let half = text_width(text, NORMAL) / 2.0;
            if is_last && x - half >= free {
                canvas.draw_text_below(TEXT, (x, bottom + 6.0), Anchor::Middle, NORMAL, text);
                free = x + half + 6.0;
            }
        }
    }
}

impl TimelinePicture {
    /// Returns the timeline as SVG, or an error if it is too large to be drawn.
    pub fn svg(&self) -> Result<String, String> {
        TimelinePicture::svg_of(std::slice::from_ref(self))
    }

    /// Returns timelines below each other over the same time as SVG, or an error if they are too large to be drawn. The
    /// unit and the window of all are those of the first.
    pub fn svg_of(pictures: &[TimelinePicture]) -> Result<String, String> {
        let P = pictures.iter().map(|picture| picture.rows.len()).sum::<usize>();
        if P > MOST_PROCESSORS {
            return Err(format!("a picture shows at most {MOST_PROCESSORS} processors, and there are {P}"));
        }
        let shapes =
            pictures.iter().map(|picture| picture.slices.len() + picture.messages.len()).sum::<usize>();
        if shapes > MOST_SHAPES {
            let most = format!("at most {MOST_SHAPES} activities and messages");
            return Err(format!("a picture shows {most}, and there are {shapes}"));
        }
        let names = pictures.iter().flat_map(|picture| &picture.rows).map(|id| format!("P{id}"));
        let axis = TimeAxis::new(pictures, MARGIN + widest(names, NORMAL) + 8.0);
        let least = if P <= FEW_ROWS.0 { FEW_ROWS.1 } else { ROWS.1 };
        let row = (ROWS.2 / P as f64).clamp(least, ROWS.0);

        let mut canvas = Canvas::new(WIDTH);
        let mut y = MARGIN;
        let mut scenes = Vec::new();
        for (number, picture) in pictures.iter().enumerate() {
            let is_last = number + 1 == pictures.len();
            let (scene, bottom) = picture.draw_below(&mut canvas, y, &axis, row, is_last);
            scenes.push(scene);
            y = bottom + if is_last { 8.0 } else { BETWEEN };
        }
        y += lines_height(1, NORMAL);
        let name = wrap(&format!("time [{}]", pictures[0].unit.0), NORMAL, WIDTH - 2.0 * MARGIN);
        let middle = (axis.x.0 + axis.x.1) / 2.0;
        y = canvas.draw_lines(TEXT, (middle, y), Anchor::Middle, NORMAL, &name);
        let end = draw_legend(&mut canvas, y + 8.0, &entries(pictures, &scenes));
        Ok(canvas.finish(end + MARGIN / 2.0, &pictures[0].title))
    }

    /// Draws the timeline with its title below this height, without what stands below the last one. Returns its layout and
    /// where it ends.
    fn draw_below(
        &self,
        canvas: &mut Canvas,
        y: f64,
        axis: &TimeAxis,
        row: f64,
        is_last: bool,
    ) -> (Scene, f64) {
        let mut top = canvas.draw_head_below(y, &self.title, &self.subtitle);
        if !self.note.is_empty() {
            let lines = wrap(&self.note, NORMAL, WIDTH - 2.0 * MARGIN);
            top = canvas.draw_lines(GREY, (WIDTH - MARGIN, top - 4.0), Anchor::End, NORMAL, &lines) + 2.0;
        }
        let has_ports = self.messages.iter().any(MessageArrow::has_bytes);
        let has_heads = self.messages.len() <= CROWDS[1];
        let mut scene = Scene { x: axis.x, span: axis.span, top, row, has_ports, has_heads };
        let letters: Vec<&Letter> = self.letters.iter().filter(|letter| scene.fits(letter)).collect();
        // The bracket of a gap is above the lengths of the message.
        let (gaps, lengths): (Vec<_>, Vec<_>) = letters.into_iter().partition(|letter| letter.is_gap);
        let lines: Vec<_> = [gaps, lengths].into_iter().filter(|line| !line.is_empty()).collect();
        let letters = top + LETTER / 2.0;
        top += LETTER * lines.len() as f64;
        scene.top = top;
        let (left, right) = axis.x;
        let bottom = top + row * self.rows.len() as f64;
        axis.draw(canvas, (top, bottom), is_last);
        // If rows are low, only some have names.
        let step =
            [1, 2, 4, 8, 16].into_iter().find(|step| *step as f64 * row >= lines_height(1, NORMAL) - 2.0);
        for (row, id) in self.rows.iter().enumerate() {
            let y = scene.middle(row);
            canvas.draw_thin_line(PALE, &[(left, y), (right, y)]);
            if row % step.unwrap_or(16) == 0 {
                canvas.draw_text(TEXT, (left - 8.0, y), Anchor::End, NORMAL, &format!("P{id}"));
            }
        }
        for draw in [draw_letter_ends, draw_letter] {
            for (line, letter) in
                lines.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |one| (n, one)))
            {
                draw(canvas, &scene, letter, letters + LETTER * line as f64);
            }
        }
        match self.window {
            None => self.draw(canvas, &scene),
            Some(_) => canvas
                .with_clip((left, top), (right - left, bottom - top), |canvas| self.draw(canvas, &scene)),
        }
        (scene, bottom)
    }

    /// Returns a time as text, in units.
    fn moment_text(&self, moment: i64) -> String {
        figures(part(moment, self.unit.1), 9)
    }

    /// Draws the messages, and the activities above them.
    fn draw(&self, canvas: &mut Canvas, scene: &Scene) {
        let crowd = CROWDS.iter().filter(|crowd| self.messages.len() > **crowd).count();
        let long = || self.messages.iter().filter(|message| message.has_bytes());
        canvas.with_opacity([1.0, 0.6, 0.35][crowd], |canvas| {
            long().for_each(|message| draw_byte_band(canvas, scene, message));
        });
        canvas.with_opacity([0.9, 0.55, 0.3][crowd], |canvas| {
            for message in &self.messages {
                self.draw_message(canvas, scene, message);
            }
        });
        long().for_each(|message| self.draw_bytes(canvas, scene, message));
        self.slices.iter().for_each(|slice| self.draw_slice(canvas, scene, slice));
    }

    /// Draws an activity in the middle of its row, half as high if it is within another.
    fn draw_slice(&self, canvas: &mut Canvas, scene: &Scene, slice: &ActivitySlice) {
        let ActivitySlice { row: id, start, end, kind, ref detail, is_within } = *slice;
        let ActivityStyle { name, ink } = self.kinds[kind];
        let high = scene.row * ACTIVITY / if is_within { 2.0 } else { 1.0 };
        let (x, right) = (scene.x(start), scene.x(end));
        // Small ones have no rim, which would cover the shape.
        let shape = if scene.row >= 12.0 && right - x >= 2.0 { ShapeStyle::Box } else { ShapeStyle::Area };
        let (start, end, unit) = (self.moment_text(start), self.moment_text(end), &self.unit.0);
        let tooltip = format!("P{} {name}: {start} to {end} {unit}{detail}", self.rows[id]);
        let y = scene.activity(id) + scene.row * ACTIVITY / 2.0 - high / 2.0;
        canvas.with_tooltip(&tooltip, |canvas| {
            canvas.draw_rectangle(ink, shape, (x, y), ((right - x).max(0.6), high));
        });
    }

    /// Draws a long message's bytes in the ports of its sender and its receiver.
    fn draw_bytes(&self, canvas: &mut Canvas, scene: &Scene, message: &MessageArrow) {
        let (from, to) = (self.rows[message.from], self.rows[message.to]);
        for (id, start, end) in message.ports() {
            let (x, y, high) = (scene.x(start), scene.port(id), scene.row * PORT);
            let width = scene.x(end) - x;
            let tooltip = format!(
                "P{} {}: {} to {} {}, {} words from P{from} to P{to}",
                self.rows[id],
                BYTES.name,
                self.moment_text(start),
                self.moment_text(end),
                self.unit.0,
                thousands(message.words)
            );
            canvas.with_tooltip(&tooltip, |canvas| {
                canvas.draw_rectangle(BYTES.ink, ShapeStyle::Box, (x, y), (width.max(0.6), high));
                let k = message.words;
                if k <= MOST_WORDS && width / k as f64 >= WORD {
                    for later in &message.word_delays[..k - 2] {
                        let x = x + width * part(*later, message.stream());
                        canvas.draw_thin_line(PAPER, &[(x, y), (x, y + high)]);
                    }
                }
            });
        }
    }

    /// Draws the arrow of a message, or two for the first and the last byte of a long one.
    fn draw_message(&self, canvas: &mut Canvas, scene: &Scene, message: &MessageArrow) {
        let (from, to) = (message.from, message.to);
        let words =
            if message.words == 1 { "1 word".into() } else { format!("{} words", thousands(message.words)) };
        let tooltip = format!(
            "P{} to P{}, {words}: {} to {} {}",
            self.rows[from],
            self.rows[to],
            self.moment_text(message.enter),
            self.moment_text(message.arrival),
            self.unit.0
        );
        let (start, end) = (scene.edge(from, to), scene.edge(to, from));
        let last = message.enter + message.stream();
        let mut ways = vec![(last, message.arrival)];
        if message.has_bytes() {
            ways.push((message.enter, message.first_arrival));
        }
        canvas.with_tooltip(&tooltip, |canvas| {
            for (enter, out) in ways {
                let ends = [(scene.x(enter), start), (scene.x(out), end)];
                if scene.has_heads {
                    draw_arrow(canvas, ends, if scene.row >= 16.0 { 6.5 } else { 4.5 });
                } else {
                    canvas.draw_thin_line(GREY, &ends);
                }
            }
        });
    }
}

/// Returns an entry of the legend for each look that occurs in timelines.
fn entries<'a>(pictures: &[TimelinePicture], scenes: &[Scene]) -> Vec<LegendEntry<'a>> {
    let mut kinds: Vec<ActivityStyle> = Vec::new();
    for picture in pictures {
        let occurs = |kind: &usize| picture.slices.iter().any(|slice| slice.kind == *kind);
        for kind in (0..picture.kinds.len()).filter(occurs).map(|kind| picture.kinds[kind]) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let has_ports = scenes.iter().any(|scene| scene.has_ports);
    if has_ports {
        kinds.push(BYTES);
    }
    let mut entries: Vec<LegendEntry> =
        kinds.iter().map(|kind| LegendEntry::for_ink(kind.name, kind.ink)).collect();
    if pictures.iter().any(|picture| picture.has_idle) {
        entries.push(LegendEntry::new("idle", |canvas, left, right| {
            canvas.draw_line(PALE, ShapeStyle::Line, "", &[left, right]);
        }));
    }
    let has_heads = scenes.iter().any(|scene| scene.has_heads);
    if pictures.iter().any(|picture| !picture.messages.is_empty()) {
        let label = if has_ports { "first and last byte of a message" } else { "message" };
        entries.push(LegendEntry::new(label, move |canvas, left, right| match has_heads {
            true => draw_arrow(canvas, [left, right], 6.5),
            false => canvas.draw_thin_line(GREY, &[left, right]),
        }));
    }
    entries
}

impl MessageArrow {
    /// Returns whether the message is long, so that its bytes take time to pass.
    fn has_bytes(&self) -> bool {
        self.stream() > 0
    }

    /// Returns the time that its bytes take to pass through the sender's port, in ticks.
    fn stream(&self) -> i64 {
        self.word_delays.last().copied().unwrap_or(0)
    }

    /// Returns row, start and end of its bytes in the ports of its sender and of its receiver.
    fn ports(&self) -> [(usize, i64, i64); 2] {
        [(self.from, self.enter, self.enter + self.stream()), (self.to, self.first_arrival, self.arrival)]
    }
}

/// Draws a long message's bytes in the network, as a band.
fn draw_byte_band(canvas: &mut Canvas, scene: &Scene, message: &MessageArrow) {
    let [(from, start, last), (to, first, arrival)] = message.ports();
    let (y, out) = (scene.edge(from, to), scene.edge(to, from));
    let corners = [(start, y), (last, y), (arrival, out), (first, out)];
    canvas.draw_polygon(BYTES.ink, ShapeStyle::Band, &corners.map(|(moment, y)| (scene.x(moment), y)));
}

/// Returns a number of ticks as a fraction of another.
fn part(ticks: i64, of: i64) -> f64 {
    ticks as f64 / of as f64
}

impl Scene {
    /// Returns the position of a time.
    fn x(&self, moment: i64) -> f64 {
        let (from, until) = self.span;
        self.x.0 + (self.x.1 - self.x.0) * part(moment - from, until - from)
    }

    /// Returns whether a letter fits between the ends of its length.
    fn fits(&self, letter: &Letter) -> bool {
        let [x, right] = letter.ends.map(|(moment, _)| self.x(moment));
        let is_in = letter.ends.iter().all(|(moment, _)| (self.span.0..=self.span.1).contains(moment));
        is_in && right - x >= text_width(&letter.text, NORMAL) + 3.0
    }

    /// Returns the middle of a row.
    fn middle(&self, id: usize) -> f64 {
        self.top + self.row * (id as f64 + 0.5)
    }

    /// Returns the height of the contents of a row.
    fn filled_height(&self) -> f64 {
        self.row * if self.has_ports { ACTIVITY + PORT } else { ACTIVITY }
    }

    /// Returns the top of the activities in a row.
    fn activity(&self, id: usize) -> f64 {
        self.middle(id) - self.filled_height() / 2.0
    }

    /// Returns the top of the bytes in a row.
    fn port(&self, id: usize) -> f64 {
        self.activity(id) + self.row * ACTIVITY
    }

    /// Returns the edge of the contents of a row that faces another row.
    fn edge(&self, id: usize, other: usize) -> f64 {
        let half = self.filled_height() / 2.0;
        self.middle(id) + if other > id { half } else { -half }
    }
}

/// Draws the lines from the ends of a letter's length down to the rows.
fn draw_letter_ends(canvas: &mut Canvas, scene: &Scene, letter: &Letter, y: f64) {
    for (moment, row) in letter.ends {
        let x = scene.x(moment);
        canvas.draw_line(GREY, ShapeStyle::Thin, "2 3", &[(x, y), (x, scene.activity(row))]);
    }
}

/// Draws a letter in the middle of its length, which is a line above the rows.
fn draw_letter(canvas: &mut Canvas, scene: &Scene, letter: &Letter, y: f64) {
    let [x, right] = letter.ends.map(|(moment, _)| scene.x(moment));
    canvas.draw_thin_line(TEXT, &[(x, y), (right, y)]);
    for x in [x, right] {
        canvas.draw_thin_line(TEXT, &[(x, y - 4.0), (x, y + 4.0)]);
    }
    let (middle, wide) = ((x + right) / 2.0, text_width(&letter.text, NORMAL) + 3.0);
    let (place, size) = ((middle - wide / 2.0, y - LETTER / 2.0 + 1.0), (wide, LETTER - 2.0));
    canvas.draw_rectangle(PAPER, ShapeStyle::Area, place, size);
    canvas.draw_text(TEXT, (middle, y), Anchor::Middle, NORMAL, &letter.text);
}

/// Draws a line with a head of this length at its end.
fn draw_arrow(canvas: &mut Canvas, [start, end]: [Position; 2], head: f64) {
    let (right, down) = (end.0 - start.0, end.1 - start.1);
    let length = right.hypot(down).max(1e-9);
    let (right, down) = (head * right / length, head * down / length);
    let (x, y) = (end.0 - right, end.1 - down);
    canvas.draw_thin_line(GREY, &[start, (x, y)]);
    let corners = [end, (x - 0.38 * down, y + 0.38 * right), (x + 0.38 * down, y - 0.38 * right)];
    canvas.draw_polygon(GREY, ShapeStyle::Area, &corners);
}
