//! Common parts of the benchmarks: command line, measurements in a process of their own, and tables.

pub mod child;
pub mod measure;
pub mod table;
