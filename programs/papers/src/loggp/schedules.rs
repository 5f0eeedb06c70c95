//! Figures 7 to 10: the schedules of scatters on a few processors.

use loggp::{Message, Params, Trace, US};

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Runs, Seconds};
use super::common::{amount, cycles, simplified, timeline};
use loggp_draw::digits::exact;
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::{Answers, Failed};

/// Figure 7.
pub const FIGURE_7: Exhibit = Exhibit {
    id: "loggp-fig7",
    place: "figure 7",
    title: "the Short-Message algorithm, which is optimal under LogP",
    says: &[
        "The source sends every item by itself: k = 1 item for each of P = 4 processors.",
        "The left graph is the full LogGP with L = o = 5, g = 10 and G = 1, the right one the simplified LogGP with L' = 15 and \
         g' = 10.",
        "The simplified LogGP takes the overheads for latency, L' = L + 2o, and measures times in G; it sacrifices no accuracy \
         (section 4.1).",
    ],
    formulas: &["((P-1)k - 1)g + L (table 2), with L + 2o for L in the full LogGP"],
    commands: &[
        "loggp run scatter short --params L=5,o=5,g=10,G=1,P=4 --size 1 --clock virtual --timeline full.svg",
        "loggp run scatter short --params L=15,o=0,g=10,G=1,P=4 --size 1 --clock virtual --timeline simplified.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: |lab| two_views(lab, "short"),
};

/// Figure 8.
pub const FIGURE_8: Exhibit = Exhibit {
    id: "loggp-fig8",
    place: "figure 8",
    title: "the Binomial Tree algorithm",
    says: &[
        "Half of all items go to a new source in one message, and both halves go on so: k = 1 item for each of P = 4 processors, \
         with the parameters of figure 7.",
        "Item 3 is sent twice over the network.",
        "Processor P/2 keeps k(P/2 - 1) items for others, and processor P/4 keeps k(P/4 - 1).",
        "Grouping items gets rid of them sooner, at the expense of traffic and of memory (section 4.4).",
    ],
    formulas: &["max(L, g)(log2 P - 1) + L + (P-1)k - log2 P (table 2), with L + 2o for L in the full LogGP"],
    commands: &[
        "loggp run scatter binomial --params L=5,o=5,g=10,G=1,P=4 --size 1 --clock virtual --timeline full.svg",
        "loggp run scatter binomial --params L=15,o=0,g=10,G=1,P=4 --size 1 --clock virtual --timeline simplified.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: |lab| two_views(lab, "binomial"),
};

/// Figure 9.
pub const FIGURE_9: Exhibit = Exhibit {
    id: "loggp-fig9",
    place: "figure 9",
    title: "the optimal schedule that splits no set of items",
    says: &[
        "The full LogGP with L = 4, o = 1, g = 4, G = 1 and P = 6; every processor gets k = 10 items.",
        "The schedule of the algorithm for k items ends at 63.",
        "On its critical path P2 sends 10 items to P3.",
    ],
    formulas: &["t(n) = min over s of (sk-1)G + max(L + 2o + t(s), g + t(n-s)) (section 4.7)"],
    commands: &[
        "loggp run scatter optimal --params L=4,o=1,g=4,G=1,P=6 --size 10 --clock virtual --timeline figure9.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: unsplit,
};

/// Figure 10.
pub const FIGURE_10: Exhibit = Exhibit {
    id: "loggp-fig10",
    place: "figure 10",
    title: "the optimal schedule with the message for P3 split",
    says: &[
        "2 of the 10 items for P3 go by way of P5, and 8 by way of P2.",
        "The schedule ends at 61, two cycles before that of figure 9.",
    ],
    formulas: &[],
    commands: &[
        "loggp run scatter split --params L=4,o=1,g=4,G=1,P=6 --size 10 --clock virtual --timeline figure10.svg",
    ],
    seconds: Seconds { quick: 1.0, full: 1.0 },
    make: split,
};

const COLUMNS: &[&str] = &["schedule"];

/// Runs a case with a picture, and measures it.
fn shown(lab: &Lab, case: &Case) -> Result<(Answers, Trace), Failed> {
    let (model, trace) = lab.traced(case.clone())?;
    Ok((if lab.is_wall() { lab.measured(case.clone())? } else { model }, trace))
}

/// The messages that bring a processor's item to it from the source, the last first.
fn way(trace: &Trace, to: usize) -> Vec<&Message> {
    let bringer = |to: usize| trace.messages.iter().find(move |message| message.to == to);
    std::iter::successors(bringer(to), |message| bringer(message.id.from)).collect()
}

fn two_views(lab: &Lab, algorithm: &str) -> Result<Finding, Failed> {
    let full = cycles(4, 5, 5, 10);
    let Params { L, o, g, .. } = full;
    let short = simplified(4, amount(L + 2 * o) as i64, amount(g) as i64);
    let case = |params| Case { size: 1, ..Case::new(&SCATTER, algorithm, params) };
    let mut runs = Runs::new("times", "The schedules", COLUMNS, ("cycles", US));
    let mut finding = Finding::default();
    let (mut ends, mut formulas, mut traces) = (Vec::new(), Vec::new(), Vec::new());
    for (name, params, title) in [
        ("full", full, "full LogGP: L = o = 5, g = 10, G = 1"),
        ("simplified", short, "simplified LogGP: L' = 15, g' = 10"),
    ] {
        let (answers, trace) = shown(lab, &case(params))?;
        runs.push(&[title], None, &answers);
        ends.push(answers.prediction.model.unwrap_or_default());
        formulas.push(answers.prediction.formula.unwrap_or_default());
        let caption = format!("Through the {title}.");
        finding = finding.picture(name, caption, timeline(&trace, title));
        traces.push(trace);
    }
    let cycles = |times: &[loggp::Time]| {
        times.iter().map(|time| exact(amount(*time))).collect::<Vec<_>>().join(" and ")
    };
    let mut checks = vec![
        Check::equal("L' of the simplified LogGP", "15", amount(short.L)).by(Answer::Formula),
        Check::equal("g' of the simplified LogGP", "10", amount(short.g)).by(Answer::Formula),
        Check::claim(
            "the ends of the full and of the simplified schedule",
            "simplified without sacrificing accuracy",
            cycles(&ends),
            ends[0] == ends[1],
        ),
        Check::claim("the same by table 2", "its formula", cycles(&formulas), formulas == ends)
            .by(Answer::Formula),
    ];
    if algorithm == "binomial" {
        let kept = |id: usize| way(&traces[0], id).first().map_or(0, |message| message.words) as f64 - 1.0;
        let times = way(&traces[0], 3).len() as f64;
        checks.extend([
            Check::claim("how often item 3 is sent", "twice", exact(times), times == 2.0).by(Answer::Count),
            Check::claim("items that P2 keeps for others", "k(P/2 - 1) = 1", exact(kept(2)), kept(2) == 1.0)
                .by(Answer::Count),
            Check::claim("items that P1 keeps for others", "k(P/4 - 1) = 0", exact(kept(1)), kept(1) == 0.0)
                .by(Answer::Count),
        ]);
    }
    let verdict = format!(
        "{} in both views at {} cycles, as table 2's formula has it.",
        if ends[0] == ends[1] && formulas == ends {
            "The schedule ends"
        } else {
            "The schedule does not end alike"
        },
        cycles(&ends)
    );
    Ok(Finding { verdict, ..finding }.checks(checks).table(runs.table()))
}

/// The case of figures 9 and 10.
fn six(algorithm: &str) -> Case {
    Case { size: 10, ..Case::new(&SCATTER, algorithm, cycles(6, 4, 1, 4)) }
}

fn unsplit(lab: &Lab) -> Result<Finding, Failed> {
    let (answers, trace) = shown(lab, &six("optimal"))?;
    let mut runs = Runs::new("times", "The schedule", COLUMNS, ("cycles", US));
    runs.push(&["no set of items is split"], Some(63.0), &answers);
    let end = amount(answers.prediction.model.unwrap_or_default());
    let last = way(&trace, 3)[0];
    let from = format!("P{} sends {} items to P{}", last.id.from, last.words, last.to);
    let ends = amount(last.arrival + trace.params.o);
    let checks = [
        Check::equal("the end of the schedule", "63", end),
        Check::equal("the same by the formula", "63", amount(answers.prediction.formula.unwrap_or_default()))
            .by(Answer::Formula),
        Check::same("the last message of the critical path", "P2 sends 10 items to P3", from),
        Check::claim("when P3 has it", "at the end", exact(ends), ends == end),
    ];
    Ok(Finding::new(verdict(&checks, "The schedule is the paper's, and ends when it says."))
        .picture("", CAPTION, timeline(&trace, "Figure 9: L = 4, o = 1, g = 4, G = 1, P = 6, k = 10"))
        .checks(checks)
        .table(runs.table()))
}

/// How to read the timelines of figures 9 and 10.
const CAPTION: &str = "Processor 0 has 10 items for each. A message's arrow goes from when its first item enters the network to when \
                       its last one is there.";

fn split(lab: &Lab) -> Result<Finding, Failed> {
    let (whole, _) = lab.traced(six("optimal"))?;
    let (answers, trace) = shown(lab, &six("split"))?;
    let mut runs = Runs::new("times", "The schedule", COLUMNS, ("cycles", US));
    runs.push(&["the message for P3 is split"], Some(61.0), &answers);
    let end = |answers: &Answers| amount(answers.prediction.model.unwrap_or_default());
    let mut parts: Vec<&Message> = trace.messages.iter().filter(|message| message.to == 3).collect();
    parts.sort_by_key(|message| message.id.from);
    let parts: Vec<String> =
        parts.iter().map(|message| format!("{} from P{}", message.words, message.id.from)).collect();
    let checks = [
        Check::equal("the end of the schedule", "61", end(&answers)),
        Check::equal("how much sooner than without splitting", "2", end(&whole) - end(&answers)),
        Check::equal("the messages in which P3 gets its items", "2", parts.len() as f64).by(Answer::Count),
        Check::same("from whom P3 gets how many", "8 from P2 and 2 from P5", parts.join(" and ")).by(Answer::Count).because(
            "a search found ours, in which P3 ends sooner and P1 alone at 61; by way of P5 a message would be under way to P3 when \
             that of P2 is to enter, which LogP's capacity of ceil(L/g) = 1 message delays by a cycle to an end at 62, and by way \
             of P4, which has the items before P5, the paper's 2 items end at 61 here too",
        ),
    ];
    let sooner = "The split schedule ends when the paper says, two cycles before the one without splitting. It is another one, which a \
                  search found: the paper's own breaks LogP's capacity by a cycle, of which LogGP says nothing.";
    Ok(Finding::new(verdict(&checks[..3], sooner))
        .picture("", CAPTION, timeline(&trace, "Figure 10: the message for P3 is split"))
        .checks(checks)
        .table(runs.table()))
}

/// What to say if all of these agree.
fn verdict(checks: &[Check], agree: &str) -> String {
    match checks.iter().all(|check| check.agreement != Agreement::Differs) {
        true => agree.into(),
        false => "The schedule is not the paper's.".into(),
    }
}
