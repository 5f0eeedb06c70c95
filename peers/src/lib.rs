//! Nothing: this package is its benches.
