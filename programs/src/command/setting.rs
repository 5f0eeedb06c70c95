//! A program and everything that decides how it runs, but for the algorithm.

use loggp::{Latency, Machine, Params, RunError, Time, Trace, Work};
use loggp_programs::{Algorithm, Case, Outcome, Program};

use super::choice::Choice;
use super::failure::Failure;
use super::name;
use super::number::{Unit, thousands};
use super::options::{HALVES, Options, PortsOption};
use super::row::{Prediction, Row};

/// What shall run, and where.
pub struct Setting<'a> {
    /// The program.
    pub program: &'static dyn Program,
    /// The machine.
    pub choice: Choice,
    /// All the rest.
    pub options: &'a Options,
}

/// A run that came to its end.
pub struct Done {
    /// What there is to report.
    pub row: Row,
    /// What is wrong with its result, in one sentence.
    pub wrong: Option<String>,
    /// What happened, if that was recorded.
    pub trace: Option<Trace>,
}

impl<'a> Setting<'a> {
    /// The program with this name, as the options want it.
    pub fn of(program: &str, options: &'a Options) -> Result<Setting<'a>, Failure> {
        Ok(Setting { program: name::program(program)?, choice: Choice::of(options)?, options })
    }

    /// The program's algorithm with this name; its best known one without a name.
    pub fn algorithm(&self, name: Option<&str>) -> Result<&'static Algorithm, Failure> {
        match name {
            Some(name) => name::algorithm(self.program, name),
            None => Ok(&self.program.algorithms()[0]),
        }
    }

    /// Refuses what an algorithm cannot do here.
    pub fn check(&self, algorithm: &'static Algorithm) -> Result<(), Failure> {
        let refused = |why| Failure::Request(format!("{} {}: {why}", self.program.name(), algorithm.name));
        self.program.check(&self.case(algorithm)).map_err(refused)
    }

    /// Runs an algorithm, as often as was asked for, and reports the run with the median time.
    pub fn run(&self, algorithm: &'static Algorithm, trace: bool) -> Result<Done, RunError> {
        let case = self.case(algorithm);
        let machine = self.machine().trace(trace);
        let formula = self.program.formula(&case);
        let mut outcomes = Vec::new();
        for _ in 0..self.options.repeat {
            outcomes.push(self.program.run(&case, &machine)?);
        }
        outcomes.sort_by_key(|outcome| outcome.run.time);
        let wrong = outcomes.iter().find_map(|outcome| outcome.verified.clone().err());
        let Outcome { mut run, .. } = outcomes.swap_remove((outcomes.len() - 1) / 2);
        let trace = run.trace.take();
        let prediction = Prediction { formula, model: Some(run.time), measured: None };
        let row = Row::new(self, algorithm, prediction, &run, wrong.is_none());
        Ok(Done { row, wrong, trace })
    }

    /// The size.
    pub fn size(&self) -> usize {
        self.options.size.unwrap_or(self.program.size().default)
    }

    /// What computing costs.
    fn work(&self) -> Work {
        self.options.work.map_or(self.program.work(), Work::from)
    }

    /// What an algorithm has to do.
    fn case(&self, algorithm: &'static Algorithm) -> Case {
        let &Options { seed, alpha, .. } = self.options;
        Case { algorithm, params: self.choice.params, size: self.size(), seed, alpha }
    }

    /// The machine, with its settings.
    fn machine(&self) -> Machine {
        let options = self.options;
        let machine = Machine::new(self.choice.params)
            .clock(options.clock.into())
            .ports(options.ports.into())
            .latency(options.latency)
            .work(self.work());
        match options.stack {
            Some(bytes) => machine.stack(bytes),
            None => machine,
        }
    }

    /// What stands above a table: the program, the machine and its parameters; and below that the size, and
    /// whatever is not as usual.
    pub fn heading(&self) -> String {
        let Choice { preset, params, unit } = &self.choice;
        let on = preset.map_or(String::new(), |preset| format!(" on {}", preset.name));
        let cycles = match unit.is_cycle() {
            true => format!(" (a cycle is {})", params.cycle),
            false => String::new(),
        };
        let size = self.program.size().meaning;
        let mut heading = format!(
            "{}{on}: {}{cycles}\nsize {} ({size}), {} clock, times in {}",
            self.program.name(),
            parameters(params, unit),
            thousands(self.size()),
            self.options.clock.name(),
            unit.name,
        );
        if self.work() != self.program.work() {
            heading += match self.work() {
                Work::Measured => ", work measured",
                Work::Charged => ", work charged",
            };
        }
        if self.options.alpha != HALVES {
            heading += &format!(", alpha = {}", self.options.alpha);
        }
        if let Latency::Random { seed } = self.options.latency {
            heading += &format!(", random latency (seed {seed})");
        }
        if self.options.ports == PortsOption::Dual {
            heading += ", dual ports";
        }
        if self.options.repeat > 1 {
            heading += &format!(", median of {} runs", self.options.repeat);
        }
        heading
    }

    /// Why an algorithm has no formula here, in one sentence.
    pub fn why_no_formula(&self, algorithm: &Algorithm) -> String {
        let Algorithm { name, formula, .. } = algorithm;
        match formula.strip_prefix("none: ") {
            Some(why) => format!("{name} has no formula: {why}"),
            None if !self.choice.params.is_loggp() => {
                "no formulas: they are for LogP and LogGP, and this is a LogGPS machine".into()
            }
            None => format!("{name} has no formula for this machine; in general it is {formula}"),
        }
    }

    /// Why a formula need not be the time here, in one sentence.
    pub fn why_not_exact(&self) -> Option<String> {
        let random = matches!(self.options.latency, Latency::Random { .. });
        random.then(|| "formulas take every message to be under way for exactly L".into())
    }
}

/// A machine's parameters, in a line.
pub fn parameters(params: &Params, unit: &Unit) -> String {
    let time = |(name, time): (&str, Time)| format!("{name} = {}", unit.show(time));
    let count = |(name, count): (&str, usize)| match name {
        "word" if count == 1 => "word = 1 byte".into(),
        "word" => format!("word = {} bytes", thousands(count)),
        // LogGPS's lengths without a limit are as long as a message can be.
        "s" | "S" if count == u32::MAX as usize => format!("{name} unlimited"),
        _ => format!("{name} = {}", thousands(count)),
    };
    let times = params.times().into_iter().map(time);
    times.chain(params.counts().into_iter().map(count)).collect::<Vec<_>>().join(", ")
}
