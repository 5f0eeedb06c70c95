//! Figure 5: the phases of the FFT with long messages and with short ones.

use loggp::{MS, Params, Time, US};

use super::super::{Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::common::cs2;
use loggp_draw::bars::{Bar, Bars, Layer};
use loggp_draw::digits::{rough, rough_percent, thousands};
use loggp_draw::palette::Series;
use loggp_programs::Case;
use loggp_programs::fft::{self, BUTTERFLY, FFT, LAYOUT, Layout};
use loggp_programs::remap::REMAP;
use loggp_study::{Answers, Failed, Prediction};

/// The figure.
pub const FIGURE_5: Exhibit = Exhibit {
    id: "loggp-fig5",
    place: "figure 5",
    title: "the phases of the FFT with long and with short messages",
    says: &[
        "On 16 processors of the Meiko CS-2 both versions go from a blocked layout to a cyclic one in one communication phase.",
        "Short messages put data where they belong. Long ones must be redistributed locally, which costs five times as much as the \
         communication itself, because of cache misses.",
        "The communication is the all-to-all remap of figure 4, and predicted as accurately.",
        "The long version saves time overall: it finishes the entire computation before the other one begins its last phase.",
        "The text has neither the number of points nor what a butterfly costs on the CS-2.",
    ],
    formulas: &[
        "compute I and III: butterflies (LogP, section 4.1.4)",
        "remap, long: 2kG (section 3), with all terms kept",
        "remap, short: a message each max(g, point + 2o) (LogP, section 4.1.4); (1/4)kg if each has 4 bytes (section 3)",
    ],
    commands: &[
        "loggp compare fft long-staggered --machine cs2-splitc -P 16 --layout blocked --size 65536 --point 4.5us",
        "loggp compare fft short-staggered --machine cs2-splitc -P 16 --layout blocked --size 65536 --point 4.5us",
        "loggp compare remap short-staggered --machine cs2-splitc -P 16 --size 4096",
    ],
    seconds: Seconds { quick: 28.0, full: 120.0 },
    make,
};

const P: usize = 16;
/// The paper's factor from the remap with long messages to the redistribution.
const REDISTRIBUTION: i64 = 5;
/// The phases, in their order.
const PHASES: [&str; 4] = ["compute I", "redistribution", "remap", "compute III"];
/// The bytes of a point.
const POINT: usize = 16;
/// LogP's butterfly on the CM-5 (section 4.1.4), the only one that the papers have.
const COST: Time = Time::from_ps(4_500_000);

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let n: usize = lab.pick(1 << 16, 1 << 20);
    let params = cs2("cs2-splitc", P);
    let case = |algorithm| {
        let case = Case { size: n, ..Case::new(&FFT, algorithm, params) };
        case.with(&LAYOUT, Layout::Blocked).with(&BUTTERFLY, COST)
    };
    // What a point costs, so that the redistribution is as long as the paper says.
    let transfer = phase_by_formula(&case("long-staggered"), "remap")?;
    let point = Time::from_ps((REDISTRIBUTION * transfer).as_ps() / (n / P) as i64);
    let with_point = |algorithm| case(algorithm).with(&fft::POINT, point);

    let long = lab.measured(with_point("long-staggered"))?;
    lab.done(0.3);
    let short = lab.measured(with_point("short-staggered"))?;
    lab.done(0.7);
    let words =
        lab.measured(Case { size: n / (P * P) * POINT, ..Case::new(&REMAP, "short-staggered", params) })?;
    lab.done(1.0);

    let mut phases = Table::new("phases", "The phases").text("version").text("phase");
    phases = phases.exact("formula", "ms").exact("model", "ms").percent("vs formula").exact("measured", "ms");
    let mut row = |version: &str, phase: &str, prediction: &Prediction| {
        let ms = |time: Option<Time>| time.map(|time| time.in_units(MS));
        phases.push(vec![
            version.into(),
            phase.into(),
            ms(prediction.formula).into(),
            ms(prediction.model).into(),
            prediction.error_formula().into(),
            ms(prediction.measured.map(|times| times.median)).into(),
        ]);
    };
    for (version, answers) in [("short", &short), ("long", &long)] {
        answers.phases.iter().for_each(|phase| row(version, &phase.phase, &phase.prediction));
    }
    row("4-byte messages", "remap", &words.prediction);
    let mut runs = Runs::new("times", &format!("The whole, for {n} points"), &["version"], ("ms", MS));
    runs.push(&["short: a message for each point"], None, &short);
    runs.push(&["long"], None, &long);
    runs.push(&["the remap alone, in messages of 4 bytes"], None, &words);

    let total = long.prediction.model.unwrap_or_default();
    let [remap, redistribution] = ["remap", "redistribution"].map(|phase| time(&long, phase));
    let last_begins = time(&short, "compute I") + words.prediction.model.unwrap_or_default();
    let error = long
        .phases
        .iter()
        .find(|phase| phase.phase == "remap")
        .and_then(|phase| phase.prediction.error_formula());
    let ms = |time: Time| rough(time.in_units(MS));
    let checks = [
        Check::claim(
            "the long version's remap and redistribution against the short version's remap",
            "the bulk transfer does save time overall",
            format!("{} and {} ms against {} ms", ms(remap), ms(redistribution), ms(time(&short, "remap"))),
            remap + redistribution < time(&short, "remap"),
        ),
        Check::claim(
            "the end of the long version, and the last phase of the short one, whose messages have 4 bytes as in figure 4",
            "the one comes before the other",
            format!("{} ms and {} ms, with {COST} for a butterfly", ms(total), ms(last_begins)),
            total < last_begins,
        ),
        Check::claim(
            "the communication of the long version",
            "accurately predicted",
            format!("{} from the formula", rough_percent(error.unwrap_or(f64::NAN))),
            error.is_some_and(|error| error.abs() <= 0.2),
        ),
    ];
    let verdict = format!(
        "Where the redistribution takes five times as long as the remap, as the paper measured, the long version {} before the \
         short one begins its last phase if that sends 4 bytes at a time, as in figure 4, and a butterfly takes {COST}, as on \
         the CM-5. Our FFT sends a point of 16 bytes at a time; against that the long version would have to have butterflies of at \
         most {} us. The cost of redistribution is the paper's and not ours: cache misses are out of reach.",
        if total < last_begins { "ends" } else { "does not end" },
        rough(dearest(&params, n, &short, &long))
    );
    let caption = "Each version by formula, model and, where it was measured, measurement. The point of the long version's \
                   redistribution costs what makes that five times as long as its remap.";
    let picture = picture(n, &[("short", &short), ("long", &long)]);
    Ok(Finding::new(verdict).picture("", caption, picture).checks(checks).table(phases).table(runs.table()))
}

/// The phases as bars, one on the other in their order.
fn picture(n: usize, versions: &[(&str, &Answers)]) -> String {
    let layer = |(number, name): (usize, &&str)| Layer { name: (*name).into(), ink: Series::of(number).ink };
    let mut bars = Vec::new();
    for (version, answers) in versions {
        for label in ["formula", "model", "measured"] {
            let of = |prediction: &Prediction| match label {
                "formula" => prediction.formula,
                "model" => prediction.model,
                _ => prediction.measured.map(|times| times.median),
            };
            let time = |name: &&str| {
                let phase = answers.phases.iter().find(|phase| phase.phase == **name);
                phase.and_then(|phase| of(&phase.prediction)).map_or(0.0, |time| time.in_units(MS))
            };
            let heights: Vec<f64> = PHASES.iter().map(time).collect();
            if heights.iter().any(|height| *height > 0.0) {
                bars.push(Bar { label: label.into(), group: (*version).into(), heights });
            }
        }
    }
    Bars {
        title: "Phases of the FFT on 16 processors of the CS-2".into(),
        subtitle: format!("{} points", thousands(n)),
        x: String::new(),
        y: "time [ms]".into(),
        layers: PHASES.iter().enumerate().map(layer).collect(),
        bars,
    }
    .svg()
}

/// What a butterfly may take, in microseconds, for the long version to end before the short one begins its last phase.
fn dearest(params: &Params, n: usize, short: &Answers, long: &Answers) -> f64 {
    let saved = time(short, "remap") - time(long, "remap") - time(long, "redistribution");
    let m = n / params.P; // the last phase is an FFT of m points
    saved.in_units(US) / (m as f64 / 2.0 * f64::from(m.ilog2()))
}

/// What the model says of a phase.
fn time(answers: &Answers, name: &str) -> Time {
    let phase = answers.phases.iter().find(|phase| phase.phase == name);
    phase.and_then(|phase| phase.prediction.model).unwrap_or_default()
}

/// What the formula says of a phase.
fn phase_by_formula(case: &Case, name: &str) -> Result<Time, Failed> {
    let phases = case.plan()?.phases();
    let phase = phases.into_iter().find(|(other, _)| other == name);
    Ok(phase.and_then(|(_, time)| time).unwrap_or_default())
}
