//! A line of a trace: a call of MPI with its arguments, of which each says what it is by its place.

use loggp::outside;

/// A call.
pub struct Call<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it began, its arguments, and when it ended.
    pub parts: Vec<&'a str>,
}

impl<'a> Call<'a> {
    pub fn part(&self, place: usize) -> Result<&'a str, String> {
        let lacks =
            || format!("{} has {} arguments, and argument {place} is needed", self.name, self.parts.len());
        self.parts.get(place).copied().ok_or_else(lacks)
    }

    /// The number at a place, the first of those between its commas.
    pub fn number<T: std::str::FromStr>(&self, place: usize, what: &str) -> Result<T, String> {
        let part = self.part(place)?;
        let first = part.split(',').next().unwrap_or_default().trim();
        first.parse().map_err(|_| {
            format!("{}: {what} is a number, and argument {place} is {:?}", self.name, outside(first))
        })
    }

    /// How many bytes so many of a datatype are.
    pub fn bytes(&self, count: usize) -> Result<u64, String> {
        let n: u64 = self.number(count, "a count")?;
        let kind = self.part(count + 1)?;
        let size = kind.split(',').nth(1).and_then(|size| size.trim().parse::<u64>().ok());
        let size = size.ok_or_else(|| {
            format!(
                "{}: a datatype is kind,size,extent, and argument {} is {:?}",
                self.name,
                count + 1,
                outside(kind)
            )
        })?;
        n.checked_mul(size).ok_or_else(|| format!("{}: {n} times {size} bytes are too many", self.name))
    }

    /// A moment, in picoseconds.
    pub fn moment(&self, place: usize) -> Result<i128, String> {
        let text = self.part(place)?.trim();
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{rest:0<6.6}");
        let ok = !whole.is_empty()
            && whole.len() <= 20
            && [whole, rest].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let ps = ok.then(|| format!("{whole}{digits}").parse().ok()).flatten();
        ps.ok_or_else(|| format!("{}: a time is in microseconds, and {:?} is none", self.name, outside(text)))
    }

    /// How many ranks its communicator has, and which one this is.
    pub fn comm(&self, place: usize) -> Result<(usize, usize), String> {
        let text = self.part(place)?;
        let mut parts = text.split(',').skip(1).map(|part| part.trim().parse::<usize>());
        match (parts.next(), parts.next()) {
            (Some(Ok(rank)), Some(Ok(size))) => Ok((rank, size)),
            _ => Err(format!(
                "{}: a communicator is name,rank,size, and argument {place} is {:?}",
                self.name,
                outside(text)
            )),
        }
    }
}
