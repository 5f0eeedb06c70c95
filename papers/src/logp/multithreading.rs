//! Section 3.2: virtual processors that hide the latency.

use loggp::{Machine, ParamsBuilder, Run, RunError, Tag};

use crate::prelude::*;

pub(super) const VIRTUAL_PROCESSORS: Exhibit = Exhibit {
    id: "logp-multithreading",
    place: "section 3.2",
    title: "virtual processors hide the latency, up to L/g of them",
    notes: "Two processors, each of which does the work of V virtual ones. A virtual processor sends a word to its partner on the other \
            processor, waits for the partner's word, and goes on, 100 times. L = 40 us, o = 0.5 us, g = 4 us: L/g is 10, and an overhead \
            is small. On the CM-5 L/g is 1.5, and there is hardly a latency to hide. The same was run \
            without any capacity.",
    formulas: &[
        "V/(L + 2o) exchanges in a unit of time, but not more than 1/g (section 3.2 has the limit L/g and no formula)",
    ],
    show: show_limit,
    ..Exhibit::USUAL
};

const WORD: Tag<u64> = Tag::named(0, "word");
/// Exchanges of a virtual processor.
const ROUNDS: usize = 100;
/// L/g on this machine.
const LIMIT: usize = 10;

/// Runs so many virtual processors on each of two, with the capacity of L/g or without any.
fn exchange(virtual_processors: usize, has_capacity: bool) -> Result<Run<()>, RunError> {
    let builder = ParamsBuilder::from(Params { o: US / 2, ..cycle_machine(2, [40, 0, 4]) });
    let builder = if has_capacity { builder } else { builder.C(Params::NO_LIMIT) };
    Machine::new(builder.build().expect("these are parameters")).run(|p| {
        let other = 1 - p.id();
        (0..virtual_processors).for_each(|number| p.send(other, WORD, number as u64));
        for _ in virtual_processors..virtual_processors * ROUNDS {
            let number = p.recv(WORD);
            p.send(other, WORD, number);
        }
        for _ in 0..virtual_processors {
            p.recv(WORD);
        }
    })
}

fn show_limit(sheet: &mut Sheet) -> Result<(), StudyError> {
    let runs = (1..=2 * LIMIT).map(|V| exchange(V, true)).collect::<Result<Vec<_>, _>>()?;
    let rate_of = |V: usize, run: &Run<()>| run.ran(|run| (V * ROUNDS) as f64 / in_us(run.time));
    let rate = |V: usize| rate_of(V, &runs[V - 1]);
    let quote = "The technique of multithreading is often suggested as a way of masking latency.";
    let what = "exchanges in the same time, 10 virtual processors over one";
    let rule = between(9.5, 10.0)
        .because("all of the latency is masked if ten do ten times as much, but for the ends");
    sheet.add_claim(what, "3.2", quote, rule, [rate(LIMIT) / rate(1)]);
    let quote = "the capacity constraint allows multithreading to be employed only up to a limit of L/g virtual processors";
    let what = "exchanges in the same time, 20 virtual processors over L/g = 10";
    let rule = between(1.0, 1.05).because("(L + 2o)/g is 10.25, which is by 2.5% more than L/g");
    sheet.add_claim(what, "3.2", quote, rule, [rate(2 * LIMIT) / rate(LIMIT)]);
    let free = exchange(2 * LIMIT, false)?;
    let what = "exchanges in the same time, 20 virtual processors without any capacity over the same with it";
    let rule = above(1.0).because("what the capacity limits is more without it");
    sheet
        .add_claim(what, "3.2", quote, rule, [rate_of(2 * LIMIT, &free) / rate(2 * LIMIT)])
        .expect_difference(
            DifferenceCause::Reading,
            "the limit is there, but the gap makes it: without any capacity it is the same",
            "A processor starts a message every g at most, and each is in transit for L. So no more than L/g of them are in transit at a time, \
             with a capacity or without. The capacity stops a processor only where several send to the same one.",
        );
    let points = (1..=2 * LIMIT).map(|V| (V as f64, 1e3 * rate(V).value())).collect();
    let plot =
        Plot::new("Multithreading", "exchanges of a processor that does the work of several virtual ones")
            .x("virtual processors of a processor", Scale::Linear)
            .y("exchanges in a ms", Scale::Linear)
            .lines([marked_line("model", 1, points)])
            .level("1/g", 250.0);
    sheet.add_plot(
        "",
        "Up to L/g = 10 virtual processors each brings as much as the first; more bring nothing.",
        plot,
    );
    Ok(())
}
