//! Machines as rows, which `--machine FILE` reads.

use std::borrow::Cow;

use loggp::params::{LongMessages, Parameter, Preset, PresetValue};
use loggp::{Level, Params, ParamsBuilder, ParamsError};

use super::{Columns, Field, Object};

/// The version of the form, which a machine written by hand, or a row of a report, need not have.
pub const VERSION: u64 = 1;

/// Returns the column of the levels within the machine, for JSON.
pub fn level_columns<'a, R: 'a>(of: impl Fn(&R) -> &[Level] + Copy + 'a) -> Columns<'a, R> {
    let levels = move |row: &R| match of(row) {
        [] => Field::Absent,
        levels => Field::Rows(levels.iter().map(level_object).collect()),
    };
    let mut columns = Columns::new();
    columns.add("levels", levels).json_only();
    columns
}

/// Returns the columns of the machine. CSV has LogGPS's parameters only if `loggps` is true.
pub fn machine_columns<'a, R: 'a>(
    of: impl Fn(&R) -> (Option<&'static str>, Params) + Copy + 'a,
    loggps: bool,
) -> Columns<'a, R> {
    let mut columns = Columns::new();
    columns.add("machine", move |row| of(row).0);
    for parameter in Parameter::ALL {
        let value = move |row: &R| parameter.number(&of(row).1).map_or(Field::Absent, Field::from);
        let column = columns.add(format!("params.{}", parameter.name), value);
        if parameter.is_loggps() && !loggps {
            column.json_only();
        }
    }
    columns.extend(unit_columns());
    columns
}

/// Returns the columns that name the units: those of times among the parameters, and of all other times.
pub fn unit_columns<'a, R: 'a>() -> Columns<'a, R> {
    let mut columns = Columns::new();
    columns.add("units.params", |_| "ps");
    columns.add("units.times", |_| "ns");
    columns
}

/// Returns a level as a JSON object.
pub fn level_object(level: &Level) -> Object {
    let mut values = parameter_fields(&level.params, &[]);
    values.push(("ports".into(), level.ports.to_string().into()));
    values.push(("one_port".into(), Field::Bool(level.one_port)));
    Object(values)
}

/// Returns a machine as a JSON object, in which the parameters `open` are null.
pub fn machine_object(name: Option<&str>, params: &Params, open: &[&str]) -> Object {
    let mut values = vec![(Cow::from("machine"), name.into()), ("version".into(), VERSION.into())];
    values.extend(parameter_fields(params, open));
    values.push(("cycle_ns".into(), params.cycle.into()));
    Object(values)
}

/// Returns the parameters by their names; those in `open` are null.
fn parameter_fields(params: &Params, open: &[&str]) -> Vec<(Cow<'static, str>, Field)> {
    let value = |parameter: &&'static Parameter| {
        let has_no_G = parameter.name == "G" && params.long == LongMessages::LogP;
        let number = parameter.number(params)?;
        let path = Cow::from(format!("params.{}", parameter.name));
        Some((
            path,
            if has_no_G || open.contains(&parameter.name) { Field::Null } else { Field::from(number) },
        ))
    };
    Parameter::ALL.iter().filter_map(|parameter| value(&parameter)).collect()
}

/// Returns a paper's machine as a JSON object, with the sources of its values.
pub fn preset_object(preset: &Preset) -> Result<Object, ParamsError> {
    let builder = preset.builder();
    let open = builder.open_names().to_vec();
    // Open parameters need some value to build the machine, and are null in the object.
    let builder = open.iter().try_fold(builder, |builder, name| builder.set(&format!("{name}=0")));
    let params = builder.and_then(ParamsBuilder::build)?;
    let Object(mut values) = machine_object(Some(preset.name), &params, &open);
    values.insert(1, ("about".into(), preset.about.into()));
    let source = |value: &PresetValue| (Cow::from(format!("sources.{}", value.name)), value.source.into());
    values.extend(preset.values().iter().map(source));
    Ok(Object(values))
}
