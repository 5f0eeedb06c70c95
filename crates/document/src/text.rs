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
    /// Returns the table as text: a line of headings, if it has any, and one for each row. If it is too wide, columns that
    /// yield become a line below it; then its headings are folded; and then it is broken into parts, one below the other,
    /// each with as many of the first columns as tell the rows apart. Text in the last column does not count.
    pub fn to_text(&self, width: Width) -> String {
        let (columns, said) = self.narrowed(width.table);
        let table = self.with_columns(&columns);
        let is_folded = table.is_wider(width.table, false);
        let part = |columns: Vec<usize>| table.with_columns(&columns).to_lines(width, is_folded);
        let parts = table.parts(width.table, is_folded).into_iter().map(part).collect::<Vec<_>>().join("\n");
        if said.is_empty() { parts } else { parts + "\n" + &fold(&said.join(", "), width.prose) }
    }

    /// Returns the columns of a table of this width, without as many as need be, from the last, of those that yield and
    /// have the same cell in all rows; and what stands in these.
    fn narrowed(&self, widest: usize) -> (Vec<usize>, Vec<String>) {
        let (mut columns, mut said) = ((0..self.columns.len()).collect::<Vec<usize>>(), Vec::new());
        for (place, column) in self.columns.iter().enumerate().rev().filter(|(_, column)| column.yields) {
            let is_wide = self.with_columns(&columns).is_wider(widest, false);
            let Some(first) = self.rows.first().filter(|_| is_wide) else { break };
            if self.rows.iter().all(|row| row[place] == first[place]) {
                columns.retain(|other| *other != place);
                said.insert(0, format!("{}: {}", column.heading(), column.cell_text(&first[place])));
            }
        }
        (columns, said)
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

    /// Returns the width of each column with its heading, which may be folded to the cells, and the space behind it.
    fn column_widths(&self, is_folded: bool) -> Vec<usize> {
        let heading = |column: &TableColumn, cells: usize| {
            let width = if is_folded { cells } else { usize::MAX };
            fold(&column.heading(), width).lines().map(|line| line.chars().count()).max().unwrap_or(0)
        };
        let widths = self.columns.iter().zip(self.cell_widths());
        widths.map(|(column, cells)| 2 + cells.max(heading(column, cells))).collect()
    }

    fn is_wider(&self, widest: usize, is_folded: bool) -> bool {
        self.column_widths(is_folded).iter().sum::<usize>() > widest + 2
    }

    /// Returns the columns of each part.
    fn parts(&self, widest: usize, is_folded: bool) -> Vec<Vec<usize>> {
        let widths = self.column_widths(is_folded);
        if !self.is_wider(widest, is_folded) {
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

    /// Returns the table as one part. Its headings may be folded to the cells; its texts are folded to the width that
    /// the other columns leave.
    fn to_lines(&self, width: Width, is_folded: bool) -> String {
        let widths = self.column_widths(is_folded);
        let all: usize = widths.iter().sum();
        let heading = |(column, cells): (&TableColumn, usize)| match is_folded {
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
