//! Figures 2 and 3: the time of k bytes as a long message and as short ones.

use loggp_programs::scatter::SCATTER;

use crate::prelude::*;

pub(super) const FIGURE_2: Exhibit = Exhibit {
    id: "loggp-fig2",
    place: "figure 2",
    title: "bandwidth on the Meiko CS-2 with Split-C",
    notes: "The paper does not say whether a message waits for the one before to be received; here it does not. The paper's curve was measured; \
            table 1's parameters predict ours.",
    formulas: &[
        "k words as one message: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "bandwidth: bytes / time; for long messages 1/G, for short ones a word each g (section 2)",
    ],
    series: |lab| {
        let make_series = |(algorithm, name)| {
            let sizes = (2..=16).step_by(lab.pick(2, 1)).map(|power| 1 << power);
            CaseSeries::from_values(name, "bytes", sizes, move |bytes| bytes_case(algorithm, bytes))
                .measured()
        };
        [("long", "one message"), ("short", "short messages")].map(make_series).into()
    },
    show: show_bandwidth,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_3: Exhibit = Exhibit {
    id: "loggp-fig3",
    place: "figure 3",
    title: "the time to send messages of moderate size",
    notes: "Messages of 64 to 4K bytes on the Meiko CS-2 with Split-C.",
    formulas: &["o + (k-1)G + L + o (section 2.1)"],
    series: |_| {
        let bytes = [64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096];
        vec![CaseSeries::from_values("long", "bytes", bytes, |bytes| bytes_case("long", bytes)).measured()]
    },
    show: show_moderate,
    ..Exhibit::USUAL
};

/// Returns the case of sending bytes as one message, or a word at a time, on the CS-2 with Split-C.
fn bytes_case(algorithm: &str, bytes: usize) -> Case {
    let params = preset_machine("cs2-splitc", 2);
    Case { size: bytes / params.word.get(), ..Case::new(&SCATTER, algorithm, params) }
}

fn show_bandwidth(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("cs2-splitc", 2);
    let per_byte = in_us(params.stream(2)) / params.word.get() as f64;
    let rate = |name: &str| sheet.last_result(name).ran(|last| last.x / in_us(last.model()));
    let (long, short) = (rate("one message"), rate("short messages"));
    let what = "the bandwidth of a message of 64 KBytes with table 1's parameters [MB/s]";
    sheet.add_number(what, "3", "33", long);
    let what = "the bandwidth of messages of 4 bytes with table 1's parameters [MB/s]";
    sheet
        .add_number(what, "3", "2", short)
        .expect_difference(
            DifferenceCause::Misprint,
            "By table 1 a message of 4 bytes takes 14.2 us, and figure 4 counts with that: 0.28 MB/s.",
            "Table 1 has a gap of 14.2 us. Messages of 4 bytes can then carry no more than 4 bytes in each 14.2 us, which is \
             0.282 MB/s, and the paper's prediction in figure 4, (1/4)kg, counts with that too. 4 bytes in each o of 1.7 us would be \
             2.35 MB/s; or a decimal point was lost.",
        );
    let quote = "the bandwidth for long messages increases rapidly and peaks at 33 MB/s";
    let why = "the curve is the measured bandwidth of the paper's machine";
    sheet.add_out_of_reach("the measured bandwidth, over the length of a message", "3", quote, why);
    let quote = "For very long messages, the time to send the message can be approximated simply as kG.";
    let over = sheet.last_result("one message").ran(|last| in_us(last.model()) / (last.x * per_byte));
    let what = "the time of a message of 64 KBytes over kG";
    let rule = between(0.95, 1.05).because("an approximation is taken as 5% to either side");
    sheet.add_claim(what, "2.2", quote, rule, [over]);
    let gain = long / short * in_us(params.stream(2)) / in_us(params.g);
    let quote = "The ratio g/G is an excellent indicator of the gain that can be obtained by grouping data into long messages.";
    let what = "how much sooner 64 KBytes are there as one message than as messages of 4 bytes, over g/G";
    let rule = between(0.9, 1.1).because("excellent is taken as 10% to either side");
    sheet.add_claim(what, "5", quote, rule, [gain]);
    let plot = Plot::new("Bandwidth on the Meiko CS-2 using Split-C", "")
        .x("message length [bytes]", Scale::Log)
        .y("bandwidth [MB/s]", Scale::Linear)
        .lines(sheet.curves(&["one message", "short messages"], |bytes, time| bytes / in_us(time)))
        .level("33.3: 1/G of table 1", 1.0 / per_byte)
        .level("2: short, section 3", 2.0);
    let caption = "Bytes sent to another processor over the time that takes, as one message and as messages of 4 bytes. The \
                   levels are table 1's bandwidth of Split-C, which is 1/G, and the text's bandwidth of short messages.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

fn show_moderate(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("cs2-splitc", 2);
    let G = in_us(params.stream(2)) / params.word.get() as f64;
    let points = sheet.series("long").map_runs(|result| (result.x, in_us(result.model())));
    let (from, start) = points[0].value();
    let off = points
        .into_iter()
        .map(|point| point.map(|(bytes, time)| (1e3 * (time - start - (bytes - from) * G)).abs()));
    let quote = "Ideally, the data points would form a perfect line of slope G.";
    let what = "how far the times are from a line of slope G = 0.03 us for a byte [ns]";
    let rule = below(0.001).because("only rounding errors may be there");
    sheet.add_claim(what, "3", quote, rule, off);
    let quote = "This is close to what we observe; the step function is the result of cache misses.";
    let why = "the steps are in the measured times of the paper's machine, and no cache is in the model";
    sheet.add_out_of_reach("the steps of the measured times", "3", quote, why);
    let plot = Plot::new("Time to send messages of moderate size on the Meiko CS-2", "")
        .x("message length [bytes]", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&["long"]));
    sheet.add_plot("", "The time of a message, from its send to its reception.", plot);
    Ok(())
}
