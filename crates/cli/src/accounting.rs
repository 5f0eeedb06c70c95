//! The report of `loggp analyze` on where the time of a run went: the columns of a run, and the tables below.

use loggp::params::Parameter;
use loggp::path::HopKind;
use loggp::{Time, US};
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::accounts::{Account, Accounts};
use loggp_study::analysis::{Analysis, CallGroup, FormulaBuilder, GroupActivity, PathStep, Sensitivity};

use super::analyzed_run::AnalyzedRun;
use super::column::{ReportColumn, json_key, json_rows, table};
use super::critical_path;
use super::field::Field;
use super::formula::formula_text;
use super::number::{Unit, thousands};
use super::overlap;
use super::row::MOST_DECIMALS;

/// Returns the unit in which times are shown: the machine's, or a longer one for long runs.
pub fn time_unit(rows: &[AnalyzedRun]) -> Unit {
    let longest = rows.iter().map(|row| row.analysis.time).max().unwrap_or_default();
    let usual = Unit::default_for(&rows[0].analysis.params);
    let units = [usual, Unit::from_text("1us", US), Unit::from_text("1ms", US), Unit::from_text("1s", US)];
    units.into_iter().find(|unit| unit.amount(longest) < 1e6).unwrap_or(usual)
}

/// Returns the columns of a run. The table shows times as means over the processors.
pub fn run_columns<'a>(top_lines: usize, with_hops: bool) -> Vec<ReportColumn<'a, AnalyzedRun>> {
    let mut columns = vec![
        ReportColumn::new("run", |row: &AnalyzedRun| row.name.clone()),
        ReportColumn::table_only("run", |row: &AnalyzedRun| row.short_name().to_string()),
        ReportColumn::new("trace", |row: &AnalyzedRun| row.trace.clone()),
    ];
    columns.extend(Parameter::ALL.iter().map(|parameter| {
        ReportColumn::new(format!("params.{}", parameter.name), |row: &AnalyzedRun| {
            parameter.number(&row.analysis.params).map_or(Field::Absent, Field::from)
        })
    }));
    columns.extend([
        ReportColumn::new("time_ns", |row: &AnalyzedRun| row.analysis.time).with_title("time"),
        ReportColumn::new("change", |row: &AnalyzedRun| match row.recorded_time {
            Some(was) if was > Time::ZERO => Field::Error(row.analysis.time.in_units(was) - 1.0),
            _ => Field::Null,
        })
        .with_title("change")
        .optional(),
        ReportColumn::new("messages", |row: &AnalyzedRun| row.analysis.messages),
        ReportColumn::new("synchronous", |row: &AnalyzedRun| row.analysis.synchronous),
    ]);
    columns.extend(Account::all().into_iter().map(|account| {
        ReportColumn::new(format!("total_ns.{}", json_key(account.name())), move |row: &AnalyzedRun| {
            row.analysis.total[account]
        })
    }));
    columns.extend(account_columns(
        |row: &AnalyzedRun, time| Field::Time(row.mean(time)),
        |row| &row.analysis.total,
    ));
    columns.extend(HopKind::ALL.iter().map(|&part| {
        ReportColumn::new(format!("path_ns.{}", json_key(part.name())), move |row: &AnalyzedRun| {
            time_on_path(&row.analysis, part)
        })
    }));
    columns.extend(critical_path::run_columns());
    columns.extend(overlap::run_columns());
    columns.extend([
        ReportColumn::new("processors", |row: &AnalyzedRun| {
            json_rows(&processor_columns(), &row.analysis.processors)
        })
        .json_only(),
        ReportColumn::new("top", move |row: &AnalyzedRun| {
            let groups = &row.analysis.groups;
            json_rows(&group_columns(row), &groups[..groups.len().min(top_lines)])
        })
        .json_only(),
        ReportColumn::new("hops", move |row: &AnalyzedRun| match with_hops {
            true => json_rows(&step_columns(&row.analysis), &row.analysis.path),
            false => Field::Absent,
        })
        .json_only(),
        ReportColumn::new("one_percent_more", |row: &AnalyzedRun| {
            json_rows(&sensitivity_columns(row), &row.analysis.sensitivities)
        })
        .json_only(),
    ]);
    columns
}

/// Returns a column for each account, for tables only. Sending and receiving share one column.
fn account_columns<'a, R: 'a>(
    show: impl Fn(&R, Time) -> Field + Copy + 'a,
    accounts: impl Fn(&R) -> &Accounts + Copy + 'a,
) -> Vec<ReportColumn<'a, R>> {
    let shown = Account::all().into_iter().filter(|account| *account != Account::Receive);
    let columns = shown.map(|account| {
        let title = if account == Account::Send { "overhead" } else { account.name() };
        ReportColumn::table_only(title, move |row: &R| {
            let accounts = accounts(row);
            let time = if account == Account::Send { accounts.overhead() } else { accounts[account] };
            if time == Time::ZERO { Field::Time(time) } else { show(row, time) }
        })
        .optional()
    });
    columns.collect()
}

/// Returns the table of the accounts in percent, or `None` without rows.
pub fn share_table(runs: &[AnalyzedRun], unit: Unit) -> Option<DocumentBlock> {
    let mut columns = vec![ReportColumn::table_only("%", |row: &AnalyzedRun| row.short_name().to_string())];
    columns.extend(account_columns(
        |row: &AnalyzedRun, time| Field::Number(row.share(time)),
        |row| &row.analysis.total,
    ));
    table(&columns, runs, unit, MOST_DECIMALS)
}

fn processor_columns<'a>() -> Vec<ReportColumn<'a, (usize, Accounts)>> {
    let mut columns =
        vec![ReportColumn::new("processor", |(id, _): &(usize, Accounts)| *id).with_title("processor")];
    columns.extend(Account::all().into_iter().map(|account| {
        let time = move |(_, accounts): &(usize, Accounts)| accounts[account];
        ReportColumn::new(format!("{}_ns", json_key(account.name())), time)
            .with_title(account.name())
            .optional()
    }));
    columns
}

/// Returns the table of each processor's accounts; a sentence instead if there are more than `most`.
pub fn processor_tables(row: &AnalyzedRun, unit: Unit, most: usize) -> Vec<DocumentBlock> {
    let P = row.analysis.params.P;
    let say = |sentence: String| DocumentBlock::Paragraph(plain(sentence));
    if P > most {
        return vec![say(format!("there are {} processors; --every-processor lists them", thousands(P)))];
    }
    let silent = P - row.analysis.processors.len();
    let silent = (silent > 0).then(|| say(format!("{} processors did nothing", thousands(silent))));
    table(&processor_columns(), &row.analysis.processors, unit, MOST_DECIMALS)
        .into_iter()
        .chain(silent)
        .collect()
}

/// Returns the columns of a group of activities.
fn group_columns<'a>(row: &'a AnalyzedRun) -> Vec<ReportColumn<'a, CallGroup>> {
    let mut columns = vec![
        ReportColumn::new("what", |group: &CallGroup| group_title(group)).with_title("what costs the most"),
        ReportColumn::new("least_words", |group: &CallGroup| group.words.map(|(least, _)| least)),
        ReportColumn::new("most_words", |group: &CallGroup| group.words.map(|(_, most)| most)),
        ReportColumn::table_only("words", |group: &CallGroup| group.words.map_or(String::new(), word_range)),
        ReportColumn::new("count", |group: &CallGroup| group.count).with_title("count"),
        ReportColumn::new("time_ns", |group: &CallGroup| group.accounts.total()).with_title("time"),
        ReportColumn::new("share", |group: &CallGroup| row.share(group.accounts.total()) / 100.0),
        ReportColumn::table_only("%", |group: &CallGroup| row.share(group.accounts.total())),
    ];
    columns.extend(Account::all().into_iter().map(|account| {
        let time = move |group: &CallGroup| group.accounts[account];
        ReportColumn::new(format!("{}_ns", json_key(account.name())), time)
    }));
    columns.extend(account_columns(|_, time| Field::Time(time), |group: &CallGroup| &group.accounts));
    columns
}

/// Returns what the activities of a group have in common, in words.
fn group_title(group: &CallGroup) -> String {
    let about = |does: &str, about: &Option<_>, waits: bool| {
        let about: &str = about.as_deref().unwrap_or("a message");
        format!("{does} {about}{}", if waits { ", above S" } else { "" })
    };
    match &group.activity {
        GroupActivity::Send(tag, class) => about("send", tag, class.is_synchronous),
        GroupActivity::Receive(tag, class) => about("receive", tag, class.is_synchronous),
        GroupActivity::Work(kind) => format!("work {}", kind.replace(char::is_control, " ")),
        GroupActivity::Barrier => "barrier".into(),
        GroupActivity::Wait => "wait for a moment".into(),
    }
}

/// Returns the range of the lengths of a group's messages, as text.
fn word_range((least, most): (usize, usize)) -> String {
    match least == most {
        true => thousands(least),
        false => format!("{} to {}", thousands(least), thousands(most)),
    }
}

/// Returns the table of the groups that cost the most, over all processors.
pub fn top_groups(row: &AnalyzedRun, unit: Unit, lines: usize) -> Option<DocumentBlock> {
    let groups = &row.analysis.groups;
    table(&group_columns(row), &groups[..groups.len().min(lines)], unit, MOST_DECIMALS)
}

/// Returns the time on the critical path that is spent on hops of this kind.
fn time_on_path(analysis: &Analysis, part: HopKind) -> Time {
    analysis.path.iter().filter(|step| step.hop.kind == part).map(|step| step.hop.length()).sum()
}

/// Returns the columns of a hop of the critical path.
fn step_columns<'a>(analysis: &Analysis) -> Vec<ReportColumn<'a, PathStep>> {
    let terms = FormulaBuilder::new(&analysis.params);
    vec![
        ReportColumn::new("start_ns", |step: &PathStep| step.hop.start).with_title("from"),
        ReportColumn::new("end_ns", |step: &PathStep| step.hop.end).with_title("until"),
        ReportColumn::new("length_ns", |step: &PathStep| step.hop.length()).with_title("length"),
        ReportColumn::new("part", |step: &PathStep| step.hop.kind.name()).with_title("part"),
        ReportColumn::new("processor", |step: &PathStep| step.hop.id).with_title("processor"),
        ReportColumn::new("from", |step: &PathStep| step.message.map(|(from, ..)| from)),
        ReportColumn::new("to", |step: &PathStep| step.message.map(|(_, to, _)| to)),
        ReportColumn::new("words", |step: &PathStep| step.message.map(|(.., words)| words)),
        ReportColumn::table_only("message", |step: &PathStep| {
            let text = |(from, to, words)| {
                let plural = if words == 1 { "" } else { "s" };
                format!("{from} to {to}, {} word{plural}", thousands(words))
            };
            Field::Text(step.message.map_or_else(String::new, text))
        }),
        ReportColumn::new("formula", move |step: &PathStep| formula_text(&terms.formula([&step.hop])))
            .with_title("as a formula"),
    ]
}

/// Returns the table of the critical path's parts, and of its hops if `with_hops`.
pub fn path_tables(row: &AnalyzedRun, unit: Unit, with_hops: bool) -> Vec<DocumentBlock> {
    type PartTotal = (HopKind, usize, Time);
    let steps = &row.analysis.path;
    let part_total = |&part: &HopKind| {
        let hops = steps.iter().filter(|step| step.hop.kind == part).count();
        (hops > 0).then(|| (part, hops, time_on_path(&row.analysis, part)))
    };
    let parts: Vec<PartTotal> = HopKind::ALL.iter().filter_map(part_total).collect();
    let percent_of_run = |time: Time| 100.0 * time.in_units(row.analysis.time);
    let columns = [
        ReportColumn::table_only("critical path", |(part, ..): &PartTotal| part.name()),
        ReportColumn::table_only("hops", |(_, hops, _): &PartTotal| *hops),
        ReportColumn::table_only("time", |(.., time): &PartTotal| *time),
        ReportColumn::table_only("%", |(.., time): &PartTotal| percent_of_run(*time)),
        ReportColumn::table_only("as a formula", |(part, ..): &PartTotal| {
            critical_path::part_formula(row, *part)
        }),
    ];
    let hops = table(&step_columns(&row.analysis), if with_hops { steps } else { &[] }, unit, MOST_DECIMALS);
    table(&columns, &parts, unit, MOST_DECIMALS).into_iter().chain(hops).collect()
}

/// Returns the columns of the effect of 1% more of a parameter.
fn sensitivity_columns<'a>(row: &'a AnalyzedRun) -> Vec<ReportColumn<'a, Sensitivity>> {
    let in_ns = |ps: Option<f64>| ps.map(|ps| ps / 1e3);
    let change = |ps: Option<f64>| match ps {
        Some(ps) if row.analysis.time > Time::ZERO => Field::Error(ps / row.analysis.time.as_ps() as f64),
        _ => Field::Null,
    };
    let params = &row.analysis.params;
    vec![
        ReportColumn::new("parameter", |sensitivity: &Sensitivity| sensitivity.parameter.name)
            .with_title("1% more"),
        ReportColumn::table_only("is", move |sensitivity: &Sensitivity| {
            let value = sensitivity.parameter.number(params).unwrap_or(0);
            match sensitivity.parameter.is_time() {
                true => Time::from_ps(value).to_string(),
                false => thousands(value),
            }
        }),
        ReportColumn::new("path_ns", move |sensitivity: &Sensitivity| in_ns(sensitivity.path)),
        ReportColumn::new("replay_ns", move |sensitivity: &Sensitivity| in_ns(sensitivity.replay)),
        ReportColumn::table_only("by the path", move |sensitivity: &Sensitivity| change(sensitivity.path)),
        ReportColumn::table_only("by a replay", move |sensitivity: &Sensitivity| change(sensitivity.replay))
            .optional(),
    ]
}

/// Returns the table of the effects of 1% more of each parameter.
pub fn sensitivity_table(row: &AnalyzedRun, unit: Unit) -> Option<DocumentBlock> {
    table(&sensitivity_columns(row), &row.analysis.sensitivities, unit, MOST_DECIMALS)
}
