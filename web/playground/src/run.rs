//! A run: its time, what the paper says, its critical path, and what every processor did when.

use loggp_draw::page::Timeline;
use loggp_model::log::kinds::{KIND_NAMES, kind_number};
use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_trace::path::{Events, FormulaBuilder, HopKind, Path};
use loggp_trace::{ActivityKind, Trace};

use super::answer::{NumberColumn, PageAnswer};
use super::json::{JsonObject, Raw};
use super::play::{PlaySubject, PlayedRun};
use super::request::PageRequest;

/// The kinds of activities that the page shows: the first ones.
const KINDS: &[&str] = KIND_NAMES.split_at(7).0;

/// Returns the answer to `run`.
pub(crate) fn answer(request: &PageRequest) -> Result<PageAnswer, String> {
    let subject = PlaySubject::find(&request.algorithm)?;
    let (run, trace) = subject.trace(request)?;
    let events = Events::new(&trace);
    let path = Path::from_events(&events);
    let formula = FormulaBuilder::new(&trace.machine()).formula(&path.hops);
    let rest: Vec<(&str, i64)> = formula.rest.iter().map(|(name, time)| (*name, time.as_ps())).collect();
    let paper = JsonObject::default().with("time", run.formula.map(Time::as_ps));
    let paper = paper.with("kind", run.form.map(|form| form.kind.name()));
    let paper = paper.with("source", run.form.map(|form| form.source));
    let fields = JsonObject::default()
        .with("time", run.time.as_ps())
        .with("text", run.time.to_string())
        .with("cycles", cycles(run.time, run.params.cycle))
        .with("formula", paper)
        .with("path", formula.to_string())
        .with("terms", formula.counts)
        .with("rest", rest)
        .with("messages", run.messages)
        .with("stalls", run.stalls)
        .with("stall_time", run.stall_time.as_ps())
        .with("capacity", run.params.capacity())
        .with("params", params(&run.params))
        .with("command", subject.command(request, &request.setting()?))
        .with("kinds", KINDS);
    let mut answer = PageAnswer::new(fields);
    add_counts(&mut answer, &run, &trace);
    if request.columns != Some(false) {
        add_activities(&mut answer, &events);
        add_messages(&mut answer, &events);
        add_processors(&mut answer, &run, &trace);
        add_hops(&mut answer, &path);
    }
    if request.page {
        let page = Timeline::new(&trace).data(&events, request.causes != Some(false));
        let bytes = answer.column(NumberColumn::U8(page.1));
        answer.set("page", JsonObject::default().with("meta", Raw(page.0)).with("bytes", bytes));
    }
    Ok(answer)
}

/// Returns the answer to `command`.
pub(crate) fn command(request: &PageRequest) -> Result<PageAnswer, String> {
    let subject = PlaySubject::find(&request.algorithm)?;
    let command = subject.command(request, &request.setting()?);
    Ok(PageAnswer::new(JsonObject::default().with("command", command)))
}

/// Returns the answer to `goal`: the schedule as a text.
pub(crate) fn goal(request: &PageRequest) -> Result<PageAnswer, String> {
    let text = PlaySubject::find(&request.algorithm)?.goal(&request.setting()?)?;
    let mut answer = PageAnswer::default();
    answer.set_column("goal", NumberColumn::U8(text));
    Ok(answer)
}

/// Returns the answer to `tree`: for each processor who sent it the datum, and when it had it.
pub(crate) fn tree(request: &PageRequest) -> Result<PageAnswer, String> {
    let (_, trace) = PlaySubject::find(&request.algorithm)?.trace(request)?;
    let events = Events::new(&trace);
    let P = trace.params.P;
    let (mut parents, mut times) = (vec![-1; P], vec![0.0; P]);
    for place in 0..events.len() {
        let event = events.event(place);
        let ActivityKind::Receive(message) = event.kind else { continue };
        if parents[event.id] >= 0 {
            let id = event.id;
            return Err(format!(
                "its messages are no tree: processor {id} receives more than one; give a broadcast"
            ));
        }
        parents[event.id] = message.from as i32;
        times[event.id] = event.end.as_ps() as f64;
    }
    let mut answer = PageAnswer::default();
    answer.set_column("parent", NumberColumn::I32(parents));
    answer.set_column("time", NumberColumn::F64(times));
    Ok(answer)
}

/// Returns a time in cycles, with as many digits as it has, at most six behind the point.
fn cycles(time: Time, cycle: Time) -> String {
    let (time, cycle) = (i128::from(time.as_ps()), i128::from(cycle.as_ps().max(1)));
    let millionths = (time * 1_000_000 + cycle / 2) / cycle;
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn params(params: &Params) -> JsonObject {
    let mut all: JsonObject = params.times().map(|(name, time)| (name, time.as_ps())).collect();
    params.counts().for_each(|(name, count)| all.set(name, count));
    all.with("cycle", params.cycle.as_ps())
}

/// Returns the number of an activity's kind, if the page shows it. A barrier is shown as a wait.
fn shown_kind(kind: &ActivityKind) -> Option<u8> {
    let kind = if *kind == ActivityKind::Barrier { &ActivityKind::Idle } else { kind };
    u8::try_from(kind_number(kind)).ok().filter(|number| usize::from(*number) < KINDS.len())
}

/// Adds the time in each kind of activity, of all processors together.
fn add_counts(answer: &mut PageAnswer, run: &PlayedRun, trace: &Trace) {
    let mut counts = vec![0_i64; KINDS.len()];
    for activity in &trace.activities {
        if let Some(kind) = shown_kind(&activity.kind) {
            counts[usize::from(kind)] += (activity.end - activity.start).as_ps();
        }
    }
    let counts: Vec<(&str, i64)> = KINDS.iter().copied().zip(counts).collect();
    answer.set("counts", counts);
    answer.set_column("finish", times(run.finishes.iter().copied()));
}

/// Adds, for each processor, the time in each kind of activity.
fn add_processors(answer: &mut PageAnswer, run: &PlayedRun, trace: &Trace) {
    let mut busy = vec![vec![0.0; run.finishes.len()]; KINDS.len()];
    for activity in &trace.activities {
        if let Some(kind) = shown_kind(&activity.kind)
            && let Some(time) = busy[usize::from(kind)].get_mut(activity.id)
        {
            *time += (activity.end - activity.start).as_ps() as f64;
        }
    }
    answer.set_columns("busy", KINDS.iter().zip(busy.into_iter().map(NumberColumn::F64)));
}

fn add_activities(answer: &mut PageAnswer, events: &Events) {
    let shown: Vec<(usize, u8)> =
        (0..events.len()).filter_map(|place| Some((place, shown_kind(events.event(place).kind)?))).collect();
    let time = |at: fn(&Events, usize) -> Time| times(shown.iter().map(|&(place, _)| at(events, place)));
    let processor =
        NumberColumn::I32(shown.iter().map(|&(place, _)| events.event(place).id as i32).collect());
    let message =
        NumberColumn::I32(shown.iter().map(|&(place, _)| index(events.message_of(place))).collect());
    let fields = [
        ("processor", processor),
        ("start", time(|events, place| events.event(place).start)),
        ("end", time(|events, place| events.event(place).end)),
        ("kind", NumberColumn::U8(shown.iter().map(|&(_, kind)| kind).collect())),
        ("message", message),
    ];
    answer.set_columns("activity", fields);
}

fn add_messages(answer: &mut PageAnswer, events: &Events) {
    let all = || 0..events.message_count();
    let number =
        |of: &dyn Fn(usize) -> usize| NumberColumn::I32(all().map(|place| of(place) as i32).collect());
    let time = |of: &dyn Fn(usize) -> Time| times(all().map(of));
    let sent = |place: usize| events.send_event(place).map(|send| events.event(send));
    let received = |place: usize| events.receive_event(place).map(|receive| events.event(receive));
    let fields = [
        ("from", number(&|place| events.message(place).id.from)),
        ("to", number(&|place| events.message(place).to)),
        ("words", number(&|place| events.message(place).words)),
        ("sent", time(&|place| sent(place).map_or(events.message(place).enter, |send| send.start))),
        ("ready", time(&|place| sent(place).map_or(events.message(place).enter, |send| send.end))),
        ("enter", time(&|place| events.message(place).enter)),
        ("arrival", time(&|place| events.message(place).arrival)),
        ("received", time(&|place| received(place).map_or(events.message(place).arrival, |event| event.end))),
    ];
    answer.set_columns("message", fields);
}

fn add_hops(answer: &mut PageAnswer, path: &Path) {
    let hops = &path.hops;
    let kind = |kind: HopKind| HopKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u8;
    let fields = [
        ("processor", NumberColumn::I32(hops.iter().map(|hop| hop.id as i32).collect())),
        ("start", times(hops.iter().map(|hop| hop.start))),
        ("end", times(hops.iter().map(|hop| hop.end))),
        ("kind", NumberColumn::U8(hops.iter().map(|hop| kind(hop.kind)).collect())),
        ("message", NumberColumn::I32(hops.iter().map(|hop| index(hop.message)).collect())),
    ];
    answer.set_columns("hops", fields);
    answer.set("hop_kinds", HopKind::ALL.map(HopKind::name).as_slice());
}

fn index(place: Option<usize>) -> i32 {
    place.map_or(-1, |place| place as i32)
}

/// Returns a column of times.
fn times(all: impl Iterator<Item = Time>) -> NumberColumn {
    NumberColumn::F64(all.map(|time| time.as_ps() as f64).collect())
}
