//! A line of a trace: an MPI call and its arguments, whose meanings depend on their indices.

use std::io::{self, Read};

use loggp_model::text::escaped;

/// The longest line in bytes.
const LONGEST: usize = 1 << 20;
/// The longest name of a call in bytes.
const LONGEST_NAME: usize = 64;
/// The most arguments of a call, with its start and its end.
const MOST: usize = 24;
/// Stands for an unknown moment.
const UNKNOWN: &[u8] = b"-";

/// A reader of lines, with one buffer for all.
pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer is read and not taken.
    begin: usize,
    end: usize,
    is_at_end: bool,
}

impl<R: Read> LineReader<R> {
    /// Creates a reader.
    pub(super) fn new(input: R) -> LineReader<R> {
        LineReader { input, buffer: vec![0; 1 << 16], begin: 0, end: 0, is_at_end: false }
    }

    /// Returns the next line without its end, or `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, String> {
        let mut searched = self.begin;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.begin..searched + length;
                self.begin = line.end + 1;
                return Ok(Some(&self.buffer[line]));
            }
            if self.is_at_end {
                let line = self.begin..self.end;
                self.begin = self.end;
                return Ok((!line.is_empty()).then(|| &self.buffer[line]));
            }
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            searched = self.end;
            if self.end >= LONGEST {
                return Err(format!("a line has less than {LONGEST} bytes"));
            } else if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.end, 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_at_end = true,
                Ok(read) => self.end += read,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => (),
                Err(why) => return Err(format!("it cannot be read: {why}")),
            }
        }
    }
}

/// An MPI call, as a line has it.
pub(super) struct MpiLine<'a> {
    name: &'a [u8],
    /// The start of the call, its arguments, and its end.
    arguments: [&'a [u8]; MOST],
    count: usize,
}

/// A communicator of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub name: u64,
    /// This rank's number in the communicator.
    pub rank: usize,
    /// The number of its ranks.
    pub size: usize,
}

impl<'a> MpiLine<'a> {
    /// Splits a line. Returns `None` for an empty line and for one that begins with #.
    pub(super) fn split(line: &'a [u8]) -> Result<Option<MpiLine<'a>>, String> {
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            return Ok(None);
        }
        let mut colons = memchr::memchr_iter(b':', line);
        let mut begin = colons.next().unwrap_or(line.len());
        let name = line[..begin].trim_ascii();
        let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if !(name.starts_with(b"MPI_") && name.len() <= LONGEST_NAME && name.iter().all(is_in_name)) {
            return Err("a line is a call, such as MPI_Barrier:10.5:0,0,8:11.5, or begins with #".into());
        }
        let mut call = MpiLine { name, arguments: [b""; MOST], count: 0 };
        while begin < line.len() {
            let end = colons.next().unwrap_or(line.len());
            // The last index is that of the end, whatever is left out.
            call.arguments[call.count.min(MOST - 1)] = &line[begin + 1..end];
            call.count += 1;
            begin = end;
        }
        Ok(Some(call))
    }

    /// Returns the name of the call.
    pub(super) fn name(&self) -> &'a str {
        std::str::from_utf8(self.name).unwrap_or("MPI_")
    }

    /// Returns the name in bytes, which is faster to compare.
    #[inline]
    pub(super) fn name_bytes(&self) -> &'a [u8] {
        self.name
    }

    #[inline]
    fn argument(&self, index: usize) -> Result<&'a [u8], String> {
        match self.arguments.get(index) {
            Some(argument) if index < self.count => Ok(argument),
            _ => Err(self.lacks(index)),
        }
    }

    #[cold]
    fn lacks(&self, index: usize) -> String {
        format!("{} has {} arguments, and argument {index} is needed", self.name(), self.count)
    }

    /// Returns the number at an index: the first one, if there are several with commas between them.
    #[inline]
    pub(super) fn number(&self, index: usize, what: &str) -> Result<i64, String> {
        let part = self.argument(index)?;
        let first = part.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
        to_number(first).ok_or_else(|| {
            let (name, first) = (self.name(), quoted(first));
            format!("{name}: {what} is a number, and argument {index} is {first}")
        })
    }

    /// Returns a number that is not negative, such as a count or an address.
    #[inline]
    pub(super) fn natural(&self, index: usize, what: &str) -> Result<u64, String> {
        let part = self.argument(index)?;
        let first = part.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
        to_natural(first).ok_or_else(|| {
            let (name, first) = (self.name(), quoted(first));
            format!("{name}: {what} is a number, and argument {index} is {first}")
        })
    }

    /// Returns the size of a datatype, `kind,size,extent`.
    #[inline]
    pub(super) fn size(&self, index: usize) -> Result<u64, String> {
        let kind = self.argument(index)?;
        let size = kind.split(|byte| *byte == b',').nth(1).and_then(|size| to_natural(size.trim_ascii()));
        size.ok_or_else(|| {
            let (name, kind) = (self.name(), quoted(kind));
            format!("{name}: a datatype is kind,size,extent, and argument {index} is {kind}")
        })
    }

    /// Returns the size in bytes of a count of a datatype. The datatype stands behind the count.
    #[inline]
    pub(super) fn bytes(&self, count: usize) -> Result<u64, String> {
        let (n, size) = (self.natural(count, "a count")?, self.size(count + 1)?);
        self.multiply(n, size)
    }

    /// Returns the sizes in bytes of the counts at an index, of which there must be `ranks`.
    pub(super) fn all_bytes(&self, counts: usize, datatype: usize, ranks: usize) -> Result<Vec<u64>, String> {
        let (text, size) = (self.argument(counts)?, self.size(datatype)?);
        let all: Option<Vec<u64>> =
            text.split(|byte| *byte == b',').map(|count| to_natural(count.trim_ascii())).collect();
        match all {
            Some(all) if all.len() == ranks => all.into_iter().map(|n| self.multiply(n, size)).collect(),
            _ => Err(format!(
                "{}: argument {counts} has a count for each of {ranks} ranks, and it is {}",
                self.name(),
                quoted(text)
            )),
        }
    }

    fn multiply(&self, n: u64, size: u64) -> Result<u64, String> {
        n.checked_mul(size).ok_or_else(|| format!("{}: {n} times {size} bytes are too many", self.name()))
    }

    /// Returns when the call began, in ns. `None` is not known, before `MPI_Init`.
    pub(super) fn begin(&self) -> Result<Option<i64>, String> {
        if self.argument(0)?.trim_ascii() == UNKNOWN { Ok(None) } else { self.moment(0).map(Some) }
    }

    /// Returns a moment, in ns.
    #[inline]
    pub(super) fn moment(&self, index: usize) -> Result<i64, String> {
        let text = self.argument(index)?.trim_ascii();
        let (whole, rest) = match memchr::memchr(b'.', text) {
            Some(point) => (&text[..point], &text[point + 1..]),
            None => (text, &b""[..]),
        };
        let part = rest.iter().chain(b"000").take(3).try_fold(0, |sum, byte| Some(10 * sum + digit(*byte)?));
        let ns = to_natural(whole).zip(part).filter(|_| rest.iter().all(u8::is_ascii_digit));
        ns.and_then(|(us, ns)| i64::try_from(us).ok()?.checked_mul(1000)?.checked_add(ns)).ok_or_else(|| {
            let (name, text) = (self.name(), quoted(text));
            format!("{name}: a time is in microseconds, and {text} is none")
        })
    }

    /// Returns when the call ended, in ns.
    #[inline]
    pub(super) fn end(&self) -> Result<i64, String> {
        self.moment((self.count.saturating_sub(1)).min(MOST - 1))
    }

    /// Returns the communicator at an index.
    #[inline]
    pub(super) fn handle(&self, index: usize) -> Result<Handle, String> {
        let text = self.argument(index)?;
        let mut parts = text.split(|byte| *byte == b',').map(|part| to_number(part.trim_ascii()));
        let name = parts.next().flatten();
        let mut small = || parts.next().flatten().and_then(|number| usize::try_from(number).ok());
        match (name, small(), small()) {
            (Some(name), Some(rank), Some(size)) => Ok(Handle { name: name as u64, rank, size }),
            _ => Err(format!(
                "{}: a communicator is name,rank,size, and argument {index} is {}",
                self.name(),
                quoted(text)
            )),
        }
    }
}

/// Returns text of a trace as a sentence quotes it.
fn quoted(text: &[u8]) -> String {
    format!("{:?}", escaped(&String::from_utf8_lossy(text)))
}

#[inline]
fn digit(byte: u8) -> Option<i64> {
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

/// Returns the number that these digits are.
#[inline]
fn to_natural(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    // 19 digits always fit.
    let mut sum = 0u64;
    for (index, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum = if index < 19 {
            10 * sum + u64::from(digit)
        } else {
            sum.checked_mul(10)?.checked_add(digit.into())?
        };
    }
    Some(sum)
}

/// Returns the number that this text is, which may be negative.
#[inline]
fn to_number(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => to_natural(digits).and_then(|n| 0i64.checked_sub_unsigned(n)),
        // Addresses are up to 2^64.
        None => to_natural(text).map(|n| n as i64),
    }
}
