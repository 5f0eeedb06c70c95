//! Stressed machines as rows.

use loggp::audit::Audit;
use loggp::{Time, US};
use loggp_programs::stress::{LATENCY, LONGEST_LATENCY, RATE, STEADY, THROUGHPUT};

use super::machine::machine_columns;
use super::program_run::{
    ENDS, StudyRow, add_cores, add_dilation, add_result, add_timeliness, form_columns, prediction_columns,
    request_columns,
};
use super::{Column, Columns, Field};

/// Returns a metric in microseconds as a time.
fn latency_field(row: &StudyRow, name: &str) -> Option<Field> {
    let us = row.answers.outcome.metric(name)?;
    Some(Field::Measured(Time::from_ps((us * US.as_ps() as f64).round() as i64)))
}

/// Returns the columns of stressed machines.
pub fn stress_columns() -> Columns<'static, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    columns.add("pattern", |row| row.case().algorithm.name).title("pattern");
    columns.extend(machine_columns(|row: &StudyRow| (row.task.machine, row.case().params), false));
    columns.add_to_table("P", |row| row.case().params.P);
    columns.add("load", |row| row.case().size).title("load");
    let rate = |row: &StudyRow| (row.case().algorithm.name == STEADY).then(|| row.case().get(&RATE));
    columns.add("rate", rate).title("rate").optional();
    columns.extend(request_columns());
    columns.extend(form_columns());
    columns.extend(prediction_columns(|row: &StudyRow| row.answers.prediction));
    columns.hide(&ENDS);
    columns.named(&ENDS).for_each(Column::json_only);
    columns.named(&["wall_ns", "error_wall"]).for_each(Column::json_only);
    add_result(&mut columns);
    columns.add("stalls.count", |row| audit(row).stalls).title("stalls");
    columns.add("stalls.ns", |row| audit(row).stalled).title("stalled");
    columns.add("stalls.longest_ns", |row| audit(row).longest_stall).title("longest");
    columns.add("stalls.shortest_ns", |row| audit(row).shortest_stall).title("shortest");
    columns.add("stalls.unfairness", |row| {
        let Audit { longest_stall, shortest_stall, .. } = audit(row);
        longest_stall.zip(*shortest_stall).map(|(long, short)| long.in_units(short))
    });
    let in_transit = |row: &StudyRow| {
        let Audit { most_in_transit_from, most_in_transit_to, capacity, .. } = audit(row);
        Field::CountOf(*most_in_transit_from.max(most_in_transit_to), *capacity)
    };
    columns.add("stalls.max_in_transit", in_transit).title("in transit");
    columns.add("stalls.capacity", |row| audit(row).capacity);
    columns.add("throughput", |row| row.answers.outcome.metric(THROUGHPUT)).title("throughput");
    columns.add("latency.mean_ns", |row| latency_field(row, LATENCY)).title("latency");
    columns.add("latency.longest_ns", |row| latency_field(row, LONGEST_LATENCY)).title("at most");
    add_dilation(&mut columns);
    add_cores(&mut columns);
    columns.hide(&["dilation", "cores"]);
    add_timeliness(&mut columns);
    columns
}

/// Returns the audit of a run.
pub fn audit(row: &StudyRow) -> &Audit {
    row.answers.outcome.audit.as_ref().expect("stress is audited")
}
