//! Parameters of machines that calibration found, as rows.

use loggp::{Carrier, ClockKind, Params, Ports};

use super::machine::machine_columns;
use super::{Columns, Field};
use crate::calibration::{Amount, Bound, Finding};
use crate::real::{CALL, EXCHANGE, FLOOD, MeasuredExperiment, WAY};

/// A parameter that was found.
pub struct FindingRow<'a> {
    pub setup: CalibrationSetup,
    pub finding: Finding<'a>,
}

/// The machine and the clock of a calibration.
#[derive(Clone, Copy)]
pub struct CalibrationSetup {
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub params: Params,
    pub ports: Ports,
    /// The clock; `None` if the times are from a file.
    pub clock: Option<ClockKind>,
    /// The carrier; `None` on the virtual clock.
    pub carrier: Option<Carrier>,
    /// The largest dilation of all runs.
    pub dilation: f64,
    /// Number of this computer's cores that the runs used.
    pub cores: usize,
}

impl FindingRow<'_> {
    /// Returns whether this computer was on time often enough to measure it; `None` unless on the wall clock.
    fn on_time(&self) -> Option<bool> {
        (self.setup.clock == Some(ClockKind::Wall)).then_some(self.finding.on_time)
    }

    /// Returns whether this computer was late too often.
    pub fn is_late(&self) -> bool {
        self.on_time() == Some(false)
    }
}

/// Returns the columns of parameters that were found.
pub fn finding_columns<'a>() -> Columns<'a, FindingRow<'a>> {
    let mut columns = machine_columns(|row: &FindingRow| (row.setup.machine, row.setup.params), false);
    columns.add("cycle_ns", |row| row.setup.params.cycle);
    columns.add("ports", |row| row.setup.ports.to_string());
    columns.add("clock", |row| row.setup.clock.map(|clock| clock.to_string()));
    columns.add("carrier", |row| row.setup.carrier.map(|carrier| carrier.to_string()));
    columns.add("parameter", |row| row.finding.parameter).title("parameter");
    columns.add("unit", |row| match row.finding.found {
        Amount::Time(_) => "ns",
        Amount::Count(_) => "messages",
        Amount::Words(_) => "words",
    });
    let configured = |row: &FindingRow| match row.finding.configured {
        None if row.setup.clock.is_none() => Field::Null,
        None => Field::Prefixed("unlimited", Field::Null.into()),
        Some(amount) => amount_field(amount),
    };
    columns.add("configured", configured).title("configured").optional();
    let recovered = |row: &FindingRow| match (row.finding.bound, amount_field(row.finding.found)) {
        (Bound::Exact, found) => found,
        (Bound::AtMost, found) => Field::Prefixed("<=", found.into()),
        (Bound::AtLeast, found) => Field::Prefixed(">=", found.into()),
        (Bound::Any, found) => Field::Prefixed("any,", found.into()),
    };
    columns.add("recovered", recovered).title("recovered");
    columns.add("bound", |row| match row.finding.bound {
        Bound::Exact => "exact",
        Bound::AtMost => "at_most",
        Bound::AtLeast => "at_least",
        Bound::Any => "any",
    });
    let difference = |row: &FindingRow| row.finding.difference().map(amount_field);
    columns.add("difference", difference).title("difference").optional();
    columns.add("error", |row| row.finding.error().map(Field::Error)).title("error").optional();
    columns.add("doubt", |row| row.finding.doubt.map(amount_field)).title("doubt").optional();
    columns.add("how", |row| row.finding.how.to_string()).title("how");
    columns.add("held", |row| row.on_time().map(Field::OnTime)).title("on time").after("doubt").optional();
    columns.add("dilation", |row| row.setup.dilation);
    columns.add("cores", |row| row.setup.cores);
    columns
}

fn amount_field(amount: Amount) -> Field {
    match amount {
        Amount::Time(time) => time.into(),
        Amount::Count(count) | Amount::Words(count) => count.into(),
    }
}

/// Times measured with messages of one length.
pub struct LengthRow {
    /// Number of the process that exchanged messages with process 0.
    pub other: usize,
    pub measured: MeasuredExperiment,
}

/// Returns the columns of times that were measured.
pub fn length_columns() -> Columns<'static, LengthRow> {
    let mut columns = Columns::<LengthRow>::new();
    columns.add("other", |row| row.other).title("with");
    columns.add("bytes", |row| row.measured.experiment.bytes).title("bytes");
    let buffers = |row: &LengthRow| if row.measured.experiment.cold { "cold" } else { "written" };
    columns.add("buffers", buffers).title("buffers");
    for (kind, name) in [(WAY, "way"), (FLOOD, "flood"), (EXCHANGE, "exchange"), (CALL, "call")] {
        let title = if kind == WAY { "one way" } else { name };
        let time = move |row: &LengthRow| Field::HostTime(row.measured.times[kind].0);
        columns.add(format!("{name}_ns"), time).title(title);
        let doubt = move |row: &LengthRow| Field::HostTime(row.measured.times[kind].1);
        columns.add(format!("{name}_doubt_ns"), doubt);
        let error = move |row: &LengthRow| Field::Error(row.measured.error(kind));
        columns.add(format!("{name}_error"), error).title("LogGPS");
    }
    columns.add("fitted", |row| if row.measured.fitted { "fitted" } else { "" }).title("");
    columns
}
