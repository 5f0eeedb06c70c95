//! A report as one file: the page itself, or its summary as Markdown with the pictures in a folder beside it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::draft::Draft;
use super::super::failure::Failure;
use super::super::output::{ending, unknown};
use super::record::Record;
use super::report::{self, GENERATOR};

/// A report as one file.
pub enum Single {
    /// The page.
    Page(Draft),
    /// The summary.
    Summary {
        /// The file that is to be written.
        file: Draft,
        /// The folder of the pictures, which is called like the file.
        folder: PathBuf,
        /// The page that its pictures lead to, if that is written too.
        page: String,
    },
}

impl Single {
    /// One that goes to this file, beside others. Refuses what cannot be written: better before the runs than after.
    pub fn at(path: &Path, files: &[&Path]) -> Result<Single, Failure> {
        if ending(path) == "html" {
            return Ok(Single::Page(Draft::create(path, "page")?));
        }
        if ending(path) != "md" {
            return Err(unknown(
                path,
                ".md for a summary in Markdown, .html for the page, or of a folder in none",
            ));
        }
        let folder = path.with_extension("");
        if folder.exists() && !folder.is_dir() {
            return Err(Failure::Request(format!(
                "no Markdown can be written to {}: its pictures go to the folder {}, which is a file",
                path.display(),
                folder.display()
            )));
        }
        let page = files.iter().find(|file| ending(file) == "html" && file.parent() == path.parent());
        let page = page.and_then(|page| page.file_name()).map(|name| name.to_string_lossy().into_owned());
        Ok(Single::Summary { file: Draft::create(path, "markdown")?, folder, page: page.unwrap_or_default() })
    }

    /// Writes it, and the pictures beside it.
    pub fn write(self, records: &[Record]) -> Result<(), Failure> {
        match self {
            Single::Page(file) => {
                file.write(|mut file| file.write_all(report::page(records).to_html(GENERATOR).as_bytes()))
            }
            Single::Summary { file, folder, page } => {
                let failed = |error: std::io::Error| {
                    Failure::Run(format!("the pictures cannot be written to {}: {error}", folder.display()))
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
