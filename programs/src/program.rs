//! What a program is: algorithms, each with the paper's prediction of its time and the verification of its result. And
//! what a case of it is: which of them, how much of it, and on which machine.

use std::fmt;

use loggp::{ClockKind, Latency, Level, Machine, Noise, Params, Ports, RunError, Ties, Time, Work};

use crate::option::{Length, Opt, ProgramOption, Value};
use crate::{Computing, Emulation, Outcome, PhaseName, Trend};

/// One of the papers' programs. Each is one file, or one and a folder of its name, and is listed in [`PROGRAMS`](crate::PROGRAMS).
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
    pub options: &'static [&'static dyn ProgramOption],
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

/// What to run: a program's algorithm, how much of it, and on which machine. It makes the machine itself, so that a
/// formula and a run never speak of two.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub program: &'static Program,
    /// Its algorithm.
    pub algorithm: &'static Algorithm,
    /// The machine's parameters.
    pub params: Params,
    /// The levels within the machine. Programs plan by the parameters alone, and their formulas are for one level.
    pub levels: Vec<Level>,
    /// The machine's ports.
    pub ports: Ports,
    /// How long messages are under way.
    pub latency: Latency,
    /// Who goes first among processors that act at the same time.
    pub ties: Ties,
    /// The noise of the processors.
    pub noise: Option<Noise>,
    /// What computing costs.
    pub work: Work,
    /// What its computing took, where work is measured and that is known.
    pub computing: Option<Computing>,
    /// The cost of the machine's barrier, if its hardware has one.
    pub barrier: Option<Time>,
    /// The size, as the program means it.
    pub size: usize,
    /// Makes the data.
    pub seed: u64,
    /// The values of the program's options, all of them.
    pub options: Vec<Value>,
}

/// A plan, or why there is none.
pub type Planned<'a> = Result<Box<dyn Plan + 'a>, Refusal>;

/// A case that was read and can be run: what it should take, and what it does take.
pub trait Plan: Sync {
    /// The paper's closed form for the time; `None` where the paper has none.
    ///
    /// It reads the case and nothing else: neither the model nor a measurement of the run.
    fn formula(&self) -> Option<Time>;

    /// The paper's closed forms for the times of its phases, in order and under the names that
    /// [`Outcome::phases`] has; nothing where the paper has none.
    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        Vec::new()
    }

    /// What should change while it runs, as [`Outcome::trend`] shows it; nothing where it shows nothing.
    fn trend(&self) -> Option<Trend> {
        None
    }

    /// Runs it on real data, and compares the result with a sequential reference.
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError>;
}

/// Why a case cannot be, in one sentence that says what could.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

/// What a program's size means.
#[derive(Debug)]
pub struct Size {
    /// What the size counts, such as `items per processor, a word each`.
    pub meaning: &'static str,
    /// The size unless told.
    pub default: usize,
}

impl Program {
    /// Its algorithm with this name.
    pub fn algorithm(&self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms.iter().find(|algorithm| algorithm.name == name)
    }

    /// Its option with this name.
    pub fn option(&self, name: &str) -> Option<&'static dyn ProgramOption> {
        self.options.iter().copied().find(|option| option.name() == name)
    }

    /// The values of its options unless told.
    pub fn defaults(&self) -> Vec<Value> {
        self.options.iter().map(|option| option.default()).collect()
    }
}

impl Case {
    /// A program's algorithm on a machine with these parameters, and with everything else as it is unless
    /// told.
    ///
    /// # Panics
    ///
    /// If the program has no algorithm with this name.
    pub fn new(program: &'static Program, algorithm: &str, params: Params) -> Case {
        let Some(algorithm) = program.algorithm(algorithm) else {
            panic!("{} has no algorithm {algorithm}", program.name);
        };
        Case {
            program,
            algorithm,
            params,
            levels: Vec::new(),
            ports: Ports::default(),
            latency: Latency::default(),
            ties: Ties::default(),
            noise: None,
            work: program.work,
            computing: None,
            barrier: None,
            size: program.size.default,
            seed: 1,
            options: program.defaults(),
        }
    }

    /// The same with seeds that are so much larger, but for that of the data: what is drawn is drawn anew.
    #[must_use]
    pub fn drawn_anew(&self, more: u64) -> Case {
        let mut case = self.clone();
        let noise = case.noise.as_mut().map(Noise::seed_mut);
        for seed in case.latency.seed_mut().into_iter().chain(case.ties.seed_mut()).chain(noise) {
            *seed = seed.wrapping_add(more);
        }
        case
    }

    /// What is drawn, as the command's options say it; nothing where nothing is.
    pub fn drawn(&self) -> String {
        let (mut latency, mut ties) = (self.latency, self.ties);
        let latency = latency.seed_mut().is_some().then(|| format!("--latency {latency}"));
        let ties = ties.seed_mut().is_some().then(|| format!("--ties {ties}"));
        let noise = self.noise.as_ref().map(|noise| format!("--noise {noise}"));
        latency.into_iter().chain(ties).chain(noise).collect::<Vec<_>>().join(" ")
    }

    /// Reads the case; or says why it cannot be.
    pub fn plan(&self) -> Planned<'_> {
        self.options.iter().try_for_each(Value::check)?;
        (self.algorithm.plan)(self)
    }

    /// Whether it can be; if not, why, under the names of the program and the algorithm.
    pub fn check(&self) -> Result<(), Refusal> {
        let named = |why| format!("{} {}: {why}", self.program.name, self.algorithm.name).into();
        self.plan().map(drop).map_err(named)
    }

    /// The machine that it runs on.
    pub fn machine(&self, emulation: &Emulation) -> Machine {
        // A real machine has the ports that it has; those of the case are what its model has.
        let is_real = emulation.over.is_some() && emulation.clock == ClockKind::Wall;
        let ports = if is_real { Ports::default() } else { self.ports };
        let machine = emulation.machine(self.params).ports(ports).work(self.work);
        let Case { program, algorithm, size, seed, .. } = self;
        let options = self.options.iter().map(Value::text).collect::<Vec<_>>();
        let machine = machine.latency(self.latency).ties(self.ties).levels(self.levels.iter().copied());
        let machine = machine.noise(self.noise.clone());
        let machine = machine.case(&(program.name, algorithm.name, size, seed, options));
        let machine = match &emulation.order {
            Some(order) if !is_real => machine.ordered(order),
            _ => machine,
        };
        match self.barrier {
            Some(cost) => machine.barrier(cost),
            None => machine,
        }
    }

    /// The same on a machine whose messages cost nothing: all that a run takes there is computing.
    pub fn free(&self) -> Case {
        let free = Params::builder(self.params.P).word(self.params.word.get()).cycle(self.params.cycle);
        let free = if self.params.G().is_some() { free.G(Time::ZERO) } else { free };
        let params = free.build().expect("a machine may be free");
        let latency = Latency::default();
        Case { params, levels: Vec::new(), latency, noise: None, barrier: None, ..self.clone() }
    }

    /// Refuses a size of 0, and one that a host may not have room for, if so many bytes belong to each of the size.
    pub(crate) fn check_room(&self, each: usize) -> Result<(), Refusal> {
        const MOST: u128 = 1 << 32;
        let bytes = self.size as u128 * each as u128;
        match MOST / each as u128 {
            _ if self.size == 0 => Err("a size of 0 leaves nothing to do; give at least 1".into()),
            0 => Err(format!("{} processors would hold more than {MOST} bytes of data; give fewer", self.params.P).into()),
            most if bytes > MOST => Err(format!(
                "the processors would hold {bytes} bytes of data, which is too much; give a size of at most {most}"
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// Refuses a machine on which even a message of a word waits for its receiver: where all send at once, all
    /// would wait.
    pub(crate) fn check_eager(&self) -> Result<(), Refusal> {
        match self.params.is_synchronous(1) && self.params.P > 1 {
            true => {
                Err("all processors send at once, and with S = 0 each would wait for the others to receive; \
                     give S of at least 1"
                    .into())
            }
            false => Ok(()),
        }
    }

    /// The value of an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn get<T: Clone>(&self, option: &Opt<T>) -> T {
        let value = self.options.iter().find(|value| value.option().name() == option.name);
        let Some(value) = value else { panic!("{} has no option {}", self.program.name, option.name) };
        value.held::<T>().clone()
    }

    /// The value of an option that says how long something takes on this case's machine.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn time(&self, option: &Opt<Length>) -> Time {
        self.get(option).on(self.params.cycle)
    }

    /// The same case with another value for an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn with<T>(self, option: &'static Opt<T>, value: T) -> Case
    where
        T: Clone + fmt::Debug + Send + Sync,
    {
        self.set(option.of(value))
    }

    /// The same case with another value for an option, whatever its type.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn set(mut self, value: Value) -> Case {
        let (program, name) = (self.program.name, value.option().name());
        let old = self.options.iter_mut().find(|old| old.option().name() == name);
        *old.unwrap_or_else(|| panic!("{program} has no option {name}")) = value;
        self
    }

    /// The same case with a value for an option as the command line has it; or why that cannot be.
    pub fn told(self, name: &str, text: &str) -> Result<Case, Refusal> {
        let Some(option) = self.program.option(name) else {
            return Err(format!("{} has no option {name}", self.program.name).into());
        };
        let value = option.read(text).map_err(|why| format!("{name} = {text}: {why}"))?;
        Ok(self.set(value))
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<S: Into<String>> From<S> for Refusal {
    fn from(why: S) -> Refusal {
        Refusal(why.into().replace(char::is_control, " ")) // it may quote what was read
    }
}
