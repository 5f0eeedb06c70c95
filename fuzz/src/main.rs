//! Feeds one of the command's readers, whose name is in `LOGGP_READER`.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use loggp_command::readers::{self, InputReader};

static READER: LazyLock<&InputReader> = LazyLock::new(|| {
    let name = std::env::var("LOGGP_READER").unwrap_or_default();
    readers::find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = readers::READERS.iter().map(|reader| reader.name).collect();
        panic!("LOGGP_READER is {name:?}; give one of {}", names.join(", "))
    })
});

fuzz_target!(|bytes: &[u8]| READER.check(bytes));
