//! Numbers as text: times in a unit, with separators between thousands.

use loggp::trace::Trace;
use loggp::{MS, NS, PS, Params, SEC, Time, US};
pub use loggp_draw::digits::{count, percent, rough, thousands};

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub name: &'static str,
    pub length: Time,
}

/// Limit of the decimals of a time.
const MOST_DECIMALS: usize = 6;

impl Unit {
    /// Microseconds, which LogP and LogGP use.
    pub const US: Unit = Unit { name: "us", length: US };
    /// Nanoseconds, which LogGPS uses.
    const NS: Unit = Unit { name: "ns", length: NS };

    /// Returns the unit that the papers use for the model of this machine.
    pub fn default_for(params: &Params) -> Unit {
        if params.is_loggp() { Unit::US } else { Unit::NS }
    }

    /// Returns the unit of a time such as `6us`; a bare number counts cycles.
    pub fn from_text(text: &str, cycle: Time) -> Unit {
        let name = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-._".contains(c)).trim();
        let units = [("s", SEC), ("ms", MS), ("us", US), ("ns", NS), ("ps", PS)];
        let unit = units.into_iter().find(|(unit, _)| *unit == name);
        let (name, length) = unit.unwrap_or(("cycles", cycle));
        Unit { name, length }
    }

    /// Returns the unit in which the times of a recorded run were given, or else the one that the papers use.
    pub fn of_trace(trace: &Trace) -> Unit {
        match trace.caption.as_ref().map_or("", |caption| &caption.unit) {
            "" => Unit::default_for(&trace.params),
            name => Unit::from_text(name, trace.params.cycle),
        }
    }

    /// Returns whether the unit is the machine's cycle.
    pub fn is_cycle(&self) -> bool {
        self.name == "cycles"
    }

    /// Returns the number of decimals that show a time exactly, at most `MOST_DECIMALS`.
    pub fn decimals(&self, time: Time) -> usize {
        let length = i128::from(self.length.as_ps());
        let exact = |decimals: &usize| i128::from(time.as_ps()) * 10_i128.pow(*decimals as u32) % length == 0;
        (0..MOST_DECIMALS).find(exact).unwrap_or(MOST_DECIMALS)
    }

    /// Returns a time as a number of units.
    pub fn amount(&self, time: Time) -> f64 {
        time.in_units(self.length)
    }

    /// Returns a time as a number of units, as text with these decimals.
    pub fn number(&self, time: Time, decimals: usize) -> String {
        let scale = 10_i128.pow(decimals as u32);
        let length = i128::from(self.length.as_ps());
        let scaled = (i128::from(time.as_ps().unsigned_abs()) * scale + length / 2) / length;
        let sign = if time < Time::ZERO { "-" } else { "" };
        let whole = thousands(scaled / scale);
        match decimals {
            0 => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{:0decimals$}", scaled % scale),
        }
    }

    /// Returns a time as text with its unit; cycles stand without one.
    pub fn show(&self, time: Time) -> String {
        let number = self.number(time, self.decimals(time));
        if self.is_cycle() { number } else { format!("{number} {}", self.name) }
    }
}

/// Returns a time as text with three digits: `1.25 us`.
pub fn rough_time(time: Time) -> String {
    let units = [Unit { name: "s", length: SEC }, Unit { name: "ms", length: MS }, Unit::US, Unit::NS];
    let unit = units.iter().find(|unit| time >= unit.length).unwrap_or(&Unit::NS);
    format!("{} {}", rough(time.in_units(unit.length)), unit.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_is_read_from_a_time() {
        assert_eq!(Unit::from_text(" 6.5us", US), Unit::US);
        assert_eq!(Unit::from_text("7.63 ns", US), Unit::NS);
        for bare in ["30", "30 cycles", "1cycle"] {
            assert_eq!(Unit::from_text(bare, 25 * NS), Unit { name: "cycles", length: 25 * NS });
        }
    }

    #[test]
    fn times_are_shown_exactly_where_possible() {
        let show = |unit: Unit, ps: i64| unit.show(Time::from_ps(ps));
        assert_eq!(show(Unit::US, 14_200_000), "14.2 us");
        assert_eq!(show(Unit::NS, -12_740), "-12.74 ns");
        assert_eq!(show(Unit::US, 1), "0.000001 us");
        assert_eq!(show(Unit::from_text("1", US), 1_171_000_000), "1,171");
        assert_eq!(show(Unit::from_text("1", 3 * NS), 10_000), "3.333333");
        assert_eq!(Unit::US.number(1999 * US + 999 * NS, 2), "2,000.00");
    }

    #[test]
    fn rough_times_have_three_digits() {
        for (ps, text) in [
            (0, "0 ns"),
            (500, "0.5 ns"),
            (12_000, "12 ns"),
            (1_254_000, "1.25 us"),
            (3 * SEC.as_ps(), "3 s"),
        ] {
            assert_eq!(rough_time(Time::from_ps(ps)), text);
        }
    }

    #[test]
    fn errors_have_a_sign() {
        assert_eq!(percent(0.0), "+0.00%");
        assert_eq!(percent(-0.01234), "-1.23%");
        assert_eq!(percent(123.456), "+12,345.60%");
    }
}
