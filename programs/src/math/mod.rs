//! What several programs compute.

pub mod dense;
pub mod median;
pub mod memory;
pub mod product;
pub mod transform;
pub mod trees;
pub mod word;
