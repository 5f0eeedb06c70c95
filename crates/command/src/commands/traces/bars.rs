//! Accounts of time as stacked bars, as in LogGPS's figure 6: a bar for each processor of a run, or for the
//! mean of each of several runs.

use loggp::Time;
use loggp_draw::bars::{Bar, Bars, MOST};
use loggp_study::analysis::accounts::{Account, Accounts};
use loggp_study::pictures::styles;
use loggp_study::rows::analysis::AnalyzedRun;

use crate::error::CliError;
use crate::number::Unit;

/// The layers from the bottom up: activities, then what LogGPS calls synchronization, then waits.
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

/// Draws runs as SVG: a single run by its processors, several by their means over the processors.
pub(crate) fn svg(rows: &[AnalyzedRun], unit: Unit) -> Result<String, CliError> {
    let n = if let [row] = rows { row.analysis.machine.params.P } else { rows.len() };
    if n > MOST {
        return Err(CliError::Request(format!("a plot shows at most {MOST} bars, and there are {n}")));
    }
    let (bars, x, title, subtitle) = match rows {
        [row] => (
            processor_bars(row, unit),
            "processor",
            format!("Where the time of {} went", row.short_name()),
            format!("P = {}, {}", row.analysis.machine.params.P, unit.show(row.analysis.time)),
        ),
        _ => (
            rows.iter().map(|row| run_bar(row, unit)).collect(),
            "",
            "Where the time went".into(),
            "mean over the processors".into(),
        ),
    };
    let y = format!("time [{}]", unit.name);
    let layers = LAYERS.map(styles::account_style).into();
    Ok(Bars { title, subtitle, x: x.into(), y, layers, bars }.svg())
}

fn processor_bars(row: &AnalyzedRun, unit: Unit) -> Vec<Bar> {
    let mut done = row.analysis.processors.iter().peekable();
    let bar = |id: usize| {
        let accounts = done.next_if(|(did, _)| *did == id).map(|(_, accounts)| *accounts);
        let mut silent = Accounts::default();
        silent[Account::End] = row.analysis.time;
        bar(id.to_string(), &accounts.unwrap_or(silent), unit, |time| time)
    };
    (0..row.analysis.machine.params.P).map(bar).collect()
}

fn run_bar(row: &AnalyzedRun, unit: Unit) -> Bar {
    bar(row.short_name().into(), &row.analysis.total, unit, |time| row.mean(time))
}

/// Returns a bar whose layers are the accounts' times, each converted by `shown`.
fn bar(label: String, accounts: &Accounts, unit: Unit, shown: impl Fn(Time) -> Time) -> Bar {
    let heights = LAYERS.map(|account| unit.amount(shown(accounts[account]))).into();
    Bar { label, group: String::new(), heights }
}
