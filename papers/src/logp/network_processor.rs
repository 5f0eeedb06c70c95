//! Section 5.4: a separate processor for the network.

use loggp::{Level, Machine, Run, RunError, Tag};

use crate::prelude::*;

pub(super) const NETWORK_PROCESSOR: Exhibit = Exhibit {
    id: "logp-sec5.4",
    place: "section 5.4",
    title: "a network processor doubles the performance of a node at best",
    notes: "A node computes 200 words and sends them to another node, which computes with each. It has one processor, or two: one that computes \
            and one that sends and receives. Between the two of a node messages cost nothing. The machine is a CM-5 with both of its \
            networks: g is 2 us, as o is. With g = 4 us the network would limit both nodes alike.",
    formulas: &[
        "a word takes max(o + w, g) with one processor and max(o, w, g) with two (section 5.4 has no formula)",
    ],
    show: show_gains,
    ..Exhibit::USUAL
};

const WORD: Tag<u64> = Tag::named(0, "word");
/// Words of a run.
const WORDS: u64 = 200;
/// Times of computing for a word, in us.
const COMPUTE: [u64; 6] = [0, 1, 2, 3, 4, 8];

/// Runs a pair of nodes, each with one processor or with two, that compute for so many us with a word.
fn run_nodes(per_node: usize, compute: u64) -> Result<Run<()>, RunError> {
    let params = Params { g: 2 * US, ..cm5(2 * per_node) };
    let free = Params { P: 2, L: Time::ZERO, o: Time::ZERO, g: Time::ZERO, ..params };
    let level = (per_node == 2).then(|| Level::new(free));
    let last = 2 * per_node - 1;
    Machine::new(params).levels(level).run(|p| {
        for word in 0..WORDS {
            let got = if p.id() == 0 { word } else { p.recv(WORD.from(p.id() - 1)) };
            assert_eq!(got, word);
            if p.id() == 0 || p.id() == last {
                p.work("word", compute, || ());
            }
            if p.id() < last {
                p.send(p.id() + 1, WORD, got);
            }
        }
    })
}

fn show_gains(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut gains = Vec::new();
    for compute in COMPUTE {
        let [one, two] = [run_nodes(1, compute)?, run_nodes(2, compute)?];
        gains.push(one.ran(|one| in_us(one.time)) / two.ran(|two| in_us(two.time)));
    }
    let quote = "Providing a separate network processor to deliver or receive long messages can at best double the performance of each node.";
    let what = "performance with two processors over that with one, 0, 1, 2, 3, 4 and 8 us of computing for each word";
    let rule =
        between(0.98, 2.0).because("two processors have two more messages on the way, at the beginning");
    sheet.add_claim(what, "5.4", quote, rule, gains.clone());
    let what = "performance with two processors over that with one, where computing takes as long as o, 2 us";
    let rule = between(1.9, 2.0).because("there both are busy all the time, except at the ends");
    sheet.add_claim(what, "5.4", quote, rule, [gains[2]]);
    let points = COMPUTE.into_iter().zip(&gains).map(|(compute, gain)| (compute as f64, gain.value()));
    let plot = Plot::new("What a network processor brings", "a CM-5 with both networks, o = g = 2 us")
        .x("computing for each word [us]", Scale::Linear)
        .y("performance, two processors over one", Scale::Linear)
        .lines([marked_line("model", 1, points.collect())])
        .level("twice", 2.0);
    sheet.add_plot("", "It brings most where computing and sending take the same time.", plot);
    Ok(())
}
