//! Gaussian elimination with partial pivoting: the program in which LogGPS finds where synchronization costs
//! come from.
//!
//! The paper (section 4.4) takes the winner of a contest, of which it tells little: the longest message has
//! 16(n-4) bytes, those above S have 22.5 MBytes a processor, and they spend most of the time waiting for
//! their receivers. Two programs of that kind are here, with blocking sends. `docs/reference/gauss.md`
//! compares them with the paper's.

mod rows;
mod shared;
mod solver;
mod verify;

use loggp::{Proc, RunError, Time, Work};
use ndarray::{Array1, Array2};

use self::solver::{BLOCK, Deal, PIVOT_BYTES, ROWS_PER_MESSAGE, Solver};
use crate::emulation::digest;
use crate::math::dense::entries::{CaseMatrix, ENTRIES};
use crate::math::dense::{SingularStep, check_size, residual};
use crate::option::Microseconds;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Opt, Outcome, Plan, PlanResult, Predict,
    Program, Refusal, Size,
};

/// Gaussian elimination with partial pivoting.
pub static GAUSS: Program = Program {
    name: "gauss",
    about: "solves Ax = b by Gaussian elimination with partial pivoting (LogGPS, sections 4.4 and 4.5)",
    algorithms: &[
        Algorithm {
            name: "whole",
            about: "rows travel in messages of up to 16(n-4) bytes, which above S wait for their receivers",
            formula: NO_FORMULA,
            plan: |case| Gauss::plan(case, Deal::Blocks, false),
        },
        Algorithm {
            name: "fragmented",
            about: "the same in messages of at most S bytes, which wait for nobody: the paper's method M2",
            formula: NO_FORMULA,
            plan: |case| Gauss::plan(case, Deal::Blocks, true),
        },
        Algorithm {
            name: "shared",
            about: "four processors share a block of rows, and each sends it on in one message of 16(n-4) bytes",
            formula: NO_FORMULA,
            plan: |case| Gauss::plan(case, Deal::Rows, false),
        },
        Algorithm {
            name: "shared-fragmented",
            about: "shared, in messages of at most S bytes",
            formula: NO_FORMULA,
            plan: |case| Gauss::plan(case, Deal::Rows, true),
        },
    ],
    size: Size { meaning: "equations, of 8-byte numbers", default: 256 },
    options: &[&ENTRIES, &FLOP],
    work: Work::Charged, // the paper's costs of computing, by default
};

const NO_FORMULA: ClosedForm =
    ClosedForm::None("the paper has none, and predicts the time from the trace of a run");

/// The option for the cost of a flop. The default is derived from LogGPS's table 7 and figure 6. With S =
/// 65,536 and n = 4096 the predicted 33.2 s are 7% synchronization, so 30.9 s are computing and some
/// overhead; two thirds of n^3 flops are 2.86e9 for each of 16 processors: 10.8 ns, or 93 Mflops from a
/// Pentium II of 450 MHz.
pub static FLOP: Opt<Time> =
    Opt::new("flop", "TIME", "what a flop costs where work is charged", Time::from_ps(10_800), &Microseconds);

/// The plan of a case.
struct Gauss<'a> {
    case: &'a Case,
    matrix: CaseMatrix<'a>,
    /// Cost of a flop, if work is charged.
    charged: Option<Time>,
    deal: Deal,
    /// Most bytes of a message with rows.
    piece: usize,
}

impl<'a> Gauss<'a> {
    fn plan(case: &'a Case, deal: Deal, fragmented: bool) -> PlanResult<'a> {
        check_size(case.size, "solve")?;
        let P = case.params.P;
        if deal == Deal::Rows && !P.is_multiple_of(BLOCK) {
            refuse!(
                "four processors share a block of rows, and P = {P} is no multiple of 4; give 4, 8, 16 or so"
            );
        }
        let piece = if fragmented { piece(case)? } else { usize::MAX };
        let charged = (case.work == Work::Charged).then_some(case.get(&FLOP));
        Ok(Box::new(Gauss { case, matrix: CaseMatrix::read(case)?, charged, deal, piece }))
    }

    /// Returns the unit of the rounding errors: the one of the numbers that travel.
    fn epsilon(&self) -> f64 {
        match self.deal {
            Deal::Blocks => f64::EPSILON,
            Deal::Rows => f32::EPSILON.into(),
        }
    }

    /// Returns the equations: A, and b with numbers between -1 and 1.
    fn equations(&self) -> (Array2<f64>, Array1<f64>) {
        let Case { size, seed, .. } = *self.case;
        let mut rng = fastrand::Rng::with_seed(seed.wrapping_add(1));
        (self.matrix.make(), (0..size).map(|_| 2.0 * rng.f64() - 1.0).collect())
    }
}

/// Returns the bytes of the longest message for n equations, if it is not in pieces: two rows of 8-byte
/// numbers of the first block, or four of 4-byte numbers.
pub fn longest_message(n: usize) -> usize {
    size_of::<f64>() * ROWS_PER_MESSAGE * n.saturating_sub(BLOCK)
}

/// Returns the bytes of a message of at most S, which is no limit where no message waits for its receiver.
fn piece(case: &Case) -> Result<usize, Refusal> {
    let Some(gps) = case.params.gps() else { return Ok(usize::MAX) };
    let bytes = gps.S.saturating_mul(case.params.word.get());
    match bytes < PIVOT_BYTES {
        true => refuse!(
            "what is said about a pivot has up to {PIVOT_BYTES} bytes, and with S = {} words it would wait for its \
             receivers; give an S of at least {}",
            gps.S,
            PIVOT_BYTES.div_ceil(case.params.word.get())
        ),
        false => Ok(bytes),
    }
}

impl Predict for Gauss<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        None
    }
}

impl Plan for Gauss<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (matrix, b) = self.equations();
        let mut machine = self.case.machine(emulation);
        if let Some(flop) = self.charged {
            machine = machine.rate("flop", flop);
        }
        let solve = |p: &mut Proc| {
            let (P, id) = (p.P(), p.id());
            let mut solver = p.prepare(|| Solver::new(self.deal, (P, id), self.piece, &matrix.view(), &b));
            let found = solver.solve(p);
            (solver, found) // it is kept, as freeing memory takes time
        };
        let run = machine.measure_across_map(solve, |(solver, found)| (solver.longest, found))?;
        let (run, parts) = run.take_results();
        let longest = parts.iter().map(|(longest, _)| *longest).max().unwrap_or(0);
        let found: Vec<Result<Vec<f64>, SingularStep>> = parts.into_iter().map(|(_, found)| found).collect();
        let verified = verify::verify(&matrix, &b, &found, self.epsilon());
        let mut metrics = Vec::new();
        let mut metric = |name, unit, value| metrics.push(Metric { name, unit, value });
        if let Ok(x) = &found[0] {
            if run.time > Time::ZERO {
                // 2/3 n^3, as Linpack counts.
                let flops = 2.0 / 3.0 * (b.len() as f64).powi(3);
                let time = run.time.in_units(loggp::US);
                metric("rate per processor", "Mflops", flops / found.len() as f64 / time);
            }
            let scaled = residual::scaled(&matrix, &Array1::from(x.clone()), &b);
            metric("scaled residual", "", scaled * f64::EPSILON / self.epsilon());
        }
        metric("longest message", "bytes", longest as f64);
        let digest = digest(found.iter().flatten().flatten().map(|x| x.to_bits()));
        Ok(Outcome { metrics, digest, ..Outcome::new(run, verified) })
    }
}
