//! The heading above a table: the program, the machine and its parameters, then the size and every setting
//! that is not the default.

use loggp::params::Parameter;
use loggp::trace::Trace;
use loggp::{Latency, Level, Noise, Params, Ports, Ties, Time};
use loggp_programs::{Case, OptionValue};
use loggp_study::Study;
use loggp_study::range::{Quantity, Range};

use crate::ask::choice::MachineChoice;
use crate::ask::machine_file::PartialMachine;
use crate::ask::options::clock_text;
use crate::number::{Unit, count, rough, thousands};

/// Returns the heading of studies like this one, along `ranges` if there are any.
pub fn heading(study: &Study, machine: &PartialMachine, unit: &Unit, ranges: &[Range]) -> String {
    let Study { case, emulation, .. } = study;
    let assumed = &machine.assumed;
    let on = machine.name.map_or(String::new(), |name| format!(" on {name}{}", default_text(assumed)));
    let cycles = cycle_text(&case.params, *unit);
    let parameters = mark_assumed(&swept_parameters(&case.params, unit, ranges).join(", "), assumed);
    let (size, options) = size_and_options(case, unit, ranges);
    let clock = match &emulation.link {
        Some(link) => link.name(),
        None => clock_text(emulation.clock, emulation.carrier),
    };
    let work = if case.work == case.program.work { String::new() } else { format!(", work {}", case.work) };
    let (program, unit_name, settings) = (case.program.name, unit.name, settings_text(study, unit));
    format!(
        "{program}{on}: {parameters}{cycles}\n{size}, {clock}, times in {unit_name}{work}{options}{settings}"
    )
}

/// Returns how long a cycle is, if times are in cycles.
pub fn cycle_text(params: &Params, unit: Unit) -> String {
    if unit.is_cycle() { format!(" (a cycle is {})", params.cycle) } else { String::new() }
}

/// Returns the range of the quantity with this name, if it is swept.
fn swept<'a>(ranges: &'a [Range], name: &str) -> Option<&'a Range> {
    ranges.iter().find(|range| range.quantity.name() == name)
}

/// Returns each parameter as text, and the ranges of those that are swept.
fn swept_parameters(params: &Params, unit: &Unit, ranges: &[Range]) -> Vec<String> {
    let parameter = |part: String| match part.split_once(" = ").and_then(|(name, _)| swept(ranges, name)) {
        Some(range) => range_text(range, unit),
        None => part,
    };
    // The first point may lack a parameter that is 0 there.
    let is_lacking = |range: &&Range| {
        range.quantity.parameter().is_some_and(|swept| swept.parameter.number(params).is_none())
    };
    let lacking = ranges.iter().filter(is_lacking).map(|range| range_text(range, unit));
    parameters(params, unit).into_iter().map(parameter).chain(lacking).collect()
}

/// Returns the size, or the options that stand in its place; and the other options that are not the default, each after
/// a comma.
fn size_and_options(case: &Case, unit: &Unit, ranges: &[Range]) -> (String, String) {
    let text = |value: &OptionValue| match swept(ranges, value.option().name()) {
        Some(range) => range_text(range, unit),
        None => format!("{} = {}", value.option().name(), value.text()),
    };
    let unusual = case.options.iter().filter(|value| !value.is_default());
    let (instead, others): (Vec<_>, Vec<_>) =
        unusual.partition(|value| value.option().info().is_instead_of_size);
    let size = match (&instead[..], swept(ranges, "size")) {
        ([], Some(range)) => format!("{} ({})", range_text(range, unit), case.program.size.meaning),
        ([], None) => format!("size {} ({})", thousands(case.size), case.program.size.meaning),
        _ => instead.into_iter().map(text).collect::<Vec<_>>().join(", "),
    };
    (size, others.into_iter().map(|other| format!(", {}", text(other))).collect())
}

/// Returns the settings of the network, the levels, the barrier and the repetitions that are not the default.
fn settings_text(Study { case, repeat, distinct_seeds, .. }: &Study, unit: &Unit) -> String {
    let mut settings = wire_text(case.latency, case.ties, case.ports);
    settings += case.rendezvous.setting();
    settings += case.capacity.setting();
    settings += &noise_text(case.noise.as_ref());
    settings += &level_lines(case.params.P, &case.levels, unit);
    if !case.levels.is_empty() {
        settings += "\nall formulas but that of `broadcast levels` know the outermost level alone";
    }
    if let Some(cost) = case.barrier {
        settings += &format!(", a barrier takes {cost}");
    }
    if *distinct_seeds {
        let plural = if *repeat == 1 { "" } else { "s" };
        settings += &format!(", median of {repeat} seed{plural}");
    } else if *repeat > 1 {
        settings += &format!(", median of {repeat} runs");
    }
    settings
}

/// Returns a line for each level within a machine of so many processors; empty without levels.
pub fn level_lines(P: usize, levels: &[Level], unit: &Unit) -> String {
    let mut around = P;
    let line = |level: &Level| {
        let groups = match around.div_ceil(level.params.P) {
            1 => "1 group".into(),
            many => format!("{many} groups"),
        };
        around = around.min(level.params.P);
        let ports = if level.ports == Ports::Dual { ", dual ports" } else { "" };
        let one_port = if level.one_port { ", one port to the outside" } else { "" };
        format!("\n{groups}: {}{ports}{one_port}", parameters(&level.params, unit).join(", "))
    };
    levels.iter().map(line).collect()
}

/// Returns the heading of a machine, where `how` says how it runs.
pub fn choice_heading(choice: &MachineChoice, parameters: &str, how: &str) -> String {
    let MachineChoice { name, unit, params, levels, assumed, .. } = choice;
    let on = name.map_or(String::new(), |name| format!("{name}{}: ", default_text(assumed)));
    let parameters = mark_assumed(parameters, assumed);
    let levels = level_lines(params.P, levels, unit);
    let cycles = cycle_text(params, *unit);
    format!("{on}{parameters}{cycles}{levels}\n{how}, times in {}", unit.name)
}

/// Returns what stands behind the name of a machine that nobody named.
fn default_text(assumed: &[&str]) -> &'static str {
    if assumed.contains(&"machine") { " (the default)" } else { "" }
}

/// Returns parameters as text, in which those that nobody gave are marked.
fn mark_assumed(parameters: &str, assumed: &[&str]) -> String {
    let mark = |part: &str| match part.split_once(" = ") {
        Some((name, _)) if assumed.contains(&name) => format!("{part} (not given)"),
        _ => part.into(),
    };
    parameters.split(", ").map(mark).collect::<Vec<String>>().join(", ")
}

/// Returns the settings between processors that are not the default, each after a comma.
pub fn wire_text(latency: Latency, ties: Ties, ports: Ports) -> String {
    let latency = match latency {
        Latency::Exact => String::new(),
        drawn => format!(", {}", latency_text(drawn)),
    };
    let ties = match ties {
        Ties::Number => String::new(),
        Ties::Random { seed } => format!(", random ties (seed {seed})"),
        other => format!(", ties by {other}"),
    };
    latency + &ties + if ports == Ports::Dual { ", dual ports" } else { "" }
}

/// Returns the rule of the latencies as text.
pub fn latency_text(latency: Latency) -> String {
    match latency {
        Latency::Random { seed } => format!("random latency (seed {seed})"),
        Latency::Exponential { seed } => format!("exponential latency (seed {seed})"),
        other => format!("{other} latency"),
    }
}

/// Returns the settings between processors of a recorded run.
pub fn recorded_text(trace: &Trace) -> String {
    let noise = noise_text(trace.noise.as_ref());
    let (protocol, capacity) = (trace.rendezvous.setting(), trace.capacity.setting());
    format!("{}{noise}, {} ports{protocol}{capacity}", latency_text(trace.latency), trace.ports)
}

/// Returns the noise after a comma; empty without noise.
pub fn noise_text(noise: Option<&Noise>) -> String {
    noise.map_or(String::new(), |noise| format!(", noise {noise}"))
}

/// Returns each of a machine's parameters as text: `L = 6 us`.
pub fn parameters(params: &Params, unit: &Unit) -> Vec<String> {
    let time = |(name, time): (&str, Time)| format!("{name} = {}", unit.show(time));
    let count = |(name, n): (&str, usize)| match Parameter::by_name(name).and_then(|parameter| parameter.unit)
    {
        // `NO_LIMIT` is the largest number.
        Some("word" | "message") if n == Params::NO_LIMIT => format!("{name} unlimited"),
        Some(unit @ "byte") => format!("{name} = {}", count(n, unit)),
        _ => format!("{name} = {}", thousands(n)),
    };
    params.times().map(time).chain(params.counts().map(count)).collect()
}

/// Returns the ends of a sweep as text.
fn range_text(range: &Range, unit: &Unit) -> String {
    let (least, most) = range.ends();
    let end = |number| value_text(number, range.quantity, unit);
    format!("{} from {} to {}", range.quantity.name(), end(least), end(most))
}

/// Returns a value of the swept quantity as text.
pub fn value_text(number: f64, quantity: Quantity, unit: &Unit) -> String {
    match quantity {
        _ if quantity.is_time() => unit.show(Time::from_ps(number as i64)),
        Quantity::Option(_) => rough(number),
        _ => thousands(number as u64),
    }
}
