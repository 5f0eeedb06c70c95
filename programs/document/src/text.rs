//! A table as text for a terminal.

use comfy_table::{CellAlignment, Table as Lines, presets};

use super::{Show, Table};

impl Table {
    /// The table as text: a line of headings, and one for each row.
    pub fn to_text(&self) -> String {
        let mut lines = Lines::new();
        lines.load_style(presets::NOTHING).set_header(self.columns.iter().map(|column| column.heading()));
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
