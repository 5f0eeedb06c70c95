//! A row of `run`, `compare`, `sweep` and `stress`: a study and its answers, and the columns that say what is in them.

use loggp::{ClockKind, Host, Lateness, Parameter, Params, Time};
use loggp_programs::Case;
use loggp_study::{Answers, Study};
use loggp_study::{Phase, Prediction, Times};

use super::column::{self, Column};
use super::field::Field;
use super::machine_file;
use super::options::carrier_on;

/// A table of these shows times with at most so many decimals.
pub const MOST_DECIMALS: usize = 3;

/// A study to run.
pub struct Task {
    /// What messages call it.
    pub name: String,
    /// What the machine is called, if it was named.
    pub machine: Option<&'static str>,
    /// The study.
    pub study: Study,
    /// The value of what is swept, if anything is.
    pub at: Option<String>,
}

/// A study and its answers.
pub struct Row {
    /// The study.
    pub task: Task,
    /// What it found.
    pub answers: Answers,
}

impl Row {
    /// What was run.
    pub fn case(&self) -> &Case {
        &self.task.study.case
    }

    /// How this computer held the run; nothing where time does not pass.
    pub fn host(&self) -> Option<&Host> {
        self.answers.outcome.run.host.as_ref()
    }

    /// Whether this computer did not keep up with the run.
    pub fn is_late(&self) -> bool {
        self.answers.held == Some(false)
    }
}

/// What is said of the times of several runs, beside the median.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Nothing: there is one run, or nobody asks.
    None,
    /// The shortest and the longest that was measured.
    Ends,
    /// The shortest, the quartiles and the longest, of the model too.
    Seeds,
}

/// The columns of `run`, `compare` and `sweep`: along what is swept, if anything is.
pub fn columns(swept: Option<&'static str>, spread: Spread) -> Vec<Column<'static, Row>> {
    let swept = swept.map(|name| Column::shown(name, |row: &Row| row.task.at.clone().map(Field::Swept)));
    let mut columns: Vec<Column<Row>> = swept.into_iter().collect();
    columns.extend([
        Column::new("program", |row: &Row| row.case().program.name),
        Column::new("algorithm", |row: &Row| row.case().algorithm.name).titled("algorithm"),
    ]);
    columns.extend(machine(|row: &Row| (row.task.machine, row.case().params), true));
    columns.extend([
        Column::new("size", |row: &Row| row.case().size),
        Column::new("options", |row: &Row| {
            // One that was left out says nothing.
            let options = row.case().options.iter().filter(|value| !value.text().is_empty());
            options.map(ToString::to_string).collect::<Vec<_>>().join(",")
        }),
    ]);
    columns.extend(asked());
    columns.extend(clock());
    columns.extend(prediction(|row: &Row| row.answers.prediction, spread == Spread::Ends));
    if spread == Spread::Seeds {
        columns.extend(quartiles());
    }
    columns.extend([
        Column::new("phases", |row: &Row| match &row.answers.phases {
            phases if phases.is_empty() => Field::Absent,
            phases => {
                let columns = phase(|phase: &Phase| phase);
                Field::Rows(phases.iter().map(|phase| column::object(&columns, phase)).collect())
            }
        }),
        Column::new("metrics", |row: &Row| match &row.answers.outcome.metrics {
            metrics if metrics.is_empty() => Field::Absent,
            metrics => Field::Metrics(metrics.clone()),
        }),
        verified(),
        messages(),
        Column::new("stalls.count", |row: &Row| row.answers.outcome.run.stalls()).titled("stalls"),
        Column::new("stalls.ns", |row: &Row| row.answers.outcome.run.stalled()).titled("stalled").optional(),
        Column::new("stalls.max_in_transit", |row: &Row| match row.task.study.emulation.over {
            Some(_) => Field::Nothing,
            None => Field::Of(row.answers.outcome.run.most_in_transit(), row.case().params.capacity()),
        })
        .titled("in transit"),
        Column::new("stalls.capacity", |row: &Row| row.case().params.capacity()),
        dilation().untitled(),
        Column::new("dilation_why", |row: &Row| row.host().map(|host| host.why.clone())),
        cores().untitled(),
        held(),
    ]);
    columns.extend(lateness().map(Column::untitled));
    columns
}

/// What else was asked for: who has it all, with the machine and the size, can repeat the run.
pub fn asked() -> [Column<'static, Row>; 12] {
    [
        Column::new("cycle_ns", |row: &Row| row.case().params.cycle),
        Column::new("latency", |row: &Row| row.case().latency.to_string()),
        Column::new("ties", |row: &Row| row.case().ties.to_string()),
        Column::new("noise", |row: &Row| row.case().noise.as_ref().map(ToString::to_string)),
        Column::new("ports", |row: &Row| row.case().ports),
        Column::new("levels", |row: &Row| match &row.case().levels[..] {
            [] => Field::Absent,
            levels => Field::Rows(levels.iter().map(machine_file::level).collect()),
        })
        .json_only(),
        Column::new("barrier_ns", |row: &Row| row.case().barrier),
        Column::new("work", |row: &Row| row.case().work),
        Column::new("seed", |row: &Row| row.case().seed),
        Column::new("repeat", |row: &Row| row.task.study.repeat),
        Column::new("seeds", |row: &Row| match &row.task.study {
            study if study.seeds => Field::from(study.repeat),
            _ => Field::Absent,
        })
        .json_only(),
        Column::new("dilation_asked", |row: &Row| {
            let emulation = &row.task.study.emulation;
            (emulation.clock == ClockKind::Wall && emulation.over.is_none()).then_some(emulation.dilation)
        }),
    ]
}

/// Which machine a row is about. CSV has LogGPS's parameters only where `loggps` says so.
pub fn machine<R>(
    of: impl Fn(&R) -> (Option<&'static str>, Params) + Copy + 'static,
    loggps: bool,
) -> Vec<Column<'static, R>> {
    let column = |parameter: &'static Parameter| {
        let column = Column::new(format!("params.{}", parameter.name), move |row: &R| {
            parameter.number(&of(row).1).map_or(Field::Absent, Field::from)
        });
        if parameter.is_loggps() && !loggps { column.json_only() } else { column }
    };
    let mut columns = vec![Column::new("machine", move |row: &R| of(row).0)];
    columns.extend(Parameter::ALL.iter().map(column));
    columns
}

/// The clock on which a study runs, and what processors are on it.
pub fn clock() -> [Column<'static, Row>; 2] {
    [
        Column::new("clock", |row: &Row| match &row.task.study.emulation {
            emulation if emulation.over.is_some() => "real".to_string(),
            emulation => emulation.clock.to_string(),
        }),
        Column::new("carrier", |row: &Row| {
            let emulation = &row.task.study.emulation;
            match &emulation.over {
                Some(link) => Some(link.name()),
                None => carrier_on(emulation.clock, emulation.carrier).map(|carrier| carrier.to_string()),
            }
        }),
    ]
}

/// The times, and how far they are apart. The shortest and the longest of several are in a table if that is asked for.
pub fn prediction<'a, R>(of: impl Fn(&R) -> Prediction + Copy + 'a, ends: bool) -> [Column<'a, R>; 9] {
    let measured = |name, title, which: fn(Times) -> Time| {
        let value =
            move |row: &R| of(row).measured.map_or(Field::Nothing, |times| Field::Measured(which(times)));
        Column::new(name, value).titled(title).optional()
    };
    let end = |column: Column<'a, R>| if ends { column } else { column.untitled() };
    [
        Column::new("formula_ns", move |row: &R| of(row).formula).titled("formula"),
        Column::new("model_ns", move |row: &R| of(row).model).titled("model"),
        Column::new("wall_ns", move |row: &R| of(row).wall.map_or(Field::Absent, Field::Measured))
            .titled("wall clock")
            .optional(),
        measured("measured_ns", "measured", |times| times.median),
        end(measured("measured_min_ns", "min", |times| times.min)),
        end(measured("measured_max_ns", "max", |times| times.max)),
        Column::new("error_model", move |row: &R| of(row).error_model().map(Field::Error))
            .titled("vs model")
            .optional(),
        Column::new("error_wall", move |row: &R| of(row).error_wall().map_or(Field::Absent, Field::Error))
            .titled("vs wall clock")
            .optional(),
        Column::new("error_formula", move |row: &R| of(row).error_formula().map(Field::Error))
            .titled("vs formula")
            .after("model"),
    ]
}

/// How far the times of all seeds are apart. A table has those of the clock that is reported.
fn quartiles() -> Vec<Column<'static, Row>> {
    /// Its name in JSON, its title in a table, and which it is.
    type Named = (&'static str, &'static str, fn(Times) -> Time);
    const ALL: [Named; 4] = [
        ("min", "least", |times| times.min),
        ("lower", "lower quartile", |times| times.lower),
        ("upper", "upper quartile", |times| times.upper),
        ("max", "most", |times| times.max),
    ];
    let model = |row: &Row| row.answers.prediction.models;
    let measured = |row: &Row| row.answers.prediction.measured;
    let shown = ALL.map(|(_, title, which)| {
        Column::shown(title, move |row: &Row| measured(row).or(model(row)).map(which))
    });
    let of_model = ALL.map(|(name, _, which)| {
        Column::new(format!("model_{name}_ns"), move |row: &Row| model(row).map(which))
    });
    let of_measured = [ALL[1], ALL[2]].map(|(name, _, which)| {
        let name = format!("measured_{name}_ns");
        Column::new(name, move |row: &Row| measured(row).map(|times| Field::Measured(which(times))))
    });
    of_model.into_iter().chain(of_measured).chain(shown).collect()
}

/// A phase, and what was predicted for it.
pub fn phase<'a, R: 'a>(of: impl Fn(&R) -> &Phase + Copy + 'a) -> Vec<Column<'a, R>> {
    let mut columns = vec![Column::new("phase", move |row: &R| of(row).phase.to_string()).titled("phase")];
    columns.extend(prediction(move |row: &R| of(row).prediction, false));
    columns
}

/// Whether the result was right.
pub fn verified() -> Column<'static, Row> {
    Column::new("verified", |row: &Row| Field::Verified(row.answers.wrong.is_none()))
        .titled("verified")
        .last()
}

/// How many messages were sent.
pub fn messages() -> Column<'static, Row> {
    Column::new("messages", |row: &Row| row.answers.outcome.run.messages()).titled("messages")
}

/// How much slower than the machine itself the emulation ran; the virtual clock does not stretch.
pub fn dilation() -> Column<'static, Row> {
    Column::new("dilation", |row: &Row| row.host().map_or(1.0, |host| host.dilation)).titled("dilation")
}

/// How many of this computer's cores it ran on.
pub fn cores() -> Column<'static, Row> {
    Column::new("cores", |row: &Row| row.host().map_or(1, |host| host.cores)).titled("cores")
}

/// Whether this computer ended the run in time, so that what it measured can be trusted; nothing where time does not pass.
pub fn held() -> Column<'static, Row> {
    let held = |row: &Row| row.answers.held.map(Field::Held);
    Column::new("held", held).titled("").after("vs model").optional()
}

/// How late this computer was, in its own time, which no dilation stretches; nothing where time does not pass.
pub fn lateness() -> [Column<'static, Row>; 5] {
    let late = |name, title, which: fn(&Lateness) -> Time| {
        let value =
            move |row: &Row| row.host().map_or(Field::Absent, |host| Field::OfHost(which(&host.lateness)));
        Column::new(name, value).titled(title)
    };
    [
        late("lateness_ns.p50", "late p50", |late| late.p50),
        late("lateness_ns.p90", "p90", |late| late.p90),
        late("lateness_ns.p99", "p99", |late| late.p99),
        late("lateness_ns.max", "max", |late| late.max),
        late("lateness_ns.finish", "at the end", |late| late.finish),
    ]
}
