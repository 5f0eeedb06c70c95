//! Figures 4 to 6: who sends to whom and when, by linear permutation and by distributed random scheduling.

use loggp::{Trace, US};
use loggp_study::Failed;

use super::{named, of_matrix};
use crate::pictures::timeline::timeline;
use crate::{Exhibit, Series, Sheet, above};

/// Figure 4.
pub const FIGURE_4: Exhibit = Exhibit {
    id: "transport-fig4",
    place: "figure 4, section 5",
    title: "the linear permutation, step by step",
    says: &[
        "In iteration k processor i exchanges with i xor k, if there is anything, and a barrier ends the iteration: figure 1's matrix.",
    ],
    formulas: &["O(sp) for messages of up to s elements (section 5)"],
    unit: ("us", US),
    series: |_| vec![Series::one("linear", of_matrix("linear", 8, "figure-1")).traced()],
    show: linear,
};

/// Figures 5 and 6.
pub const FIGURE_5: Exhibit = Exhibit {
    id: "transport-fig5",
    place: "figures 5 and 6, section 6",
    title: "distributed random scheduling",
    says: &[
        "Who has something to send asks whether its receiver is free, and sends if it is: figure 1's matrix.",
    ],
    formulas: &[],
    unit: ("us", US),
    series: |_| {
        let skewed = |name: &str| of_matrix(name, 16, "skewed");
        vec![
            Series::one("random", of_matrix("random", 8, "figure-1")).traced(),
            Series::one("random-improved", of_matrix("random-improved", 8, "figure-1")).traced(),
            Series::one("skewed, random", skewed("random")),
            Series::one("skewed, linear", skewed("linear")),
        ]
    },
    show: random,
};

/// All messages in the order in which they enter the network: each from, to and when.
fn sent(trace: &Trace) -> Vec<(usize, usize, i64)> {
    let all = trace.messages.iter();
    let mut all: Vec<_> = all.map(|one| (one.id.from, one.to, one.enter.as_ps())).collect();
    all.sort_by_key(|(_, _, enter)| *enter);
    all
}

fn linear(sheet: &mut Sheet) -> Result<(), Failed> {
    let matrix = named("figure-1", 8)?;
    let trace = sheet.last("linear").trace().clone();
    // What comes before the first barrier exchanges the vectors.
    let barriers: Vec<i64> = {
        let ends = trace.activities.iter().filter(|one| matches!(one.what, loggp::ActivityKind::Barrier));
        let mut ends: Vec<i64> = ends.map(|one| one.end.as_ps()).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    };
    let sent = sent(&trace);
    // Everyone tells everyone its vector before that.
    let data = &sent[8 * 7..];
    let step = |enter: i64| barriers.iter().filter(|end| **end <= enter).count();
    let (first, all) = (step(data[0].2), data.len());
    let is_right = |(from, to, enter): &&(usize, usize, i64)| {
        let k = step(*enter) - first + 1;
        *to == from ^ k && matrix.at(*from, *to) > 0
    };
    let right = data.iter().filter(is_right).count();
    sheet.own("messages that figure 4 has in their iteration", right, all);
    let expected =
        (0..8).flat_map(|i| (0..8).map(move |j| (i, j))).filter(|(i, j)| i != j && matrix.at(*i, *j) > 0);
    sheet.own("messages of the matrix, each sent once", all, expected.count());
    let picture = timeline(&trace, "Figure 1 by linear permutation, P = 8, CM-5", ("us", US));
    let caption = "First the exchange of the vectors, then seven steps with a barrier after each.";
    sheet.picture("timeline", caption, picture.expect("it is small"));
    Ok(())
}

fn random(sheet: &mut Sheet) -> Result<(), Failed> {
    let messages = named("figure-1", 8)?.entries().iter().filter(|elements| **elements > 0).count();
    for name in ["random", "random-improved"] {
        let told = sheet.last(name);
        let granted = (told.metric("requests") - told.metric("rejected")) as usize;
        sheet.own(
            format!("{name}: inquiries that found their receiver free, one for each message"),
            granted,
            messages,
        );
    }
    let quote = "A linear permutation algorithm could take as much as O(tp) time.";
    let what = "a skewed matrix, P = 16: linear permutation over random scheduling";
    let ratio = sheet.time("skewed, linear") / sheet.time("skewed, random");
    sheet.claim(what, "6", quote, above(1.0), [ratio]);
    let trace = sheet.last("random").trace();
    let picture = timeline(trace, "Figure 1 by distributed random scheduling, P = 8, CM-5", ("us", US));
    let caption = "After the exchange of the vectors inquiries, replies and the messages themselves.";
    sheet.picture("timeline", caption, picture.expect("it is small"));
    Ok(())
}
