//! What is swept, and over which values: `L=1us..100us:10`, `size=1..4096:log:13` or `P=2,3,5,8`.

use std::sync::Arc;

use loggp::{Parameter, Time};
use loggp_programs::Program;

use super::choice::{Choice, gives};
use super::failure::Failure;
use super::number::{Unit, rough, thousands};
use super::options::Options;

/// What is swept.
#[derive(Debug)]
pub struct Swept {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Whether the values lie as far apart by ratio as they do by difference in a linear sweep.
    pub log: bool,
    /// The least value and the greatest, as numbers.
    ends: (f64, f64),
}

/// What can be swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter that is a time.
    Time,
    /// A parameter that is a number.
    Count,
    /// The size.
    Size,
    /// An option of the program's own.
    Own(&'static str),
}

/// A point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// What is swept.
    pub of: Arc<Swept>,
    /// Its value here, as it would be given.
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

impl Point {
    /// The parameter and its value, if a parameter is swept.
    pub fn parameter(&self) -> Option<(&str, &str)> {
        let parameter = matches!(self.of.kind, Kind::Time | Kind::Count);
        parameter.then_some((&self.of.name, &self.value))
    }

    /// The size, if that is swept.
    pub fn size(&self) -> Option<usize> {
        (self.of.kind == Kind::Size).then_some(self.number as usize)
    }

    /// Its value for people who may not have a machine yet, and so no unit.
    pub fn told(&self) -> String {
        match self.of.kind {
            Kind::Time => Time::from_ps(self.number as i64).to_string(),
            _ => self.value.clone(),
        }
    }

    /// Its value for people.
    pub fn shown(&self, unit: &Unit) -> String {
        self.of.show(self.number, unit)
    }
}

impl Swept {
    /// Reads what to sweep over. The points are in the order in which they are given.
    pub fn read(text: &str, program: &Program, options: &Options) -> Result<Vec<Point>, Failure> {
        let refuse = |why: String| Failure::Request(format!("--over {text}: {why}"));
        let (name, values) = text.split_once('=').ok_or_else(|| refuse(format!("it has no =; {FORMS}")))?;
        let (name, values) = (name.trim(), values.trim());
        let kind = kind(name, program, options).map_err(refuse)?;
        let read = |value: &str| match value.trim() {
            "" => Err(refuse(format!("a value is missing; {FORMS}"))),
            value => number(name, kind, value, options).map_err(refuse),
        };
        let points: Vec<(String, f64)>;
        let mut log = false;
        if let Some((first, rest)) = values.split_once("..") {
            let rest: Vec<&str> = rest.split(':').map(str::trim).collect();
            let (last, n) = match rest[..] {
                [last, "log", n] | [last, n, "log"] => {
                    log = true;
                    (last, n)
                }
                [last, n] => (last, n),
                _ => return Err(refuse(format!("a range needs its number of points; {FORMS}"))),
            };
            let (first, last) = (read(first)?, read(last)?);
            let n = n.parse().ok().filter(|n| (2..=MOST_POINTS).contains(n)).ok_or_else(|| {
                refuse(format!("{n} is no number of points; give a whole one from 2 to {MOST_POINTS}"))
            })?;
            if first >= last {
                return Err(refuse("the range does not go up; give the smaller value first".into()));
            }
            if log && first <= 0.0 {
                return Err(refuse(
                    "a range by ratio cannot begin at 0 or below; begin above, or leave out log".into(),
                ));
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
            // An option that takes whole numbers only gets whole numbers.
            let value = |i: usize| match written(kind, between(i)) {
                (value, number) if takes(program, kind, &value).is_err() => {
                    match written(kind, number.round()) {
                        whole if takes(program, kind, &whole.0).is_ok() => whole,
                        _ => (value, number),
                    }
                }
                taken => taken,
            };
            let mut all: Vec<(String, f64)> = (0..n).map(value).collect();
            all.dedup_by(|one, other| one.0 == other.0);
            points = all;
        } else {
            let values = values.split(',').map(|value| read(value).map(|number| written(kind, number)));
            points = values.collect::<Result<_, _>>()?;
            if points.len() > MOST_POINTS {
                return Err(refuse(format!("these are {} points; give at most {MOST_POINTS}", points.len())));
            }
        }
        let numbers = || points.iter().map(|(_, number)| *number);
        let ends = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
        let log = log || !values.contains("..") && ends.0 > 0.0 && ends.1 / ends.0 >= LOG_RATIO;
        let of = Arc::new(Swept { name: name.into(), kind, log, ends });
        Ok(points.into_iter().map(|(value, number)| Point { of: of.clone(), value, number }).collect())
    }

    /// From where to where it goes, for people.
    pub fn shown(&self, unit: &Unit) -> String {
        format!("{} from {} to {}", self.name, self.show(self.ends.0, unit), self.show(self.ends.1, unit))
    }

    /// A value for people.
    fn show(&self, number: f64, unit: &Unit) -> String {
        match self.kind {
            Kind::Time => unit.show(Time::from_ps(number as i64)),
            Kind::Count | Kind::Size => thousands(number as u64),
            Kind::Own(_) => rough(number),
        }
    }

    /// A value as a number in this unit, to draw it.
    pub fn amount(&self, number: f64, unit: &Unit) -> f64 {
        match self.kind {
            Kind::Time => unit.amount(Time::from_ps(number as i64)),
            _ => number,
        }
    }
}

/// What has this name; refuses what cannot be swept, and what is given already.
fn kind(name: &str, program: &Program, options: &Options) -> Result<Kind, String> {
    let own = program.options.iter().map(|option| option.name);
    let kind = match (Parameter::named(name), own.clone().find(|own| *own == name)) {
        (Some(parameter), _) if parameter.is_time() => Kind::Time,
        (Some(_), _) => Kind::Count,
        _ if name == "size" => Kind::Size,
        (None, Some(own)) => Kind::Own(own),
        (None, None) => {
            let (parameters, own) =
                (Parameter::names(), own.map(|name| format!(", {name}")).collect::<String>());
            let of = program.name;
            return Err(format!(
                "there is no {name} to sweep over; there are {parameters}, and for {of} size{own}"
            ));
        }
    };
    let given = match kind {
        Kind::Size => options.size.is_some(),
        Kind::Own(name) => options.own.gives(name),
        _ => {
            name == "P" && options.P.is_some()
                || options.params.as_deref().is_some_and(|params| gives(params, name))
        }
    };
    match given {
        true => Err(format!("{name} is given elsewhere too; give it once")),
        false => Ok(kind),
    }
}

/// Whether an option of the program's own takes a value; what is not an option, the machine checks.
pub fn takes(program: &Program, kind: Kind, value: &str) -> Result<(), String> {
    let Kind::Own(name) = kind else { return Ok(()) };
    program.options.iter().filter(|option| option.name == name).try_for_each(|option| (option.check)(value))
}

/// Reads a value.
fn number(name: &str, kind: Kind, value: &str, options: &Options) -> Result<f64, String> {
    let says = |failure: Failure| match failure {
        Failure::Request(why) => why,
        _ => format!("{name} = {value} cannot be"),
    };
    match kind {
        // The machine reads its parameters itself, and knows how long a cycle is.
        Kind::Time => {
            let choice = Choice::with(options, Some((name, value))).map_err(says)?;
            let time = choice.params.times().find(|(other, _)| *other == name);
            time.map(|(_, time)| time.as_ps() as f64).ok_or_else(|| format!("this machine has no {name}"))
        }
        Kind::Count | Kind::Size => match value.parse::<u32>() {
            Ok(count) => Ok(f64::from(count)),
            Err(_) => Err(format!("{name} = {value} is not a number; give a whole one up to {}", u32::MAX)),
        },
        Kind::Own(_) => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("{name} = {value} is not a number, so it cannot be swept over")),
        },
    }
}

/// A value as it would be given: times in whole picoseconds, numbers of things whole. And the number itself.
fn written(kind: Kind, number: f64) -> (String, f64) {
    match kind {
        Kind::Time => (format!("{}ps", number.round() as i64), number.round()),
        Kind::Count | Kind::Size => (format!("{}", number.round() as u64), number.round()),
        // Twelve digits, so that a third of the way from 0.1 to 0.4 is 0.2.
        Kind::Own(_) => {
            let number: f64 = format!("{number:.11e}").parse().unwrap_or(number);
            (number.to_string(), number)
        }
    }
}
