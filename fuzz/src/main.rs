//! Feeds one of the command's readers, whose name is in `LOGGP_READER`. Before that the inputs of all readers are
//! written to the folder `LOGGP_CORPUS`, if it is set.

#![no_main]
#![allow(non_snake_case)] // L, G and P are the papers' names

#[path = "../../tests/command/readers/mod.rs"]
mod readers;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use readers::InputReader;
use readers::inputs::inputs;

static READER: LazyLock<&InputReader> = LazyLock::new(|| {
    let name = std::env::var("LOGGP_READER").unwrap_or_default();
    readers::find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = readers::READERS.iter().map(|reader| reader.name).collect();
        panic!("LOGGP_READER is {name:?}; give one of {}", names.join(", "))
    })
});

/// Writes the inputs of each reader to a folder of its name.
fn write_corpus() {
    let Some(folder) = std::env::var_os("LOGGP_CORPUS") else { return };
    for InputReader { name, .. } in readers::READERS {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder).unwrap();
        for (number, input) in inputs(name).into_iter().enumerate() {
            fs::write(folder.join(number.to_string()), input).unwrap();
        }
    }
}

fuzz_target!(init: write_corpus(), |bytes: &[u8]| READER.check(bytes));
