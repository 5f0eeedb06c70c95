//! The machine in a browser: a page asks, and this answers.
//!
//! `README.md` has the contract. An algorithm is a schedule: a program's own steps, a pattern of GOAL's, or the
//! record of a run. The library's player plays it, by the rules of the machine.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod algorithm;
mod answer;
mod catalog;
mod crossover;
#[cfg(target_arch = "wasm32")]
mod exports; // elsewhere `free` would replace that of the C library
mod file;
mod json;
mod map;
mod play;
mod recorded_trace;
mod recording;
mod request;
mod run;
mod timeline;

pub use answer::{NumberColumn, PageAnswer};

use request::PageRequest;

/// Answers a request: its lines, and behind an empty one the bytes of a file, if it has one.
pub fn answer(request: &[u8]) -> PageAnswer {
    let end = request.windows(2).position(|two| two == b"\n\n").unwrap_or(request.len());
    let (lines, file) = request.split_at(end);
    answer_lines(lines, file.get(2..).unwrap_or_default()).unwrap_or_else(PageAnswer::error)
}

fn answer_lines(lines: &[u8], file: &[u8]) -> Result<PageAnswer, String> {
    let request = PageRequest::read(&String::from_utf8_lossy(lines))?;
    match &*request.what {
        "catalog" => Ok(catalog::answer()),
        "run" => run::answer(&request),
        "crossover" => crossover::answer(&request),
        "map" => map::answer(&request),
        "tree" => run::tree(&request),
        "command" => run::command(&request),
        "goal" => run::goal(&request),
        "timeline" => timeline::answer(&request),
        "script" => timeline::script(&request),
        "open" => open(&request, file),
        other => Err(format!(
            "there is nothing to do by the name {other}; ask for catalog, run, crossover, map, tree, command, goal, timeline, script or open"
        )),
    }
}

/// Opens a file, and returns the answer to `run` for it.
fn open(request: &PageRequest, bytes: &[u8]) -> Result<PageAnswer, String> {
    let opened = file::open(request, bytes)?;
    let mut answer = run::answer(&PageRequest { algorithm: "file".into(), ..request.clone() })?;
    answer.set("file", opened);
    Ok(answer)
}
