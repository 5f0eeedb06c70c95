//! A program and everything that decides how it runs, but for the algorithm.

use loggp::{Latency, Parameter, Params, Time, Work, parse_time};
use loggp_programs::{Algorithm, Case, Costs, Emulation, Program, Study};

use super::choice::Choice;
use super::failure::Failure;
use super::name;
use super::number::{Unit, count, thousands};
use super::options::{ClockOption, Options, PortsOption};
use super::range::{Kind, Point, takes};

/// What shall run, and where.
pub struct Setting<'a> {
    /// The program.
    pub program: &'static Program,
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

impl<'a> Setting<'a> {
    /// The program with this name, as the options want it, on this clock unless they say which.
    pub fn of(program: &str, options: &'a Options, clock: ClockOption) -> Result<Setting<'a>, Failure> {
        let program = name::program(program)?;
        let clock = options.clock_or(clock)?;
        Setting::on(program, Choice::of(options)?, clock, options)
    }

    /// The program on this machine, as the options want it.
    fn on(
        program: &'static Program,
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
        program: &'static Program,
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

    /// The program's algorithm with this name; its best known one without a name.
    pub fn algorithm(&self, name: Option<&str>) -> Result<&'static Algorithm, Failure> {
        match name {
            Some(name) => name::algorithm(self.program, name),
            None => Ok(&self.program.algorithms[0]),
        }
    }

    /// The study of an algorithm here. Refuses what it cannot do.
    pub fn study(&self, algorithm: &'static Algorithm, trace: bool) -> Result<Study, Failure> {
        let study = Study {
            case: self.case(algorithm),
            emulation: self.emulation(trace),
            repeat: self.options.repeat,
        };
        let refused = |why| Failure::Request(format!("{} {}: {why}", self.program.name, algorithm.name));
        study.case.plan().map(drop).map_err(refused)?;
        Ok(study)
    }

    /// The size.
    pub fn size(&self) -> usize {
        let swept = self.point.as_ref().and_then(Point::size);
        swept.or(self.options.size).unwrap_or(self.program.size.default)
    }

    /// What computing costs.
    fn work(&self) -> Work {
        self.options.work.map_or(self.program.work, Work::from)
    }

    /// What an algorithm has to do.
    fn case(&self, algorithm: &'static Algorithm) -> Case {
        Case {
            program: self.program,
            algorithm,
            params: self.choice.params,
            ports: self.options.ports.into(),
            latency: self.options.latency,
            work: self.work(),
            costs: Costs::default(),
            barrier: self.barrier,
            size: self.size(),
            seed: self.options.seed,
            options: self.own.clone(),
        }
    }

    /// How it does it.
    fn emulation(&self, trace: bool) -> Emulation {
        let Options { dilation, cores, stack, .. } = *self.options;
        Emulation { clock: self.clock.into(), dilation: dilation.unwrap_or_default(), cores, stack, trace }
    }

    /// The values of the program's own options, as in `alpha=0.5,beta=1`.
    pub fn own(&self) -> String {
        let parts: Vec<String> = self.own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        parts.join(",")
    }

    /// Those that are not as usual.
    fn unusual(&self) -> impl Iterator<Item = &(&'static str, String)> {
        let usual = self.program.options;
        self.own.iter().filter(|(name, value)| usual.iter().any(|o| o.name == *name && o.default != value))
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
        let meaning = self.program.size.meaning;
        let swept = |name: &str| self.point.as_ref().map(|point| &point.of).filter(|of| of.name == name);
        let parameters = parameters(params, unit);
        let parameter = |part: &str| match part.split_once(" = ").and_then(|(name, _)| swept(name)) {
            Some(of) => of.shown(unit),
            None => part.into(),
        };
        let parameters: Vec<String> = parameters.split(", ").map(parameter).collect();
        let size = swept("size").map_or(format!("size {}", thousands(self.size())), |of| of.shown(unit));
        let own = |(name, value): &(&'static str, String)| {
            swept(name).map_or(format!("{name} = {value}"), |of| of.shown(unit))
        };
        let (instead, others): (Vec<_>, Vec<_>) = self.unusual().partition(|(name, _)| {
            self.program.options.iter().any(|option| option.name == *name && option.instead_of_size)
        });
        let size = match instead[..] {
            [] => format!("{size} ({meaning})"),
            _ => instead.into_iter().map(own).collect::<Vec<_>>().join(", "),
        };
        let mut heading = format!(
            "{}{on}: {}{cycles}\n{size}, {} clock, times in {}",
            self.program.name,
            parameters.join(", "),
            self.clock.name(),
            unit.name,
        );
        if self.work() != self.program.work {
            heading += match self.work() {
                Work::Measured => ", work measured",
                Work::Charged => ", work charged",
            };
        }
        for other in others {
            heading += &format!(", {}", own(other));
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

/// A machine's parameters, in a line.
pub fn parameters(params: &Params, unit: &Unit) -> String {
    let time = |(name, time): (&str, Time)| format!("{name} = {}", unit.show(time));
    let count = |(name, n): (&str, usize)| match Parameter::named(name).and_then(|parameter| parameter.unit) {
        // LogGPS's lengths without a limit are as long as a message can be.
        Some("word") if n == u32::MAX as usize => format!("{name} unlimited"),
        Some(unit @ "byte") => format!("{name} = {}", count(n, unit)),
        _ => format!("{name} = {}", thousands(n)),
    };
    params.times().map(time).chain(params.counts().map(count)).collect::<Vec<_>>().join(", ")
}
