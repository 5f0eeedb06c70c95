//! What stands above a table: the program, the machine and its parameters; and below that the size, and whatever is not as
//! usual.

use loggp::{ClockKind, Latency, Level, Noise, Parameter, Params, Ports, Ties, Time, Trace};
use loggp_programs::{Case, Value};
use loggp_study::Study;
use loggp_study::range::{Point, Quantity, Range};

use super::choice::Choice;
use super::number::{Unit, count, rough, thousands};
use super::options::{MachineOptions, clock_said};

/// The heading of studies like this one, along a range, if there is one.
pub fn heading(study: &Study, machine: Option<&str>, unit: &Unit, range: Option<&Range>) -> String {
    let Study { case, emulation, repeat, seeds, .. } = study;
    let on = machine.map_or(String::new(), |name| format!(" on {name}"));
    let cycles = match unit.is_cycle() {
        true => format!(" (a cycle is {})", case.params.cycle),
        false => String::new(),
    };
    let swept = |name: &str| range.filter(|range| range.quantity.name() == name);
    let parameter = |part: String| match part.split_once(" = ").and_then(|(name, _)| swept(name)) {
        Some(range) => shown_range(range, unit),
        None => part,
    };
    let parameters: Vec<String> = parameters(&case.params, unit).into_iter().map(parameter).collect();
    let size = match swept("size") {
        Some(range) => shown_range(range, unit),
        None => format!("size {}", thousands(case.size)),
    };
    let own = |value: &Value| match swept(value.option().name()) {
        Some(range) => shown_range(range, unit),
        None => format!("{} = {}", value.option().name(), value.text()),
    };
    let unusual = case.options.iter().filter(|value| !value.is_default());
    let (instead, others): (Vec<_>, Vec<_>) = unusual.partition(|value| value.option().is_instead_of_size());
    let size = match instead[..] {
        [] => format!("{size} ({})", case.program.size.meaning),
        _ => instead.into_iter().map(own).collect::<Vec<_>>().join(", "),
    };
    let mut heading = format!(
        "{}{on}: {}{cycles}\n{size}, {}, times in {}",
        case.program.name,
        parameters.join(", "),
        emulation
            .over
            .as_ref()
            .map_or_else(|| clock_said(emulation.clock, emulation.carrier), |link| link.name()),
        unit.name,
    );
    if case.work != case.program.work {
        heading += &format!(", work {}", case.work);
    }
    for other in others {
        heading += &format!(", {}", own(other));
    }
    heading += &wires(case.latency, case.ties, case.ports);
    heading += &noise_said(case.noise.as_ref());
    heading += &levels(case, unit);
    if let Some(cost) = case.barrier {
        heading += &format!(", a barrier takes {cost}");
    }
    if *seeds {
        let plural = if *repeat == 1 { "" } else { "s" };
        heading += &format!(", median of {repeat} seed{plural}");
    } else if *repeat > 1 {
        heading += &format!(", median of {repeat} runs");
    }
    heading
}

/// The levels within the machine, a line each, and what formulas know of them.
fn levels(case: &Case, unit: &Unit) -> String {
    let mut around = case.params.P;
    let line = |level: &Level| {
        let groups = around / level.params.P;
        around = level.params.P;
        let ports = if level.ports == Ports::Dual { ", dual ports" } else { "" };
        let one_port = if level.one_port { ", one port to the outside" } else { "" };
        format!("\n{groups} groups: {}{ports}{one_port}", parameters(&level.params, unit).join(", "))
    };
    let lines: String = case.levels.iter().map(line).collect();
    let formulas = "\nall formulas but that of `broadcast levels` know the outermost level alone";
    if lines.is_empty() { lines } else { lines + formulas }
}

/// The heading of a machine by itself, with these parameters.
pub fn machine_heading(
    choice: &Choice,
    parameters: &str,
    clock: ClockKind,
    options: &MachineOptions,
) -> String {
    let MachineOptions { latency, ties, ports, .. } = *options;
    let ports = ports.unwrap_or_default();
    let clock = clock_said(clock, options.clock.carrier.unwrap_or_default());
    headed(choice, parameters, &(clock + &wires(latency, ties, ports)))
}

/// The heading of a machine of which this is how it runs.
pub fn headed(choice: &Choice, parameters: &str, how: &str) -> String {
    let Choice { name, unit, .. } = choice;
    let on = name.map_or(String::new(), |name| format!("{name}: "));
    format!("{on}{parameters}\n{how}, times in {}", unit.name)
}

/// What is not as usual between processors.
pub fn wires(latency: Latency, ties: Ties, ports: Ports) -> String {
    let latency = match latency {
        Latency::Exact => String::new(),
        drawn => format!(", {}", latency_said(drawn)),
    };
    let ties = match ties {
        Ties::Number => String::new(),
        settled => format!(", {}", ties_said(settled)),
    };
    latency + &ties + if ports == Ports::Dual { ", dual ports" } else { "" }
}

/// How latencies are drawn.
pub fn latency_said(latency: Latency) -> String {
    match latency {
        Latency::Random { seed } => format!("random latency (seed {seed})"),
        Latency::Exponential { seed } => format!("exponential latency (seed {seed})"),
        other => format!("{other} latency"),
    }
}

/// What a recorded run found between its processors.
pub fn recorded(trace: &Trace) -> String {
    let noise = noise_said(trace.noise.as_ref());
    format!("{}{noise}, {} ports", latency_said(trace.latency), trace.ports)
}

/// The noise of the processors, if there is any.
pub fn noise_said(noise: Option<&Noise>) -> String {
    noise.map_or(String::new(), |noise| format!(", noise {noise}"))
}

/// Who goes first among equals.
pub fn ties_said(ties: Ties) -> String {
    match ties {
        Ties::Random { seed } => format!("random ties (seed {seed})"),
        other => format!("ties by {other}"),
    }
}

/// A machine's parameters, each by itself.
pub fn parameters(params: &Params, unit: &Unit) -> Vec<String> {
    let time = |(name, time): (&str, Time)| format!("{name} = {}", unit.show(time));
    let count = |(name, n): (&str, usize)| match Parameter::named(name).and_then(|parameter| parameter.unit) {
        // No limit is the largest that there is.
        Some("word" | "message") if n == Params::NO_LIMIT => format!("{name} unlimited"),
        Some(unit @ "byte") => format!("{name} = {}", count(n, unit)),
        _ => format!("{name} = {}", thousands(n)),
    };
    params.times().map(time).chain(params.counts().map(count)).collect()
}

/// A point of a sweep.
pub fn shown_point(point: &Point, quantity: Quantity, unit: &Unit) -> String {
    shown(point.number, quantity, unit)
}

/// From where to where a sweep goes.
fn shown_range(range: &Range, unit: &Unit) -> String {
    let (least, most) = range.ends();
    let end = |number| shown(number, range.quantity, unit);
    format!("{} from {} to {}", range.quantity.name(), end(least), end(most))
}

/// A value of what is swept.
fn shown(number: f64, quantity: Quantity, unit: &Unit) -> String {
    match quantity {
        _ if quantity.is_time() => unit.show(Time::from_ps(number as i64)),
        Quantity::Own(_) => rough(number),
        _ => thousands(number as u64),
    }
}
