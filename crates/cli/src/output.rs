//! The files that a request asks for with `-o`, each in the form that its ending says.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::Trace;
use loggp_draw::plot::Plot;

use super::draft::Draft;
use super::failure::Failure;
use super::on;
use super::options::Format;

/// Where else a report goes.
#[derive(Args)]
pub struct Outputs {
    /// Write a file too: FILE.svg gets a picture, FILE.csv, FILE.json and FILE.txt get the rows. May be given several times
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    output: Vec<PathBuf>,
}

/// The files of a report. They are written whole, or stay as they were.
pub struct Files {
    /// Those that get a picture.
    pictures: Vec<Draft>,
    /// Those that get rows, and in which form.
    pub rows: Vec<(Format, Draft)>,
}

impl Outputs {
    /// Nowhere else.
    pub fn none() -> Outputs {
        Outputs { output: Vec::new() }
    }

    /// Refuses a path to which nothing can be written: better before the runs than after.
    pub fn open(&self) -> Result<Files, Failure> {
        let mut files = Files { pictures: Vec::new(), rows: Vec::new() };
        for path in self.output.iter().filter(|_| on::speaks()) {
            let format = match ending(path).as_str() {
                "svg" => None,
                "csv" => Some(Format::Csv),
                "json" => Some(Format::Json),
                "txt" => Some(Format::Table),
                _ => {
                    return Err(unknown(path, ".svg for a picture, or in .csv, .json or .txt for the rows"));
                }
            };
            let draft = Draft::create(path, "output")?;
            match format {
                None => files.pictures.push(draft),
                Some(format) => files.rows.push((format, draft)),
            }
        }
        Ok(files)
    }

    /// Whether a picture is asked for.
    pub fn has_picture(&self) -> bool {
        self.output.iter().any(|path| ending(path) == "svg")
    }
}

impl Files {
    /// Draws a plot, if one was asked for.
    pub fn draw(self, plot: impl FnOnce() -> Plot) -> Result<(), Failure> {
        self.draw_svg(|| Ok(plot().svg()))
    }

    /// Puts a picture into the files that are for one.
    pub fn draw_svg(self, svg: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
        if self.pictures.is_empty() {
            return Ok(());
        }
        let svg = svg()?;
        self.pictures.into_iter().try_for_each(|draft| draft.write(|mut file| file.write_all(svg.as_bytes())))
    }
}

/// How the names of traces end.
pub const TRACES: &[&str] = &["json", "loggp"];

/// Writes a trace in the form that the ending of its path says.
pub fn write_trace(file: Draft, path: &Path, trace: &Trace) -> Result<(), Failure> {
    let is_compact = ending(path) == "loggp";
    file.write(|file| if is_compact { trace.write_compact(file) } else { trace.write(file) })
}

/// How the name of a file ends, in small letters.
pub fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Refuses a file, if there is one, whose name has none of these endings.
pub fn check(path: Option<&Path>, endings: &[&str], said: &str) -> Result<(), Failure> {
    match path {
        Some(path) if !endings.contains(&&*ending(path)) => Err(unknown(path, said)),
        _ => Ok(()),
    }
}

/// Refuses an ending that stands for no form; these do.
pub fn unknown(path: &Path, endings: &str) -> Failure {
    Failure::Request(format!(
        "{}: its ending does not say what shall be written; give a name that ends in {endings}",
        path.display()
    ))
}
