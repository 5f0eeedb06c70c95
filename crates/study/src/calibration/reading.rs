//! A time that was measured, how far it can be trusted, and the middle of several.

use loggp::Time;

/// So many repetitions must be on time, in one run or in several.
pub const ENOUGH: usize = 8;
/// What is found may be in doubt by such a part of it: repetitions that were on time are not further apart. The value in
/// the middle is nearer than that.
pub const DOUBT: i64 = 100;

/// A time that was measured, or worked out from such.
#[derive(Clone, Copy)]
pub struct Reading {
    /// The time.
    pub time: Time,
    /// How far from it the time may be, as repetitions that were on time are; nothing if too few were.
    pub doubt: Option<Time>,
    /// By how much two such times may differ and be the same.
    pub noise: Time,
}

impl Reading {
    /// A time that is known.
    pub fn of(time: Time) -> Reading {
        Reading { time, doubt: Some(Time::ZERO), noise: Time::ZERO }
    }

    /// The difference, which is no less than 0. Doubts add up.
    pub fn less(self, other: Reading) -> Reading {
        Reading {
            time: (self.time - other.time).max(Time::ZERO),
            doubt: both(self.doubt, other.doubt),
            noise: self.noise + other.noise,
        }
    }

    /// So many of it.
    pub fn times(self, n: i64) -> Reading {
        self.each(|time| n * time)
    }

    /// A part of n.
    pub fn share(self, n: i64) -> Reading {
        self.each(|time| share(time, n))
    }

    /// The same change to the time, to what it is in doubt by and to what is noise.
    fn each(self, change: impl Fn(Time) -> Time) -> Reading {
        Reading { time: change(self.time), doubt: self.doubt.map(&change), noise: change(self.noise) }
    }

    /// Whether it was measured: it is in doubt by no more than a small part of it, or than times that are the same.
    pub fn is_held(self) -> bool {
        self.doubt.is_some_and(|doubt| doubt <= share(self.time, DOUBT).max(self.noise))
    }
}

/// The sum of two doubts.
fn both(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    Some(one? + other?)
}

/// The middle of what several repetitions said.
#[derive(Clone, Copy)]
pub struct Middle<T> {
    /// The value in the middle.
    pub median: T,
    /// A quarter of them is below.
    pub low: T,
    /// A quarter of them is above.
    pub high: T,
    /// How many there were.
    pub count: usize,
}

impl<T: Ord + Copy> Middle<T> {
    /// Sorts them; nothing if there are none.
    pub fn of(values: &mut [T]) -> Option<Middle<T>> {
        values.sort_unstable();
        let count = values.len();
        let last = count.checked_sub(1)?;
        let median = values[count / 2];
        Some(Middle {
            median,
            low: values[last / 4].min(median),
            high: values[(3 * last).div_ceil(4)],
            count,
        })
    }
}

impl Middle<Time> {
    /// How far from the median the truth may be: the more repetitions there are, the less. With few of them it is as far as
    /// the quartiles.
    pub fn doubt(self) -> Time {
        let apart = (self.median - self.low).max(self.high - self.median);
        let fewer = (ENOUGH as f64 / self.count as f64).sqrt().min(1.0);
        Time::from_ps((apart.as_ps() as f64 * fewer) as i64)
    }
}

/// Whether two times are not further apart than that.
pub fn is_near(a: Time, b: Time, slack: Time) -> bool {
    (a - b).max(b - a) <= slack
}

/// A time in n parts, to the nearest picosecond.
pub fn share(time: Time, n: i64) -> Time {
    Time::from_ps((time.as_ps() + n / 2).div_euclid(n))
}
