//! Feeds one of the command's readers, whose name is in `LOGGP_READER`.

#![no_main]

use std::sync::LazyLock;

use command::readers::{self, Reader};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)] // it is the whole command
#[path = "../../crates/cli/src/main.rs"]
mod command;

static READER: LazyLock<&Reader> = LazyLock::new(|| {
    let name = std::env::var("LOGGP_READER").unwrap_or_default();
    readers::named(&name).unwrap_or_else(|| {
        let names: Vec<&str> = readers::READERS.iter().map(|reader| reader.name).collect();
        panic!("LOGGP_READER is {name:?}; give one of {}", names.join(", "))
    })
});

fuzz_target!(|bytes: &[u8]| READER.hold(bytes));
