//! What a program is: an algorithm, the paper's prediction of its time, and the verification of its result.

use loggp::{Machine, Params, Run, RunError, Time, Work};

/// One of the papers' programs. Each is one file, and is listed in [`PROGRAMS`](crate::PROGRAMS).
pub trait Program: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does and where it comes from, in one sentence.
    fn about(&self) -> &'static str;

    /// The algorithms that do it, best known first: `run` takes that one unless told.
    fn algorithms(&self) -> &'static [Algorithm];

    /// What `--size` means and is, unless told.
    fn size(&self) -> Size;

    /// What its computation costs, unless told. The papers' analyses of pure communication count no
    /// computation, so such a program charges what it computes, which is nothing.
    fn work(&self) -> Work {
        Work::Measured
    }

    /// Refuses a case that the program cannot do, in one sentence that says which it can.
    fn check(&self, _case: &Case) -> Result<(), String> {
        Ok(())
    }

    /// The paper's closed form for the time; `None` where the paper has none.
    ///
    /// It reads the parameters and nothing else: neither the model nor a measurement.
    fn formula(&self, case: &Case) -> Option<Time>;

    /// Runs it on real data, and compares the result with a sequential reference.
    fn run(&self, case: &Case, machine: &Machine) -> Result<Outcome, RunError>;
}

/// One way to do what a program does.
#[derive(Debug)]
pub struct Algorithm {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its formula, and where the paper has it.
    pub formula: &'static str,
}

/// What a program's size means.
#[derive(Debug)]
pub struct Size {
    /// Such as `items per processor, a word each`.
    pub meaning: &'static str,
    /// The size unless told.
    pub default: usize,
}

/// What to run: a program's algorithm on a machine, and how much of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The machine's parameters.
    pub params: Params,
    /// The size, as the program means it.
    pub size: usize,
    /// Makes the data.
    pub seed: u64,
    /// The splitting ratio of `scatter fixed`.
    pub alpha: f64,
}

/// A run and what became of its result.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run<()>,
    /// Whether every processor's result is right; if not, what is wrong, in one sentence.
    pub verified: Result<(), String>,
}
