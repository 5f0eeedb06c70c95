//! Section 5.1: all-to-all broadcast.

use loggp::US;

use super::super::{Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::{CM5, cycles, list, machine, named};
use crate::pictures::curves::curves;
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST as PROGRAM;
use loggp_study::Failed;

/// The exhibit.
pub const ALL_TO_ALL: Exhibit = Exhibit {
    id: "karp-all-to-all",
    place: "section 5.1",
    title: "all-to-all broadcast",
    says: &[
        "Each of P processors has k items for all others. A processor receives k(P-1) messages, the first one not before \
         L + 2o: a lower bound is L + 2o + g(k(P-1) - 1).",
        "If processor i sends its item to i+1, .., i+P-1 (modulo P) at 0, g, .., (P-2)g, and repeats that k times, this bound is \
         met.",
        "The paper gives no example in numbers.",
    ],
    formulas: &["L + 2o + (P-2)g for one item, L + 2o + g(k(P-1) - 1) for k (section 5.1)"],
    commands: &[
        "loggp run all-to-all-broadcast -P 8 --params L=4,o=2,g=4 --size 1",
        "loggp run all-to-all-broadcast -P 8 --machine cm5 --size 1",
        "loggp sweep all-to-all-broadcast -P 16 --params L=4,o=2,g=4 --over size=1..16:log:5",
    ],
    seconds: Seconds { quick: 1.0, full: 8.0 },
    make,
};

/// L, o and g of machines on which receptions begin where no send is under way.
const ROOMY: [[i64; 3]; 4] = [[3, 0, 1], [4, 2, 4], [5, 1, 4], [9, 3, 8]];

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let (processors, items) = (2..=lab.pick(16, 40), [1, 3]);
    let mut table = Table::new("bound", "The lower bound, and what the model takes")
        .text("machine")
        .exact("P", "")
        .exact("k", "")
        .exact("bound", "cycles")
        .exact("model", "cycles");
    let (mut checks, mut below) = (Vec::new(), 0);
    for (n, times) in ROOMY.into_iter().chain([CM5]).enumerate() {
        for k in items {
            let (mut bounds, mut models) = (Vec::new(), Vec::new());
            for P in processors.clone() {
                let answers = lab.model(case(P, times, k))?;
                let bound = answers.prediction.formula.expect("the gap has room for a send and a reception");
                let model = answers.outcome.run.time;
                below += usize::from(model < bound);
                if [2, 3, 4, 8, 16].contains(&P) {
                    table.push(vec![
                        named(times).into(),
                        P.into(),
                        k.into(),
                        bound.in_units(US).into(),
                        model.in_units(US).into(),
                    ]);
                }
                bounds.push(cycles(bound));
                models.push(cycles(model));
            }
            let what = format!("time, k = {k}, P = 2 to {}, {}", processors.end(), named(times));
            checks.push(Check::same(what, &list(bounds), list(models)).because(
                "the paper's own o keeps a processor busy (section 2): to meet the bound all would have to begin to send at every \
                 multiple of g and to receive at L + o + every multiple, and here these fall together; the receptions come o later",
            ));
        }
        lab.done(0.5 * (n + 1) as f64 / 5.0);
    }
    checks.push(Check::claim(
        "all runs of this exhibit",
        "the bound is a lower bound",
        format!("{below} are below it"),
        below == 0,
    ));
    let (plot, runs) = compared(lab)?;
    let late = checks.iter().filter(|check| check.reason.is_some()).count();
    let verdict = format!(
        "{} Where a reception would have to begin just when a send does, as on the CM-5, no algorithm can meet the \
         bound, and {late} of {} lists end o later.",
        match checks
            .iter()
            .all(|check| check.reason.is_some() || check.agreement < super::super::Agreement::Differs)
        {
            true => "It agrees wherever receptions and sends do not overlap.",
            false => "It does not agree everywhere.",
        },
        checks.len() - 1,
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table)
        .picture(
            "",
            "The time over P, with k items of each processor. Lines are the formula, which is the bound, marks the model, and rings \
             were measured.",
            plot.svg(),
        )
        .checks(checks))
}

/// The time over P on a machine on which the bound is met; and some runs.
fn compared(lab: &Lab) -> Result<(Plot, Runs), Failed> {
    const TIMES: [i64; 3] = [4, 2, 4];
    let mut runs = Runs::new("runs", "All-to-all broadcast", &["machine", "P", "k"], ("cycles", US));
    let mut lines = Vec::new();
    for (number, k) in [1, 4, 16].into_iter().enumerate() {
        let mut points = Vec::new();
        for P in [2, 4, 8, 16, 32] {
            let answers =
                if P == 16 { lab.measured(case(P, TIMES, k))? } else { lab.model(case(P, TIMES, k))? };
            points.push((P as f64, answers.prediction));
            if P == 16 {
                runs.push(&[&named(TIMES), &P.to_string(), &k.to_string()], None, &answers);
            }
        }
        lines.extend(curves(&format!("k = {k}"), number, &points, |_, time| time.in_units(US)));
        lab.done(0.5 + 0.15 * (number + 1) as f64);
    }
    let answers = lab.measured(case(16, CM5, 1))?;
    runs.push(&[&named(CM5), "16", "1"], None, &answers);
    let plot = Plot::new("All-to-all broadcast", format!("{}, in cycles", named(TIMES)))
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Log)
        .lines(lines);
    Ok((plot, runs))
}

/// k items of each processor.
fn case(P: usize, times: [i64; 3], k: usize) -> Case {
    Case { size: k, ..Case::new(&PROGRAM, "optimal", machine(P, times)) }
}
