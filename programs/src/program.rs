//! What a program is: an algorithm, the paper's prediction of its time, and the verification of its result.

use loggp::{Machine, Params, Ports, Run, RunError, Time, Work};

use crate::costs::Costs;

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

    /// What else can be said about a case, each as `--NAME VALUE` on the command line.
    fn options(&self) -> &'static [ProgramOption] {
        &[]
    }

    /// What its computation costs, unless told. The papers' analyses of pure communication count no
    /// computation, so such a program charges what it computes, which is nothing.
    fn work(&self) -> Work {
        Work::Measured
    }

    /// Refuses a case that the program cannot do, in one sentence that says which it can.
    fn check(&self, _case: &Case) -> Result<(), String> {
        Ok(())
    }

    /// What its computing costs on this computer, by kind, found in rehearsals of this case's computing alone.
    /// Nothing where there is no [need](Case::needs_rehearsal). Each call rehearses anew.
    fn rehearse(&self, _case: &Case) -> Costs {
        Costs::default()
    }

    /// The paper's closed form for the time; `None` where the paper has none.
    ///
    /// It reads the case and nothing else: neither the model nor a measurement of the run.
    fn formula(&self, case: &Case) -> Option<Time>;

    /// The paper's closed forms for the times of its phases, in order and under the names that
    /// [`Outcome::phases`] has; nothing where the paper has none.
    fn phases(&self, _case: &Case) -> Vec<(&'static str, Option<Time>)> {
        Vec::new()
    }

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
    /// Refuses a value that cannot be, in a sentence that says which can.
    pub check: fn(&str) -> Result<(), String>,
}

/// What to run: a program's algorithm on a machine, and how much of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The machine's parameters.
    pub params: Params,
    /// The machine's ports.
    pub ports: Ports,
    /// What computing costs.
    pub work: Work,
    /// How many processors compute at the same time, on as many of the host's cores. Where work is measured, a
    /// rehearsal must know.
    pub cores: usize,
    /// What computing costs where work is measured, as rehearsals have found.
    pub costs: Costs,
    /// The cost of the machine's barrier, if its hardware has one.
    pub barrier: Option<Time>,
    /// The size, as the program means it.
    pub size: usize,
    /// Makes the data.
    pub seed: u64,
    /// The values of the program's options, all of them.
    pub options: Vec<(&'static str, String)>,
}

impl Case {
    /// A program's algorithm on a machine with these parameters, and with everything else as it is unless
    /// told.
    ///
    /// # Panics
    ///
    /// If the program has no algorithm with this name.
    pub fn new(program: &dyn Program, algorithm: &str, params: Params) -> Case {
        let named = |a: &&Algorithm| a.name == algorithm;
        let Some(algorithm) = program.algorithms().iter().find(named) else {
            panic!("{} has no algorithm {algorithm}", program.name());
        };
        Case {
            algorithm,
            params,
            ports: Ports::default(),
            work: program.work(),
            cores: 1,
            costs: Costs::default(),
            barrier: None,
            size: program.size().default,
            seed: 1,
            options: program.options().iter().map(|option| (option.name, option.default.into())).collect(),
        }
    }

    /// Whether a formula needs to know what computing costs on this computer: where work is charged the case says
    /// it, and for LogGPS the papers have no formulas.
    pub fn needs_rehearsal(&self) -> bool {
        self.work == Work::Measured && self.params.is_loggp()
    }

    /// The same case with another value for an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Case {
        let option = self.options.iter_mut().find(|(other, _)| *other == name);
        option.unwrap_or_else(|| panic!("there is no option {name}")).1 = value.to_string();
        self
    }

    /// The value of an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn option(&self, name: &str) -> &str {
        let option = self.options.iter().find(|(other, _)| *other == name);
        &option.unwrap_or_else(|| panic!("there is no option {name}")).1
    }

    /// The value of an option as a number or whatever it is; nothing if it is none.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.option(name).parse().ok()
    }
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
    pub phases: Vec<(&'static str, Time)>,
    /// What else the run showed.
    pub figures: Vec<Figure>,
}

impl Outcome {
    /// A run without phases and figures.
    pub fn new(run: Run<()>, verified: Result<(), String>) -> Outcome {
        Outcome { run, verified, phases: Vec::new(), figures: Vec::new() }
    }
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
