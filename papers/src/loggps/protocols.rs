//! Tables 1 and 2 and figure 1: the protocols of MPI's implementations, and the waits that they cause.

use loggp::Ports;
use loggp_programs::Emulation;
use loggp_programs::message::{ISEND, MEANWHILE, SEND, WAIT_SEND};
use loggp_study::analysis::Analysis;
use loggp_study::analysis::accounts::Account;
use loggp_study::loggps::LogGpsCalibration;

use super::platforms::{message_case, with_changes};
use crate::prelude::*;

pub(super) const TABLE_1: Exhibit = Exhibit {
    id: "loggps-table1",
    place: "table 1",
    title: "the protocols of MPICH: packets, and who synchronizes",
    notes: "On Myrinet, where Short goes up to s = 8,191 bytes and Eager up to S = 16,383; the lengths are told to the machine.",
    formulas: &["a send takes T1 = o' + kO_s up to S, and T4 + T5 + T1 above (table 4)"],
    series: |_| {
        let make_series = |(name, k)| {
            [0, 1000].map(|late| {
                CaseSeries::from_case(late_name(name, late), myrinet_message("blocking", k, late))
            })
        };
        PROTOCOLS.into_iter().flat_map(make_series).collect()
    },
    show: |sheet| {
        let send = |name: &str, late| sheet.last_result(&late_name(name, late)).phase_time(SEND, US);
        let waits = PROTOCOLS.map(|(name, _)| {
            let longer = send(name, 1000) - send(name, 0);
            longer.map(|longer| (longer > 0.0) == (name == "Rendezvous"))
        });
        sheet.add_own_check("protocols whose senders wait for a late receiver: Rendezvous alone", waits);
        Ok(())
    },
    ..Exhibit::USUAL
};

/// Protocols, and the length of a message of each in bytes.
const PROTOCOLS: [(&str, usize); 3] = [("Short", 8191), ("Eager", 16_383), ("Rendezvous", 16_384)];

fn late_name(name: &str, late: i64) -> String {
    format!("{name}, receiver {late} us late")
}

pub(super) const FIGURE_1: Exhibit = Exhibit {
    id: "loggps-fig1",
    place: "figure 1",
    title: "who waits for whom, by protocol",
    notes: "On Myrinet: Short with 1,024 bytes, Rendezvous with 20,000. The figure has no numbers.",
    formulas: &["none: the figure shows what happens"],
    series: |_| {
        let nonblocking = |meanwhile: i64| {
            let case = myrinet_message("nonblocking", 20_000, 100).with(&MEANWHILE, (meanwhile * US).into());
            CaseSeries::from_case(format!("(c) Isend, 100 us late, wait after {meanwhile} us"), case).traced()
        };
        vec![
            CaseSeries::from_case("(a) Short, at once", myrinet_message("blocking", 1024, 0)).traced(),
            CaseSeries::from_case("(a) Short, 1 ms late", myrinet_message("blocking", 1024, 1000)).traced(),
            CaseSeries::from_case("(b) Rendezvous, 100 us late", myrinet_message("blocking", 20_000, 100))
                .traced(),
            nonblocking(50),
            nonblocking(300),
        ]
    },
    show: show_figure_1,
    ..Exhibit::USUAL
};

pub(super) const TABLE_2: Exhibit = Exhibit {
    id: "loggps-table2",
    place: "table 2",
    title: "message lengths and protocols of MPI's implementations",
    printed: 12,
    notes: "A machine with each implementation's s and S; costs other than the Cenju-4's and Myrinet's the paper does not have.",
    formulas: &["a send takes T1 = o' + kO_s up to S, and T4 + T5 + T1 above (table 4)"],
    show: show_table_2,
    ..Exhibit::USUAL
};

/// Implementations: name, the last byte of Short and of Eager, and the first of Rendezvous.
const IMPLEMENTATIONS: [(&str, usize, Option<usize>, usize); 5] = [
    ("MPICH P4", 1023, Some(127_999), 128_000),
    ("MPICH Cenju-4", 1028, None, 1029),
    ("MPICH-SCore", 8191, Some(16_383), 16_384),
    ("LAM C2C", 65_536, None, 65_537),
    ("IBM PE", 4095, None, 4096),
];

/// Returns a message of k bytes on Myrinet whose receiver is `late` microseconds late.
fn myrinet_message(algorithm: &str, k: usize, late: i64) -> Case {
    message_case(algorithm, preset_machine("myrinet", 2), k, late * US)
}

fn show_figure_1(sheet: &mut Sheet) -> Result<(), StudyError> {
    let [at_once, late, rendezvous, early, after] =
        [0, 1, 2, 3, 4].map(|n| sheet.results[n].last_result().clone());
    let waits = |result: &CaseResult| {
        result.trace().ran(|trace| Analysis::from_run(trace).total[Account::SenderSync].in_units(US))
    };
    let quote = "P_s should not wait for P_r to call the matching receive routine because P_r copies messages to own buffer (Fig. 1(a))";
    let what = "Short: a send takes so much longer if its receiver is 1 ms late [us]";
    let longer = late.phase_time(SEND, US) - at_once.phase_time(SEND, US);
    sheet.add_claim(what, "2", quote, exactly(0.0), [longer]);
    let quote =
        "the use of blocking send routine (MPI_Send) makes P_s idle inside the send routine during the wait";
    let what = "Rendezvous: a sender waits so long for a receiver that is 100 us late [us]";
    sheet.add_claim(what, "2", quote, above(0.0), [waits(&rendezvous)]);
    let quote = "nonblocking send routine (MPI_Isend) allows P_s to return immediately after sending the REQ";
    let o = preset_machine("myrinet", 2).o.in_units(US);
    let sends = [&early, &after].map(|result| result.phase_time(ISEND, US));
    sheet.add_claim("time of two calls of MPI_Isend, where o' is 6.55 [us]", "2", quote, exactly(o), sends);
    let quote = "if the ACK has not been arrived when P_s calls the matching wait routine (MPI_Wait), P_s becomes idle inside the wait \
                 routine (Fig. 1(c))";
    let what = "MPI_Wait called before the ACK is there: its time less o' [us]";
    sheet.add_claim(what, "2", quote, above(0.0), [early.phase_time(WAIT_SEND, US) - o]);
    let what = "MPI_Wait called when the ACK is there: its time less o' [us]";
    sheet.add_claim(what, "2", quote, exactly(0.0), [after.phase_time(WAIT_SEND, US) - o]);
    for (name, title, result) in [
        ("a", "(a) Short, the receiver 1 ms late", &late),
        ("b", "(b) Rendezvous, blocking, the receiver 100 us late", &rendezvous),
        ("c", "(c) Rendezvous, nonblocking, the receiver 100 us late", &early),
    ] {
        sheet.add_timeline(name, format!("{title}."), title, result);
    }
    Ok(())
}

fn show_table_2(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new("lengths", "Lengths of the protocols, and as round trips show them again")
        .text("implementation")
        .exact("Short to", "bytes")
        .exact("Eager to", "bytes")
        .exact("Rendezvous from", "bytes")
        .exact("s found", "bytes")
        .exact("S found", "bytes");
    let mut right = Vec::new();
    for (name, short, eager, rendezvous) in IMPLEMENTATIONS {
        let machine = if name == "MPICH Cenju-4" { "cenju4" } else { "myrinet" };
        let lengths = format!("s={short},S={}", eager.unwrap_or(short));
        let params = with_changes(preset_machine(machine, 2), &lengths);
        let study = LogGpsCalibration::study(params, Ports::Single, &Emulation::default())?;
        let found = study.recovered.params.gps().expect("it is a machine of LogGPS");
        right.extend([study.ran(|_| found.s == short), study.ran(|_| found.S + 1 == rendezvous)]);
        right.extend(eager.map(|eager| study.ran(|_| eager == found.S)));
        let lengths = [Some(short), eager, Some(rendezvous), Some(found.s), Some(found.S)];
        table.push([name.into()].into_iter().chain(lengths.map(Into::into)).collect());
    }
    let what = "lengths of five implementations [bytes]: told to the machine, and found again by round trips";
    sheet.add_read_back(what, "table 2", right).of_numbers(12);
    sheet.add_table(table);
    Ok(())
}

/// A delay by which every message up to S has arrived.
pub(super) const LATE: Time = Time::from_ps(MS.as_ps());
