//! The error of measurements against the model: every program over P, on either carrier.
//!
//! `cargo bench -p loggp-benches --bench errors` prints a table for threads; `-- coroutines`, or both names,
//! for others. Names of programs select those. Details of all measurements go to stderr.

#![allow(non_snake_case)] // P is the papers' name

use std::time::{Duration, Instant};

use loggp::{Carrier, ClockKind, Params, Time, US, preset};
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST;
use loggp_programs::fft::FFT;
use loggp_programs::gauss::GAUSS;
use loggp_programs::lu::LU;
use loggp_programs::radix_sort::RADIX_SORT;
use loggp_programs::rtt::RTT;
use loggp_programs::scatter::SCATTER;
use loggp_programs::summation::SUMMATION;
use loggp_programs::transportation::TRANSPORTATION;
use loggp_programs::{Case, Emulation, PROGRAMS, Program};
use loggp_study::{Answers, Study, StudyError};

/// The carriers, with their names in the tables.
const CARRIERS: [(&str, Carrier); 2] = [("threads", Carrier::Thread), ("coroutines", Carrier::Coroutine)];
/// Numbers of processors.
const SIZES: [usize; 6] = [2, 4, 16, 64, 256, 1024];
/// The number of repeats, of which the median is shown, for runs that take no longer than [`SHORT`].
const REPEATS: usize = 5;
const SHORT: Duration = Duration::from_millis(300);
/// After a number of processors that took longer than this, larger ones are skipped.
const LONG: Duration = Duration::from_secs(20);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    // `cargo test --benches` does not pass `--bench` and only checks that this runs.
    if !named("--bench") || named("--test") {
        return;
    }
    let programs: Vec<&Program> = PROGRAMS.iter().copied().filter(|program| named(program.name)).collect();
    let programs = if programs.is_empty() { PROGRAMS.to_vec() } else { programs };
    let none = CARRIERS.iter().all(|(name, _)| !named(name));
    for (name, carrier) in CARRIERS {
        if named(name) || none && carrier == Carrier::default() {
            table(name, carrier, &programs);
        }
    }
}

/// Prints a line for each program: the error and the dilation at each P.
fn table(name: &str, carrier: Carrier, programs: &[&'static Program]) {
    println!(
        "Measured against model, and the dilation, on {name}; medians of {REPEATS} where a run is short\n"
    );
    println!("| program on {name} | {} |", SIZES.map(|P| format!("P = {P}")).join(" | "));
    println!("|---|{}", "---|".repeat(SIZES.len()));
    for program in programs {
        let mut cells = vec![format!("{} {}", program.name, program.algorithms[0].name)];
        let mut last = Duration::ZERO;
        for P in SIZES {
            let started = Instant::now();
            cells.push(if last > LONG { String::new() } else { cell(program, P, carrier) });
            last = started.elapsed();
        }
        println!("| {} |", cells.join(" | "));
    }
    println!();
}

/// Returns a small case of a program's first algorithm on `P` processors.
fn case(program: &'static Program, P: usize) -> Case {
    let machine =
        if std::ptr::eq(program, &RTT) || std::ptr::eq(program, &GAUSS) { "myrinet" } else { "cm5" };
    let params = preset(machine).and_then(|preset| preset.builder().set(&format!("P={P}"))?.build());
    let params: Params = params.expect("a machine of the papers takes any P");
    let case = Case::new(program, program.algorithms[0].name, params);
    let is_program = |other: &Program| std::ptr::eq(program, other);
    let size = match P {
        _ if is_program(&FFT) => (P * P).max(1 << 12),
        _ if is_program(&RADIX_SORT) => 64,
        _ if is_program(&LU) || is_program(&GAUSS) => 2 * P.clamp(16, 64),
        _ if is_program(&SUMMATION) => 50 * P,
        _ if is_program(&SCATTER) => 8,
        _ if is_program(&ALL_TO_ALL_BROADCAST) => 1,
        _ if is_program(&TRANSPORTATION) => 4 * P,
        _ => case.size,
    };
    Case { size, ..case }
}

/// Returns the error and the dilation; empty if the program does not support this P.
fn cell(program: &'static Program, P: usize, carrier: Carrier) -> String {
    let case = case(program, P);
    if case.check().is_err() {
        return String::new();
    }
    let emulation = Emulation { carrier, ..Emulation::with_clock(ClockKind::Wall) };
    let study = |repeat| Study { emulation: emulation.clone(), repeat, ..Study::new(case.clone()) }.run();
    let started = Instant::now();
    let first = study(1);
    let took = started.elapsed();
    match if took <= SHORT { study(REPEATS) } else { first } {
        Ok(answers) => {
            let (model, measured, error, dilation) = read(&answers);
            eprintln!(
                "{} {}, P = {P}, size {}: model {} us, measured {} us, {:+.3}%, dilation {dilation:.1}, in {:.1} s",
                program.name,
                case.algorithm.name,
                case.size,
                model.in_units(US),
                measured.in_units(US),
                100.0 * error,
                started.elapsed().as_secs_f64(),
            );
            let wrong = answers.wrong.map(|wrong| format!(", WRONG: {wrong}")).unwrap_or_default();
            let held = answers.outcome.run.host.is_some_and(|host| host.on_time);
            format!("{:+.2}% ({dilation:.1}{}){wrong}", 100.0 * error, if held { "" } else { ", not held" })
        }
        Err(StudyError::Refused(_)) => String::new(),
        Err(StudyError::Run(error) | StudyError::SeededRun(error, _)) => format!("failed: {error}"),
    }
}

/// Returns the model's time, the measured time, the error and the dilation.
fn read(answers: &Answers) -> (Time, Time, f64, f64) {
    let model = answers.prediction.model.unwrap_or_default();
    let measured = answers.prediction.measured.map(|times| times.median).unwrap_or_default();
    let dilation = answers.outcome.run.host.as_ref().map_or(1.0, |host| host.dilation);
    (model, measured, answers.prediction.error_model().unwrap_or(0.0), dilation)
}
