//! Messages per second and memory on the virtual clock, next to a replay and a bare event loop.
//!
//! `cargo bench -p loggp-benches --bench messages` prints a table. Where criterion's options are given, as in
//! `cargo bench -p loggp-benches --bench messages -- --quick`, criterion measures ring and all-to-all.

mod bare;
mod pattern;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use loggp::schedule::{Operation, Player, Schedule, ScheduleBuilder};
use loggp::{Machine, Params, Proc, Tag, US, Work};
use loggp_benches::{child, measure, table};

use bare::BareCosts;
use pattern::{MessagePattern, PATTERNS, PatternStep, PatternSteps};

const WORD: Tag<u64> = Tag::new(0);
/// The parameters, in us.
const COSTS: BareCosts = BareCosts { latency: 6, overhead: 2, gap: 4 };
/// The approximate number of messages in a run.
const MESSAGES: usize = 2_000_000;
/// The number of repeats, of which the median is shown.
const REPEATS: usize = 3;

fn main() {
    if let Some(task) = child::task() {
        return play(&task);
    }
    match measure::arguments().iter().any(|argument| argument.starts_with("--") && argument != "--bench") {
        true => {
            let mut criterion = Criterion::default().configure_from_args();
            messages(&mut criterion);
            criterion.final_summary();
        }
        false => {
            measure::selected_tables(&[("table", print_table as fn())]).into_iter().for_each(|table| table())
        }
    }
}

fn params(processors: usize) -> Params {
    let BareCosts { latency, overhead, gap } = COSTS;
    let [latency, overhead, gap] = [latency, overhead, gap].map(|cost| cost as i64 * US);
    Params::builder(processors).L(latency).o(overhead).g(gap).build().unwrap()
}

/// Prints a line for each pattern and number of processors. Panics if the three ways end at different times.
fn print_table() {
    let mega = MESSAGES / 1_000_000;
    table::begin(
        &format!(
            "Million messages a second, and KB of memory a processor; about {mega} million messages, medians of {REPEATS}"
        ),
        &["pattern", "P", "loggp", "KB", "replay", "KB", "bare loop", "KB", "loop / loggp"],
    );
    for pattern in PATTERNS {
        for processors in [16, 128, 1024, 16_384, 131_072] {
            let number = processors.to_string();
            let mut measured = [const { Vec::new() }; 3];
            for _ in 0..REPEATS {
                for (measured, how) in measured.iter_mut().zip(["machine", "replay", "bare"]) {
                    if how != "bare" || matches!(pattern, MessagePattern::Ring | MessagePattern::AllToAll) {
                        measured.push(child::measure(&[how, pattern.name(), &number]));
                    }
                }
            }
            let [time, messages, stalls] = measured[0][0].extra;
            for other in measured.iter().flatten() {
                assert_eq!(
                    other.extra[0],
                    time,
                    "{} on {processors} processors ends elsewhere",
                    pattern.name()
                );
            }
            assert!(stalls == 0 || measured[2].is_empty(), "the bare loop knows of no capacity");
            let rate = |measured: &[child::Measurement]| {
                let seconds = measured.iter().map(|measured| measured.seconds).collect();
                messages as f64 / measure::median(seconds) / 1e6
            };
            let rates: Vec<f64> = measured.iter().filter(|it| !it.is_empty()).map(|it| rate(it)).collect();
            let mut cells = vec![pattern.name().into(), table::whole(processors)];
            for (i, measured) in measured.iter().enumerate() {
                let bytes = measured.iter().filter_map(|measured| measured.bytes).min();
                cells.push(rates.get(i).map_or(String::new(), |rate| table::rough(*rate)));
                cells.push(
                    bytes.map_or(String::new(), |bytes| table::rough(bytes as f64 / processors as f64 / 1e3)),
                );
            }
            cells.push(rates.get(2).map_or(String::new(), |limit| format!("{:.1}", limit / rates[0])));
            table::row(&cells);
        }
    }
    table::end();
}

/// In a child: plays a pattern in one of the three ways, and reports its end, messages and stalls.
fn play(task: &[String]) {
    let [how, name, processors] = task else { panic!("{task:?} is not how, which and how many") };
    let processors: usize = processors.parse().expect("a number of processors");
    let pattern = MessagePattern::find(name).expect("a pattern's name");
    let times = pattern.repeats(processors, MESSAGES);
    let steps = move |id| pattern.steps(id, processors, times);
    match how.as_str() {
        "machine" => child::report(
            || Machine::new(params(processors)).work(Work::Charged),
            |machine| {
                let run = machine.run(|p| run_pattern(p, steps(p.id()))).unwrap();
                let sent = run.processors.iter().map(|stats| stats.sent).sum();
                [run.time.as_ps() as u64, sent, run.processors.iter().map(|stats| stats.stalls).sum()]
            },
        ),
        "replay" => child::report(
            || schedule((0..processors).map(steps)),
            |schedule| {
                let played = Player::new(params(processors)).run(&schedule).unwrap();
                [played.time.as_ps() as u64, played.messages, played.stalls]
            },
        ),
        _ => child::report(
            || (0..processors).map(steps),
            |steps| [bare::play(steps, &COSTS) * US.as_ps() as u64, 0, 0],
        ),
    }
}

/// Runs the pattern as a program, which passes a word on and increments it.
fn run_pattern(p: &mut Proc, steps: PatternSteps) -> u64 {
    let mut word = p.id() as u64;
    for step in steps {
        match step {
            PatternStep::Send(to) => p.send(to, WORD, word),
            PatternStep::Recv(None) => word = p.recv(WORD) + 1,
            PatternStep::Recv(Some(from)) => word = p.recv(WORD.from(from)) + 1,
        }
    }
    word
}

/// Returns the pattern as a schedule in which every operation waits for the one before it.
fn schedule(ranks: impl ExactSizeIterator<Item = PatternSteps>) -> Schedule {
    let mut builder = ScheduleBuilder::new(ranks.len()).unwrap();
    for (id, steps) in ranks.enumerate() {
        builder.begin_rank(id).unwrap();
        let mut before = None;
        for step in steps {
            let operation = builder.add(match step {
                PatternStep::Send(to) => Operation::Send { to: to as u32, bytes: 1, tag: 0 },
                PatternStep::Recv(from) => {
                    Operation::Recv { from: from.map(|from| from as u32), bytes: 1, tag: Some(0) }
                }
            });
            let operation = operation.unwrap();
            before.map_or(Ok(()), |before| builder.require_done(operation, before)).unwrap();
            before = Some(operation);
        }
    }
    builder.build().unwrap()
}

/// Measures ring and all-to-all on the machine with criterion.
fn messages(c: &mut Criterion) {
    let mut group = c.benchmark_group("messages");
    group.sample_size(10);
    for processors in [16, 1024, 16_384] {
        let machine = Machine::new(params(processors)).work(Work::Charged);
        for pattern in [MessagePattern::Ring, MessagePattern::AllToAll] {
            let times = pattern.repeats(processors, MESSAGES);
            group.throughput(Throughput::Elements((times * processors) as u64));
            group.bench_function(BenchmarkId::new(pattern.name(), processors), |b| {
                let program = |p: &mut Proc| run_pattern(p, pattern.steps(p.id(), p.P(), times));
                b.iter(|| black_box(machine.run(program).unwrap().time));
            });
        }
    }
    group.finish();
}
