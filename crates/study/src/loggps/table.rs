//! Tables of round trips that were measured elsewhere, as CSV: the columns `k`, `w` and `time`, in this order
//! or as a header names them, and a line for each time. Repeated measurements become their median.
//!
//! `k` is in bytes. A time may have a unit, as `12.5us`; a bare number has the unit of its title, as in
//! `time_us`, or counts cycles. Empty lines and those that begin with # are skipped.

use std::collections::BTreeMap;

use loggp::{MS, NS, PS, SEC, Time, US};
use loggp_model::text::escaped;
use loggp_programs::Refusal;

use super::line::NoiseBound;
use super::round_trips::{RoundTripSample, RoundTripSamples};
use crate::calibration::reading::Quartiles;

const COLUMNS: [&str; 3] = ["k", "w", "time"];
/// Units that a title may end in.
const UNITS: [(&str, Time); 5] = [("s", SEC), ("ms", MS), ("us", US), ("ns", NS), ("ps", PS)];
/// Longest length.
const LONGEST: u64 = u32::MAX as u64;
/// Longest time: an hour.
const LONGEST_TIME: Time = Time::from_ps(3600 * SEC.as_ps());
/// Most lengths in a table.
const MOST_LENGTHS: usize = 1024;
/// Least deviation of times that were measured elsewhere.
const NOISE: NoiseBound = NoiseBound { absolute: 0.0, relative: 0.05 };

/// The indices of the columns, and the units of their bare numbers.
#[derive(Clone, Copy)]
struct TableColumns {
    /// Those of k, w and time.
    indices: [usize; 3],
    units: [Time; 3],
}

/// Reads a table. `cycle` is the unit of a bare number without a unit in its title.
pub(super) fn read(text: &[u8], cycle: Time) -> Result<RoundTripSamples, Refusal> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).from_reader(text);
    let mut columns = None;
    let mut times: BTreeMap<(usize, Time), Vec<Time>> = BTreeMap::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
        let begin = record.position().map_or(0, |position| position.byte() as usize);
        let at = |why: String| Refusal::from(format!("line {}: {why}", line_number(text, begin)));
        let cells: Vec<String> =
            record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_string()).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let columns = match columns {
            Some(columns) => columns,
            None => match TableColumns::from_header(&cells, cycle).map_err(at)? {
                Some(titled) => {
                    columns = Some(titled);
                    continue;
                }
                None => *columns.insert(TableColumns { indices: [0, 1, 2], units: [cycle; 3] }),
            },
        };
        let (k, w, time) = columns.parse_row(&cells).map_err(at)?;
        times.entry((k, w)).or_default().push(time);
    }
    if times.is_empty() {
        return Err("there is no round trip in it; give lines of k, w and time".into());
    }
    let mut trips = RoundTripSamples::new(NOISE);
    for ((k, w), mut times) in times {
        let Some(middle) = Quartiles::from_values(&mut times) else { continue };
        let doubt = (middle.count > 1).then(|| middle.doubt());
        trips.add(RoundTripSample { k, w, time: middle.median, doubt });
    }
    match trips.lengths().len() {
        0..=MOST_LENGTHS => Ok(trips),
        lengths => Err(format!("there are {lengths} lengths in it; {MOST_LENGTHS} say as much").into()),
    }
}

/// Returns the line of a row that begins at byte `begin`: the CSV reader counts empty lines before it as part
/// of the row.
fn line_number(text: &[u8], begin: usize) -> usize {
    let row = text[begin..]
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))
        .map_or(begin, |skipped| begin + skipped);
    1 + text[..row].iter().filter(|byte| **byte == b'\n').count()
}

impl TableColumns {
    /// Parses a header; `None` if the line is none.
    fn from_header(cells: &[String], cycle: Time) -> Result<Option<TableColumns>, String> {
        if !cells[0].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(None);
        }
        let mut columns = TableColumns { indices: [usize::MAX; 3], units: [cycle; 3] };
        for (index, title) in cells.iter().enumerate() {
            let (name, unit) =
                title.split_once('_').map_or((title.as_str(), None), |(name, unit)| (name, Some(unit)));
            let Some(column) = COLUMNS.iter().position(|column| *column == name) else { continue };
            if columns.indices[column] != usize::MAX {
                return Err(format!("{} is there twice; give it once", escaped(name)));
            }
            columns.indices[column] = index;
            if let Some(unit) = unit.filter(|unit| *unit != "bytes") {
                let known = UNITS.iter().find(|(name, _)| *name == unit);
                columns.units[column] = known
                    .ok_or_else(|| {
                        format!("{} has no unit that is known; end it in s, ms, us, ns or ps", escaped(title))
                    })?
                    .1;
            }
        }
        match columns.indices.iter().position(|index| *index == usize::MAX) {
            Some(missing) => {
                Err(format!("there is no column {}; the columns are k, w and time", COLUMNS[missing]))
            }
            None => Ok(Some(columns)),
        }
    }

    /// Parses a line of the table: k, w and time.
    fn parse_row(&self, cells: &[String]) -> Result<(usize, Time, Time), String> {
        let cell = |column: usize| {
            let text = cells.get(self.indices[column]).filter(|text| !text.is_empty());
            text.ok_or_else(|| format!("{} is missing; give k, w and time", COLUMNS[column]))
        };
        let k = cell(0)?;
        let k = k.parse::<u64>().ok().filter(|k| *k <= LONGEST).ok_or_else(|| {
            format!("k = {} is not a length; give a whole number of bytes up to {LONGEST}", escaped(k))
        })?;
        let time = |column: usize| {
            let text = cell(column)?;
            let refuse = |why: &str| format!("{} = {} {why}", COLUMNS[column], escaped(text));
            self.parse_time(column, text)
                .ok_or_else(|| refuse("is not a time; write 12.5us, or a number under time_us"))
        };
        let (w, time) = (time(1)?, time(2)?);
        if time < w {
            return Err(format!(
                "a round trip of {time} is shorter than its w of {w}; time is that of all of it"
            ));
        }
        Ok((k as usize, w, time))
    }

    /// Parses a time to the nearest picosecond.
    fn parse_time(&self, column: usize, text: &str) -> Option<Time> {
        let unit = UNITS.iter().find(|(name, _)| {
            let number = text.strip_suffix(name);
            number
                .is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == ' '))
        });
        let (number, unit) = match unit {
            Some((name, unit)) => (text.strip_suffix(name)?.trim(), *unit),
            None => (text, self.units[column]),
        };
        let ps = number.parse::<f64>().ok()? * unit.as_ps() as f64;
        (ps >= 0.0 && ps <= LONGEST_TIME.as_ps() as f64).then(|| Time::from_ps(ps.round() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Vec<(usize, Time, Time)> {
        let trips = read(text.as_bytes(), US).unwrap();
        trips.samples().map(|sample| (sample.k, sample.w, sample.time)).collect()
    }

    #[test]
    fn table_reads_units_headers_and_repeats() {
        let expected = [(0, Time::ZERO, 20 * US), (8, 5 * US, 30_500 * NS)];
        for text in [
            "0,0,20\n8,5,30.5\n",
            "k,w,time\r\n0,0us,20us\r\n\r\n8, 5 us ,30500ns\r\n",
            "# of a cluster\ntime_ns,k_bytes,other,w_ms\n20000,0,x,0\n3.05e4,8,y,0.005",
            "0,0,19\n8,5,30.5\n0,0,20\n0,0,1e3\n",
        ] {
            assert_eq!(samples(text), expected, "{text}");
        }
    }

    #[test]
    fn table_refusal_names_the_line() {
        for (text, why) in [
            ("", "there is no round trip in it"),
            ("k,w\n1,2\n", "line 1: there is no column time; the columns are k, w and time"),
            ("k,w,time,k\n", "line 1: k is there twice"),
            ("k,w,time_h\n", "line 1: time_h has no unit that is known"),
            ("1,2\n", "line 1: time is missing"),
            ("0,0,1\n-1,2,3\n", "line 2: k = -1 is not a length"),
            ("0,0,1\n\n1,0,-3us\n", "line 3: time = -3us is not a time"),
            ("0,0,nan\n", "line 1: time = nan is not a time"),
            ("0,0,1e99\n", "line 1: time = 1e99 is not a time"),
            ("0,5,3\n", "line 1: a round trip of 3 us is shorter than its w of 5 us"),
            ("\u{fffd}\u{0},\n", "line 1: k = "),
        ] {
            let refusal = read(text.as_bytes(), US).unwrap_err().to_string();
            assert!(refusal.contains(why) && !refusal.contains('\n'), "{text}: {refusal}");
        }
    }
}
