//! Figure 5: the phases of the FFT with long messages and with short ones.

use loggp_draw::bars::{Bar, Bars};
use loggp_draw::digits::thousands;
use loggp_draw::palette::{ActivityStyle, SeriesStyle};
use loggp_programs::fft::{self, BUTTERFLY, FFT, LAYOUT, Layout};
use loggp_programs::remap::REMAP;
use loggp_study::Prediction;

use crate::prelude::*;

pub const FIGURE_5: Exhibit = Exhibit {
    id: "loggp-fig5",
    place: "figure 5",
    title: "the phases of the FFT with long and with short messages",
    printed: 0,
    left_out: "",
    notes: "On 16 processors of the Meiko CS-2 both versions go from a blocked layout to a cyclic one. The text has neither the number of \
            points nor what a butterfly costs: it is 4.5 us here, as on the CM-5. That the redistribution of long messages takes five times \
            as long as the remap, by cache misses, is taken from the paper.",
    formulas: &[
        "compute I and III: butterflies (LogP, section 4.1.4)",
        "remap, long: 2kG (section 3), with all terms kept",
        "remap, short: a message each max(g, point + 2o) (LogP, section 4.1.4); (1/4)kg if each has 4 bytes (section 3)",
    ],
    unit: ("ms", MS),
    series,
    show,
};

const P: usize = 16;
const PHASES: [&str; 4] = ["compute I", "redistribution", "remap", "compute III"];
/// Bytes of a point.
const POINT: usize = 16;
/// LogP's butterfly on the CM-5 (section 4.1.4), the only one that the papers have.
const COST: Time = Time::from_ps(4_500_000);

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let n = lab.pick(1 << 16, 1 << 20);
    let params = preset_machine("cs2-splitc", P);
    let case = |algorithm| {
        let case = Case { size: n, ..Case::new(&FFT, algorithm, params) };
        case.with(&LAYOUT, Layout::Blocked).with(&BUTTERFLY, COST)
    };
    // A point costs this much so that the redistribution takes five times the remap's formula.
    let long = case("long-staggered");
    let phases = long.plan().map_or(Vec::new(), |plan| plan.phases());
    let transfer = phases.into_iter().find(|(name, _)| name == "remap").and_then(|(_, time)| time);
    let point = Time::from_ps((5 * transfer.unwrap_or_default()).as_ps() / (n / P) as i64);
    let words = Case { size: n / (P * P) * POINT, ..Case::new(&REMAP, "short-staggered", params) };
    vec![
        CaseSeries::from_case("long", long.with(&fft::POINT, point)).measured(),
        CaseSeries::from_case("short", case("short-staggered").with(&fft::POINT, point)).measured(),
        CaseSeries::from_case("the remap alone, in messages of 4 bytes", words).measured(),
    ]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (long, short) = (sheet.last_result("long").clone(), sheet.last_result("short").clone());
    let both = long.phase_time("remap", MS) + long.phase_time("redistribution", MS);
    let quote = "the bulk transfer does save time overall";
    let what = "the long version's remap and redistribution over the short version's remap";
    sheet.add_claim(what, "3", quote, below(1.0), [both / short.phase_time("remap", MS)]);
    let computed = short.phase_time("compute I", MS);
    let begins = computed + short.phase_time("remap", MS);
    let with_words = computed + sheet.model_time("the remap alone, in messages of 4 bytes");
    let quote = "the long message version finishes the entire computation before the other version even begins the last phase";
    let what = "the end of the long version over the begin of the short one's last phase";
    let end = long.model().in_units(MS);
    let why = format!(
        "neither the number of points nor what a butterfly costs nor the bytes of a message stand in the text. Our short version sends a point \
         of 16 bytes at a time; if it sent 4, as in figure 4, it would hold: {:.2}",
        (end / with_words).value()
    );
    let pinned = sheet.lab.pick("1.81", "");
    sheet.add_claim(what, "3", quote, below(1.0), [end / begins]).expect_difference(pinned, &why);
    let quote = "Because of cache misses this local redistribution costs five times as much as the remote communication itself.";
    let why = "caches are not in the model; the factor is taken from here";
    sheet.add_out_of_reach("the redistribution", "3", quote, why);
    let quote = "the LogGP model accurately predicts the time for the data communication";
    sheet.add_out_of_reach("measured times", "3", quote, "they are those of the paper's machine");
    let caption = "Each version by formula, model and, where it was measured, measurement. The point of the long version's \
                   redistribution costs what makes that five times as long as its remap.";
    let bars = phase_bars(sheet.lab.pick(1 << 16, 1 << 20), &[("short", &short), ("long", &long)]);
    sheet.add_picture("", caption, bars);
    Ok(())
}

/// An answer's name, and its time in a prediction.
type Answer = (&'static str, fn(&Prediction) -> Option<Time>);

const ANSWERS: [Answer; 3] = [
    ("formula", |times| times.formula),
    ("model", |times| times.model),
    ("measured", |times| times.measured.map(|times| times.median)),
];

/// Draws the phases as stacked bars.
fn phase_bars(n: usize, versions: &[(&str, &CaseResult)]) -> String {
    let layer =
        |number: usize| ActivityStyle { name: PHASES[number], ink: SeriesStyle::for_number(number).ink };
    let mut bars = Vec::new();
    for (version, result) in versions {
        for (label, time_of) in ANSWERS {
            let time = |name: &&str| {
                let phase = result.answers().phases.iter().find(|phase| phase.name == **name);
                phase.and_then(|phase| time_of(&phase.prediction)).map_or(0.0, |time| time.in_units(MS))
            };
            let heights: Vec<f64> = PHASES.iter().map(time).collect();
            if heights.iter().any(|height| *height > 0.0) {
                bars.push(Bar { label: label.into(), group: (*version).into(), heights });
            }
        }
    }
    Bars {
        title: "Phases of the FFT on 16 processors of the CS-2".into(),
        subtitle: format!("{} points, {} us for a butterfly", thousands(n), COST.in_units(US)),
        x: String::new(),
        y: "time [ms]".into(),
        layers: (0..PHASES.len()).map(layer).collect(),
        bars,
    }
    .svg()
}
