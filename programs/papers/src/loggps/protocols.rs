//! Table 2: up to which length MPI's implementations send a message without its receiver.

use loggp::{MS, Ports, Time, US};

use super::super::{Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::nearness::Nearness;
use super::platforms::{changed, two_of};
use loggp_programs::message::{MESSAGE, RECEIVER_DELAY, SEND};
use loggp_programs::{Case, Emulation};
use loggp_study::loggps::LogGpsCalibration;
use loggp_study::{Answers, Failed};

/// Table 2.
pub const TABLE_2: Exhibit = Exhibit {
    id: "loggps-table2",
    place: "table 2",
    title: "message lengths and protocols of MPI's implementations",
    says: &[
        "An implementation sends short messages without their receivers, by the protocols Short (one packet) and Eager \
         (several), and long ones by Rendezvous, which waits for the receiver.",
        "Short goes up to 1,023 bytes in MPICH P4, 1,028 in MPICH Cenju-4, 8,191 in MPICH-SCore, 65,536 in LAM C2C and 4,095 \
         in IBM PE.",
        "Eager goes up to 127,999 bytes in P4 and 16,383 in SCore; the others have none. Rendezvous begins a byte later.",
        "SCore's lengths are those on Myrinet; it and IBM PE can be told another one when a program starts.",
    ],
    formulas: &["a send takes T1 = o' + kO_s up to S, and T4 + T5 + T1 above (table 4)"],
    commands: &[
        "loggp run message --machine myrinet -P 2 --size 16383 --receiver-delay 2ms",
        "loggp run message --machine myrinet -P 2 --size 16384 --receiver-delay 2ms",
        "loggp calibrate --find loggps --machine myrinet --params s=1023,S=127999 --clock virtual",
    ],
    seconds: Seconds { quick: 2.0, full: 3.0 },
    make,
};

/// An implementation: its name, the last byte of Short and of Eager, and the first of Rendezvous.
const IMPLEMENTATIONS: [(&str, &str, Option<&str>, &str); 5] = [
    ("MPICH P4", "1023", Some("127999"), "128000"),
    ("MPICH Cenju-4", "1028", None, "1029"),
    ("MPICH-SCore", "8191", Some("16383"), "16384"),
    ("LAM C2C", "65536", None, "65537"),
    ("IBM PE", "4095", None, "4096"),
];
/// How long after the send the receive is called: longer than any of these messages takes.
const LATE: Time = Time::from_ps(2 * MS.as_ps());

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let mut lengths = Table::new(
        "lengths",
        "Lengths of the protocols, and what a send takes whose receiver comes 2 ms later",
    )
    .text("implementation")
    .exact("Short to", "bytes")
    .exact("Eager to", "bytes")
    .exact("Rendezvous from", "bytes")
    .exact("s found", "bytes")
    .exact("S found", "bytes")
    .exact("send of S bytes", "us")
    .exact("of S + 1 bytes", "us");
    let title = "The same sends and their receives, until both are over";
    let mut runs = Runs::new("runs", title, &["implementation", "bytes", "protocol"], ("us", US));
    let (mut checks, mut nearness, mut waits) = (Vec::new(), Nearness::default(), Vec::new());
    for (number, (name, short, eager, rendezvous)) in IMPLEMENTATIONS.into_iter().enumerate() {
        let read = |text: &str| text.parse::<usize>().expect("the table has numbers");
        let (s, S) = (read(short), read(eager.unwrap_or(short)));
        // Costs other than the Cenju-4's and Myrinet's the paper does not have.
        let machine = if name == "MPICH Cenju-4" { "cenju4" } else { "myrinet" };
        let params = changed(two_of(machine), &format!("s={s},S={S}"));
        let found = LogGpsCalibration::study(params, Ports::Single, &Emulation::default())?.recovered.params;
        let found = found.gps().expect("it is a machine of LogGPS");
        let last = if eager.is_some() { "Eager" } else { "Short" };
        let mut sends = Vec::new();
        for (k, protocol) in [(S, last), (S + 1, "Rendezvous")] {
            let case = Case { size: k, ..Case::new(&MESSAGE, "blocking", params) };
            let answers = lab.measured(case.with(&RECEIVER_DELAY, LATE.into()))?;
            runs.push(&[name, &k.to_string(), protocol], None, &answers);
            nearness.see(&answers);
            sends.push(send(&answers));
        }
        waits.push(sends[0] < LATE && sends[1] > LATE);
        lengths.push(vec![
            name.into(),
            s.into(),
            eager.map(read).into(),
            read(rendezvous).into(),
            found.s.into(),
            found.S.into(),
            sends[0].in_units(US).into(),
            sends[1].in_units(US).into(),
        ]);
        checks.push(Check::equal(format!("{name}: the last byte of Short"), short, found.s as f64));
        checks.extend(
            eager.map(|eager| Check::equal(format!("{name}: the last byte of Eager"), eager, found.S as f64)),
        );
        let first = (found.S + 1) as f64;
        checks.push(Check::equal(format!("{name}: the first byte of Rendezvous"), rendezvous, first));
        lab.done((number + 1) as f64 / IMPLEMENTATIONS.len() as f64);
    }
    let of = waits.iter().filter(|waits| **waits).count();
    checks.push(Check::claim(
        "up to S a send does not wait for its receiver, and a byte longer it does",
        "each employs asynchronous protocols for short messages and synchronous ones for long",
        format!("{of} of {}", waits.len()),
        of == waits.len(),
    ));
    let verdict = format!(
        "Round trips on a machine with each implementation's lengths show these lengths again, where a curve bends and where it \
         jumps. What the implementations themselves do cannot be asked here: the lengths are the paper's. {}",
        nearness.sentence()
    );
    Ok(Finding::new(verdict).table(lengths).table(runs.table()).checks(checks))
}

/// What the send took, by the model.
fn send(answers: &Answers) -> Time {
    let phase = answers.phases.iter().find(|phase| phase.phase == SEND).expect("it is a blocking send");
    phase.prediction.model.expect("the model has run")
}
