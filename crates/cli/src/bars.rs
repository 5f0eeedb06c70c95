//! Where time went as stacked bars, as in LogGPS's figure 6: one for each processor of a run, or the mean of each run.

use loggp::Time;
use loggp_draw::bars::{Bar, Bars, MOST};
use loggp_papers::pictures::kinds;
use loggp_study::analysis::accounts::{Account, Accounts};

use super::accounting::Row;
use super::failure::Failure;
use super::number::Unit;

/// From the bottom up: what is done, what LogGPS calls synchronization, and waits.
const LAYERS: [Account; 12] = [
    Account::Computation,
    Account::Send,
    Account::Receive,
    Account::Handshake,
    Account::SenderSync,
    Account::ReceiverSync,
    Account::Stall,
    Account::Gap,
    Account::Port,
    Account::Barrier,
    Account::Idle,
    Account::End,
];

/// Draws runs as SVG: a single one by its processors, several by what each is on the mean.
pub fn svg(rows: &[Row], unit: Unit) -> Result<String, Failure> {
    let n = if let [row] = rows { row.analysis.params.P } else { rows.len() };
    if n > MOST {
        return Err(Failure::Request(format!("a plot shows at most {MOST} bars, and there are {n}")));
    }
    let (bars, x, title, subtitle) = match rows {
        [row] => (
            of_processors(row, unit),
            "processor",
            format!("Where the time of {} went", row.short_name()),
            format!("P = {}, {}", row.analysis.params.P, unit.show(row.analysis.time)),
        ),
        _ => (
            rows.iter().map(|row| of_run(row, unit)).collect(),
            "",
            "Where the time went".into(),
            "mean over the processors".into(),
        ),
    };
    let y = format!("time [{}]", unit.name);
    let layers = LAYERS.map(|account| kinds::of_account(account).into()).into();
    Ok(Bars { title, subtitle, x: x.into(), y, layers, bars }.svg())
}

/// A bar for each processor.
fn of_processors(row: &Row, unit: Unit) -> Vec<Bar> {
    let mut done = row.analysis.processors.iter().peekable();
    let bar = |id: usize| {
        let accounts = done.next_if(|(did, _)| *did == id).map(|(_, accounts)| *accounts);
        let mut silent = Accounts::default();
        silent[Account::End] = row.analysis.time;
        bar(id.to_string(), &accounts.unwrap_or(silent), unit, |time| time)
    };
    (0..row.analysis.params.P).map(bar).collect()
}

/// A bar for a run.
fn of_run(row: &Row, unit: Unit) -> Bar {
    bar(row.short_name().into(), &row.analysis.total, unit, |time| row.mean(time))
}

/// A bar of what is shown of these accounts.
fn bar(label: String, accounts: &Accounts, unit: Unit, shown: impl Fn(Time) -> Time) -> Bar {
    let heights = LAYERS.map(|account| unit.amount(shown(accounts[account]))).into();
    Bar { label, group: String::new(), heights }
}
