//! The files of one run: its trace, pictures of it, and pages to look into it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use loggp::trace::{Caption, Trace};
use loggp_draw::page::Timeline;
use loggp_draw::timeline::TimelinePicture as Picture;
use loggp_draw::tree::TreePicture;
use loggp_study::pictures::timeline::{Window, timeline_from_trace};
use loggp_study::pictures::tree::tree_from_trace;

use super::output::{
    self, OutputFiles, ROW_EXTENSION_HINT, TRACE_EXTENSIONS, extension, is_picture, write_trace,
};
use crate::error::CliError;
use crate::host::draft::Draft;
use crate::host::picture::{PICTURE_EXTENSION_HINT, PictureFile};
use crate::number::Unit;

/// Endings of the files of timelines.
pub const TIMELINE_EXTENSION_HINT: &str =
    ".html for a page to look into, or in .svg, .png or .pdf for a picture";

/// The options `--trace`, `-o` and `--draw`.
#[derive(Args)]
#[command(next_help_heading = "Report")]
pub struct RunOutputs {
    /// Write what happened to a file, which `loggp timeline`, `analyze` and `audit` read: FILE.json, which ui.perfetto.dev
    /// reads too, or FILE.loggp, which has fewer bytes
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a file too: FILE.svg, FILE.png and FILE.pdf get a picture of what each processor did when, tree.svg one of the
    /// tree of the messages (LogP, figures 3 and 4), FILE.html a page to look into the run, FILE.csv, FILE.json and FILE.txt
    /// the rows. May be given several times
    #[arg(short, long, alias = "timeline", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// What the picture shows [default: the tree in a file called tree, and the run in any other]
    #[arg(long, value_enum)]
    draw: Option<Drawing>,
}

/// The subject of a picture of a run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// What each processor did when, and the messages
    Run,
    /// The tree of the messages of a broadcast or a summation, with the time at each node
    Tree,
}

/// The files for one run.
#[derive(Default)]
pub struct TraceOutputs<'a> {
    trace: Option<(&'a Path, Draft)>,
    pages: Vec<Draft>,
    pictures: Vec<(Drawing, PictureFile)>,
}

impl RunOutputs {
    /// Returns whether a run must be traced: for a trace, a page, or a picture of it.
    pub fn needs_trace(&self) -> bool {
        self.trace.is_some() || self.output.iter().any(|path| is_picture(path) || extension(path) == "html")
    }

    /// Returns whether only pictures need a trace, and nobody said that they show a run.
    pub fn may_be_plot(&self) -> bool {
        self.trace.is_none()
            && self.draw.is_none()
            && !self.output.iter().any(|path| extension(path) == "html")
    }

    /// Opens the files, before the run: those of the run, and those of the rows. Refuses a path that cannot be written.
    pub fn open(&self) -> Result<(TraceOutputs<'_>, OutputFiles), CliError> {
        let trace = self.trace.as_deref();
        let drafted =
            trace.map(|path| Ok::<_, CliError>((path, Draft::create(path, "trace")?))).transpose()?;
        output::check_extension(trace, TRACE_EXTENSIONS, ".json, or in .loggp for fewer bytes")?;
        let endings = format!(
            "{PICTURE_EXTENSION_HINT} (tree.svg shows the tree of the messages, any other name the run), in .html for a page \
             to look into, or in {ROW_EXTENSION_HINT}"
        );
        let OutputFiles { pictures, pages, rows } = OutputFiles::open(&self.output, &endings)?;
        let by_name = |name: &str| if name == "tree" { Drawing::Tree } else { Drawing::Run };
        let drawing = |file: PictureFile| (self.draw.unwrap_or_else(|| by_name(&file.name)), file);
        let pictures = pictures.into_iter().map(drawing).collect();
        Ok((TraceOutputs { trace: drafted, pages, pictures }, OutputFiles { rows, ..OutputFiles::default() }))
    }
}

impl TraceOutputs<'_> {
    /// Returns the files of the pictures, for what is no picture of one run.
    pub fn into_pictures(self) -> Vec<PictureFile> {
        self.pictures.into_iter().map(|(_, file)| file).collect()
    }

    /// Writes the run into the files.
    pub fn write(&mut self, trace: &Trace, unit: Unit) -> Result<(), CliError> {
        for (drawing, file) in self.pictures.drain(..) {
            match drawing {
                Drawing::Run => draw_picture(file, unit, &[(String::new(), trace)], &Window::default())?,
                Drawing::Tree => draw_tree(file, unit, trace)?,
            }
        }
        for draft in self.pages.drain(..) {
            draft.write(|file| Timeline::new(trace).unit(unit.name, unit.length).write(file))?;
        }
        self.trace.take().map_or(Ok(()), |(path, draft)| write_trace(draft, path, trace))
    }
}

/// Draws a part of runs below each other over the same time, several with their names.
pub fn draw_picture(
    file: PictureFile,
    unit: Unit,
    runs: &[(String, &Trace)],
    window: &Window,
) -> Result<(), CliError> {
    let picture = |(name, trace): &(String, &Trace)| {
        let Caption { title, about, .. } = trace.caption.clone().unwrap_or_default();
        let title = match (runs.len(), &**name) {
            (1, _) | (_, "") => title,
            (_, name) if title.is_empty() => name.into(),
            (_, name) if title.starts_with(name) => title,
            (_, name) => format!("{name}: {title}"),
        };
        Picture { subtitle: about, ..timeline_from_trace(trace, &title, (unit.name, unit.length), window) }
    };
    let pictures: Vec<Picture> = runs.iter().map(picture).collect();
    let too_large =
        |why| format!("{why}; show a part with --only, --from and --until, or give -o FILE.html for a page");
    file.write(Picture::svg_of(&pictures).map_err(too_large).map_err(CliError::Request)?)
}

/// Draws the tree of a run's messages.
fn draw_tree(file: PictureFile, unit: Unit, trace: &Trace) -> Result<(), CliError> {
    let no_tree = |why| CliError::Request(format!("{why}; -o run.svg shows the run itself"));
    let Caption { title, about, .. } = trace.caption.clone().unwrap_or_default();
    let tree = tree_from_trace(trace, (unit.name, unit.length)).map_err(no_tree)?;
    let subtitle = format!("{about}\n{}", tree.subtitle);
    file.write(TreePicture { title, subtitle, ..tree }.svg().map_err(no_tree)?)
}
