//! Figure 6: radix sort with long messages and with short ones.

use loggp::{MS, Time, US};

use super::super::{Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::common::cs2;
use crate::pictures::curves::curves;
use loggp_draw::digits::{rough, thousands};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::radix_sort::RADIX_SORT;
use loggp_study::{Answers, Failed, Prediction};

/// The figure.
pub const FIGURE_6: Exhibit = Exhibit {
    id: "loggp-fig6",
    place: "figure 6",
    title: "radix sort with long and with short messages",
    says: &[
        "Two curves for the two versions on 16 processors of the Meiko CS-2; the text has no number of them.",
        "The short version sends each key to its processor as its place is found. The long one first sorts its keys locally, and \
         sends all keys for a processor at once.",
        "Sending long messages results in much better overall performance (section 1).",
        "To get the right setup is substantial, and more expensive than the transfer itself (section 2.3).",
    ],
    formulas: &[
        "docs/reference/radix-sort.md has each phase; the keys go by LogP's n max(point + 2o, g) + L, or LogGP's 2kG",
    ],
    commands: &[
        "loggp compare radix-sort --machine cs2-splitc -P 16 --size 2048",
        "loggp sweep radix-sort --machine cs2-splitc -P 16 --over size=512..2048:3:log --clock virtual",
    ],
    seconds: Seconds { quick: 17.0, full: 60.0 },
    make,
};

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let keys: Vec<usize> = lab.pick(vec![512, 1024, 2048], vec![1024, 4096, 16_384, 65_536]);
    let params = cs2("cs2-splitc", 16);
    let labels = &["version", "keys per processor"];
    let mut runs = Runs::new("times", "How long the sort takes", labels, ("ms", MS));
    let mut phases =
        Table::new("phases", "The phases over all passes, for the most keys").text("version").text("phase");
    phases = phases.exact("formula", "ms").exact("model", "ms").exact("measured", "ms");
    let (mut lines, mut models) = (Vec::new(), Vec::new());
    let mut last: Option<Answers> = None;
    for (number, algorithm) in ["short", "long"].into_iter().enumerate() {
        let mut points: Vec<(f64, Prediction)> = Vec::new();
        for (step, size) in keys.iter().copied().enumerate() {
            let answers = lab.measured(Case { size, ..Case::new(&RADIX_SORT, algorithm, params) })?;
            runs.push(&[algorithm, &thousands(size)], None, &answers);
            points.push((size as f64, answers.prediction));
            if step + 1 == keys.len() {
                for phase in answers.phases.iter().filter(|phase| !phase.phase.starts_with("pass")) {
                    let ms = |time: Option<Time>| time.map(|time| time.in_units(MS));
                    let Prediction { formula, model, measured } = phase.prediction;
                    phases.push(vec![
                        algorithm.into(),
                        phase.phase.to_string().into(),
                        ms(formula).into(),
                        ms(model).into(),
                        ms(measured.map(|times| times.median)).into(),
                    ]);
                }
                last = Some(answers);
            }
            lab.done((number * keys.len() + step + 1) as f64 / (2 * keys.len()) as f64);
        }
        models.push(points.iter().filter_map(|(_, times)| times.model).collect::<Vec<Time>>());
        let place =
            RADIX_SORT.algorithms.iter().position(|other| other.name == algorithm).unwrap_or_default();
        lines.extend(curves(algorithm, place, &points, |_, time| time.in_units(MS)));
    }
    let ratios: Vec<f64> =
        models[0].iter().zip(&models[1]).map(|(short, long)| short.in_units(*long)).collect();
    let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), r| (l.min(*r), m.max(*r)));
    let checks = [Check::claim(
        "the version with long messages",
        "much better overall performance",
        format!("the other one takes {} to {} times as long", rough(least), rough(most)),
        least > 1.5,
    )];

    // To move a key costs what a key in the local sort does, so what remains of the distribution is the transfer.
    let long = last.expect("both versions were run");
    let sum = |name: &str| {
        let phase = long.phases.iter().find(|phase| phase.phase == name);
        phase.and_then(|phase| phase.prediction.model).unwrap_or_default()
    };
    let sorted = (keys[keys.len() - 1] * RADIX_PASSES) as f64;
    let transfer = (sum("distribution") - sum("local sort")).in_units(US) / sorted;
    let verdict = format!(
        "The version with long messages is faster in every size, {} times with the most keys. What a key costs to count, to sort and \
         to move is a cycle of 1 us each here, as the paper says nothing of it; the transfer of a key takes {} us a pass, so the \
         local sort is more expensive, as the paper has it, wherever a key takes it longer than that.",
        rough(ratios[ratios.len() - 1]),
        rough(transfer)
    );
    let plot = Plot::new("Radix sort on 16 processors of the CS-2", "")
        .x("keys per processor", Scale::Points)
        .y("time [ms]", Scale::Log)
        .lines(lines);
    let caption = "The time to sort, in passes of 8 bits.";
    Ok(Finding::new(verdict)
        .picture("", caption, plot.svg())
        .checks(checks)
        .table(runs.table())
        .table(phases))
}

/// The digits of 8 bits that a key of 32 bits has.
const RADIX_PASSES: usize = 4;
