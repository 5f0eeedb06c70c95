//! The rows of `run`, `compare`, `sweep` and `stress`: studies with their answers, and their columns.

use loggp::params::Parameter;
use loggp::{ClockKind, Host, Lateness, Params, Time};
use loggp_programs::Case;
use loggp_study::{Answers, Study};
use loggp_study::{PhasePrediction, Prediction, TimeSummary};

use super::column::{self, ReportColumn};
use super::field::Field;
use super::machine_file;
use super::options::{SpreadColumns, carrier_on};

/// Limit of the decimals of times in a table.
pub const MOST_DECIMALS: usize = 3;

pub struct Task {
    /// Name in messages.
    pub name: String,
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub study: Study,
    /// Value of the swept quantity, as text, in a sweep.
    pub swept_value: Option<String>,
}

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

/// Returns the columns of `run`, `compare` and `sweep`. The first is that of the swept quantity, if any.
pub fn columns(swept: Option<&'static str>, spread: SpreadColumns) -> Vec<ReportColumn<'static, StudyRow>> {
    let swept = swept.map(|name| {
        ReportColumn::table_only(name, |row: &StudyRow| row.task.swept_value.clone().map(Field::Swept))
    });
    let mut columns: Vec<ReportColumn<StudyRow>> = swept.into_iter().collect();
    columns.extend([
        ReportColumn::new("program", |row: &StudyRow| row.case().program.name),
        ReportColumn::new("algorithm", |row: &StudyRow| row.case().algorithm.name).with_title("algorithm"),
    ]);
    columns.extend(machine_columns(|row: &StudyRow| (row.task.machine, row.case().params), true));
    columns.extend([
        ReportColumn::new("size", |row: &StudyRow| row.case().size),
        ReportColumn::new("options", |row: &StudyRow| {
            // An option without a value is left out.
            let options = row.case().options.iter().filter(|value| !value.text().is_empty());
            options.map(ToString::to_string).collect::<Vec<_>>().join(",")
        }),
    ]);
    columns.extend(request_columns());
    columns.extend(clock_columns());
    columns
        .extend(prediction_columns(|row: &StudyRow| row.answers.prediction, spread == SpreadColumns::Ends));
    if spread == SpreadColumns::Seeds {
        columns.extend(quartile_columns());
    }
    columns.extend([
        ReportColumn::new("phases", |row: &StudyRow| match &row.answers.phases {
            phases if phases.is_empty() => Field::Absent,
            phases => {
                let columns = phase_columns(|phase: &PhasePrediction| phase);
                Field::Rows(phases.iter().map(|phase| column::json_object(&columns, phase)).collect())
            }
        }),
        ReportColumn::new("metrics", |row: &StudyRow| match &row.answers.outcome.metrics {
            metrics if metrics.is_empty() => Field::Absent,
            metrics => Field::Metrics(metrics.clone()),
        }),
        verified_column(),
        message_column(),
        ReportColumn::new("stalls.count", |row: &StudyRow| row.answers.outcome.run.stalls())
            .with_title("stalls"),
        ReportColumn::new("stalls.ns", |row: &StudyRow| row.answers.outcome.run.stalled())
            .with_title("stalled")
            .optional(),
        ReportColumn::new("stalls.max_in_transit", |row: &StudyRow| match row.task.study.emulation.link {
            Some(_) => Field::Null,
            None => Field::CountOf(row.answers.outcome.run.most_in_transit(), row.case().params.capacity()),
        })
        .with_title("in transit"),
        ReportColumn::new("stalls.capacity", |row: &StudyRow| row.case().params.capacity()),
        dilation_column().without_title(),
        ReportColumn::new("dilation_why", |row: &StudyRow| row.host().map(|host| host.why.clone())),
        core_column().without_title(),
        on_time_column(),
    ]);
    columns.extend(lateness_columns().map(ReportColumn::without_title));
    columns
}

/// Returns the columns that suffice to repeat the run, together with the machine and the size.
pub fn request_columns() -> [ReportColumn<'static, StudyRow>; 12] {
    [
        ReportColumn::new("cycle_ns", |row: &StudyRow| row.case().params.cycle),
        ReportColumn::new("latency", |row: &StudyRow| row.case().latency.to_string()),
        ReportColumn::new("ties", |row: &StudyRow| row.case().ties.to_string()),
        ReportColumn::new("noise", |row: &StudyRow| row.case().noise.as_ref().map(ToString::to_string)),
        ReportColumn::new("ports", |row: &StudyRow| row.case().ports),
        ReportColumn::new("levels", |row: &StudyRow| match &row.case().levels[..] {
            [] => Field::Absent,
            levels => Field::Rows(levels.iter().map(machine_file::level_object).collect()),
        })
        .json_only(),
        ReportColumn::new("barrier_ns", |row: &StudyRow| row.case().barrier),
        ReportColumn::new("work", |row: &StudyRow| row.case().work),
        ReportColumn::new("seed", |row: &StudyRow| row.case().seed),
        ReportColumn::new("repeat", |row: &StudyRow| row.task.study.repeat),
        ReportColumn::new("seeds", |row: &StudyRow| match &row.task.study {
            study if study.distinct_seeds => Field::from(study.repeat),
            _ => Field::Absent,
        })
        .json_only(),
        ReportColumn::new("dilation_asked", |row: &StudyRow| {
            let emulation = &row.task.study.emulation;
            (emulation.clock == ClockKind::Wall && emulation.link.is_none()).then_some(emulation.dilation)
        }),
    ]
}

/// Returns the columns of the machine. CSV has LogGPS's parameters only if `loggps` is true.
pub fn machine_columns<R>(
    of: impl Fn(&R) -> (Option<&'static str>, Params) + Copy + 'static,
    loggps: bool,
) -> Vec<ReportColumn<'static, R>> {
    let column = |parameter: &'static Parameter| {
        let column = ReportColumn::new(format!("params.{}", parameter.name), move |row: &R| {
            parameter.number(&of(row).1).map_or(Field::Absent, Field::from)
        });
        if parameter.is_loggps() && !loggps { column.json_only() } else { column }
    };
    let mut columns = vec![ReportColumn::new("machine", move |row: &R| of(row).0)];
    columns.extend(Parameter::ALL.iter().map(column));
    columns
}

/// Returns the columns of the clock and of the carrier.
pub fn clock_columns() -> [ReportColumn<'static, StudyRow>; 2] {
    [
        ReportColumn::new("clock", |row: &StudyRow| match &row.task.study.emulation {
            emulation if emulation.link.is_some() => "real".to_string(),
            emulation => emulation.clock.to_string(),
        }),
        ReportColumn::new("carrier", |row: &StudyRow| {
            let emulation = &row.task.study.emulation;
            match &emulation.link {
                Some(link) => Some(link.name()),
                None => carrier_on(emulation.clock, emulation.carrier).map(|carrier| carrier.to_string()),
            }
        }),
    ]
}

/// Returns the columns of the times and their differences. Tables have the least and the greatest if `ends`.
pub fn prediction_columns<'a, R>(
    of: impl Fn(&R) -> Prediction + Copy + 'a,
    ends: bool,
) -> [ReportColumn<'a, R>; 9] {
    let measured = |name, title, which: fn(TimeSummary) -> Time| {
        let value =
            move |row: &R| of(row).measured.map_or(Field::Null, |times| Field::Measured(which(times)));
        ReportColumn::new(name, value).with_title(title).optional()
    };
    let end = |column: ReportColumn<'a, R>| if ends { column } else { column.without_title() };
    [
        ReportColumn::new("formula_ns", move |row: &R| of(row).formula).with_title("formula"),
        ReportColumn::new("model_ns", move |row: &R| of(row).model).with_title("model"),
        ReportColumn::new("wall_ns", move |row: &R| of(row).wall.map_or(Field::Absent, Field::Measured))
            .with_title("wall clock")
            .optional(),
        measured("measured_ns", "measured", |times| times.median),
        end(measured("measured_min_ns", "min", |times| times.min)),
        end(measured("measured_max_ns", "max", |times| times.max)),
        ReportColumn::new("error_model", move |row: &R| of(row).error_model().map(Field::Error))
            .with_title("vs model")
            .optional(),
        ReportColumn::new("error_wall", move |row: &R| {
            of(row).error_wall().map_or(Field::Absent, Field::Error)
        })
        .with_title("vs wall clock")
        .optional(),
        ReportColumn::new("error_formula", move |row: &R| of(row).error_formula().map(Field::Error))
            .with_title("vs formula")
            .after("model"),
    ]
}

/// Returns the columns of the spread over all seeds. Tables have that of the clock that is reported.
fn quartile_columns() -> Vec<ReportColumn<'static, StudyRow>> {
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
    let shown = ALL.map(|(_, title, which)| {
        ReportColumn::table_only(title, move |row: &StudyRow| measured(row).or(model(row)).map(which))
    });
    let of_model = ALL.map(|(name, _, which)| {
        ReportColumn::new(format!("model_{name}_ns"), move |row: &StudyRow| model(row).map(which))
    });
    let of_measured = [ALL[1], ALL[2]].map(|(name, _, which)| {
        let name = format!("measured_{name}_ns");
        ReportColumn::new(name, move |row: &StudyRow| {
            measured(row).map(|times| Field::Measured(which(times)))
        })
    });
    of_model.into_iter().chain(of_measured).chain(shown).collect()
}

/// Returns the columns of a phase and its prediction.
pub fn phase_columns<'a, R: 'a>(of: impl Fn(&R) -> &PhasePrediction + Copy + 'a) -> Vec<ReportColumn<'a, R>> {
    let mut columns =
        vec![ReportColumn::new("phase", move |row: &R| of(row).name.to_string()).with_title("phase")];
    columns.extend(prediction_columns(move |row: &R| of(row).prediction, false));
    columns
}

pub fn verified_column() -> ReportColumn<'static, StudyRow> {
    ReportColumn::new("verified", |row: &StudyRow| Field::Verified(row.answers.wrong.is_none()))
        .with_title("verified")
        .last()
}

pub fn message_column() -> ReportColumn<'static, StudyRow> {
    ReportColumn::new("messages", |row: &StudyRow| row.answers.outcome.run.messages()).with_title("messages")
}

/// Returns the column of the dilation, which is 1 on the virtual clock.
pub fn dilation_column() -> ReportColumn<'static, StudyRow> {
    ReportColumn::new("dilation", |row: &StudyRow| row.host().map_or(1.0, |host| host.dilation))
        .with_title("dilation")
}

/// Returns the column of the number of this computer's cores that the run used.
pub fn core_column() -> ReportColumn<'static, StudyRow> {
    ReportColumn::new("cores", |row: &StudyRow| row.host().map_or(1, |host| host.cores)).with_title("cores")
}

/// Returns the column that tells whether this computer kept up with the run; null on the virtual clock.
pub fn on_time_column() -> ReportColumn<'static, StudyRow> {
    let on_time = |row: &StudyRow| row.answers.on_time.map(Field::OnTime);
    ReportColumn::new("held", on_time).with_title("").after("vs model").optional()
}

/// Returns the columns of this computer's lateness, in its own time, without the dilation.
pub fn lateness_columns() -> [ReportColumn<'static, StudyRow>; 5] {
    let late = |name, title, which: fn(&Lateness) -> Time| {
        let value = move |row: &StudyRow| {
            row.host().map_or(Field::Absent, |host| Field::HostTime(which(&host.lateness)))
        };
        ReportColumn::new(name, value).with_title(title)
    };
    [
        late("lateness_ns.p50", "late p50", |late| late.p50),
        late("lateness_ns.p90", "p90", |late| late.p90),
        late("lateness_ns.p99", "p99", |late| late.p99),
        late("lateness_ns.max", "max", |late| late.max),
        late("lateness_ns.finish", "at the end", |late| late.finish),
    ]
}
