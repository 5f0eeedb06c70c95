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
