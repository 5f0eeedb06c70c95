//! What is swept, and over which values: `L=1us..100us:10`, `size=1..4096:log:13` or `P=2,3,5,8`.

use loggp::{Parameter, ParamsBuilder, Time, outside};

use loggp_programs::option::count;
use loggp_programs::{Program, ProgramOption, Refusal};

/// A quantity, and the points on it in the order in which they are given.
#[derive(Clone, Debug)]
pub struct Range {
    /// What is swept.
    pub quantity: Quantity,
    /// Whether the values lie as far apart by ratio as they do by difference in a linear sweep.
    pub log: bool,
    /// The values.
    pub points: Vec<Point>,
}

/// What can be swept, by its name.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    /// A parameter that is a time.
    Time(&'static str),
    /// A parameter that is a number.
    Count(&'static str),
    /// The size.
    Size,
    /// An option of the program's own.
    Own(&'static dyn ProgramOption),
}

/// A value of what is swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The value, as it would be given.
    pub value: String,
    /// The same as a number; of picoseconds, where it is a time.
    pub number: f64,
}

/// No more points than this.
const MOST_POINTS: usize = 1000;
/// Given values lie so far apart that they are shown by ratio.
const LOG_RATIO: f64 = 30.0;
/// The forms that there are.
const FORMS: &str = "write it as L=1us..100us:10 (ten points), L=1us..100us:log:10 (ten points, each by the same \
                     ratio more) or P=2,4,8";

impl Range {
    /// Reads what a program shall be swept over on this machine, which reads its parameters itself and knows how long a
    /// cycle is. Without a program there are only the machine's parameters.
    pub fn read(text: &str, program: Option<&Program>, machine: &ParamsBuilder) -> Result<Range, Refusal> {
        let (name, values) = text.split_once('=').ok_or_else(|| format!("it has no =; {FORMS}"))?;
        let quantity = Quantity::named(name.trim(), program)?;
        let values = values.trim();
        let (points, log) = match values.split_once("..") {
            Some((first, rest)) => spread(quantity, machine, first, rest)?,
            None => (listed(quantity, machine, values)?, false),
        };
        let mut range = Range { quantity, log, points };
        let (least, most) = range.ends();
        range.log |= !values.contains("..") && least > 0.0 && most / least >= LOG_RATIO;
        Ok(range)
    }

    /// The least value and the greatest, as numbers.
    pub fn ends(&self) -> (f64, f64) {
        let numbers = || self.points.iter().map(|point| point.number);
        (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Quantity {
    /// What has this name for a program. Refuses what cannot be swept.
    fn named(name: &str, program: Option<&Program>) -> Result<Quantity, String> {
        let own = program.and_then(|program| program.option(name));
        match (Parameter::named(name), own, program) {
            (Some(parameter), ..) if parameter.is_time() => Ok(Quantity::Time(parameter.name)),
            (Some(parameter), ..) => Ok(Quantity::Count(parameter.name)),
            (.., Some(_)) if name == "size" => Ok(Quantity::Size),
            (None, Some(own), _) => Ok(Quantity::Own(own)),
            (.., None) => {
                let parameters = Parameter::names();
                Err(format!("there is no {} to sweep over; there are {parameters}", outside(name)))
            }
            (.., Some(program)) => {
                let (parameters, of) = (Parameter::names(), program.name);
                let own: String = program.options.iter().map(|own| format!(", {}", own.name())).collect();
                Err(format!(
                    "there is no {} to sweep over; there are {parameters}, and for {of} size{own}",
                    outside(name)
                ))
            }
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Size => "size",
            Quantity::Time(name) | Quantity::Count(name) => name,
            Quantity::Own(option) => option.name(),
        }
    }

    /// Whether it is a time, whose numbers are picoseconds.
    pub fn is_time(self) -> bool {
        match self {
            Quantity::Time(_) => true,
            Quantity::Own(option) => option.is_time(),
            Quantity::Count(_) | Quantity::Size => false,
        }
    }

    /// Reads a value.
    fn number(self, value: &str, machine: &ParamsBuilder) -> Result<f64, Refusal> {
        let name = self.name();
        let value = match value.trim() {
            "" => return Err(format!("a value is missing; {FORMS}").into()),
            value => value,
        };
        match self {
            Quantity::Time(_) => {
                let params = machine.clone().set(&format!("{name}={value}")).and_then(ParamsBuilder::build);
                let params = params.map_err(|why| why.to_string())?;
                let time = params.times().find(|(other, _)| *other == name);
                let (_, time) = time.ok_or_else(|| format!("this machine has no {name}"))?;
                Ok(time.as_ps() as f64)
            }
            Quantity::Count(_) | Quantity::Size => {
                let number = count(value).and_then(|number| u32::try_from(number).ok());
                number.map(f64::from).ok_or_else(|| {
                    format!(
                        "{name} = {} is not a number; give a whole one up to {}: 4096, or 4k, which is the same",
                        outside(value),
                        u32::MAX
                    )
                    .into()
                })
            }
            Quantity::Own(option) => {
                let read = option.read(value).map_err(|why| format!("{name} = {}: {why}", outside(value)))?;
                let cycle = machine.clone().build().map_err(|why| why.to_string())?.cycle;
                read.number(cycle).ok_or_else(|| {
                    format!("{name} = {} is not a number, so it cannot be swept over", outside(value)).into()
                })
            }
        }
    }

    /// A value as it would be given: times in whole picoseconds, numbers of things whole.
    fn point(self, number: f64) -> Point {
        let whole = || Point { value: (number.round() as u64).to_string(), number: number.round() };
        match self {
            _ if self.is_time() => {
                Point { value: format!("{}ps", number.round() as i64), number: number.round() }
            }
            Quantity::Own(option) => {
                // Twelve digits, so that a third of the way from 0.1 to 0.4 is 0.2.
                let number = format!("{number:.11e}").parse().unwrap_or(number);
                // An option that takes whole numbers gets whole numbers.
                match option.at(number) {
                    Ok(_) => Point { value: number.to_string(), number },
                    Err(_) => whole(),
                }
            }
            _ => whole(),
        }
    }
}

/// The points that are given one by one.
fn listed(quantity: Quantity, machine: &ParamsBuilder, values: &str) -> Result<Vec<Point>, Refusal> {
    let read = |value| quantity.number(value, machine).map(|number| quantity.point(number));
    let points: Vec<Point> = values.split(',').map(read).collect::<Result<_, _>>()?;
    match points.len() {
        ..=MOST_POINTS => Ok(points),
        many => Err(format!("these are {many} points; give at most {MOST_POINTS}").into()),
    }
}

/// The points of a range, each once; and whether they are spread by ratio.
fn spread(
    quantity: Quantity,
    machine: &ParamsBuilder,
    first: &str,
    rest: &str,
) -> Result<(Vec<Point>, bool), Refusal> {
    let rest: Vec<&str> = rest.split(':').map(str::trim).collect();
    let (last, n, log) = match rest[..] {
        [last, "log", n] | [last, n, "log"] => (last, n, true),
        [last, n] => (last, n, false),
        _ => return Err(format!("a range needs its number of points; {FORMS}").into()),
    };
    let (first, last) = (quantity.number(first, machine)?, quantity.number(last, machine)?);
    let n: usize = n.parse().ok().filter(|n| (2..=MOST_POINTS).contains(n)).ok_or_else(|| {
        format!("{} is no number of points; give a whole one from 2 to {MOST_POINTS}", outside(n))
    })?;
    if first >= last {
        return Err("the range does not go up; give the smaller value first".into());
    }
    if log && first <= 0.0 {
        return Err("a range by ratio cannot begin at 0 or below; begin above, or leave out log".into());
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
    let mut points: Vec<Point> = (0..n).map(|i| quantity.point(between(i))).collect();
    points.dedup_by(|one, other| one.value == other.value);
    Ok((points, log))
}

impl Point {
    /// Its value for people who may not have a machine yet, and so no unit.
    pub fn told(&self, quantity: Quantity) -> String {
        match quantity.is_time() {
            true => Time::from_ps(self.number as i64).to_string(),
            false => self.value.clone(),
        }
    }
}
