//! Section 4.2: what the layout of a matrix costs its LU decomposition.

use loggp::{Params, US, preset};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use crate::pictures::curves::trend;
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::lu::LU;
use loggp_study::{Answers, Failed};

/// Section 4.2.
pub const LAYOUTS: Exhibit = Exhibit {
    id: "logp-lu",
    place: "section 4.2",
    title: "LU decomposition: what the layout of the matrix costs",
    says: &[
        "A bad layout needs the whole pivot row and all multipliers everywhere: step k takes 2(n-k)g + L for communication, \
         and 2(n-k)^2/P for computing.",
        "By columns only the multipliers are broadcast: half as much communication.",
        "On a grid a processor receives 2(n-k)/sqrt(P) values: less by a factor of sqrt(P) than in the bad layout. What \
         pivoting and scaling cost there is negligible as n grows.",
        "A blocked grid is badly balanced: after n/sqrt(P) steps 2 sqrt(P) processors are idle, and one alone is active in \
         the last n/sqrt(P).",
        "A scattered grid keeps all P active but for the last sqrt(P) steps; the fastest Linpack programs use it.",
        "The section has no machine and no measured number.",
    ],
    formulas: &[
        "replicated: the sum over k of 2(n-k)g + L and 2(n-k)^2/P (section 4.2)",
        "columns: (n-k)g + L; grid: 2(n-k)/sqrt(P) g + L; with all terms kept, a recurrence over panels",
    ],
    commands: &[
        "loggp compare lu --machine cm5 --params word=8,P=16 --size 256 --clock virtual",
        "loggp compare lu --machine cm5 --params word=8,P=16 --size 64",
        "loggp run lu grid-blocked --machine cm5 --params word=8,P=16 --size 128 -o active.svg",
    ],
    seconds: Seconds { quick: 4.0, full: 60.0 },
    make,
};

/// The layouts, in the paper's order, and what it calls them.
const NAMES: [(&str, &str); 5] = [
    ("replicated", "bad layout"),
    ("column-cyclic", "columns"),
    ("column-blocked", "columns, blocked"),
    ("grid-blocked", "grid, blocked"),
    ("grid-cyclic", "grid, scattered"),
];
/// How many processors there are, and the side of their grid.
const P: usize = 16;
const SIDE: usize = 4;

/// The CM-5, with a number in a word. The paper names no machine here.
fn machine() -> Params {
    let cm5 = preset("cm5").expect("it is one of the papers' machines").builder();
    cm5.P(P).word(8).build().expect("a paper's machine can be")
}

fn case(algorithm: &str, n: usize) -> Case {
    Case { size: n, ..Case::new(&LU, algorithm, machine()) }
}

/// What one of the layouts costs.
struct Cost {
    /// The time of all, in us.
    time: f64,
    /// The time of the broadcasts, in us.
    broadcast: f64,
    /// The words that a processor received, on average.
    words: f64,
}

impl Cost {
    fn of(answers: &Answers) -> Cost {
        let broadcast = answers.phases.iter().find(|phase| phase.phase == "broadcast");
        let words = answers.outcome.metric("received mean");
        let us = |time: Option<loggp::Time>| time.map_or(f64::NAN, |time| time.in_units(US));
        Cost {
            time: us(answers.prediction.model),
            broadcast: us(broadcast.and_then(|phase| phase.prediction.model)),
            words: words.unwrap_or(f64::NAN),
        }
    }
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let n = lab.pick(256, 512);
    let table = Table::new("layouts", format!("The layouts, n = {n}, P = {P}, in the model"));
    let table = table.text("layout").exact("time", "us").exact("formula", "us").percent("vs formula");
    let mut table = table.exact("broadcasts", "us").exact("words received", "mean");
    let mut layouts = Vec::new();
    for (done, (algorithm, called)) in NAMES.into_iter().enumerate() {
        let answers = lab.model(case(algorithm, n))?;
        let layout = Cost::of(&answers);
        let formula = answers.prediction.formula.map(|time| time.in_units(US));
        table.push(vec![
            called.into(),
            layout.time.into(),
            formula.into(),
            answers.prediction.error_formula().into(),
            layout.broadcast.into(),
            layout.words.into(),
        ]);
        layouts.push(layout);
        lab.done(0.5 * (done + 1) as f64 / NAMES.len() as f64);
    }
    let small = lab.pick(32, 128);
    let title = format!("Measured too, n = {small}, P = {P}");
    let mut runs = Runs::new("runs", &title, &["layout"], ("us", US));
    for (algorithm, called) in NAMES {
        runs.push(&[called], None, &lab.measured(case(algorithm, small))?);
    }

    let [bad, columns, _, blocked, scattered] = &layouts[..] else { unreachable!("there are five") };
    let [blocked_run, scattered_run] =
        [lab.model(case("grid-blocked", STEPS))?, lab.model(case("grid-cyclic", STEPS))?];
    let active = |answers: &Answers| {
        let points = answers.outcome.trend.as_ref().map_or(&[][..], |trend| &trend.points);
        points.iter().map(|(_, active)| *active).collect::<Vec<f64>>()
    };
    let [blocked_active, scattered_active] = [active(&blocked_run), active(&scattered_run)];
    let after = STEPS / SIDE; // n/sqrt(P) steps
    // What is noted of step k is who has something to update in it; in the last there is nothing left.
    let alone = blocked_active[..STEPS - 1].iter().filter(|active| **active == 1.0).count();
    let all = scattered_active.iter().take_while(|active| **active == P as f64).count();

    let checks = [
        Check::equal("words that a processor gets, bad layout / columns", "2", bad.words / columns.words)
            .by(Answer::Count),
        Check::equal("words that a processor gets, bad layout / grid: sqrt(P)", "4", bad.words / scattered.words)
            .by(Answer::Count),
        Check::claim(
            "which layout is the fastest",
            "the scattered grid",
            format!(
                "scattered grid {:.0} ms, columns {:.0}, bad layout {:.0}, blocked grid {:.0}",
                scattered.time / 1e3,
                columns.time / 1e3,
                bad.time / 1e3,
                blocked.time / 1e3
            ),
            layouts.iter().all(|layout| layout.time >= scattered.time),
        ),
        Check::equal(
            "blocked grid: idle processors after n/sqrt(P) steps, 2 sqrt(P)",
            "8",
            P as f64 - blocked_active[after - 1],
        )
        .by(Answer::Count)
        .because(
            "a row and a column of the grid are idle, and the paper counts the processor twice that is in both: it is 2 \
             sqrt(P) - 1",
        ),
        Check::equal("blocked grid: steps in which one is active, n/sqrt(P)", "32", alone as f64)
            .by(Answer::Count),
        Check::claim(
            "scattered grid: steps in which all are active",
            "all but the last sqrt(P) = 4",
            format!("{all} of {STEPS}"),
            all >= STEPS - SIDE,
        )
        .by(Answer::Count),
    ];
    let lines =
        [("grid-cyclic", "scattered grid", scattered_run), ("grid-blocked", "blocked grid", blocked_run)];
    let lines = lines.iter().flat_map(|(name, label, answers)| {
        let number = LU.algorithms.iter().position(|other| other.name == *name).unwrap_or(0);
        trend(label, number, answers.trend.as_ref(), answers.outcome.trend.as_ref(), (0, 1))
    });
    let plot = Plot::new(
        format!("Who has something to update, n = {STEPS}, P = {P}"),
        "predicted as lines, observed as marks",
    )
    .x("step", Scale::Linear)
    .y("processors that update", Scale::Linear)
    .lines(lines);
    Ok(Finding::new(format!(
        "The layouts come in the paper's order, and what a processor receives is less by the paper's factors of 2 and sqrt(P) \
         (with pivoting, {:.2} and {:.2}). In time the broadcasts gain less, {:.2} and {:.2}: a step's L + 2o, and what a \
         processor passes on, do not shrink. The model has one idle processor less than the paper's 2 sqrt(P).",
        bad.words / columns.words,
        bad.words / scattered.words,
        bad.broadcast / columns.broadcast,
        bad.broadcast / scattered.broadcast
    ))
    .table(table)
    .table(runs.table())
    .picture("", "How balanced the layouts are: a processor counts in a step if it has something to update.", plot.svg())
    .checks(checks))
}

/// The steps of the decomposition in which active processors are counted.
const STEPS: usize = 128;
