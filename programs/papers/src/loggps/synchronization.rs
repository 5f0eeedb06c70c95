//! Figure 6: where the elimination's time goes.

use loggp::{SEC, Trace};

use super::super::{Answer, Cell, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::elimination::{ANOTHER_PROGRAM, Three, sizes};
use super::elimination_times::{PAPERS_ERROR, WHY};
use crate::pictures::kinds;
use loggp_draw::bars::{Bar, Bars};
use loggp_programs::gauss::longest_message;
use loggp_study::Failed;
use loggp_study::analysis::Analysis;
use loggp_study::analysis::accounts::{Account, Accounts};

/// Figure 6.
pub const FIGURE_6: Exhibit = Exhibit {
    id: "loggps-fig6",
    place: "figure 6",
    title: "where the elimination's time goes, by LogGPS",
    says: &[
        "Synchronization is roughly 50% of the predicted time for all n but 1024: up to n = 1024 mostly the receivers', above that \
         mostly the senders'.",
        "The longest message has 16,320 bytes at n = 1024, just below S = 16,383, and 65,472 at n = 4096.",
        "With S = 65,536 the part of synchronization drops from 50% to 7% at n = 4096. Before, it is 29.128 s.",
        "Messages longer than S have 22.5 MBytes at n = 4096.",
    ],
    formulas: &["none: the paper predicts from the trace of a run"],
    commands: &[
        "loggp run gauss --machine myrinet --size 1024 --clock virtual --trace g.loggp",
        "loggp analyze g.loggp --what-if S=65536 --what-if fragments=16383",
    ],
    seconds: Seconds { quick: 4.0, full: 90.0 },
    make,
};

/// Where the time of a run went, as parts of it.
pub struct Shares {
    /// The time of all processors together.
    total: Accounts,
}

/// From the bottom of a bar up: what is done, what LogGPS calls synchronization, and other waits.
const LAYERS: [Account; 9] = [
    Account::Computation,
    Account::Send,
    Account::Receive,
    Account::SenderSync,
    Account::ReceiverSync,
    Account::Handshake,
    Account::Gap,
    Account::Port,
    Account::End,
];

impl Shares {
    /// Of a run that the machine has just made.
    pub fn of_run(trace: &Trace) -> Shares {
        Shares { total: Analysis::of_run(trace).total }
    }

    /// What the paper calls synchronization.
    pub fn synchronization(&self) -> f64 {
        self.total.synchronization().in_units(self.total.total())
    }

    /// What is on an account.
    pub fn of(&self, account: Account) -> f64 {
        self.total[account].in_units(self.total.total())
    }

    /// The columns of a table of them.
    pub fn columns(table: Table) -> Table {
        ["computing", "overhead", "sender sync", "receiver sync", "other"]
            .into_iter()
            .fold(table, |table, name| table.rough(name, "%"))
    }

    /// Their cells, in %.
    pub fn cells(&self) -> [Cell; 5] {
        let overhead = self.of(Account::Send) + self.of(Account::Receive);
        let known = [Account::Computation, Account::SenderSync, Account::ReceiverSync]
            .map(|account| self.of(account));
        let [computing, sender, receiver] = known;
        let other = 1.0 - computing - overhead - sender - receiver;
        // What is nothing shall not be a tiny number that floats have left.
        [computing, overhead, sender, receiver, other].map(|part| Cell::from((1e5 * part).round() / 1e3))
    }

    /// A bar of them in a group, in %.
    pub fn bar(&self, label: &str, group: usize) -> Bar {
        let heights = LAYERS.map(|account| 100.0 * self.of(account)).into();
        Bar { label: label.into(), group: format!("n = {group}"), heights }
    }
}

/// Bars in a picture.
pub fn drawn(title: &str, bars: Vec<Bar>) -> String {
    Bars {
        title: title.into(),
        subtitle: "mean over the processors".into(),
        x: String::new(),
        y: "part of the time [%]".into(),
        layers: LAYERS.map(|account| kinds::of_account(account).into()).into(),
        bars,
    }
    .svg()
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let table = Table::new("parts", "Where the time goes, on the mean over the processors")
        .exact("n", "")
        .text("code");
    let mut table = Shares::columns(table).exact("time", "s");
    let mut checks = Vec::new();
    let (mut halves, mut leads, mut bars) = (Vec::new(), 0, Vec::new());
    let sizes = sizes(lab);
    for (row, (n, part)) in sizes.into_iter().enumerate() {
        let three = Three::run(lab, n, part)?;
        for (number, name) in three.codes() {
            let run = three.get(number);
            let shares = Shares::of_run(&run.trace);
            bars.push(shares.bar(name, n));
            let mut cells = vec![n.into(), name.into()];
            cells.extend(shares.cells());
            cells.push(run.time.in_units(SEC).into());
            table.push(cells);
            let percent = 100.0 * shares.synchronization();
            if number == 0 {
                let sender_leads = shares.of(Account::SenderSync) > shares.of(Account::ReceiverSync);
                leads += usize::from(sender_leads == (n > 1024));
                let is_half = (0.4..0.6).contains(&shares.synchronization());
                let paper = if n == 1024 { "not roughly 50%" } else { "roughly 50%" };
                let what = format!("n = {n}: synchronization");
                let check = Check::claim(what, paper, format!("{percent:.0}%"), is_half != (n == 1024));
                checks.push(check.because(ANOTHER_PROGRAM));
                halves.push((n, percent));
            }
            if (n, number) == (4096, 0) {
                let synchronization = shares.synchronization() * run.time.in_units(SEC);
                let why = "our program's time is that near to the paper's too; the paper's predictions are off by up to 9.6%";
                let what = "n = 4096: synchronization, original [s]";
                checks.push(
                    Check::within(what, "29.128", synchronization, PAPERS_ERROR, why)
                        .because(ANOTHER_PROGRAM),
                );
                let sent = long_bytes(&run.trace, part) / f64::from(1 << 20) / run.trace.params.P as f64;
                let what = "n = 4096: messages longer than S, for each processor [MBytes]";
                checks.push(Check::within(what, "22.5", sent, 0.1, "three digits").by(Answer::Count).because(
                    "here a processor sends its rows to each of the others; the paper's program sent less, perhaps along a tree, and \
                     the text does not say whether that is all or a processor's",
                ));
            }
            if (n, number) == (4096, 1) {
                let what = "n = 4096, S = 65,536: synchronization [%]";
                let check = Check::within(what, "7", percent, PAPERS_ERROR, WHY);
                checks.push(check.because(
                    "in our program rows come before they are asked for; in the paper's some receivers still waited",
                ));
            }
        }
        lab.done((row + 1) as f64 / sizes.len() as f64);
    }
    checks.push(Check::claim(
        "up to n = 1024 receivers wait more, above that senders",
        "when n <= 1024, the receiver synchronization costs are the major; when n > 1024, the sender's are",
        format!("{leads} of {}", sizes.len()),
        leads == sizes.len(),
    ));
    for (n, paper) in [(1024, "16320"), (4096, "65472")] {
        let ours = longest_message(n) as f64;
        checks.push(
            Check::equal(format!("n = {n}: the longest message [bytes]"), paper, ours).by(Answer::Count),
        );
    }
    let halves: Vec<String> = halves.iter().map(|(n, percent)| format!("{percent:.0}% at n = {n}")).collect();
    let verdict = format!(
        "Up to n = 1024 receivers wait and above that senders, and a larger S or fragments end it: the paper's finding. \
         Synchronization is {}. The paper's program is lost, and ours waits less where messages are short.",
        halves.join(", ")
    );
    let caption = "Up to n = 1024 no message is longer than S, and all three codes are the same.";
    let picture = drawn("Where the elimination's time goes", bars);
    Ok(Finding::new(verdict).table(table).picture("", caption, picture).checks(checks))
}

/// The bytes of all messages that wait for their receivers, at n: what is run at a part of it has a part of the messages, each
/// with a part of its bytes.
fn long_bytes(trace: &Trace, part: usize) -> f64 {
    let S = trace.params.gps().map_or(usize::MAX, |gps| gps.S);
    let words = trace.messages.iter().map(|message| message.words).filter(|words| *words > S);
    (words.sum::<usize>() * part * part) as f64
}
