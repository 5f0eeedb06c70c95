//! Pictures of what runs and studies found.

pub mod curves;
pub mod kinds;
#[cfg(test)]
mod tests;
pub mod timeline;
