//! Round trips: table 6, and figures 4 and 5 over the length of the messages.

use loggp::{Params, Time, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::nearness::Nearness;
use super::platforms::{PLATFORMS, Platform, changed, two_of};
use crate::pictures::curves::curves;
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::message::Parts;
use loggp_programs::rtt::{IMBALANCE, RTT};
use loggp_study::{Answers, Failed, Prediction};

/// Table 6.
pub const TABLE_6: Exhibit = Exhibit {
    id: "loggps-table6",
    place: "table 6",
    title: "round trips under LogGPS",
    says: &[
        "Processor 0 sends a message, computes for a time w and receives one; processor 1 receives and sends (figure 3).",
        "Table 6 has the time as a maximum of what is under way and w; it follows from the costs of the routines.",
        "With w of at least T1 + 2T2 + T3 the time does not depend on T2: communication hides behind computing.",
    ],
    formulas: &[
        "k <= S: max(T1 + 2T2 + T3 - w, 0) + w + T1 + T3 (12), with T2' above s (13)",
        "k > S: max(T2' + T3 + o' + L - w, 0) + w + 2T1 + T2' + T3 + 2T4 + 2T5 - (o' + L) (14), where T4 is that of a receiver \
         that waits",
    ],
    commands: &[
        "loggp compare rtt --machine myrinet -P 2 --size 16383 --imbalance 500us --clock virtual",
        "loggp compare rtt --machine myrinet -P 2 --size 20000 --imbalance 500us --clock virtual",
    ],
    seconds: Seconds { quick: 2.0, full: 5.0 },
    make: table_6,
};

/// Figure 4.
pub const FIGURE_4: Exhibit = Exhibit {
    id: "loggps-fig4",
    place: "figure 4",
    title: "round trips over the length of the messages, by LogGPS",
    says: &[
        "With a long w = W the gradient up to S is O_s + O_r, whatever G_s and G_l are, and the curve does not jump at s.",
        "Without w the gradient is 2(O_s + O_r + G_l) between s and S; it seems always positive, and then all costs of routines are.",
        "With w = W the curve jumps at S by a D(w) that depends on S: where processors are not balanced a message longer than S is \
         slower.",
        "On Myrinet, with W = 500 us, an empty round trip takes 28,509.02 ns and 513,099.0 ns with W, and the gradients are 9.430108 \
         ns (w = W, up to S), 49.81455 ns and 17.37150 ns (w = 0, up to s and above) and 15.54669 ns (w = W, above S).",
    ],
    formulas: &["(12) to (14) of table 6"],
    commands: &[
        "loggp sweep rtt --machine myrinet -P 2 --over size=0..24000:49 --imbalance 500us --clock virtual",
        "loggp calibrate --find loggps --machine myrinet --clock virtual -o rtt.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: figure_4,
};

/// Figure 5.
pub const FIGURE_5: Exhibit = Exhibit {
    id: "loggps-fig5",
    place: "figure 5",
    title: "round trips over the length of the messages, measured",
    says: &[
        "The paper measured them on its three platforms. With a long w the gradient is not 0 on any of them, so overheads grow with \
         the length; without w the gap per byte has two values.",
        "(c) Fast Ethernet: with w = 5000 us, up to 16,383 bytes, the bandwidth is 292 Mbit/s, more than the network's 100 Mbit/s: \
         the message has arrived before processor 0 receives it.",
    ],
    formulas: &["(12) to (14) of table 6"],
    commands: &[
        "loggp compare rtt --machine fast-ethernet -P 2 --size 16383 --imbalance 5000us",
        "loggp calibrate --find loggps --machine fast-ethernet -o rtt.svg",
    ],
    seconds: Seconds { quick: 4.0, full: 20.0 },
    make: figure_5,
};

/// A round trip of messages of k bytes.
fn round_trip(params: Params, k: usize, w: Time) -> Case {
    Case { size: k, ..Case::new(&RTT, "blocking", params) }.with(&IMBALANCE, w.into())
}

/// What processor 0 sees of it by the model. The run is longer where processor 1 is done later.
fn trip(answers: &Answers) -> Time {
    answers.phases[0].prediction.model.expect("the model has run")
}

/// What the model says.
fn model(lab: &Lab, params: Params, k: usize, w: Time) -> Result<Time, Failed> {
    Ok(trip(&lab.model(round_trip(params, k, w))?))
}

/// A round trip by the costs of its routines in table 4, call after call.
fn by_routines(parts: &Parts, w: Time) -> Time {
    // Processor 0 sends at 0, and processor 1 receives at 0.
    let (sent, received) = (parts.send(Time::ZERO), parts.recv(Time::ZERO));
    // Processor 1 answers then, and processor 0 asks for that when it has computed.
    let asked = sent + w;
    asked + parts.recv(asked - received)
}

fn table_6(lab: &Lab) -> Result<Finding, Failed> {
    let lengths: [&[usize]; 3] = [&[512, 4000], &[1024, 16_383, 20_000], &[512, 16_383, 20_000]];
    let title = "Round trips, until both processors are done";
    let mut runs = Runs::new("runs", title, &["platform", "equation", "k [bytes]", "w [us]"], ("us", US));
    let (mut nearness, mut same, mut follow, mut all) = (Nearness::default(), 0, 0, 0);
    for (place, (platform, lengths)) in PLATFORMS.iter().zip(lengths).enumerate() {
        let params = platform.params();
        let gps = params.gps().expect("it is a machine of LogGPS");
        for &k in lengths {
            let equation = match () {
                () if k <= gps.s => "(12)",
                () if k <= gps.S => "(13)",
                () => "(14)",
            };
            let parts = Parts::of(&params, k);
            // Half of what hides all that is under way.
            let some = Time::from_ps((parts.T1 + 2 * parts.T2 + parts.T3).as_ps() / 2);
            for w in [Time::ZERO, some, platform.W] {
                let answers = lab.measured(round_trip(params, k, w))?;
                runs.push(
                    &[platform.name, equation, &k.to_string(), &w.in_units(US).to_string()],
                    None,
                    &answers,
                );
                nearness.see(&answers);
                let formula = answers.phases[0].prediction.formula;
                all += 1;
                same += usize::from(formula == Some(trip(&answers)));
                follow += usize::from(formula == Some(by_routines(&parts, w)));
            }
        }
        lab.done((place + 1) as f64 / PLATFORMS.len() as f64);
    }
    let myrinet = two_of("myrinet");
    let slower = changed(myrinet, "L=11.6us,G_s=20ns");
    let (k, w) = (8191, PLATFORMS[1].W);
    let [as_it_is, with_a_slower_network] = [model(lab, myrinet, k, w)?, model(lab, slower, k, w)?];
    let checks = [
        Check::claim(
            "(12) to (14) follow from the costs of the routines in table 4",
            "RTT can be represented as equation (12); (13) and (14) in a similar way",
            format!("{follow} of {all} to the picosecond"),
            follow == all,
        )
        .by(Answer::Formula),
        Check::claim(
            "a round trip takes what table 6 says",
            "equations (12) to (14)",
            format!("{same} of {all} to the picosecond"),
            same == all,
        ),
        Check::claim(
            "behind a long w a round trip does not depend on T2",
            "when w >= T1 + 2T2 + T3, RTT is independent of term T2",
            format!(
                "Myrinet, 8,191 bytes, w = 500 us: {as_it_is}; with L ten times as long and G_s = 20 ns {with_a_slower_network}"
            ),
            as_it_is == with_a_slower_network,
        ),
    ];
    let verdict = format!(
        "{same} of {all} round trips take what table 6 says to the picosecond, and {follow} of {all} of its values follow from table \
         4. In (14) T4 has to be that of a receiver that waits, both times it stands there. {}",
        nearness.sentence()
    );
    Ok(Finding::new(verdict).table(runs.table()).checks(checks))
}

/// By how much a round trip grows from one length to another, a byte, in ns.
fn gradient(lab: &Lab, params: Params, [from, to]: [usize; 2], w: Time) -> Result<f64, Failed> {
    let grown = model(lab, params, to, w)? - model(lab, params, from, w)?;
    Ok(grown.as_ns() / (to - from) as f64)
}

fn figure_4(lab: &Lab) -> Result<Finding, Failed> {
    let mut table =
        Table::new("gradients", "What the curves show: a byte's part of a round trip, and the jump at S")
            .text("platform")
            .exact("w = 0, up to s", "ns")
            .exact("w = 0, above s", "ns")
            .exact("w = W, up to S", "ns")
            .exact("w = W, above S", "ns")
            .exact("D(W)", "us");
    let mut finding = Finding::default();
    let mut checks = Vec::new();
    let (mut unbroken, mut same, mut positive, mut jumps, mut deeper) = (0, 0, 0, 0, 0);
    for (place, platform) in PLATFORMS.iter().enumerate() {
        let Platform { name, W, longest, .. } = *platform;
        let params = platform.params();
        let gps = params.gps().expect("it is a machine of LogGPS");
        let (s, S) = (gps.s, gps.S);
        let free = |ends| gradient(lab, params, ends, Time::ZERO);
        let loaded = |ends| gradient(lab, params, ends, W);
        let shown = [free([0, s])?, free([S + 1, longest])?, loaded([0, S])?, loaded([S + 1, longest])?];
        let D = |S: usize| -> Result<Time, Failed> {
            let params = changed(params, &format!("S={S}"));
            Ok(model(lab, params, S + 1, W)? - model(lab, params, S, W)?)
        };
        let jump = D(S)?;
        let [free_to_s, free_above, loaded_to_S, loaded_above] = shown;
        table.push(vec![
            name.into(),
            free_to_s.into(),
            free_above.into(),
            loaded_to_S.into(),
            loaded_above.into(),
            jump.in_units(US).into(),
        ]);
        // At s nothing but the gradient changes: a byte more is a byte more.
        let step = if s < S { loaded([s, s + 1])? } else { loaded([s - 1, s])? };
        unbroken += usize::from((step - loaded_to_S).abs() < 1e-6);
        let other =
            changed(params, &format!("G_s={}ps,G_l={}ps", gps.G_s.as_ps() + 300, gps.G_l.as_ps() - 300));
        same += usize::from((gradient(lab, other, [0, S], W)? - loaded_to_S).abs() < 1e-6);
        positive += usize::from(free_above > 0.0);
        jumps += usize::from(jump > Time::ZERO);
        deeper += usize::from(D(S + 100)? != jump);
        if name == "Myrinet" {
            checks.extend(on_myrinet(lab, params, W, shown)?);
        }
        let mut points = <[Vec<(f64, Prediction)>; 2]>::default();
        for k in lengths(platform, 24) {
            for (loaded, w) in [(false, Time::ZERO), (true, W)] {
                let answers = lab.model(round_trip(params, k, w))?;
                points[usize::from(loaded)].push((k as f64, answers.phases[0].prediction));
            }
        }
        let caption = format!(
            "{name}: lines are equations (12) to (14), marks are the model. W = {W}. The curves bend at s = {s} and jump at S = {S} bytes."
        );
        let picture = drawn(&format!("Round trips on {name}"), platform, &points);
        finding = finding.picture(platform.machine, caption, picture);
        lab.done((place + 1) as f64 / PLATFORMS.len() as f64);
    }
    let of = |n: usize| format!("{n} of 3 platforms");
    checks.extend([
        Check::claim(
            "with w = W there is no jump at s",
            "when w = W, the graph is continuous at k = s",
            of(unbroken),
            unbroken == 3,
        ),
        Check::claim(
            "with w = W, up to S, gaps per byte do not show",
            "the gradient of the graph is independent of both terms G_s and G_l",
            of(same),
            same == 3,
        ),
        Check::claim(
            "2(O_s + O_r + G_l) is positive",
            "that seems to be always true",
            of(positive),
            positive == 3,
        ),
        Check::claim(
            "a message longer than S is slower where processors are not balanced",
            "the performance of MPI programs become worse when the message length exceeds the value of S",
            of(jumps),
            jumps == 3,
        ),
        Check::claim("by how much depends on S", "D(w) is dependent on term S", of(deeper), deeper == 3),
    ]);
    finding.verdict = "The curves have the gradients, the bend and the jump that the text tells, on all three platforms; Myrinet's \
                       numbers come out as far as table 5 has digits. On the Cenju-4 G_l is so negative that a message of more than \
                       4,333 bytes would be there before its send was called: the model ends there."
        .into();
    Ok(finding.table(table).checks(checks))
}

/// The numbers that section 4.3 has for Myrinet.
fn on_myrinet(lab: &Lab, params: Params, W: Time, shown: [f64; 4]) -> Result<[Check; 6], Failed> {
    let [free_to_s, free_above, loaded_to_S, loaded_above] = shown;
    let [empty, behind_W] = [model(lab, params, 0, Time::ZERO)?.as_ns(), model(lab, params, 0, W)?.as_ns()];
    // Table 5 has times of a byte to a hundredth, and L and o' to 10 ns.
    let check = |what: &str, paper: &str, ours: f64, rounded: f64| {
        Check::within(
            format!("Myrinet: {what} [ns]"),
            paper,
            ours,
            rounded / ours,
            "table 5 rounds its values",
        )
    };
    Ok([
        check("an empty round trip", "28509.02", empty, 30.0),
        check("an empty round trip with W", "513099.0", behind_W, 10.0),
        check("a byte, w = W, up to S", "9.430108", loaded_to_S, 0.01),
        check("a byte, w = 0, up to s", "49.81455", free_to_s, 0.03),
        check("a byte, w = 0, above s", "17.37150", free_above, 0.03),
        check("a byte, w = W, above S", "15.54669", loaded_above, 0.02),
    ])
}

/// Lengths from 0 to a platform's longest, and both sides of its bend and its jump.
fn lengths(platform: &Platform, steps: usize) -> Vec<usize> {
    let gps = platform.params().gps().expect("it is a machine of LogGPS");
    let even = (0..=steps).map(|step| platform.longest * step / steps);
    let mut lengths: Vec<usize> = even.chain([gps.s, gps.S, gps.S + 1]).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// The curves of a platform, without and with the imbalance.
fn drawn(title: &str, platform: &Platform, points: &[Vec<(f64, Prediction)>; 2]) -> String {
    let names = ["w = 0".to_string(), format!("w = {}", platform.W)];
    let lines = points.iter().zip(&names).enumerate();
    let lines = lines.flat_map(|(number, (points, name))| {
        curves(name, number + 1, points, |_, time| time.in_units(US)).collect::<Vec<_>>()
    });
    Plot::new(title, "")
        .x("length of the messages, k [bytes]", Scale::Linear)
        .y("round trip [us]", Scale::Linear)
        .lines(lines)
        .svg()
}

fn figure_5(lab: &Lab) -> Result<Finding, Failed> {
    let title = "Round trips, until both processors are done";
    let mut runs = Runs::new("runs", title, &["platform", "k [bytes]", "w [us]"], ("us", US));
    let mut finding = Finding::default();
    let mut checks = Vec::new();
    let (mut nearness, mut steps) = (Nearness::default(), Vec::new());
    for (place, platform) in PLATFORMS.iter().enumerate() {
        let Platform { name, W, .. } = *platform;
        let params = platform.params();
        let S = params.gps().expect("it is a machine of LogGPS").S;
        let mut points = <[Vec<(f64, Prediction)>; 2]>::default();
        for k in lengths(platform, lab.pick(3, 16)) {
            for (is_loaded, w) in [(false, Time::ZERO), (true, W)] {
                let answers = lab.measured(round_trip(params, k, w))?;
                runs.push(&[name, &k.to_string(), &w.in_units(US).to_string()], None, &answers);
                nearness.see(&answers);
                points[usize::from(is_loaded)].push((k as f64, answers.phases[0].prediction));
                let held = answers.outcome.run.host.as_ref().filter(|host| host.held);
                if let (true, Some(_), Some(times)) =
                    (is_loaded && (k == 0 || k == S), held, answers.prediction.measured)
                {
                    steps.push((name, times.median));
                }
            }
        }
        let caption = format!(
            "{name}: lines are table 6, marks the model, and rings what was measured on this computer."
        );
        finding = finding.picture(
            platform.machine,
            caption,
            drawn(&format!("Round trips on {name}, measured"), platform, &points),
        );
        lab.done((place + 1) as f64 / PLATFORMS.len() as f64);
    }
    // A gradient is known where the host held both ends of it.
    let rises: Vec<bool> = steps
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|ends| ends.len() == 2)
        .map(|ends| ends[1].1 > ends[0].1)
        .collect();
    if rises.len() == PLATFORMS.len() {
        let steep = rises.iter().filter(|rises| **rises).count();
        let ours = format!("{steep} of 3 platforms");
        let paper = "the gradient takes non-zero on all platforms";
        checks.push(
            Check::claim("with a long w the gradient up to S is not 0", paper, ours, steep == 3)
                .by(Answer::Measured),
        );
    }
    let (ethernet, W) = (PLATFORMS[2].params(), PLATFORMS[2].W);
    let S = ethernet.gps().expect("it is a machine of LogGPS").S;
    let a_byte = gradient(lab, ethernet, [0, S], W)?;
    let whole = (model(lab, ethernet, S, W)? - W).as_ns() / S as f64;
    let [by_the_byte, by_the_trip] = [a_byte, whole].map(|ns| 8.0e3 / ns);
    checks.extend([
        Check::within("Fast Ethernet: bandwidth with w = 5000 us [Mbit/s]", "292", by_the_byte, 0.05, "measured on its cluster")
            .because(&format!(
                "the paper does not say how it computes it; by table 5 a byte takes O_s + O_r, which is {by_the_byte:.0} Mbit/s, and a \
                 round trip of 16,383 bytes less w makes {by_the_trip:.0}"
            )),
        Check::claim(
            "Fast Ethernet: the bandwidth behind a long w is above the network's",
            "it exceeds the theory bandwidth of the Fast Ethernet, 100 Mbit/s",
            format!("{by_the_byte:.0} Mbit/s"),
            by_the_byte > 100.0,
        ),
    ]);
    finding.verdict = format!(
        "What was measured are the platforms that this computer emulates from table 5, and not the paper's own, whose times are a \
         picture. {} The one number of the text, 292 Mbit/s, does not follow from table 5; that it is above the network's does.",
        nearness.sentence()
    );
    Ok(finding.table(runs.table()).checks(checks))
}
