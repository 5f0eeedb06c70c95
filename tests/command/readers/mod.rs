//! Every reader of input from people or other programs that the main house has, and the checks that hold for any input: no
//! panic, memory in proportion to the input, and errors of one sentence that tells the place.
//!
//! The tests below feed every reader its `inputs`, changed at random. `docs/results/make/fuzz` fuzzes the readers from there.

pub(crate) mod inputs;
mod memory;
#[cfg(test)]
mod tests;

use std::io;

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::schedule::{CostModel, Player, Schedule};
use loggp::trace::Trace;
use loggp::{NS, Noise, Order, Params, ParamsBuilder, Time, US};
use loggp_programs::math::dense::entries;
use loggp_programs::{rtt, transportation};
use loggp_study::analysis::{Analysis, WhatIf};
use loggp_study::loggps::RecoveredMachine;
use loggp_study::machine_file::{ParsedMachine, parse_machine};
use loggp_study::pictures::timeline::{Window, timeline_from_trace};
use loggp_study::range::Range;

/// A reader of one kind of input.
pub(crate) struct InputReader {
    /// Name of its input.
    pub name: &'static str,
    /// Reads the input, or returns the error as a sentence.
    read: fn(&[u8]) -> Result<(), String>,
    /// Texts of which every error contains one, since it tells the place.
    places: &'static [&'static str],
    /// Limit of the memory in bytes per byte of input, in addition to `FREE_MEMORY`.
    memory: usize,
}

/// Limit of the characters of an error. The longest one lists all names that are known.
const LONGEST_SENTENCE: usize = 1000;

/// Memory in bytes that any reader may take for any input.
const FREE_MEMORY: usize = 1 << 20;

/// All readers of the main house.
pub(crate) const READERS: &[InputReader] = &[
    reader("parameters", parameters, &[" = ", " is ", " has "], 64),
    reader("times", times, &["it ", "there is no unit"], 64),
    // The error for a quantity that cannot be swept lists all that can.
    reader("ranges", ranges, &["it ", " is ", " has ", " are ", " = ", "range"], 1024),
    reader("changes", changes, &[" = ", " is ", " has ", "model"], 64),
    reader("machines", machines, &[" in it", " at line ", " = ", " is ", " has "], 256),
    reader("matrices", matrices, &["row ", "has no line", "UTF-8"], 64),
    reader("noises", noises, &["line ", "lines ", "it ", "has no length", "detour", "period", "unit"], 64),
    reader("entries", coefficients, &["line ", "lines"], 64),
    reader(
        "trips",
        trips,
        &["line ", "in it", "length", "round trip", "Netgauge", "osu_", "no machine", "all messages"],
        512,
    ),
    reader("schedules", schedules, &["line ", "byte "], 256),
    reader("traces", traces, &["at byte ", " line ", "is empty", "begins"], 1024),
];

pub(crate) const fn reader(
    name: &'static str,
    read: fn(&[u8]) -> Result<(), String>,
    places: &'static [&'static str],
    memory: usize,
) -> InputReader {
    InputReader { name, read, places, memory }
}

impl InputReader {
    /// Reads an input, and panics if a check fails.
    pub(crate) fn check(&self, bytes: &[u8]) {
        let before = memory::start_count();
        let read = (self.read)(bytes);
        let most = memory::peak_since(before);
        if let Err(why) = read {
            assert!(!why.contains(char::is_control), "{}: more than a sentence: {why:?}", self.name);
            assert!(why.chars().count() < LONGEST_SENTENCE, "{}: it quotes too much: {why}", self.name);
            let has_place = self.places.iter().any(|place| why.contains(place));
            assert!(has_place, "{}: it does not say where: {why}", self.name);
        }
        let allowed = FREE_MEMORY + self.memory * bytes.len();
        assert!(most <= allowed, "{}: {} bytes took {most} bytes of memory", self.name, bytes.len());
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

fn with_sentence<T, E: ToString>(read: Result<T, E>) -> Result<T, String> {
    read.map_err(|why| why.to_string())
}

fn parameters(bytes: &[u8]) -> Result<(), String> {
    let params = with_sentence(Params::builder(8).set(text(bytes)).and_then(ParamsBuilder::build))?;
    assert_eq!(ParamsBuilder::from(params).build(), Ok(params));
    Ok(())
}

fn times(bytes: &[u8]) -> Result<(), String> {
    let time = with_sentence(Time::parse(text(bytes), US))?;
    assert_eq!(Time::parse(&format!("{}ps", time.as_ps()), US), Ok(time));
    Ok(())
}

fn ranges(bytes: &[u8]) -> Result<(), String> {
    with_sentence(Range::read(text(bytes), Some(&rtt::RTT), &Params::builder(8).L(6 * US))).map(drop)
}

fn changes(bytes: &[u8]) -> Result<(), String> {
    let params = Params::builder(8).L(6 * US).build().expect("it is one");
    with_sentence(WhatIf::read(text(bytes), params)).map(drop)
}

fn machines(bytes: &[u8]) -> Result<(), String> {
    let ParsedMachine { builder, .. } = parse_machine(bytes, 8)?;
    drop(builder.build());
    Ok(())
}

fn matrices(bytes: &[u8]) -> Result<(), String> {
    with_sentence(transportation::generators::parse("it", &String::from_utf8_lossy(bytes))).map(drop)
}

/// Reads a record or periods. Detours must not overlap.
fn noises(bytes: &[u8]) -> Result<(), String> {
    let noise = with_sentence(
        text(bytes)
            .parse()
            .or_else(|why| Noise::parse_record(text(bytes)).map_err(|no| [why, no]))
            .map_err(|[periods, record]| if text(bytes).contains(':') { periods } else { record }),
    )?;
    let detours = noise.detours(7, Time::ZERO, NS);
    assert!(detours.windows(2).all(|pair| pair[0].1 < pair[1].0), "{detours:?}");
    Ok(())
}

fn coefficients(bytes: &[u8]) -> Result<(), String> {
    entries::parse(&"it", bytes, 4).map(drop)
}

fn trips(bytes: &[u8]) -> Result<(), String> {
    let recovered = with_sentence(RecoveredMachine::read(bytes, Params::builder(2).word(1), US))?;
    if let Some(trips) = &recovered.trips {
        trips.model_errors(&recovered.params);
    }
    Ok(())
}

/// Reads a schedule, which must be playable, and the same after it is written and read again.
fn schedules(bytes: &[u8]) -> Result<(), String> {
    /// Limit of operations and ranks, since larger schedules take too long.
    const MOST: usize = 1 << 10;
    let schedule = with_sentence(loggp_goal::read(bytes, NS))?;
    if schedule.len() > MOST || schedule.ranks() > MOST {
        return Ok(());
    }
    for rules in [CostModel::Papers, CostModel::LogGOPSim] {
        let params = Params::builder(schedule.ranks()).L(6 * US).o(2 * US).g(4 * US).word(1);
        let params = params.build().expect("it is a machine");
        // A deadlock, say, is an error and no panic.
        drop(Player::new(params).rules(rules).run(&schedule));
    }
    for write in [
        |schedule: &Schedule, to: &mut Vec<u8>| loggp_goal::write(schedule, to, NS),
        |schedule: &Schedule, to: &mut Vec<u8>| loggp_goal::write_binary(schedule, to, NS),
    ] {
        let mut written = Vec::new();
        write(&schedule, &mut written).expect("there is room");
        let again = loggp_goal::read(&*written, NS).expect("it was read before");
        for rank in 0..schedule.ranks() {
            assert!(again.operations(rank).eq(schedule.operations(rank)), "rank {rank}");
        }
    }
    Ok(())
}

/// Reads a trace, which everything that takes a trace must be able to process.
fn traces(bytes: &[u8]) -> Result<(), String> {
    const MOST_PROCESSORS: usize = 64;
    let trace = with_sentence(Trace::read(bytes))?;
    drop(audit(&trace));
    drop(Analysis::from_trace(&trace));
    drop(Order::from(&trace));
    drop(timeline_from_trace(&trace, "it", ("us", US), &Window::default()).svg());
    if trace.params.P <= MOST_PROCESSORS {
        if loggp_goal::trace::check(&trace).is_ok() {
            loggp_goal::trace::write(&trace, NS, &mut io::sink()).expect("there is room");
        }
        drop(Replay::new(&trace).trace(true).run());
    }
    let mut written = Vec::new();
    trace.write_compact(&mut written).expect("there is room");
    assert_eq!(Trace::read(&*written).as_ref(), Ok(&trace));
    Ok(())
}
