//! A document as Markdown.

use std::fmt::Write;

use super::{Block, Column, Document, Show, Span, Table};

impl Document {
    /// The document as Markdown, with the pictures' files in this folder.
    pub fn to_markdown(&self, folder: &str) -> String {
        let mut text = format!("# {}\n", escaped(&self.title));
        blocks(&mut text, &self.blocks, folder);
        text
    }
}

/// Blocks, each after an empty line.
fn blocks(out: &mut String, blocks: &[Block], folder: &str) {
    for one in blocks {
        // Writing to a text does not fail.
        let _ = match one {
            Block::Heading(level, text) => {
                writeln!(out, "\n{} {}", "#".repeat(usize::from(*level)), spans(text))
            }
            Block::Paragraph(text) | Block::Note(text) => writeln!(out, "\n{}", spans(text)),
            Block::List(items) => {
                let items = items.iter().map(|item| format!("- {}\n", spans(item)));
                write!(out, "\n{}", items.collect::<String>())
            }
            Block::Table(table) => write!(out, "\n{}", self::table(table)),
            Block::Picture { file, caption, .. } => {
                let caption = escaped(caption);
                writeln!(out, "\n![{file}]({folder}/{file})\n\n*{caption}*")
            }
            Block::Code(lines) => writeln!(out, "\n```sh\n{}\n```", lines.join("\n")),
            Block::Article { heading, blocks, .. } => {
                let written = writeln!(out, "\n### {}", spans(heading));
                self::blocks(out, blocks, folder);
                written
            }
            Block::Cards(cards) => cards.iter().try_for_each(|card| {
                let title = Span::Link(card.title.clone(), card.link.clone());
                // A summary without its page has nothing to lead to.
                let title = if card.link.starts_with('#') { Span::Plain(card.title.clone()) } else { title };
                writeln!(out, "\n{}  \n{}", spans(&[title]), spans(&card.line))?;
                let Some(file) = &card.picture else { return Ok(()) };
                writeln!(out, "\n![{}]({folder}/{file})", escaped(&card.title))
            }),
            Block::Folded(..) | Block::Contents(_) | Block::Choice(_) => Ok(()),
        };
    }
}

/// Running text.
fn spans(text: &[Span]) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) => escaped(text),
        Span::Code(code) => format!("`{code}`"),
        Span::Mark(text, _) => format!("**{}**", escaped(text)),
        Span::Link(text, to) => format!("[{}]({to})", escaped(text)),
    };
    text.iter().map(span).collect()
}

/// A table.
fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let headings = table.columns.iter().map(|column| escaped(&column.heading())).collect();
    let rule = |column: &Column| match column.show {
        Show::Text | Show::Mark | Show::Name => "---".into(),
        _ => "---:".into(),
    };
    let row = |row: &Vec<_>| {
        line(table.columns.iter().zip(row).map(|(column, cell)| escaped(&column.shown(cell))).collect())
    };
    let rows: String = table.rows.iter().map(row).collect();
    line(headings) + &line(table.columns.iter().map(rule).collect()) + &rows
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
