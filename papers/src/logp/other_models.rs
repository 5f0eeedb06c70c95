//! Sections 6.1 and 6.3: PRAM and BSP beside LogP.

use loggp::{Machine, Run, RunError, Tag};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::fft::POINT;
use loggp_programs::remap::REMAP;
use loggp_programs::stress::STRESS;

use super::{broadcast, fft};
use crate::prelude::*;

pub(super) const PRAM: Exhibit = Exhibit {
    id: "logp-sec6.1",
    place: "section 6.1",
    title: "the PRAM is L = o = g = 0, and communication is free on it",
    notes: "FFTs of 4,096 points on 16 processors, on a machine with L = o = g = 0 and on a CM-5. A point costs nothing to load.",
    formulas: &["n/P log n nodes, two of them a butterfly of 4.5 us"],
    series: |_| {
        let machines = [("PRAM", cycle_machine(P, [0, 0, 0])), ("CM-5", cm5(P))];
        let series = |(machine, params): (&'static str, Params)| {
            FFTS.map(|name| {
                let case = fft::case(name, params, 1 << 12).with(&POINT, Time::ZERO);
                CaseSeries::from_case(format!("{name}, {machine}"), case)
            })
        };
        machines.into_iter().flat_map(series).collect()
    },
    show: show_pram,
    ..Exhibit::USUAL
};

pub(super) const BSP: Exhibit = Exhibit {
    id: "logp-sec6.3",
    place: "section 6.3",
    title: "BSP's supersteps take longer than messages that are used as they come",
    notes: "The h-relation is on a CM-5 of 16 processors; the broadcast on the machine of figure 3, with a barrier that costs nothing; the \
            FFT, of 4,096 points, on a CM-5 of 16 processors.",
    formulas: &["a superstep of the broadcast: L + 2o + (h - 1)g"],
    series: |_| {
        let synchronized = fft::case("short-synchronized", cm5(P), 1 << 12);
        let hardware = Case { barrier: Some(Time::ZERO), ..synchronized.clone() };
        // Two words of 16 bytes for each of the 15 others.
        let scheduled = Case { size: 32, ..Case::new(&REMAP, "short-staggered", cm5(P)) };
        let random = Case { size: 30, ..Case::new(&STRESS, "h-relation", cm5(P)) };
        let broadcast = Case::new(&BROADCAST, "optimal", broadcast::machine());
        [
            ("random", random),
            ("scheduled", scheduled),
            ("broadcast", broadcast),
            ("barriers of messages", synchronized),
            ("barriers in hardware", hardware),
        ]
        .map(|(name, case)| CaseSeries::from_case(name, case))
        .into()
    },
    show: show_bsp,
    ..Exhibit::USUAL
};

const P: usize = 16;
/// Algorithms of the FFT, from little communication to much.
const FFTS: [&str; 4] = ["short-staggered", "short-naive", "cyclic", "blocked"];

fn show_pram(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "In effect, the PRAM assumes that interprocessor communication has infinite bandwidth, zero latency, and zero overhead (g = 0, \
                 L = 0, o = 0).";
    let what = "L = o = g = 0: time over that of the computation, hybrid layout (staggered and naive schedule), cyclic, blocked";
    let computing = 256.0 * 12.0 * 2.25;
    let ours = FFTS.map(|name| sheet.model_time(&format!("{name}, PRAM")) / computing);
    sheet.add_claim(what, "6.1", quote, exactly(1.0), ours);
    let quote = "Thus, the PRAM model does not discourage the design of algorithms with an excessive amount of interprocessor communication.";
    let what = "CM-5: times of the naive schedule, the cyclic and the blocked layout over that of the staggered schedule";
    let first = sheet.model_time("short-staggered, CM-5");
    let others: Vec<_> =
        FFTS[1..].iter().map(|name| sheet.model_time(&format!("{name}, CM-5")) / first).collect();
    let rule = above(1.0).because("LogP tells them apart");
    sheet.add_claim(what, "6.1", quote, rule, others);
    Ok(())
}

const DATUM: Tag<u64> = Tag::named(0, "datum");

/// Broadcasts a datum on figure 3's machine in supersteps, in each of which a processor that has it sends it
/// to `h` others.
fn broadcast_in_supersteps(h: usize) -> Result<Run<u64>, RunError> {
    Machine::new(broadcast::machine()).barrier(Time::ZERO).run(|p| {
        let id = p.id();
        let mut datum = 42 * u64::from(id == 0);
        let mut told = 1;
        while told < p.P() {
            if id < told {
                let first = told + id * h;
                (first..p.P().min(first + h)).for_each(|to| p.send(to, DATUM, datum));
            } else if id < told * (h + 1) {
                datum = p.recv(DATUM);
            }
            told *= h + 1;
            p.barrier();
        }
        datum
    })
}

fn show_bsp(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "The length of a superstep must be sufficient to accommodate an arbitrary h-relation (and hence the most unfavorable one \
                 possible). Our model enables communication to be scheduled more precisely";
    let what = "time of a 30-relation with random receivers over that of a scheduled one";
    let rule = above(1.0).because("a schedule may only gain");
    sheet.add_claim(what, "6.3", quote, rule, [sheet.model_time("random") / sheet.model_time("scheduled")]);
    let best = sheet.model_time("broadcast");
    let mut times = Vec::new();
    for h in [1, 2, 3, 7] {
        let run = broadcast_in_supersteps(h)?;
        assert!(run.results.iter().all(|datum| *datum == 42), "everyone has the datum");
        times.push(run.ran(|run| in_us(run.time)) / best);
    }
    let quote = "Messages sent at the beginning of a superstep can only be used in the next superstep, even if the length of the superstep is \
                 longer than the latency. In our model processors work asynchronously, and a processor can use a message as soon as \
                 it arrives.";
    let what = "time of a broadcast in supersteps with h = 1, 2, 3 and 7 over that of figure 3";
    let rule = above(1.0).because("figure 3 is the best without supersteps");
    sheet.add_claim(what, "6.3", quote, rule, times);
    let quote = "In our model all synchronization is done by messages, admittedly at higher cost than if synchronization hardware were \
                 available.";
    let what = "time of the FFT with barriers made of messages over that with barriers in hardware";
    let ours = sheet.model_time("barriers of messages") / sheet.model_time("barriers in hardware");
    sheet.add_claim(what, "6.3", quote, above(1.0), [ours]);
    Ok(())
}
