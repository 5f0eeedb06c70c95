//! Documents and tables as text for a terminal.

use std::collections::HashSet;

use comfy_table::{CellAlignment, Table as Lines, presets};

use super::printable::printable;
use super::table::{Cell, TableColumn};
use super::{CellFormat, Document, DocumentBlock, Span, Table};

/// The width of text, in characters.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// Width of tables. A wider one is broken into parts.
    pub table: usize,
    /// Width of prose, which is folded between words.
    pub prose: usize,
}

impl Document {
    /// Returns the document as text: its title, then its blocks, each after an empty line.
    pub fn to_text(&self, width: Width) -> String {
        printable(&(fold(&self.title, width.prose) + &blocks(&self.blocks, width))).into_owned()
    }
}

fn blocks(blocks: &[DocumentBlock], width: Width) -> String {
    let line = |text: &[Span]| fold(&plain_text(text), width.prose);
    let text = |block: &DocumentBlock| match block {
        DocumentBlock::Heading(_, text) | DocumentBlock::Paragraph(text) | DocumentBlock::Note(text) => {
            line(text)
        }
        DocumentBlock::List(items) => items.iter().map(|item| line(item)).collect(),
        DocumentBlock::Table(table) => table.to_text(width),
        DocumentBlock::Picture { file, caption, .. } => fold(&format!("{file}: {caption}"), width.prose),
        DocumentBlock::Code(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        DocumentBlock::Article { heading, blocks, .. } => line(heading) + &self::blocks(blocks, width),
        DocumentBlock::Cards(cards) => {
            cards.iter().map(|card| format!("{}: {}", card.title, line(&card.line))).collect()
        }
        DocumentBlock::Folded(..) | DocumentBlock::Contents(_) | DocumentBlock::Choice(_) => String::new(),
    };
    blocks.iter().map(text).filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect()
}

/// Returns text without its formatting.
fn plain_text(text: &[Span]) -> String {
    fn words(span: &Span) -> &str {
        match span {
            Span::Plain(text) | Span::Code(text) | Span::Mark(text, _) | Span::Link(text, _) => text,
        }
    }
    text.iter().map(words).collect()
}

/// Folds a text into lines of this width, between words only: a longer word stays whole.
fn fold(text: &str, width: usize) -> String {
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

/// The least width of texts in a table.
const LEAST_TEXT_WIDTH: usize = 16;

impl Table {
    /// Returns the table as text: a line of headings, if it has any, and one for each row. A wide table is
    /// broken into parts, one below the other, each with as many of the first columns as tell the rows apart.
    /// Text in the last column does not count.
    pub fn to_text(&self, width: Width) -> String {
        let part = |columns: Vec<usize>| self.with_columns(&columns).to_lines(width);
        self.parts(width.table).into_iter().map(part).collect::<Vec<_>>().join("\n")
    }

    /// Returns the width of the cells of each column, which is 0 for text in the last one.
    fn cell_widths(&self) -> Vec<usize> {
        let width = |(place, column): (usize, &TableColumn)| {
            let is_prose = place + 1 == self.columns.len() && column.show == CellFormat::Text;
            let cells = self.rows.iter().filter(|_| !is_prose);
            cells.map(|row| column.cell_text(&row[place]).chars().count()).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    /// Returns the width of each column with its heading and the space behind it.
    fn column_widths(&self) -> Vec<usize> {
        let heading = |column: &TableColumn| column.heading().chars().count();
        let widths = self.columns.iter().zip(self.cell_widths());
        widths.map(|(column, cells)| 2 + cells.max(heading(column))).collect()
    }

    /// Returns the columns of each part.
    fn parts(&self, widest: usize) -> Vec<Vec<usize>> {
        let widths = self.column_widths();
        if widths.iter().sum::<usize>() <= widest + 2 {
            return vec![(0..widths.len()).collect()];
        }
        let names = |keys: &usize| {
            let cells = |row: &Vec<Cell>| {
                self.columns.iter().zip(row).take(*keys).map(|(c, cell)| c.cell_text(cell)).collect()
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

    /// Returns a table of these columns.
    fn with_columns(&self, columns: &[usize]) -> Table {
        let rows =
            self.rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect();
        let columns = columns.iter().map(|column| self.columns[*column].clone()).collect();
        Table { columns, rows, ..Table::new("", "") }
    }

    /// Returns the table as one part. If it is too wide, its headings are folded to the cells, and its texts
    /// to the width that the other columns leave.
    fn to_lines(&self, width: Width) -> String {
        let widths = self.column_widths();
        let all: usize = widths.iter().sum();
        let heading = |(column, cells): (&TableColumn, usize)| match all > width.table + 2 {
            true => fold(&column.heading(), cells).trim_end().to_string(),
            false => column.heading(),
        };
        let rooms = self.columns.iter().zip(&widths).map(|(column, own)| match column.show {
            CellFormat::Text => width.prose.saturating_sub(all - own).max(LEAST_TEXT_WIDTH),
            _ => usize::MAX,
        });
        let rooms: Vec<usize> = rooms.collect();
        let mut lines = Lines::new();
        lines.load_style(presets::NOTHING);
        if self.columns.iter().any(|column| !column.heading().is_empty()) {
            lines.set_header(self.columns.iter().zip(self.cell_widths()).map(heading));
        }
        for row in &self.rows {
            let cells = self.columns.iter().zip(row).zip(&rooms);
            lines.add_row(cells.map(|((column, cell), room)| {
                fold(&column.cell_text(cell), *room).trim_end_matches('\n').to_string()
            }));
        }
        for (line, column) in lines.column_iter_mut().zip(&self.columns) {
            line.set_padding((0, 2));
            let is_right = column.show.is_right();
            line.set_cell_alignment(if is_right { CellAlignment::Right } else { CellAlignment::Left });
        }
        lines.lines().map(|line| line.trim_end().to_string() + "\n").collect()
    }
}
