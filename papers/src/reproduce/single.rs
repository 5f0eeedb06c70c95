//! A report in single files: the page; or Markdown, which is a summary, and beside it a folder with a page for
//! each paper and the pictures.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::html;
use super::record::ExhibitRecord;
use super::report;
use loggp_command::ask::output::{extension, form, unknown_extension};
use loggp_command::error::CliError;
use loggp_command::host::draft::Draft;

/// The file of a report.
pub(super) enum SingleFile<'a> {
    Page(Draft),
    /// The summary, and its path. The folder has this name without its ending.
    Summary(Draft, &'a Path),
}

impl SingleFile<'_> {
    /// Creates the file, before the runs. Refuses a path that cannot be written.
    pub(super) fn create(path: &Path) -> Result<SingleFile<'_>, CliError> {
        if form(path, "html") == "html" {
            return Ok(SingleFile::Page(Draft::create(path, "page")?));
        }
        if extension(path) != "md" {
            return Err(unknown_extension(
                path,
                ".md for a summary in Markdown, .html for the page, or of a folder in none",
            ));
        }
        let folder = path.with_extension("");
        if folder.exists() && !folder.is_dir() {
            return Err(CliError::Request(format!(
                "no Markdown can be written to {}: its pages go to the folder {}, which is a file",
                path.display(),
                folder.display()
            )));
        }
        Ok(SingleFile::Summary(Draft::create(path, "markdown")?, path))
    }

    /// Writes the file, and what is beside it.
    pub(super) fn write(self, records: &[ExhibitRecord]) -> Result<(), CliError> {
        match self {
            SingleFile::Page(file) => {
                file.write(|mut file| file.write_all(html::page(&report::page(records)).as_bytes()))
            }
            SingleFile::Summary(file, path) => {
                let folder = path.with_extension("");
                let failed = |error: std::io::Error| {
                    CliError::Run(format!("the pages cannot be written to {}: {error}", folder.display()))
                };
                fs::create_dir_all(&folder).map_err(failed)?;
                let write = |name: String, text: &str| {
                    Draft::create(&folder.join(name), "report")?
                        .write(|mut file| file.write_all(text.as_bytes()))
                };
                for record in records {
                    for picture in &record.finding.pictures {
                        write(format!("{}.svg", record.stem(&picture.name)), &picture.svg)?;
                    }
                }
                let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                for (paper, page) in report::paper_pages(records, &name(path)) {
                    write(format!("{paper}.md"), &page.to_markdown())?;
                }
                let text = report::summary(records, &name(&folder)).to_markdown();
                file.write(|mut file| file.write_all(text.as_bytes()))
            }
        }
    }
}
