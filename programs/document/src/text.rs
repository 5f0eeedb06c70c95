//! A document as text for a terminal, and a table.

use std::collections::HashSet;

use comfy_table::{CellAlignment, Table as Lines, presets};

use super::table::{Cell, Column};
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

/// A wider table is broken.
const WIDEST: usize = 120;

impl Table {
    /// The table as text: a line of headings, if it has any, and one for each row. A wide table comes in parts, one below the
    /// other, each with the first columns, as many as tell the rows apart. Prose in the last column may be as long as it is.
    pub fn to_text(&self) -> String {
        let parts = self.parts().into_iter().map(|columns| self.only(&columns).lines());
        parts.collect::<Vec<_>>().join("\n")
    }

    /// The columns of each part.
    fn parts(&self) -> Vec<Vec<usize>> {
        let width = |(place, column): (usize, &Column)| {
            let is_prose = place + 1 == self.columns.len() && column.show == Show::Text;
            let cells =
                self.rows.iter().filter(|_| !is_prose).map(|row| column.shown(&row[place]).chars().count());
            2 + cells.chain([column.heading().chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = self.columns.iter().enumerate().map(width).collect();
        if widths.iter().sum::<usize>() <= WIDEST + 2 {
            return vec![(0..widths.len()).collect()];
        }
        let names = |keys: &usize| {
            let cells = |row: &Vec<Cell>| {
                self.columns.iter().zip(row).take(*keys).map(|(c, cell)| c.shown(cell)).collect()
            };
            self.rows.iter().map(cells).collect::<HashSet<Vec<String>>>().len() == self.rows.len()
        };
        let keys = (1..widths.len() / 2).find(names).unwrap_or(1);
        let mut parts = vec![(0..keys).collect::<Vec<usize>>()];
        for column in keys..widths.len() {
            let part = parts.last().expect("there is one");
            let full = part.iter().map(|column| widths[*column]).sum::<usize>() + widths[column] > WIDEST + 2;
            if full && part.len() > keys {
                parts.push((0..keys).collect());
            }
            parts.last_mut().expect("there is one").push(column);
        }
        parts
    }

    /// The table with these columns.
    fn only(&self, columns: &[usize]) -> Table {
        let rows =
            self.rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect();
        let columns = columns.iter().map(|column| self.columns[*column].clone()).collect();
        Table { columns, rows, ..Table::new("", "") }
    }

    /// The table in one part.
    fn lines(&self) -> String {
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
