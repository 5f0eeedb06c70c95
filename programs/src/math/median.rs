//! The middle of several values, which forgets the few that something disturbed.

/// The value in the middle.
pub fn median<T: Ord + Copy>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}
