//! Numbers as text: separators between thousands, and no more digits than are significant.

/// Returns a number with separators between thousands: `1,171,000`.
pub fn thousands(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut apart = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if (digits.len() - i).is_multiple_of(3) && apart.ends_with(|before: char| before.is_ascii_digit()) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

/// Returns a count as text: `1 message`, `2 messages`.
pub fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// Returns a number with three significant digits: `0.25`, `23.8`, `1,280`.
pub fn rough(number: f64) -> String {
    figures(number, 3)
}

/// Returns a number with so many significant digits, and no more than nine decimals.
pub fn figures(number: f64, digits: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let decimals = (digits - 1 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let digits = format!("{number:.decimals$}");
    let Some((whole, fraction)) = digits.split_once('.') else { return thousands(digits) };
    match fraction.trim_end_matches('0') {
        "" => thousands(whole),
        fraction => format!("{}.{fraction}", thousands(whole)),
    }
}

/// Returns a number with as many decimals as it needs, up to three: `14.25`, `1,171`.
pub fn exact(number: f64) -> String {
    let digits = format!("{:.3}", number.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let sign =
        if number < 0.0 && digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { "-" } else { "" };
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{}", thousands(whole)),
        fraction => format!("{sign}{}.{fraction}", thousands(whole)),
    }
}

/// Returns a relative error as per cent with two decimals: `+1.25%`.
pub fn percent(error: f64) -> String {
    let percent = format!("{:+.2}", 100.0 * error);
    let (whole, fraction) = percent.split_once('.').unwrap_or((&percent, "00"));
    let (sign, whole) = whole.split_at(1);
    format!("{sign}{}.{fraction}%", thousands(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, apart) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (10_230_200, "10,230,200"),
            (-800, "-800"),
            (-1000, "-1,000"),
        ] {
            assert_eq!(thousands(number), apart);
        }
    }

    #[test]
    fn exact_numbers_keep_their_decimals() {
        for (number, text) in
            [(0.0, "0"), (-0.0001, "0"), (14.25, "14.25"), (1171.0, "1,171"), (-2000.5, "-2,000.5")]
        {
            assert_eq!(exact(number), text);
        }
    }

    #[test]
    fn rough_numbers_have_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.012_345, "0.0123"),
            (23.756, "23.8"),
            (100.0, "100"),
            (1279.6, "1,280"),
        ] {
            assert_eq!(rough(number), text);
        }
    }
}
