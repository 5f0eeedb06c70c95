//! The paper's three ways to run the elimination, and how a large one is run in little time.
//!
//! With lengths a quarter as long, bytes that cost four times and flops that cost sixteen times as much, a step of n/4 equations
//! costs what it costs at n, and there are a quarter as many steps. So a run at n/4 takes a quarter of the time. Its record,
//! with all lengths four times as long, is one on Myrinet itself, and can be made again under any other model.

use loggp::{CallKind, Params, SEC, Time, Trace, preset};
use loggp_programs::Case;
use loggp_programs::gauss::{FLOP, GAUSS, longest_message};
use loggp_study::Failed;
use loggp_study::analysis::WhatIf;

use super::platforms::changed;
use crate::{Lab, Series, Sheet, Told};

/// A way to run it.
#[derive(Debug)]
pub struct Code {
    /// What the paper calls it.
    pub name: &'static str,
    /// The algorithm.
    algorithm: &'static str,
    /// The machine's S.
    pub S: usize,
}

/// The columns of tables 7 and 10.
pub const CODES: [Code; 3] = [
    Code { name: "original", algorithm: "whole", S: 16_383 },
    Code { name: "S = 65,536", algorithm: "whole", S: 65_536 },
    Code { name: "fragmented", algorithm: "fragmented", S: 16_383 },
];

/// The sizes of the tables.
pub const SIZES: [usize; 5] = [256, 512, 1024, 2048, 4096];
/// How near to the paper's predictions ours are to come.
pub const SEVEN: (f64, &str) =
    (0.07, "\"within 7% errors\", as section 4.4 calls accurate; the program is another");

/// Myrinet with sixteen processors and this S.
pub fn myrinet(S: usize) -> Params {
    let myrinet = preset("myrinet").expect("the paper's machines are there").builder().build();
    changed(myrinet.expect("it leaves nothing open"), &format!("S={S}"))
}

/// By what a size is divided to run it.
pub fn part(lab: &Lab, n: usize) -> usize {
    lab.pick(n.div_ceil(1024), 1)
}

/// How a row says at what size it was run.
pub fn run_at(lab: &Lab, n: usize) -> String {
    match part(lab, n) {
        1 => format!("n = {n}"),
        part => format!("n = {n}, run at n/{part}"),
    }
}

/// An elimination at n, run at a part of it.
pub fn case(code: &Code, n: usize, part: usize) -> Case {
    let params = myrinet(code.S);
    let gps = params.gps().expect("it is a machine of LogGPS");
    let times = [("O_s", gps.O_s), ("O_r", gps.O_r), ("G_s", gps.G_s), ("G_l", gps.G_l)];
    let times = times.map(|(name, time)| format!("{name}={}ps", part as i64 * time.as_ps())).join(",");
    let params = changed(params, &format!("s={},S={},{times}", gps.s / part, gps.S / part));
    let flop = 10_800 * (part * part) as i64; // 10.8 ns is what it costs unless told
    Case { size: n / part, ..Case::new(&GAUSS, code.algorithm, params) }.with(&FLOP, Time::from_ps(flop))
}

/// Whether the three ways differ: some message is longer than S.
pub fn differ(n: usize) -> bool {
    longest_message(n) > CODES[0].S
}

/// The ways that differ at n, each with its number and its name.
pub fn codes(n: usize) -> impl Iterator<Item = (usize, &'static str)> {
    let name = move |code: &Code| if differ(n) { code.name } else { "all three" };
    CODES.iter().map(name).enumerate().take(if differ(n) { 3 } else { 1 })
}

/// The runs of all sizes and ways.
pub fn series(lab: &Lab) -> Vec<Series> {
    let of = |n: usize| {
        let one = move |(code, name)| {
            Series::one(format!("{}, {name}", run_at(lab, n)), case(&CODES[code], n, part(lab, n)))
        };
        codes(n).map(one).map(Series::traced)
    };
    SIZES.into_iter().flat_map(of).collect()
}

/// A run of a way at n.
pub struct Elimination {
    /// By what its size was divided.
    part: usize,
    /// What it takes at n.
    pub time: Time,
    /// The run, at its size.
    told: Told,
}

impl Elimination {
    /// Of a sheet with these series. Where all three are one, it is that.
    pub fn of(sheet: &Sheet, n: usize, code: usize) -> Elimination {
        let (_, name) = codes(n).nth(if differ(n) { code } else { 0 }).expect("there is one");
        let told = sheet.last(&format!("{}, {name}", run_at(sheet.lab, n))).clone();
        let part = part(sheet.lab, n);
        Elimination { part, time: part as i64 * told.model(), told }
    }

    /// What it takes, in s.
    pub fn seconds(&self) -> f64 {
        self.time.in_units(SEC)
    }

    /// What happened, at the size that was run.
    pub fn trace(&self) -> &Trace {
        self.told.trace()
    }

    /// The bytes of its messages that are longer than S, at n: a part of n has a part of the messages, each with a part of its bytes.
    pub fn long_bytes(&self) -> usize {
        let S = self.trace().params.gps().map_or(usize::MAX, |gps| gps.S);
        let words = self.trace().messages.iter().map(|message| message.words).filter(|words| *words > S);
        words.sum::<usize>() * self.part * self.part
    }

    /// What it would have taken otherwise: the time in s, and what would have happened.
    pub fn if_it_were(&self, what: &str) -> Result<(f64, Trace), Failed> {
        let mut calls = Trace { params: myrinet(CODES[0].S), ..self.trace().clone() };
        for call in &mut calls.calls {
            if let CallKind::Send { bytes, .. } = &mut call.what {
                *bytes *= self.part;
            }
        }
        let again = WhatIf::read(what, calls.params)?.replay(&calls)?;
        let last = again.activities.iter().map(|activity| activity.end).max().unwrap_or(Time::ZERO);
        Ok(((self.part as i64 * last).in_units(SEC), again))
    }
}
