//! A program and everything that decides how it runs, but for the algorithm.

use loggp::{Latency, Machine, Params, RunError, Time, Trace, Work, parse_time};
use loggp_programs::{Algorithm, Case, Costs, Outcome, Program};

use super::choice::Choice;
use super::failure::Failure;
use super::name;
use super::number::{Unit, thousands};
use super::options::{ClockOption, Options, PortsOption};
use super::progress::Progress;
use super::range::{Kind, Point, takes};
use super::row::{Phase, Prediction, Row, Times};

/// What shall run, and where.
pub struct Setting<'a> {
    /// The program.
    pub program: &'static dyn Program,
    /// The machine.
    pub choice: Choice,
    /// The clock. On the wall clock everything runs on the virtual one too.
    pub clock: ClockOption,
    /// The cost of the machine's own barrier, if it has one.
    barrier: Option<Time>,
    /// The values of the program's own options.
    own: Vec<(&'static str, String)>,
    /// Where in a sweep this is.
    pub point: Option<Point>,
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

/// The runs of an algorithm on one clock.
struct Runs {
    /// The one with the median time.
    median: Outcome,
    /// The times of all.
    times: Times,
    /// What is wrong with the result of one.
    wrong: Option<String>,
}

impl Runs {
    /// From what became of them; there is at least one.
    fn of(mut outcomes: Vec<Outcome>) -> Runs {
        outcomes.sort_by_key(|outcome| outcome.run.time);
        let last = outcomes.len() - 1;
        let (min, max) = (outcomes[0].run.time, outcomes[last].run.time);
        let wrong = outcomes.iter().find_map(|outcome| outcome.verified.clone().err());
        let median = outcomes.swap_remove(last / 2);
        Runs { times: Times { median: median.run.time, min, max }, median, wrong }
    }
}

impl<'a> Setting<'a> {
    /// The program with this name, as the options want it, on this clock unless they say which.
    pub fn of(program: &str, options: &'a Options, clock: ClockOption) -> Result<Setting<'a>, Failure> {
        let program = name::program(program)?;
        let clock = options.clock_or(clock)?;
        Setting::on(program, Choice::of(options)?, clock, options)
    }

    /// The program on this machine, as the options want it.
    fn on(
        program: &'static dyn Program,
        choice: Choice,
        clock: ClockOption,
        options: &'a Options,
    ) -> Result<Setting<'a>, Failure> {
        let own = options.own.of(program)?;
        let barrier =
            options.barrier.as_deref().map(|text| barrier(text, choice.params.cycle)).transpose()?;
        Ok(Setting { program, choice, clock, barrier, own, point: None, options })
    }

    /// The same at a point of a sweep.
    pub fn at(
        program: &'static dyn Program,
        options: &'a Options,
        clock: ClockOption,
        point: &Point,
    ) -> Result<Setting<'a>, Failure> {
        takes(program, point.of.kind, &point.value).map_err(Failure::Request)?;
        let choice = Choice::with(options, point.parameter())?;
        let mut setting = Setting::on(program, choice, clock, options)?;
        for (_, value) in setting.own.iter_mut().filter(|(name, _)| point.of.kind == Kind::Own(name)) {
            *value = point.value.clone();
        }
        Ok(Setting { point: Some(point.clone()), ..setting })
    }

    /// How many runs of an algorithm there are.
    pub fn runs(&self) -> usize {
        let clocks = if self.clock == ClockOption::Wall { 2 } else { 1 };
        clocks * self.options.repeat
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

    /// Runs an algorithm, as often as was asked for, and reports the run with the median time. The model comes
    /// first: what fails there need not be measured.
    pub fn run(
        &self,
        algorithm: &'static Algorithm,
        trace: bool,
        progress: &Progress,
    ) -> Result<Done, RunError> {
        let mut case = self.case(algorithm);
        // There is a rehearsal before each run that is reported, so that both see the host as it is then.
        let mut rehearsals = Vec::new();
        let mut runs = |clock: ClockOption| -> Result<Runs, RunError> {
            let machine = self.machine().clock(clock.into()).trace(trace && clock == self.clock);
            let run = |_| {
                if clock == self.clock {
                    rehearsals.push(self.program.rehearse(&case));
                }
                self.program.run(&case, &machine).inspect(|_| progress.step())
            };
            Ok(Runs::of((0..self.options.repeat).map(run).collect::<Result<_, _>>()?))
        };
        let model = runs(ClockOption::Virtual)?;
        let measured = (self.clock == ClockOption::Wall).then(|| runs(ClockOption::Wall)).transpose()?;
        case.costs = Costs::median(&rehearsals);

        let prediction = Prediction {
            formula: self.program.formula(&case),
            model: Some(model.times.median),
            measured: measured.as_ref().map(|measured| measured.times),
        };
        let phases = phases(&self.program.phases(&case), &model, measured.as_ref());
        let Runs { median: mut outcome, mut wrong, .. } = model;
        if let Some(measured) = measured {
            outcome = measured.median;
            wrong = wrong.or(measured.wrong);
        }
        let trace = outcome.run.trace.take();
        let row = Row { phases, ..Row::new(self, algorithm, prediction, &outcome, wrong.is_none()) };
        Ok(Done { row, wrong, trace })
    }

    /// The size.
    pub fn size(&self) -> usize {
        let swept = self.point.as_ref().and_then(Point::size);
        swept.or(self.options.size).unwrap_or(self.program.size().default)
    }

    /// What computing costs.
    fn work(&self) -> Work {
        self.options.work.map_or(self.program.work(), Work::from)
    }

    /// What an algorithm has to do.
    fn case(&self, algorithm: &'static Algorithm) -> Case {
        Case {
            algorithm,
            params: self.choice.params,
            ports: self.options.ports.into(),
            work: self.work(),
            cores: self.machine().clock(self.clock.into()).at_once(),
            costs: Costs::default(),
            barrier: self.barrier,
            size: self.size(),
            seed: self.options.seed,
            options: self.own.clone(),
        }
    }

    /// The values of the program's own options, as in `alpha=0.5,beta=1`.
    pub fn own(&self) -> String {
        let parts: Vec<String> = self.own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        parts.join(",")
    }

    /// Those that are not as usual.
    fn unusual(&self) -> impl Iterator<Item = &(&'static str, String)> {
        let usual = self.program.options();
        self.own.iter().filter(|(name, value)| usual.iter().any(|o| o.name == *name && o.default != value))
    }

    /// The machine, with its settings.
    fn machine(&self) -> Machine {
        let options = self.options;
        let mut machine = Machine::new(self.choice.params)
            .ports(options.ports.into())
            .latency(options.latency)
            .work(self.work())
            .dilation(options.dilation.unwrap_or_default());
        if let Some(cost) = self.barrier {
            machine = machine.barrier(cost);
        }
        if let Some(bytes) = options.stack {
            machine = machine.stack(bytes);
        }
        if let Some(cores) = options.cores {
            machine = machine.cores(cores);
        }
        machine
    }

    /// The unit of its times.
    pub fn unit(&self) -> &Unit {
        &self.choice.unit
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
        let meaning = self.program.size().meaning;
        let swept = |name: &str| self.point.as_ref().map(|point| &point.of).filter(|of| of.name == name);
        let parameters = parameters(params, unit);
        let parameter = |part: &str| match part.split_once(" = ").and_then(|(name, _)| swept(name)) {
            Some(of) => of.shown(unit),
            None => part.into(),
        };
        let parameters: Vec<String> = parameters.split(", ").map(parameter).collect();
        let size = swept("size").map_or(format!("size {}", thousands(self.size())), |of| of.shown(unit));
        let mut heading = format!(
            "{}{on}: {}{cycles}\n{size} ({meaning}), {} clock, times in {}",
            self.program.name(),
            parameters.join(", "),
            self.clock.name(),
            unit.name,
        );
        if self.work() != self.program.work() {
            heading += match self.work() {
                Work::Measured => ", work measured",
                Work::Charged => ", work charged",
            };
        }
        for (name, value) in self.unusual() {
            heading +=
                &swept(name).map_or(format!(", {name} = {value}"), |of| format!(", {}", of.shown(unit)));
        }
        if let Latency::Random { seed } = self.options.latency {
            heading += &format!(", random latency (seed {seed})");
        }
        if self.options.ports == PortsOption::Dual {
            heading += ", dual ports";
        }
        if let Some(cost) = self.barrier {
            heading += &format!(", a barrier takes {cost}");
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

/// Reads the cost of a barrier.
fn barrier(text: &str, cycle: Time) -> Result<Time, Failure> {
    let refused = |why| Failure::Request(format!("--barrier: {why}"));
    let cost = parse_time(text, cycle).map_err(refused)?;
    if cost >= Time::ZERO { Ok(cost) } else { Err(refused("a barrier takes no less than 0".into())) }
}

/// What was predicted for the phases of a run, and what became of them.
fn phases(formulas: &[(&'static str, Option<Time>)], model: &Runs, measured: Option<&Runs>) -> Vec<Phase> {
    let time = |runs: &Runs, name| {
        let phases = &runs.median.phases;
        phases.iter().find(|(other, _)| *other == name).map(|(_, time)| *time)
    };
    let phase = |&(name, model): &(&'static str, Time)| {
        let formula = formulas.iter().find(|(other, _)| *other == name).and_then(|(_, time)| *time);
        let single = |time| Times { median: time, min: time, max: time };
        let measured = measured.and_then(|runs| time(runs, name)).map(single);
        Phase { phase: name, prediction: Prediction { formula, model: Some(model), measured } }
    };
    model.median.phases.iter().map(phase).collect()
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
