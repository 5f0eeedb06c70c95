//! The exhibits of the transportation paper, and what several of them share: its machine, and runs that show more than
//! their time.

mod appendix;
mod bounds;
mod matrices;
mod schedules;
mod splitting;
mod timings;

use std::sync::Arc;

use loggp::{Machine, Params, Time, US, preset};

use super::{Lab, Paper};
use loggp_programs::Case;
use loggp_programs::transportation::{
    Arrival, CHUNK, MATRIX, Matrix, Method, Schedule, Scheme, Source, TRANSPORTATION, TwoStage, matrix,
    transport,
};
use loggp_study::Failed;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "Transportation",
    source: "Shankar, Alsabti, Ranka: \
             \"The Transportation Primitive\", Syracuse University, 1994",
    exhibits: &[
        matrices::FIGURE_1,
        matrices::FIGURE_2,
        matrices::FIGURE_3,
        schedules::FIGURE_4,
        schedules::FIGURE_5,
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
};

/// What the CM-5's barrier in its control network costs here; the paper does not say.
const BARRIER: Time = Time::from_ps(5 * US.as_ps());
/// A millisecond.
const MS: Time = Time::from_ps(1000 * US.as_ps());

/// The CM-5 of section 4.1, where a send takes 1.6 us and a reception 1.7: o is the mean of them. Of L and g the paper says nothing, and
/// they are LogP's.
fn cm5(P: usize) -> Params {
    let cm5 = preset("cm5").and_then(|cm5| cm5.builder().P(P).o(1650 * US / 1000).build());
    cm5.expect("the CM-5 is known")
}

/// A case on the paper's machine. Data is transferred as a single message (section 6).
fn case(algorithm: &str, P: usize) -> Case {
    let case = Case { barrier: Some(BARRIER), ..Case::new(&TRANSPORTATION, algorithm, cm5(P)) };
    if algorithm.starts_with("random") { case.with(&CHUNK, usize::MAX) } else { case }
}

/// The same with the matrix of this name, or of a figure.
fn of_matrix(algorithm: &str, P: usize, name: &str) -> Case {
    case(algorithm, P).with(&MATRIX, name.to_string().into())
}

/// The matrix of this name, or of a figure.
fn named(name: &str, P: usize) -> Result<Matrix, Failed> {
    Ok(matrix(&of_matrix("linear", P, name))?)
}

/// A form of the two-stage algorithm that sends both stages by linear permutations.
fn form(scheme: Scheme) -> TwoStage {
    TwoStage { scheme, shuffled: false, sparse: false, stage1: Schedule::Linear }
}

/// What became of each processor in a run of the model: which parts it had, and how long its messages were.
fn arrivals(lab: &Lab, matrix: &Matrix, form: TwoStage) -> Result<Vec<Arrival>, Failed> {
    let P = matrix.P();
    let source = |i: usize| Source {
        sendl: matrix.row(i).to_vec(),
        elements: Arc::new((0..matrix.r_i(i) as u32).collect()),
        r: matrix.r(),
        seed: lab.seed,
    };
    let sources: Vec<Source> = (0..P).map(source).collect();
    let machine = Machine::new(cm5(P)).work(TRANSPORTATION.work).barrier(BARRIER);
    let run = machine.run(|p| transport(p, Method::TwoStage(form), &sources[p.id()]))?;
    lab.held.borrow_mut().virtual_runs += 1;
    Ok(run.results)
}

/// The lengths of a stage's messages: a row for each processor that sends them, and a column for each that gets them.
fn lengths(arrivals: &[Arrival], stage: usize) -> Matrix {
    let all = arrivals.iter().flat_map(|arrival| arrival.lengths[stage].iter().copied());
    Matrix::new(arrivals.len(), all.collect())
}

/// The shortest and the longest message of a stage.
fn ends(lengths: &Matrix) -> (usize, usize) {
    let all = || lengths.entries().iter().copied();
    (all().min().unwrap_or(0), all().max().unwrap_or(0))
}
