//! Figure 4: the all-to-all remap with long messages and with short ones.

use loggp::Ports;
use loggp::params::LongMessages;
use loggp_programs::remap::REMAP;

use crate::prelude::*;

pub(super) const FIGURE_4: Exhibit = Exhibit {
    id: "loggp-fig4",
    place: "figure 4",
    title: "all-to-all remap with long and with short messages",
    notes: "On 16 processors of the Meiko CS-2 with Split-C each sends 2K to 512K bytes to each other, staggered. k is the array of a \
            processor: 16 times what it sends to one.",
    formulas: &[
        "long: 2kG (section 3); here with all terms, 2o + 2(P-1)(b-1)G at least, for blocks of b words",
        "short: (1/4)kg (section 3); here with all terms, 2o + (m-1) max(g, 2o) + L for m messages",
    ],
    unit: ("ms", MS),
    series,
    show,
    ..Exhibit::USUAL
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
    let logp = Params { long: LongMessages::LogP, ..params };
    let logp = case(&logp, "long-staggered", FEWEST as usize);
    let more = [
        CaseSeries::from_case("long, dual ports", dual),
        CaseSeries::from_cases("short, o = g", BYTES, [(FEWEST, slow)]),
        CaseSeries::from_cases("long, by LogP", BYTES, [(FEWEST, logp)]),
    ];
    remap.into_iter().chain(more).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("cs2-splitc", P);
    let word = params.word.get() as i64;
    let long = |size: f64| 2 * (P as i64 * size as i64) / word * params.G().unwrap_or_default();
    let short = |size: f64| (P as i64 * size as i64) / word * params.g;
    let over = |name: &str, expected: &dyn Fn(f64) -> Time| {
        sheet.last_result(name).ran(|largest| largest.model().in_units(expected(largest.x)))
    };
    let over = [over("long", &long), over("short", &short)];
    let roughly = || {
        between(0.9, 1.1).because("roughly is taken as 10% to either side; 15 of the 16 parts of k are sent")
    };
    let quote = "for the long message version, it is roughly 2kG, and for the short message version, the expected time is roughly (1/4)kg";
    let sizes = ["long", "short"].map(|name| sheet.last_result(name).x / 1024.0);
    let [longest, shortest] = sizes.map(|size| format!("{size}K bytes to each"));
    let what = format!("the time of the long version over 2kG, {longest}");
    sheet.add_claim(what, "3", quote, roughly(), [over[0]]);
    let what = format!("the time of the short version over (1/4)kg, {shortest}");
    sheet.add_claim(what, "3", quote, roughly(), [over[1]]);
    let quote = "the version with short messages is very accurately predicted. The version using long messages runs within 20% of the \
                 expected time for large data sizes.";
    let why = "the times are those of the paper's machine, whose network is contended for";
    sheet.add_out_of_reach("the measured times of both versions", "3", quote, why).of_numbers(1);
    add_factors(sheet);
    let largest = sheet.lab.pick(12, 19);
    let gain = (11..=largest).map(|power| {
        let bytes = f64::from(1 << power);
        let time = |name: &str| sheet.series(name).at(bytes).ran(|result| result.model().in_units(MS));
        time("short") / time("long")
    });
    let quote =
        "the long message version of the all-to-all remap has almost two orders of magnitude improvement";
    let what = format!(
        "the time of the short version over that of the long one, 2K to {}K bytes to each",
        1 << (largest - 10)
    );
    let rule = between(31.6, 100.0).because("from 31.6 on two orders of magnitude are nearer than one");
    sheet.add_claim(what, "3", quote, rule, gain.collect::<Vec<_>>());

    let expected = |name: &str, time: &dyn Fn(f64) -> Time| {
        sheet.series(name).points.iter().map(|result| (result.x, time(result.x).in_units(MS))).collect()
    };
    let plot = Plot::new("All-to-all remap on a Meiko CS-2 (16 processors)", "")
        .x("bytes from each processor to each other", Scale::Log)
        .y("time [ms]", Scale::Log)
        .lines(sheet.times(&["short", "long"]).into_iter().chain([
            marked_line("short, predicted in the paper: (1/4)kg", 2, expected("short", &short)),
            marked_line("long, predicted in the paper: 2kG", 3, expected("long", &long)),
        ]));
    let caption = "Lines with marks are the paper's predictions, (1/4)kg and 2kG; the others are our formula, model and \
                   measurement. The paper's measured times are of its machine.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Adds the paper's reasons for the factor of 2.
fn add_factors(sheet: &mut Sheet) {
    let dual = sheet.model_time("long, dual ports") / sheet.model_time("long");
    let quote = "The factor of 2 in the long message formula occurs because each processor is sending and receiving data, and this can not \
                 happen at the same time";
    let what = "the time of the long version where both can happen at the same time, as a part";
    let rule = between(0.48, 0.52).because("a factor of 2, with 4% to either side for what is no transfer");
    sheet.add_claim(what, "3", quote, rule, [dual]);
    let slow = sheet.model_time("short, o = g");
    let usual = sheet.series("short").at(FEWEST).ran(|result| result.model().in_units(MS));
    let quote = "This factor does not appear in the short message version because o is significantly less than g under Split-C";
    let what = "the time of the short version with o = g over that with o = 1.7 us, 2K bytes to each";
    let rule = between(1.9, 2.1).because("a factor of 2, with 5% to either side");
    sheet.add_claim(what, "3", quote, rule, [slow / usual]);
    let quote = "The LogP model would fail to explain this improvement.";
    let what = "by LogP, the time of the short version over that of the long one, 2K bytes to each";
    let rule = at_most(1.0).because("above 1 LogP would explain some of it");
    sheet.add_claim(what, "3", quote, rule, [usual / sheet.model_time("long, by LogP")]);
}
