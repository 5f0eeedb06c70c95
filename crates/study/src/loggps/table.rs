//! A table of round trips that were measured elsewhere, as CSV: the columns `k`, `w` and `time`, in this order or as a header
//! names them, and a line for every time. Times that were measured several times become their median.
//!
//! `k` is in bytes. A time may have its unit, as `12.5us`; a bare number has the unit of its title, as in `time_us`, and
//! counts cycles if there is none. Empty lines and those that begin with # are passed over.

use std::collections::BTreeMap;

use loggp::{MS, NS, PS, SEC, Time, US, outside};

use super::line::Noise;
use super::round_trips::{RoundTrips, Sample};
use crate::calibration::reading::Middle;
use loggp_programs::Refusal;

/// The columns.
const COLUMNS: [&str; 3] = ["k", "w", "time"];
/// What a title may end in.
const UNITS: [(&str, Time); 5] = [("s", SEC), ("ms", MS), ("us", US), ("ns", NS), ("ps", PS)];
/// No message is longer.
const LONGEST: u64 = u32::MAX as u64;
/// No time is longer: an hour.
const LONGEST_TIME: Time = Time::from_ps(3600 * SEC.as_ps());
/// More lengths than this say nothing new.
const MOST_LENGTHS: usize = 1024;
/// Times that were measured elsewhere are this far from what they should be, and further.
const NOISE: Noise = Noise { absolute: 0.0, relative: 0.05 };

/// Where the columns are, and what a bare number in them counts.
#[derive(Clone, Copy)]
struct Columns {
    /// The places of k, w and time.
    places: [usize; 3],
    /// The units of bare numbers.
    units: [Time; 3],
}

/// Reads a table. A bare number counts cycles, unless its title says what.
pub fn read(text: &[u8], cycle: Time) -> Result<RoundTrips, Refusal> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).from_reader(text);
    let mut columns = None;
    let mut times: BTreeMap<(usize, Time), Vec<Time>> = BTreeMap::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
        let begin = record.position().map_or(0, |position| position.byte() as usize);
        let at = |why: String| Refusal::from(format!("line {}: {why}", line_of(text, begin)));
        let cells: Vec<String> =
            record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_string()).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let columns = match columns {
            Some(columns) => columns,
            None => match Columns::titled(&cells, cycle).map_err(at)? {
                Some(titled) => {
                    columns = Some(titled);
                    continue;
                }
                None => *columns.insert(Columns { places: [0, 1, 2], units: [cycle; 3] }),
            },
        };
        let (k, w, time) = columns.row(&cells).map_err(at)?;
        times.entry((k, w)).or_default().push(time);
    }
    if times.is_empty() {
        return Err("there is no round trip in it; give lines of k, w and time".into());
    }
    let mut trips = RoundTrips::new(NOISE);
    for ((k, w), mut times) in times {
        let Some(middle) = Middle::of(&mut times) else { continue };
        let doubt = (middle.count > 1).then(|| middle.doubt());
        trips.add(Sample { k, w, time: middle.median, doubt });
    }
    match trips.lengths().len() {
        0..=MOST_LENGTHS => Ok(trips),
        lengths => Err(format!("there are {lengths} lengths in it; {MOST_LENGTHS} say as much").into()),
    }
}

/// In which line a row is that is read from here on: empty lines before it belong to it, as the reader sees it.
fn line_of(text: &[u8], begin: usize) -> usize {
    let row = text[begin..]
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))
        .map_or(begin, |skipped| begin + skipped);
    1 + text[..row].iter().filter(|byte| **byte == b'\n').count()
}

impl Columns {
    /// What a header says; nothing if the line is none.
    fn titled(cells: &[String], cycle: Time) -> Result<Option<Columns>, String> {
        if !cells[0].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(None);
        }
        let mut columns = Columns { places: [usize::MAX; 3], units: [cycle; 3] };
        for (place, title) in cells.iter().enumerate() {
            let (name, unit) =
                title.split_once('_').map_or((title.as_str(), None), |(name, unit)| (name, Some(unit)));
            let Some(column) = COLUMNS.iter().position(|column| *column == name) else { continue };
            if columns.places[column] != usize::MAX {
                return Err(format!("{} is there twice; give it once", outside(name)));
            }
            columns.places[column] = place;
            if let Some(unit) = unit.filter(|unit| *unit != "bytes") {
                let known = UNITS.iter().find(|(name, _)| *name == unit);
                columns.units[column] = known
                    .ok_or_else(|| {
                        format!("{} has no unit that is known; end it in s, ms, us, ns or ps", outside(title))
                    })?
                    .1;
            }
        }
        match columns.places.iter().position(|place| *place == usize::MAX) {
            Some(missing) => {
                Err(format!("there is no column {}; the columns are k, w and time", COLUMNS[missing]))
            }
            None => Ok(Some(columns)),
        }
    }

    /// A line of the table.
    fn row(&self, cells: &[String]) -> Result<(usize, Time, Time), String> {
        let cell = |column: usize| {
            let text = cells.get(self.places[column]).filter(|text| !text.is_empty());
            text.ok_or_else(|| format!("{} is missing; give k, w and time", COLUMNS[column]))
        };
        let k = cell(0)?;
        let k = k.parse::<u64>().ok().filter(|k| *k <= LONGEST).ok_or_else(|| {
            format!("k = {} is not a length; give a whole number of bytes up to {LONGEST}", outside(k))
        })?;
        let time = |column: usize| {
            let text = cell(column)?;
            let refuse = |why: &str| format!("{} = {} {why}", COLUMNS[column], outside(text));
            self.time(column, text)
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

    /// Reads a time to the nearest picosecond: it was measured, and need not be exact.
    fn time(&self, column: usize, text: &str) -> Option<Time> {
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
    fn reads_units_headers_and_repeats() {
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
    fn refuses_with_the_line() {
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
