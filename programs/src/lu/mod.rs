//! LU decomposition: PA = LU with partial pivoting, of a dense matrix, in the layouts that LogP compares.
//!
//! In step k the pivot of column k is found, rows k and the pivot's change places, the column below is divided by the
//! pivot, and what is left of the matrix is updated (LogP, section 4.2). The layout decides what it costs: who needs which
//! multipliers and which part of the pivot row, and who still has something to do when the matrix gets small.

mod grid;
mod kernels;
mod layout;
mod moves;
mod panel;
mod predict;
mod record;
mod replicated;
mod transfer;
mod verify;

use std::mem::take;

use loggp::{Proc, RunError, Stats, Time, Work};
use ndarray::{Array2, ShapeBuilder};

use self::layout::{Cut, Layout, squarest};
use self::panel::Singular;
use self::record::{PHASES, Record, Records};
use self::verify::Factors;
use crate::emulation::digest;
use crate::math::dense::check_size;
use crate::math::dense::entries;
use crate::math::dense::entries::{ENTRIES, Entries};
use crate::option::{Microseconds, Perhaps, Whole, Written};
use crate::{
    Algorithm, Case, Emulation, Metric, Opt, Outcome, PhaseName, Plan, Planned, Program, Refusal, Size, Trend,
};

/// LU decomposition with partial pivoting.
pub static LU: Program = Program {
    name: "lu",
    about: "LU decomposition of a dense matrix, with partial pivoting (LogP, section 4.2)",
    algorithms: &[
        Algorithm {
            name: "grid-cyclic",
            about: "rows and columns are dealt to a grid of processors in turn: the paper's scattered layout",
            formula: "the sum over k of 2(n-k)/sqrt(P) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting, scaling and all \
                      terms kept: a recurrence over the grid's columns (LogP, section 4.2)",
            plan: |case| Lu::plan(case, Way::Grid { blocked: false }),
        },
        Algorithm {
            name: "grid-cyclic-lookahead",
            about: "the same; the next panel is eliminated and sent before the rest of the update",
            formula: "that of grid-cyclic, where a panel's elimination and its way are hidden behind the update",
            plan: |case| Lu::plan(case, Way::Lookahead),
        },
        Algorithm {
            name: "grid-blocked",
            about: "each processor of the grid has rows and columns that lie together",
            formula: "that of grid-cyclic, where the largest part that is left, n/sqrt(P) rows and columns, is updated by one",
            plan: |case| Lu::plan(case, Way::Grid { blocked: true }),
        },
        Algorithm {
            name: "column-cyclic",
            about: "columns are dealt to the processors in turn; only the multipliers are sent",
            formula: "the sum over k of (n-k) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting, scaling and all terms kept \
                      (LogP, section 4.2)",
            plan: |case| Lu::plan(case, Way::Columns { blocked: false }),
        },
        Algorithm {
            name: "column-blocked",
            about: "each processor has columns that lie together; only the multipliers are sent",
            formula: "that of column-cyclic, where the last n/P columns are updated by one processor",
            plan: |case| Lu::plan(case, Way::Columns { blocked: true }),
        },
        Algorithm {
            name: "replicated",
            about: "every processor gets the whole pivot row and all multipliers: the paper's bad layout",
            formula: "the sum over k of 2(n-k) max(g, 2o) + L and 2(n-k)^2/P flops, with pivoting, scaling and all terms \
                      kept (LogP, section 4.2 and footnote 6)",
            plan: |case| Lu::plan(case, Way::Replicated),
        },
    ],
    size: Size { meaning: "rows and columns of the matrix, of 8-byte numbers", default: 256 },
    options: &[&GRID, &BLOCK, &ENTRIES, &FLOP],
    work: Work::Charged, // the paper's costs of computing, unless told
};

/// The rows and columns of the grid.
pub static GRID: Opt<Option<(usize, usize)>> = Opt::new(
    "grid",
    "RxC",
    "the rows and columns of the grid, such as 2x8; the nearest to a square unless told",
    None,
    &Perhaps(&Written { read: grid_of, write: |(rows, columns)| format!("{rows}x{columns}") }),
)
.for_algorithms(&["grid-cyclic", "grid-cyclic-lookahead", "grid-blocked"]);

/// How many columns a panel has.
pub static BLOCK: Opt<usize> = Opt::new(
    "block",
    "COLUMNS",
    "how many columns are eliminated together; 1 is the paper's",
    1,
    &Whole(1..=usize::MAX),
);

/// What a flop costs: a tenth of the CM-5's butterfly (LogP, section 4.1.4).
pub static FLOP: Opt<Time> = Opt::new(
    "flop",
    "TIME",
    "what a flop costs where work is charged",
    Time::from_ps(450_000),
    &Microseconds,
);

/// The layouts, and the order in which things are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Everyone needs everything.
    Replicated,
    /// A grid of one row.
    Columns {
        /// Whether a processor's columns lie together.
        blocked: bool,
    },
    /// A grid.
    Grid {
        /// Whether a processor's rows and columns lie together.
        blocked: bool,
    },
    /// A cyclic grid, in which the next panel goes first.
    Lookahead,
}

/// A case that was read.
struct Lu<'a> {
    case: &'a Case,
    way: Way,
    layout: Layout,
    entries: Entries,
    /// What was in the file, if the matrix comes from one.
    file: Option<Array2<f64>>,
    /// What a flop costs, if that is charged.
    charged: Option<Time>,
}

/// Reads the rows and columns of a grid.
fn grid_of(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &usize| *number > 0);
    let grid = text.split_once('x').and_then(|(rows, columns)| Some((number(rows)?, number(columns)?)));
    grid.ok_or_else(|| "a grid is RxC; give it as in 2x8".into())
}

impl<'a> Lu<'a> {
    fn plan(case: &'a Case, way: Way) -> Planned<'a> {
        Ok(Box::new(Lu::read(case, way)?))
    }

    /// Reads a case.
    fn read(case: &'a Case, way: Way) -> Result<Lu<'a>, Refusal> {
        let (n, P) = (case.size, case.params.P);
        let (block, entries, flop) = (case.get(&BLOCK), case.get(&ENTRIES), case.get(&FLOP));
        let grid = case.get(&GRID).unwrap_or_else(|| squarest(P));
        if grid.0.saturating_mul(grid.1) != P {
            let (rows, columns) = squarest(P);
            return Err(format!(
                "a grid of {}x{} has {} processors, and P = {P}; give {rows}x{columns}, or another grid of {P}",
                grid.0,
                grid.1,
                grid.0.saturating_mul(grid.1)
            )
            .into());
        }
        check_size(n, "decompose")?;
        let cyclic = |parts| Cut::cyclic(n, parts, block);
        let blocked = |parts| Cut::blocked(n, parts);
        let (rows, cols) = match way {
            Way::Replicated => (cyclic(1), cyclic(P)),
            Way::Columns { blocked: true } => (blocked(1), blocked(P)),
            Way::Columns { blocked: false } => (blocked(1), cyclic(P)),
            Way::Grid { blocked: true } => (blocked(grid.0), blocked(grid.1)),
            Way::Grid { blocked: false } | Way::Lookahead => (cyclic(grid.0), cyclic(grid.1)),
        };
        let file = if let Entries::File(path) = &entries { Some(entries::read(path, n)?) } else { None };
        let layout = Layout { n, block, rows, cols };
        Ok(Lu { case, way, layout, entries, file, charged: (case.work == Work::Charged).then_some(flop) })
    }

    /// The matrix.
    fn matrix(&self) -> Array2<f64> {
        match &self.file {
            Some(matrix) => matrix.clone(),
            None => self.entries.matrix(self.layout.n, self.case.seed),
        }
    }

    /// Where the panels end.
    fn ends(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        let Layout { n, block, .. } = self.layout;
        match self.way {
            Way::Replicated => Box::new((0..n).step_by(block).map(move |k| (k + block).min(n))),
            _ => Box::new(self.layout.panels().map(|panel| panel.end)),
        }
    }

    /// What the processors should note; nothing where it is not known what a flop costs.
    fn predicted(&self) -> Option<Records> {
        let case = self.case;
        if !case.params.is_loggp() || self.entries == Entries::Singular {
            return None; // a singular matrix ends it earlier
        }
        let flop = match self.charged {
            Some(flop) => flop.as_ps() as f64,
            None => {
                let computed = case.computing.as_ref()?.work.as_ps() * case.params.P as i64;
                computed as f64 / kernels::elimination_flops(self.layout.n) as f64
            }
        };
        Some(predict::records(self, flop))
    }
}

/// A processor's part of the elimination.
enum Part<'a> {
    /// On a grid.
    Grid(grid::OnGrid<'a>),
    /// In the layout in which everyone needs everything.
    Replicated(replicated::Skewed),
}

impl Part<'_> {
    /// The numbers of the factors that it has, with their rows and columns.
    fn elements(&self) -> Box<dyn Iterator<Item = (usize, usize, f64)> + '_> {
        match self {
            Part::Grid(part) => Box::new(part.elements()),
            Part::Replicated(part) => Box::new(part.elements()),
        }
    }

    /// Which rows were pivots, as far as it knows, and what it noted.
    fn take_notes(&mut self) -> (Vec<usize>, Record) {
        match self {
            Part::Grid(part) => (take(&mut part.pivots), take(&mut part.record)),
            Part::Replicated(part) => (take(&mut part.pivots), take(&mut part.record)),
        }
    }
}

impl Plan for Lu<'_> {
    fn formula(&self) -> Option<Time> {
        self.predicted().map(|records| records.end())
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let Some(records) = self.predicted() else { return Vec::new() };
        named(records.phases()).map(|(name, time)| (name, Some(time))).collect()
    }

    fn trend(&self) -> Option<Trend> {
        let Layout { rows, cols, n, block } = self.layout;
        let active = |end: usize| match self.way {
            // Block (i, j) is at processor i + j modulo P: m rows and columns of blocks are at so many.
            Way::Replicated => (2 * (n - end).div_ceil(block)).saturating_sub(1).min(cols.parts),
            _ => rows.parts_from(end) * cols.parts_from(end),
        };
        Some(trend(self.ends().map(|end| (end, active(end)))))
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let matrix = self.matrix();
        let mut machine = self.case.machine(emulation);
        if let Some(flop) = self.charged {
            machine = machine.rate("flop", flop).rate(grid::MOVE, Time::ZERO);
        }
        let home = |(mut part, found): (Part<'_>, Result<(), Singular>)| {
            (part.elements().collect::<Vec<_>>(), part.take_notes(), found)
        };
        let (run, parts) = machine.run_home(|p| self.eliminate(p, &matrix), home)?.take_results();
        let n = self.layout.n;
        let mut lu = Array2::zeros((n, n).f());
        let (mut notes, mut singular) = (Vec::new(), None);
        for (elements, noted, found) in parts {
            elements.into_iter().for_each(|(i, j, value)| lu[(i, j)] = value);
            notes.push(noted);
            singular = singular.or(found.err());
        }
        let digest = digest(lu.iter().map(|x| x.to_bits()));
        let (pivots, records): (Vec<Vec<usize>>, Vec<Record>) = notes.into_iter().unzip();
        let all = pivots.iter().max_by_key(|pivots| pivots.len()).cloned().unwrap_or_default();
        let agree = pivots.iter().all(|pivots| all.starts_with(pivots));
        let verified = match agree {
            true => verify::verify(&matrix, Factors { lu, pivots: all.clone() }, &self.layout, singular),
            false => Err("the processors do not agree on the pivots".into()),
        };
        let records = Records(records);
        let metrics = self.metrics(run.time, &run.processors, singular);
        let mut outcome = Outcome::new(run, verified);
        outcome.phases = named(records.phases()).collect();
        outcome.metrics = metrics;
        outcome.digest = digest;
        let observed = self.ends().zip(records.active());
        outcome.trend = Some(trend(observed.take_while(|(end, _)| *end <= all.len())));
        Ok(outcome)
    }
}

/// How many processors had something to update after so many steps.
fn trend(active: impl Iterator<Item = (usize, usize)>) -> Trend {
    let points = active.map(|(step, processors)| (step as f64, processors as f64)).collect();
    Trend { along: "step", of: "processors that update", points }
}

/// The phases, by their names.
fn named(times: [Time; 4]) -> impl Iterator<Item = (PhaseName, Time)> {
    PHASES.iter().zip(times).map(|((name, _), time)| ((*name).into(), time))
}

impl Lu<'_> {
    /// What each processor does. It keeps all that it has, for to give memory back takes time too.
    fn eliminate(&self, p: &mut Proc, matrix: &Array2<f64>) -> (Part<'_>, Result<(), Singular>) {
        let (id, matrix) = (p.id(), matrix.view());
        if self.way == Way::Replicated {
            let mut part = p.prepare(|| replicated::Skewed::new(self.layout.cols, id, &matrix));
            let done = part.eliminate(p);
            return (Part::Replicated(part), done);
        }
        let mut part = p.prepare(|| grid::OnGrid::new(&self.layout, id, &matrix));
        let done = part.eliminate(p, self.way == Way::Lookahead);
        (Part::Grid(part), done)
    }

    /// What else the run showed: how fast it was, what was sent, and how much of the time was idle.
    fn metrics(&self, time: Time, processors: &[Stats], singular: Option<Singular>) -> Vec<Metric> {
        let (n, P) = (self.layout.n as f64, processors.len() as f64);
        let mut metrics = Vec::new();
        let mut metric = |name, unit, value| metrics.push(Metric { name, unit, value });
        if let Some(Singular(step)) = singular {
            metric("no pivot at step", "", (step + 1) as f64);
        } else if time > Time::ZERO {
            // 2/3 n^3, as Linpack counts.
            let flops = 2.0 / 3.0 * n * n * n;
            metric("rate per processor", "Mflops", flops / P / time.in_units(loggp::US));
        }
        let words = [
            (
                "sent least",
                "sent mean",
                "sent most",
                processors.iter().map(|stats| stats.words_sent).collect(),
            ),
            (
                "received least",
                "received mean",
                "received most",
                processors.iter().map(|stats| stats.words_received).collect::<Vec<u64>>(),
            ),
        ];
        for (least, mean, most, words) in words {
            metric(least, "words", words.iter().min().copied().unwrap_or(0) as f64);
            metric(mean, "words", words.iter().sum::<u64>() as f64 / P);
            metric(most, "words", words.iter().max().copied().unwrap_or(0) as f64);
        }
        // Who has finished is idle until the last one has.
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

    /// Step k needs n-k multipliers in the column layout, n-k of both in the bad one, and (n-k)/sqrt(P) of both on the
    /// scattered grid (LogP, section 4.2), less what a processor has itself.
    #[test]
    fn processors_receive_what_the_paper_counts() {
        let (n, P, root) = (48, 16, 4);
        let params = Params::builder(P).L(6 * loggp::US).o(2 * loggp::US).g(4 * loggp::US).build().unwrap();
        // What each processor received in each step.
        let received = |algorithm: &str| -> Vec<Vec<usize>> {
            let case = Case { size: n, ..Case::new(&LU, algorithm, params) };
            let way = match algorithm {
                "replicated" => Way::Replicated,
                "column-cyclic" => Way::Columns { blocked: false },
                _ => Way::Grid { blocked: false },
            };
            let lu = Lu::read(&case, way).unwrap();
            let matrix = lu.matrix();
            let run = Machine::new(params).run(|p| lu.eliminate(p, &matrix).0.take_notes().1).unwrap();
            let records = Records(run.results);
            (0..n).map(|step| records.at(step).map(|noted| noted.received).collect()).collect()
        };
        for (step, received) in received("column-cyclic").into_iter().enumerate().take(n - P) {
            let mut expected = vec![n - step - 1; P];
            expected[step % P] = 0; // whose they are
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
