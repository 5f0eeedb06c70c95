//! The clocks of ranks: ticks become nanoseconds of one clock for all.

/// By how much a rank's clock is to be corrected.
#[derive(Clone, Debug, Default)]
pub(super) struct ClockCorrection {
    /// The time from which all is counted.
    pub origin: i64,
    /// At which times of the own clock it was how much behind that of rank 0.
    pub offsets: Vec<(i64, i64)>,
}

impl ClockCorrection {
    /// Returns a time on the clock of all ranks: the offset is that of a line through the first and the last
    /// measurement.
    pub(super) fn correct(&self, ns: i64) -> i64 {
        let offset = match (self.offsets.first(), self.offsets.last()) {
            (Some(&(from, before)), Some(&(to, after))) if to > from => {
                let share = ns.saturating_sub(from) as f64 / to.saturating_sub(from) as f64;
                before.saturating_add((share * after.saturating_sub(before) as f64) as i64)
            }
            (Some(&(_, offset)), _) => offset,
            _ => 0,
        };
        ns.saturating_add(offset).saturating_sub(self.origin)
    }
}

/// How ticks become nanoseconds: within a block between the two times at which both clocks were read, and before
/// it by the rate since the recording began.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockClock {
    ticks: u64,
    ns: i64,
    rate: f64,
    rate_before: f64,
}

impl BlockClock {
    pub(super) fn new(
        clock: &ClockCorrection,
        header: (u64, i64),
        begin: (u64, i64),
        end: (u64, i64),
    ) -> Self {
        let rate = |from: (u64, i64), to: (u64, i64)| {
            let ticks = to.0.wrapping_sub(from.0) as i64;
            (ticks > 0)
                .then(|| clock.correct(to.1).saturating_sub(clock.correct(from.1)) as f64 / ticks as f64)
        };
        let within = rate(begin, end).or_else(|| rate(header, end)).unwrap_or(1.0).max(0.0);
        let before = rate(header, begin).unwrap_or(within).max(0.0);
        BlockClock { ticks: begin.0, ns: clock.correct(begin.1), rate: within, rate_before: before }
    }

    #[inline]
    pub(super) fn ns(&self, ticks: u64) -> i64 {
        let ticks = ticks.wrapping_sub(self.ticks) as i64;
        let rate = if ticks < 0 { self.rate_before } else { self.rate };
        self.ns.saturating_add((ticks as f64 * rate) as i64)
    }

    #[inline]
    pub(super) fn length(&self, ticks: u64) -> i64 {
        (ticks as f64 * self.rate) as i64
    }
}
