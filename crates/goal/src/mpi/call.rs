//! A line of a trace: an MPI call and its arguments, whose meanings depend on their places.

use loggp::__private::escaped;

/// An MPI call.
pub struct MpiCall<'a> {
    pub name: &'a str,
    /// The start of the call, its arguments, and its end.
    pub arguments: Vec<&'a str>,
}

impl<'a> MpiCall<'a> {
    pub fn argument(&self, place: usize) -> Result<&'a str, String> {
        let lacks = || {
            format!("{} has {} arguments, and argument {place} is needed", self.name, self.arguments.len())
        };
        self.arguments.get(place).copied().ok_or_else(lacks)
    }

    /// Returns the number at a place: the first one, if there are several with commas between them.
    pub fn number<T: std::str::FromStr>(&self, place: usize, what: &str) -> Result<T, String> {
        let part = self.argument(place)?;
        let first = part.split(',').next().unwrap_or_default().trim();
        first.parse().map_err(|_| {
            format!("{}: {what} is a number, and argument {place} is {:?}", self.name, escaped(first))
        })
    }

    /// Returns the size in bytes of a count of a datatype. The datatype stands behind the count.
    pub fn bytes(&self, count: usize) -> Result<u64, String> {
        let n: u64 = self.number(count, "a count")?;
        let kind = self.argument(count + 1)?;
        let size = kind.split(',').nth(1).and_then(|size| size.trim().parse::<u64>().ok());
        let size = size.ok_or_else(|| {
            format!(
                "{}: a datatype is kind,size,extent, and argument {} is {:?}",
                self.name,
                count + 1,
                escaped(kind)
            )
        })?;
        n.checked_mul(size).ok_or_else(|| format!("{}: {n} times {size} bytes are too many", self.name))
    }

    /// Returns a moment, in ps.
    pub fn moment(&self, place: usize) -> Result<i128, String> {
        let text = self.argument(place)?.trim();
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{rest:0<6.6}");
        let ok = !whole.is_empty()
            && whole.len() <= 20
            && [whole, rest].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let ps = ok.then(|| format!("{whole}{digits}").parse().ok()).flatten();
        ps.ok_or_else(|| format!("{}: a time is in microseconds, and {:?} is none", self.name, escaped(text)))
    }

    /// Returns this rank's number in a communicator, and the number of ranks in it.
    pub fn comm(&self, place: usize) -> Result<(usize, usize), String> {
        let text = self.argument(place)?;
        let mut parts = text.split(',').skip(1).map(|part| part.trim().parse::<usize>());
        match (parts.next(), parts.next()) {
            (Some(Ok(rank)), Some(Ok(size))) => Ok((rank, size)),
            _ => Err(format!(
                "{}: a communicator is name,rank,size, and argument {place} is {:?}",
                self.name,
                escaped(text)
            )),
        }
    }
}
