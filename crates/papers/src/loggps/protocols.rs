//! Tables 1 and 2 and figure 1: how MPI's implementations send, and who waits for whom.

use loggp::{MS, Params, Ports, Time, US};
use loggp_document::Table;
use loggp_programs::message::{ISEND, MEANWHILE, MESSAGE, RECEIVER_DELAY, SEND, WAIT_SEND};
use loggp_programs::{Case, Emulation};
use loggp_study::Failed;
use loggp_study::analysis::Analysis;
use loggp_study::analysis::accounts::Account;
use loggp_study::loggps::LogGpsCalibration;

use super::platforms::{changed, two_of};
use crate::pictures::timeline::timeline;
use crate::{Exhibit, Series, Sheet, Told, above, exactly};

/// Table 1.
pub const TABLE_1: Exhibit = Exhibit {
    id: "loggps-table1",
    place: "table 1",
    title: "the protocols of MPICH: packets, and who synchronizes",
    says: &[
        "On Myrinet, where Short goes up to s = 8,191 bytes and Eager up to S = 16,383; the lengths are told to the machine.",
    ],
    formulas: &["a send takes T1 = o' + kO_s up to S, and T4 + T5 + T1 above (table 4)"],
    unit: ("us", US),
    series: |_| {
        let of = |(name, k)| {
            [0, 1000].map(|late| Series::one(late_name(name, late), message("blocking", k, late)))
        };
        PROTOCOLS.into_iter().flat_map(of).collect()
    },
    show: |sheet| {
        let send = |name: &str, late| phase(sheet.last(&late_name(name, late)), SEND);
        let waits = PROTOCOLS.map(|(name, _)| send(name, 1000) > send(name, 0));
        let right = waits == [false, false, true];
        sheet.own(
            "Rendezvous alone waits for a receiver that is 1 ms late, as the table has it",
            usize::from(right),
            1,
        );
        Ok(())
    },
};

/// The protocols, and the longest message of each.
const PROTOCOLS: [(&str, usize); 3] = [("Short", 8191), ("Eager", 16_383), ("Rendezvous", 16_384)];

fn late_name(name: &str, late: i64) -> String {
    format!("{name}, receiver {late} us late")
}

/// Figure 1.
pub const FIGURE_1: Exhibit = Exhibit {
    id: "loggps-fig1",
    place: "figure 1",
    title: "who waits for whom, by protocol",
    says: &["On Myrinet: Short with 1,024 bytes, Rendezvous with 20,000. The figure has no numbers."],
    formulas: &["none: the figure shows what happens"],
    unit: ("us", US),
    series: |_| {
        let nonblocking = |meanwhile: i64| {
            let case = message("nonblocking", 20_000, 100).with(&MEANWHILE, (meanwhile * US).into());
            Series::one(format!("(c) Isend, 100 us late, wait after {meanwhile} us"), case).traced()
        };
        vec![
            Series::one("(a) Short, at once", message("blocking", 1024, 0)).traced(),
            Series::one("(a) Short, 1 ms late", message("blocking", 1024, 1000)).traced(),
            Series::one("(b) Rendezvous, 100 us late", message("blocking", 20_000, 100)).traced(),
            nonblocking(50),
            nonblocking(300),
        ]
    },
    show: figure_1,
};

/// Table 2.
pub const TABLE_2: Exhibit = Exhibit {
    id: "loggps-table2",
    place: "table 2",
    title: "message lengths and protocols of MPI's implementations",
    says: &[
        "A machine with each implementation's s and S; costs other than the Cenju-4's and Myrinet's the paper does not have.",
    ],
    formulas: &["a send takes T1 = o' + kO_s up to S, and T4 + T5 + T1 above (table 4)"],
    unit: ("us", US),
    series: |_| Vec::new(),
    show: table_2,
};

/// An implementation: its name, the last byte of Short and of Eager, and the first of Rendezvous.
const IMPLEMENTATIONS: [(&str, usize, Option<usize>, usize); 5] = [
    ("MPICH P4", 1023, Some(127_999), 128_000),
    ("MPICH Cenju-4", 1028, None, 1029),
    ("MPICH-SCore", 8191, Some(16_383), 16_384),
    ("LAM C2C", 65_536, None, 65_537),
    ("IBM PE", 4095, None, 4096),
];

/// A message on Myrinet whose receiver is so many microseconds late.
fn message(algorithm: &str, k: usize, late: i64) -> Case {
    let case = Case { size: k, ..Case::new(&MESSAGE, algorithm, two_of("myrinet")) };
    case.with(&RECEIVER_DELAY, (late * US).into())
}

/// How long a routine takes by the model, in us.
fn phase(told: &Told, name: &str) -> f64 {
    told.phase(name).model.map_or(f64::NAN, |time| time.in_units(US))
}

fn figure_1(sheet: &mut Sheet) -> Result<(), Failed> {
    let [at_once, late, rendezvous, early, after] = [0, 1, 2, 3, 4].map(|n| sheet.all()[n].last().clone());
    let waits = |told: &Told| Analysis::of_run(told.trace()).total[Account::SenderSync].in_units(US);
    let quote = "P_s should not wait for P_r to call the matching receive routine because P_r copies messages to own buffer (Fig. 1(a))";
    let what = "Short: how much longer a send takes whose receiver is 1 ms late [us]";
    sheet.claim(what, "2", quote, exactly(0.0), [phase(&late, SEND) - phase(&at_once, SEND)]);
    let quote =
        "the use of blocking send routine (MPI_Send) makes P_s idle inside the send routine during the wait";
    let what = "Rendezvous: how long a sender waits whose receiver is 100 us late [us]";
    sheet.claim(what, "2", quote, above(0.0), [waits(&rendezvous)]);
    let quote = "nonblocking send routine (MPI_Isend) allows P_s to return immediately after sending the REQ";
    let o = two_of("myrinet").o.in_units(US);
    let sends = [phase(&early, ISEND), phase(&after, ISEND)];
    sheet.claim("how long Isend takes, o' = 6.55 [us]", "2", quote, exactly(o), sends);
    let quote = "if the ACK has not been arrived when P_s calls the matching wait routine (MPI_Wait), P_s becomes idle inside the wait \
                 routine (Fig. 1(c))";
    let what = "how much longer than o' a wait takes that is called before the ACK [us]";
    sheet.claim(what, "2", quote, above(0.0), [phase(&early, WAIT_SEND) - o]);
    let what = "how much longer than o' one takes that is called after it [us]";
    sheet.claim(what, "2", quote, exactly(0.0), [phase(&after, WAIT_SEND) - o]);
    for (name, title, told) in [
        ("a", "(a) Short, the receiver 1 ms late", &late),
        ("b", "(b) Rendezvous, blocking, the receiver 100 us late", &rendezvous),
        ("c", "(c) Rendezvous, nonblocking, the receiver 100 us late", &early),
    ] {
        let svg = timeline(told.trace(), title, ("us", US)).expect("two processors can be drawn");
        sheet.picture(name, format!("{title}."), svg);
    }
    Ok(())
}

fn table_2(sheet: &mut Sheet) -> Result<(), Failed> {
    let mut table = Table::new("lengths", "Lengths of the protocols, and as round trips show them again")
        .text("implementation")
        .exact("Short to", "bytes")
        .exact("Eager to", "bytes")
        .exact("Rendezvous from", "bytes")
        .exact("s found", "bytes")
        .exact("S found", "bytes");
    let mut right = 0;
    for (name, short, eager, rendezvous) in IMPLEMENTATIONS {
        let machine = if name == "MPICH Cenju-4" { "cenju4" } else { "myrinet" };
        let params: Params = changed(two_of(machine), &format!("s={short},S={}", eager.unwrap_or(short)));
        let found = LogGpsCalibration::study(params, Ports::Single, &Emulation::default())?.recovered.params;
        let found = found.gps().expect("it is a machine of LogGPS");
        right += usize::from(found.s == short) + usize::from(found.S + 1 == rendezvous);
        right += usize::from(eager.is_some_and(|eager| eager == found.S));
        table.push(vec![
            name.into(),
            short.into(),
            eager.into(),
            rendezvous.into(),
            found.s.into(),
            found.S.into(),
        ]);
    }
    sheet.read_back("lengths of five implementations, as round trips show them again", "table 2", right, 12);
    sheet.table(table);
    Ok(())
}

/// Late enough for every message up to S to be there.
pub const LATE: Time = Time::from_ps(MS.as_ps());
