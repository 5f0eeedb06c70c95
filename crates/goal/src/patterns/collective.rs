//! Patterns and collectives over all ranks, as schedules.

use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleBuilder};

use super::algorithm::{CollectiveAlgorithm, Method};
use super::call::{CollectiveCall, CollectiveKind, Member, Sizes};
use super::rules::{CollectiveRules, write_by, write_pattern};
use super::table::CollectiveTable;
use super::{WriteResult, find_pattern, methods};

/// A library of collectives, which takes an algorithm for each call.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveLibrary {
    /// What stands for it behind the name of a collective, as in `bcast:openmpi`.
    pub name: &'static str,
    /// Returns what it takes when.
    pub table: fn() -> &'static CollectiveTable,
}

/// Returns the kind of a collective and how it is to be done, if this is the name of one, such as
/// `bcast:binomial`.
fn parts(name: &str) -> Option<(CollectiveKind, &str)> {
    let (kind, how) = name.split_once(':')?;
    let kind = CollectiveKind::find(kind)?;
    (!kind.is_of_neighbors()).then_some((kind, how))
}

/// Returns whether this is the name of a pattern, or of a collective: its kind, `:`, and an algorithm or a library.
pub fn is_pattern(name: &str) -> bool {
    find_pattern(name).is_some() || parts(name).is_some()
}

/// Returns the schedule of a pattern over this many ranks, or of a collective, such as `bcast:knomial:4`,
/// `bcast:chain/8192` in segments of so many bytes, or `bcast:openmpi` as a library does it. The root is rank 0. `bytes`
/// is the whole message in a broadcast and in reductions, and otherwise what a rank gives each other one. A collective that
/// is a part of another one is done as the first library does it. Returns `None` if this is neither's name, and an error in
/// one sentence if it cannot be done so.
pub fn pattern_schedule(
    name: &str,
    ranks: usize,
    bytes: u64,
    libraries: &[CollectiveLibrary],
) -> Option<Result<Schedule, String>> {
    if let Some(pattern) = find_pattern(name) {
        return Some(method_schedule(pattern, ranks, bytes));
    }
    let (kind, how) = parts(name)?;
    Some(with_table(kind, how, libraries, |table| {
        let rules = CollectiveRules { table, combine: &|_| Time::ZERO };
        write(kind, kind.name(), ranks, bytes, 2, |builder, member, call| {
            rules.write(builder, member, call).map(drop)
        })
    }))
}

/// Returns the name of the algorithm by which a collective of this name is done, as [`pattern_schedule`] does it, if that
/// is not the one that is named: the choice of a library, or what stands in for an algorithm that cannot do it with so
/// many ranks or so few bytes.
pub fn what_runs(name: &str, ranks: usize, bytes: u64, libraries: &[CollectiveLibrary]) -> Option<String> {
    let (kind, how) = parts(name)?;
    let runs = with_table(kind, how, libraries, |table| {
        let call = call_of(kind, bytes);
        let rules = CollectiveRules { table, combine: &|_| Time::ZERO };
        let runs = rules.what_runs(ranks, &call).map_err(|why| why.to_string())?;
        let is_of_library = libraries.iter().any(|library| library.name == how);
        let is_chosen = table.choose(&call, ranks).is_some_and(|chosen| chosen.to_string() == runs);
        Ok((is_of_library || !is_chosen).then_some(runs))
    });
    runs.ok().flatten()
}

/// Calls `f` with the table by which a collective is done: that of a library, or one with this algorithm alone.
fn with_table<T>(
    kind: CollectiveKind,
    how: &str,
    libraries: &[CollectiveLibrary],
    f: impl FnOnce(&CollectiveTable) -> Result<T, String>,
) -> Result<T, String> {
    if let Some(library) = libraries.iter().find(|library| library.name == how) {
        return f((library.table)());
    }
    // Messages of no bytes are left out, but for those of an alltoallv, as in Open MPI.
    let line = format!("{} 1 0 {}\nempty alltoallv", kind.name(), how.replacen('/', " ", 1));
    let own = CollectiveTable::parse(&line).map_err(|error| match libraries {
        [] => error.why,
        [others @ .., last] => {
            let others: String = others.iter().map(|other| format!(", {}", other.name)).collect();
            format!("{}{others} or {}", error.why, last.name)
        }
    })?;
    match libraries.first() {
        Some(usual) => f(&own.or((usual.table)())),
        None => f(&own),
    }
}

/// Returns whether a collective of this name has parts that are done as a library does them, so that there must be one.
pub fn needs_library(name: &str) -> bool {
    let method = parts(name).and_then(|(kind, how)| methods::find(kind, how));
    method.is_some_and(|method| method.has_parts)
}

/// Returns the call of a collective in which each rank gives each other one, or all, so many bytes.
fn call_of(kind: CollectiveKind, bytes: u64) -> CollectiveCall<'static> {
    let sizes = Sizes::Same(bytes);
    CollectiveCall { sent: sizes, received: sizes, ..CollectiveCall::new(kind) }
}

/// Returns the schedule of a pattern, or of a collective by one algorithm without a fan-out, in which no
/// other collective is a part. A program that uses only this function is linked without tables and other
/// algorithms.
pub fn method_schedule(method: &'static Method, ranks: usize, bytes: u64) -> Result<Schedule, String> {
    let kind = method.kinds[0];
    let (name, slack) = if method.waits_for_data { (method.name, 1) } else { (kind.name(), 2) };
    write(kind, name, ranks, bytes, slack, |builder, member, call| match method.waits_for_data {
        true => write_pattern(method, builder, member, call),
        false => write_by(CollectiveAlgorithm::new(method), builder, member, call).map(drop),
    })
}

/// Writes the parts of all ranks. Where ranks have many operations, those of rank 1 are at most `slack` times the mean of
/// all but rank 0, so that too many are refused at once.
fn write(
    kind: CollectiveKind,
    name: &str,
    ranks: usize,
    bytes: u64,
    slack: usize,
    write_rank: impl Fn(&mut ScheduleBuilder, Member, &CollectiveCall) -> WriteResult,
) -> Result<Schedule, String> {
    let mut builder = ScheduleBuilder::new(ranks).map_err(|why| why.to_string())?;
    let members: Vec<u32> = (0..ranks as u32).collect();
    let call = call_of(kind, bytes);
    for id in 0..ranks {
        builder.begin_rank(id).map_err(|why| why.to_string())?;
        let before = builder.operation_count();
        let member = Member { members: &members, id, tag: 0, before: &[] };
        write_rank(&mut builder, member, &call).map_err(|why| why.to_string())?;
        let (each, most) = (builder.operation_count() - before, Schedule::MOST_OPERATIONS);
        if id == 1 && each * (ranks - 1) > slack * most {
            return Err(format!(
                "{name} over {ranks} ranks has {each} operations for each, and a schedule has at most {most}; give \
                 fewer ranks"
            ));
        }
    }
    builder.build().map_err(|why| why.to_string())
}

/// Returns the names of the ways to do a collective over this many ranks: each algorithm with several
/// fan-outs and segments, if it has these, and what libraries do. Those of which parts are done as a library does them are
/// among them if there is one. `bytes` are those of [`pattern_schedule`].
pub fn collective_choices(
    kind: CollectiveKind,
    ranks: usize,
    bytes: u64,
    libraries: &[CollectiveLibrary],
) -> Vec<String> {
    /// Most segments of a message, more of which would take longer to play than they could gain.
    const MOST_SEGMENTS: u64 = 1024;
    let mut names = Vec::new();
    for method in methods::of(kind).filter(|method| !method.has_parts || !libraries.is_empty()) {
        let fan_outs: &[usize] = match method {
            Method { fan_out: None, .. } => &[],
            Method { name: "chain", .. } => &[1, 2, 4, 8, 16, 32],
            _ => &[2, 3, 4, 8, 16, 32],
        };
        let fan_outs = fan_outs.iter().filter(|fan_out| **fan_out < ranks.max(3));
        let mut algorithms: Vec<String> =
            fan_outs.map(|fan_out| format!("{}:{}:{fan_out}", kind.name(), method.name)).collect();
        if algorithms.is_empty() {
            algorithms.push(format!("{}:{}", kind.name(), method.name));
        }
        let segments = (10..31).step_by(2).map(|power| 1 << power);
        let segments: Vec<u64> = segments
            .filter(|segment| method.has_segments && *segment < bytes && *segment >= bytes / MOST_SEGMENTS)
            .collect();
        for name in algorithms {
            names.extend(segments.iter().map(|segment| format!("{name}/{segment}")));
            names.push(name);
        }
    }
    names.extend(libraries.iter().map(|library| format!("{}:{}", kind.name(), library.name)));
    names
}

/// Returns the names of all collectives, with a description.
pub fn collective_names() -> impl Iterator<Item = (String, &'static str)> {
    let all = methods::METHODS.iter().flat_map(|method| method.kinds.iter().map(move |kind| (kind, method)));
    let all = all.filter(|(kind, _)| !kind.is_of_neighbors());
    all.map(|(kind, method)| (format!("{}:{}", kind.name(), method.name), method.about))
}
