//! The file that was opened last: a schedule in GOAL, or a trace.

use std::cell::RefCell;
use std::rc::Rc;

use loggp::NS;
use loggp::schedule::Schedule;
#[cfg(feature = "traces")]
use loggp::trace::Trace;

use super::json::Object;
use super::request::{Request, Setting};

/// A file.
pub struct OpenFile {
    pub name: String,
    pub content: FileContent,
}

/// The content of a file.
pub enum FileContent {
    Schedule(Schedule),
    #[cfg(feature = "traces")]
    Trace(Box<Trace>),
}

/// The most operations of a schedule, and activities of a trace, that the page shows.
const MOST: usize = 1 << 19;

thread_local! {
    static OPENED: RefCell<Option<Rc<OpenFile>>> = const { RefCell::new(None) };
}

/// Returns the file.
pub fn opened() -> Result<Rc<OpenFile>, String> {
    OPENED.with_borrow(|file| file.clone()).ok_or_else(|| "no file is open; open one first".into())
}

/// Opens a file, and returns what it is.
pub fn open(request: &Request, bytes: &[u8]) -> Result<Object, String> {
    let name = if request.name.is_empty() { "file".into() } else { request.name.clone() };
    let why = |why: String| format!("{name}: {why}");
    let content = if loggp_goal::is_schedule(&bytes[..bytes.len().min(1 << 16)]) {
        FileContent::Schedule(loggp_goal::read(bytes, NS).map_err(|error| why(error.to_string()))?)
    } else {
        read_trace(bytes).map_err(why)?
    };
    let (kind, ranks, count) = match &content {
        FileContent::Schedule(schedule) => ("schedule", schedule.ranks(), schedule.len()),
        #[cfg(feature = "traces")]
        FileContent::Trace(trace) => ("trace", trace.params.P, trace.activities.len()),
    };
    if count > MOST {
        return Err(why(format!(
            "it has {count} operations, and a page has room for {MOST}; `loggp replay` has for more"
        )));
    }
    OPENED.set(Some(Rc::new(OpenFile { name: name.clone(), content })));
    Ok(Object::default().with("name", name).with("kind", kind).with("ranks", ranks).with("operations", count))
}

#[cfg(not(feature = "traces"))]
fn read_trace(_: &[u8]) -> Result<FileContent, String> {
    Err("it is no schedule in GOAL; `loggp timeline` shows a trace, and `loggp trace2goal` makes a schedule of one".into())
}

#[cfg(feature = "traces")]
fn read_trace(bytes: &[u8]) -> Result<FileContent, String> {
    const MOST_P: usize = 1 << 16;
    let trace = Trace::read(bytes)
        .map_err(|why| format!("it is neither a schedule in GOAL nor a trace: {why}; give one of these"))?;
    if trace.params.P > MOST_P {
        return Err(format!("it is of {} processors, and a page has room for {MOST_P}", trace.params.P));
    }
    Ok(FileContent::Trace(trace.into()))
}

impl OpenFile {
    /// Returns the command that prints the same.
    pub fn command(&self, request: &Request, setting: &Setting) -> String {
        let name = if self.name.contains(char::is_whitespace) {
            format!("'{}'", self.name)
        } else {
            self.name.clone()
        };
        match self.content {
            #[cfg(feature = "traces")]
            FileContent::Trace(_) => format!("loggp analyze {name}"),
            FileContent::Schedule(_) => format!("loggp replay {name}{}", request.replay_options(setting)),
        }
    }
}
