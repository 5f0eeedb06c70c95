//! Feeds one of the command's readers, or that of MPI traces, whose name is in `LOGGP_READER`. Before that the inputs of all
//! readers are written to the folder `LOGGP_CORPUS`, if it is set.

#![no_main]
#![allow(non_snake_case)] // L, G and P are the papers' names

#[path = "../../tests/command/readers/mod.rs"]
mod readers;
#[path = "../../mpi/recordings/tests/recordings/traces.rs"]
mod traces;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use readers::inputs::inputs;
use readers::{InputReader, READERS, reader};

/// The reader of MPI traces. A line of theirs may be a message to every rank.
static CALLS: InputReader = reader("calls", traces::read, &["rank ", "ranks"], 1 << 13);

static READER: LazyLock<&InputReader> = LazyLock::new(|| {
    let name = std::env::var("LOGGP_READER").unwrap_or_default();
    all().find(|reader| reader.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = all().map(|reader| reader.name).collect();
        panic!("LOGGP_READER is {name:?}; give one of {}", names.join(", "))
    })
});

fn all() -> impl Iterator<Item = &'static InputReader> {
    READERS.iter().chain([&CALLS])
}

/// Writes the inputs of each reader to a folder of its name.
fn write_corpus() {
    let Some(folder) = std::env::var_os("LOGGP_CORPUS") else { return };
    for InputReader { name, .. } in all() {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder).unwrap();
        let inputs = if *name == CALLS.name { traces::inputs() } else { inputs(name) };
        for (number, input) in inputs.into_iter().enumerate() {
            fs::write(folder.join(number.to_string()), input).unwrap();
        }
    }
}

fuzz_target!(init: write_corpus(), |bytes: &[u8]| READER.check(bytes));
