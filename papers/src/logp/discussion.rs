//! Sections 3.1 and 3.2: claims about the parameters.

use loggp::{Machine, Tag};
use loggp_programs::PROGRAMS;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::rtt::RTT;

use super::enter_times;
use crate::prelude::*;

pub(super) const OVERHEAD: Exhibit = Exhibit {
    id: "logp-sec3.1",
    place: "section 3.1",
    title: "o raised to g, so that g can be ignored",
    notes: "Programs of the papers on 8 processors of a CM-5 (o = 2, g = 4 us), and on one whose o is 4 us too.",
    formulas: &["none"],
    series: |_| {
        let programs = || PROGRAMS.iter().filter(|program| NAMES.contains(&program.name));
        let make_series = |(what, params): (&'static str, Params)| {
            programs().map(move |program| {
                // LogP has no long messages.
                let name =
                    if program.name == "remap" { "short-staggered" } else { program.algorithms[0].name };
                CaseSeries::from_case(format!("{}, {what}", program.name), Case::new(program, name, params))
            })
        };
        let raised = Params { o: 4 * US, ..cm5(8) };
        let alone = CS2.into_iter().flat_map(|name| {
            let params = preset_machine(name, 2);
            let make_series =
                |name, params| CaseSeries::from_case(name, Case::new(&BROADCAST, "flat", params));
            let raised = Params { o: params.g, ..params };
            [
                make_series(format!("a message on {name}"), params),
                make_series(format!("a message on {name}, o raised"), raised),
            ]
        });
        [("CM-5", cm5(8)), ("o raised", raised)].into_iter().flat_map(make_series).chain(alone).collect()
    },
    show: show_overhead,
    ..Exhibit::USUAL
};

/// Programs that only communicate: much computing would hide the effect.
const NAMES: [&str; 6] = ["broadcast", "summation", "scatter", "remap", "all-to-all-broadcast", "combining"];

/// Machines of LogGP where o is much less than g.
const CS2: [&str; 2] = ["cs2-splitc", "cs2-elan"];

pub(super) const REMOTE: Exhibit = Exhibit {
    id: "logp-sec3.2",
    place: "section 3.2",
    title: "reading a remote location, and prefetching",
    notes: "A processor of a CM-5 asks another for a word, and goes on asking for more before the first has come.",
    formulas: &["2L + 4o (section 3.2)"],
    series: |_| {
        vec![
            CaseSeries::from_case("read", Case { size: 8, ..Case::new(&RTT, "blocking", cm5(2)) }).measured(),
        ]
    },
    show: show_remote,
    ..Exhibit::USUAL
};

const ASK: Tag<u64> = Tag::named(0, "ask");
const WORD: Tag<u64> = Tag::named(1, "word");

fn show_overhead(sheet: &mut Sheet) -> Result<(), StudyError> {
    let raised = NAMES.map(|name| {
        sheet.model_time(&format!("{name}, o raised")) / sheet.model_time(&format!("{name}, CM-5"))
    });
    let quote = "increase o to be as large as g, so g can be ignored. This is conservative by at most a factor of two.";
    let what = "six programs: time with o raised to g over time without";
    sheet.add_claim(what, "3.1", quote, between(1.0, 2.0), raised);
    let alone = CS2.map(|name| {
        sheet.model_time(&format!("a message on {name}, o raised"))
            / sheet.model_time(&format!("a message on {name}"))
    });
    let what = "a single message, cs2-splitc and cs2-elan: time with o raised to g over time without";
    sheet
        .add_claim(what, "3.1", quote, between(1.0, 2.0), alone)
        .expect_difference(
            DifferenceCause::Reading,
            "the paper does not say for which programs: a single message takes L + 2o, which becomes L + 2g",
            "the factor of two holds for streams of messages, which take the larger of g and 2o for each message, and 2g with o raised. A \
             single message takes L + 2o, and L + 2g with o raised, which is more than twice as much where o is much less than g",
        );
    Ok(())
}

fn show_remote(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "reading a remote location requires time 2L + 4o";
    sheet.add_claim(
        "time to read a remote word [us]",
        "3.2",
        quote,
        exactly(20.0),
        [sheet.model_time("read")],
    );
    // Processor 0 prefetches words as fast as the machine lets it, and computes nothing meanwhile.
    const WORDS: usize = 50;
    let machine = Machine::new(cm5(2)).trace(true);
    let run = machine.run(|p| {
        for word in 0..WORDS {
            if p.id() == 0 {
                p.send(1, ASK, word as u64);
            } else {
                let word = p.recv(ASK);
                p.send(0, WORD, word);
            }
        }
        if p.id() == 0 {
            (0..WORDS).for_each(|_| assert!(p.recv(WORD) < WORDS as u64));
        }
    })?;
    let trace = run.trace.as_ref().expect("it was traced");
    let enters = enter_times(trace, 1);
    let apart: Vec<_> = enters.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let quote = "Prefetch operations, which initiate a read and continue, can be issued every g cycles";
    sheet.add_claim(
        "time from one prefetch to the next, 50 prefetches [us]",
        "3.2",
        quote,
        exactly(4.0),
        apart,
    );
    let quote = "and cost 2o units of processing time";
    let each = run.ran(|run| in_us(run.processors[0].send + run.processors[0].recv) / WORDS as f64);
    sheet.add_claim("time of processor 0 that a prefetch takes [us]", "3.2", quote, exactly(4.0), [each]);
    Ok(())
}
