//! Mathematics that several programs share.

#[cfg(feature = "machine")]
pub mod dense;
#[cfg(feature = "machine")]
pub mod median;
#[cfg(feature = "machine")]
pub mod memory;
#[cfg(feature = "machine")]
pub mod product;
#[cfg(feature = "machine")]
pub mod transform;
pub mod trees;
pub mod word;
