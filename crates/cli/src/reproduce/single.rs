//! A report in one file: the page, or its summary as Markdown with the pictures in a folder beside it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::draft::Draft;
use super::super::error::CliError;
use super::super::output::{extension, unknown_extension};
use super::record::ExhibitRecord;
use super::report::{self, GENERATOR};

/// The file of a report.
pub enum SingleFile {
    Page(Draft),
    Summary {
        file: Draft,
        /// Folder of the pictures, which has the file's name without its ending.
        folder: PathBuf,
        /// Name of the page that the pictures link to; empty if none is written in the same folder.
        page: String,
    },
}

impl SingleFile {
    /// Creates the file, before the runs. `files` are all files of the report. Refuses a path that cannot be
    /// written.
    pub fn create(path: &Path, files: &[&Path]) -> Result<SingleFile, CliError> {
        if extension(path) == "html" {
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
                "no Markdown can be written to {}: its pictures go to the folder {}, which is a file",
                path.display(),
                folder.display()
            )));
        }
        let page = files.iter().find(|file| extension(file) == "html" && file.parent() == path.parent());
        let page = page.and_then(|page| page.file_name()).map(|name| name.to_string_lossy().into_owned());
        Ok(SingleFile::Summary {
            file: Draft::create(path, "markdown")?,
            folder,
            page: page.unwrap_or_default(),
        })
    }

    /// Writes the file, and the pictures beside it.
    pub fn write(self, records: &[ExhibitRecord]) -> Result<(), CliError> {
        match self {
            SingleFile::Page(file) => {
                file.write(|mut file| file.write_all(report::page(records).to_html(GENERATOR).as_bytes()))
            }
            SingleFile::Summary { file, folder, page } => {
                let failed = |error: std::io::Error| {
                    CliError::Run(format!("the pictures cannot be written to {}: {error}", folder.display()))
                };
                fs::create_dir_all(&folder).map_err(failed)?;
                for record in records {
                    if let Some(picture) = record.finding.pictures.first() {
                        let path = folder.join(format!("{}.svg", record.stem(&picture.name)));
                        Draft::create(&path, "picture")?
                            .write(|mut file| file.write_all(picture.svg.as_bytes()))?;
                    }
                }
                let name =
                    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let text = report::summary(records, &page).to_markdown(&name);
                file.write(|mut file| file.write_all(text.as_bytes()))
            }
        }
    }
}
