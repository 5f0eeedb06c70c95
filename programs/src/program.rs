//! What a program is: algorithms, each with the paper's prediction of its time and the verification of its result.

use std::borrow::Cow;
use std::fmt;

use loggp::{Run, RunError, Time, Work};

use crate::case::{Case, Emulation};
use crate::costs::Costs;

/// One of the papers' programs. Each is one file, and is listed in [`PROGRAMS`](crate::PROGRAMS).
#[derive(Debug)]
pub struct Program {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does and where it comes from, in one sentence.
    pub about: &'static str,
    /// The algorithms that do it, best known first: `run` takes that one unless told.
    pub algorithms: &'static [Algorithm],
    /// What `--size` means and is, unless told.
    pub size: Size,
    /// What else can be said about a case, each as `--NAME VALUE` on the command line.
    pub options: &'static [ProgramOption],
    /// What its computation costs, unless told. The papers' analyses of pure communication count no
    /// computation, so such a program charges what it computes, which is nothing.
    pub work: Work,
}

/// One way to do what a program does.
pub struct Algorithm {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its formula, and where the paper has it.
    pub formula: &'static str,
    /// Reads a case, once: what it asks for, or why that cannot be.
    pub plan: for<'a> fn(&'a Case) -> Planned<'a>,
}

/// A plan, or why there is none.
pub type Planned<'a> = Result<Box<dyn Plan + 'a>, Refusal>;

/// A case that was read and can be run: what it should take, and what it does take.
pub trait Plan {
    /// The paper's closed form for the time; `None` where the paper has none.
    ///
    /// It reads the case and nothing else: neither the model nor a measurement of the run.
    fn formula(&self) -> Option<Time>;

    /// The paper's closed forms for the times of its phases, in order and under the names that
    /// [`Outcome::phases`] has; nothing where the paper has none.
    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        Vec::new()
    }

    /// What its computing costs on this computer, by kind, found in rehearsals of this case's computing alone, by
    /// so many threads at once. Each call rehearses anew. It is asked where there is [need](Case::needs_rehearsal).
    fn rehearse(&self, _threads: usize) -> Costs {
        Costs::default()
    }

    /// Runs it on real data, and compares the result with a sequential reference.
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError>;
}

/// What a phase is called.
pub type PhaseName = Cow<'static, str>;

/// Why a case cannot be, in one sentence that says what could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

/// What a program's size means.
#[derive(Debug)]
pub struct Size {
    /// Such as `items per processor, a word each`.
    pub meaning: &'static str,
    /// The size unless told.
    pub default: usize,
}

/// What can be said about a case beside the size, such as `--alpha RATIO`.
#[derive(Debug)]
pub struct ProgramOption {
    /// Its name, which is the same value in a [`Case`] and `--NAME` on the command line.
    pub name: &'static str,
    /// What its value is called, such as `RATIO`.
    pub value: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
    /// Its value unless told.
    pub default: &'static str,
    /// Whether it says how much there is to do, so that the size says nothing.
    pub instead_of_size: bool,
    /// Refuses a value that cannot be, in a sentence that says which can.
    pub check: fn(&str) -> Result<(), String>,
}

/// A run and what became of its result.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run<()>,
    /// Whether every processor's result is right; if not, what is wrong, in one sentence.
    pub verified: Result<(), String>,
    /// How long its phases took, in order, where it has phases: each from when the first processor began it
    /// to when the last had done it, or as the program says.
    pub phases: Vec<(PhaseName, Time)>,
    /// What else the run showed.
    pub figures: Vec<Figure>,
}

/// Something that a run showed beside its time, such as a rate.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What it is, such as `rate per processor`.
    pub name: &'static str,
    /// Its unit, such as `MB/s`.
    pub unit: &'static str,
    /// The number.
    pub value: f64,
}

impl Program {
    /// Its algorithm with this name.
    pub fn algorithm(&self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms.iter().find(|algorithm| algorithm.name == name)
    }
}

impl Outcome {
    /// A run without phases and figures.
    pub fn new(run: Run<()>, verified: Result<(), String>) -> Outcome {
        Outcome { run, verified, phases: Vec::new(), figures: Vec::new() }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl<S: Into<String>> From<S> for Refusal {
    fn from(why: S) -> Refusal {
        Refusal(why.into())
    }
}
