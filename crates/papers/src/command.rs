//! The commands that run what a series runs.

use std::mem::discriminant;

use loggp::{LongMessages, Parameter, Params, Time, US, presets};

use loggp_programs::Case;

use super::series::{Ask, Point, Series};

/// An option and its value, as the command line has them.
type Said = (&'static str, String);

/// Of more points a sweep is said by its ends and their number.
const FEW: usize = 6;

/// The commands for a series: a sweep, if that is one; and if not, one for its first case and one for its last.
pub fn commands(series: &Series) -> Vec<String> {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else { return Vec::new() };
    if let Some(sweep) = sweep(&series.points) {
        return vec![sweep];
    }
    let mut commands = vec![compare(first), compare(last)];
    commands.dedup();
    commands
}

/// The command for a case.
fn compare(point: &Point) -> String {
    let clock = (point.ask < Ask::Measure).then(|| ("clock", "virtual".to_string()));
    line("compare", &point.case, &said(&point.case).into_iter().chain(clock).collect::<Vec<_>>())
}

/// A command with its options.
fn line(command: &str, case: &Case, said: &[Said]) -> String {
    let options: String = said.iter().map(|(name, value)| format!(" --{name} {value}")).collect();
    let options = options.replace("--processors", "-P");
    format!("loggp {command} {} {}{options}", case.program.name, case.algorithm.name)
}

/// The command for all of these cases, if they differ in a single thing that can be swept over.
fn sweep(points: &[Point]) -> Option<String> {
    let all: Vec<Vec<Said>> = points.iter().map(|point| said(&point.case)).collect();
    let names: Vec<&str> = all[0].iter().map(|(name, _)| *name).collect();
    let alike = all.iter().all(|said| said.iter().map(|(name, _)| *name).eq(names.iter().copied()));
    let differs = |n: &usize| all.iter().any(|said| said[*n] != all[0][*n]);
    let differing: Vec<usize> = (0..names.len()).filter(differs).take(if alike { 2 } else { 0 }).collect();
    let [swept] = differing[..] else { return None };
    let case = &points[0].case;
    let name = match names[swept] {
        "processors" => "P",
        "size" => "size",
        own => case.program.option(own)?.name(),
    };
    let values: Vec<&str> = all.iter().map(|said| said[swept].1.as_str()).collect();
    let others: Vec<Said> =
        all[0].iter().enumerate().filter(|(n, _)| *n != swept).map(|(_, one)| one.clone()).collect();
    let over = ("over", format!("{name}={}", spread(&values).unwrap_or_else(|| values.join(","))));
    Some(line("sweep", case, &others.into_iter().chain([over]).collect::<Vec<_>>()))
}

/// Many numbers that are equally far apart, by their ends.
fn spread(values: &[&str]) -> Option<String> {
    let numbers: Vec<i64> = values.iter().map(|value| value.parse().ok()).collect::<Option<_>>()?;
    let apart = numbers.get(1)? - numbers[0];
    let even = numbers.windows(2).all(|pair| pair[1] - pair[0] == apart);
    (even && values.len() > FEW)
        .then(|| format!("{}..{}:{}", values[0], values[values.len() - 1], values.len()))
}

/// What is to be said to have this case.
fn said(case: &Case) -> Vec<Said> {
    let mut said = machine(&case.params);
    let usual = Case::new(case.program, case.algorithm.name, case.params);
    let of_size =
        case.options.iter().any(|value| value.option().is_instead_of_size() && !value.text().is_empty());
    if !of_size {
        said.push(("size", case.size.to_string()));
    }
    let options = case.options.iter().filter(|value| !value.is_default());
    said.extend(options.map(|value| (value.option().name(), value.text())));
    said.extend(case.barrier.map(|barrier| ("barrier", unspaced(barrier))));
    let settings = [
        ("ports", case.ports.to_string(), usual.ports.to_string()),
        ("latency", case.latency.to_string(), usual.latency.to_string()),
        ("ties", case.ties.to_string(), usual.ties.to_string()),
        ("noise", case.noise.as_ref().map(ToString::to_string).unwrap_or_default(), String::new()),
        ("work", case.work.to_string(), usual.work.to_string()),
        ("seed", case.seed.to_string(), "1".into()),
    ];
    said.extend(settings.into_iter().filter(|(_, is, usual)| is != usual).map(|(name, is, _)| (name, is)));
    said
}

/// What is to be said to have this machine: one of the papers', or none, and what differs there, which is to be little.
fn machine(params: &Params) -> Vec<Said> {
    let P = ("processors", params.P.to_string());
    let alike = |base: &Params| {
        let of_one_kind = discriminant(&base.long) == discriminant(&params.long);
        of_one_kind && base.cycle == params.cycle
    };
    let named = presets().iter().filter_map(|preset| {
        let base = preset.builder().P(params.P).build().ok().filter(alike)?;
        Some((Some(preset.name), changes(&base, params)))
    });
    let bare = Params::builder(params.P).build().expect("a machine may be free");
    let least = named.chain([(None, changes(&bare, params))]).min_by_key(|(_, changes)| changes.len());
    let (name, changes) = least.expect("there is the bare machine");
    let mut said: Vec<Said> = name.map(|name| ("machine", name.to_string())).into_iter().collect();
    said.push(P);
    if !changes.is_empty() {
        said.push(("params", changes.join(",")));
    }
    if name.is_none() && params.cycle != US {
        said.push(("cycle", unspaced(params.cycle)));
    }
    said
}

/// What differs on a machine from another, besides P.
fn changes(base: &Params, params: &Params) -> Vec<String> {
    let parameters = Parameter::ALL.iter().filter(|parameter| match parameter.name {
        "P" => false,
        // A machine of LogP has one too, which follows from g and o.
        "G" => matches!(params.long, LongMessages::LogGP { .. }),
        _ => true,
    });
    let changed = parameters.filter_map(|parameter| {
        let number = parameter.number(params)?;
        let is_new = parameter.number(base) != Some(number) || parameter.name == "G" && !base.is_loggp();
        let value = match number {
            _ if parameter.is_time() => unspaced(Time::from_ps(number)),
            // No limit is the largest that there is.
            _ if number == Params::NO_LIMIT as i64 => "none".to_string(),
            _ => number.to_string(),
        };
        is_new.then(|| format!("{}={value}", parameter.name))
    });
    changed.collect()
}

/// A time as an option takes it.
fn unspaced(time: Time) -> String {
    time.to_string().replace(' ', "")
}
