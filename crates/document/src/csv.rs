//! Tables as CSV, with all digits.

use csv::Writer;

use super::Table;

impl Table {
    /// Returns the table as CSV: the headings, and a line for each row.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut writer = Writer::from_writer(Vec::new());
        let headings = self.columns.iter().map(|column| column.heading()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(ToString::to_string).collect());
        for record in [headings].into_iter().chain(rows) {
            let record: Vec<String> = record;
            writer.write_record(record).expect("a row has a cell for every column");
        }
        writer.into_inner().expect("a line is written into memory")
    }
}
