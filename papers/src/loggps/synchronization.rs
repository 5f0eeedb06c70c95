//! Figure 6: the breakdown of the elimination's time.

use loggp_draw::bars::{Bar, Bars};
use loggp_programs::message::MessageTerms;
use loggp_study::analysis::Analysis;
use loggp_study::analysis::accounts::{Account, Accounts};

use super::elimination::{
    self, CODES, Elimination, MADE_FOR, PROGRAMS, SHARED, SIZES, WITHIN_7_PERCENT, codes, size_text,
};
use crate::prelude::*;
use loggp_study::pictures::styles;

pub(super) const FIGURE_6: Exhibit = Exhibit {
    id: "loggps-fig6",
    place: "figure 6",
    title: "where the elimination's time goes, by LogGPS",
    notes: "The bars are those of our program \"shared\", whose messages are as long and as many as the paper's. The table has the program \
            \"whole\" beside it. Up to n = 1024 no message is longer than S, and all three codes are the same.",
    formulas: &["none: the paper predicts from the trace of a run"],
    unit: ("s", SEC),
    series: elimination::series,
    show,
    ..Exhibit::USUAL
};

/// The accounts of all processors together, of which a run's time has shares.
pub(super) struct Shares(Ran<Accounts>);

/// Accounts from the bottom of a bar up: activities, LogGPS's synchronization, and other waits.
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
    /// Analyzes a run that the machine has just made.
    pub(super) fn from_trace(trace: &Trace) -> Shares {
        Shares(trace.ran(|trace| Analysis::from_run(trace).total))
    }

    /// Returns the share of the paper's synchronization.
    pub(super) fn synchronization(&self) -> Ran<f64> {
        self.0.map(|accounts| accounts.synchronization().in_units(accounts.total()))
    }

    /// Returns the share of an account.
    pub(super) fn share(&self, account: Account) -> Ran<f64> {
        self.0.map(|accounts| accounts[account].in_units(accounts.total()))
    }

    /// Returns a bar of the shares in %.
    pub(super) fn bar(&self, label: impl Into<String>, group: impl Into<String>) -> Bar {
        let heights = LAYERS.map(|account| 100.0 * self.share(account).value()).into();
        Bar { label: label.into(), group: group.into(), heights }
    }
}

/// Draws bars.
pub(super) fn draw_bars(title: &str, x: &str, bars: Vec<Bar>) -> String {
    Bars {
        title: title.into(),
        subtitle: "mean over the processors".into(),
        x: x.into(),
        y: "part of the predicted time [%]".into(),
        layers: LAYERS.map(styles::account_style).into(),
        bars,
    }
    .svg()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new(
        "synchronization",
        "Synchronization of our two programs: the part of the time in which senders and receivers wait",
    )
    .exact("n", "")
    .text("code")
    .percent("shared, senders")
    .percent("shared, receivers")
    .percent("whole, senders")
    .percent("whole, receivers");
    let mut bars = [const { Vec::new() }; 3];
    for n in SIZES {
        for (code, name) in codes(n) {
            let shares = PROGRAMS
                .map(|program| Shares::from_trace(Elimination::from_sheet(sheet, program, n, code).trace()));
            let parts = shares.iter().flat_map(|shares| {
                [Account::SenderSync, Account::ReceiverSync].map(|account| shares.share(account).value())
            });
            table.push([n.into(), name.into()].into_iter().chain(parts.map(Into::into)).collect());
        }
        for (code, bars) in bars.iter_mut().enumerate() {
            let run = Elimination::from_sheet(sheet, SHARED, n, code);
            bars.push(Shares::from_trace(run.trace()).bar(n.to_string(), ""));
        }
    }
    add_who_waits(sheet);
    add_elimination_of_waits(sheet)?;
    add_messages(sheet);
    let quote =
        "The breakdowns of the predicted times, averaged over all processors, are also shown in Figure 6(a)";
    let why = "The figure has no numbers but those of the axes.";
    sheet.add_out_of_reach("the heights of the bars", "figure 6", quote, why);
    for ((letter, code), bars) in ["a", "b", "c"].into_iter().zip(&CODES).zip(bars) {
        let title = format!("({letter}) Breakdown of predicted times, {}, S = {}", code.name, code.S);
        let caption = format!(
            "({letter}) {}: computing, overheads, synchronization and other waits, from the bottom up.",
            code.name
        );
        sheet.add_picture(letter, caption, draw_bars(&title, "matrix size n", bars));
    }
    sheet.add_table(table);
    Ok(())
}

/// Adds the rows of who waits at which size.
fn add_who_waits(sheet: &mut Sheet) {
    let shares = SIZES.map(|n| Shares::from_trace(Elimination::from_sheet(sheet, SHARED, n, 0).trace()));
    let parts: Vec<Ran<f64>> = shares.iter().map(|shares| 100.0 * shares.synchronization()).collect();
    let quote = "under all values of n except 1024, the synchronization costs account for roughly 50% of the predicted times";
    let rule = between(45.0, 55.0).because("roughly 50%, as 46.8% is called at n = 4096");
    let others = [parts[0], parts[1], parts[3], parts[4]];
    let what = "synchronization in the predicted time, n = 256, 512, 2048 and 4096 [%]";
    sheet
        .add_claim(what, "4.4", quote, rule, others)
        .expect_difference(
            DifferenceCause::LostProgram,
            "our program's receivers wait 64% of the time at n = 256 and 34% at n = 512",
            "The paper's program is lost, and the figure's bars have no numbers. In ours receivers wait more than half of the time at n = 256, and \
             less at n = 512.",
        );
    let is_other = parts[2].map(|part| !(45.0..=55.0).contains(&part));
    sheet.add_judged_claim("synchronization at n = 1024", "4.4", quote, "not 45 to 55%", is_other);
    let quote = "when n \u{2264} 1024, the receiver synchronization costs are the major, in contrast, when n > 1024, the sender synchronization \
                 costs are";
    let leads = SIZES.iter().zip(&shares).map(|(n, shares)| {
        let more = shares.share(Account::SenderSync) / shares.synchronization();
        more.map(|more| if *n > 1024 { more } else { 1.0 - more })
    });
    let what = "part of the receivers in the synchronization at n = 256, 512 and 1024, and of the senders at 2048 and 4096";
    sheet.add_claim(what, "4.4", quote, above(0.5), leads.collect::<Vec<_>>());
}

/// Adds the rows of how the waits are eliminated at n = 4096.
fn add_elimination_of_waits(sheet: &mut Sheet) -> Result<(), StudyError> {
    let at = size_text(sheet.lab, 4096);
    let [original, larger] = [0, 1].map(|code| Elimination::from_sheet(sheet, SHARED, 4096, code));
    let wait = Shares::from_trace(original.trace()).synchronization() * original.seconds();
    let (part, why) = WITHIN_7_PERCENT;
    let what = format!("{at}: synchronization, S = 16,383 [s]");
    sheet.add_number(what, "4.5", "29.128", wait).accept_within(part, why);
    let rest = 100.0 * Shares::from_trace(larger.trace()).synchronization();
    sheet
        .add_number(format!("{at}: synchronization, S = 65,536 [%]"), "4.5", "7", rest)
        .expect_difference(
            DifferenceCause::LostProgram,
            "in our program blocks come before they are needed, in the paper's some receivers still waited",
            "In our program a block comes before it is needed, as soon as messages do not wait for their receivers. In the paper's program some \
             receivers still waited.",
        );
    let quote = "this is much smaller than the synchronization cost";
    let one = MessageTerms::new(&preset_machine("myrinet", 2), CODES[0].S).communication(Time::ZERO);
    let what = format!("{at}: what the messages of S bytes cost, over the synchronization");
    let fragments = original.long_bytes() / CODES[0].S as f64 * one.in_units(SEC);
    sheet.add_claim(what, "4.5", quote, below(0.1).because("a tenth is much smaller"), [fragments / wait]);
    let (contest, _) = original.replay_with("S=128000")?;
    let same = (contest / larger.seconds()).map(|ratio| (ratio - 1.0).abs() < 0.01);
    let quote = "the sender synchronization cost was not a performance bottleneck of the program when the contest held";
    let what = format!("{at}: time with the contest's S = 128,000 is that with S = 65,536");
    sheet.add_judged_claim(what, "4.4", quote, "to 1%", same);
    Ok(())
}

/// Adds the rows of the messages, by which the paper's program is known.
fn add_messages(sheet: &mut Sheet) {
    let rounded = (0.005, "at n/4 the first messages are a little shorter");
    let at_1024 = Elimination::from_sheet(sheet, SHARED, 1024, 0).longest_message();
    sheet.add_number("n = 1024: longest message [bytes]", "4.4", "16320", at_1024).by_design(MADE_FOR);
    let run = Elimination::from_sheet(sheet, SHARED, 4096, 0);
    let megabytes = run.long_bytes() / f64::from(1 << 20);
    for (what, section, paper, ours) in [
        ("longest message [bytes]", "4.5", "65472", run.longest_message()),
        (
            "messages longer than S, for a processor in the mean [MBytes of 2^20 bytes]",
            "4.5",
            "22.5",
            megabytes,
        ),
    ] {
        let what = format!("{}: {what}", size_text(sheet.lab, 4096));
        let row = sheet.add_number(what, section, paper, ours);
        if !run.is_whole() {
            row.accept_within(rounded.0, rounded.1);
        }
        row.by_design(MADE_FOR);
    }
}
