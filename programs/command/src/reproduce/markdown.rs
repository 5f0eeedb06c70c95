//! A report as Markdown, with its pictures in a folder beside it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::draft::Draft;
use super::super::failure::Failure;
use super::record::Record;
use super::report;

/// Where a report goes as Markdown.
pub struct Markdown {
    /// The file that is to be written.
    file: Draft,
    /// The folder of the pictures, which is called like the file.
    folder: PathBuf,
    /// What that is called.
    name: String,
}

impl Markdown {
    /// Refuses a path to which no Markdown can be written: better before the runs than after.
    pub fn at(path: &Path) -> Result<Markdown, Failure> {
        let refuse = |why: String| {
            Failure::Request(format!("no Markdown can be written to {}: {why}", path.display()))
        };
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        let Some(name) = stem.filter(|_| is_markdown).map(String::from) else {
            return Err(refuse("give a name that ends in .md".into()));
        };
        let folder = path.with_extension("");
        if folder.exists() && !folder.is_dir() {
            return Err(refuse(format!(
                "its pictures go to the folder {}, which is a file",
                folder.display()
            )));
        }
        Ok(Markdown { file: Draft::create(path, "markdown")?, folder, name })
    }

    /// Writes the pictures and the text.
    pub fn write(self, records: &[Record]) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::Run(format!("the pictures cannot be written to {}: {error}", self.folder.display()))
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        for record in records {
            for picture in &record.finding.pictures {
                let path = self.folder.join(format!("{}.svg", record.stem(&picture.name)));
                Draft::create(&path, "picture")?.write(|mut file| file.write_all(picture.svg.as_bytes()))?;
            }
        }
        let text = report::document(records).to_markdown(&self.name);
        self.file.write(|mut file| file.write_all(text.as_bytes()))
    }
}
