//! Ranges of sweeps: a quantity and its values, such as `L=1us..100us:10`, `size=1..4096:log:13` or
//! `P=2,3,5,8`.

use loggp::params::{LevelParameter, LeveledParams, Parameter};
use loggp::{ParamsBuilder, Time};
use loggp_model::text::escaped;
use loggp_programs::option::parse_count;
use loggp_programs::{Program, ProgramOption, Refusal, refuse};

/// A quantity and its values, in the order in which they are given.
#[derive(Clone, Debug)]
pub struct Range {
    pub quantity: Quantity,
    /// True if the values are shown by ratio.
    pub log: bool,
    pub points: Vec<SweepPoint>,
}

/// A quantity that can be swept.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    Parameter(LevelParameter),
    Size,
    /// Option of the program.
    Option(&'static dyn ProgramOption),
}

/// A value of the swept quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// The value as text.
    pub value: String,
    /// The value as a number; of picoseconds if it is a time.
    pub number: f64,
}

/// Most points of a range.
const MOST_POINTS: usize = 1000;
/// Ratio of the greatest to the least listed value from which on they are shown by ratio.
const LOG_RATIO: f64 = 30.0;
/// Text that explains the forms of a range.
const FORMS: &str = "write it as L=1us..100us:10 (ten points), L=1us..100us:log:10 (ten points, each by the same \
                     ratio more) or P=2,4,8";

impl Range {
    /// Parses the range of a sweep on a machine, which parses its own parameters and knows its cycle. Without
    /// a program only the machine's parameters can be swept.
    pub fn read(text: &str, program: Option<&Program>, machine: &ParamsBuilder) -> Result<Range, Refusal> {
        let (name, values) = text.split_once('=').ok_or_else(|| format!("it has no =; {FORMS}"))?;
        let quantity = Quantity::from_name(name.trim(), program)?;
        let values = values.trim();
        let (points, log) = match values.split_once("..") {
            Some((first, rest)) => parse_spread(quantity, machine, first, rest)?,
            None => (parse_list(quantity, machine, values)?, false),
        };
        let mut range = Range { quantity, log, points };
        let (least, most) = range.ends();
        range.log |= !values.contains("..") && least > 0.0 && most / least >= LOG_RATIO;
        Ok(range)
    }

    /// Parses the range of one of a machine's parameters, or of one of its levels.
    pub fn of_parameter(text: &str, machine: &LeveledParams) -> Result<Range, Refusal> {
        let name = text.split('=').next().unwrap_or(text).trim();
        let of_level = LevelParameter::by_name(name).filter(|parameter| parameter.level > 0);
        let Some(parameter) = of_level else {
            return Range::read(text, None, &ParamsBuilder::from(machine.params));
        };
        if parameter.level > machine.levels.len() {
            refuse!("this machine has no {name}");
        }
        let level = ParamsBuilder::from(*machine.at(parameter.level));
        let own = text.trim_start().replacen(name, parameter.parameter.name, 1);
        Ok(Range { quantity: Quantity::Parameter(parameter), ..Range::read(&own, None, &level)? })
    }

    /// Returns the least and the greatest value.
    pub fn ends(&self) -> (f64, f64) {
        let numbers = || self.points.iter().map(|point| point.number);
        (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Quantity {
    /// Returns the quantity with this name, or an error if it cannot be swept.
    fn from_name(name: &str, program: Option<&Program>) -> Result<Quantity, String> {
        let own = program.and_then(|program| program.option(name));
        match (Parameter::by_name(name), own, program) {
            (Some(parameter), ..) => Ok(Quantity::Parameter(parameter.into())),
            (.., Some(_)) if name == "size" => Ok(Quantity::Size),
            (None, Some(own), _) => Ok(Quantity::Option(own)),
            (.., None) => {
                let parameters = Parameter::names();
                Err(format!("there is no {} to sweep over; there are {parameters}", escaped(name)))
            }
            (.., Some(program)) => {
                let (parameters, program_name) = (Parameter::names(), program.name);
                let own: String = program.options.iter().map(|own| format!(", {}", own.name())).collect();
                Err(format!(
                    "there is no {} to sweep over; there are {parameters}, and for {program_name} size{own}",
                    escaped(name)
                ))
            }
        }
    }

    /// Returns the name of the quantity.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Size => "size",
            Quantity::Parameter(parameter) => parameter.name(),
            Quantity::Option(option) => option.name(),
        }
    }

    /// Returns the parameter, if it is one.
    pub fn parameter(self) -> Option<LevelParameter> {
        match self {
            Quantity::Parameter(parameter) => Some(parameter),
            Quantity::Size | Quantity::Option(_) => None,
        }
    }

    /// Returns whether it is a time, whose numbers are picoseconds.
    pub fn is_time(self) -> bool {
        match self {
            Quantity::Parameter(parameter) => parameter.is_time(),
            Quantity::Option(option) => option.is_time(),
            Quantity::Size => false,
        }
    }

    /// Parses a value.
    fn parse_number(self, value: &str, machine: &ParamsBuilder) -> Result<f64, Refusal> {
        let (name, value) = (self.name(), value.trim());
        if value.is_empty() {
            refuse!("a value is missing; {FORMS}");
        }
        match self {
            Quantity::Parameter(parameter) if parameter.is_time() => {
                let params = machine.clone().set(&format!("{name}={value}")).and_then(ParamsBuilder::build);
                let params = params.map_err(|why| why.to_string())?;
                // What the machine takes and then lacks was set to 0, which leaves it unset.
                let time = params.times().find(|(other, _)| *other == name);
                Ok(time.map_or(0, |(_, time)| time.as_ps()) as f64)
            }
            Quantity::Parameter(_) | Quantity::Size => {
                match parse_count(value).and_then(|number| u32::try_from(number).ok()) {
                    Some(number) => Ok(number.into()),
                    None => refuse!(
                        "{name} = {} is not a number; give a whole one up to {}: 4096, or 4k, which is the same",
                        escaped(value),
                        u32::MAX
                    ),
                }
            }
            Quantity::Option(option) => {
                let read = option.read(value).map_err(|why| format!("{name} = {}: {why}", escaped(value)))?;
                let cycle = machine.clone().build().map_err(|why| why.to_string())?.cycle;
                match read.number(cycle) {
                    Some(number) => Ok(number),
                    None => {
                        refuse!("{name} = {} is not a number, so it cannot be swept over", escaped(value))
                    }
                }
            }
        }
    }

    /// Returns whether the values between two are whole numbers, of picoseconds if they are times.
    pub(crate) fn is_whole(self, low: f64, high: f64) -> bool {
        let between = low + (high - low) / std::f64::consts::PI;
        (self.to_point(between).number - between).abs() > 1e-9 * between.abs() || self.is_time()
    }

    /// Returns the point of a number: times are rounded to picoseconds, counts to whole numbers.
    pub(crate) fn to_point(self, number: f64) -> SweepPoint {
        let whole = || SweepPoint { value: (number.round() as u64).to_string(), number: number.round() };
        match self {
            _ if self.is_time() => {
                SweepPoint { value: format!("{}ps", number.round() as i64), number: number.round() }
            }
            Quantity::Option(option) => {
                // Twelve digits, so that a third of the way from 0.1 to 0.4 is 0.2.
                let number = format!("{number:.11e}").parse().unwrap_or(number);
                // An option that takes only whole numbers gets a whole number.
                match option.value_of(number) {
                    Ok(_) => SweepPoint { value: number.to_string(), number },
                    Err(_) => whole(),
                }
            }
            _ => whole(),
        }
    }
}

/// Parses a list of values.
fn parse_list(quantity: Quantity, machine: &ParamsBuilder, values: &str) -> Result<Vec<SweepPoint>, Refusal> {
    let read = |value| quantity.parse_number(value, machine).map(|number| quantity.to_point(number));
    let points: Vec<SweepPoint> = values.split(',').map(read).collect::<Result<_, _>>()?;
    match points.len() {
        ..=MOST_POINTS => Ok(points),
        many => refuse!("these are {many} points; give at most {MOST_POINTS}"),
    }
}

/// Parses a range of values. Returns its points, each once, and whether they are spread by ratio.
fn parse_spread(
    quantity: Quantity,
    machine: &ParamsBuilder,
    first: &str,
    rest: &str,
) -> Result<(Vec<SweepPoint>, bool), Refusal> {
    let rest: Vec<&str> = rest.split(':').map(str::trim).collect();
    let (last, n, log) = match rest[..] {
        [last, "log", n] | [last, n, "log"] => (last, n, true),
        [last, n] => (last, n, false),
        _ => refuse!("a range needs its number of points; {FORMS}"),
    };
    let (first, last) = (quantity.parse_number(first, machine)?, quantity.parse_number(last, machine)?);
    let n: usize = n.parse().ok().filter(|n| (2..=MOST_POINTS).contains(n)).ok_or_else(|| {
        format!("{} is no number of points; give a whole one from 2 to {MOST_POINTS}", escaped(n))
    })?;
    if first >= last {
        refuse!("the range does not go up; give the smaller value first");
    }
    if log && first <= 0.0 {
        refuse!("a range by ratio cannot begin at 0 or below; begin above, or leave out log");
    }
    let between = |i: usize| {
        let part = i as f64 / (n - 1) as f64;
        match i {
            0 => first,
            i if i == n - 1 => last,
            _ if log => first * (last / first).powf(part),
            _ => first + (last - first) * part,
        }
    };
    let mut points: Vec<SweepPoint> = (0..n).map(|i| quantity.to_point(between(i))).collect();
    points.dedup_by(|one, other| one.value == other.value);
    Ok((points, log))
}

impl SweepPoint {
    /// Returns the value as text for people; times have a unit.
    pub fn text(&self, quantity: Quantity) -> String {
        match quantity.is_time() {
            true => Time::from_ps(self.number as i64).to_string(),
            false => self.value.clone(),
        }
    }
}
