//! Section 4: the optimal summation, which is a broadcast run backwards.

use loggp_programs::TimeSpan;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::math::trees;
use loggp_programs::summation::{SUMMATION as PROGRAM, TIME};

use super::broadcast::information_times;
use super::search::{ScheduleSearch, SummationSearch};
use super::{CM5, cycles, machine_name};
use crate::prelude::*;

pub(super) const SUMMATION: Exhibit = Exhibit {
    id: "karp-summation",
    place: "section 4, lemmas 4.1 and 4.2, theorem 4.1",
    title: "optimal summation",
    notes: "A summation is a broadcast whose messages run backwards, on a machine whose latency is L + 1: a processor that begins to send \
            at S_i in t steps has the datum at t - S_i in the broadcast (section 4.1). The paper has no example in numbers; LogP's \
            figure 4 (P = 8, L = 5, o = 2, g = 4, T = 28) is one.\n\
            Two searches know no optimal schedule. One tries all that can be done in each cycle, for few processors and cycles: several \
            messages of a processor too. The other lets each processor send once, for more.",
    formulas: &[
        "n = sum of S_i - o(P-1) + 1 (from the proof of lemma 4.2)",
        "where fewer than P processors are of use: S(T) = o + 1 + the sum of T - o - t over the labels t <= T - o of the first P",
    ],
    unit: ("cycles", US),
    series,
    show,
    ..Exhibit::USUAL
};

const FIGURE_4: [i64; 3] = [5, 2, 4];
/// Machines on which all schedules are searched.
const SEARCHED: [[i64; 3]; 6] = [[1, 0, 1], [2, 1, 2], [3, 1, 3], [0, 1, 4], [2, 0, 2], [1, 1, 1]];
/// Machines whose summation is compared with a broadcast.
const REVERSED: [(usize, [i64; 3]); 4] = [(8, FIGURE_4), (8, CM5), (13, [3, 0, 1]), (32, [9, 2, 4])];

/// Returns the case of the most operands that can be summed by T cycles.
fn case_by_time(P: usize, times: [i64; 3], T: i64) -> Case {
    Case::new(&PROGRAM, "optimal", cycle_machine(P, times)).with(&TIME, Some(TimeSpan::from_cycles(T as u32)))
}

/// Returns a time in which all processors are of use: more than the least of the theorem.
fn sufficient_time(P: usize, times @ [L, o, g]: [i64; 3]) -> i64 {
    match times == FIGURE_4 {
        true => 28,
        false => cycles(trees::B(P, (L + 1 + 2 * o) * US, g * US)) + 10,
    }
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let most = lab.pick(4, 5);
    let searched = SEARCHED.into_iter().flat_map(move |times| {
        let series_for = move |P| {
            CaseSeries::from_values(searched_name(times, P), "t", 0..=9, |T| case_by_time(P, times, T as i64))
        };
        (2..=most).map(series_for)
    });
    let reversed = REVERSED.into_iter().flat_map(|(P, times @ [L, o, g])| {
        let broadcast = Case::new(&BROADCAST, "optimal", cycle_machine(P, [L + 1, o, g]));
        let summation = case_by_time(P, times, sufficient_time(P, times));
        let name = format!("{}, P = {P}", machine_name(times));
        [
            CaseSeries::from_case(name.clone() + ", broadcast", broadcast).traced(),
            CaseSeries::from_case(name, summation).traced(),
        ]
    });
    let sizes = [10, 20, 40, 79, 160, 320, 640, 1280];
    let compared = PROGRAM.algorithms.iter().map(|one| {
        let case = |size| Case { size, ..Case::new(&PROGRAM, one.name, cycle_machine(8, FIGURE_4)) };
        CaseSeries::from_values(one.name, "operands", sizes, case)
            .measured_if(|n| [10.0, 79.0, 640.0].contains(&n))
    });
    searched.chain(reversed).chain(compared).collect()
}

fn searched_name(times: [i64; 3], P: usize) -> String {
    format!("{}, P = {P}, by t", machine_name(times))
}

fn operand_count(result: &CaseResult) -> Ran<i64> {
    result.metric("operands").map(|operands| operands as i64)
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    add_searches(sheet);
    add_reversals(sheet);
    let result = sheet.last_result(&format!("{}, P = 8", machine_name(FIGURE_4))).clone();
    let over =
        operand_count(&result).map(|operands| (printed_count(result.trace(), 28, 8) - operands) as f64);
    let what = "lemma 4.2: n by its formula with the S_i of a run, less the operands of that run (P = 8, L = 5, o = 2, g = 4, t = 28)";
    sheet
        .add_claim(what, "lemma 4.2", "Then n = \u{3a3} S_i - op + 1", exactly(0.0), [over])
        .expect_difference(
            DifferenceCause::Misprint,
            "By the lemma's own proof p is the number of messages, P - 1, and not of processors.",
            "The lemma's proof adds up S_i - (o + 1)k_i + 1 over the processors. The k_i receptions are P - 1 in all, so that is \
             the sum of S_i - o(P - 1) + 1, and p in the formula can only be the number of messages. The run sums 79 operands, and \
             the formula with p = P has 77.",
        );
    let names: Vec<&str> = PROGRAM.algorithms.iter().map(|one| one.name).collect();
    let plot = Plot::new("Summation on 8 processors", format!("{}, in cycles", machine_name(FIGURE_4)))
        .x("operands n", Scale::Log)
        .y("time [cycles]", Scale::Log)
        .lines(sheet.times(&names));
    let caption = "The time to sum n operands on 8 processors. Lines are formulas, marks the model, and rings were measured.";
    sheet.add_plot("", caption, plot);
    let title = "Optimal summation of 79 operands: P = 8, L = 5, o = 2, g = 4";
    let caption =
        "79 operands in 28 cycles. Nobody idles before it sends; the receptions at P0 are a gap apart.";
    sheet.add_timeline("timeline", caption, title, &result);
    Ok(())
}

/// Adds what the searches find.
fn add_searches(sheet: &mut Sheet) {
    // The latest t at which all schedules of 2 and of 3 processors are searched.
    let (most, latest) = (sheet.lab.pick(4, 5), sheet.lab.pick([4, 2], [7, 4]));
    let (mut once, mut all) = (Vec::new(), Vec::new());
    for times in SEARCHED {
        let mut search = SummationSearch::new(times);
        for P in 2..=most {
            for result in &sheet.series(&searched_name(times, P)).points {
                let T = result.x as i64;
                let operands = operand_count(result);
                once.push(operands.map(|operands| operands == search.most_operands(T, P - 1)));
                if latest.get(P - 2).is_some_and(|latest| T <= *latest) {
                    let found = ScheduleSearch::new(times).most_operands(T, P);
                    all.push(operands.map(|operands| operands == found));
                }
            }
        }
    }
    let machines = format!("{} machines", SEARCHED.len());
    let what = "lemma 4.1: of all schedules, with idle times and several sends of a processor, none sums more than S(t)";
    let [two, three] = latest;
    let sizes = format!("P = 2 with t = 0 to {two}, P = 3 with t = 0 to {three}, {machines}");
    sheet.add_own_check(format!("{what}, {sizes}"), all);
    let what = "theorem 4.1: of all schedules in which each processor sends once the best sums as many operands as S(t)";
    sheet.add_own_check(format!("{what}, P = 2 to {most}, t = 0 to 9, {machines}"), once);
}

/// Adds what summations have in common with broadcasts that run backwards.
fn add_reversals(sheet: &mut Sheet) {
    let [mut turned, mut counted, mut lazy, mut strings] = [const { Vec::new() }; 4];
    for (P, times) in REVERSED {
        let name = format!("{}, P = {P}", machine_name(times));
        let (result, broadcast) =
            (sheet.last_result(&name), sheet.last_result(&(name.clone() + ", broadcast")));
        let T = sufficient_time(P, times);
        turned.push(result.trace().ran(|trace| {
            let mut ready: Vec<i64> = sends(trace).map(|S| T - S).collect();
            let mut informed: Vec<i64> =
                information_times(broadcast.trace()).into_iter().map(cycles).collect();
            ready.sort_unstable();
            informed.sort_unstable();
            ready == informed
        }));
        let operands = operand_count(result);
        counted.push(operands.map(|operands| operands == printed_count(result.trace(), T, P - 1)));
        lazy.push(result.ran(|result| is_busy_lazy(result, T)));
        let joined = result.trace().ran(|trace| joined_operands(trace, 0, T));
        strings.push(operands.map(|operands| joined.value() == Some(operands as usize)));
    }
    let what = "lemma 4.1: a run is busy-lazy: nobody idles before it sends, or sends twice, and it receives as late as it can";
    sheet.add_own_check(what, lazy);
    let what = "section 4.1: t - S_i are the information times of a broadcast with latency L + 1";
    sheet.add_own_check(what, turned);
    let what = "lemma 4.2: a run sums as many operands as its proof adds up, the sum of S_i - o(P-1) + 1";
    sheet.add_own_check(what, counted);
    let what = "footnote 1: joined in the order of a run's tree, each operand stands once in the result";
    sheet.add_own_check(what, strings);
}

/// Returns when each processor but the first begins to send, in cycles.
fn sends(trace: &Trace) -> impl Iterator<Item = i64> + '_ {
    trace.messages.iter().map(|message| cycles(message.enter - trace.params.o))
}

/// Returns the sum of S_i - op + 1 of lemma 4.2, with the S_i of a run that ends at T.
fn printed_count(trace: &Trace, T: i64, p: usize) -> i64 {
    sends(trace).sum::<i64>() + T - cycles(trace.params.o) * p as i64 + 1
}

/// Returns whether a run that ends at T is busy-lazy (definition 4.1).
fn is_busy_lazy(result: &CaseResult, T: i64) -> bool {
    let (trace, stats) = (result.trace(), &result.answers().outcome.run.processors);
    let idle: i64 = stats.iter().map(|one| cycles(one.idle + one.gap + one.stall)).sum();
    let [o, g] = [trace.params.o, trace.params.g].map(cycles);
    idle == 0
        && (0..trace.params.P).all(|id| {
            let sends = trace.messages.iter().filter(|message| message.id.from == id);
            let sends: Vec<i64> = sends.map(|message| cycles(message.enter) - o).collect();
            let end = sends.first().copied().unwrap_or(T);
            let received = trace.activities.iter();
            let received =
                received.filter(|one| one.id == id && matches!(one.kind, ActivityKind::Receive(_)));
            let mut starts: Vec<i64> = received.map(|one| cycles(one.start)).collect();
            starts.sort_unstable_by_key(|start| -start);
            sends.len() <= 1 && (0..).zip(starts).all(|(later, start)| start == end - (o + 1) - later * g)
        })
}

/// Returns the number of operands of a processor's sum at its end, if each received sum is joined as a whole
/// to the processor's own in a cycle of computing after its reception, as an operation that does not commute
/// requires. Returns `None` if a sum is never joined.
fn joined_operands(trace: &Trace, id: usize, end: i64) -> Option<usize> {
    let (mut adds, mut got, mut waiting, mut parts) = (0, 0, 0, 0);
    let mut activities: Vec<_> = trace.activities.iter().filter(|one| one.id == id).collect();
    activities.sort_by_key(|one| one.start);
    for one in activities.iter().filter(|one| cycles(one.end) <= end) {
        match one.kind {
            ActivityKind::Work(_) => {
                let cycles = cycles(one.end - one.start) as usize;
                parts += waiting.min(cycles);
                adds += cycles;
                waiting -= waiting.min(cycles);
            }
            ActivityKind::Receive(_) => waiting += 1,
            _ => (),
        }
    }
    for message in trace.messages.iter().filter(|message| message.to == id) {
        got += joined_operands(trace, message.id.from, cycles(message.enter - trace.params.o))?;
    }
    // A processor has one more operand of its own than it adds.
    (waiting == 0).then(|| got + adds - parts + 1)
}
