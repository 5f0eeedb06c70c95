//! Everything here that reads what people or other programs wrote, and what must hold whatever that is: no panic, no more
//! memory than some times what was read, and an error in one sentence that says where it is.
//!
//! The tests below give every reader the files of `fuzz/corpus`, changed at random. `.ci/fuzz` looks for files that are worse.

use std::cell::Cell;
use std::io;

use loggp::{
    NS, Noise, Order, Params, ParamsBuilder, Player, Replay, Rules, Schedule, Time, Trace, US, audit,
};
use loggp_goal::mpi::{self, Mpi};
use loggp_papers::pictures::timeline::{Window, of_trace};
use loggp_programs::math::dense::entries;
use loggp_programs::{rtt, transportation};
use loggp_study::analysis::{Analysis, WhatIf};
use loggp_study::loggps::Recovered;
use loggp_study::range::Range;

use super::{machine_file, trace2goal};

/// Something that reads.
pub struct Reader {
    /// What it reads, and the folder of its corpus.
    pub name: &'static str,
    /// Reads this; or says in a sentence why it is not what it should be.
    read: fn(&[u8]) -> Result<(), String>,
    /// The parts of which each of its errors has one: they say where it is.
    places: &'static [&'static str],
    /// So many times what is read it may take of memory, beside some that it takes for anything.
    memory: usize,
}

/// The length of the longest sentence, which lists all names that are known.
const LONG: usize = 1000;

/// What any reader may take, however little it reads.
const FREE: usize = 1 << 20;

/// All of them.
pub const READERS: &[Reader] = &[
    Reader { name: "parameters", read: parameters, places: &[" = ", " is ", " has "], memory: 64 },
    Reader { name: "times", read: times, places: &["it ", "there is no unit"], memory: 64 },
    // A name that cannot be swept is answered with all that can.
    Reader {
        name: "ranges",
        read: ranges,
        places: &["it ", " is ", " has ", " are ", " = ", "range"],
        memory: 1024,
    },
    Reader { name: "changes", read: changes, places: &[" = ", " is ", " has ", "model"], memory: 64 },
    Reader {
        name: "machines",
        read: machines,
        places: &[" in it", " at line ", " = ", " is ", " has "],
        memory: 256,
    },
    Reader { name: "matrices", read: matrices, places: &["row ", "has no line", "UTF-8"], memory: 64 },
    Reader {
        name: "noises",
        read: noises,
        places: &["line ", "lines ", "it ", "has no length", "detour", "period", "unit"],
        memory: 64,
    },
    Reader { name: "entries", read: coefficients, places: &["line ", "lines"], memory: 64 },
    Reader {
        name: "trips",
        read: trips,
        places: &["line ", "in it", "length", "round trip", "Netgauge", "osu_", "no machine", "all messages"],
        memory: 512,
    },
    // A line may be a message to everybody.
    Reader { name: "calls", read: calls, places: &["rank ", "ranks"], memory: 1 << 13 },
    Reader { name: "schedules", read: schedules, places: &["line ", "byte "], memory: 256 },
    Reader {
        name: "traces",
        read: traces,
        places: &["at byte ", " line ", "is empty", "begins"],
        memory: 1024,
    },
];

/// The reader of a corpus.
pub fn named(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}

impl Reader {
    /// Reads something, and panics where that goes other than it may.
    pub fn hold(&self, bytes: &[u8]) {
        let before = begin();
        let read = (self.read)(bytes);
        let most = most_since(before);
        if let Err(why) = read {
            assert!(!why.contains(char::is_control), "{}: more than a sentence: {why:?}", self.name);
            assert!(why.chars().count() < LONG, "{}: it quotes too much: {why}", self.name);
            let has_place = self.places.iter().any(|place| why.contains(place));
            assert!(has_place, "{}: it does not say where: {why}", self.name);
        }
        let allowed = FREE + self.memory * bytes.len();
        assert!(most <= allowed, "{}: {} bytes took {most} bytes of memory", self.name, bytes.len());
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

fn said<T, E: ToString>(read: Result<T, E>) -> Result<T, String> {
    read.map_err(|why| why.to_string())
}

fn parameters(bytes: &[u8]) -> Result<(), String> {
    let params = said(Params::builder(8).set(text(bytes)).and_then(ParamsBuilder::build))?;
    assert_eq!(ParamsBuilder::from(params).build(), Ok(params));
    Ok(())
}

fn times(bytes: &[u8]) -> Result<(), String> {
    let time = said(Time::parse(text(bytes), US))?;
    assert_eq!(Time::parse(&format!("{}ps", time.as_ps()), US), Ok(time));
    Ok(())
}

fn ranges(bytes: &[u8]) -> Result<(), String> {
    said(Range::read(text(bytes), Some(&rtt::RTT), &Params::builder(8).L(6 * US))).map(drop)
}

fn changes(bytes: &[u8]) -> Result<(), String> {
    let params = Params::builder(8).L(6 * US).build().expect("it is one");
    said(WhatIf::read(text(bytes), params)).map(drop)
}

fn machines(bytes: &[u8]) -> Result<(), String> {
    let (_, builder, ..) = machine_file::machine(bytes, 8)?;
    drop(builder.build());
    Ok(())
}

fn matrices(bytes: &[u8]) -> Result<(), String> {
    said(transportation::source::parse("it", &String::from_utf8_lossy(bytes))).map(drop)
}

/// A record or periods; what is read lengthens work by its detours, and by no more.
fn noises(bytes: &[u8]) -> Result<(), String> {
    let noise = said(
        text(bytes)
            .parse()
            .or_else(|why| Noise::read(text(bytes)).map_err(|no| [why, no]))
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
    let recovered = said(Recovered::read(bytes, Params::builder(2).word(1), US))?;
    if let Some(trips) = &recovered.trips {
        trips.misses(&recovered.params);
    }
    Ok(())
}

/// A schedule that can be read is played too, and is the same when it is written.
/// The traces of ranks stand one behind the other, with form feeds between them.
fn calls(bytes: &[u8]) -> Result<(), String> {
    let ranks: Vec<&[u8]> = bytes.split(|byte| *byte == 0x0c).collect();
    let schedule = said(mpi::read(ranks.iter().map(|rank| Ok(*rank)), Mpi::default(), NS))?;
    assert_eq!(schedule.ranks(), ranks.len());
    Ok(())
}

fn schedules(bytes: &[u8]) -> Result<(), String> {
    /// More takes too long to try often.
    const MOST: usize = 1 << 10;
    let schedule = said(loggp_goal::read(bytes, NS))?;
    if schedule.len() > MOST || schedule.ranks() > MOST {
        return Ok(());
    }
    for rules in [Rules::Papers, Rules::LogGOPSim] {
        let params = Params::builder(schedule.ranks()).L(6 * US).o(2 * US).g(4 * US).word(1);
        let params = params.build().expect("it is a machine");
        // What is no machine's, or ends in a deadlock, is told in an error.
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

/// Whatever a trace says that can be read, all who take one must get along with it.
fn traces(bytes: &[u8]) -> Result<(), String> {
    const MOST_PROCESSORS: usize = 64;
    let trace = said(Trace::read(bytes))?;
    drop(audit(&trace));
    drop(Analysis::of(&trace));
    drop(Order::of(&trace));
    drop(of_trace(&trace, "it", ("us", US), &Window::default()).svg());
    if trace.params.P <= MOST_PROCESSORS {
        if trace2goal::check(&trace).is_ok() {
            trace2goal::convert(&trace, NS, &mut io::sink()).expect("there is room");
        }
        drop(Replay::of(&trace).trace(true).run());
    }
    let mut written = Vec::new();
    trace.write_compact(&mut written).expect("there is room");
    assert_eq!(Trace::read(&*written).as_ref(), Ok(&trace));
    Ok(())
}

thread_local! {
    /// How many bytes this thread has asked for and not given back, and the most there were.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// Notes that this thread has so many bytes more, or fewer.
pub fn count(more: isize) {
    // A thread that ends counts nothing.
    _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

/// Begins to count, at what there is now.
fn begin() -> isize {
    let (now, _) = HELD.get();
    HELD.set((now, now));
    now
}

/// The most there has been since, more than there was.
fn most_since(before: isize) -> usize {
    let (_, most) = HELD.get();
    (most - before).unsigned_abs()
}

#[cfg(test)]
mod tests;
