//! A report as Markdown, with its pictures in a folder beside it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use loggp_papers::{Cell, Check, Column, Outcome, PAPERS, Picture, Show, Table};

use super::super::draft::Draft;
use super::super::failure::Failure;
use super::record::Record;
use super::summary::{Summary, all_made, differing, held, made, outcome, sentence, verdict, who};

/// Where a report goes as Markdown.
pub struct Markdown {
    /// The file that is to be written.
    file: Draft,
    /// The folder of the pictures, which is called like the file.
    folder: PathBuf,
    /// What that is called.
    name: String,
}

/// Longer tables are left to the page.
const MOST_ROWS: usize = 30;

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
        let text = text(records, &self.name);
        self.file.write(|mut file| file.write_all(text.as_bytes()))
    }
}

/// The text, with pictures in this folder.
fn text(records: &[Record], folder: &str) -> String {
    let mut text = String::from(
        "# The papers, reproduced\n\n`loggp reproduce` wrote this. For each figure and table of the five papers: what the \
         paper says, its formula, the model (the program on a clock that jumps), and the time measured (the same program on \
         a clock that passes).\n\n",
    );
    let out = &mut text;
    *out += &Summary::of(records).markdown();
    *out += "\n";
    for kind in [Outcome::Equal, Outcome::Within, Outcome::Differs] {
        let (name, meaning) = outcome(kind);
        let _ = writeln!(out, "- **{name}**: {meaning}.");
    }
    if let Some(made) = all_made(records) {
        let _ = write!(out, "\n{made}\n");
    }
    *out += "\n## What differs, and why\n\n";
    let differs = differing(records);
    match differs.rows.is_empty() {
        true => *out += "Nothing differs.\n",
        false => table(out, &differs),
    }
    for paper in PAPERS {
        let of: Vec<&Record> = records.iter().filter(|record| record.paper == paper.name).collect();
        if of.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {}\n\n{}\n", paper.name, escaped(paper.source));
        for record in of {
            exhibit(out, record, folder);
        }
    }
    text
}

/// An exhibit.
fn exhibit(out: &mut String, record: &Record, folder: &str) {
    let Record { id, place, title, finding, .. } = record;
    let _ = write!(out, "\n### {}: {}\n\n", sentence(place), escaped(title));
    let _ = write!(out, "{}\n\n", escaped(&verdict(record)));
    for (heading, items) in [("The paper", &record.says), ("Formulas", &record.formulas)] {
        if !items.is_empty() {
            let _ = write!(out, "{heading}:\n\n");
            *out += &items.iter().map(|item| format!("- {}\n", escaped(item))).collect::<String>();
            *out += "\n";
        }
    }
    for Picture { name, caption, .. } in &finding.pictures {
        let caption = escaped(caption);
        let _ = write!(out, "![{}]({folder}/{}.svg)\n\n*{caption}*\n\n", escaped(title), record.stem(name));
    }
    if !finding.checks.is_empty() {
        let checks =
            Table::new("checks", "").text("what").text("paper").text("ours").text("by").text("outcome");
        let mut checks = checks.text("why");
        for Check { what, paper, ours, by, outcome: kind, reason } in &finding.checks {
            let reason = reason.as_deref().unwrap_or("");
            let texts = [what, paper, ours, who(*by), outcome(*kind).0, reason];
            checks.push(texts.into_iter().map(Cell::from).collect());
        }
        table(out, &checks);
        *out += "\n";
    }
    for one in finding.tables.iter().filter(|table| table.rows.len() <= MOST_ROWS) {
        let _ = write!(out, "{}:\n\n", escaped(&one.title));
        table(out, one);
        *out += "\n";
    }
    if let Some(held) = held(record) {
        let _ = write!(out, "{held} ");
    }
    let _ = writeln!(out, "{}: `loggp reproduce {id}`.", made(record));
}

/// A table.
fn table(out: &mut String, table: &Table) {
    let cells = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    *out += &cells(table.columns.iter().map(|column| escaped(&column.heading())).collect());
    let rule = |column: &Column| match column.show {
        Show::Text => "---".into(),
        _ => "---:".into(),
    };
    *out += &cells(table.columns.iter().map(rule).collect());
    for row in &table.rows {
        let shown = |(column, cell): (&Column, &Cell)| escaped(&column.shown(cell));
        *out += &cells(table.columns.iter().zip(row).map(shown).collect());
    }
}

/// Text as Markdown has it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if matches!(letter, '|' | '*' | '_' | '`' | '<' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
