//! Figure 1: one message, and two in a row.

use loggp::params::LongMessages;
use loggp_programs::scatter::SCATTER;

use super::machine_in_cycles;
use crate::prelude::*;

pub(super) const FIGURE_1: Exhibit = Exhibit {
    id: "loggp-fig1",
    place: "figure 1 and section 2.1",
    title: "sending and receiving messages under LogGP",
    notes: "The figure has no numbers. Here L = 4, o = 1, g = 4 and G = 1, the machine of figure 9, and messages have 10 words.",
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
        let traced = make_series(("traced", "long", 3, 10)).traced();
        let logp = Params { long: LongMessages::LogP, ..machine_in_cycles(2, 4, 1, 4) };
        let word = CaseSeries::from_case("a message of a word, LogP", scatter_case("long", logp, 1));
        measured.into_iter().chain([traced, word]).collect()
    },
    show: show_two_messages,
    ..Exhibit::USUAL
};

/// Messages: name, algorithm, processors and items.
const MESSAGES: [(&str, &str, usize, usize); 4] = [
    ("a message of a word", "long", 2, 1),
    ("a message of 10 words", "long", 2, 10),
    ("10 words one by one", "short", 2, 10),
    ("two messages in a row", "long", 3, 10),
];

/// Returns a scatter with `items` items for each processor.
fn scatter_case(algorithm: &str, params: Params, items: usize) -> Case {
    Case { size: items, ..Case::new(&SCATTER, algorithm, params) }
}

fn show_two_messages(sheet: &mut Sheet) -> Result<(), StudyError> {
    let Params { L, o, g, .. } = machine_in_cycles(3, 4, 1, 4);
    let stream = 9 * US; // (k-1)G
    let traced = sheet.last_result("traced").clone();
    let times = [o + L + o, o + stream + L + o, o + 9 * g.max(o) + L + o, o + stream + g + stream + L + o];
    let ends = MESSAGES.iter().zip(times);
    let ends =
        ends.map(|((name, ..), time)| sheet.last_result(name).ran(|result| result.model() == time)).collect();
    let moments = traced.trace().ran(|trace| {
        let [first, second] = &trace.messages[..] else { unreachable!("there are two receivers") };
        first.arrival - L == o + stream
            && second.enter == o + stream + g
            && second.arrival - L == o + stream + g + stream
    });
    let checks: Vec<Ran<bool>> = [ends, vec![moments]].concat();
    let what = "section 2.1: how long a message of a word, one of 10 words, 10 words one by one and two messages in a row take; and when \
                words of the two leave";
    sheet.add_own_check(what, checks);
    let busy = traced.trace().ran(|trace| {
        let sends = trace.activities.iter();
        let sends = sends.filter(|one| one.id == 0 && matches!(one.kind, ActivityKind::Send(_)));
        in_us(sends.map(|one| one.end - one.start).sum())
    });
    let quote = "The sending and receiving processors are busy only during the o cycles of overhead";
    let what = "how long the sender of two messages is busy, where o = 1 [cycles]";
    sheet.add_claim(what, "2.1", quote, exactly(2.0), [busy]);
    let quote = "Our model for k=1 is precisely the LogP model.";
    let apart = sheet.model_time("a message of a word") - sheet.model_time("a message of a word, LogP");
    let what = "the time of a word under LogGP less that under LogP [cycles]";
    sheet.add_claim(what, "2.2", quote, exactly(0.0), [apart]);
    let caption = "Processor 0 sends 10 words to processor 1 and 10 words to processor 2. The arrow of a message goes from when \
                   its first word enters the network to when its last one is there.";
    let title = "Two long messages in a row: L = 4, o = 1, g = 4, G = 1, k = 10";
    sheet.add_timeline("", caption, title, &traced);
    Ok(())
}
