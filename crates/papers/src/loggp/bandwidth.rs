//! Figures 2 and 3: the time of k bytes as a long message and as short ones.

use loggp_programs::scatter::SCATTER;

use crate::prelude::*;

pub const FIGURE_2: Exhibit = Exhibit {
    id: "loggp-fig2",
    place: "figure 2",
    title: "bandwidth on the Meiko CS-2 with Split-C",
    printed: 0,
    left_out: "",
    notes: "The paper does not say whether a message waits for the one before to be received; here it does not.",
    formulas: &[
        "k words as one message: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "bandwidth: bytes / time; for long messages 1/G, for short ones a word each g (section 2)",
    ],
    unit: ("us", US),
    series: |lab| {
        let make_series = |(algorithm, name)| {
            let sizes = (2..=16).step_by(lab.pick(2, 1)).map(|power| 1 << power);
            CaseSeries::from_values(name, "bytes", sizes, move |bytes| bytes_case(algorithm, bytes))
                .measured()
        };
        [("long", "one message"), ("short", "short messages")].map(make_series).into()
    },
    show: show_bandwidth,
};

pub const FIGURE_3: Exhibit = Exhibit {
    id: "loggp-fig3",
    place: "figure 3",
    title: "the time to send messages of moderate size",
    printed: 0,
    left_out: "",
    notes: "Messages of 64 to 4K bytes on the Meiko CS-2 with Split-C.",
    formulas: &["o + (k-1)G + L + o (section 2.1)"],
    unit: ("us", US),
    series: |_| {
        let bytes = [64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096];
        vec![CaseSeries::from_values("long", "bytes", bytes, |bytes| bytes_case("long", bytes)).measured()]
    },
    show: show_moderate,
};

/// Returns the case of sending bytes as one message, or a word at a time, on the CS-2 with Split-C.
fn bytes_case(algorithm: &str, bytes: usize) -> Case {
    let params = preset_machine("cs2-splitc", 2);
    Case { size: bytes / params.word.get(), ..Case::new(&SCATTER, algorithm, params) }
}

fn show_bandwidth(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = preset_machine("cs2-splitc", 2);
    let rate = |name: &str| {
        let last = sheet.last_result(name);
        last.x / in_us(last.model())
    };
    let (long, short) = (rate("one message"), rate("short messages"));
    sheet.add_number("the bandwidth of a message of 64 KBytes [MB/s]", "3", "33", long);
    sheet.add_number("the bandwidth of short messages of 4 bytes [MB/s]", "3", "2", short).expect_difference(
        "0.282",
        "4 bytes in each gap of table 1's 14.2 us make 0.282 MB/s, and the paper's own prediction in figure 4 counts with that, kg/4; \
         2 MB/s would be 4 bytes in each o. A lost decimal point is possible",
    );
    let gain = long / short * in_us(params.stream(2)) / in_us(params.g);
    let quote = "The ratio g/G is an excellent indicator of the gain that can be obtained by grouping data into long messages.";
    sheet.add_claim("the gain with 64 KBytes over g/G", "5", quote, between(0.9, 1.1), [gain]);
    let plot = Plot::new("Bandwidth on the CS-2 with Split-C", "")
        .x("bytes", Scale::Log)
        .y("bandwidth [MB/s]", Scale::Linear)
        .lines(sheet.curves(&["one message", "short messages"], |bytes, time| bytes / in_us(time)))
        .level("33: 1/G", 33.0)
        .level("2: short", 2.0);
    let caption = "Bytes sent to another processor over the time that takes, as one message and as messages of 4 bytes. The \
                   levels are the two numbers of the paper's text.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

fn show_moderate(sheet: &mut Sheet) -> Result<(), StudyError> {
    let points = sheet.series("long").model_times(US);
    let (from, start) = points[0];
    let G = in_us(preset_machine("cs2-splitc", 2).stream(2)) / 4.0;
    let off = points.iter().map(|(bytes, time)| (1e3 * (time - start - (bytes - from) * G)).abs());
    let quote = "Ideally, the data points would form a perfect line of slope G.";
    let what = "how far the points are from a line of slope G = 0.03 us [ns]";
    sheet.add_claim(what, "3", quote, below(1.0), off);
    let quote = "This is close to what we observe; the step function is the result of cache misses.";
    sheet.add_out_of_reach("the steps", "3", quote, "they are those of the paper's machine");
    let plot = Plot::new("A message on the CS-2 with Split-C", "")
        .x("bytes", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&["long"]));
    sheet.add_plot("", "The time of a message, from its send to its reception.", plot);
    Ok(())
}
