//! Figure 4: the all-to-all remap with long messages and with short ones.

use loggp::Ports;
use loggp_programs::remap::REMAP;

use crate::prelude::*;

pub const FIGURE_4: Exhibit = Exhibit {
    id: "loggp-fig4",
    place: "figure 4",
    title: "all-to-all remap with long and with short messages",
    printed: 0,
    left_out: "",
    notes: "On 16 processors of the Meiko CS-2 with Split-C each sends 2K to 512K bytes to each other, staggered. k is the array of a \
            processor: 16 times what it sends to one.",
    formulas: &[
        "long: 2kG (section 3); here with all terms, 2o + 2(P-1)(b-1)G at least, for blocks of b words",
        "short: (1/4)kg (section 3); here with all terms, 2o + (m-1) max(g, 2o) + L for m messages",
    ],
    unit: ("ms", MS),
    series,
    show,
};

const P: usize = 16;
const BYTES: &str = "bytes from each to each";
/// Fewest bytes from each to each.
const FEWEST: f64 = 2048.0;

fn case(params: &Params, algorithm: &str, size: usize) -> Case {
    Case { size, ..Case::new(&REMAP, algorithm, *params) }
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let params = preset_machine("cs2-splitc", P);
    // More bytes in short messages would make a run of a minute.
    let runs = [("long", lab.pick(1 << 15, 1 << 19)), ("short", lab.pick(1 << 12, 1 << 19))];
    let remap = runs.map(|(name, most)| {
        let sizes = (11..=19).map(|power| 1 << power);
        let series = CaseSeries::from_values(name, BYTES, sizes, |size| {
            case(&params, &format!("{name}-staggered"), size)
        });
        series.measured().formula_if(|size| size > f64::from(most))
    });
    let largest = lab.pick(1 << 15, 1 << 19);
    let dual = Case { ports: Ports::Dual, ..case(&params, "long-staggered", largest) };
    let slow = Params { o: params.g, ..params };
    let slow = case(&slow, "short-staggered", FEWEST as usize);
    remap
        .into_iter()
        .chain([CaseSeries::from_case("long, dual ports", dual), CaseSeries::from_case("short, o = g", slow)])
        .collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("cs2-splitc", P);
    let word = params.word.get() as i64;
    let long = |size: f64| 2 * (P as i64 * size as i64) / word * params.G().unwrap_or_default();
    let short = |size: f64| (P as i64 * size as i64) / word * params.g;
    let over = |name: &str, expected: &dyn Fn(f64) -> Time| {
        let largest = sheet.last_result(name);
        largest.model().in_units(expected(largest.x))
    };
    let (of_long, of_short) = (over("long", &long), over("short", &short));
    let quote = "for the long message version, it is roughly 2kG, and for the short message version, the expected time is roughly (1/4)kg";
    // A processor sends 15 of 16 parts of k.
    sheet.add_claim("the longest that were run over 2kG", "3", quote, between(0.93, 1.0), [of_long]);
    sheet.add_claim("the longest that were run over (1/4)kg", "3", quote, between(0.93, 1.0), [of_short]);
    let quote = "the version with short messages is very accurately predicted. The version using long messages runs within 20% of the \
                 expected time for large data sizes.";
    let why = "they are those of the paper's machine, whose network is contended for";
    sheet.add_out_of_reach("measured times", "3", quote, why);
    let dual = sheet.model_time("long, dual ports") / sheet.model_time("long");
    let quote = "The factor of 2 in the long message formula occurs because each processor is sending and receiving data, and this can not \
                 happen at the same time";
    sheet.add_claim("the time of a processor that can, as a part", "3", quote, between(0.49, 0.51), [dual]);
    let slow = sheet.model_time("short, o = g") / sheet.series("short").at(FEWEST).model().in_units(MS);
    let quote = "This factor does not appear in the short message version because o is significantly less than g under Split-C";
    let what = "short messages with o = g over those with o = 1.7 us";
    sheet.add_claim(what, "3", quote, between(1.9, 2.1), [slow]);
    let model = |name: &str, bytes| sheet.series(name).at(bytes).model();
    let gain = [2048.0, 4096.0].map(|bytes| model("short", bytes).in_units(model("long", bytes)));
    let quote =
        "the long message version of the all-to-all remap has almost two orders of magnitude improvement";
    // From 31.6 on two orders of magnitude are nearer than one.
    sheet.add_claim("short messages over long ones, 2K and 4K bytes", "3", quote, between(31.6, 100.0), gain);

    let expected = |name: &str, time: &dyn Fn(f64) -> Time| {
        sheet.series(name).points.iter().map(|result| (result.x, time(result.x).in_units(MS))).collect()
    };
    let plot = Plot::new("All-to-all remap on 16 processors of the CS-2", "")
        .x("bytes from each processor to each other", Scale::Log)
        .y("time [ms]", Scale::Log)
        .lines(sheet.times(&["long", "short"]).into_iter().chain([
            marked_line("long, 2kG", 2, expected("long", &long)),
            marked_line("short, kg/4", 3, expected("short", &short)),
        ]));
    let caption = "Lines with marks are the paper's expectations, 2kG and (1/4)kg; the others are our formula, model and \
                   measurement.";
    sheet.add_plot("", caption, plot);
    Ok(())
}
