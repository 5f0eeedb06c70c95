//! The machine of `--machine FILE`.

use std::path::{Path, is_separator};

use loggp::{ParamsBuilder, Ports, Protocol};
use loggp_study::machine_file::{LevelDraft, ParsedMachine, parse_machine};

use crate::error::CliError;
use crate::host::source::{is_there, read_source};

/// A machine as far as a file or the options describe it: parameters may still be open.
#[derive(Clone)]
pub struct PartialMachine {
    /// Name of the machine, if it has one.
    pub name: Option<&'static str>,
    pub builder: ParamsBuilder,
    /// The ports that its file gives.
    pub ports: Option<Ports>,
    /// The protocol of long messages that its file gives.
    pub rendezvous: Option<Protocol>,
    /// The levels that its file gives.
    pub levels: Vec<LevelDraft>,
    /// The names of the parameters that nobody gave, and that are 0; or `machine`, if nobody named one.
    pub assumed: Vec<&'static str>,
}

/// Limit of the bytes in a file.
const LONGEST: u64 = 1 << 20;

/// Returns whether the value of `--machine` names a file.
pub fn is_file_name(text: &str) -> bool {
    text.contains(is_separator) || text.ends_with(".json") || is_there(Path::new(text))
}

/// Reads the machine of `--machine`. It has `P` processors unless the file gives another number. Its name is
/// that in the file, or else the file's own without its ending.
pub fn read(path: &str, P: usize) -> Result<PartialMachine, CliError> {
    let read = read_file(Path::new(path), P);
    let ParsedMachine { name, builder, ports, rendezvous, levels } =
        read.map_err(|why| CliError::Request(format!("--machine {path}: {why}")))?;
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or(stem).unwrap_or_default();
    // A command reads one machine, so the leak is bounded.
    let (name, assumed) = (Some(&*name.leak()), Vec::new());
    Ok(PartialMachine { name, builder, ports, rendezvous, levels, assumed })
}

/// Reads a machine's file.
pub fn read_file(path: &Path, P: usize) -> Result<ParsedMachine, String> {
    parse_machine(&read_source(path, LONGEST, ", and no machine is")?, P)
}
