//! Studies with their answers as rows.

use loggp::{Carrier, ClockKind, Host, Lateness, Time};
use loggp_programs::{Case, Emulation};

use super::machine::{level_columns, machine_columns};
use super::{Columns, Field};
use crate::{Answers, PhasePrediction, Prediction, Study, TimeSummary};

/// A study that is to be run.
pub struct Task {
    /// Name in messages.
    pub name: String,
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub study: Study,
    /// Value of each swept quantity, and its text, in a sweep.
    pub swept: Vec<(f64, String)>,
}

/// A study that was run.
pub struct StudyRow {
    pub task: Task,
    pub answers: Answers,
}

impl StudyRow {
    /// Returns the case of the study.
    pub fn case(&self) -> &Case {
        &self.task.study.case
    }

    /// Returns how well this computer kept up with the run; `None` on the virtual clock.
    pub fn host(&self) -> Option<&Host> {
        self.answers.outcome.run.host.as_ref()
    }

    /// Returns whether this computer was late.
    pub fn is_late(&self) -> bool {
        self.answers.on_time == Some(false)
    }
}

/// Returns the columns of studies that are `repeat` runs each, or a run for each of their seeds. The first are those
/// of the swept quantities, if any.
pub fn study_columns(
    swept: impl Iterator<Item = &'static str>,
    repeat: usize,
    has_seeds: bool,
) -> Columns<'static, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    for (index, name) in swept.enumerate() {
        columns.add_to_table(name, move |row| Field::Swept(row.task.swept[index].1.clone()));
    }
    columns.add("program", |row| row.case().program.name);
    columns.add("algorithm", |row| row.case().algorithm.name).title("algorithm");
    columns.extend(machine_columns(|row: &StudyRow| (row.task.machine, row.case().params), true));
    columns.add("size", |row| row.case().size);
    columns.add("options", |row| {
        // An option without a value is left out.
        let options = row.case().options.iter().filter(|value| !value.text().is_empty());
        options.map(ToString::to_string).collect::<Vec<_>>().join(",")
    });
    columns.extend(request_columns());
    columns.extend(form_columns());
    columns.extend(prediction_columns(|row: &StudyRow| row.answers.prediction));
    if has_seeds || repeat == 1 {
        columns.hide(&ENDS);
    }
    if has_seeds {
        columns.extend(quartile_columns());
    }
    columns.add("phases", |row| match &row.answers.phases[..] {
        [] => Field::Absent,
        phases => phase_columns(|phase: &PhasePrediction| phase).objects(phases),
    });
    columns.add("metrics", |row| match &row.answers.outcome.metrics {
        metrics if metrics.is_empty() => Field::Absent,
        metrics => Field::Metrics(metrics.clone()),
    });
    add_result(&mut columns);
    columns.add("stalls.count", |row| row.answers.outcome.run.stalls()).title("stalls").yields();
    columns.add("stalls.ns", |row| row.answers.outcome.run.stalled()).title("stalled").optional();
    let in_transit = |row: &StudyRow| match row.task.study.emulation.link {
        Some(_) => Field::Null,
        None => Field::CountOf(row.answers.outcome.run.most_in_transit(), row.case().params.capacity()),
    };
    columns.add("stalls.max_in_transit", in_transit).title("in transit").yields();
    columns.add("stalls.capacity", |row| row.case().params.capacity());
    add_dilation(&mut columns);
    columns.add("dilation_why", |row| row.host().map(|host| host.why.clone()));
    add_cores(&mut columns);
    columns.hide(&["dilation", "cores"]);
    add_timeliness(&mut columns);
    columns
}

/// Returns the columns that suffice to repeat the run, together with the machine and the size.
pub fn request_columns() -> Columns<'static, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    columns.add("cycle_ns", |row| row.case().params.cycle);
    columns.add("latency", |row| row.case().latency.to_string());
    columns.add("ties", |row| row.case().ties.to_string());
    columns.add("noise", |row| row.case().noise.as_ref().map(ToString::to_string));
    columns.add("ports", |row| row.case().ports.to_string());
    columns.add("capacity", |row| row.case().capacity.to_string());
    columns.extend(level_columns(|row: &StudyRow| &*row.case().levels));
    columns.add("barrier_ns", |row| row.case().barrier);
    columns.add("work", |row| row.case().work.to_string());
    columns.add("seed", |row| row.case().seed);
    columns.add("repeat", |row| row.task.study.repeat);
    let seeds = |row: &StudyRow| match &row.task.study {
        study if study.distinct_seeds => Field::from(study.repeat),
        _ => Field::Absent,
    };
    columns.add("seeds", seeds).json_only();
    columns.add("dilation_asked", |row| {
        let emulation = &row.task.study.emulation;
        let is_asked = emulation.clock == ClockKind::Wall && emulation.link.is_none();
        is_asked.then(|| emulation.dilation.to_string())
    });
    columns.add("clock", |row| match &row.task.study.emulation {
        emulation if emulation.link.is_some() => "real".to_string(),
        emulation => emulation.clock.to_string(),
    });
    columns.add("carrier", |row| match &row.task.study.emulation {
        Emulation { link: Some(link), .. } => Some(link.name()),
        Emulation { clock, carrier, .. } => carrier_on(*clock, *carrier).map(|carrier| carrier.to_string()),
    });
    columns
}

/// Returns the columns that say what the formula is: exact, a bound or an estimate, and whose.
pub fn form_columns() -> Columns<'static, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    columns.add("formula_kind", |row| row.answers.prediction.form.map(|form| form.kind.name()));
    columns.add("formula_source", |row| row.answers.prediction.form.map(|form| form.source));
    columns
}

/// The names of the columns of the least and the greatest measured time.
pub const ENDS: [&str; 2] = ["measured_min_ns", "measured_max_ns"];

/// Returns the columns of the times and their differences.
pub fn prediction_columns<'a, R: 'a>(of: impl Fn(&R) -> Prediction + Copy + 'a) -> Columns<'a, R> {
    let measured = |which: fn(TimeSummary) -> Time| {
        move |row: &R| of(row).measured.map(|times| Field::Measured(which(times)))
    };
    let mut columns = Columns::<R>::new();
    columns.add("formula_ns", move |row| of(row).formula).title("formula");
    columns.add("model_ns", move |row| of(row).model).title("model");
    let wall = move |row: &R| of(row).wall.map_or(Field::Absent, Field::Measured);
    columns.add("wall_ns", wall).title("wall clock").optional();
    columns.add("measured_ns", measured(|times| times.median)).title("measured").optional();
    columns.add("measured_min_ns", measured(|times| times.min)).title("min").optional();
    columns.add("measured_max_ns", measured(|times| times.max)).title("max").optional();
    let error = move |row: &R| of(row).error_model().map(Field::Error);
    columns.add("error_model", error).title("vs model").optional();
    let error = move |row: &R| of(row).error_wall().map_or(Field::Absent, Field::Error);
    columns.add("error_wall", error).title("vs wall clock").optional();
    let error = move |row: &R| of(row).error_formula().map(Field::Error);
    columns.add("error_formula", error).title("vs formula").after("model");
    columns
}

/// Returns the columns of the spread over all seeds. Tables have that of the clock that is reported.
fn quartile_columns() -> Columns<'static, StudyRow> {
    /// Name in JSON, title in a table, and getter.
    type QuartileColumn = (&'static str, &'static str, fn(TimeSummary) -> Time);
    const ALL: [QuartileColumn; 4] = [
        ("min", "least", |times| times.min),
        ("lower", "lower quartile", |times| times.lower),
        ("upper", "upper quartile", |times| times.upper),
        ("max", "most", |times| times.max),
    ];
    let model = |row: &StudyRow| row.answers.prediction.models;
    let measured = |row: &StudyRow| row.answers.prediction.measured;
    let mut columns = Columns::<StudyRow>::new();
    for (name, _, which) in ALL {
        columns.add(format!("model_{name}_ns"), move |row| model(row).map(which));
    }
    for (name, _, which) in &ALL[1..3] {
        let value = move |row: &StudyRow| measured(row).map(|times| Field::Measured(which(times)));
        columns.add(format!("measured_{name}_ns"), value);
    }
    for (_, title, which) in ALL {
        columns.add_to_table(title, move |row| measured(row).or(model(row)).map(which));
    }
    columns
}

/// Returns the columns of a phase and its prediction.
pub fn phase_columns<'a, R: 'a>(of: impl Fn(&R) -> &PhasePrediction + Copy + 'a) -> Columns<'a, R> {
    let mut columns = Columns::new();
    columns.add("phase", move |row| of(row).name.to_string()).title("phase");
    columns.extend(prediction_columns(move |row| of(row).prediction));
    columns.hide(&ENDS);
    columns
}

/// Adds the columns that say whether the result is right, and how many messages there were.
pub fn add_result(columns: &mut Columns<StudyRow>) {
    columns
        .add("verified", |row| Field::Verified(row.answers.wrong.is_none()))
        .title("verified")
        .last()
        .yields();
    columns.add("messages", |row| row.answers.outcome.run.messages()).title("messages");
}

/// Adds the column of the dilation, which is 1 on the virtual clock.
pub fn add_dilation(columns: &mut Columns<StudyRow>) {
    columns.add("dilation", |row| row.host().map_or(1.0, |host| host.dilation)).title("dilation");
}

/// Adds the column of the number of this computer's cores that the run used.
pub fn add_cores(columns: &mut Columns<StudyRow>) {
    columns.add("cores", |row| row.host().map_or(1, |host| host.cores)).title("cores");
}

/// Adds the column that tells whether this computer kept up with the run, null on the virtual clock, and those
/// of its lateness, without titles.
pub fn add_timeliness(columns: &mut Columns<StudyRow>) {
    let on_time = |row: &StudyRow| row.answers.on_time.map(Field::OnTime);
    columns.add("held", on_time).title("on time").after("vs model").optional();
    let mut late = lateness_columns();
    late.hide(&LATENESS.map(|(name, ..)| name));
    columns.extend(late);
}

type GetLateness = fn(&Lateness) -> Time;

/// The columns of this computer's lateness: name, title and getter.
const LATENESS: [(&str, &str, GetLateness); 5] = [
    ("lateness_ns.p50", "late p50", |late| late.p50),
    ("lateness_ns.p90", "p90", |late| late.p90),
    ("lateness_ns.p99", "p99", |late| late.p99),
    ("lateness_ns.max", "max", |late| late.max),
    ("lateness_ns.finish", "at the end", |late| late.finish),
];

/// Returns the columns of this computer's lateness, in its own time, without the dilation.
pub fn lateness_columns() -> Columns<'static, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    for (name, title, which) in LATENESS {
        let value = move |row: &StudyRow| {
            row.host().map_or(Field::Absent, |host| Field::HostTime(which(&host.lateness)))
        };
        columns.add(name, value).title(title);
    }
    columns
}

/// Returns the carrier on the wall clock, or `None` on the virtual clock, where it makes no difference.
pub fn carrier_on(clock: ClockKind, carrier: Carrier) -> Option<Carrier> {
    (clock == ClockKind::Wall).then_some(carrier)
}
