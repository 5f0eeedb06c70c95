//! Figures 1 to 3: one message, two in a row, and the time of k bytes as a long message and as short ones.

use loggp::trace::ActivityKind;
use loggp::{Params, Time, US};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::StudyError;

use super::common::{cs2, draw_cycles, in_us, machine_in_cycles};
use crate::{CaseSeries, Exhibit, Sheet, below, between, exactly};

pub const FIGURE_1: Exhibit = Exhibit {
    id: "loggp-fig1",
    place: "figure 1 and section 2.1",
    title: "sending and receiving messages under LogGP",
    notes: &[
        "The figure has no numbers. Here L = 4, o = 1, g = 4 and G = 1, the machine of figure 9, and messages have 10 words.",
    ],
    formulas: &[
        "one message of k words: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "two messages in a row: o + (k1-1)G + g + (k2-1)G + L + o (section 2.1)",
    ],
    unit: ("cycles", US),
    series: |_| {
        let make_series = |(name, algorithm, P, items)| {
            CaseSeries::from_case(name, scatter_case(algorithm, machine_in_cycles(P, 4, 1, 4), items))
        };
        let measured = MESSAGES.map(|message| make_series(message).measured());
        let traced =
            CaseSeries::from_case("traced", scatter_case("long", machine_in_cycles(3, 4, 1, 4), 10)).traced();
        let logp = Params { long: loggp::params::LongMessages::LogP, ..machine_in_cycles(2, 4, 1, 4) };
        let word = CaseSeries::from_case("a message of a word, LogP", scatter_case("long", logp, 1));
        measured.into_iter().chain([traced, word]).collect()
    },
    show: show_two_messages,
};

/// Messages: name, algorithm, processors and items.
const MESSAGES: [(&str, &str, usize, usize); 4] = [
    ("a message of a word", "long", 2, 1),
    ("a message of 10 words", "long", 2, 10),
    ("10 words one by one", "short", 2, 10),
    ("two messages in a row", "long", 3, 10),
];

pub const FIGURE_2: Exhibit = Exhibit {
    id: "loggp-fig2",
    place: "figure 2",
    title: "bandwidth on the Meiko CS-2 with Split-C",
    notes: &[
        "The paper does not say whether a message waits for the one before to be received; here it does not.",
    ],
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
    notes: &["Messages of 64 to 4K bytes on the Meiko CS-2 with Split-C."],
    formulas: &["o + (k-1)G + L + o (section 2.1)"],
    unit: ("us", US),
    series: |_| {
        let bytes = [64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096];
        vec![CaseSeries::from_values("long", "bytes", bytes, |bytes| bytes_case("long", bytes)).measured()]
    },
    show: show_moderate,
};

/// Returns a scatter with `items` items for each processor.
fn scatter_case(algorithm: &str, params: Params, items: usize) -> Case {
    Case { size: items, ..Case::new(&SCATTER, algorithm, params) }
}

/// Returns the case of sending bytes as one message, or a word at a time, on the CS-2 with Split-C.
fn bytes_case(algorithm: &str, bytes: usize) -> Case {
    let params = cs2("cs2-splitc", 2);
    scatter_case(algorithm, params, bytes / params.word.get())
}

fn show_two_messages(sheet: &mut Sheet) -> Result<(), StudyError> {
    let Params { L, o, g, .. } = machine_in_cycles(3, 4, 1, 4);
    let stream = 9 * US; // (k-1)G
    let traced = sheet.last_result("traced").clone();
    let [first, second] = &traced.trace().messages[..] else { unreachable!("there are two receivers") };
    let times = [o + L + o, o + stream + L + o, o + 9 * g.max(o) + L + o, o + stream + g + stream + L + o];
    let ends = MESSAGES.iter().zip(times).map(|((name, ..), time)| sheet.last_result(name).model() == time);
    let moments = [
        first.arrival - L == o + stream,
        second.enter == o + stream + g,
        second.arrival - L == o + stream + g + stream,
    ];
    let right = ends.chain(moments).filter(|right| *right).count();
    let what = "the times of section 2.1: of a short message, a long one, short ones for it, and two in a row, with when words leave";
    sheet.add_own_check(what, right, 7);
    let sends = traced.trace().activities.iter();
    let sends = sends.filter(|one| one.id == 0 && matches!(one.kind, ActivityKind::Send(_)));
    let busy: Time = sends.map(|one| one.end - one.start).sum();
    let quote = "The sending and receiving processors are busy only during the o cycles of overhead";
    let what = "how long the sender of two messages is busy [cycles]";
    sheet.add_claim(what, "2.1", quote, exactly(2.0), [in_us(busy)]);
    let quote = "Our model for k=1 is precisely the LogP model.";
    let apart = sheet.model_time("a message of a word") - sheet.model_time("a message of a word, LogP");
    sheet.add_claim("a word with G less a word without it [cycles]", "2.2", quote, exactly(0.0), [apart]);
    let caption = "Processor 0 sends 10 words to processor 1 and 10 words to processor 2. The arrow of a message goes from when \
                   its first word enters the network to when its last one is there.";
    let picture =
        draw_cycles(traced.trace(), "Two long messages in a row: L = 4, o = 1, g = 4, G = 1, k = 10");
    sheet.add_picture("", caption, picture);
    Ok(())
}

fn show_bandwidth(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params = cs2("cs2-splitc", 2);
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
    let G = in_us(cs2("cs2-splitc", 2).stream(2)) / 4.0;
    let off = points
        .iter()
        .map(|(bytes, time)| (1e3 * (time - start - (bytes - from) * G)).abs())
        .collect::<Vec<_>>();
    let quote = "Ideally, the data points would form a perfect line of slope G.";
    sheet.add_claim(
        "how far the points are from a line of slope G = 0.03 us [ns]",
        "3",
        quote,
        below(1.0),
        off,
    );
    let quote = "This is close to what we observe; the step function is the result of cache misses.";
    sheet.add_out_of_reach("the steps", "3", quote, "they are those of the paper's machine");
    let plot = Plot::new("A message on the CS-2 with Split-C", "")
        .x("bytes", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&["long"]));
    sheet.add_plot("", "The time of a message, from its send to its reception.", plot);
    Ok(())
}
