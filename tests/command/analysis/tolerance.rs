//! How much more of a parameter a run bears: against runs at every value, and against linear programs.

use loggp::params::{LevelParameter, LeveledParams};
use loggp::path::{Events, Path};
use loggp::schedule::{KeptOrder, Operation, Player, Schedule, ScheduleBuilder};
use loggp::trace::{ActivityKind, Trace};
use loggp::{Level, Machine, PS, Params, Ports, RunError, Tag, Time};
use loggp_study::analysis::{CurvePiece, CurveRequest, RunCurve, RunPath, replay_with};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

use crate::cases::seeds;
use crate::requests::{assert_refused, row, rows, stdout_of};

/// How much longer runs may become, in per cent.
const PARTS: [u32; 3] = [1, 2, 5];

pub(crate) fn request(name: &str, end: impl Into<Option<i64>>) -> CurveRequest {
    let parameter = LevelParameter::by_name(name).unwrap();
    CurveRequest {
        parameter,
        end: end.into(),
        parts: PARTS.into(),
        has_all_pieces: true,
        is_proof_wanted: true,
        most_runs: 2000,
        threads: 2,
    }
}

/// Returns a function that plays a schedule, traced.
fn play(schedule: &Schedule, ports: Ports) -> impl Fn(LeveledParams) -> Result<Trace, RunError> {
    move |machine| Ok(player(machine, ports).trace(true).run(schedule)?.trace.unwrap())
}

/// Returns the order in which the ranks of a schedule act.
fn keep(schedule: &Schedule, machine: LeveledParams, ports: Ports) -> Result<KeptOrder, RunError> {
    Ok(player(machine, ports).run_keeping_order(schedule)?.1.unwrap())
}

fn player(machine: LeveledParams, ports: Ports) -> Player {
    Player::new(machine.params).machine(machine).ports(ports)
}

/// Returns the parameters with another value of one of them, in ps.
pub(crate) fn with(machine: &LeveledParams, name: &str, value: i64) -> LeveledParams {
    machine.set(&format!("{name}={value}ps")).unwrap()
}

/// Draws the levels of a machine, mostly none; `text` draws the parameters of one.
pub(crate) fn draw_levels(
    rng: &mut fastrand::Rng,
    outer: Params,
    mut text: impl FnMut(&mut fastrand::Rng) -> String,
) -> LeveledParams {
    let (mut levels, mut P) = (Vec::new(), outer.P);
    while levels.len() < 2 && rng.bool() {
        let sizes: Vec<usize> = (1..P).filter(|size| P.is_multiple_of(*size)).collect();
        if sizes.is_empty() {
            break;
        }
        P = sizes[rng.usize(0..sizes.len())];
        let params = Params::builder(P).set(&text(rng)).unwrap().word(outer.word.get()).build().unwrap();
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        levels.push(Level::new(params).ports(ports).one_port(rng.bool()));
    }
    LeveledParams::new(outer, levels)
}

/// An operation of a random schedule.
#[derive(Clone, Copy, Debug)]
enum Op {
    Calc(i64),
    Send { to: usize, bytes: u64, tag: u32 },
    Recv { from: Option<usize>, tag: u32 },
}

/// Returns random operations, in which each message's receive comes some time after its send.
fn random_ops(rng: &mut fastrand::Rng, ranks: usize, longest: u64, is_exact: bool) -> Vec<Vec<Op>> {
    let mut all = vec![Vec::new(); ranks];
    let mut under_way: Vec<(usize, usize, u32)> = Vec::new();
    let hurry = rng.usize(1..6);
    for number in 0..rng.u32(1..60) {
        let (from, to) = (rng.usize(0..ranks), rng.usize(0..ranks));
        match rng.u8(0..5) {
            0 => all[from].push(Op::Calc(rng.i64(0..40))),
            1 | 2 if from != to => {
                // Each message has its own receive, if matching shall not depend on times.
                let tag = if is_exact { number } else { number % 2 };
                all[from].push(Op::Send { to, bytes: rng.u64(1..=longest), tag });
                under_way.push((from, to, tag));
            }
            _ if under_way.len() >= hurry => {
                let (from, to, tag) = under_way.swap_remove(rng.usize(0..under_way.len()));
                all[to].push(Op::Recv { from: (is_exact || rng.bool()).then_some(from), tag });
            }
            _ => (),
        }
    }
    for (from, to, tag) in under_way {
        all[to].push(Op::Recv { from: Some(from).filter(|_| is_exact), tag });
    }
    all
}

/// Builds a schedule in which each operation waits for the one before it, or in which some do.
fn schedule(ranks: &[Vec<Op>], mut waits: impl FnMut() -> bool) -> Schedule {
    let mut builder = ScheduleBuilder::new(ranks.len()).unwrap();
    for (rank, ops) in ranks.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for op in ops {
            let operation = match *op {
                Op::Calc(ps) => Operation::Calc(ps * PS),
                Op::Send { to, bytes, tag } => Operation::Send { to: to as u32, bytes, tag },
                Op::Recv { from, tag } => {
                    Operation::Recv { from: from.map(|from| from as u32), bytes: 1, tag: Some(tag) }
                }
            };
            let later = builder.add(operation).unwrap();
            if later > 0 && waits() {
                builder.require_done(later, later - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// Compares a curve with the times at every value up to its end. Returns whether these are convex.
pub(crate) fn compare(curve: &RunCurve, time_at: impl Fn(i64) -> Time, about: &str) -> bool {
    let times: Vec<Time> = (curve.value..=curve.end).map(&time_at).collect();
    let is_convex = times.windows(3).all(|three| three[1] - three[0] <= three[2] - three[1]);
    assert_eq!(curve.time, times[0], "{about}");
    if curve.irregular().next().is_none() {
        let steps = times.windows(2).map(|two| (two[1] - two[0]).as_ps());
        // The slope right above the machine's own value, unless another path takes over within a picosecond.
        if let Some((first, second)) = steps.clone().next().zip(steps.clone().nth(1)).filter(|_| is_convex)
            && first == second
        {
            assert_eq!(curve.slope, first, "{about}");
        }
    }
    if !is_convex {
        return false;
    }
    // A jump from a value to the next is no different from a path that grows fast.
    let is_between = |piece: &CurvePiece| curve.pieces.iter().any(|before| before.until + 1 == piece.from);
    assert!(curve.gaps.is_empty() && curve.irregular().all(is_between), "{about}: {curve:?}");
    for (value, time) in (curve.value..).zip(&times) {
        assert_eq!(curve.time_at(value), Some(*time), "{about} at {value}");
    }
    for part in PARTS {
        let is_over = |time: &&Time| 100 * time.as_ps() > i64::from(100 + part) * curve.time.as_ps();
        let tolerated = times.iter().position(|time| is_over(&time)).map(|n| curve.value + n as i64 - 1);
        assert_eq!(curve.tolerated(part), tolerated, "{about}: {part}% of {}", curve.time);
    }
    true
}

/// Where the time is convex, as it is without capacity and ports and with fixed orders, the curve has the
/// time at every value to the picosecond, whichever parameter grows. Elsewhere it has it nearly always.
#[test]
fn curves_of_schedules_are_exact() {
    let (mut convex, mut right, mut all, mut bent, mut leveled) = (0, 0, 0_u64, 0, 0);
    for seed in seeds(100) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranks = rng.usize(2..7);
        let ops = random_ops(&mut rng, ranks, 9, false);
        let in_row = rng.bool();
        let schedule = schedule(&ops, || in_row || rng.bool());
        let text = |rng: &mut fastrand::Rng| {
            let (L, o, g, G) = (rng.i64(1..40), rng.i64(0..20), rng.i64(1..30), rng.i64(1..6));
            let capacity = if rng.bool() { "none" } else { "2" };
            let text = format!("L={L}ps,o={o}ps,g={g}ps,C={capacity},word=1");
            if rng.bool() { text } else { format!("{text},G={G}ps") }
        };
        let params = Params::builder(ranks).set(&text(&mut rng)).unwrap().build().unwrap();
        let machine = draw_levels(&mut rng, params, text);
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let make_run = |machine| Ok(RunPath::from_trace(&play(&schedule, ports)(machine)?));
        let start = match player(machine.clone(), ports).run(&schedule) {
            Ok(report) => report.time,
            Err(_) => continue, // it waits for ever
        };
        for parameter in CurveRequest::parameters(&machine) {
            let about = format!("seed {seed}, {machine:?}, {ports}, {}", parameter.name());
            let end = parameter.number(&machine).unwrap() + rng.i64(10..120);
            let end = if rng.bool() { Some(end) } else { None };
            // With receives from any sender another order of messages can leave one that nobody takes.
            let Ok(curve) = RunCurve::find(machine.clone(), &request(parameter.name(), end), &make_run)
            else {
                continue;
            };
            assert!(curve.end < 1000 * start.as_ps() + 2000, "{about}: {curve:?}");
            let run_at = |value| player(with(&machine, parameter.name(), value), ports).run(&schedule);
            if (curve.value..=curve.end).any(|value| run_at(value).is_err()) {
                continue;
            }
            let time_at = |value| run_at(value).unwrap().time;
            let is_convex = compare(&curve, time_at, &about);
            convex += u64::from(is_convex);
            leveled += u64::from(is_convex && parameter.level > 0 && curve.slope > 0);
            bent += u64::from(!is_convex);
            let values = curve.value..=curve.end;
            all += values.clone().count() as u64;
            right += values.filter(|value| curve.time_at(*value) == Some(time_at(*value))).count() as u64;
        }
    }
    assert!(convex > 100 && bent > 7 && leveled > 10, "{convex} {bent} {leveled}");
    assert!(1000 * right > 999 * all, "{right} of {all}, {convex} {bent}");
}

/// The curve of a recorded run is that of its replays.
#[test]
fn curves_of_traces_are_exact() {
    let (mut convex, mut leveled) = (0, 0);
    for seed in seeds(60) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranks = rng.usize(2..6);
        let ops = random_ops(&mut rng, ranks, 5, true);
        let text = |rng: &mut fastrand::Rng| {
            format!("L={}ps,o={}ps,g={}ps,C=none", rng.i64(1..40), rng.i64(0..20), rng.i64(1..30))
        };
        let params = Params::builder(ranks).set(&text(&mut rng)).unwrap().word(1).build().unwrap();
        let LeveledParams { levels, .. } = draw_levels(&mut rng, params, text);
        let run = Machine::new(params).levels(levels).rate("calc", PS).trace(true).run(|p| {
            for op in &ops[p.id()] {
                match *op {
                    Op::Calc(ps) => p.work("calc", ps as u64, || ()),
                    Op::Send { to, bytes, tag } => {
                        p.send(to, Tag::<Vec<u8>>::new(tag as u16), vec![0; bytes as usize]);
                    }
                    Op::Recv { from, tag } => {
                        p.recv(Tag::<Vec<u8>>::new(tag as u16).from(from.unwrap()));
                    }
                }
            }
        });
        let Ok(run) = run else { continue };
        let trace = run.trace.unwrap();
        let make_run = |machine| Ok(RunPath::from_trace(&replay_with(&trace, machine)?));
        let machine = trace.machine();
        for parameter in CurveRequest::parameters(&machine) {
            let (name, end) = (parameter.name(), parameter.number(&machine).unwrap() + 80);
            let curve = RunCurve::find(machine.clone(), &request(name, end), &make_run).unwrap();
            let time_at = |value| {
                let machine = with(&machine, name, value);
                loggp::replay::Replay::new(&trace).machine(machine).run().unwrap().time
            };
            let is_convex = compare(&curve, time_at, &format!("seed {seed}, {machine:?}, {name}"));
            convex += u64::from(is_convex);
            leveled += u64::from(is_convex && parameter.level > 0);
        }
    }
    assert!(convex > 60 && leveled > 20, "{convex} {leveled}");
}

/// What a comparison with runs found of curves.
#[derive(Debug, Default)]
struct Comparison {
    curves: u32,
    /// Those that are exact up to their end, and those of them that are no maximum of lines.
    exact: u32,
    irregular: u32,
    values: u32,
    /// Those with values at which a run takes another time, and the greatest such difference in per cent.
    wrong: u32,
    most: f64,
    /// Those with such values where they are said to be exact.
    wrong_in_exact: u32,
    /// Those by which a run bears what it does not.
    bears_too_much: u32,
    runs: usize,
}

impl Comparison {
    /// Compares a curve with runs at its borders, beside them and at random values.
    fn add(&mut self, curve: &RunCurve, rng: &mut fastrand::Rng, time_at: impl Fn(i64) -> Option<Time>) {
        let borders = curve.pieces.iter().flat_map(|piece| [piece.from, piece.until]);
        let mut values: Vec<i64> = borders.flat_map(|value| [value - 1, value, value + 1]).collect();
        values.extend((0..100).map(|_| rng.i64(curve.value..=curve.end)));
        if curve.end - curve.value < 400 {
            values.extend(curve.value..=curve.end);
        }
        values.retain(|value| (curve.value..=curve.end).contains(value));
        values.sort_unstable();
        values.dedup();
        self.curves += 1;
        self.runs += curve.runs;
        self.exact += u32::from(curve.exact_until == curve.end);
        self.irregular += u32::from(curve.exact_until == curve.end && curve.irregular().next().is_some());
        let (mut is_wrong, mut is_wrong_in_exact, mut bears_too_much) = (false, false, false);
        for value in values {
            let Some(time) = time_at(value) else { continue };
            self.values += 1;
            if let Some(said) = curve.time_at(value).filter(|said| *said != time) {
                is_wrong = true;
                is_wrong_in_exact |= value <= curve.exact_until;
                self.most = self.most.max(100.0 * ((said - time).in_units(time)).abs());
            }
            let is_over = |part: &u32| {
                curve.tolerated(*part).is_none_or(|until| value <= until)
                    && 100 * time.as_ps() > i64::from(100 + part) * curve.time.as_ps()
            };
            bears_too_much |= PARTS.iter().any(is_over);
        }
        self.wrong += u32::from(is_wrong);
        self.wrong_in_exact += u32::from(is_wrong_in_exact);
        self.bears_too_much += u32::from(bears_too_much);
    }
}

/// Compares curves of random schedules with long messages with runs: in a kept order, or in a free one.
fn compare_with_runs(seeds: impl Iterator<Item = u64>, keeps_order: bool) -> Comparison {
    let mut found = Comparison::default();
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranks = rng.usize(2..7);
        let longest = rng.u64(1..12);
        let is_exact = keeps_order || rng.bool();
        let ops = random_ops(&mut rng, ranks, longest, is_exact);
        let (in_row, unit) = (rng.bool(), [1, 1, 1000, 12_345][rng.usize(0..4)]);
        let scaled = ops.iter().map(|ops| {
            let scale = |op: &Op| match *op {
                Op::Calc(ps) => Op::Calc(unit * ps),
                other => other,
            };
            ops.iter().map(scale).collect::<Vec<Op>>()
        });
        let schedule = schedule(&scaled.collect::<Vec<_>>(), || in_row || rng.bool());
        let text = |rng: &mut fastrand::Rng| {
            let [L, o, g, G] =
                [rng.i64(1..40), rng.i64(0..20), rng.i64(0..30), rng.i64(0..6)].map(|n| n * unit);
            let capacity = ["", "", "C=none,", "C=2,"][rng.usize(0..4)];
            format!("L={L}ps,o={o}ps,g={g}ps,G={G}ps,{capacity}word=1")
        };
        let params = Params::builder(ranks).set(&text(&mut rng)).unwrap().build().unwrap();
        let machine = if rng.u8(0..4) == 0 { draw_levels(&mut rng, params, text) } else { params.into() };
        let Ok(kept) = keep(&schedule, machine.clone(), Ports::Single) else { continue };
        let parameters: Vec<_> = CurveRequest::parameters(&machine).collect();
        let parameter = parameters[rng.usize(0..parameters.len())];
        let end = Some(parameter.number(&machine).unwrap() + unit * rng.i64(10..120)).filter(|_| rng.bool());
        let request = CurveRequest { has_all_pieces: rng.u8(0..4) > 0, ..request(parameter.name(), end) };
        let at = |value: i64| machine.with(parameter, value).unwrap();
        if keeps_order {
            let curve = RunCurve::find_kept(machine.clone(), &request, &kept).unwrap();
            found.add(&curve, &mut rng, |value| Some(kept.run(at(value)).unwrap().time));
        } else {
            let make_run = |machine| Ok(RunPath::from_trace(&play(&schedule, Ports::Single)(machine)?));
            let Ok(curve) = RunCurve::find(machine.clone(), &request, &make_run) else { continue };
            let player = |value| player(at(value), Ports::Single);
            found.add(&curve, &mut rng, |value| Some(player(value).run(&schedule).ok()?.time));
        }
    }
    found
}

/// In a kept order a curve has at each value the time that a run there takes, with ports and capacity too.
#[test]
fn curves_of_kept_orders_are_exact() {
    let found = compare_with_runs(seeds(150), true);
    assert_eq!((found.wrong_in_exact, found.bears_too_much), (0, 0), "{found:?}");
    // Where the proof would take too many runs the curve is checked.
    assert!(1000 * found.wrong <= found.curves && 50 * found.exact > 49 * found.curves, "{found:?}");
    assert!(found.irregular > 20, "{found:?}");
}

/// In a free order curves are checked, and few have values at which a run takes another time.
#[test]
fn curves_in_a_free_order_are_checked() {
    let found = compare_with_runs(seeds(50), false);
    assert_eq!(found.exact, 0, "{found:?}");
    assert!(20 * found.wrong < found.curves && 100 * found.bears_too_much < found.curves, "{found:?}");
}

/// Returns the schedule of a kept order: each operation waits for the one before it.
fn in_row(kept: &KeptOrder, word: u64) -> Schedule {
    let mut builder = ScheduleBuilder::new(kept.ranks()).unwrap();
    for rank in 0..kept.ranks() {
        builder.begin_rank(rank).unwrap();
        for operation in kept.operations(rank) {
            let later = builder
                .add(match operation {
                    Operation::Send { to, bytes, tag } => Operation::Send { to, bytes: bytes * word, tag },
                    Operation::Recv { from, bytes, tag } => {
                        Operation::Recv { from, bytes: bytes * word, tag }
                    }
                    calc => calc,
                })
                .unwrap();
            if later > 0 {
                builder.require_done(later, later - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// A run in a kept order is the play of the schedule of the same operations, each after the one before it: it
/// takes as long on any machine, and has the same critical path, hop by hop.
#[test]
fn runs_in_a_kept_order_are_plays() {
    let (mut same, mut stalled, mut ports_used, mut leveled) = (0, 0, 0, 0);
    for seed in seeds(400) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranks = rng.usize(2..7);
        let ops = random_ops(&mut rng, ranks, 9, false);
        let waits = rng.bool();
        let played = schedule(&ops, || waits || rng.bool());
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let mut machine = || {
            let text = |rng: &mut fastrand::Rng| {
                let capacity = ["none", "1", "2"][rng.usize(0..3)];
                let long = if rng.bool() { format!(",G={}ps", rng.i64(1..6)) } else { String::new() };
                let [L, o, g] = [rng.i64(0..40), rng.i64(0..20), rng.i64(0..30)];
                format!("L={L}ps,o={o}ps,g={g}ps,C={capacity},word=2{long}")
            };
            let params = Params::builder(ranks).set(&text(&mut rng)).unwrap().build().unwrap();
            draw_levels(&mut rng, params, text)
        };
        let Ok(kept) = keep(&played, machine(), ports) else { continue };
        let row = in_row(&kept, 2);
        for machine in std::iter::repeat_with(machine).take(6) {
            let about = format!("seed {seed}, {ports}, {machine:?}");
            let run = kept.run(machine.clone()).unwrap();
            let trace = play(&row, ports)(machine.clone()).unwrap();
            leveled += u32::from(run.path().hops.iter().any(|hop| hop.level > 0));
            let report = player(machine, ports).run(&row).unwrap();
            assert_eq!((run.time, run.finishes()), (report.time, report.finishes), "{about}");
            assert_eq!(run.path(), Path::from_events(&Events::new(&trace)), "{about}");
            assert_eq!(run.formula(), (RunPath::from_trace(&trace).formula)(), "{about}");
            same += 1;
            stalled += u32::from(report.stalls > 0);
            ports_used += u32::from(trace.activities.iter().any(|one| one.kind == ActivityKind::Port));
        }
    }
    let counts = (same, stalled, ports_used, leveled);
    assert!(same > 300 && stalled > 50 && ports_used > 50 && leveled > 50, "{counts:?}");
}

/// An arc of a schedule's graph: one event is not before another and a time, of which a part is L of a level.
struct Arc {
    from: usize,
    to: usize,
    fixed: i64,
    latencies: i64,
}

/// Returns the events of a schedule whose operations wait for each other in a row, as the papers' rules have
/// them: where a message of one word enters after its overhead and the gap, where a reception begins after
/// the arrival and the gap, and the ends of operations. Event 0 is the start of the run, and the last event
/// its end. The latencies are those of `level`; others are fixed.
fn arcs(kept: &KeptOrder, machine: &LeveledParams, level: usize) -> (usize, Vec<Arc>) {
    let level_of = |x: usize, y: usize| {
        let has_both = |level: &Level| x / level.params.P == y / level.params.P;
        machine.levels.iter().take_while(|level| has_both(level)).count()
    };
    let costs = |x: usize, y: usize| {
        let Params { o, g, .. } = machine.at(level_of(x, y));
        [o.as_ps(), g.as_ps()]
    };
    let mut arcs = Vec::new();
    let mut count = 1;
    let mut event = || {
        count += 1;
        count - 1
    };
    let (mut entries, mut receptions, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for rank in 0..kept.ranks() {
        let (mut last, mut sent, mut received) = (0, None, None);
        for operation in kept.operations(rank) {
            let mut after = |from: usize, to: usize, fixed: i64| {
                arcs.push(Arc { from, to, fixed, latencies: 0 });
            };
            let now = event();
            match operation {
                Operation::Calc(time) => {
                    after(last, now, time.as_ps());
                    last = now;
                }
                Operation::Send { to, tag, .. } => {
                    let [o, g] = costs(rank, to as usize);
                    after(last, now, o);
                    if let Some((before, g)) = sent {
                        after(before, now, g);
                    }
                    (sent, last) = (Some((now, g)), now);
                    entries.push((Some(tag), now));
                }
                Operation::Recv { from, tag, .. } => {
                    let from = from.unwrap() as usize;
                    let [o, g] = costs(from, rank);
                    after(last, now, 0);
                    if let Some((before, g)) = received {
                        after(before, now, g);
                    }
                    let end = event();
                    after(now, end, o);
                    (received, last) = (Some((now, g)), end);
                    receptions.push((tag, now, level_of(from, rank)));
                }
                _ => unreachable!("a kept order has no waits and no memories"),
            }
        }
        ends.push(last);
    }
    let end = event();
    arcs.extend(ends.into_iter().map(|from| Arc { from, to: end, fixed: 0, latencies: 0 }));
    for (tag, to, of) in receptions {
        let (_, from) = *entries.iter().find(|(sent, _)| *sent == tag).unwrap();
        let fixed = if of == level { 0 } else { machine.at(of).L.as_ps() };
        arcs.push(Arc { from, to, fixed, latencies: i64::from(of == level) });
    }
    (end + 1, arcs)
}

/// Solves the linear program that a schedule is with a fixed order: the least time of the last event at this
/// L, and the greatest L up to which the last event is not later than `bound`.
fn solve(events: usize, arcs: &[Arc], L: i64, bound: Option<f64>) -> f64 {
    let direction = match bound {
        Some(_) => OptimizationDirection::Maximize,
        None => OptimizationDirection::Minimize,
    };
    let mut problem = Problem::new(direction);
    let latency = bound.map(|_| problem.add_var(1.0, (L as f64, 1e6)));
    let times: Vec<_> = (0..events)
        .map(|event| {
            let cost = if event + 1 == events && bound.is_none() { 1.0 } else { 0.0 };
            let latest = if event + 1 == events { bound.unwrap_or(f64::INFINITY) } else { f64::INFINITY };
            problem.add_var(cost, (0.0, latest))
        })
        .collect();
    for Arc { from, to, fixed, latencies } in arcs {
        let mut terms = vec![(times[*to], 1.0), (times[*from], -1.0)];
        let mut least = *fixed;
        match latency.filter(|_| *latencies > 0) {
            Some(latency) => terms.push((latency, -*latencies as f64)),
            None => least += latencies * L,
        }
        problem.add_constraint(terms, ComparisonOp::Ge, least as f64);
    }
    problem.solve().unwrap().into_solution().unwrap().objective()
}

/// Solves the dual program: a flow of one from the start to the end with the greatest cost. Returns the cost
/// and how much of the flow goes through latencies, which is the slope of the time over L.
fn solve_dual(events: usize, arcs: &[Arc], L: i64) -> (f64, f64) {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let cost = |arc: &Arc| (arc.fixed + L * arc.latencies) as f64;
    let flows: Vec<_> = arcs.iter().map(|arc| problem.add_var(cost(arc), (0.0, 1.0))).collect();
    for event in 1..events {
        let into = arcs.iter().zip(&flows).filter(|(arc, _)| arc.to == event).map(|(_, flow)| (*flow, 1.0));
        let out = arcs.iter().zip(&flows).filter(|(arc, _)| arc.from == event).map(|(_, flow)| (*flow, -1.0));
        let most = if event + 1 == events { 1.0 } else { 0.0 };
        let terms: Vec<_> = into.chain(out).collect();
        problem.add_constraint(terms, ComparisonOp::Le, most);
    }
    let solution = problem.solve().unwrap().into_solution().unwrap();
    let through = |(arc, flow): (&Arc, _)| arc.latencies as f64 * solution.var_value(flow);
    (solution.objective(), arcs.iter().zip(flows).map(through).sum())
}

/// Linear programming says the same as the curve: the time and the slope at several L, and the L that is
/// tolerated. Where the ranks keep the order that they have at the machine's own L, that is so for any
/// schedule.
#[test]
fn linear_programs_agree() {
    let mut slopes = 0;
    for seed in seeds(60) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranks = rng.usize(2..6);
        let (is_in_row, is_exact) = (rng.bool(), rng.bool());
        let ops = random_ops(&mut rng, ranks, 1, is_in_row || is_exact);
        let played = schedule(&ops, || is_in_row || rng.bool());
        let text = |rng: &mut fastrand::Rng| {
            let [L, o, g] = [rng.i64(1..400), rng.i64(1..200), rng.i64(1..300)];
            format!("L={L}ps,o={o}ps,g={g}ps,C=none,word=1")
        };
        let params = Params::builder(ranks).set(&text(&mut rng)).unwrap().build().unwrap();
        let machine = draw_levels(&mut rng, params, text);
        let text = format!("{machine:?}");
        let Ok(kept) = keep(&played, machine.clone(), Ports::Single) else { continue };
        let make_run = |machine: LeveledParams| Ok(RunPath::from_kept(kept.run(machine)?));
        let level = rng.usize(0..=machine.levels.len());
        let (name, L) = (["L", "L_1", "L_2"][level], machine.at(level).L.as_ps());
        let curve = RunCurve::find(machine.clone(), &request(name, None), &make_run).unwrap();
        assert_eq!(curve.time, player(machine.clone(), Ports::Single).run(&played).unwrap().time, "{text}");
        assert_eq!(curve.irregular().count(), 0, "seed {seed}, {text}");
        let (events, arcs) = arcs(&kept, &machine, level);
        for value in [L, L + 1, L + (curve.end - L) / 2, curve.end] {
            let time = curve.time_at(value).unwrap().as_ps();
            assert_eq!(solve(events, &arcs, value, None).round() as i64, time, "seed {seed}, {text}");
            let (dual, slope) = solve_dual(events, &arcs, value);
            assert_eq!(dual.round() as i64, time, "seed {seed}, {text}");
            let slope_at = |value: i64| {
                let piece = curve.pieces.iter().find(|piece| piece.from <= value && value < piece.until);
                piece.map(|piece| piece.slope as f64)
            };
            if let Some((left, right)) = slope_at(value - 1).zip(slope_at(value)) {
                assert!(
                    (left - 1e-6..=right + 1e-6).contains(&slope),
                    "seed {seed}, {text}: {slope} at {value}"
                );
                slopes += 1;
            }
        }
        for part in PARTS {
            let Some(tolerated) = curve.tolerated(part) else { continue };
            let bound = curve.time.as_ps() as f64 * f64::from(100 + part) / 100.0;
            let most = solve(events, &arcs, L, Some(bound));
            assert_eq!((most + 1e-6).floor() as i64, tolerated, "seed {seed}, {text}: {part}%");
        }
    }
    assert!(slopes > 50, "{slopes}");
}

/// A broadcast's path has three latencies and nothing else that could become critical.
#[test]
fn the_command_says_what_a_schedule_bears() {
    let line = "tolerance dissemination -P 8 --params L=10us,o=4us,g=2us,G=0 --parameter L";
    let row = row(line);
    assert_eq!(row["time_ns"], 54_000);
    assert_eq!(row["slope"], 3);
    let bears = |part: u32| row[format!("bears_{part}_percent")]["more_ns"].as_f64().unwrap();
    assert_eq!(PARTS.map(bears), [180.0, 360.0, 900.0]);
    assert_eq!(row["bears_5_percent"]["time_in_free_order_ns"], 56_700);
    assert_eq!(row["pieces"][0]["formula"]["text"], "3L + 6o");
    assert_eq!(row["pieces"][0]["intercept_ns"], 24_000);
    assert_eq!(row["latencies"].as_array().unwrap().len(), 3);
    assert!(stdout_of(line).contains("\n 10 us    54      3  3L + 6o\n"), "{line}");
    // Without the pieces it is the same, with fewer runs.
    assert_eq!(row["certainty"], "exact: no run with L up to 10.990001 us takes another time than this says");
    let free = crate::requests::row(&format!("{line} --order free"))["certainty"].to_string();
    assert!(
        free.contains("L: checked at 9 points in each piece; between them a run may take another time"),
        "{free}"
    );
    let short = crate::requests::row(&format!("{line} --no-pieces"));
    for key in ["time_ns", "slope", "latencies"] {
        assert_eq!(short[key], row[key], "{key}");
    }
    for part in PARTS.map(|part| format!("bears_{part}_percent")) {
        assert_eq!(short[&part]["until_ns"], row[&part]["until_ns"], "{part}");
    }
    assert!(short["runs"].as_u64() <= row["runs"].as_u64() && short["pieces"].is_null(), "{short}");
    let rows = rows("tolerance dissemination -P 8 --params L=10us,o=4us,g=2us,G=0");
    let names: Vec<&str> = rows.iter().map(|row| row["parameter"].as_str().unwrap()).collect();
    assert_eq!(names, ["L", "o", "g"]);
}

/// Between nodes of two the path has three latencies. The way of a message within a node and two between nodes takes
/// longer from L_1 = 17 us on: 2L + 4o + 17 + 1 = 54.
#[test]
fn the_command_says_what_a_level_bears() {
    let machine = "--params L=10us,o=4us,g=2us,G=0 --levels 4x2 --level L=1us,o=0.5us,g=0.2us,G=0";
    let rows = rows(&format!("tolerance dissemination {machine}"));
    let names: Vec<&str> = rows.iter().map(|row| row["parameter"].as_str().unwrap()).collect();
    assert_eq!(names, ["L", "o", "g", "L_1", "o_1", "g_1"]);
    assert_eq!(rows[0]["levels"][0]["params"]["P"], 2);
    let within = row(&format!("tolerance dissemination {machine} --parameter L_1 --to 40us"));
    let pieces = within["pieces"].as_array().unwrap();
    let texts: Vec<_> = pieces.iter().map(|piece| piece["formula"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["3L + 6o", "2L + 4o + L_1 + 2 o_1"]);
    assert_eq!(pieces[1]["formula"]["counts"]["L_1"], 1);
    assert_eq!((&pieces[1]["from_ns"], &pieces[1]["time_ns"]), (&17_000.into(), &54_000.into()));
    assert_eq!(within["bears_1_percent"]["until_ns"], 17_540);
    let text = stdout_of(&format!("tolerance dissemination {machine}"));
    assert!(text.contains("\n4 groups: L = 1 us, o = 0.5 us, g = 0.2 us, G = 0 us, P = 2,"), "{text}");
}

/// Where paths are equally long, percentages of more than the run are explained, and a sentence stands once for all
/// parameters.
#[test]
fn percentages_of_ties_are_explained() {
    let shown = stdout_of("tolerance all-to-all -P 8 L=6 o=2 g=4");
    let note = "two paths are equally long, and each has other parameters on it: the percentages count both, 144% together";
    assert!(shown.contains(&format!("\n{note}\n")), "{shown}");
    assert_eq!(shown.matches("takes another time").count(), 1, "{shown}");
    assert!(!stdout_of("tolerance ring -P 8 L=6 o=2 g=4").contains("equally long"));
}

/// JSON has the order in which ranks act, and where it cannot be kept a line says why.
#[test]
fn orders_are_said() {
    let line = "tolerance ring -P 4 --params L=6us,o=2us,g=4us,G=0 --parameter L";
    let free = format!("{line} --order free");
    let noisy = format!("{line} --noise 20us:1us");
    for (line, order, note) in [(line, "kept", false), (&free, "free", false), (&noisy, "free", true)] {
        assert_eq!(row(line)["order"], order, "{line}");
        let shown = stdout_of(line);
        assert!(shown.contains(&format!(", {order} order, times in us\n")), "{shown}");
        assert_eq!(
            shown.contains("\nfree order, in which nothing can be proven: there is no order "),
            note,
            "{shown}"
        );
    }
}

/// What cannot be asked is refused in a sentence.
#[test]
fn wrong_requests_are_refused() {
    assert_refused(&[
        ("tolerance ring --parameter x", "this machine's parameters that are times are L, o, g, G"),
        ("tolerance ring --parameter L_1", "this machine's parameters that are times are L, o, g, G"),
        (
            "tolerance ring --levels 4x2",
            "--levels 4x2 needs 1 --level with the costs inside a group, and 0 given",
        ),
        ("tolerance nowhere.json --levels 4x2", "--levels is for a schedule, and nowhere.json is a trace"),
        ("tolerance ring --to 1us", "--to is the end of one parameter"),
        ("tolerance ring --parameter L --to 1us", "the machine's L is 10 us; give a greater one"),
        ("tolerance ring --parameter L --to x", "there is no unit x"),
        ("tolerance nowhere", "there is no pattern nowhere"),
        ("tolerance nowhere.json", "nowhere.json cannot be read"),
        ("tolerance nowhere.json -P 4", "-P is for a schedule, and nowhere.json is a trace"),
        ("tolerance nowhere.json --order free", "--order is for a schedule, and nowhere.json is a trace"),
    ]);
}
