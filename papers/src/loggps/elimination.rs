//! The paper's three codes of the elimination, and how a large one is run in little time.
//!
//! The paper's program is lost. Two stand for it here. The one that is judged sends messages as long and as
//! many as the paper says; the other stands beside it.
//!
//! With lengths a quarter as long, bytes that cost four times and flops that cost sixteen times as much, a
//! step of n/4 equations costs what it costs at n, and there are a quarter as many steps. So a run at n/4
//! takes a quarter of the time. Its record with all lengths four times as long is a record of Myrinet itself,
//! and can be replayed under any other model.

use loggp::trace::CallKind;
use loggp_programs::gauss::{FLOP, GAUSS, longest_message};
use loggp_study::analysis::WhatIf;

use super::platforms::with_changes;
use crate::Verdict;
use crate::prelude::*;

/// A program that stands for the paper's.
#[derive(Clone, Copy, Debug)]
pub(super) struct EliminationProgram {
    /// Its algorithm, which names the program.
    pub name: &'static str,
    fragmented: &'static str,
    /// True if the paper's numbers are judged with it. The other is always run at the usual sizes.
    is_judged: bool,
}

/// The program that is judged: four processors share a block of rows.
pub(super) const SHARED: EliminationProgram =
    EliminationProgram { name: "shared", fragmented: "shared-fragmented", is_judged: true };
/// The program beside it: each block has an owner, who sends it to all others.
pub(super) const WHOLE: EliminationProgram =
    EliminationProgram { name: "whole", fragmented: "fragmented", is_judged: false };
/// Both.
pub(super) const PROGRAMS: [EliminationProgram; 2] = [SHARED, WHOLE];

/// A code of the elimination.
#[derive(Debug)]
pub(super) struct CodeVariant {
    /// Name in the paper.
    pub name: &'static str,
    is_fragmented: bool,
    /// S of the machine.
    pub S: usize,
}

/// Columns of tables 7 and 10.
pub(super) const CODES: [CodeVariant; 3] = [
    CodeVariant { name: "original", is_fragmented: false, S: 16_383 },
    CodeVariant { name: "S = 65,536", is_fragmented: false, S: 65_536 },
    CodeVariant { name: "fragmented", is_fragmented: true, S: 16_383 },
];

/// Sizes of the tables.
pub(super) const SIZES: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// A run as tables 7 and 10 print it.
pub(super) struct PrintedRun {
    pub n: usize,
    /// Number of its code.
    pub code: usize,
    /// Measured time in s.
    pub measured: &'static str,
    /// Predicted time in s and its error in %, by LogGPS, LogGP-1 and LogGP-2.
    pub predicted: [(&'static str, &'static str); 3],
}

/// The runs by code and size. Up to n = 1024 all codes have the same times.
pub(super) const PRINTED: [PrintedRun; 9] = [
    printed(256, 0, "0.047", [("0.050", "6.4"), ("0.069", "46.8"), ("0.043", "-8.5")]),
    printed(512, 0, "0.121", [("0.128", "5.8"), ("0.165", "36.4"), ("0.110", "-9.1")]),
    printed(1024, 0, "0.612", [("0.592", "-3.3"), ("0.668", "9.2"), ("0.551", "-10.0")]),
    printed(2048, 0, "7.668", [("7.600", "-0.9"), ("4.528", "-37.4"), ("7.486", "-2.4")]),
    printed(4096, 0, "62.038", [("62.188", "0.2"), ("33.805", "-45.6"), ("61.591", "-0.7")]),
    printed(2048, 1, "4.403", [("4.328", "-1.7"), ("4.528", "8.9"), ("4.225", "-4.0")]),
    printed(4096, 1, "35.902", [("33.200", "-7.5"), ("33.805", "-5.8"), ("32.764", "-8.7")]),
    printed(2048, 2, "4.512", [("4.401", "-2.5"), ("4.609", "2.1"), ("4.284", "-5.0")]),
    printed(4096, 2, "43.795", [("39.571", "-9.6"), ("40.170", "-8.3"), ("39.129", "-10.7")]),
];

const fn printed(
    n: usize,
    code: usize,
    measured: &'static str,
    predicted: [(&'static str, &'static str); 3],
) -> PrintedRun {
    PrintedRun { n, code, measured, predicted }
}

impl PrintedRun {
    /// Returns the run of one of the codes that differ at n.
    pub(super) fn of(n: usize, code: usize) -> &'static PrintedRun {
        PRINTED.iter().find(|run| (run.n, run.code) == (n, code)).expect("both tables have it")
    }

    /// Computes the error of a prediction in % from the printed times.
    pub(super) fn error(&self, model: usize) -> f64 {
        100.0 * (number(self.predicted[model].0) / number(self.measured) - 1.0)
    }

    /// Returns whether the printed error can be that of the times before they were rounded.
    fn is_error_possible(&self, model: usize) -> bool {
        let (predicted, error) = self.predicted[model];
        let ratio = |half: f64| (number(predicted) + half) / (number(self.measured) - half);
        let error_of = |half: f64| 100.0 * (ratio(half) - 1.0);
        let (least, most) = (error_of(-0.0005), error_of(0.0005));
        (least - 0.05..=most + 0.05).contains(&number(error))
    }

    /// Returns how many times more the tables print it: up to n = 1024 they do so for each code.
    pub(super) fn repeats(&self) -> usize {
        if has_different_codes(self.n) { 0 } else { CODES.len() - 1 }
    }
}

/// Adds a row for printed errors of predictions by a model, which are arithmetic on the printed times. Agreement
/// asks for what the rounding of the times leaves.
pub(super) fn add_errors<'s>(
    sheet: &'s mut Sheet,
    (what, place): (&str, &str),
    runs: &[(usize, &PrintedRun)],
) -> &'s mut ExhibitRow {
    let printed = join_words(runs.iter().map(|(model, run)| run.predicted[*model].1));
    let ours = join_words(runs.iter().map(|(model, run)| format!("{:.1}", run.error(*model))));
    let row = sheet.add_text(what, place, &printed, ours);
    (row.numbers, row.repeats) = (runs.len(), runs.iter().map(|(_, run)| run.repeats()).sum());
    row.rule = "each as the printed times, which are rounded to 1 ms, allow it".into();
    if row.verdict == Verdict::Differs && runs.iter().all(|(model, run)| run.is_error_possible(*model)) {
        (row.verdict, row.as_expected) = (Verdict::Within, true);
    }
    row.by_arithmetic()
}

/// Why a number says nothing of our program.
pub(super) const MADE_FOR: &str = "our program was made to send such messages";

/// Parses a number of the tables.
pub(super) fn number(text: &str) -> f64 {
    text.parse().expect("the tables have numbers")
}

/// Tolerance of our predictions against the paper's, and its reason.
pub(super) const WITHIN_7_PERCENT: (f64, &str) =
    (0.07, "\"within 7% errors\", as section 4.4 calls accurate; the program is another");

/// Returns Myrinet with sixteen processors and this S.
pub(super) fn myrinet(S: usize) -> Params {
    with_changes(preset_machine("myrinet", 16), &format!("S={S}"))
}

/// Returns the number by which a size is divided to run it with a program.
pub(super) fn size_divisor(lab: &Lab, program: EliminationProgram, n: usize) -> usize {
    if lab.full && program.is_judged { 1 } else { n.div_ceil(1024) }
}

/// Writes the size of a run with the program that is judged.
pub(super) fn size_text(lab: &Lab, n: usize) -> String {
    match size_divisor(lab, SHARED, n) {
        1 => format!("n = {n}"),
        divisor => format!("n = {n}, run at n/{divisor}"),
    }
}

/// Returns the name of a run's series.
fn series_name(lab: &Lab, program: EliminationProgram, n: usize, code: &str) -> String {
    match size_divisor(lab, program, n) {
        1 => format!("{}, n = {n}, {code}", program.name),
        divisor => format!("{}, n = {n}, run at n/{divisor}, {code}", program.name),
    }
}

/// Returns the case of an elimination at n, run at n/divisor.
pub(super) fn case(program: EliminationProgram, code: &CodeVariant, n: usize, divisor: usize) -> Case {
    let params = myrinet(code.S);
    let gps = params.gps().expect("it is a machine of LogGPS");
    let times = [("O_s", gps.O_s), ("O_r", gps.O_r), ("G_s", gps.G_s), ("G_l", gps.G_l)];
    let times = times.map(|(name, time)| format!("{name}={}ps", divisor as i64 * time.as_ps())).join(",");
    let params = with_changes(params, &format!("s={},S={},{times}", gps.s / divisor, gps.S / divisor));
    let flop = 10_800 * (divisor * divisor) as i64; // the default is 10.8 ns
    let algorithm = if code.is_fragmented { program.fragmented } else { program.name };
    Case { size: n / divisor, ..Case::new(&GAUSS, algorithm, params) }.with(&FLOP, Time::from_ps(flop))
}

/// Returns whether the three codes differ: some message is longer than S.
pub(super) fn has_different_codes(n: usize) -> bool {
    longest_message(n) > CODES[0].S
}

/// Returns the codes that differ at n, each with its number and name.
pub(super) fn codes(n: usize) -> impl Iterator<Item = (usize, &'static str)> {
    let name = move |code: &CodeVariant| if has_different_codes(n) { code.name } else { "all three" };
    CODES.iter().map(name).enumerate().take(if has_different_codes(n) { 3 } else { 1 })
}

/// Returns the runs of all sizes and codes, with both programs.
pub(super) fn series(lab: &Lab) -> Vec<CaseSeries> {
    PROGRAMS.into_iter().flat_map(|program| program_series(lab, program)).collect()
}

/// Returns the runs of all sizes and codes, with the program that is judged.
pub(super) fn judged_series(lab: &Lab) -> Vec<CaseSeries> {
    program_series(lab, SHARED)
}

fn program_series(lab: &Lab, program: EliminationProgram) -> Vec<CaseSeries> {
    let make_series = |n: usize| {
        let one = move |(code, name): (usize, _)| {
            let case = case(program, &CODES[code], n, size_divisor(lab, program, n));
            CaseSeries::from_case(series_name(lab, program, n, name), case).traced()
        };
        codes(n).map(one)
    };
    SIZES.into_iter().flat_map(make_series).collect()
}

/// A run of a code at n.
pub(super) struct Elimination {
    divisor: usize,
    /// The run, at the reduced size.
    result: CaseResult,
}

impl Elimination {
    /// Returns a run of these series. Where the codes do not differ, that is their common run.
    pub(super) fn from_sheet(
        sheet: &Sheet,
        program: EliminationProgram,
        n: usize,
        code: usize,
    ) -> Elimination {
        let (_, name) = codes(n).nth(if has_different_codes(n) { code } else { 0 }).expect("there is one");
        let result = sheet.last_result(&series_name(sheet.lab, program, n, name)).clone();
        Elimination { divisor: size_divisor(sheet.lab, program, n), result }
    }

    /// Returns the time at n, in s.
    pub(super) fn seconds(&self) -> Ran<f64> {
        self.result.ran(|result| (self.divisor as i64 * result.model()).in_units(SEC))
    }

    /// Returns whether it was run at n itself.
    pub(super) fn is_whole(&self) -> bool {
        self.divisor == 1
    }

    /// Returns the bytes of its longest message, at n.
    pub(super) fn longest_message(&self) -> Ran<f64> {
        self.result.metric("longest message") * self.divisor as f64
    }

    /// Returns the trace, at the reduced size.
    pub(super) fn trace(&self) -> &Trace {
        self.result.trace()
    }

    /// Returns the bytes of all messages above S at n, for each processor in the mean: at n/d there are one
    /// d-th of the messages, each with one d-th of the bytes.
    pub(super) fn long_bytes(&self) -> Ran<f64> {
        self.trace().ran(|trace| {
            let S = trace.params.gps().map_or(usize::MAX, |gps| gps.S);
            let words = trace.messages.iter().map(|message| message.words).filter(|words| *words > S);
            (words.sum::<usize>() * self.divisor * self.divisor) as f64 / trace.params.P as f64
        })
    }

    /// Replays the run with changed parameters or another model. Returns the time at n in s, and the trace.
    pub(super) fn replay_with(&self, what: &str) -> Result<(Ran<f64>, Trace), StudyError> {
        let mut calls = self.trace().clone();
        calls.params = myrinet(CODES[0].S);
        for call in &mut calls.calls {
            if let CallKind::Send { bytes, .. } = &mut call.kind {
                *bytes *= self.divisor;
            }
        }
        let again = WhatIf::read(what, calls.params)?.replay(&calls)?;
        let time = again.ran(|again| {
            let last = again.activities.iter().map(|activity| activity.end).max().unwrap_or(Time::ZERO);
            (self.divisor as i64 * last).in_units(SEC)
        });
        Ok((time, again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_errors_may_differ_by_the_rounding_of_the_times_alone() {
        // -5.05 by the printed times.
        assert!(PrintedRun::of(2048, 2).is_error_possible(2));
        assert!(!PrintedRun::of(2048, 0).is_error_possible(1));
        let other = printed(2048, 2, "4.512", [("4.401", "-2.5"), ("4.609", "2.1"), ("4.284", "-4.9")]);
        assert!(!other.is_error_possible(2));
    }
}
