//! Verification of the transform by rustfft's transform of the whole input, and by its inverse.

use super::kernels::FftPoint;
use loggp_fourier::{forward, inverse};

/// Largest error of a point, relative to the largest point.
const TOLERANCE: f64 = 1e-10;

/// Compares a transform with rustfft's transform of the input, and its inverse with the input. Both are in
/// natural order.
pub(super) fn verify(mut input: Vec<FftPoint>, mut transform: Vec<FftPoint>) -> Result<(), String> {
    let n = input.len();
    let mut reference = input.clone();
    forward(n).process(&mut reference);
    compare(&transform, &reference, "the transform", "rustfft's of the whole input")?;
    drop(reference);
    inverse(n).process(&mut transform);
    input.iter_mut().for_each(|point| *point *= n as f64);
    compare(&transform, &input, "the inverse of the transform", "the input")
}

/// Refuses a point that differs by more than the tolerance; NaN differs.
fn compare(points: &[FftPoint], expected: &[FftPoint], what: &str, other: &str) -> Result<(), String> {
    if points.len() != expected.len() {
        return Err(format!("{what} has {} points, and {other} has {}", points.len(), expected.len()));
    }
    let largest = expected.iter().map(|point| point.norm()).fold(0.0, f64::max);
    let wrong = |(point, expected): (&FftPoint, &FftPoint)| {
        let off = (point - expected).norm();
        off.is_nan() || off > TOLERANCE * largest
    };
    match points.iter().zip(expected).position(wrong) {
        None => Ok(()),
        Some(k) => Err(format!("point {k} of {what} is {}, and {} in {other}", points[k], expected[k])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fft::random;

    #[test]
    fn verification_notices_a_wrong_point() {
        let input = random(64, 1);
        let mut right = input.clone();
        forward(64).process(&mut right);
        assert_eq!(verify(input.clone(), right.clone()), Ok(()));
        let mut off = right.clone();
        off[5].im += 1e-8;
        let mut swapped = right.clone();
        swapped.swap(8, 5);
        let mut none = right.clone();
        none[5].re = f64::NAN;
        for wrong in [off, swapped, none] {
            let refusal = verify(input.clone(), wrong).unwrap_err();
            assert!(refusal.starts_with("point 5 of the transform is"), "{refusal}");
        }
        assert!(verify(input, right[..63].to_vec()).unwrap_err().contains("63 points"));
    }
}
