//! Where the time of runs went, as rows.

use loggp::Time;
use loggp::params::Parameter;
use loggp::path::HopKind;
use loggp_draw::digits::{count, thousands};

use super::formula::{FormulaSweep, formula_columns, sweep_columns};
use super::machine::{level_columns, unit_columns};
use super::{Columns, Field, json_key};
use crate::analysis::accounts::{Account, Accounts};
use crate::analysis::{
    Analysis, CallCost, CostGroup, FormulaBuilder, GroupActivity, Overlap, PathShare, PathStep, Sensitivity,
};

/// A recorded run, or a replay of one under other parameters.
pub struct AnalyzedRun {
    /// The file of a recorded run, or the change that was made for a replay.
    pub name: String,
    pub trace: String,
    /// Time of the recorded run, if this is a replay.
    pub recorded_time: Option<Time>,
    pub analysis: Analysis,
    /// The critical path along a parameter, if `--over` is given.
    pub sweep: Option<FormulaSweep>,
}

impl AnalyzedRun {
    /// Returns the name without its folders.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Divides a time of all processors together by their number.
    pub fn mean(&self, time: Time) -> Time {
        time / self.analysis.machine.params.P as i64
    }

    /// Returns a time as a percentage of the time of all processors.
    pub fn share(&self, time: Time) -> f64 {
        let all = self.analysis.total.total();
        if all == Time::ZERO { 0.0 } else { 100.0 * time.in_units(all) }
    }
}

/// Returns the columns of a run. The table shows times as means over the processors.
pub fn run_columns<'a>(top_lines: usize, with_hops: bool) -> Columns<'a, AnalyzedRun> {
    let mut columns = Columns::<AnalyzedRun>::new();
    columns.add("run", |row| row.name.clone());
    columns.add_to_table("run", |row| row.short_name().to_string());
    columns.add("trace", |row| row.trace.clone());
    for parameter in Parameter::ALL {
        columns.add(format!("params.{}", parameter.name), |row| {
            parameter.number(&row.analysis.machine.params).map_or(Field::Absent, Field::from)
        });
    }
    columns.extend(unit_columns());
    columns.extend(level_columns(|row: &AnalyzedRun| &*row.analysis.machine.levels));
    columns.add("time_ns", |row| row.analysis.time).title("time");
    let change = |row: &AnalyzedRun| match row.recorded_time {
        Some(was) if was > Time::ZERO => Field::Error(row.analysis.time.in_units(was) - 1.0),
        _ => Field::Null,
    };
    columns.add("change", change).title("change").optional();
    columns.add("messages", |row| row.analysis.messages);
    columns.add("synchronous", |row| row.analysis.synchronous);
    for account in Account::all() {
        columns.add(format!("total_ns.{}", json_key(account.name())), move |row| row.analysis.total[account]);
    }
    add_accounts(&mut columns, |row, time| Field::Time(row.mean(time)), |row| &row.analysis.total);
    for part in HopKind::ALL {
        columns
            .add(format!("path_ns.{}", json_key(part.name())), move |row| time_on_path(&row.analysis, part));
    }
    columns.extend(formula_columns(|row: &AnalyzedRun| &row.analysis.formula));
    for part in HopKind::ALL {
        let words = move |row: &AnalyzedRun| part_formula(row, part).map_or(Field::Absent, Field::from);
        columns.add(format!("path_formulas.{}", json_key(part.name())), words).json_only();
    }
    columns.extend(sweep_columns(|row: &AnalyzedRun| row.sweep.as_ref()));
    columns.extend(request_columns());
    let processors = |row: &AnalyzedRun| processor_columns().objects(&row.analysis.processors);
    columns.add("processors", processors).json_only();
    let top = move |row: &AnalyzedRun| group_columns(row).objects(top_groups(row, top_lines));
    columns.add("top", top).json_only();
    let calls = move |row: &AnalyzedRun| match &row.analysis.calls[..] {
        [] => Field::Absent,
        calls => call_columns(row).objects(&calls[..calls.len().min(top_lines)]),
    };
    columns.add("calls", calls).json_only();
    let shares = move |row: &AnalyzedRun| {
        let shares = row.analysis.path_shares();
        path_share_columns(row).objects(&shares[..shares.len().min(top_lines)])
    };
    columns.add("path_processors", shares).json_only();
    let hops = move |row: &AnalyzedRun| match with_hops {
        true => step_columns(&row.analysis).objects(&row.analysis.path),
        false => Field::Absent,
    };
    columns.add("hops", hops).json_only();
    let sensitivities = |row: &AnalyzedRun| sensitivity_columns(row).objects(&row.analysis.sensitivities);
    columns.add("one_percent_more", sensitivities).json_only();
    columns
}

/// Returns the columns of the waits of requests, for JSON.
fn request_columns<'a>() -> Columns<'a, AnalyzedRun> {
    let mut columns = Columns::<AnalyzedRun>::new();
    let overlap = |row: &AnalyzedRun| Some(row.analysis.overlap).filter(|overlap| overlap.requests > 0);
    let count =
        move |row: &AnalyzedRun| overlap(row).map_or(Field::Absent, |overlap| overlap.requests.into());
    columns.add("requests.count", count).json_only();
    type GetAccounts = fn(&Overlap) -> &Accounts;
    let waits: [(&str, GetAccounts); 2] =
        [("overlapped", |overlap| &overlap.overlapped), ("exposed", |overlap| &overlap.exposed)];
    for (name, accounts) in waits {
        for account in Account::all() {
            let time = move |row: &AnalyzedRun| match overlap(row).map(|overlap| accounts(&overlap)[account])
            {
                None | Some(Time::ZERO) => Field::Absent,
                Some(time) => time.into(),
            };
            columns.add(format!("requests.{name}_ns.{}", json_key(account.name())), time).json_only();
        }
    }
    columns
}

/// Adds a column for each account, for tables only. Sending and receiving share one column.
pub fn add_accounts<'a, R: 'a>(
    columns: &mut Columns<'a, R>,
    show: impl Fn(&R, Time) -> Field + Copy + 'a,
    accounts: impl Fn(&R) -> &Accounts + Copy + 'a,
) {
    for account in Account::all().into_iter().filter(|account| *account != Account::Receive) {
        let title = if account == Account::Send { "overhead" } else { account.name() };
        let time = move |row: &R| {
            let accounts = accounts(row);
            let time = if account == Account::Send { accounts.overhead() } else { accounts[account] };
            if time == Time::ZERO { Field::Time(time) } else { show(row, time) }
        };
        columns.add_to_table(title, time).optional();
    }
}

/// Returns the columns of a processor's accounts.
pub fn processor_columns<'a>() -> Columns<'a, (usize, Accounts)> {
    let mut columns = Columns::<(usize, Accounts)>::new();
    columns.add("processor", |(id, _)| *id).title("processor");
    for account in Account::all() {
        let time = move |(_, accounts): &(usize, Accounts)| accounts[account];
        columns.add(format!("{}_ns", json_key(account.name())), time).title(account.name()).optional();
    }
    columns
}

/// Returns the columns of a group of activities.
pub fn group_columns<'a>(row: &'a AnalyzedRun) -> Columns<'a, CostGroup> {
    let mut columns = Columns::<CostGroup>::new();
    columns.add("what", group_title).title("what costs the most");
    columns.add("least_words", |group| group.words.map(|(least, _)| least));
    columns.add("most_words", |group| group.words.map(|(_, most)| most));
    columns.add_to_table("words", |group| group.words.map_or(String::new(), word_range));
    columns.add("count", |group| group.count).title("count");
    columns.add("time_ns", |group| group.accounts.total()).title("time");
    columns.add("share", |group| row.share(group.accounts.total()) / 100.0);
    columns.add_to_table("%", |group| row.share(group.accounts.total()));
    for account in Account::all() {
        columns.add(format!("{}_ns", json_key(account.name())), move |group| group.accounts[account]);
    }
    add_accounts(&mut columns, |_, time| Field::Time(time), |group| &group.accounts);
    columns
}

/// Returns what the activities of a group have in common, in words.
fn group_title(group: &CostGroup) -> String {
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

/// Returns the groups that cost the most, over all processors.
pub fn top_groups(row: &AnalyzedRun, lines: usize) -> &[CostGroup] {
    &row.analysis.groups[..row.analysis.groups.len().min(lines)]
}

/// Returns the columns of a call of a recorded program.
pub fn call_columns<'a>(row: &'a AnalyzedRun) -> Columns<'a, CallCost> {
    let on_path = |cost: &CallCost| match row.analysis.time {
        Time::ZERO => 0.0,
        time => cost.path.in_units(time),
    };
    let mut columns = Columns::<CallCost>::new();
    columns.add("call", |cost| cost.call.to_string()).title("by call, with what is computed before");
    columns.add("time_ns", |cost| cost.accounts.total()).title("time");
    columns.add("share", |cost| row.share(cost.accounts.total()) / 100.0);
    columns.add_to_table("%", |cost| row.share(cost.accounts.total()));
    columns.add("path_ns", |cost| cost.path);
    columns.add("path_share", on_path);
    columns.add_to_table("% of the path", move |cost| 100.0 * on_path(cost));
    for account in Account::all() {
        columns.add(format!("{}_ns", json_key(account.name())), move |cost| cost.accounts[account]);
    }
    add_accounts(&mut columns, |_, time| Field::Time(time), |cost| &cost.accounts);
    columns
}

/// Returns the formula of the hops of one kind, or `None` if the path has none.
pub fn part_formula(row: &AnalyzedRun, part: HopKind) -> Option<String> {
    let mut hops = row.analysis.path.iter().map(|step| &step.hop).filter(|hop| hop.kind == part).peekable();
    hops.peek()?;
    Some(FormulaBuilder::new(&row.analysis.machine).formula(hops).to_string())
}

/// Returns the time on the critical path that is spent on hops of this kind.
pub fn time_on_path(analysis: &Analysis, part: HopKind) -> Time {
    analysis.path.iter().filter(|step| step.hop.kind == part).map(|step| step.hop.length()).sum()
}

/// Returns the columns of a processor's part in the critical path.
pub fn path_share_columns<'a>(row: &'a AnalyzedRun) -> Columns<'a, PathShare> {
    let mut columns = Columns::<PathShare>::new();
    columns.add("processor", |share| share.id).title("critical path by processor");
    columns.add("hops", |share| share.hops).title("hops");
    columns.add("work_ns", |share| share.work).title("work");
    columns.add("time_ns", |share| share.time).title("time");
    columns.add_to_table("%", |share| 100.0 * share.time.in_units(row.analysis.time));
    columns
}

/// Returns the columns of a hop of the critical path.
pub fn step_columns<'a>(analysis: &Analysis) -> Columns<'a, PathStep> {
    let terms = FormulaBuilder::new(&analysis.machine);
    let mut columns = Columns::<PathStep>::new();
    columns.add("start_ns", |step| step.hop.start).title("from");
    columns.add("end_ns", |step| step.hop.end).title("until");
    columns.add("length_ns", |step| step.hop.length()).title("length");
    columns.add("part", |step| step.hop.kind.name()).title("part");
    columns.add("processor", |step| step.hop.id).title("processor");
    columns.add("from", |step| step.message.map(|(from, ..)| from));
    columns.add("to", |step| step.message.map(|(_, to, _)| to));
    columns.add("words", |step| step.message.map(|(.., words)| words));
    columns.add_to_table("message", |step| match step.message {
        Some((from, to, words)) => format!("{from} to {to}, {}", count(words, "word")),
        None => String::new(),
    });
    columns.add("formula", move |step| terms.formula([&step.hop]).to_string()).title("as a formula");
    columns
}

/// Returns the columns of the effect of 1% more of a parameter.
pub fn sensitivity_columns<'a>(row: &'a AnalyzedRun) -> Columns<'a, Sensitivity> {
    let in_ns = |ps: Option<f64>| ps.map(|ps| ps / 1e3);
    let Analysis { machine, time, .. } = &row.analysis;
    let change = |ps: Option<f64>| match ps {
        Some(ps) if *time > Time::ZERO => Field::Error(ps / time.as_ps() as f64),
        _ => Field::Null,
    };
    let mut columns = Columns::<Sensitivity>::new();
    columns.add("parameter", |sensitivity| sensitivity.parameter.name()).title("1% more");
    columns.add_to_table("is", |Sensitivity { parameter, .. }| {
        let value = parameter.number(machine).unwrap_or(0);
        if parameter.is_time() { Field::Given(Time::from_ps(value)) } else { Field::Text(thousands(value)) }
    });
    columns.add("path_ns", move |sensitivity| in_ns(sensitivity.path));
    columns.add("replay_ns", move |sensitivity| in_ns(sensitivity.replay));
    columns.add_to_table("by the path", move |sensitivity| change(sensitivity.path));
    columns.add_to_table("by a replay", move |sensitivity| change(sensitivity.replay)).optional();
    columns
}
