//! Calibration of a real machine: o, g, L and G from round trips and floods between processors 0 and 1, through the same calls
//! as programs.
//!
//! LogGP says what a round trip of messages of k bytes takes, 2L + 4o + 2(k-1)G, and that messages follow each other every
//! g + (k-1)G. A real machine sends short and long messages in different ways, so no four numbers are right for all lengths:
//! the fit is over every other length, and what it misses is said of all.

use std::mem::take;
use std::sync::Arc;
use std::time::Instant;

use loggp::{Link, Machine, NS, Params, Proc, RunError, Tag, Time};

use super::calibration::reading::Middle;
use loggp_programs::math::median::median;

/// What was measured with messages of one length.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The length, in bytes.
    pub bytes: usize,
    /// Half of a round trip, and how far from it the truth may be.
    pub way: (Time, Time),
    /// From one message of a flood to the next, and the same.
    pub flood: (Time, Time),
    /// How long the call of a send takes.
    pub call: Time,
    /// Whether the parameters come from it; if not, it shows what they are worth.
    pub fitted: bool,
}

/// A real machine, as LogGP sees it.
#[derive(Clone, Debug)]
pub struct Real {
    /// Its parameters, with words of 8 bytes.
    pub params: Params,
    /// From what they come.
    pub measured: Vec<Measured>,
    /// Whether L came out below 0, and is 0: the end of a send overlaps with the reception.
    pub overlaps: bool,
}

/// Bytes in a word.
const WORD: usize = 8;
/// From so many bytes on a message is a long one.
const LONG: usize = 64 << 10;
/// The longest message.
const LONGEST: usize = 4 << 20;
/// How many messages a flood has, if they are short.
const FLOOD: usize = 64;

/// Messages, and what comes back.
const DATA: Tag<Vec<u8>> = Tag::named(0, "data");
/// All messages of a flood were received.
const DONE: Tag<()> = Tag::named(1, "done");

impl Real {
    /// Measures a machine. All of its processes must call it.
    pub fn study(link: &Arc<dyn Link>) -> Result<Real, RunError> {
        let machine = Machine::new(Params::builder(link.p()).word(WORD).build()?).over(link.clone());
        let lengths =
            || std::iter::successors(Some(WORD), |bytes| Some(2 * bytes)).take_while(|n| *n <= LONGEST);
        let run = machine.run_across(|p| lengths().map(|bytes| experiment(p, bytes)).collect::<Vec<_>>())?;
        let measured = lengths().zip(&run.results[0]).enumerate().map(|(place, (bytes, times))| {
            let spread = |times: &Vec<Time>| {
                let middle = Middle::of(&mut times.clone()).expect("it was measured");
                (middle.median, middle.doubt())
            };
            let [calls, ways, floods] = times;
            Measured {
                bytes,
                way: spread(ways),
                flood: spread(floods),
                call: median(calls),
                fitted: place % 2 == 0,
            }
        });
        Ok(Real::of(measured.collect(), link.p()))
    }

    /// The parameters that explain the times of those lengths that are fitted.
    fn of(measured: Vec<Measured>, P: usize) -> Real {
        let short = measured[0];
        // What a word takes on the way: of each long message by itself, since none is like another.
        let word = |it: &Measured| (it.way.0 - short.way.0) / (it.bytes / WORD - 1) as i64;
        let long = measured.iter().filter(|it| it.fitted && it.bytes >= LONG);
        let words: Vec<Time> = long.map(|it| word(it).max(Time::ZERO)).collect();
        let o = short.call;
        let L = short.way.0 - 2 * o;
        let params =
            Params::builder(P).word(WORD).L(L.max(Time::ZERO)).o(o).g(short.flood.0).G(median(&words));
        let params = params.build().expect("no time is below 0");
        Real { params, measured, overlaps: L < Time::ZERO }
    }

    /// What the parameters say of messages of so many bytes: of half a round trip, and of a flood.
    pub fn predicted(&self, bytes: usize) -> (Time, Time) {
        let Params { L, o, g, .. } = self.params;
        let k = self.params.words(bytes);
        (L + 2 * o + self.params.stream(k), g.max(o) + self.params.stream(k))
    }
}

/// What processor 0 measures with messages of so many bytes: calls of sends, halves of round trips, and steps of floods.
fn experiment(p: &mut Proc, bytes: usize) -> [Vec<Time>; 3] {
    /// The first messages find everything cold, and do not count.
    const COLD: usize = 10;
    let repeats = COLD + if bytes < LONG { 201 } else { 25 };
    let messages = (FLOOD * LONG / bytes.max(LONG)).max(2);
    let since = |start: Instant| start.elapsed().as_nanos() as i64 * NS;
    let [mut calls, mut ways, mut floods] = [const { Vec::new() }; 3];
    let mut data = vec![1; bytes];
    p.barrier();
    for repeat in 0..repeats {
        match p.id() {
            0 => {
                let start = Instant::now();
                p.send(1, DATA, take(&mut data));
                let call = since(start);
                data = p.recv_from(1, DATA);
                if repeat >= COLD {
                    calls.push(call);
                    ways.push(since(start) / 2);
                }
            }
            1 => {
                let data = p.recv_from(0, DATA);
                p.send(0, DATA, data);
            }
            _ => (),
        }
    }
    for repeat in 0..repeats {
        match p.id() {
            0 => {
                let flood = vec![data.clone(); messages];
                let start = Instant::now();
                flood.into_iter().for_each(|data| p.send(1, DATA, data));
                p.recv_from(1, DONE);
                if repeat >= COLD {
                    floods.push(since(start) / messages as i64);
                }
            }
            1 => {
                (0..messages).for_each(|_| drop(p.recv_from(0, DATA)));
                p.send(0, DONE, ());
            }
            _ => (),
        }
    }
    [calls, ways, floods]
}
