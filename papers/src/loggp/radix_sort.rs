//! Figure 6: radix sort with long messages and with short ones.

use loggp_programs::radix_sort::RADIX_SORT;

use crate::prelude::*;

pub(super) const FIGURE_6: Exhibit = Exhibit {
    id: "loggp-fig6",
    place: "figure 6",
    title: "radix sort with long and with short messages",
    notes: "On 16 processors of the Meiko CS-2. The text has no number of the two curves, and does not say what a key costs: to count, to sort \
            and to move a key takes 1 us each here.",
    formulas: &[
        "docs/reference/radix-sort.md has each phase; the keys go by LogP's n max(point + 2o, g) + L, or LogGP's 2kG",
    ],
    unit: ("ms", MS),
    series: |lab| {
        let sizes = lab.pick(&[512, 1024, 2048][..], &[1024, 4096, 16_384, 65_536]);
        let params = preset_machine("cs2-splitc", 16);
        let case = |name, size| Case { size, ..Case::new(&RADIX_SORT, name, params) };
        let make_series = |name| {
            let sizes = sizes.iter().copied();
            CaseSeries::from_values(name, "keys per processor", sizes, |size| case(name, size)).measured()
        };
        ["short", "long"].map(make_series).into()
    },
    show,
    ..Exhibit::USUAL
};

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let gains = sheet.series("short").ratios_to(sheet.series("long"));
    let quote =
        "sending long messages results in much better overall performance than sending short messages";
    let what = "the time of the short version over that of the long one, by keys";
    let rule = at_least(2.0).because("much better is taken as twice as fast");
    sheet.add_claim(what, "1", quote, rule, gains);
    let long = sheet.last_result("long");
    // Moving a key costs what sorting one locally does, so the rest of the distribution is the transfer.
    let transfer = long.phase_time("distribution", MS) - long.phase_time("local sort", MS);
    let quote = "the execution time to obtain the right setup and right distribution is substantial and is more expensive than the actual \
                 transfer time";
    let sorted = (long.x * 4.0) as i64; // four passes of 8 bits
    let why = format!(
        "The paper does not print what a key costs on its machine. The local sort takes longer than the transfer where a key costs it more \
         than {:.3} us.",
        1e3 * transfer.value() / sorted as f64
    );
    sheet.add_out_of_reach("the time of the local sort beside that of the transfer", "2.3", quote, &why);
    let quote = "The two curves show the execution times for both versions of the algorithm (short and long messages), for a 16 processor \
                 Meiko CS-2.";
    let why = "the curves were measured on the paper's machine, and no number of them stands in the text";
    sheet.add_out_of_reach("the measured times of both versions", "figure 6", quote, why);
    let plot = Plot::new("Radix sort on 16 processors of the CS-2", "")
        .x("keys per processor", Scale::Points)
        .y("execution time [ms]", Scale::Log)
        .lines(sheet.times(&["short", "long"]));
    sheet.add_plot("", "The time to sort, in passes of 8 bits.", plot);
    Ok(())
}
