//! Figures 1 to 3: one message, two in a row, and what k bytes take as a long message and as short ones.

use loggp::{ActivityKind, Params, Time, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::common::{amount, colour, cs2, cycles, timeline};
use crate::pictures::curves::curves;
use loggp_draw::digits::{exact, rough, thousands};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::{Answers, Failed, Prediction};

/// Figure 1, and the times of section 2.1.
pub const FIGURE_1: Exhibit = Exhibit {
    id: "loggp-fig1",
    place: "figure 1 and section 2.1",
    title: "sending and receiving messages under LogGP",
    says: &[
        "A short message takes o + L + o.",
        "A message of k bytes takes o + (k-1)G + L + o: its last byte goes out at o + (k-1)G, each byte travels for L, and the \
         receiver needs o.",
        "Under LogP the same k bytes are ceil(k/w) messages of w bytes, and take o + (ceil(k/w) - 1) max(g, o) + L + o.",
        "Of two long messages in a row the first byte of the second enters at o + (k1-1)G + g, its last byte leaves (k2-1)G \
         later, and arrives L + o after that: the overhead of sending overlaps with the gap.",
        "Sender and receiver are busy only during their o.",
    ],
    formulas: &[
        "one message of k words: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "two messages in a row: o + (k1-1)G + g + (k2-1)G + L + o (section 2.1)",
    ],
    commands: &[
        "loggp compare scatter long --params L=4,o=1,g=4,G=1,P=3,word=1 --size 10",
        "loggp run scatter long --params L=4,o=1,g=4,G=1,P=3,word=1 --size 10 --clock virtual --timeline two.svg",
        "loggp compare scatter short --params L=4,o=1,g=4,G=1,P=2,word=1 --size 10",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: two_messages,
};

/// Figure 2.
pub const FIGURE_2: Exhibit = Exhibit {
    id: "loggp-fig2",
    place: "figure 2",
    title: "bandwidth on the Meiko CS-2 with Split-C",
    says: &[
        "Two processors; messages of up to 64 KBytes.",
        "The bandwidth of long messages rises fast and peaks at 33 MB/s, which corresponds to G = 0.030 us.",
        "Short messages of 4 bytes yield only 2 MB/s.",
        "The paper does not say whether a message waits for the one before to be received.",
    ],
    formulas: &[
        "k words as one message: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "bandwidth: bytes / time; for long messages 1/G, for short ones a word each g (section 2)",
    ],
    commands: &[
        "loggp compare scatter long short --machine cs2-splitc -P 2 --size 16384",
        "loggp sweep scatter long short --machine cs2-splitc -P 2 --over size=1..16384:8:log",
    ],
    seconds: Seconds { quick: 3.0, full: 8.0 },
    make: bandwidth,
};

/// Figure 3.
pub const FIGURE_3: Exhibit = Exhibit {
    id: "loggp-fig3",
    place: "figure 3",
    title: "the time to send messages of moderate size",
    says: &[
        "Messages of 64 to 4K bytes on the Meiko CS-2 with Split-C.",
        "Ideally the points would form a perfect line of slope G, and what was measured is close to that.",
        "It has steps, which are cache misses of the CS-2.",
    ],
    formulas: &["o + (k-1)G + L + o (section 2.1)"],
    commands: &["loggp sweep scatter long --machine cs2-splitc -P 2 --over size=16..1024:9"],
    seconds: Seconds { quick: 1.0, full: 2.0 },
    make: moderate,
};

/// A scatter with so many items for each.
fn scatter(algorithm: &str, params: Params, items: usize) -> Case {
    Case { size: items, ..Case::new(&SCATTER, algorithm, params) }
}

fn two_messages(lab: &Lab) -> Result<Finding, Failed> {
    const K: usize = 10;
    let Params { L, o, g, .. } = cycles(3, 4, 1, 4);
    let stream = (K as i64 - 1) * US; // (k-1)G
    let mut runs = Runs::new(
        "times",
        "Messages of 10 words on a machine with L = 4, o = 1, g = 4 and G = 1",
        &["what"],
        ("cycles", US),
    );
    let mut checks = Vec::new();
    for (what, algorithm, P, items, says, expected) in [
        ("one message of a word", "long", 2, 1, "o + L + o", o + L + o),
        ("one message of 10 words", "long", 2, K, "o + (k-1)G + L + o", o + stream + L + o),
        ("10 words one by one", "short", 2, K, "o + (k-1) max(g, o) + L + o", o + 9 * g.max(o) + L + o),
        (
            "two messages in a row",
            "long",
            3,
            K,
            "o + (k-1)G + g + (k-1)G + L + o",
            o + stream + g + stream + L + o,
        ),
    ] {
        let answers = lab.measured(scatter(algorithm, cycles(P, 4, 1, 4), items))?;
        runs.push(&[what], None, &answers);
        checks.push(is(what, says, expected, answers.prediction.model.unwrap_or_default()));
    }

    let (_, trace) = lab.traced(scatter("long", cycles(3, 4, 1, 4), K))?;
    let [first, second] = &trace.messages[..] else { unreachable!("there are two receivers") };
    let sending =
        trace.activities.iter().filter(|done| done.id == 0 && matches!(done.what, ActivityKind::Send(_)));
    let busy: Time = sending.map(|done| done.end - done.start).sum();
    checks.extend([
        is("when the last word of the first leaves", "o + (k-1)G", o + stream, first.arrival - L),
        is("when the second enters", "o + (k-1)G + g", o + stream + g, second.enter),
        is(
            "when its last word leaves",
            "o + (k-1)G + g + (k-1)G",
            o + stream + g + stream,
            second.arrival - L,
        ),
        is("how long the sender is busy with two", "2o", 2 * o, busy),
    ]);
    let agree = checks.iter().all(|check| check.agreement != super::super::Agreement::Differs);
    let verdict = format!(
        "The messages of the model {} the times of section 2.1, word by word; the figure has no numbers, and those of the \
         machine are figure 9's.",
        if agree { "have" } else { "do not all have" }
    );
    let caption = "Processor 0 sends 10 words to processor 1 and 10 words to processor 2. The arrow of a message goes from when \
                   its first word enters the network to when its last one is there.";
    let picture = timeline(&trace, "Two long messages in a row: L = 4, o = 1, g = 4, G = 1, k = 10");
    Ok(Finding::new(verdict).picture("", caption, picture).checks(checks).table(runs.table()))
}

/// A time of the model that must be what an expression of the paper comes to.
fn is(what: &str, expression: &str, expected: Time, ours: Time) -> Check {
    let shown = format!("{} and {}", exact(amount(expected)), exact(amount(ours)));
    Check::claim(what, expression, format!("by it and by the model: {shown} cycles"), ours == expected)
}

/// So many bytes as a message, or a word at a time, on the CS-2 with Split-C.
fn sent(lab: &Lab, algorithm: &str, bytes: usize) -> Result<Answers, Failed> {
    let params = cs2("cs2-splitc", 2);
    lab.measured(scatter(algorithm, params, bytes / params.word.get()))
}

/// Bytes in a time, in MB/s.
fn rate(bytes: f64, time: Time) -> f64 {
    bytes / amount(time)
}

fn bandwidth(lab: &Lab) -> Result<Finding, Failed> {
    let powers: Vec<u32> = lab.pick((2..=16).step_by(2).collect(), (2..=16).collect());
    let params = cs2("cs2-splitc", 2);
    let mut runs = Runs::new("times", "How long it takes", &["sent as", "bytes"], ("us", US));
    let mut rates = Table::new("rates", "The bandwidth").text("sent as").exact("bytes", "");
    rates = rates.rough("formula", "MB/s").rough("model", "MB/s").rough("measured", "MB/s");
    let mut lines = Vec::new();
    let mut ends = Vec::new();
    for (algorithm, name) in [("long", "one message"), ("short", "short messages")] {
        let mut points: Vec<(f64, Prediction)> = Vec::new();
        for (number, power) in powers.iter().enumerate() {
            let bytes = 1_usize << power;
            let answers = sent(lab, algorithm, bytes)?;
            runs.push(&[name, &thousands(bytes)], None, &answers);
            let Prediction { formula, model, measured } = answers.prediction;
            let shown = |time: Option<Time>| time.map(|time| rate(bytes as f64, time));
            rates.push(vec![
                name.into(),
                bytes.into(),
                shown(formula).into(),
                shown(model).into(),
                shown(measured.map(|times| times.median)).into(),
            ]);
            points.push((bytes as f64, answers.prediction));
            let half = if algorithm == "long" { 0.0 } else { 0.5 };
            lab.done(half + 0.5 * (number + 1) as f64 / powers.len() as f64);
        }
        let (bytes, last) = points[points.len() - 1];
        ends.push(rate(bytes, last.model.unwrap_or_default()));
        lines.extend(curves(name, colour(algorithm), &points, rate));
    }
    let per_byte = amount(params.stream(2)) / params.word.get() as f64;
    let (word, o, g) = (params.word.get() as f64, amount(params.o), amount(params.g));
    let checks = [
        Check::equal("the bandwidth that G = 0.030 us corresponds to [MB/s]", "33", 1.0 / per_byte).by(Answer::Formula),
        Check::equal("the bandwidth of a message of 64 KBytes [MB/s]", "33", ends[0]),
        Check::equal("the bandwidth of short messages of 4 bytes [MB/s]", "2", ends[1]).because(&format!(
            "4 bytes in each gap of table 1's {} us make {} MB/s, and the paper's own prediction in figure 4 counts with that, \
             kg/4; only 4 bytes in each o of {} us would be more than 2",
            exact(g),
            rough(word / g),
            exact(o)
        )),
    ];
    let verdict = format!(
        "The peak of 33 MB/s is there: {} MB/s for 64 KBytes. The 2 MB/s of short messages are not what table 1 says, with which \
         they make {} MB/s; so a long message is {} times as fast, and not 16.",
        rough(ends[0]),
        rough(ends[1]),
        rough(ends[0] / ends[1])
    );
    let plot = Plot::new("Bandwidth on the CS-2 with Split-C", "")
        .x("bytes", Scale::Log)
        .y("bandwidth [MB/s]", Scale::Linear)
        .lines(lines)
        .level("33: 1/G", 33.0)
        .level("2: short", 2.0);
    let caption = "Bytes sent to another processor over the time that takes, as one message and as messages of 4 bytes. The \
                   levels are the two numbers of the paper's text.";
    Ok(Finding::new(verdict).picture("", caption, plot.svg()).checks(checks).table(rates).table(runs.table()))
}

fn moderate(lab: &Lab) -> Result<Finding, Failed> {
    const BYTES: [usize; 9] = [64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096];
    let mut runs = Runs::new("times", "How long a message takes", &["bytes"], ("us", US));
    let mut points: Vec<(f64, Prediction)> = Vec::new();
    for (number, bytes) in BYTES.into_iter().enumerate() {
        let answers = sent(lab, "long", bytes)?;
        runs.push(&[&thousands(bytes)], None, &answers);
        points.push((bytes as f64, answers.prediction));
        lab.done((number + 1) as f64 / BYTES.len() as f64);
    }
    let slope = |time: &dyn Fn(&Prediction) -> Option<Time>| {
        let ((from, first), (to, last)) = (&points[0], &points[points.len() - 1]);
        Some(amount(time(last)? - time(first)?) / (to - from))
    };
    let model = slope(&|times| times.model).unwrap_or_default();
    let start = amount(points[0].1.model.unwrap_or_default());
    let off = points.iter().filter(|(bytes, times)| {
        let line = start + (bytes - points[0].0) * model;
        (amount(times.model.unwrap_or_default()) - line).abs() > 1e-6
    });
    let off = off.count();
    let checks = [
        Check::equal("the slope of the line, G [us per byte]", "0.03", model),
        Check::claim(
            "the points form a perfect line",
            "ideally they would",
            format!("{} of {} do", points.len() - off, points.len()),
            off == 0,
        ),
    ];
    let mut verdict = format!(
        "The model is the line of slope G that the paper calls ideal, {} us per byte; the steps of the paper's measurement are \
         cache misses of its machine, which are out of reach.",
        rough(model)
    );
    if let Some(measured) = slope(&|times| times.measured.map(|times| times.median)) {
        verdict += &format!(" Measured from end to end the slope is {} us per byte.", rough(measured));
    }
    let plot = Plot::new("A message on the CS-2 with Split-C", "")
        .x("bytes", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(curves("long", colour("long"), &points, |_, time| amount(time)));
    let caption = "The time of a message, from its send to its reception.";
    Ok(Finding::new(verdict).picture("", caption, plot.svg()).checks(checks).table(runs.table()))
}
