//! The paper's three ways to run the elimination, and how a large one is run in little time.
//!
//! With lengths a quarter as long, bytes that cost four times and flops that cost sixteen times as much, a step of n/4 equations
//! costs what it costs at n, and there are a quarter as many steps. So a run at n/4 takes a quarter of the time. Its record,
//! with all lengths four times as long, is one on Myrinet itself, and can be made again under any other model.

use loggp::{CallKind, Params, Time, Trace, preset};

use super::super::Lab;
use super::platforms::changed;
use loggp_programs::Case;
use loggp_programs::gauss::{FLOP, GAUSS, longest_message};
use loggp_study::Failed;
use loggp_study::analysis::WhatIf;

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

/// Why numbers differ that depend on the program.
pub const ANOTHER_PROGRAM: &str = "the paper's program is lost; this one is of its kind, and not that one";

/// Myrinet with sixteen processors and this S.
pub fn myrinet(S: usize) -> Params {
    let myrinet = preset("myrinet").expect("the paper's machines are there").builder().build();
    changed(myrinet.expect("it leaves nothing open"), &format!("S={S}"))
}

/// How large the matrices are, and by what each is divided to run it.
pub fn sizes(lab: &Lab) -> [(usize, usize); 5] {
    lab.pick(
        [(256, 1), (512, 1), (1024, 1), (2048, 2), (4096, 4)],
        [(256, 1), (512, 1), (1024, 1), (2048, 1), (4096, 1)],
    )
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

/// A run of it.
pub struct Elimination {
    /// By what its size was divided.
    pub part: usize,
    /// What it takes at n.
    pub time: Time,
    /// What happened, at the size that was run.
    pub trace: Trace,
}

/// The three ways, or one that all are where no message is longer than S.
pub struct Three(Vec<Elimination>);

impl Three {
    /// Runs them.
    pub fn run(lab: &Lab, n: usize, part: usize) -> Result<Three, Failed> {
        let differ = longest_message(n) > CODES[0].S;
        let codes = if differ { &CODES[..] } else { &CODES[..1] };
        codes.iter().map(|code| Elimination::run(lab, code, n, part)).collect::<Result<_, _>>().map(Three)
    }

    /// One of them.
    pub fn get(&self, code: usize) -> &Elimination {
        self.0.get(code).unwrap_or(&self.0[0])
    }

    /// The codes that differ, each with its number and its name.
    pub fn codes(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let name = |code: &Code| if self.differ() { code.name } else { "all three" };
        CODES.iter().map(name).enumerate().take(self.0.len())
    }

    /// Whether there is a difference.
    pub fn differ(&self) -> bool {
        self.0.len() > 1
    }
}

impl Elimination {
    /// Runs it on the virtual clock.
    fn run(lab: &Lab, code: &Code, n: usize, part: usize) -> Result<Elimination, Failed> {
        let (answers, trace) = lab.traced(case(code, n, part))?;
        let time = answers.prediction.model.expect("the model has run");
        Ok(Elimination { part, time: part as i64 * time, trace })
    }

    /// The same calls with lengths as at n.
    fn calls(&self) -> Trace {
        let mut trace = Trace { params: myrinet(CODES[0].S), ..self.trace.clone() };
        for call in &mut trace.calls {
            if let CallKind::Send { bytes, .. } = &mut call.what {
                *bytes *= self.part;
            }
        }
        trace
    }

    /// What it would have taken otherwise: the time, and what would have happened.
    pub fn if_it_were(&self, what: &str) -> Result<(Time, Trace), Failed> {
        let calls = self.calls();
        let again = WhatIf::read(what, calls.params)?.replay(&calls)?;
        let last = again.activities.iter().map(|activity| activity.end).max().unwrap_or(Time::ZERO);
        Ok((self.part as i64 * last, again))
    }
}
