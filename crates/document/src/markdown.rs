//! Documents as Markdown.

use std::fmt::Write;

use super::{Document, DocumentBlock, Span, Table, TableColumn};

impl Document {
    /// Returns the document as Markdown, with links to pictures in this folder.
    pub fn to_markdown(&self, folder: &str) -> String {
        let mut text = format!("# {}\n", escaped(&self.title));
        blocks(&mut text, &self.blocks, folder);
        text
    }
}

/// Writes blocks, each after an empty line.
fn blocks(out: &mut String, blocks: &[DocumentBlock], folder: &str) {
    for one in blocks {
        // Writing to a string cannot fail.
        let _ = match one {
            DocumentBlock::Heading(level, text) => {
                writeln!(out, "\n{} {}", "#".repeat(usize::from(*level)), spans(text))
            }
            DocumentBlock::Paragraph(text) | DocumentBlock::Note(text) => writeln!(out, "\n{}", spans(text)),
            DocumentBlock::List(items) => {
                let items = items.iter().map(|item| format!("- {}\n", spans(item)));
                write!(out, "\n{}", items.collect::<String>())
            }
            DocumentBlock::Table(table) => write!(out, "\n{}", self::table(table)),
            DocumentBlock::Picture { file, caption, .. } => {
                let caption = escaped(caption);
                writeln!(out, "\n![{file}]({folder}/{file})\n\n*{caption}*")
            }
            DocumentBlock::Code(lines) => writeln!(out, "\n```sh\n{}\n```", lines.join("\n")),
            DocumentBlock::Article { heading, blocks, .. } => {
                let written = writeln!(out, "\n### {}", spans(heading));
                self::blocks(out, blocks, folder);
                written
            }
            DocumentBlock::Cards(cards) => cards.iter().try_for_each(|card| {
                let title = Span::Link(card.title.clone(), card.link.clone());
                writeln!(out, "\n{}  \n{}", spans(&[title]), spans(&card.line))?;
                let Some(file) = &card.picture else { return Ok(()) };
                writeln!(out, "\n![{}]({folder}/{file})", escaped(&card.title))
            }),
            DocumentBlock::Folded(..) | DocumentBlock::Contents(_) | DocumentBlock::Choice(_) => Ok(()),
        };
    }
}

fn spans(text: &[Span]) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) => escaped(text),
        Span::Code(code) => format!("`{code}`"),
        Span::Mark(text, _) => format!("**{}**", escaped(text)),
        // A link on the same page has no target, since the articles are on another.
        Span::Link(text, to) if to.starts_with('#') => escaped(text),
        Span::Link(text, to) => format!("[{}]({to})", escaped(text)),
    };
    text.iter().map(span).collect()
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let headings = table.columns.iter().map(|column| escaped(&column.heading())).collect();
    let rule = |column: &TableColumn| if column.show.is_right() { "---:" } else { "---" }.into();
    let row = |row: &Vec<_>| {
        line(table.columns.iter().zip(row).map(|(column, cell)| escaped(&column.cell_text(cell))).collect())
    };
    let rows: String = table.rows.iter().map(row).collect();
    line(headings) + &line(table.columns.iter().map(rule).collect()) + &rows
}

/// Escapes text for Markdown.
fn escaped(text: &str) -> String {
    let is_special = |letter: &char| matches!(letter, '|' | '*' | '_' | '`' | '<' | '[' | '\\');
    text.chars().flat_map(|letter| is_special(&letter).then_some('\\').into_iter().chain([letter])).collect()
}
