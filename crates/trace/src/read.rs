//! Reads traces in either form of file.

use std::io::{BufRead, BufReader, Read};

use super::error::TraceError;
use super::trace::Trace;
use super::{chrome, compact};

impl Trace {
    /// Reads a trace that [`write`](Trace::write) or [`write_compact`](Trace::write_compact) wrote, exactly
    /// as it was.
    pub fn read(mut input: impl Read) -> Result<Trace, TraceError> {
        let mut input = BufReader::new(&mut input as &mut dyn Read);
        match input.fill_buf().map_err(|why| TraceError::unreadable(&why))?.first() {
            None => Err(TraceError::new("it is empty")),
            Some(first) if *first == compact::MAGIC[0] => compact::read(input),
            Some(b'{' | b' ' | b'\n' | b'\r' | b'\t') => chrome::read(input),
            Some(_) => {
                Err(TraceError::new("at byte 0: it begins neither like JSON nor like a compact trace"))
            }
        }
    }
}
