//! Figures 1 to 3: one message, two in a row, and what k bytes take as a long message and as short ones.

use loggp::{ActivityKind, Params, Time, US};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::Failed;

use super::common::{amount, cs2, cycles, timeline};
use crate::{Exhibit, Series, Sheet, below, between, exactly};

/// Figure 1, and the times of section 2.1.
pub const FIGURE_1: Exhibit = Exhibit {
    id: "loggp-fig1",
    place: "figure 1 and section 2.1",
    title: "sending and receiving messages under LogGP",
    says: &[
        "The figure has no numbers. Here L = 4, o = 1, g = 4 and G = 1, the machine of figure 9, and messages have 10 words.",
    ],
    formulas: &[
        "one message of k words: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "two messages in a row: o + (k1-1)G + g + (k2-1)G + L + o (section 2.1)",
    ],
    unit: ("cycles", US),
    series: |_| {
        let of =
            |(name, algorithm, P, items)| Series::one(name, scatter(algorithm, cycles(P, 4, 1, 4), items));
        let measured = MESSAGES.map(|message| of(message).measured());
        let traced = Series::one("traced", scatter("long", cycles(3, 4, 1, 4), 10)).traced();
        let logp = Params { long: loggp::LongMessages::LogP, ..cycles(2, 4, 1, 4) };
        let word = Series::one("a message of a word, LogP", scatter("long", logp, 1));
        measured.into_iter().chain([traced, word]).collect()
    },
    show: two_messages,
};

/// What is sent: its name, the algorithm, the processors and the items.
const MESSAGES: [(&str, &str, usize, usize); 4] = [
    ("a message of a word", "long", 2, 1),
    ("a message of 10 words", "long", 2, 10),
    ("10 words one by one", "short", 2, 10),
    ("two messages in a row", "long", 3, 10),
];

/// Figure 2.
pub const FIGURE_2: Exhibit = Exhibit {
    id: "loggp-fig2",
    place: "figure 2",
    title: "bandwidth on the Meiko CS-2 with Split-C",
    says: &[
        "The paper does not say whether a message waits for the one before to be received; here it does not.",
    ],
    formulas: &[
        "k words as one message: o + (k-1)G + L + o (section 2.1)",
        "k words one by one: o + (k-1) max(g, o) + L + o (section 2.1)",
        "bandwidth: bytes / time; for long messages 1/G, for short ones a word each g (section 2)",
    ],
    unit: ("us", US),
    series: |lab| {
        let of = |(algorithm, name)| {
            let sizes = (2..=16).step_by(lab.pick(2, 1)).map(|power| 1 << power);
            Series::over(name, "bytes", sizes, move |bytes| sent(algorithm, bytes)).measured()
        };
        [("long", "one message"), ("short", "short messages")].map(of).into()
    },
    show: bandwidth,
};

/// Figure 3.
pub const FIGURE_3: Exhibit = Exhibit {
    id: "loggp-fig3",
    place: "figure 3",
    title: "the time to send messages of moderate size",
    says: &["Messages of 64 to 4K bytes on the Meiko CS-2 with Split-C."],
    formulas: &["o + (k-1)G + L + o (section 2.1)"],
    unit: ("us", US),
    series: |_| {
        let bytes = [64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096];
        vec![Series::over("long", "bytes", bytes, |bytes| sent("long", bytes)).measured()]
    },
    show: moderate,
};

/// A scatter with so many items for each.
fn scatter(algorithm: &str, params: Params, items: usize) -> Case {
    Case { size: items, ..Case::new(&SCATTER, algorithm, params) }
}

/// So many bytes as a message, or a word at a time, on the CS-2 with Split-C.
fn sent(algorithm: &str, bytes: usize) -> Case {
    let params = cs2("cs2-splitc", 2);
    scatter(algorithm, params, bytes / params.word.get())
}

fn two_messages(sheet: &mut Sheet) -> Result<(), Failed> {
    let Params { L, o, g, .. } = cycles(3, 4, 1, 4);
    let stream = 9 * US; // (k-1)G
    let traced = sheet.last("traced").clone();
    let [first, second] = &traced.trace().messages[..] else { unreachable!("there are two receivers") };
    let times = [o + L + o, o + stream + L + o, o + 9 * g.max(o) + L + o, o + stream + g + stream + L + o];
    let ends = MESSAGES.iter().zip(times).map(|((name, ..), time)| sheet.last(name).model() == time);
    let moments = [
        first.arrival - L == o + stream,
        second.enter == o + stream + g,
        second.arrival - L == o + stream + g + stream,
    ];
    let right = ends.chain(moments).filter(|right| *right).count();
    let what = "the times of section 2.1: of a short message, a long one, short ones for it, and two in a row, with when words leave";
    sheet.own(what, right, 7);
    let sends = traced.trace().activities.iter();
    let sends = sends.filter(|one| one.id == 0 && matches!(one.what, ActivityKind::Send(_)));
    let busy: Time = sends.map(|one| one.end - one.start).sum();
    let quote = "The sending and receiving processors are busy only during the o cycles of overhead";
    let what = "how long the sender of two messages is busy [cycles]";
    sheet.claim(what, "2.1", quote, exactly(2.0), [amount(busy)]);
    let quote = "Our model for k=1 is precisely the LogP model.";
    let apart = sheet.time("a message of a word") - sheet.time("a message of a word, LogP");
    sheet.claim("a word with G less a word without it [cycles]", "2.2", quote, exactly(0.0), [apart]);
    let caption = "Processor 0 sends 10 words to processor 1 and 10 words to processor 2. The arrow of a message goes from when \
                   its first word enters the network to when its last one is there.";
    let picture = timeline(traced.trace(), "Two long messages in a row: L = 4, o = 1, g = 4, G = 1, k = 10");
    sheet.picture("", caption, picture);
    Ok(())
}

fn bandwidth(sheet: &mut Sheet) -> Result<(), Failed> {
    let params = cs2("cs2-splitc", 2);
    let rate = |name: &str| {
        let last = sheet.last(name);
        last.x / amount(last.model())
    };
    let (long, short) = (rate("one message"), rate("short messages"));
    sheet.number("the bandwidth of a message of 64 KBytes [MB/s]", "3", "33", long);
    sheet.number("the bandwidth of short messages of 4 bytes [MB/s]", "3", "2", short).because(
        "0.282",
        "4 bytes in each gap of table 1's 14.2 us make 0.282 MB/s, and the paper's own prediction in figure 4 counts with that, kg/4; \
         2 MB/s would be 4 bytes in each o. A lost decimal point is possible",
    );
    let gain = long / short * amount(params.stream(2)) / amount(params.g);
    let quote = "The ratio g/G is an excellent indicator of the gain that can be obtained by grouping data into long messages.";
    sheet.claim("the gain with 64 KBytes over g/G", "5", quote, between(0.9, 1.1), [gain]);
    let plot = Plot::new("Bandwidth on the CS-2 with Split-C", "")
        .x("bytes", Scale::Log)
        .y("bandwidth [MB/s]", Scale::Linear)
        .lines(sheet.curves(&["one message", "short messages"], |bytes, time| bytes / amount(time)))
        .level("33: 1/G", 33.0)
        .level("2: short", 2.0);
    let caption = "Bytes sent to another processor over the time that takes, as one message and as messages of 4 bytes. The \
                   levels are the two numbers of the paper's text.";
    sheet.plot("", caption, plot);
    Ok(())
}

fn moderate(sheet: &mut Sheet) -> Result<(), Failed> {
    let points = sheet.of("long").model(US);
    let (from, start) = points[0];
    let G = amount(cs2("cs2-splitc", 2).stream(2)) / 4.0;
    let off = points
        .iter()
        .map(|(bytes, time)| (1e3 * (time - start - (bytes - from) * G)).abs())
        .collect::<Vec<_>>();
    let quote = "Ideally, the data points would form a perfect line of slope G.";
    sheet.claim("how far the points are from a line of slope G = 0.03 us [ns]", "3", quote, below(1.0), off);
    let quote = "This is close to what we observe; the step function is the result of cache misses.";
    sheet.out_of_reach("the steps", "3", quote, "they are those of the paper's machine");
    let plot = Plot::new("A message on the CS-2 with Split-C", "")
        .x("bytes", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(sheet.times(&["long"]));
    sheet.plot("", "The time of a message, from its send to its reception.", plot);
    Ok(())
}
