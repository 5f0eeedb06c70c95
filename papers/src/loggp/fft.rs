//! Figure 5: the phases of the FFT with long messages and with short ones.

use loggp_draw::bars::{Bar, Bars};
use loggp_draw::digits::thousands;
use loggp_draw::palette::{ActivityStyle, SeriesStyle};
use loggp_programs::fft::{self, BUTTERFLY, FFT, LAYOUT, Layout};
use loggp_programs::remap::REMAP;
use loggp_study::Prediction;

use crate::prelude::*;

pub(super) const FIGURE_5: Exhibit = Exhibit {
    id: "loggp-fig5",
    place: "figure 5",
    title: "the phases of the FFT with long and with short messages",
    notes: "On 16 processors of the Meiko CS-2. The text has neither the number of points nor what a butterfly costs: here it is 4.5 us, as on \
            the CM-5 of LogP. That the redistribution takes five times as long as the transfer, by cache misses, is taken from the paper.\n\
            Long messages go as the points lie, and are redistributed after the transfer (sections 2.3 and 3). That fits the remap from a \
            cyclic to a blocked layout, as section 2.3 has it, and this is drawn. Section 3 has it from blocked to cyclic: our program then \
            gathers the points before it sends them. The claims are judged for both.\n\
            The short version's remap is figure 4's, in messages of 4 bytes: section 3 says that it is the same.",
    formulas: &[
        "compute I and III: butterflies (LogP, section 4.1.4)",
        "remap, long: 2kG (section 3), with all terms kept",
        "remap, short: (1/4)kg (section 3), with all terms kept",
    ],
    unit: ("ms", MS),
    series,
    show,
    ..Exhibit::USUAL
};

const P: usize = 16;
const PHASES: [&str; 4] = ["compute I", "remap", "redistribution", "compute III"];
/// Bytes of a point.
const POINT: usize = 16;
/// LogP's butterfly on the CM-5 (section 4.1.4), the only one that the papers have.
const COST: Time = Time::from_ps(4_500_000);

/// The layouts before and after the remap: those of section 2.3 and of section 3.
const LAYOUTS: [(&str, Layout); 2] =
    [("long, cyclic to blocked", Layout::Cyclic), ("long, blocked to cyclic", Layout::Blocked)];
/// Name of the short version's remap.
const SHORT_REMAP: &str = "short: the remap alone, in messages of 4 bytes";

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let n = lab.pick(1 << 16, 1 << 20);
    let params = preset_machine("cs2-splitc", P);
    let mut series = Vec::new();
    for (name, layout) in LAYOUTS {
        let long = Case { size: n, ..Case::new(&FFT, "long-staggered", params) };
        let long = long.with(&LAYOUT, layout).with(&BUTTERFLY, COST);
        // A point costs this much so that the redistribution takes five times the remap's formula.
        let phases = long.plan().map_or(Vec::new(), |plan| plan.phases());
        let transfer = phases.into_iter().find(|(name, _)| name == "remap").and_then(|(_, time)| time);
        let point = Time::from_ps((5 * transfer.unwrap_or_default()).as_ps() / (n / P) as i64);
        series.push(CaseSeries::from_case(name, long.with(&fft::POINT, point)).measured());
    }
    let words = Case { size: n / (P * P) * POINT, ..Case::new(&REMAP, "short-staggered", params) };
    series.push(CaseSeries::from_case(SHORT_REMAP, words).measured());
    series
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let short = sheet.model_time(SHORT_REMAP);
    let longs = LAYOUTS.map(|(name, _)| sheet.last_result(name).clone());
    let quote = "the bulk transfer does save time overall";
    let what = "the long version's remap and redistribution over the short version's remap, for both layouts";
    let over =
        |long: &CaseResult| (long.phase_time("remap", MS) + long.phase_time("redistribution", MS)) / short;
    sheet.add_claim(what, "3", quote, below(1.0), longs.each_ref().map(over));
    let quote = "the long message version finishes the entire computation before the other version even begins the last phase";
    let what =
        "the end of the long version over the beginning of the short version's last phase, for both layouts";
    let over = |long: &CaseResult| {
        let end = long.ran(|long| long.model().in_units(MS));
        end / (long.phase_time("compute I", MS) + short)
    };
    sheet.add_claim(what, "3", quote, below(1.0), longs.each_ref().map(over));
    let quote = "Because of cache misses this local redistribution costs five times as much as the remote communication itself.";
    let why = "no cache is in the model; the factor is taken from here";
    sheet.add_out_of_reach("the time of the redistribution", "3", quote, why).of_numbers(1);
    let quote = "the LogGP model accurately predicts the time for the data communication";
    let why = "the predicted times are figure 4's; the measured ones are those of the paper's machine";
    sheet.add_out_of_reach("the measured times of the three phases", "3", quote, why);
    let caption = "The phases of both versions, by formula, model and, where it was measured, measurement. The short version computes as the \
                   long one does, and its remap is figure 4's. The redistribution is made to take five times as long as the remap.";
    let words = sheet.last_result(SHORT_REMAP).prediction;
    let [long, _] = longs;
    let short = [long.phase("compute I"), words, Prediction::default(), long.phase("compute III")];
    let versions = [("short messages", short), ("long messages", PHASES.map(|phase| long.phase(phase)))];
    sheet.add_picture("", caption, phase_bars(sheet.lab.pick(1 << 16, 1 << 20), &versions));
    Ok(())
}

/// An answer's name, and its time in a prediction.
type NamedAnswer = (&'static str, fn(&Prediction) -> Option<Time>);

const ANSWERS: [NamedAnswer; 3] = [
    ("formula", |times| times.formula),
    ("model", |times| times.model),
    ("measured", |times| times.measured.map(|times| times.median)),
];

/// Draws the phases as stacked bars.
fn phase_bars(n: usize, versions: &[(&str, [Prediction; 4])]) -> String {
    let layer =
        |number: usize| ActivityStyle { name: PHASES[number], ink: SeriesStyle::for_number(number).ink };
    let mut bars = Vec::new();
    for (version, phases) in versions {
        for (label, time_of) in ANSWERS {
            let heights = phases.map(|phase| time_of(&phase).map_or(0.0, |time| time.in_units(MS)));
            if heights[0] > 0.0 {
                bars.push(Bar { label: label.into(), group: (*version).into(), heights: heights.into() });
            }
        }
    }
    Bars {
        title: "Execution times for the phases of the FFT, 16 processors of the CS-2".into(),
        subtitle: format!("{} points, {} us for a butterfly", thousands(n), COST.in_units(US)),
        x: String::new(),
        y: "execution time [ms]".into(),
        layers: (0..PHASES.len()).map(layer).collect(),
        bars,
    }
    .svg()
}
