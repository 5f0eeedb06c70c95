//! Mathematics that several programs share.

pub mod dense;
pub mod median;
pub mod memory;
pub mod product;
pub mod word;

pub use loggp_predict::trees;
