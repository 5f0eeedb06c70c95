//! What a message costs by the model and in MPI's routines: figure 2 and tables 3 and 4.

use loggp::{Params, Time, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::nearness::Nearness;
use super::platforms::{PLATFORMS, two_of};
use crate::pictures::timeline::timeline;
use loggp_programs::Case;
use loggp_programs::message::{
    IRECV, ISEND, MEANWHILE, MESSAGE, Parts, RECEIVER_DELAY, RECV, SEND, WAIT_RECV, WAIT_SEND,
};
use loggp_study::{Answers, Failed};

/// Figure 2.
pub const FIGURE_2: Exhibit = Exhibit {
    id: "loggps-fig2",
    place: "figure 2",
    title: "three messages under LogGPS, with s = 2 and S = 4",
    says: &[
        "Three messages are sent on a machine with s = 2 and S = 4: send1 and send2 are not longer than S and are sent without \
         the receiver, send3 is longer and waits for it.",
        "Time T1 is the sender's overhead, T2 or T2' goes from then until the last byte is there, and T3 is the receiver's \
         overhead; above S, T4 and T5 for request and reply go before that.",
        "The text gives no other parameters: those here are ours.",
    ],
    formulas: &["T1 + T2 + T3, T1 + T2' + T3, and T4 + T5 + T1 + T2' + T3 (table 3)"],
    commands: &[
        "loggp run message -P 2 --params L=5,o=2,O_s=1,O_r=1,G_s=2,G_l=1,s=2,S=4,word=1 --size 2 --timeline send1.svg",
        "loggp run message -P 2 --params L=5,o=2,O_s=1,O_r=1,G_s=2,G_l=1,s=2,S=4,word=1 --size 4 --timeline send2.svg",
        "loggp run message -P 2 --params L=5,o=2,O_s=1,O_r=1,G_s=2,G_l=1,s=2,S=4,word=1 --size 6 --receiver-delay 20 --timeline send3.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: figure_2,
};

/// Table 3.
pub const TABLE_3: Exhibit = Exhibit {
    id: "loggps-table3",
    place: "table 3",
    title: "what a message costs under LogGPS",
    says: &[
        "A message of k bytes costs T1 + T2 + T3 up to s, T1 + T2' + T3 up to S, and T4 + T5 before that above S.",
        "Above S the cost has the larger of t_r - t_s and o' + L in it: so the model has the wait for the receiver.",
        "Section 4.5: a message of S = 16,383 bytes on Myrinet costs 288 us.",
    ],
    formulas: &[
        "T1 = o' + kO_s, T2 = kG_s + L, T2' = sG_s + (k-s)G_l + L, T3 = o' + kO_r",
        "T4 = max(o' + L, t_r - t_s) + o', T5 = o' + L + o'",
        "(1) T1 + T2 + T3; (2) T1 + T2' + T3; (3) T4 + T5 + T1 + T2' + T3",
    ],
    commands: &[
        "loggp compare message --machine myrinet -P 2 --size 16383 --clock virtual",
        "loggp compare message --machine myrinet -P 2 --size 20000 --receiver-delay 1ms --clock virtual",
    ],
    seconds: Seconds { quick: 1.0, full: 4.0 },
    make: table_3,
};

/// Table 4.
pub const TABLE_4: Exhibit = Exhibit {
    id: "loggps-table4",
    place: "table 4",
    title: "what MPI's routines cost under LogGPS",
    says: &[
        "A blocking send takes T1, and T4 + T5 + T1 above S; a blocking receive takes T3 and what is left of the message's way \
         when it is called, and above S the rest of the request's way, the reply and the message.",
        "A nonblocking call takes o', and the wait for it what is left of the blocking one, but o' at least.",
        "Section 4.6: on Myrinet MPI_Recv takes 6.55 us for a message of one byte.",
    ],
    formulas: &[
        "MPI_Send: (4) T1 up to S, (5) T4 + T5 + T1 above; MPI_Isend, MPI_Irecv: (6), (10) o'",
        "MPI_Recv: (7) max(T1 + T2 - (t_r - t_s), 0) + T3 up to s, (8) the same with T2' up to S, \
         (9) max(o' + L - (t_r - t_s), 0) + o' + T5 + T1 + T2' + T3 above",
        "MPI_Wait: (11) max(T_blk - (t_w - t_i), o')",
    ],
    commands: &[
        "loggp run message --machine myrinet -P 2 --size 1 --receiver-delay 1ms",
        "loggp run message nonblocking --machine myrinet -P 2 --size 20000 --receiver-delay 100us --meanwhile 50us",
    ],
    seconds: Seconds { quick: 1.0, full: 5.0 },
    make: table_4,
};

/// A message: its length and how long its receiver is late.
fn message(algorithm: &str, params: Params, k: usize, late: Time) -> Case {
    let case = Case { size: k, ..Case::new(&MESSAGE, algorithm, params) };
    case.with(&RECEIVER_DELAY, late.into())
}

/// What a routine took by the model, if it was called.
fn routine(answers: &Answers, name: &str) -> Option<Time> {
    answers.phases.iter().find(|phase| phase.phase == name)?.prediction.model
}

/// By which equation of table 3 a message of k bytes costs what it costs.
fn equation(params: &Params, k: usize) -> &'static str {
    match params.gps() {
        Some(gps) if k <= gps.s => "(1)",
        Some(gps) if k <= gps.S => "(2)",
        _ => "(3)",
    }
}

fn figure_2(lab: &Lab) -> Result<Finding, Failed> {
    const MACHINE: &str = "L=5us,o=2us,O_s=1us,O_r=1us,G_s=2us,G_l=1us,s=2,S=4,word=1";
    let machine = Params::builder(2).set(MACHINE).and_then(loggp::ParamsBuilder::build);
    let params = machine.map_err(|why| Failed::Refused(why.to_string().into()))?;
    let sends = [("send1", 2, Time::ZERO), ("send2", 4, Time::ZERO), ("send3", 6, 20 * US)];
    let mut runs =
        Runs::new("runs", "The three messages", &["message", "bytes", "receiver late [us]"], ("us", US));
    let mut parts = Table::new("parts", "Their parts by table 3")
        .text("message")
        .exact("T4", "us")
        .exact("T5", "us")
        .exact("T1", "us")
        .exact("T2 or T2'", "us")
        .exact("T3", "us")
        .exact("cost", "us");
    let mut finding = Finding::default();
    let (mut nearness, mut same) = (Nearness::default(), 0);
    for (name, k, late) in sends {
        let case = message("blocking", params, k, late);
        let (model, trace) = lab.traced(case.clone())?;
        let answers = lab.measured(case)?;
        runs.push(&[name, &k.to_string(), &late.in_units(US).to_string()], None, &answers);
        nearness.see(&answers);
        let part = Parts::of(&params, k);
        let agreed = |time: Time| part.is_synchronous.then(|| time.in_units(US));
        let us = |time: Time| time.in_units(US);
        parts.push(vec![
            name.into(),
            agreed(part.T4(late)).into(),
            agreed(part.T5()).into(),
            us(part.T1).into(),
            us(part.T2).into(),
            us(part.T3).into(),
            us(part.communication(late)).into(),
        ]);
        same += usize::from(model.prediction.model == Some(part.communication(late)));
        let title = format!("{name}: {k} bytes, equation {}", equation(&params, k));
        let svg = timeline(&trace, &title, ("us", US)).expect("two processors can be drawn");
        let caption = match part.is_synchronous {
            true => "It is longer than S: a request goes first, and the message only after the reply.",
            false => "It is no longer than S, and goes at once.",
        };
        finding = finding.picture(name, caption, svg);
    }
    finding.verdict = format!(
        "The three messages take what equations (1), (2) and (3) say, part by part. The parameters beside s and S are ours. {}",
        nearness.sentence()
    );
    let check = Check::claim(
        "the three costs are the sums of the parts in the figure",
        "summing up T1, T2 (or T2') and T3, and in addition T4 and T5",
        format!("{same} of 3 to the picosecond"),
        same == 3,
    );
    Ok(finding.table(parts).table(runs.table()).checks([check]))
}

fn table_3(lab: &Lab) -> Result<Finding, Failed> {
    let lengths: [&[usize]; 3] = [&[512, 1028, 4000], &[8191, 16_383, 16_384], &[1023, 16_383, 16_384]];
    let mut costs =
        Table::new("costs", "What a message costs, from the call of its send until its receiver has it")
            .text("platform")
            .exact("k", "bytes")
            .exact("t_r - t_s", "us")
            .text("equation")
            .exact("formula", "us")
            .exact("model", "us");
    let title = "The same messages, until sender and receiver are done";
    let mut runs = Runs::new("runs", title, &["platform", "k [bytes]", "t_r - t_s [us]"], ("us", US));
    let (mut nearness, mut cases, mut same) = (Nearness::default(), 0, 0);
    for (place, (platform, lengths)) in PLATFORMS.iter().zip(lengths).enumerate() {
        let params = platform.params();
        for &k in lengths {
            let parts = Parts::of(&params, k);
            // Who calls later than its message is there makes it wait in a buffer, of which table 3 does not speak.
            let lates: &[Time] = if parts.is_synchronous {
                &[Time::ZERO, Time::from_ps(1000 * US.as_ps())]
            } else {
                &[Time::ZERO]
            };
            for &late in lates {
                let answers = lab.measured(message("blocking", params, k, late))?;
                let model = late + routine(&answers, RECV).expect("it is a blocking receive");
                let formula = parts.communication(late);
                costs.push(vec![
                    platform.name.into(),
                    k.into(),
                    late.in_units(US).into(),
                    equation(&params, k).into(),
                    formula.in_units(US).into(),
                    model.in_units(US).into(),
                ]);
                runs.push(&[platform.name, &k.to_string(), &late.in_units(US).to_string()], None, &answers);
                nearness.see(&answers);
                cases += 1;
                same += usize::from(model == formula);
            }
        }
        lab.done((place + 1) as f64 / PLATFORMS.len() as f64);
    }
    let params = two_of("myrinet");
    let longest = Parts::of(&params, 16_383).communication(Time::ZERO);
    let without_L = (longest - params.L).in_units(US);
    let checks = [
        Check::equal("Myrinet: a message of S = 16,383 bytes [us]", "288", longest.in_units(US))
            .by(Answer::Formula)
            .because(&format!(
                "equation (2) with table 5's values makes {:.1} us; without the latency it is {without_L:.1} us, so L seems to be \
                 left out",
                longest.in_units(US)
            )),
        Check::claim(
            "a message costs what equations (1) to (3) say",
            "we define the communication cost as equations (1) to (3)",
            format!("{same} of {cases} to the picosecond"),
            same == cases,
        ),
    ];
    let verdict = format!(
        "The machine takes what equations (1) to (3) say in {same} of {cases} cases. The one number that the text computes with \
         them, 288 us, is {:.1} us by the paper's own parameters. {}",
        longest.in_units(US),
        nearness.sentence()
    );
    Ok(Finding::new(verdict).table(costs).table(runs.table()).checks(checks))
}

/// A case of table 4: by blocking calls or not, how long the message is, how late its receiver, and how long both compute
/// before they wait.
const CASES: [(&str, usize, i64, i64); 10] = [
    ("blocking", 1, 1000, 0),
    ("blocking", 1024, 0, 0),
    ("blocking", 16_383, 100, 0),
    ("blocking", 20_000, 0, 0),
    ("blocking", 20_000, 1000, 0),
    ("nonblocking", 1024, 0, 0),
    ("nonblocking", 1024, 0, 500),
    ("nonblocking", 16_383, 100, 50),
    ("nonblocking", 20_000, 100, 50),
    ("nonblocking", 20_000, 0, 1000),
];

fn table_4(lab: &Lab) -> Result<Finding, Failed> {
    let mut table = Table::new("routines", "What each routine takes on Myrinet")
        .text("routine")
        .text("equation")
        .exact("k", "bytes")
        .exact("t_r - t_s", "us")
        .exact("computed before the wait", "us")
        .exact("formula", "us")
        .exact("model", "us")
        .exact("on the wall clock", "us");
    let title = "The runs in which they were called";
    let labels = ["calls", "k [bytes]", "t_r - t_s [us]", "before the wait [us]"];
    let mut runs = Runs::new("runs", title, &labels, ("us", US));
    let params = two_of("myrinet");
    let (mut nearness, mut called, mut same, mut one_byte) = (Nearness::default(), 0, 0, Time::ZERO);
    let (mut waits, mut as_printed) = (0, 0);
    for (number, (algorithm, k, late, meanwhile)) in CASES.into_iter().enumerate() {
        let case = message(algorithm, params, k, late * US).with(&MEANWHILE, (meanwhile * US).into());
        let answers = lab.measured(case)?;
        runs.push(&[algorithm, &k.to_string(), &late.to_string(), &meanwhile.to_string()], None, &answers);
        nearness.see(&answers);
        for phase in &answers.phases {
            let time = |time: Option<Time>| time.map(|time| time.in_units(US));
            let (formula, model) = (phase.prediction.formula, phase.prediction.model);
            table.push(vec![
                name_in_mpi(&phase.phase).into(),
                number_of(&phase.phase, &params, k).into(),
                k.into(),
                (late as f64).into(),
                (algorithm == "nonblocking").then_some(meanwhile as f64).into(),
                time(formula).into(),
                time(model).into(),
                time(phase.prediction.measured.map(|times| times.median)).into(),
            ]);
            called += 1;
            same += usize::from(formula == model);
        }
        if (k, late) == (1, 1000) {
            one_byte = routine(&answers, RECV).expect("it is a blocking receive");
        }
        // In print what has passed is t_i - t_w, as if it were still to pass.
        let parts = Parts::of(&params, k);
        for (name, blocking) in [(WAIT_SEND, parts.send(late * US)), (WAIT_RECV, parts.recv(late * US))] {
            if let Some(wait) = routine(&answers, name) {
                waits += 1;
                as_printed += usize::from(wait == parts.wait(blocking, -(params.o + meanwhile * US)));
            }
        }
        lab.done((number + 1) as f64 / CASES.len() as f64);
    }
    let checks = [
        Check::equal("MPI_Recv of a message of one byte that is there [us]", "6.55", one_byte.in_units(US)),
        Check::claim(
            "a routine takes what equations (4) to (11) say",
            "table 4 shows some major MPI routine costs",
            format!("{same} of {called} to the picosecond"),
            same == called,
        ),
        Check::claim(
            "a wait takes what equation (11) says as it is printed",
            "max{T_blk - (t_i - t_w), o'}",
            format!("{as_printed} of {waits}"),
            as_printed == waits,
        )
        .because(
            "t_i, the call, is before t_w, the wait, so what is printed makes a wait the longer the later it is called; the text \
             takes off what has passed already, t_w - t_i, and so does the machine",
        ),
    ];
    let verdict = format!(
        "{same} of {called} routines take what table 4 says to the picosecond, with t_w - t_i in (11), where the signs are exchanged \
         in print. {}",
        nearness.sentence()
    );
    Ok(Finding::new(verdict).table(table).table(runs.table()).checks(checks))
}

/// What MPI calls a routine.
fn name_in_mpi(phase: &str) -> &'static str {
    match phase {
        SEND => "MPI_Send",
        RECV => "MPI_Recv",
        ISEND => "MPI_Isend",
        IRECV => "MPI_Irecv",
        WAIT_SEND => "MPI_Wait of the sender",
        _ => "MPI_Wait of the receiver",
    }
}

/// The equation of table 4 that a routine takes its time from.
fn number_of(phase: &str, params: &Params, k: usize) -> &'static str {
    match (phase, equation(params, k)) {
        (SEND, "(3)") => "(5)",
        (SEND, _) => "(4)",
        (RECV, "(1)") => "(7)",
        (RECV, "(2)") => "(8)",
        (RECV, _) => "(9)",
        (ISEND, _) => "(6)",
        (IRECV, _) => "(10)",
        _ => "(11)",
    }
}
