//! A document as text for a terminal, and a table.

use comfy_table::{CellAlignment, Table as Lines, presets};

use super::{Block, Document, Show, Span, Table};

impl Document {
    /// The document as text: its title, and below that its blocks, each after an empty line.
    pub fn to_text(&self) -> String {
        format!("{}\n{}", self.title, blocks(&self.blocks))
    }
}

/// Blocks, each after an empty line.
fn blocks(blocks: &[Block]) -> String {
    let text = |block: &Block| match block {
        Block::Heading(_, text) | Block::Paragraph(text) | Block::Note(text) => line(text),
        Block::List(items) => items.iter().map(|item| line(item)).collect(),
        Block::Table(table) => table.to_text(),
        Block::Picture { file, caption, .. } => format!("{file}: {caption}\n"),
        Block::Code(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        Block::Article { heading, blocks, .. } => line(heading) + &self::blocks(blocks),
        Block::Cards(cards) => {
            cards.iter().map(|card| format!("{}: {}", card.title, line(&card.line))).collect()
        }
        Block::Folded(..) | Block::Contents(_) | Block::Choice(_) => String::new(),
    };
    blocks.iter().map(text).filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect()
}

/// Running text on a line.
fn line(text: &[Span]) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) | Span::Code(text) | Span::Mark(text, _) | Span::Link(text, _) => text.clone(),
    };
    text.iter().map(span).chain(["\n".into()]).collect()
}

impl Table {
    /// The table as text: a line of headings, if it has any, and one for each row.
    pub fn to_text(&self) -> String {
        let mut lines = Lines::new();
        lines.load_style(presets::NOTHING);
        if self.columns.iter().any(|column| !column.heading().is_empty()) {
            lines.set_header(self.columns.iter().map(|column| column.heading()));
        }
        for row in &self.rows {
            lines.add_row(self.columns.iter().zip(row).map(|(column, cell)| column.shown(cell)));
        }
        for (line, column) in lines.column_iter_mut().zip(&self.columns) {
            line.set_padding((0, 2));
            line.set_cell_alignment(match column.show {
                Show::Text | Show::Mark | Show::Name => CellAlignment::Left,
                _ => CellAlignment::Right,
            });
        }
        lines.lines().map(|line| line.trim_end().to_string() + "\n").collect()
    }
}
