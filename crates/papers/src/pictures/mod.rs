//! Pictures of runs and studies.

pub mod curves;
pub mod kinds;
#[cfg(test)]
mod tests;
pub mod timeline;
