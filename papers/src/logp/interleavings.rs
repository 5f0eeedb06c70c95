//! Section 3: the paper's programs under all orders of messages, and an anomaly.

use loggp::check::{Check, CheckReport, Strategy};
use loggp::{Machine, Order, Proc, RunError, Tag};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::fft::FFT;
use loggp_programs::lu::LU;
use loggp_programs::remap::REMAP;
use loggp_programs::summation::SUMMATION;
use loggp_programs::{Emulation, Program};

use crate::prelude::*;

pub(super) const ORDERS: Exhibit = Exhibit {
    id: "logp-sec3",
    place: "section 3",
    title: "the paper's programs under all orders of messages, and a latency that is better longer",
    notes: "Each algorithm of the paper's programs runs again and again on a CM-5, in all orders of messages that latencies up to L allow, at a size \
            where all orders can be tried.\nThe program of footnote 1: processors 1 and 2 each send a job to processor 0, processor 1 \
            a little later. Processor 0 does the jobs as they come. Job 1 takes 100 us. Job 2 takes 20 us, and then processor 3 \
            begins with its own 100 us. If the message of job 1 is faster, it overtakes job 2, and processor 3 has to wait.",
    formulas: &["none"],
    show: show_orders,
    ..Exhibit::USUAL
};

/// Most runs of an algorithm.
const RUNS: usize = 1000;

/// Returns the programs, each with a number of processors and a size at which all orders can be tried.
fn programs(lab: &Lab) -> [(&'static Program, usize, usize); 5] {
    let points = lab.pick(4, 8);
    [(&BROADCAST, 8, 8), (&SUMMATION, 8, 79), (&REMAP, 3, 16), (&FFT, 2, points), (&LU, 2, 4)]
}

/// Checks an algorithm under all orders of messages.
fn check_algorithm(case: &Case) -> Result<CheckReport<u64>, StudyError> {
    let plan = case.plan()?;
    let check = Check::new().strategy(Strategy::Systematic).runs(RUNS).results_may_differ(true);
    let report = check.run_trials(&Order::default(), case.params.P, |order| {
        let emulation = Emulation { order: Some(order.clone()), ..Emulation::default() };
        let outcome = plan.run(&emulation)?;
        Ok(outcome.verified.map(|()| outcome.digest))
    })?;
    Ok(report)
}

fn show_orders(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new("orders", "Orders of messages that were tried")
        .text("program")
        .text("algorithm")
        .exact("processors", "")
        .exact("messages", "")
        .exact("orders", "")
        .exact("runs", "");
    let (mut wrong, mut complete) = (Vec::new(), Vec::new());
    for (program, P, size) in programs(sheet.lab) {
        for algorithm in program.algorithms {
            let report = check_algorithm(&Case { size, ..Case::new(program, algorithm.name, cm5(P)) })?;
            wrong.push(report.ran(|report| f64::from(u8::from(report.failure.is_some()))));
            // The overlapped FFT computes for as long as a gap lasts, so each of its orders was run at some times only.
            if (program.name, algorithm.name) != ("fft", "overlapped") {
                complete.push(report.ran(|report| report.coverage.is_some_and(|all| all.is_complete())));
            }
            let names = [program.name.into(), algorithm.name.into()];
            let orders = report.coverage.map_or(0, |all| all.orders);
            let counts = [P, report.messages, orders, report.runs].map(Into::into);
            table.push(names.into_iter().chain(counts).collect());
        }
    }
    let quote = "an algorithm must produce correct results under all interleavings of messages consistent with the upper bound of L on latency";
    let what = "1 for an algorithm of the paper's programs that comes to a wrong result in some order of messages, else 0";
    sheet.add_claim(what, "3", quote, exactly(0.0), wrong);
    let what =
        "all orders of an algorithm's messages were tried, each algorithm that does not look at the clock";
    sheet.add_own_check(what, complete);
    show_anomaly(sheet)?;
    sheet.add_table(table);
    Ok(())
}

const JOB: Tag<u64> = Tag::named(0, "job");
const RESULT: Tag<u64> = Tag::named(1, "result");

/// Does the jobs of footnote 1, in the order in which they come, or job 2 first. Returns the order.
fn do_jobs(p: &mut Proc, as_they_come: bool) -> Vec<usize> {
    let mut done = Vec::new();
    match p.id() {
        0 => {
            for turn in 0..2 {
                let job = if as_they_come {
                    p.recv_with_sender(JOB).0
                } else {
                    p.recv(JOB.from(2 - turn));
                    2 - turn
                };
                done.push(job);
                p.work("job", if job == 1 { 100 } else { 20 }, || ());
                if job == 2 {
                    p.send(3, RESULT, 2);
                }
            }
        }
        3 => {
            p.recv(RESULT);
            p.work("job", 100, || ());
        }
        id => {
            p.work("head start of job 2", if id == 1 { 3 } else { 0 }, || ());
            p.send(0, JOB, id as u64);
        }
    }
    done
}

/// Adds the rows of footnote 1.
fn show_anomaly(sheet: &mut Sheet) -> Result<(), StudyError> {
    let machine = Machine::new(cm5(4));
    let check = Check::new().strategy(Strategy::Systematic).results_may_differ(true);
    let longest_over_exact = |as_they_come: bool| -> Result<Ran<f64>, RunError> {
        let program = |p: &mut Proc| do_jobs(p, as_they_come);
        let exact = machine.run(program)?;
        let mut longest = exact.ran(|_| 1.0);
        for result in check.clone().run(&machine, program)?.results {
            let run = machine.clone().order(&result.order).run(program)?;
            let ratio = run.ran(|run| in_us(run.time)) / exact.ran(|exact| in_us(exact.time));
            longest = if ratio > longest { ratio } else { longest };
        }
        Ok(longest)
    };
    let quote = "There are certain anomalous situations in which reducing the latency of certain messages actually increases the running time of \
                 an algorithm.";
    let what =
        "jobs as they come: the longest time with smaller latencies over the time with all latencies L";
    let rule = above(1.0).because("smaller latencies may make it longer");
    sheet.add_claim(what, "3", quote, rule, [longest_over_exact(true)?]);
    let quote = "These arise primarily when the computational schedule is based on the order of message arrival, rather than the information \
                 contained in the message.";
    let what = "job 2 first, whichever comes first: the longest time with smaller latencies over the time with all latencies L";
    let rule = at_most(1.0).because("smaller latencies may not make it longer");
    sheet.add_claim(what, "3", quote, rule, [longest_over_exact(false)?]);
    Ok(())
}
