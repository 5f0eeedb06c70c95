//! The file that was opened last: a schedule in GOAL, or a trace.

use std::cell::RefCell;
use std::rc::Rc;

use loggp_model::time::{NS, Time};
use loggp_schedule::Schedule;
use loggp_trace::Trace;

use super::json::JsonObject;
use super::recorded_trace;
use super::request::{PageRequest, PageSetting, without_spaces};

/// A file.
pub(crate) struct OpenFile {
    pub name: String,
    pub content: FileContent,
}

/// The content of a file.
pub(crate) enum FileContent {
    Schedule(GoalFile),
    /// It is read each time, for nothing else needs two of it.
    Trace(Vec<u8>),
}

/// A file in GOAL, which is read again when the unit of its computations changes.
pub(crate) struct GoalFile {
    bytes: Vec<u8>,
    last: RefCell<(Time, Rc<Schedule>)>,
}

impl GoalFile {
    /// Reads a file. Its computations are in cycles of a machine in cycles, and else in ns, as LogGOPSim has them.
    fn read(bytes: &[u8], unit: Time) -> Result<GoalFile, String> {
        let schedule = loggp_goal::read(bytes, unit).map_err(|error| error.to_string())?;
        Ok(GoalFile { bytes: bytes.into(), last: RefCell::new((unit, Rc::new(schedule))) })
    }

    /// Returns the schedule.
    pub(crate) fn schedule(&self, unit: Time) -> Rc<Schedule> {
        let mut last = self.last.borrow_mut();
        if last.0 != unit
            && let Ok(schedule) = loggp_goal::read(&*self.bytes, unit)
        {
            *last = (unit, Rc::new(schedule));
        }
        last.1.clone()
    }
}

/// The most operations of a schedule, and activities of a trace, that the page shows.
const MOST: usize = 1 << 19;

thread_local! {
    static OPENED: RefCell<Option<Rc<OpenFile>>> = const { RefCell::new(None) };
}

/// Returns the file.
pub(crate) fn opened() -> Result<Rc<OpenFile>, String> {
    OPENED.with_borrow(|file| file.clone()).ok_or_else(|| "no file is open; open one first".into())
}

/// Opens a file, and returns what it is.
pub(crate) fn open(request: &PageRequest, bytes: &[u8]) -> Result<JsonObject, String> {
    let name = if request.name.is_empty() { "file".into() } else { request.name.clone() };
    let why = |why: String| format!("{name}: {why}");
    let is_lines = bytes.starts_with(recorded_trace::HEAD);
    let (kind, ranks, count, content);
    let (mut unit, mut cycle) = (String::new(), Time::ZERO);
    if !is_lines && loggp_goal::is_schedule(&bytes[..bytes.len().min(1 << 16)]) {
        let unit = request.setting()?.unit;
        let file = GoalFile::read(bytes, unit).map_err(why)?;
        let schedule = file.schedule(unit);
        (kind, ranks, count) = ("schedule", schedule.ranks(), schedule.len());
        content = FileContent::Schedule(file);
    } else {
        let trace = read_trace(bytes).map_err(why)?;
        (kind, ranks, count) = ("trace", trace.params.P, trace.activities.len());
        content = FileContent::Trace(bytes.into());
        (unit, cycle) = (trace.caption.map(|caption| caption.unit).unwrap_or_default(), trace.params.cycle);
    }
    if count > MOST {
        return Err(why(format!(
            "it has {count} operations, and a page has room for {MOST}; `loggp replay` has for more"
        )));
    }
    OPENED.set(Some(Rc::new(OpenFile { name: name.clone(), content })));
    let about = JsonObject::default().with("name", name).with("kind", kind).with("ranks", ranks);
    Ok(about.with("operations", count).with("unit", unit).with("cycle", cycle))
}

/// Reads a trace, in lines or as a file, if a page has room for it.
pub(crate) fn read_trace(bytes: &[u8]) -> Result<Trace, String> {
    const MOST_P: usize = 1 << 16;
    let is_lines = bytes.starts_with(recorded_trace::HEAD);
    let trace =
        if is_lines { recorded_trace::read(&String::from_utf8_lossy(bytes)) } else { read_file(bytes) }?;
    if trace.params.P > MOST_P {
        return Err(format!("it is of {} processors, and a page has room for {MOST_P}", trace.params.P));
    }
    Ok(trace)
}

#[cfg(not(feature = "traces"))]
fn read_file(_: &[u8]) -> Result<Trace, String> {
    Err("it is neither a schedule in GOAL nor the JSON of a trace; `loggp timeline` shows a trace in the compact form, \
        and `loggp run --trace FILE.json` writes one as JSON"
        .into())
}

#[cfg(feature = "traces")]
fn read_file(bytes: &[u8]) -> Result<Trace, String> {
    Trace::read(bytes)
        .map_err(|why| format!("it is neither a schedule in GOAL nor a trace: {why}; give one of these"))
}

impl OpenFile {
    /// Returns the command that prints the same.
    pub(crate) fn command(&self, request: &PageRequest, setting: &PageSetting) -> String {
        let name = if self.name.contains(char::is_whitespace) {
            format!("'{}'", self.name)
        } else {
            self.name.clone()
        };
        match self.content {
            FileContent::Trace(_) => format!("loggp analyze {name}"),
            FileContent::Schedule(_) => {
                let unit = without_spaces(&setting.unit.to_string());
                let unit = if setting.unit == NS { String::new() } else { format!(" --unit {unit}") };
                format!("loggp replay {name}{}{unit}", request.replay_options(setting))
            }
        }
    }
}
