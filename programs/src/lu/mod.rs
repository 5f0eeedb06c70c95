//! LU decomposition: PA = LU of a dense matrix with partial pivoting, in the layouts that LogP compares.
//!
//! Step k finds the pivot of column k, exchanges row k and the pivot's row, divides the column below by the
//! pivot, and updates the rest of the matrix (LogP, section 4.2). The layout decides the cost: which
//! processors need which multipliers and which part of the pivot row, and which ones still have work when the
//! matrix gets small.

mod grid;
mod kernels;
mod layout;
mod log;
mod moves;
mod panel;
mod predict;
mod replicated;
mod transfer;
mod verify;

use loggp::{Proc, RunError, Stats, Time, Work};
use ndarray::{Array2, ShapeBuilder};

use self::layout::{Cut, GridLayout, squarest};
use self::log::{EliminationLog, EliminationLogs, PHASES};
use self::verify::Factors;
use crate::emulation::digest;
use crate::math::dense::entries::{CaseMatrix, ENTRIES, Entries};
use crate::math::dense::{SingularStep, check_size};
use crate::option::{CustomKind, Microseconds, OptionalKind, WholeNumber};
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Opt, Outcome, PhaseName, Plan, PlanResult,
    Predict, Program, Refusal, Size, Trend,
};

/// LU decomposition with partial pivoting.
pub static LU: Program = Program {
    name: "lu",
    about: "LU decomposition of a dense matrix, with partial pivoting (LogP, section 4.2)",
    algorithms: &[
        Algorithm {
            name: "grid-cyclic",
            about: "rows and columns are dealt to a grid of processors in turn: the paper's scattered layout",
            formula: ClosedForm::Paper(
                "LogP, section 4.2, with all terms kept",
                "the sum over k of 2(n-k)/sqrt(P) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting and scaling: a \
                 recurrence over the grid's columns",
            ),
            plan: |case| Lu::plan(case, LuVariant::Grid { blocked: false }),
        },
        Algorithm {
            name: "grid-cyclic-lookahead",
            about: "the same; the next panel is eliminated and sent before the rest of the update",
            formula: ClosedForm::Ours(
                "that of grid-cyclic, where a panel's elimination and its way are hidden behind the update",
            ),
            plan: |case| Lu::plan(case, LuVariant::Lookahead),
        },
        Algorithm {
            name: "grid-blocked",
            about: "each processor of the grid has rows and columns that lie together",
            formula: ClosedForm::Ours(
                "that of grid-cyclic, where the largest part that is left, n/sqrt(P) rows and columns, is updated by one",
            ),
            plan: |case| Lu::plan(case, LuVariant::Grid { blocked: true }),
        },
        Algorithm {
            name: "column-cyclic",
            about: "columns are dealt to the processors in turn; only the multipliers are sent",
            formula: ClosedForm::Paper(
                "LogP, section 4.2, with all terms kept",
                "the sum over k of (n-k) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting and scaling",
            ),
            plan: |case| Lu::plan(case, LuVariant::Columns { blocked: false }),
        },
        Algorithm {
            name: "column-blocked",
            about: "each processor has columns that lie together; only the multipliers are sent",
            formula: ClosedForm::Ours(
                "that of column-cyclic, where the last n/P columns are updated by one processor",
            ),
            plan: |case| Lu::plan(case, LuVariant::Columns { blocked: true }),
        },
        Algorithm {
            name: "replicated",
            about: "every processor gets the whole pivot row and all multipliers: the paper's bad layout",
            formula: ClosedForm::Paper(
                "LogP, section 4.2, with all terms kept",
                "the sum over k of 2(n-k) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting and scaling",
            ),
            plan: |case| Lu::plan(case, LuVariant::Replicated),
        },
    ],
    size: Size { meaning: "rows and columns of the matrix, of 8-byte numbers", default: 256 },
    options: &[&GRID, &BLOCK, &ENTRIES, &FLOP],
    work: Work::Charged, // the paper's costs of computing, by default
};

/// The option for the rows and columns of the grid.
pub static GRID: Opt<Option<(usize, usize)>> = Opt::new(
    "grid",
    "RxC",
    "the rows and columns of the grid, such as 2x8; by default the nearest to a square",
    None,
    &OptionalKind(&CustomKind { read: parse_grid, write: |(rows, columns)| format!("{rows}x{columns}") }),
)
.for_algorithms(&["grid-cyclic", "grid-cyclic-lookahead", "grid-blocked"])
.with_choices(|P, _| {
    let rows = (1..=P).filter(|rows| P.is_multiple_of(*rows));
    rows.map(|rows| format!("{rows}x{}", P / rows)).collect()
});

/// The option for the columns of a panel.
pub static BLOCK: Opt<usize> = Opt::new(
    "block",
    "COLUMNS",
    "how many columns are eliminated together; 1 is the paper's",
    1,
    &WholeNumber(1..=usize::MAX),
)
.with_choices(|_, n| {
    [1, 2, 4, 8, 16, 32].iter().filter(|block| **block <= n).map(usize::to_string).collect()
});

/// The option for the cost of a flop: by default a tenth of the CM-5's butterfly (LogP, section 4.1.4).
pub static FLOP: Opt<Time> = Opt::new(
    "flop",
    "TIME",
    "what a flop costs where work is charged",
    Time::from_ps(450_000),
    &Microseconds,
);

/// The layouts, and the order of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LuVariant {
    /// Every processor needs the whole pivot row and all multipliers.
    Replicated,
    /// A grid of one row.
    Columns {
        /// True if a processor's columns lie together.
        blocked: bool,
    },
    /// A grid.
    Grid {
        /// True if a processor's rows and columns lie together.
        blocked: bool,
    },
    /// A cyclic grid, in which the next panel goes first.
    Lookahead,
}

/// The plan of a case.
struct Lu<'a> {
    case: &'a Case,
    variant: LuVariant,
    layout: GridLayout,
    matrix: CaseMatrix<'a>,
    /// Cost of a flop, if work is charged.
    charged: Option<Time>,
}

fn parse_grid(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &usize| *number > 0);
    let grid = text.split_once('x').and_then(|(rows, columns)| Some((number(rows)?, number(columns)?)));
    grid.ok_or_else(|| "a grid is RxC; give it as in 2x8".into())
}

impl<'a> Lu<'a> {
    fn plan(case: &'a Case, variant: LuVariant) -> PlanResult<'a> {
        Ok(Box::new(Lu::read(case, variant)?))
    }

    /// Reads a case.
    fn read(case: &'a Case, variant: LuVariant) -> Result<Lu<'a>, Refusal> {
        let (n, P) = (case.size, case.params.P);
        let block = case.get(&BLOCK);
        let grid = case.get(&GRID).unwrap_or_else(|| squarest(P));
        if grid.0.saturating_mul(grid.1) != P {
            let (rows, columns) = squarest(P);
            refuse!(
                "a grid of {}x{} has {} processors, and P = {P}; give {rows}x{columns}, or another grid of {P}",
                grid.0,
                grid.1,
                grid.0.saturating_mul(grid.1)
            );
        }
        check_size(n, "decompose")?;
        let cyclic = |parts| Cut::cyclic(n, parts, block);
        let blocked = |parts| Cut::blocked(n, parts);
        let (rows, cols) = match variant {
            LuVariant::Replicated => (cyclic(1), cyclic(P)),
            LuVariant::Columns { blocked: true } => (blocked(1), blocked(P)),
            LuVariant::Columns { blocked: false } => (blocked(1), cyclic(P)),
            LuVariant::Grid { blocked: true } => (blocked(grid.0), blocked(grid.1)),
            LuVariant::Grid { blocked: false } | LuVariant::Lookahead => (cyclic(grid.0), cyclic(grid.1)),
        };
        let charged = (case.work == Work::Charged).then_some(case.get(&FLOP));
        let layout = GridLayout { n, block, rows, cols };
        Ok(Lu { case, variant, layout, matrix: CaseMatrix::read(case)?, charged })
    }

    /// Returns the predicted logs, or `None` where the cost of a flop is not known or there is no formula.
    fn predicted(&self) -> Option<EliminationLogs> {
        let case = self.case;
        if self.matrix.entries == Entries::Singular {
            return None; // a singular matrix ends it earlier
        }
        let flop = match self.charged {
            Some(flop) => flop.as_ps() as f64,
            None => {
                let computed = case.compute_times.as_ref()?.work.as_ps() * case.params.P as i64;
                computed as f64 / kernels::elimination_flops(self.layout.n) as f64
            }
        };
        Some(predict::predict_logs(self, flop))
    }
}

/// A processor's part of the elimination.
enum LuPart<'a> {
    /// Part on a grid.
    Grid(grid::GridPart<'a>),
    /// Part in the bad layout.
    Replicated(replicated::SkewedPart<'a>),
}

impl LuPart<'_> {
    /// Returns the processor's numbers of the factors, with their rows and columns, and its log.
    fn into_results(self) -> (Vec<(usize, usize, f64)>, EliminationLog) {
        match self {
            LuPart::Grid(part) => (part.elements().collect(), part.log),
            LuPart::Replicated(part) => (part.elements().collect(), part.log),
        }
    }
}

impl Predict for Lu<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        // Among several processors every row is taken as equally likely to have the pivot, and no stall counts.
        let kind = if self.case.params.P == 1 { FormKind::Exact } else { FormKind::Estimate };
        self.predicted().map(|logs| (kind, logs.end()))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let Some(logs) = self.predicted() else { return Vec::new() };
        name_phases(logs.phases()).map(|(name, time)| (name, Some(time))).collect()
    }

    fn trend(&self) -> Option<Trend> {
        let GridLayout { rows, cols, n, block } = self.layout;
        let active = |end: usize| match self.variant {
            // Block (i, j) is at processor i + j modulo P, so m rows and columns of blocks are at 2m - 1
            // processors, or at all P.
            LuVariant::Replicated => (2 * (n - end).div_ceil(block)).saturating_sub(1).min(cols.parts),
            _ => rows.parts_from(end) * cols.parts_from(end),
        };
        Some(update_trend(self.layout.panels().map(|panel| (panel.end, active(panel.end)))))
    }
}

impl Plan for Lu<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let matrix = self.matrix.make();
        let mut machine = self.case.machine(emulation);
        if let Some(flop) = self.charged {
            machine = machine.rate("flop", flop).rate(grid::MOVE, Time::ZERO);
        }
        let home = |(part, found): (LuPart<'_>, Result<(), SingularStep>)| (part.into_results(), found);
        let (run, parts) = machine.measure_across_map(|p| self.eliminate(p, &matrix), home)?.take_results();
        let n = self.layout.n;
        let mut lu = Array2::zeros((n, n).f());
        let (mut logs, mut singular) = (EliminationLogs(Vec::new()), None);
        for ((elements, log), found) in parts {
            elements.into_iter().for_each(|(i, j, value)| lu[(i, j)] = value);
            logs.0.push(log);
            singular = singular.or(found.err());
        }
        let digest = digest(lu.iter().map(|x| x.to_bits()));
        let pivots = || logs.0.iter().map(|log| &log.pivots);
        let all = pivots().max_by_key(|pivots| pivots.len()).cloned().unwrap_or_default();
        let observed = self.layout.panels().map(|panel| panel.end).zip(logs.active_counts());
        let trend = update_trend(observed.take_while(|(end, _)| *end <= all.len()));
        let verified = match pivots().all(|pivots| all.starts_with(pivots)) {
            true => verify::verify(&matrix, Factors { lu, pivots: all }, &self.layout, singular),
            false => Err("the processors do not agree on the pivots".into()),
        };
        let phases = name_phases(logs.phases()).collect();
        let metrics = self.metrics(run.time, &run.processors, singular);
        Ok(Outcome { phases, metrics, digest, trend: Some(trend), ..Outcome::new(run, verified) })
    }
}

/// Returns the trend of the number of processors that update, by step.
fn update_trend(active: impl Iterator<Item = (usize, usize)>) -> Trend {
    let points = active.map(|(step, processors)| (step as f64, processors as f64)).collect();
    Trend { along: "step", quantity: "processors that update", points }
}

/// Gives the phases their names.
fn name_phases(times: [Time; 4]) -> impl Iterator<Item = (PhaseName, Time)> {
    PHASES.iter().zip(times).map(|((name, _), time)| ((*name).into(), time))
}

impl Lu<'_> {
    /// Runs the elimination on one processor, and keeps all memory, as freeing it takes time.
    fn eliminate(&self, p: &mut Proc, matrix: &Array2<f64>) -> (LuPart<'_>, Result<(), SingularStep>) {
        let (id, matrix) = (p.id(), matrix.view());
        if self.variant == LuVariant::Replicated {
            let mut part = p.prepare(|| replicated::SkewedPart::new(&self.layout, id, &matrix));
            let done = part.eliminate(p);
            return (LuPart::Replicated(part), done);
        }
        let mut part = p.prepare(|| grid::GridPart::new(&self.layout, id, &matrix));
        let done = part.eliminate(p, self.variant == LuVariant::Lookahead);
        (LuPart::Grid(part), done)
    }

    /// Returns the metrics of a run: its rate, the words that were sent, and the idle time.
    fn metrics(&self, time: Time, processors: &[Stats], singular: Option<SingularStep>) -> Vec<Metric> {
        let (n, P) = (self.layout.n as f64, processors.len() as f64);
        let mut metrics = Vec::new();
        let mut metric = |name, unit, value| metrics.push(Metric { name, unit, value });
        if let Some(SingularStep(step)) = singular {
            metric("no pivot at step", "", (step + 1) as f64);
        } else if time > Time::ZERO {
            // 2/3 n^3, as Linpack counts.
            let flops = 2.0 / 3.0 * n * n * n;
            metric("rate per processor", "Mflops", flops / P / time.in_units(loggp::US));
        }
        let mut words = |[least, mean, most]: [&'static str; 3], of: fn(&Stats) -> u64| {
            let words = || processors.iter().map(of);
            metric(least, "words", words().min().unwrap_or(0) as f64);
            metric(mean, "words", words().sum::<u64>() as f64 / P);
            metric(most, "words", words().max().unwrap_or(0) as f64);
        };
        words(["sent least", "sent mean", "sent most"], |stats| stats.words_sent);
        words(["received least", "received mean", "received most"], |stats| stats.words_received);
        // A processor that has finished is idle until the last one has.
        let idle = |stats: &Stats| (stats.idle + time - stats.finish).in_units(loggp::US);
        let all = processors.iter().map(idle).sum::<f64>() / P / time.in_units(loggp::US);
        if time > Time::ZERO {
            metric("idle", "%", 100.0 * all);
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{Machine, Params};

    /// Step k needs n-k multipliers in the column layout, n-k of both in the bad one, and (n-k)/sqrt(P) of
    /// both on the scattered grid (LogP, section 4.2), less those that a processor has itself.
    #[test]
    fn processors_receive_what_the_paper_counts() {
        let (n, P, root) = (48, 16, 4);
        let params = Params::builder(P).L(6 * loggp::US).o(2 * loggp::US).g(4 * loggp::US).build().unwrap();
        let received = |algorithm: &str| -> Vec<Vec<usize>> {
            let case = Case { size: n, ..Case::new(&LU, algorithm, params) };
            let variant = match algorithm {
                "replicated" => LuVariant::Replicated,
                "column-cyclic" => LuVariant::Columns { blocked: false },
                _ => LuVariant::Grid { blocked: false },
            };
            let lu = Lu::read(&case, variant).unwrap();
            let matrix = lu.matrix.make();
            let run = Machine::new(params).run(|p| lu.eliminate(p, &matrix).0.into_results().1).unwrap();
            let logs = EliminationLogs(run.results);
            (0..n).map(|step| logs.notes(step).map(|note| note.received).collect()).collect()
        };
        for (step, received) in received("column-cyclic").into_iter().enumerate().take(n - P) {
            let mut expected = vec![n - step - 1; P];
            expected[step % P] = 0; // it has them itself
            assert_eq!(received, expected, "step {step}");
        }
        for (step, received) in received("replicated").into_iter().enumerate() {
            let left = n - step - 1;
            for (id, received) in received.into_iter().enumerate() {
                let own = (step + 1..n).filter(|i| (i + step) % P == id).count();
                assert_eq!(received, 2 * (left - own), "step {step}, processor {id}");
            }
        }
        for (step, received) in received("grid-cyclic").into_iter().enumerate().take(n - root) {
            let part = |index: usize| (step + 1..n).filter(|i| i % root == index).count();
            for (id, received) in received.into_iter().enumerate() {
                let (r, c) = (id / root, id % root);
                let multipliers = if c == step % root { 0 } else { part(r) };
                let pivot_row = if r == step % root { 0 } else { part(c) };
                assert_eq!(received, multipliers + pivot_row, "step {step}, processor {id}");
                assert!(received <= 2 * (n - step - 1).div_ceil(root));
            }
        }
    }
}
