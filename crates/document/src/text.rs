//! A document as text for a terminal, and a table.

use std::collections::HashSet;

use comfy_table::{CellAlignment, Table as Lines, presets};

use super::table::{Cell, Column};
use super::{Block, Document, Show, Span, Table};

/// How wide a text may be, in characters.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// A wider table is broken.
    pub table: usize,
    /// Longer lines of prose are folded between their words.
    pub prose: usize,
}

impl Document {
    /// The document as text: its title, and below that its blocks, each after an empty line.
    pub fn to_text(&self, width: Width) -> String {
        folded(&self.title, width.prose) + &blocks(&self.blocks, width)
    }
}

/// Blocks, each after an empty line.
fn blocks(blocks: &[Block], width: Width) -> String {
    let line = |text: &[Span]| folded(&said(text), width.prose);
    let text = |block: &Block| match block {
        Block::Heading(_, text) | Block::Paragraph(text) | Block::Note(text) => line(text),
        Block::List(items) => items.iter().map(|item| line(item)).collect(),
        Block::Table(table) => table.to_text(width),
        Block::Picture { file, caption, .. } => folded(&format!("{file}: {caption}"), width.prose),
        Block::Code(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        Block::Article { heading, blocks, .. } => line(heading) + &self::blocks(blocks, width),
        Block::Cards(cards) => {
            cards.iter().map(|card| format!("{}: {}", card.title, line(&card.line))).collect()
        }
        Block::Folded(..) | Block::Contents(_) | Block::Choice(_) => String::new(),
    };
    blocks.iter().map(text).filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect()
}

/// The words of running text.
fn said(text: &[Span]) -> String {
    fn words(span: &Span) -> &str {
        match span {
            Span::Plain(text) | Span::Code(text) | Span::Mark(text, _) | Span::Link(text, _) => text,
        }
    }
    text.iter().map(words).collect()
}

/// A text in lines of this width. Between words alone it is folded: a word that is longer stays whole.
fn folded(text: &str, width: usize) -> String {
    let mut lines = String::new();
    for line in text.split('\n') {
        let mut used = 0;
        for (number, word) in line.split(' ').enumerate() {
            let long = word.chars().count();
            if number > 0 && used + 1 + long > width {
                lines.push('\n');
                used = 0;
            } else if number > 0 {
                lines.push(' ');
                used += 1;
            }
            lines.push_str(word);
            used += long;
        }
        lines.push('\n');
    }
    lines
}

/// Texts in a table are no narrower, however many columns there are.
const LEAST: usize = 16;

impl Table {
    /// The table as text: a line of headings, if it has any, and one for each row. A wide table comes in parts, one below the
    /// other, each with the first columns, as many as tell the rows apart. Prose in the last column may be as long as it is.
    pub fn to_text(&self, width: Width) -> String {
        let parts = self.parts(width.table).into_iter().map(|columns| self.only(&columns).lines(width));
        parts.collect::<Vec<_>>().join("\n")
    }

    /// How wide the cells of each column are; without the prose in the last one.
    fn cells(&self) -> Vec<usize> {
        let width = |(place, column): (usize, &Column)| {
            let is_prose = place + 1 == self.columns.len() && column.show == Show::Text;
            let cells = self.rows.iter().filter(|_| !is_prose);
            cells.map(|row| column.shown(&row[place]).chars().count()).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    /// How wide each column is with its heading and the space behind it.
    fn widths(&self) -> Vec<usize> {
        let heading = |column: &Column| column.heading().chars().count();
        self.columns.iter().zip(self.cells()).map(|(column, cells)| 2 + cells.max(heading(column))).collect()
    }

    /// The columns of each part.
    fn parts(&self, widest: usize) -> Vec<Vec<usize>> {
        let widths = self.widths();
        if widths.iter().sum::<usize>() <= widest + 2 {
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
            let full = part.iter().map(|column| widths[*column]).sum::<usize>() + widths[column] > widest + 2;
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

    /// The table in one part. Where that is too wide yet, headings are folded, and texts to the room that the other columns leave.
    fn lines(&self, width: Width) -> String {
        let widths = self.widths();
        let all: usize = widths.iter().sum();
        let heading = |(column, cells): (&Column, usize)| match all > width.table + 2 {
            true => folded(&column.heading(), cells).trim_end().to_string(),
            false => column.heading(),
        };
        let texts = self.columns.iter().zip(&widths).map(|(column, own)| match column.show {
            Show::Text => width.prose.saturating_sub(all - own).max(LEAST),
            _ => usize::MAX,
        });
        let texts: Vec<usize> = texts.collect();
        let mut lines = Lines::new();
        lines.load_style(presets::NOTHING);
        if self.columns.iter().any(|column| !column.heading().is_empty()) {
            lines.set_header(self.columns.iter().zip(self.cells()).map(heading));
        }
        for row in &self.rows {
            let cells = self.columns.iter().zip(row).zip(&texts);
            lines.add_row(cells.map(|((column, cell), room)| {
                folded(&column.shown(cell), *room).trim_end_matches('\n').to_string()
            }));
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
