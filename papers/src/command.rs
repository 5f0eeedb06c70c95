//! Command lines that run the cases of a series.

use std::mem::discriminant;

use loggp::params::{LongMessages, Parameter, presets};
use loggp::{Params, Time, US};
use loggp_programs::Case;

use super::series::{CaseSeries, SeriesPoint, StudyDepth};

/// Name and value of an option of the command line.
type OptionArg = (&'static str, String);

/// A sweep over more equally spaced points is written by its ends and their number.
const MOST_LISTED: usize = 6;

/// Returns the commands for a series: one sweep if possible; if not, one command for its first case and one
/// for its last.
pub(crate) fn commands(series: &CaseSeries) -> Vec<String> {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else { return Vec::new() };
    if let Some(sweep) = sweep_command(&series.points) {
        return vec![sweep];
    }
    let mut commands = vec![compare_command(first), compare_command(last)];
    commands.dedup();
    commands
}

/// Returns the command for a case.
fn compare_command(point: &SeriesPoint) -> String {
    let clock = (point.depth < StudyDepth::Measure).then(|| ("clock", "virtual".to_string()));
    command_line("compare", &point.case, case_args(&point.case).into_iter().chain(clock))
}

/// Returns a command with its options.
fn command_line(command: &str, case: &Case, args: impl Iterator<Item = OptionArg>) -> String {
    let options: String = args.map(|(name, value)| format!(" --{name} {value}")).collect();
    let options = options.replace("--processors", "-P");
    format!("loggp {command} {} {}{options}", case.program.name, case.algorithm.name)
}

/// Returns the command that runs all cases as a sweep, or `None` if they differ in more than one quantity
/// that can be swept.
fn sweep_command(points: &[SeriesPoint]) -> Option<String> {
    let all: Vec<Vec<OptionArg>> = points.iter().map(|point| case_args(&point.case)).collect();
    let names: Vec<&str> = all[0].iter().map(|(name, _)| *name).collect();
    let alike = all.iter().all(|args| args.iter().map(|(name, _)| *name).eq(names.iter().copied()));
    let is_different = |n: &usize| all.iter().any(|args| args[*n] != all[0][*n]);
    if !alike {
        return None;
    }
    let [swept] = (0..names.len()).filter(is_different).collect::<Vec<_>>()[..] else { return None };
    let case = &points[0].case;
    let name = match names[swept] {
        "processors" => "P",
        "size" => "size",
        own => case.program.option(own)?.name(),
    };
    let values: Vec<&str> = all.iter().map(|args| args[swept].1.as_str()).collect();
    let others = (0..names.len()).filter(|n| *n != swept).map(|n| all[0][n].clone());
    let over = ("over", format!("{name}={}", even_range(&values).unwrap_or_else(|| values.join(","))));
    Some(command_line("sweep", case, others.chain([over])))
}

/// Returns `first..last:count` for many numbers that are equally far apart.
fn even_range(values: &[&str]) -> Option<String> {
    let numbers: Vec<i64> = values.iter().map(|value| value.parse().ok()).collect::<Option<_>>()?;
    let apart = numbers.get(1)? - numbers[0];
    let even = numbers.windows(2).all(|pair| pair[1] - pair[0] == apart);
    (even && values.len() > MOST_LISTED)
        .then(|| format!("{}..{}:{}", values[0], values[values.len() - 1], values.len()))
}

/// Returns the options that select this case.
fn case_args(case: &Case) -> Vec<OptionArg> {
    let mut args = machine_args(&case.params);
    let usual = Case::new(case.program, case.algorithm.name, case.params);
    let of_size =
        case.options.iter().any(|value| value.option().info().is_instead_of_size && !value.text().is_empty());
    if !of_size {
        args.push(("size", case.size.to_string()));
    }
    let options = case.options.iter().filter(|value| !value.is_default());
    args.extend(options.map(|value| (value.option().name(), value.text())));
    args.extend(case.barrier.map(|barrier| ("barrier", without_spaces(barrier))));
    let settings = [
        ("ports", case.ports.to_string(), usual.ports.to_string()),
        ("rendezvous", case.rendezvous.to_string(), usual.rendezvous.to_string()),
        ("capacity", case.capacity.to_string(), usual.capacity.to_string()),
        ("latency", case.latency.to_string(), usual.latency.to_string()),
        ("ties", case.ties.to_string(), usual.ties.to_string()),
        ("noise", case.noise.as_ref().map(ToString::to_string).unwrap_or_default(), String::new()),
        ("work", case.work.to_string(), usual.work.to_string()),
        ("seed", case.seed.to_string(), "1".into()),
    ];
    args.extend(settings.into_iter().filter(|(_, is, usual)| is != usual).map(|(name, is, _)| (name, is)));
    args
}

/// Returns the options that select this machine: the preset with the fewest changes, or none, and the
/// changes.
fn machine_args(params: &Params) -> Vec<OptionArg> {
    let P = ("processors", params.P.to_string());
    let alike = |base: &Params| {
        let of_one_kind = discriminant(&base.long) == discriminant(&params.long);
        of_one_kind && base.cycle == params.cycle
    };
    let named = presets().iter().filter_map(|preset| {
        let base = preset.builder().P(params.P).build().ok().filter(alike)?;
        Some((Some(preset.name), changed_parameters(&base, params)))
    });
    let bare = Params::builder(params.P).build().expect("a machine may be free");
    let least =
        named.chain([(None, changed_parameters(&bare, params))]).min_by_key(|(_, changes)| changes.len());
    let (name, changes) = least.expect("there is the bare machine");
    let mut args: Vec<OptionArg> = name.map(|name| ("machine", name.to_string())).into_iter().collect();
    args.push(P);
    if !changes.is_empty() {
        args.push(("params", changes.join(",")));
    }
    if name.is_none() && params.cycle != US {
        args.push(("cycle", without_spaces(params.cycle)));
    }
    args
}

/// Returns the parameters other than P in which a machine differs from `base`, as `name=value`.
fn changed_parameters(base: &Params, params: &Params) -> Vec<String> {
    let parameters = Parameter::ALL.iter().filter(|parameter| match parameter.name {
        "P" => false,
        // A machine of LogP has a G too, which follows from g and o.
        "G" => matches!(params.long, LongMessages::LogGP { .. }),
        _ => true,
    });
    let changed = parameters.filter_map(|parameter| {
        let number = parameter.number(params)?;
        let is_new = parameter.number(base) != Some(number) || parameter.name == "G" && !base.is_loggp();
        let value = match number {
            _ if parameter.is_time() => without_spaces(Time::from_ps(number)),
            // The largest number stands for no limit.
            _ if number == Params::NO_LIMIT as i64 => "none".to_string(),
            _ => number.to_string(),
        };
        is_new.then(|| format!("{}={value}", parameter.name))
    });
    changed.collect()
}

/// Writes a time as an option takes it.
fn without_spaces(time: Time) -> String {
    time.to_string().replace(' ', "")
}
