//! A request of the page: an algorithm on a machine.

use loggp_model::params::Parameter;
use loggp_model::params::{Params, Ports};
use loggp_model::time::{NS, Time, US};
use loggp_predict::preset;

/// A request.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageRequest {
    pub what: String,
    pub algorithm: String,
    pub machine: Option<String>,
    pub params: String,
    pub cycle: Option<String>,
    pub size: Option<usize>,
    pub ports: Option<String>,
    /// Without it there are numbers alone.
    pub columns: Option<bool>,
    /// True if the run is wanted as a timeline's page has it.
    pub page: bool,
    /// Without it the page has no causes.
    pub causes: Option<bool>,
    pub algorithms: Vec<String>,
    /// Along it the algorithms are compared.
    pub along: ParameterRange,
    pub x: ParameterRange,
    pub y: ParameterRange,
    pub rows: Option<(usize, usize)>,
    pub beside: Option<Box<PageRequest>>,
    pub name: String,
}

/// A parameter and its range.
#[derive(Clone, Debug)]
pub(crate) struct ParameterRange {
    pub over: String,
    pub from: String,
    pub to: String,
    pub points: usize,
    pub log: bool,
}

impl Default for ParameterRange {
    fn default() -> ParameterRange {
        ParameterRange { over: String::new(), from: String::new(), to: String::new(), points: 33, log: false }
    }
}

/// A machine and a size.
#[derive(Clone, Debug)]
pub(crate) struct PageSetting {
    pub params: Params,
    pub ports: Ports,
    pub size: Option<usize>,
    /// The unit of a schedule's computations.
    pub unit: Time,
}

impl PageRequest {
    /// Reads a request: lines of a name and a value.
    pub(crate) fn read(text: &str) -> Result<PageRequest, String> {
        let mut request = PageRequest::default();
        for line in text.lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            request.set(name, value)?;
        }
        Ok(request)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name.split_once('.') {
            Some(("x", name)) => return self.x.set(name, value),
            Some(("y", name)) => return self.y.set(name, value),
            Some(("beside", name)) => return self.beside.get_or_insert_default().set(name, value),
            _ => {}
        }
        let text = || value.to_string();
        match name {
            "do" => self.what = text(),
            "algorithm" => self.algorithm = text(),
            "machine" => self.machine = Some(text()),
            "params" => self.params = text(),
            "cycle" => self.cycle = Some(text()),
            "size" => self.size = Some(count(name, value)?),
            "ports" => self.ports = Some(text()),
            "columns" => self.columns = Some(flag(name, value)?),
            "causes" => self.causes = Some(flag(name, value)?),
            "page" => self.page = flag(name, value)?,
            "algorithms" => self.algorithms = value.split(',').map(String::from).collect(),
            "rows" => {
                let (from, to) =
                    value.split_once(',').ok_or("rows: give the first and the one behind the last")?;
                self.rows = Some((count(name, from)?, count(name, to)?));
            }
            "name" => self.name = text(),
            _ => return self.along.set(name, value),
        }
        Ok(())
    }

    /// Reads the setting.
    pub(crate) fn setting(&self) -> Result<PageSetting, String> {
        let mut builder = match &self.machine {
            Some(name) => preset(name).map_err(|why| why.to_string())?.builder(),
            None => Params::builder(8),
        };
        if let Some(cycle) = &self.cycle {
            let cycle = Time::parse(cycle, US).map_err(|why| format!("cycle = {cycle}: {why}"))?;
            builder = builder.cycle(cycle);
        }
        if !self.params.trim().is_empty() {
            builder = builder.set(&self.params).map_err(|why| why.to_string())?;
        }
        let params = builder.build().map_err(|why| why.to_string())?;
        let ports = match &self.ports {
            Some(ports) => ports.parse().map_err(|why| format!("ports = {ports}: {why}"))?,
            None => Ports::default(),
        };
        let unit = if self.machine.is_none() { params.cycle } else { NS };
        Ok(PageSetting { params, ports, size: self.size, unit })
    }

    /// Returns the machine's options of `loggp replay`, which takes the number of processors from the schedule, and
    /// a word for a byte by default.
    pub(crate) fn replay_options(&self, setting: &PageSetting) -> String {
        let is = |part: &&str, name: &str| part.split('=').next().is_some_and(|other| other.trim() == name);
        let mut params: Vec<&str> = self.params.split(',').filter(|part| !is(part, "P")).collect();
        let word = format!("word={}", setting.params.word);
        if self.machine.is_none() && !params.iter().any(|part| is(part, "word")) {
            params.push(&word);
        }
        PageRequest { params: params.join(","), ..self.clone() }.machine_options(setting)
    }

    /// Returns the machine's options of the command.
    pub(crate) fn machine_options(&self, setting: &PageSetting) -> String {
        let machine = self.machine.iter().map(|name| format!(" --machine {name}"));
        let cycle = self.cycle.iter().map(|cycle| format!(" --cycle {}", without_spaces(cycle)));
        let params = without_spaces(&self.params);
        let params = (!params.is_empty()).then(|| format!(" --params {params}"));
        let ports = (setting.ports != Ports::default()).then(|| format!(" --ports {}", setting.ports));
        machine.chain(cycle).chain(params).chain(ports).collect()
    }
}

pub(crate) fn without_spaces(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

impl PageSetting {
    /// Returns the same setting with another value of a parameter, or of the size.
    pub(crate) fn with(&self, name: &str, value: i64) -> Result<PageSetting, String> {
        if name == "size" {
            return Ok(PageSetting { size: usize::try_from(value).ok(), ..self.clone() });
        }
        Ok(PageSetting {
            params: self.params.with(name, value).map_err(|why| why.to_string())?,
            ..self.clone()
        })
    }
}

/// Reads a whole number.
fn count(name: &str, value: &str) -> Result<usize, String> {
    value.trim().parse().map_err(|_| format!("{name} = {value}: give a whole number"))
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("{name} = {value}: give true or false"))
}

impl ParameterRange {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "over" => self.over = value.into(),
            "from" => self.from = value.into(),
            "to" => self.to = value.into(),
            "points" => self.points = count(name, value)?,
            "log" => self.log = flag(name, value)?,
            _ => return Err(format!("a request has no {name}; see README.md")),
        }
        Ok(())
    }

    /// Returns the values in the range, in picoseconds where they are times, ascending and each once.
    pub(crate) fn values(&self, cycle: Time) -> Result<Vec<i64>, String> {
        const MOST: usize = 512;
        let ParameterRange { over, points, log, .. } = self;
        if over != "size" && Parameter::by_name(over).is_none() {
            return Err(format!("there is no parameter {over}; give one of {}, or size", Parameter::names()));
        }
        let [from, to] = [self.read(&self.from, cycle)?, self.read(&self.to, cycle)?];
        if from > to {
            return Err(format!("{over} from {} to {}: give the smaller one first", self.from, self.to));
        }
        if *points == 0 || *points > MOST {
            return Err(format!("{points} points are no picture; give 1 to {MOST}"));
        }
        if *log && from <= 0 {
            return Err(format!("{over} from {}: give more than 0, or steps that are equal", self.from));
        }
        let value = |point: usize| {
            let share = point as f64 / (points.max(&2) - 1) as f64;
            let (from, to) = (from as f64, to as f64);
            let value = if *log { from * (to / from).powf(share) } else { from + (to - from) * share };
            value.round() as i64
        };
        let mut values: Vec<i64> = (0..*points).map(value).collect();
        if let Some(last) = values.last_mut().filter(|_| *points > 1) {
            *last = to; // whatever rounding does
        }
        values.dedup();
        Ok(values)
    }

    /// Returns whether the values are times.
    pub(crate) fn is_time(&self) -> bool {
        Parameter::by_name(&self.over).is_some_and(Parameter::is_time)
    }

    /// Returns a value as text.
    pub(crate) fn text(&self, value: i64) -> String {
        if self.is_time() { Time::from_ps(value).to_string() } else { value.to_string() }
    }

    fn read(&self, text: &str, cycle: Time) -> Result<i64, String> {
        let over = &self.over;
        if self.is_time() {
            return Time::parse(text, cycle)
                .map(Time::as_ps)
                .map_err(|why| format!("{over} = {text}: {why}"));
        }
        text.trim().parse().map_err(|_| format!("{over} = {text}: give a whole number"))
    }
}
