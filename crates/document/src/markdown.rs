//! Documents as Markdown.

use std::fmt::Write;

use super::{ArticleCard, Document, DocumentBlock, Span, Table, TableColumn};

impl Document {
    /// Returns the document as Markdown. The pictures are files beside the document.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n", escaped(&self.title));
        blocks(&mut text, &self.blocks);
        text
    }
}

/// Writes blocks, each after an empty line.
fn blocks(out: &mut String, blocks: &[DocumentBlock]) {
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
                writeln!(out, "\n![{file}]({file})\n\n*{caption}*")
            }
            DocumentBlock::Code(lines) => writeln!(out, "\n```sh\n{}\n```", lines.join("\n")),
            DocumentBlock::Article { id, heading, blocks, .. } => {
                let written = writeln!(out, "\n<a id=\"{id}\"></a>\n\n## {}", spans(heading));
                self::blocks(out, blocks);
                written
            }
            DocumentBlock::Cards(cards) => {
                let line = |card: &ArticleCard| {
                    format!("- [{}]({}): {}\n", escaped(&card.title), card.link, spans(&card.line))
                };
                write!(out, "\n{}", cards.iter().map(line).collect::<String>())
            }
            DocumentBlock::Folded(title, blocks) => {
                let title = title.replace('&', "&amp;").replace('<', "&lt;");
                let written = writeln!(out, "\n<details>\n<summary>{title}</summary>");
                self::blocks(out, blocks);
                written.and_then(|()| writeln!(out, "\n</details>"))
            }
            DocumentBlock::Contents(_) | DocumentBlock::Choice(_) => Ok(()),
        };
    }
}

fn spans(text: &[Span]) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) => escaped(text),
        Span::Code(code) => format!("`{code}`"),
        Span::Mark(text, _) => format!("**{}**", escaped(text)),
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
