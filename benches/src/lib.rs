//! What the benchmarks share: what was asked for, measurements in a process of their own, and tables.

pub mod child;
pub mod measure;
pub mod table;
