//! How `loggp analyze` says where the time of a run went: the columns of a run, and the tables below it.

use loggp::path::Part;
use loggp::{Parameter, Time, US};
use loggp_document::{Block, plain};
use loggp_study::analysis::accounts::{Account, Accounts};
use loggp_study::analysis::{Analysis, Group, Sensitivity, Step, Terms, What};

use super::column::{Column, object, table};
use super::field::{Field, Object};
use super::formula::{self, Over};
use super::number::{Unit, thousands};
use super::overlapping;
use super::row::MOST_DECIMALS;

/// A run, recorded or made again.
pub struct Row {
    /// What it is called: its file, or what was changed.
    pub name: String,
    /// The file of the trace.
    pub trace: String,
    /// How long the recorded run took, if this is one that was made again.
    pub was: Option<Time>,
    /// Where its time went.
    pub analysis: Analysis,
    /// Its critical path along a parameter, if that was asked for.
    pub over: Option<Over>,
}

impl Row {
    /// Its name without the folders.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// The mean over the processors of a time of all together.
    pub fn mean(&self, time: Time) -> Time {
        time / self.analysis.params.P as i64
    }

    /// What part of the time of all processors a time is, in percent.
    fn share(&self, time: Time) -> f64 {
        let all = self.analysis.total.total();
        if all == Time::ZERO { 0.0 } else { 100.0 * time.in_units(all) }
    }
}

/// The unit in which the times of runs are shown: that of the machine, or a longer one for a long run.
pub fn unit(rows: &[Row]) -> Unit {
    let longest = rows.iter().map(|row| row.analysis.time).max().unwrap_or_default();
    let usual = Unit::usual(&rows[0].analysis.params);
    let units = [usual, Unit::of("1us", US), Unit::of("1ms", US), Unit::of("1s", US)];
    units.into_iter().find(|unit| unit.amount(longest) < 1e6).unwrap_or(usual)
}

/// A name as JSON has it.
pub fn key(name: &str) -> String {
    name.replace(' ', "_")
}

/// The columns of a run. A table has what a processor spends on the mean.
pub fn columns<'a>(top_lines: usize, with_hops: bool) -> Vec<Column<'a, Row>> {
    let mut columns = vec![
        Column::new("run", |row: &Row| row.name.clone()),
        Column::shown("run", |row: &Row| row.short_name().to_string()),
        Column::new("trace", |row: &Row| row.trace.clone()),
    ];
    columns.extend(Parameter::ALL.iter().map(|parameter| {
        Column::new(format!("params.{}", parameter.name), |row: &Row| {
            parameter.number(&row.analysis.params).map_or(Field::Absent, Field::from)
        })
    }));
    columns.extend([
        Column::new("time_ns", |row: &Row| row.analysis.time).titled("time"),
        Column::new("change", |row: &Row| match row.was {
            Some(was) if was > Time::ZERO => Field::Error(row.analysis.time.in_units(was) - 1.0),
            _ => Field::Nothing,
        })
        .titled("change")
        .optional(),
        Column::new("messages", |row: &Row| row.analysis.messages),
        Column::new("synchronous", |row: &Row| row.analysis.synchronous),
    ]);
    columns.extend(Account::ALL.iter().map(|&account| {
        Column::new(format!("total_ns.{}", key(account.name())), move |row: &Row| row.analysis.total[account])
    }));
    columns.extend(accounts(|row: &Row, time| Field::Time(row.mean(time)), |row| &row.analysis.total));
    columns.extend(Part::ALL.iter().map(|&part| {
        Column::new(format!("path_ns.{}", key(part.name())), move |row: &Row| on_path(&row.analysis, part))
    }));
    columns.extend(formula::columns());
    columns.extend(overlapping::columns());
    columns.extend([
        Column::new("processors", |row: &Row| rows(&of_processor(), &row.analysis.processors)).json_only(),
        Column::new("top", move |row: &Row| {
            let groups = &row.analysis.groups;
            rows(&of_group(row), &groups[..groups.len().min(top_lines)])
        })
        .json_only(),
        Column::new("hops", move |row: &Row| match with_hops {
            true => rows(&of_step(&row.analysis), &row.analysis.path),
            false => Field::Absent,
        })
        .json_only(),
        Column::new("one_percent_more", |row: &Row| rows(&of_sensitivity(row), &row.analysis.sensitivities))
            .json_only(),
    ]);
    columns
}

/// Columns that only a table has: where time went, sending and receiving together.
fn accounts<'a, R: 'a>(
    show: impl Fn(&R, Time) -> Field + Copy + 'a,
    accounts: impl Fn(&R) -> &Accounts + Copy + 'a,
) -> Vec<Column<'a, R>> {
    let shown = Account::ALL.iter().filter(|account| **account != Account::Receive);
    let columns = shown.map(|&account| {
        let title = if account == Account::Send { "overhead" } else { account.name() };
        Column::shown(title, move |row: &R| {
            let accounts = accounts(row);
            let time = if account == Account::Send { accounts.overhead() } else { accounts[account] };
            if time == Time::ZERO { Field::Time(time) } else { show(row, time) }
        })
        .optional()
    });
    columns.collect()
}

/// The same in percent: a table, or nothing where there is nothing.
pub fn shares(all: &[Row], unit: Unit) -> Option<Block> {
    let mut columns = vec![Column::shown("%", |row: &Row| row.short_name().to_string())];
    columns.extend(accounts(|row: &Row, time| Field::Number(row.share(time)), |row| &row.analysis.total));
    table(&columns, all, unit, MOST_DECIMALS)
}

/// A table's rows as JSON has them.
pub fn rows<R>(columns: &[Column<R>], rows: &[R]) -> Field {
    Field::Rows(rows.iter().map(|row| object(columns, row)).collect::<Vec<Object>>())
}

/// The columns of a processor.
fn of_processor<'a>() -> Vec<Column<'a, (usize, Accounts)>> {
    let mut columns = vec![Column::new("processor", |(id, _): &(usize, Accounts)| *id).titled("processor")];
    columns.extend(Account::ALL.iter().map(|&account| {
        let time = move |(_, accounts): &(usize, Accounts)| accounts[account];
        Column::new(format!("{}_ns", key(account.name())), time).titled(account.name()).optional()
    }));
    columns
}

/// Where the time of each processor went, if there are not more than so many.
pub fn processors(row: &Row, unit: Unit, most: usize) -> Vec<Block> {
    let P = row.analysis.params.P;
    let say = |sentence: String| Block::Paragraph(plain(sentence));
    if P > most {
        return vec![say(format!("there are {} processors; --every-processor lists them", thousands(P)))];
    }
    let silent = P - row.analysis.processors.len();
    let silent = (silent > 0).then(|| say(format!("{} processors did nothing", thousands(silent))));
    table(&of_processor(), &row.analysis.processors, unit, MOST_DECIMALS).into_iter().chain(silent).collect()
}

/// The columns of what costs the most.
fn of_group<'a>(row: &'a Row) -> Vec<Column<'a, Group>> {
    let mut columns = vec![
        Column::new("what", |group: &Group| what(group)).titled("what costs the most"),
        Column::new("least_words", |group: &Group| group.words.map(|(least, _)| least)),
        Column::new("most_words", |group: &Group| group.words.map(|(_, most)| most)),
        Column::shown("words", |group: &Group| group.words.map_or(String::new(), words)),
        Column::new("count", |group: &Group| group.count).titled("count"),
        Column::new("time_ns", |group: &Group| group.accounts.total()).titled("time"),
        Column::new("share", |group: &Group| row.share(group.accounts.total()) / 100.0),
        Column::shown("%", |group: &Group| row.share(group.accounts.total())),
    ];
    columns.extend(Account::ALL.iter().map(|&account| {
        let time = move |group: &Group| group.accounts[account];
        Column::new(format!("{}_ns", key(account.name())), time)
    }));
    columns.extend(accounts(|_, time| Field::Time(time), |group: &Group| &group.accounts));
    columns
}

/// What is done in a group.
fn what(group: &Group) -> String {
    let about = |does: &str, about: &Option<_>, waits: bool| {
        let about: &str = about.as_deref().unwrap_or("a message");
        format!("{does} {about}{}", if waits { ", above S" } else { "" })
    };
    match &group.what {
        What::Send(tag, class) => about("send", tag, class.is_synchronous),
        What::Receive(tag, class) => about("receive", tag, class.is_synchronous),
        What::Work(kind) => format!("work {}", kind.replace(char::is_control, " ")),
        What::Barrier => "barrier".into(),
        What::Wait => "wait for a moment".into(),
    }
}

/// The lengths of a group's messages.
fn words((least, most): (usize, usize)) -> String {
    match least == most {
        true => thousands(least),
        false => format!("{} to {}", thousands(least), thousands(most)),
    }
}

/// What costs the most, of all processors together.
pub fn top(row: &Row, unit: Unit, lines: usize) -> Option<Block> {
    let groups = &row.analysis.groups;
    table(&of_group(row), &groups[..groups.len().min(lines)], unit, MOST_DECIMALS)
}

/// How much of the path consists of this.
fn on_path(analysis: &Analysis, part: Part) -> Time {
    analysis.path.iter().filter(|step| step.hop.part == part).map(|step| step.hop.length()).sum()
}

/// The columns of a hop.
fn of_step<'a>(analysis: &Analysis) -> Vec<Column<'a, Step>> {
    let terms = Terms::of(&analysis.params);
    vec![
        Column::new("start_ns", |step: &Step| step.hop.start).titled("from"),
        Column::new("end_ns", |step: &Step| step.hop.end).titled("until"),
        Column::new("length_ns", |step: &Step| step.hop.length()).titled("length"),
        Column::new("part", |step: &Step| step.hop.part.name()).titled("part"),
        Column::new("processor", |step: &Step| step.hop.id).titled("processor"),
        Column::new("from", |step: &Step| step.message.map(|(from, ..)| from)),
        Column::new("to", |step: &Step| step.message.map(|(_, to, _)| to)),
        Column::new("words", |step: &Step| step.message.map(|(.., words)| words)),
        Column::shown("message", |step: &Step| {
            let said = |(from, to, words)| {
                let plural = if words == 1 { "" } else { "s" };
                format!("{from} to {to}, {} word{plural}", thousands(words))
            };
            Field::Text(step.message.map_or_else(String::new, said))
        }),
        Column::new("formula", move |step: &Step| formula::said(&terms.formula([&step.hop])))
            .titled("as a formula"),
    ]
}

/// What the critical path consists of, and its hops if they are to be listed.
pub fn path(row: &Row, unit: Unit, with_hops: bool) -> Vec<Block> {
    type Consists = (Part, usize, Time);
    let steps = &row.analysis.path;
    let of_part = |&part: &Part| {
        let hops = steps.iter().filter(|step| step.hop.part == part).count();
        (hops > 0).then(|| (part, hops, on_path(&row.analysis, part)))
    };
    let parts: Vec<Consists> = Part::ALL.iter().filter_map(of_part).collect();
    let of_run = |time: Time| 100.0 * time.in_units(row.analysis.time);
    let columns = [
        Column::shown("critical path", |(part, ..): &Consists| part.name()),
        Column::shown("hops", |(_, hops, _): &Consists| *hops),
        Column::shown("time", |(.., time): &Consists| *time),
        Column::shown("%", |(.., time): &Consists| of_run(*time)),
        Column::shown("as a formula", |(part, ..): &Consists| formula::of_part(row, *part)),
    ];
    let hops = table(&of_step(&row.analysis), if with_hops { steps } else { &[] }, unit, MOST_DECIMALS);
    table(&columns, &parts, unit, MOST_DECIMALS).into_iter().chain(hops).collect()
}

/// The columns of what 1% more of a parameter does.
fn of_sensitivity<'a>(row: &'a Row) -> Vec<Column<'a, Sensitivity>> {
    let ns = |ps: Option<f64>| ps.map(|ps| ps / 1e3);
    let of_run = |ps: Option<f64>| match ps {
        Some(ps) if row.analysis.time > Time::ZERO => Field::Error(ps / row.analysis.time.as_ps() as f64),
        _ => Field::Nothing,
    };
    let params = &row.analysis.params;
    vec![
        Column::new("parameter", |one: &Sensitivity| one.parameter.name).titled("1% more"),
        Column::shown("is", move |one: &Sensitivity| {
            let value = one.parameter.number(params).unwrap_or(0);
            match one.parameter.is_time() {
                true => Time::from_ps(value).to_string(),
                false => thousands(value),
            }
        }),
        Column::new("path_ns", move |one: &Sensitivity| ns(one.path)),
        Column::new("replay_ns", move |one: &Sensitivity| ns(one.replay)),
        Column::shown("by the path", move |one: &Sensitivity| of_run(one.path)),
        Column::shown("by a replay", move |one: &Sensitivity| of_run(one.replay)).optional(),
    ]
}

/// What 1% more of each parameter would change.
pub fn sensitivities(row: &Row, unit: Unit) -> Option<Block> {
    table(&of_sensitivity(row), &row.analysis.sensitivities, unit, MOST_DECIMALS)
}
