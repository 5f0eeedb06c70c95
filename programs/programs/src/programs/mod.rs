//! The programs.

pub mod all_to_all_broadcast;
pub mod broadcast;
pub mod combining;
pub mod fft;
pub mod gauss;
pub mod lu;
pub mod message;
pub mod radix_sort;
pub mod remap;
pub mod rtt;
pub mod scatter;
pub mod stress;
pub mod summation;
pub mod transportation;

use crate::Program;

/// All programs, in the order in which the papers have them.
pub static PROGRAMS: &[&Program] = &[
    &broadcast::BROADCAST,
    &summation::SUMMATION,
    &all_to_all_broadcast::ALL_TO_ALL_BROADCAST,
    &combining::COMBINING,
    &scatter::SCATTER,
    &remap::REMAP,
    &fft::FFT,
    &radix_sort::RADIX_SORT,
    &lu::LU,
    &gauss::GAUSS,
    &transportation::TRANSPORTATION,
    &rtt::RTT,
    &message::MESSAGE,
    &stress::STRESS,
];
