//! Figure 4: the all-to-all remap with long messages and with short ones.

use loggp::{MS, Params, Ports, Time};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds};
use super::common::cs2;
use crate::pictures::curves::curves;
use loggp_draw::digits::{rough, rough_percent, thousands};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::remap::REMAP;
use loggp_study::{Failed, Prediction};

/// The figure.
pub const FIGURE_4: Exhibit = Exhibit {
    id: "loggp-fig4",
    place: "figure 4",
    title: "all-to-all remap with long and with short messages",
    says: &[
        "On 16 processors of the Meiko CS-2 with Split-C each sends 2K to 512K bytes to each other, staggered. k is the array of a \
         processor: 16 times what it sends to one.",
        "Long messages are expected to take roughly 2kG, and twice kG since a processor cannot send and receive at once.",
        "Short messages of 4 bytes are expected to take roughly (1/4)kg, without that factor, since o is much less than g.",
        "The version with short messages is very accurately predicted. That with long ones runs within 20% of the expected time \
         for large data, probably as the network is contended for, so that G rises.",
        "Long messages improve the remap by almost two orders of magnitude.",
    ],
    formulas: &[
        "long: 2kG (section 3); here with all terms, 2o + 2(P-1)(b-1)G at least, for blocks of b words",
        "short: (1/4)kg (section 3); here with all terms, 2o + (m-1) max(g, 2o) + L for m messages",
    ],
    commands: &[
        "loggp compare remap long-staggered --machine cs2-splitc -P 16 --size 524288",
        "loggp compare remap long-staggered --machine cs2-splitc -P 16 --size 524288 --ports dual --clock virtual",
        "loggp compare remap short-staggered --machine cs2-splitc -P 16 --size 4096",
    ],
    seconds: Seconds { quick: 28.0, full: 400.0 },
    make,
};

const P: usize = 16;
/// A version: its name here, the paper's word for it, and what the paper expects it to take for arrays of so many bytes.
type Version = (&'static str, &'static str, fn(&Params, i64) -> Time);
const VERSIONS: [Version; 2] = [
    ("long-staggered", "long", |params, k| 2 * k / word(params) * params.G().unwrap_or_default()),
    ("short-staggered", "short", |params, k| k / word(params) * params.g),
];

/// The bytes of a short message, the paper's 4.
fn word(params: &Params) -> i64 {
    params.word.get() as i64
}

fn case(algorithm: &str, params: &Params, size: usize) -> Case {
    Case { size, ..Case::new(&REMAP, algorithm, *params) }
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let params = cs2("cs2-splitc", P);
    let blocks: Vec<usize> = (11..=19).map(|power| 1 << power).collect();
    // Of short messages so many bytes are a run of a minute.
    let most = [lab.pick(1 << 15, 1 << 19), lab.pick(1 << 12, 1 << 19)];
    let labels = &["version", "bytes from each to each"];
    let mut runs = Runs::new("times", "How long the remap takes; paper: 2kG and (1/4)kg", labels, ("ms", MS));
    let (mut lines, mut all): (Vec<Line>, Vec<Vec<(f64, Prediction)>>) = (Vec::new(), Vec::new());
    for (number, (algorithm, name, expected)) in VERSIONS.into_iter().enumerate() {
        let mut points: Vec<(f64, Prediction)> = Vec::new();
        let mut paper: Vec<(f64, f64)> = Vec::new();
        for (step, size) in blocks.iter().copied().enumerate() {
            let case = case(algorithm, &params, size);
            let expected = expected(&params, (P * size) as i64).in_units(MS);
            paper.push((size as f64, expected));
            if size <= most[number] {
                let answers = lab.measured(case)?;
                runs.push(&[name, &thousands(size)], Some(expected), &answers);
                points.push((size as f64, answers.prediction));
            } else {
                let formula = case.plan()?.formula();
                points.push((size as f64, Prediction { formula, model: None, measured: None }));
            }
            lab.done((number * blocks.len() + step + 1) as f64 / (2 * blocks.len()) as f64);
        }
        let place = REMAP.algorithms.iter().position(|other| other.name == algorithm).unwrap_or_default();
        lines.extend(curves(name, place, &points, |_, time| time.in_units(MS)));
        let label = format!("{name}, {}", ["2kG", "kg/4"][number]);
        lines.push(Line::new(label, place, Look::Both, paper));
        all.push(points);
    }
    let checks = checks(lab, &params, &all)?;

    let ratio = improvement(&all);
    let verdict = format!(
        "Short messages take what the formula says; the paper's (1/4)kg is a sixteenth more, since it counts a processor's own \
         part of the array. Long messages take 2kG within the paper's 20%, and are {} times as fast with 512 KBytes, which is g/8G. \
         Contention, by which the paper explains its own 20%, is not in LogGP.",
        rough(ratio)
    );
    let plot = Plot::new("All-to-all remap on 16 processors of the CS-2", "")
        .x("bytes from each processor to each other", Scale::Log)
        .y("time [ms]", Scale::Log)
        .lines(lines);
    let caption = "Lines with marks are the paper's expectations, 2kG and (1/4)kg; the others are our formula, model and \
                   measurement.";
    Ok(Finding::new(verdict).picture("", caption, plot.svg()).checks(checks).table(runs.table()))
}

/// How many times as long short messages take as long ones, for the most bytes.
fn improvement(all: &[Vec<(f64, Prediction)>]) -> f64 {
    let last =
        |points: &[(f64, Prediction)]| points.last().and_then(|(_, times)| times.formula).unwrap_or_default();
    last(&all[1]).in_units(last(&all[0]))
}

fn checks(lab: &Lab, params: &Params, all: &[Vec<(f64, Prediction)>]) -> Result<Vec<Check>, Failed> {
    // The largest that was run.
    let run = |number: usize| {
        let point = |(size, times): &(f64, Prediction)| Some((*size, times.model?, times.formula?));
        all[number].iter().rev().find_map(point).expect("some sizes are run")
    };
    let expected = |number: usize, size: f64| VERSIONS[number].2(params, P as i64 * size as i64);
    let part = |time: Time, of: Time| time.in_units(of) - 1.0;

    let (long_size, long, _) = run(0);
    let off = part(long, expected(0, long_size));
    let large = format!("{} from 2kG for {} bytes", rough_percent(off), thousands(long_size));
    let (short_size, short, formula) = run(1);
    let (exactly, roughly) = (part(short, formula), part(short, expected(1, short_size)));
    let dual =
        lab.model(Case { ports: Ports::Dual, ..case("long-staggered", params, long_size as usize) })?;
    let dual = dual.prediction.model.unwrap_or_default().in_units(long);
    let ratio = improvement(all);
    Ok(vec![
        Check::claim("long messages, large data", "within 20% of 2kG", large, off.abs() <= 0.2),
        Check::claim(
            "short messages",
            "very accurately predicted",
            format!("{} from the formula, {} from (1/4)kg", rough_percent(exactly), rough_percent(roughly)),
            exactly.abs() < 0.01,
        ),
        Check::claim(
            "the factor of 2 of long messages",
            "a processor cannot send and receive at once",
            format!("{} of the time where it can", rough(dual)),
            dual < 0.6,
        ),
        Check::claim(
            "short messages have no such factor",
            "a message sent and one received each g, as o is much less",
            format!("{} from kg/4, which one each g would be", rough_percent(roughly)),
            roughly.abs() < 0.1,
        ),
        Check::claim(
            "long messages against short ones",
            "almost two orders of magnitude faster",
            format!("{} times", rough(ratio)),
            (31.6..100.0).contains(&ratio),
        )
        .by(Answer::Formula),
    ])
}
