//! Pictures of runs and studies.

pub mod curves;
pub mod styles;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod tree;
