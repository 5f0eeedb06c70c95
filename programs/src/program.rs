//! Programs and cases. A program has algorithms, each with the paper's prediction of its time and a
//! verification of its result. A case is one algorithm of a program, with a size and a machine.

use std::fmt;

use loggp::schedule::{Schedule, ScheduleError};
use loggp::{
    Capacity, ClockKind, Latency, Level, Machine, Noise, Params, Ports, Protocol, RunError, Ties, Time, Work,
};
use loggp_predict::knows_machine;

use crate::option::{Opt, OptionValue, ProgramOption, TimeSpan};
use crate::{
    ClosedForm, ComputeTimes, Description, Emulation, FormKind, FormTime, Outcome, PhaseName, Predict,
    Refusal, Setting, Size, Trend,
};

/// A program: one of the papers', of which [`PROGRAMS`](crate::PROGRAMS) is the list, or one's own.
#[derive(Debug)]
pub struct Program {
    /// Name on the command line.
    pub name: &'static str,
    /// Purpose and source, in one sentence.
    pub about: &'static str,
    /// Algorithms, the best known first. `run` takes the first one by default.
    pub algorithms: &'static [Algorithm],
    /// Meaning and default of `--size`.
    pub size: Size,
    /// Further options, each `--NAME VALUE` on the command line.
    pub options: &'static [&'static dyn ProgramOption],
    /// Default cost of its computation. The papers' analyses of pure communication count no computation, so
    /// such a program charges its work and has none.
    pub work: Work,
}

/// One algorithm of a program.
#[derive(Debug)]
pub struct Algorithm {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Closed form for its time, and whose it is.
    pub formula: ClosedForm,
    /// Reads a case and plans its run, or refuses the case.
    pub plan: for<'a> fn(&'a Case) -> PlanResult<'a>,
}

impl Algorithm {
    /// Creates an algorithm that was described with its prediction.
    pub(crate) const fn described(
        Description { name, about, formula }: Description,
        plan: for<'a> fn(&'a Case) -> PlanResult<'a>,
    ) -> Algorithm {
        Algorithm { name, about, formula, plan }
    }
}

/// A case to run: an algorithm of a program, with a size and a machine. The case makes the machine, so that a
/// formula and a run are always about the same one.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: &'static Program,
    /// Algorithm of the program.
    pub algorithm: &'static Algorithm,
    /// Parameters of the machine.
    pub params: Params,
    /// Levels within the machine. Programs plan by `params` alone, and their formulas are for one level.
    pub levels: Vec<Level>,
    /// Ports of the machine.
    pub ports: Ports,
    /// Who moves long messages.
    pub rendezvous: Protocol,
    /// Until when a message is in transit, where at most C are.
    pub capacity: Capacity,
    /// Latency of messages.
    pub latency: Latency,
    /// Order of processors that act at the same time.
    pub ties: Ties,
    /// Noise of the processors.
    pub noise: Option<Noise>,
    /// Cost of computing.
    pub work: Work,
    /// Measured times of its computing; `None` where work is not measured or not yet.
    pub compute_times: Option<ComputeTimes>,
    /// Cost of the hardware barrier; `None` if the machine has none.
    pub barrier: Option<Time>,
    /// Size, with the meaning that the program gives it.
    pub size: usize,
    /// Seed of the data.
    pub seed: u64,
    /// Values of all options of the program.
    pub options: Vec<OptionValue>,
}

/// A plan, or the reason why the case cannot be run.
pub type PlanResult<'a> = Result<Box<dyn Plan + 'a>, Refusal>;

/// A case that was read and can be run. [`CasePlan`] has the answers.
pub trait Plan: Predict {
    /// Runs the case on real data, and compares the result with a sequential reference.
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError>;
}

/// A case whose steps and times were predicted apart from its run.
pub(crate) struct PredictedCase<'a, P> {
    pub case: &'a Case,
    pub predicted: P,
}

impl<'a, P: Predict + 'a> PredictedCase<'a, P>
where
    PredictedCase<'a, P>: Plan,
{
    /// Plans a case by its prediction, or hands on a refusal.
    pub(crate) fn plan(case: &'a Case, predicted: Result<P, Refusal>) -> PlanResult<'a> {
        Ok(Box::new(PredictedCase { case, predicted: predicted? }))
    }
}

impl<P: Predict> Predict for PredictedCase<'_, P> {
    fn known_parameters(&self) -> &'static [&'static str] {
        self.predicted.known_parameters()
    }

    fn knows_levels(&self) -> bool {
        self.predicted.knows_levels()
    }

    fn form(&self) -> Option<(FormKind, Time)> {
        self.predicted.form()
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        self.predicted.schedule()
    }
}

/// A case that was read and can be run, with its predicted times.
pub struct CasePlan<'a> {
    case: &'a Case,
    plan: Box<dyn Plan + 'a>,
}

impl CasePlan<'_> {
    /// Returns the names of the parameters with which the closed forms count.
    pub fn known_parameters(&self) -> &'static [&'static str] {
        self.plan.known_parameters()
    }

    /// Returns the closed form's time, with whose it is, and whether it is exact in this case, a bound or an estimate;
    /// `None` where there is no form, and on a machine with parameters that it does not know.
    pub fn form(&self) -> Option<FormTime> {
        // All settings are here: of a new one it must be said whether a form is an estimate with it.
        let Case {
            algorithm,
            params,
            levels,
            rendezvous,
            capacity,
            latency,
            ties,
            noise,
            work,
            program: _,
            ports: _,
            compute_times: _,
            barrier: _,
            size: _,
            seed: _,
            options: _,
        } = self.case;
        let is_usual = *latency == Latency::Exact
            && *rendezvous == Protocol::Push
            && *capacity == Capacity::Arrived
            && *ties == Ties::Number
            && noise.is_none()
            && *work == Work::Charged;
        FormTime::new(&*self.plan, &algorithm.formula, params, levels, is_usual)
    }

    /// Returns the time by the closed form, or `None` where [`form`](CasePlan::form) is.
    pub fn formula(&self) -> Option<Time> {
        self.form().map(|form| form.time)
    }

    /// Returns the times of the phases: see [`Predict::phases`]. There are none on a machine with parameters that the closed
    /// forms do not know.
    pub fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let Case { params, levels, .. } = self.case;
        if knows_machine(&*self.plan, params, levels) { self.plan.phases() } else { Vec::new() }
    }

    /// Returns the predicted trend: see [`Predict::trend`].
    pub fn trend(&self) -> Option<Trend> {
        self.plan.trend()
    }

    /// Returns the run as a schedule: see [`Predict::schedule`].
    pub fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        self.plan.schedule()
    }

    /// Runs the case on real data, and compares the result with a sequential reference.
    pub fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        self.plan.run(emulation)
    }
}

impl Program {
    /// Returns the algorithm with this name.
    pub fn algorithm(&self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms.iter().find(|algorithm| algorithm.name == name)
    }

    /// Returns the option with this name.
    pub fn option(&self, name: &str) -> Option<&'static dyn ProgramOption> {
        self.options.iter().copied().find(|option| option.name() == name)
    }

    /// Returns the default values of all options.
    pub fn defaults(&self) -> Vec<OptionValue> {
        self.options.iter().map(|option| option.default()).collect()
    }
}

impl Case {
    /// Creates a case of a program's algorithm on a machine with these parameters, and with defaults for all
    /// else.
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
            rendezvous: Protocol::default(),
            capacity: Capacity::default(),
            latency: Latency::default(),
            ties: Ties::default(),
            noise: None,
            work: program.work,
            compute_times: None,
            barrier: None,
            size: program.size.default,
            seed: 1,
            options: program.defaults(),
        }
    }

    /// Returns the same case with `more` added to the seeds of latency, ties and noise, but not to that of
    /// the data.
    #[must_use]
    pub fn with_seeds_plus(&self, more: u64) -> Case {
        let change = |seed: u64| seed.wrapping_add(more);
        let case = self.clone();
        Case {
            latency: case.latency.map_seed(change),
            ties: case.ties.map_seed(change),
            noise: case.noise.map(|noise| noise.map_seed(change)),
            ..case
        }
    }

    /// Returns the random settings as options of the command; empty where nothing is random.
    pub fn random_options(&self) -> String {
        let latency = self.latency.is_random().then(|| format!("--latency {}", self.latency));
        let ties = self.ties.is_random().then(|| format!("--ties {}", self.ties));
        let noise = self.noise.as_ref().map(|noise| format!("--noise {noise}"));
        latency.into_iter().chain(ties).chain(noise).collect::<Vec<_>>().join(" ")
    }

    /// Plans the run of the case, or refuses the case.
    pub fn plan(&self) -> Result<CasePlan<'_>, Refusal> {
        self.options.iter().try_for_each(OptionValue::check)?;
        Ok(CasePlan { case: self, plan: (self.algorithm.plan)(self)? })
    }

    /// Checks that the case can be run. A refusal begins with the names of program and algorithm.
    pub fn check(&self) -> Result<(), Refusal> {
        let named = |why| format!("{} {}: {why}", self.program.name, self.algorithm.name).into();
        self.plan().map(drop).map_err(named)
    }

    /// Returns the machine and the size, of which predictions are.
    pub fn setting(&self) -> Setting<'_> {
        let Case { params, levels, ports, barrier, size, .. } = self;
        Setting { params, levels, ports: *ports, barrier: *barrier, size: *size }
    }

    /// Returns the machine that the case runs on.
    pub fn machine(&self, emulation: &Emulation) -> Machine {
        // A real machine's ports and capacity are given; those of the case belong to its model.
        let is_real = emulation.link.is_some() && emulation.clock == ClockKind::Wall;
        let (ports, rendezvous, capacity) =
            if is_real { Default::default() } else { (self.ports, self.rendezvous, self.capacity) };
        let machine = emulation.machine(self.params).ports(ports).rendezvous(rendezvous);
        let machine = machine.capacity(capacity).work(self.work);
        let Case { program, algorithm, size, seed, .. } = self;
        let options = self.options.iter().map(OptionValue::text).collect::<Vec<_>>();
        let machine = machine.latency(self.latency).ties(self.ties).levels(self.levels.iter().copied());
        let machine = machine.noise(self.noise.clone());
        let machine = machine.job_id(&(program.name, algorithm.name, size, seed, options));
        let machine = match &emulation.order {
            Some(order) if !is_real => machine.order(order),
            _ => machine,
        };
        match self.barrier {
            Some(cost) => machine.barrier(cost),
            None => machine,
        }
    }

    /// Returns the same case on a machine whose messages cost nothing: its run takes as long as the
    /// computing.
    pub fn without_message_costs(&self) -> Case {
        let free = Params::builder(self.params.P).word(self.params.word.get()).cycle(self.params.cycle);
        let free = if self.params.G().is_some() { free.G(Time::ZERO) } else { free };
        let params = free.build().expect("a machine may be free");
        let latency = Latency::default();
        Case { params, levels: Vec::new(), latency, noise: None, barrier: None, ..self.clone() }
    }

    /// Returns the value of an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn get<T: Clone + fmt::Debug + Send + Sync>(&self, option: &Opt<T>) -> T {
        let value = self.options.iter().find(|value| value.option().name() == option.name());
        let Some(value) = value else { panic!("{} has no option {}", self.program.name, option.name()) };
        value.downcast::<T>().clone()
    }

    /// Returns the value of an option that is a time, on this case's machine.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    pub fn time(&self, option: &Opt<TimeSpan>) -> Time {
        self.get(option).to_time(self.params.cycle)
    }

    /// Returns the same case with another value for an option.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn with<T>(self, option: &'static Opt<T>, value: T) -> Case
    where
        T: Clone + fmt::Debug + Send + Sync,
    {
        self.with_value(option.value(value))
    }

    /// Returns the same case with another value for an option of any type.
    ///
    /// # Panics
    ///
    /// If the program has no such option.
    #[must_use]
    pub fn with_value(mut self, value: OptionValue) -> Case {
        let (program, name) = (self.program.name, value.option().name());
        let old = self.options.iter_mut().find(|old| old.option().name() == name);
        *old.unwrap_or_else(|| panic!("{program} has no option {name}")) = value;
        self
    }

    /// Returns the same case with the value of an option in the command line's syntax, or refuses it.
    pub fn with_text(self, name: &str, text: &str) -> Result<Case, Refusal> {
        let Some(option) = self.program.option(name) else {
            refuse!("{} has no option {name}", self.program.name);
        };
        let value = option.read(text).map_err(|why| format!("{name} = {text}: {why}"))?;
        Ok(self.with_value(value))
    }
}
