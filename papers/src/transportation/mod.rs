//! The exhibits of the transportation paper, its machine, and runs that return more than their time.

mod appendix;
mod bounds;
mod layout;
mod machine;
mod matrices;
mod schedules;
mod splitting;
mod timings;

use std::sync::Arc;

use loggp::{Machine, ParamsBuilder, Ports, Run};
use loggp_programs::transportation::{
    Delivery, MATRIX, Matrix, Source, TRANSPORTATION, TransportMethod, TwoStageForm, matrix, transport,
};

use super::prelude::*;
use super::{BY_OCR, Paper};

pub(crate) static PAPER: Paper = Paper {
    name: "Transportation",
    folder: "transportation",
    source: "Shankar, Alsabti, Ranka: \
             \"The Transportation Primitive\", Syracuse University, 1994",
    text: BY_OCR,
    exhibits: &[
        machine::SECTION_4,
        matrices::FIGURE_1,
        matrices::FIGURE_2,
        matrices::FIGURE_3,
        schedules::FIGURE_4,
        schedules::FIGURE_5,
        layout::FIGURE_7,
        splitting::FIGURE_8,
        splitting::FIGURE_9,
        splitting::FIGURE_10,
        splitting::FIGURE_11,
        timings::FIGURE_13,
        timings::FIGURE_14,
        timings::FIGURE_15,
        timings::FIGURE_16,
        bounds::BOUNDS,
        appendix::APPENDIX,
    ],
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};

/// Cost of the barrier in the CM-5's control network; the paper does not give it.
const BARRIER: Time = Time::from_ps(5 * US.as_ps());

/// Returns the CM-5 of section 4.1, where a send takes 1.6 us and a reception 1.7 us: o is their mean. A
/// packet of 20 bytes at 5 MB/s takes LogP's g. The paper does not give L, which is LogP's.
fn cm5(P: usize) -> Params {
    ParamsBuilder::from(preset_machine("cm5", P))
        .o(1650 * US / 1000)
        .build()
        .expect("it is a paper's machine")
}

/// Returns a case on the paper's machine. The notes of transport-sec4 say why its ports are dual.
fn case(algorithm: &str, P: usize) -> Case {
    Case { barrier: Some(BARRIER), ports: Ports::Dual, ..Case::new(&TRANSPORTATION, algorithm, cm5(P)) }
}

/// Returns the same machine for programs that are no cases.
fn machine(P: usize) -> Machine {
    Machine::new(cm5(P)).ports(Ports::Dual).work(TRANSPORTATION.work).barrier(BARRIER)
}

/// Returns a case with the matrix of this name, or of a figure.
fn matrix_case(algorithm: &str, P: usize, name: &str) -> Case {
    case(algorithm, P).with(&MATRIX, name.to_string().into())
}

/// Returns the matrix of this name, or of a figure.
fn named_matrix(name: &str, P: usize) -> Result<Matrix, StudyError> {
    Ok(matrix(&matrix_case("linear", P, name))?)
}

/// Runs the two-stage algorithm on the virtual clock. Each processor returns its parts and the lengths of its
/// messages.
fn run_two_stage(lab: &Lab, matrix: &Matrix, form: TwoStageForm) -> Result<Run<Delivery>, StudyError> {
    let P = matrix.P();
    let source = |i: usize| Source {
        sendl: matrix.row(i).to_vec(),
        elements: Arc::new((0..matrix.r_i(i) as u32).collect()),
        r: matrix.r(),
        seed: lab.seed,
    };
    let sources: Vec<Source> = (0..P).map(source).collect();
    let run = machine(P).run(|p| transport(p, TransportMethod::TwoStage(form), &sources[p.id()]))?;
    lab.summary.borrow_mut().virtual_runs += 1;
    Ok(run)
}

/// Adds a check of all runs that have a formula: that it is their time, or an upper bound that is `above` them
/// by no more, in percent.
fn add_formula_check(sheet: &mut Sheet, above: f64) {
    let what = match above {
        0.0 => "runs whose time is the formula's".to_string(),
        _ => format!("runs whose formula is above their time by {above}% at most"),
    };
    let all = sheet.results.iter().flat_map(|series| &series.points);
    let checks: Vec<Ran<bool>> = all
        .filter(|result| result.prediction.formula.is_some() && result.answers.is_some())
        .map(|result| result.ran(|one| one.formula().in_units(one.model())))
        .map(|over| over.map(|over| (1.0..=1.0 + above / 100.0).contains(&over)))
        .collect();
    sheet.add_own_check(what, checks);
}

/// Joins numbers of several runs.
///
/// # Panics
///
/// If there is no run.
fn join_runs(runs: impl IntoIterator<Item = Ran<Vec<f64>>>) -> Ran<Vec<f64>> {
    let join = |one: Ran<Vec<f64>>, other: Ran<Vec<f64>>| one.map(|one| [one, other.value()].concat());
    runs.into_iter().reduce(join).expect("there are several runs")
}

/// Returns the lengths of a stage's messages: a row for each sender, and a column for each receiver.
fn message_lengths(run: &Run<Delivery>, stage: usize) -> Matrix {
    let all = run.results.iter().flat_map(|delivery| delivery.lengths[stage].iter().copied());
    Matrix::new(run.results.len(), all.collect())
}

/// Returns the shortest and the longest message of a stage.
fn shortest_and_longest(lengths: &Matrix) -> (f64, f64) {
    let all = || lengths.entries().iter().copied();
    (all().min().unwrap_or(0) as f64, all().max().unwrap_or(0) as f64)
}
