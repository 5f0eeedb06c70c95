//! The files that `--trace` and `--timeline` ask for.

use std::io::Write;
use std::path::Path;

use loggp::timeline::Timeline;
use loggp::trace::{Caption, Trace};
use loggp_draw::timeline::TimelinePicture as Picture;
use loggp_papers::pictures::timeline::{Window, timeline_from_trace};

use super::output::{self, TRACE_EXTENSIONS, extension, write_trace};
use crate::error::CliError;
use crate::host::draft::Draft;
use crate::number::Unit;

/// Endings of the files of timelines.
pub(crate) const TIMELINE_EXTENSIONS: &[&str] = &["html", "svg"];
pub(crate) const TIMELINE_EXTENSION_HINT: &str = ".html for a page to look into, or in .svg for a picture";

/// The files that `--trace` and `--timeline` ask for.
pub(crate) struct TraceOutputs<'a> {
    trace: Option<(&'a Path, Draft)>,
    timeline: Option<(&'a Path, Draft)>,
}

impl<'a> TraceOutputs<'a> {
    /// Opens the files with these names, if any. Refuses those that cannot be written.
    pub(crate) fn open(
        trace: Option<&'a Path>,
        timeline: Option<&'a Path>,
    ) -> Result<TraceOutputs<'a>, CliError> {
        let draft = |path: Option<&'a Path>, option| {
            path.map(|path| Ok::<_, CliError>((path, Draft::create(path, option)?))).transpose()
        };
        let outputs = TraceOutputs { trace: draft(trace, "trace")?, timeline: draft(timeline, "timeline")? };
        output::check_extension(trace, TRACE_EXTENSIONS, ".json, or in .loggp for fewer bytes")?;
        output::check_extension(timeline, TIMELINE_EXTENSIONS, TIMELINE_EXTENSION_HINT)?;
        Ok(outputs)
    }

    /// Returns whether a file is asked for.
    pub(crate) fn is_requested(&self) -> bool {
        self.trace.is_some() || self.timeline.is_some()
    }

    /// Writes the run into the files.
    pub(crate) fn write(&mut self, trace: &Trace, unit: Unit) -> Result<(), CliError> {
        match self.timeline.take() {
            None => (),
            Some((path, draft)) if extension(path) == "svg" => {
                draw_picture(draft, unit, trace, &Window::default())?
            }
            Some((_, draft)) => {
                draft.write(|file| Timeline::new(trace).unit(unit.name, unit.length).write(file))?;
            }
        }
        self.trace.take().map_or(Ok(()), |(path, draft)| write_trace(draft, path, trace))
    }
}

/// Draws a part of a run as SVG.
pub(crate) fn draw_picture(draft: Draft, unit: Unit, trace: &Trace, window: &Window) -> Result<(), CliError> {
    let Caption { title, about, .. } = trace.caption.clone().unwrap_or_default();
    let picture =
        Picture { subtitle: about, ..timeline_from_trace(trace, &title, (unit.name, unit.length), window) };
    let too_large =
        |why| format!("{why}; show a part with --only, --from and --until, or give -o FILE.html for a page");
    let svg = picture.svg().map_err(too_large).map_err(CliError::Request)?;
    draft.write(|mut file| file.write_all(svg.as_bytes()))
}
