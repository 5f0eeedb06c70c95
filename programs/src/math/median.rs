//! The median of several values, which ignores a few disturbed ones.

/// Returns the median; the upper one of an even number of values.
pub fn median<T: Ord + Copy>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}
