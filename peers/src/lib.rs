//! This package has only benches.
