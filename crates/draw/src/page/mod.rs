//! Timelines: pages for a browser that hold a trace, and all that is needed to zoom, search and follow
//! causes.
//!
//! The page is one file and fetches nothing. `page.html` is its layout, the files in `parts/` are its script and
//! colours, and `columns.rs` writes the trace into it. The playground's page draws with the same script.

mod annotations;
mod bytes;
mod columns;
mod grid;
mod kinds;
mod script;
mod sha256;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use loggp_model::time::{Time, US};
use loggp_trace::Trace;
use loggp_trace::path::Events;
use serde::Serialize;

use columns::Head;

pub use script::SCRIPT;
#[doc(hidden)]
pub use sha256::script_source;

/// A page that shows the activities of every processor over time, of one run or of several at the same scale.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
/// use loggp_draw::page::Timeline;
///
/// const DATUM: Tag<u64> = Tag::named(0, "datum");
///
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).trace(true).run(|p| match p.id() {
///     0 => p.send(1, DATUM, 42),
///     _ => drop(p.recv(DATUM)),
/// })?;
/// let mut page = Vec::new(); // or a file
/// Timeline::new(&run.trace.unwrap()).title("One message").write(&mut page)?;
/// assert!(page.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a timeline is seen when it is written"]
pub struct Timeline<'a> {
    title: String,
    unit: (String, Time),
    window: Option<(Time, Time)>,
    runs: Vec<ShownRun<'a>>,
}

/// A run on the page.
#[derive(Clone, Debug)]
struct ShownRun<'a> {
    name: String,
    about: String,
    trace: &'a Trace,
    message_names: Vec<Option<&'a str>>,
    marks: Vec<(String, Time)>,
}

/// The page's data about a run, as JSON.
#[derive(Serialize)]
struct RunMeta<'p> {
    name: &'p str,
    about: &'p str,
    marks: Vec<(&'p str, i64)>,
    #[serde(flatten)]
    head: Head,
}

/// The page's data, as JSON.
#[derive(Serialize)]
struct PageMeta<'p> {
    title: &'p str,
    unit: (&'p str, i64),
    window: Option<(i64, i64)>,
    runs: Vec<RunMeta<'p>>,
}

/// The page's HTML, with places for the title, the colours and the data.
const PAGE: &str = include_str!("page.html");
const COLOURS: &str = include_str!("parts/colours.css");

impl<'a> ShownRun<'a> {
    fn new(name: &str, trace: &'a Trace) -> ShownRun<'a> {
        if let Some(caption) = trace.caption.as_ref().filter(|caption| !caption.about.is_empty()) {
            let about = caption.about.replace('\n', ", ");
            return ShownRun {
                name: name.into(),
                about,
                trace,
                message_names: Vec::new(),
                marks: Vec::new(),
            };
        }
        let times = trace.params.times().map(|(name, time)| format!("{name} = {time}"));
        let counts = trace.params.counts().filter(|(_, count)| *count < usize::MAX / 2);
        let counts = counts.map(|(name, count)| format!("{name} = {count}"));
        let about = times.chain(counts).collect::<Vec<_>>().join(", ");
        ShownRun { name: name.into(), about, trace, message_names: Vec::new(), marks: Vec::new() }
    }

    fn meta(&self, head: Head) -> RunMeta<'_> {
        let marks = self.marks.iter().map(|(name, at)| (&**name, at.as_ps())).collect();
        RunMeta { name: &self.name, about: &self.about, marks, head }
    }
}

impl<'a> Timeline<'a> {
    /// Returns a page that shows a run.
    pub fn new(trace: &'a Trace) -> Timeline<'a> {
        let caption = trace.caption.as_ref();
        let title =
            caption.filter(|caption| !caption.title.is_empty()).map_or("A run", |caption| &caption.title);
        let mut run = ShownRun::new("", trace);
        run.marks.extend(caption.and_then(|caption| caption.formula).map(|at| ("formula".into(), at)));
        let length = |unit: &str| Time::parse(&format!("1 {unit}"), trace.params.cycle).ok();
        let unit = caption.filter(|caption| !caption.unit.is_empty()).map(|caption| &*caption.unit);
        let unit = unit.and_then(|unit| Some((unit, length(unit)?))).unwrap_or(("us", US));
        let unit = (unit.0.into(), unit.1);
        Timeline { title: title.into(), unit, window: None, runs: vec![run] }
    }

    /// Sets the title. The default is that of the trace's [caption](Trace::caption).
    pub fn title(self, title: impl Into<String>) -> Timeline<'a> {
        Timeline { title: title.into(), ..self }
    }

    /// Sets the unit of times, by its name and its length. The default is that of its trace's
    /// caption, or else microseconds.
    pub fn unit(self, name: impl Into<String>, length: Time) -> Timeline<'a> {
        Timeline { unit: (name.into(), length.max(Time::from_ps(1))), ..self }
    }

    /// Sets the part that is shown first. The default is the whole run.
    pub fn window(self, from: Time, until: Time) -> Timeline<'a> {
        Timeline { window: Some((from, until)), ..self }
    }

    /// Sets the name of the last run.
    pub fn name(mut self, name: impl Into<String>) -> Timeline<'a> {
        self.last().name = name.into();
        self
    }

    /// Sets the description of the last run. The default is that of its trace's caption, or else its
    /// parameters.
    pub fn about(mut self, about: impl Into<String>) -> Timeline<'a> {
        self.last().about = about.into();
        self
    }

    /// Names the messages of the last run, in the order of their senders and numbers. The page shows the tags of those
    /// whose calls the trace has; that of a schedule has none.
    pub fn message_names(mut self, names: impl IntoIterator<Item = Option<&'a str>>) -> Timeline<'a> {
        self.last().message_names = names.into_iter().collect();
        self
    }

    /// Marks a moment of the last run, such as the end by a formula.
    pub fn mark(mut self, name: impl Into<String>, at: Time) -> Timeline<'a> {
        self.last().marks.push((name.into(), at));
        self
    }

    /// Adds another run below the last one, at the same scale.
    pub fn beside(mut self, name: impl Into<String>, trace: &'a Trace) -> Timeline<'a> {
        self.runs.push(ShownRun::new(&name.into(), trace));
        self
    }

    /// Returns what the page holds of a single run, whose events these are: its head as JSON, and its columns before they
    /// are deflated. Without causes they take a fifth less time.
    pub fn data(&self, events: &Events, has_causes: bool) -> (String, Vec<u8>) {
        let run = &self.runs[0];
        let (head, bytes) = columns::write_columns(events, &run.message_names, has_causes);
        (serde_json::to_string(&run.meta(head)).expect("its keys are texts"), bytes.0)
    }

    /// Writes the page.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = io::BufWriter::new(out);
        let parts: Vec<(Head, String)> = self
            .runs
            .iter()
            .map(|run| {
                let (head, bytes) = columns::write_columns(&Events::new(run.trace), &run.message_names, true);
                (head, bytes.to_base64())
            })
            .collect();
        let mut texts = Vec::new();
        let mut runs = Vec::new();
        for (run, (head, text)) in self.runs.iter().zip(parts) {
            runs.push(run.meta(head));
            texts.push(text);
        }
        let window = self.window.map(|(from, until)| (from.as_ps(), until.as_ps()));
        let meta = PageMeta { title: &self.title, unit: (&self.unit.0, self.unit.1.as_ps()), window, runs };
        // Text in it must not end its script element.
        let meta = serde_json::to_string(&meta)?.replace('<', "\\u003c");
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
        let script = format!("\n{}", SCRIPT.map(|(_, part)| part).concat());
        // Only this script runs, and nothing is fetched or sent, whatever a trace has in it.
        let policy = format!(
            "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; \
             form-action 'none'",
            script_source(&script)
        );
        let (before, rest) = PAGE.split_once("{policy}").expect("the page has a policy");
        let (head, rest) = rest.split_once("{title}").expect("the page has a title");
        let (style, rest) = rest.split_once("{colours}").expect("the page has a place for its colours");
        let (body, end) = rest.split_once("{data}").expect("the page has a place for data");
        write!(out, "{before}{policy}{head}{title}{style}{COLOURS}")?;
        writeln!(out, "{body}<script type=\"application/json\" id=\"meta\">{meta}</script>")?;
        for text in texts {
            writeln!(out, "<script type=\"text/plain\" class=\"run\">{text}</script>")?;
        }
        write!(out, "<script>{script}</script>\n{end}")?;
        out.flush()
    }

    fn last(&mut self) -> &mut ShownRun<'a> {
        self.runs.last_mut().expect("a timeline has a run")
    }
}
