//! The files that `-o` asks for. The ending of a file's name chooses its format.

use std::path::{Path, PathBuf};

use clap::Args;
use loggp::trace::Trace;

use super::format::Format;
use super::real_machine;
use crate::error::CliError;
use crate::host::draft::{Draft, is_stdout};
use crate::host::picture::{PICTURE_EXTENSION_HINT, PictureFile, PictureForm};

/// The option `-o`.
#[derive(Args, Default)]
pub struct Outputs {
    /// Write a file too: FILE.svg, FILE.png and FILE.pdf get a picture, FILE.csv, FILE.json and FILE.txt get the rows; - is
    /// stdout, which then gets the picture in place of the table. May be given several times
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    output: Vec<PathBuf>,
}

/// The output files of a report, which replace old ones only when they are complete.
#[derive(Default)]
pub struct OutputFiles {
    pub pictures: Vec<PictureFile>,
    /// Pages to look into a run.
    pub pages: Vec<Draft>,
    /// Files for rows, each with its format.
    pub rows: Vec<(Format, Draft)>,
}

impl Outputs {
    /// Opens the files, before the runs. Refuses a path that cannot be written.
    pub fn open(&self) -> Result<OutputFiles, CliError> {
        let endings = format!("{PICTURE_EXTENSION_HINT}, or in {ROW_EXTENSION_HINT}");
        match self.output.iter().find(|path| extension(path) == "html") {
            Some(path) => Err(unknown_extension(path, &endings)),
            None => OutputFiles::open(&self.output, &endings),
        }
    }

    /// Returns whether a picture is asked for.
    pub fn has_picture(&self) -> bool {
        self.output.iter().any(|path| is_picture(path))
    }
}

/// Endings of the files of rows.
pub(super) const ROW_EXTENSION_HINT: &str = ".csv, .json or .txt for the rows";

/// Returns whether a file with this name is a picture.
pub fn is_picture(path: &Path) -> bool {
    PictureForm::from_extension(&form(path, "svg")).is_some()
}

impl OutputFiles {
    /// Opens the files with these names, pages among them. `endings` lists for an error how they may end.
    pub(super) fn open(paths: &[PathBuf], endings: &str) -> Result<OutputFiles, CliError> {
        let mut files = OutputFiles::default();
        for path in paths.iter().filter(|_| real_machine::is_output_process()) {
            let ending = form(path, "svg");
            let format = match &*ending {
                "csv" => Format::Csv,
                "json" => Format::Json,
                "txt" => Format::Table,
                "html" => {
                    files.pages.push(Draft::create(path, "output")?);
                    continue;
                }
                _ => {
                    let form = PictureForm::from_extension(&ending);
                    let form = form.ok_or_else(|| unknown_extension(path, endings))?;
                    files.pictures.push(PictureFile::create(path, form, "output")?);
                    continue;
                }
            };
            files.rows.push((format, Draft::create(path, "output")?));
        }
        Ok(files)
    }

    /// Writes an SVG into the files for pictures. `svg` is called only if there are such files.
    pub fn draw(self, svg: impl FnOnce() -> Result<String, CliError>) -> Result<(), CliError> {
        if self.pictures.is_empty() {
            return Ok(());
        }
        let svg = svg()?;
        self.pictures.into_iter().try_for_each(|picture| picture.write(svg.clone()))
    }
}

pub const TRACE_EXTENSIONS: &[&str] = &["json", "loggp"];

/// Writes a trace in the format that the ending of its path chooses.
pub fn write_trace(file: Draft, path: &Path, trace: &Trace) -> Result<(), CliError> {
    let is_compact = extension(path) == "loggp";
    file.write(|file| if is_compact { trace.write_compact(file) } else { trace.write(file) })
}

/// Returns the ending of a file's name in lower case, without the dot.
pub fn extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Returns the form of an output: the ending of its name, or `usual` for stdout.
pub fn form(path: &Path, usual: &str) -> String {
    if is_stdout(path) { usual.into() } else { extension(path) }
}

/// Refuses a path whose ending is none of these, and that is not stdout. `endings_text` lists them for the error.
pub fn check_extension(path: Option<&Path>, endings: &[&str], endings_text: &str) -> Result<(), CliError> {
    match path {
        Some(path) if !is_stdout(path) && !endings.contains(&&*extension(path)) => {
            Err(unknown_extension(path, endings_text))
        }
        _ => Ok(()),
    }
}

/// Returns the error for an ending that stands for no format; `endings` lists those that do.
pub fn unknown_extension(path: &Path, endings: &str) -> CliError {
    let shown = path.display();
    let is_value = shown.to_string().starts_with(|c: char| c.is_ascii_digit()) && path.extension().is_none();
    CliError::Request(match is_value {
        true => format!("-o {shown}: -o names a file; for the overhead write o={shown}"),
        false => format!("{shown}: unknown file type; give a name that ends in {endings}"),
    })
}
