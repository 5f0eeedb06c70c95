//! A ring of processors that pass words on many times: `.ci/speed` counts what a message costs.
//!
//! `cargo run --release --example messages -- 1024 300` has 1,024 processors, which pass 300 words on each.

use std::fs;
use std::time::Instant;

use loggp::{Machine, Params, RunError, Tag, US};

/// A word, to which each processor adds 1.
const WORD: Tag<u64> = Tag::named(0, "word");

pub fn main() -> Result<(), RunError> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let (processors, times) = (numbers.next().unwrap_or(64), numbers.next().unwrap_or(100));
    let machine = Machine::new(Params::builder(processors).L(6 * US).o(2 * US).g(4 * US).build()?);

    let (before, started) = (resident_bytes("VmRSS:"), Instant::now());
    let run = machine.run(|p| {
        let next = (p.id() + 1) % processors;
        (0..times).fold(0, |word, _| {
            p.send(next, WORD, word);
            p.recv(WORD) + 1
        })
    })?;
    let rate = (processors * times) as f64 / started.elapsed().as_secs_f64() / 1e6;
    let bytes =
        resident_bytes("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before) / processors);
    let bytes = bytes.map_or("unknown".into(), |bytes| bytes.to_string());
    println!("{} messages take {}", processors * times, run.time);
    println!("a second has {rate:.1} million of them; bytes of a processor: {bytes}");

    assert!(run.results.iter().all(|word| *word == times as u64));
    Ok(())
}

/// Returns a number of bytes from `/proc/self/status`, or `None` where the host has none.
fn resident_bytes(what: &str) -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib << 10)
}
