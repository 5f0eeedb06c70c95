//! How much more of a parameter programs with one-sided messages bear: against their runs at each value.

use loggp::params::LeveledParams;
use loggp::path::{Events, FormulaBuilder, Path};
use loggp::schedule::{KeptOrder, Operation, Player, Schedule, ScheduleBuilder};
use loggp::trace::Trace;
use loggp::{Machine, PS, Params, Ports, Proc, Protocol, Tag, Time};
use loggp_study::analysis::{CurveRequest, RunCurve, RunPath, replay_with};

use super::tolerance::{compare, draw_levels, request, with};
use crate::cases::seeds;

/// A call of a random program.
#[derive(Clone, Copy, Debug)]
enum Act {
    Work(u64),
    Put(usize, usize),
    /// Bytes that go there, and that come back.
    Get(usize, usize, usize),
    PostGet(usize, usize),
    /// Wait for the first get that was posted and not waited for.
    Wait,
    Flush(Option<usize>),
    Send(usize, usize, u16),
    Receive(usize, u16),
}

/// Returns random programs, in which each message's receive comes some time after its send.
fn random_programs(rng: &mut fastrand::Rng, P: usize, longest: usize) -> Vec<Vec<Act>> {
    let mut all: Vec<Vec<Act>> = vec![Vec::new(); P];
    let mut under_way: Vec<(usize, usize, u16)> = Vec::new();
    let (hurry, has_requests) = (rng.usize(1..4), rng.bool());
    for number in 0..rng.u16(1..40) {
        let (id, other, bytes) = (rng.usize(..P), rng.usize(..P), rng.usize(1..=longest));
        all[id].push(match rng.u8(..12) {
            0 => Act::Work(rng.u64(..40)),
            1..4 => Act::Put(other, bytes),
            4 => Act::Get(other, 1, bytes),
            5 => Act::Get(other, bytes, 1),
            6 if has_requests => Act::PostGet(other, bytes),
            7 if has_requests => Act::Wait,
            8 => Act::Flush(None),
            9 => Act::Flush(Some(other)),
            _ if under_way.len() >= hurry => {
                let (from, to, tag) = under_way.swap_remove(rng.usize(..under_way.len()));
                all[to].push(Act::Receive(from, tag));
                continue;
            }
            _ if id != other => {
                under_way.push((id, other, number));
                Act::Send(other, bytes, number)
            }
            _ => continue,
        });
    }
    under_way.into_iter().for_each(|(from, to, tag)| all[to].push(Act::Receive(from, tag)));
    all
}

fn run_acts(p: &mut Proc, acts: &[Act]) {
    let mut gets = std::collections::VecDeque::new();
    for act in acts {
        match *act {
            Act::Work(ps) => p.work("work", ps, || ()),
            Act::Put(to, bytes) => p.put(to, bytes),
            Act::Get(to, bytes, back) => p.get(to, bytes, back),
            Act::PostGet(to, back) => gets.push_back(p.post_get(to, 1, back)),
            Act::Wait => gets.pop_front().into_iter().for_each(|get| p.wait(get)),
            Act::Flush(to) => p.flush(to),
            Act::Send(to, bytes, tag) => p.send(to, Tag::<Vec<u8>>::new(tag), vec![0; bytes]),
            Act::Receive(from, tag) => drop(p.recv(Tag::<Vec<u8>>::new(tag).from(from))),
        }
    }
    gets.into_iter().for_each(|get| p.wait(get));
}

/// Returns a program without requests as a schedule whose operations wait for each other in a row.
fn in_row(programs: &[Vec<Act>]) -> Schedule {
    let mut builder = ScheduleBuilder::new(programs.len()).unwrap();
    for (rank, acts) in programs.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for act in acts {
            let operation = match *act {
                Act::Work(ps) => Operation::Calc(ps as i64 * PS),
                Act::Put(to, bytes) => Operation::Put { to: to as u32, bytes: bytes as u64 },
                Act::Get(from, asked, back) => {
                    Operation::Get { from: from as u32, asked: asked as u32, bytes: back as u64 }
                }
                Act::Flush(to) => Operation::Flush { to: to.map(|to| to as u32) },
                Act::Send(to, bytes, tag) => {
                    Operation::Send { to: to as u32, bytes: bytes as u64, tag: tag.into() }
                }
                Act::Receive(from, tag) => {
                    Operation::Recv { from: Some(from as u32), bytes: 1, tag: Some(tag.into()) }
                }
                Act::PostGet(..) | Act::Wait => continue,
            };
            let later = builder.add(operation).unwrap();
            if later > 0 {
                builder.require_done(later, later - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// Draws a machine whose messages are long above `S` words, if it says so; where nothing `contends`, it has no capacity,
/// and no word after a message's first one takes time.
fn draw_machine(
    rng: &mut fastrand::Rng,
    P: usize,
    contends: bool,
    S: impl Fn(&mut fastrand::Rng) -> Option<usize>,
) -> LeveledParams {
    let text = |rng: &mut fastrand::Rng| {
        let [L, o, g] = [rng.i64(1..30), rng.i64(0..10), rng.i64(1..20)];
        let [G_s, G_l] = [0; 2].map(|none| if contends { rng.i64(0..4) } else { none });
        let capacity = if contends && rng.bool() { "2" } else { "none" };
        let long = match S(rng) {
            None => format!("G={G_l}ps"),
            Some(S) => {
                let ([O_s, O_r, R], s) = ([(); 3].map(|()| rng.i64(0..12)), rng.usize(0..4));
                format!("s={s},S={S},O_s={O_s}ps,O_r={O_r}ps,G_s={G_s}ps,G_l={G_l}ps,R={R}ps")
            }
        };
        format!("L={L}ps,o={o}ps,g={g}ps,{long},C={capacity},word=1")
    };
    let params = Params::builder(P).set(&text(rng)).unwrap().build().unwrap();
    draw_levels(rng, params, text)
}

/// Draws how long messages move.
fn draw_protocol(rng: &mut fastrand::Rng) -> Protocol {
    if rng.bool() { Protocol::Push } else { Protocol::Pull }
}

/// A random program's run, with its machine.
struct RandomRun {
    trace: Trace,
    machine: LeveledParams,
    about: String,
}

/// Makes the run of a random program on a random machine; where nothing `contends`, it has no capacity, and no message
/// occupies a port.
fn random_run(seed: u64, contends: bool) -> Option<RandomRun> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (P, is_loggps) = (rng.usize(2..6), rng.bool());
    let S = |rng: &mut fastrand::Rng| is_loggps.then(|| rng.usize(0..6));
    let LeveledParams { params, levels } = draw_machine(&mut rng, P, contends, S);
    let programs = random_programs(&mut rng, P, 6);
    let (ports, protocol) = (if rng.bool() { Ports::Single } else { Ports::Dual }, draw_protocol(&mut rng));
    let machine = Machine::new(params).levels(levels).ports(ports).rendezvous(protocol);
    let trace =
        machine.rate("work", PS).trace(true).run(|p| run_acts(p, &programs[p.id()])).ok()?.trace.unwrap();
    let machine = trace.machine();
    let about = format!("seed {seed}, {machine:?}, {ports}, {protocol:?}, {programs:?}");
    Some(RandomRun { trace, machine, about })
}

/// A flush waits for what comes back when a put is there: L of the put, and L again.
#[test]
fn waits_of_a_flush_grow_with_the_latency() {
    let params = Params::builder(3).set("L=5us,o=1us,g=2us,G=1us,word=8").unwrap().build().unwrap();
    let machine = Machine::new(params).rate("work", PS).trace(true);
    let run = machine.run(|p| {
        if p.id() < 2 {
            p.work("work", p.id() as u64, || ());
            p.put(2, 80);
            p.flush(None);
        }
    });
    let trace = run.unwrap().trace.unwrap();
    let make_run = |machine| Ok(RunPath::from_trace(&replay_with(&trace, machine)?));
    let curve = RunCurve::find(params, &request("L", None), &make_run).unwrap();
    assert_eq!((curve.slope, curve.pieces.len(), curve.gaps.len()), (2, 1, 0), "{curve:?}");
    assert!(curve.runs < 40, "{curve:?}");
}

/// Where no port and no capacity delays a message, the curve of a program has its time at each value, whichever parameter
/// grows, and each wait on its path has a cause.
#[test]
fn curves_of_one_sided_programs_are_exact() {
    let (mut convex, mut leveled, mut steep) = (0, 0, 0);
    for RandomRun { trace, machine, about } in seeds(60).filter_map(|seed| random_run(seed, false)) {
        let make_run = |machine| Ok(RunPath::from_trace(&replay_with(&trace, machine)?));
        for parameter in CurveRequest::parameters(&machine) {
            let (name, end) = (parameter.name(), parameter.number(&machine).unwrap() + 60);
            let about = format!("{about}, {name}");
            let curve = RunCurve::find(machine.clone(), &request(name, end), &make_run).unwrap();
            let time_at = |value| {
                let again = replay_with(&trace, with(&machine, name, value)).unwrap();
                let events = Events::new(&again);
                let formula = FormulaBuilder::new(&again.machine()).formula(&Path::from_events(&events).hops);
                let unexplained = ["idle", "g", "port", "stall", "surcharge"].map(|kind| formula.rest(kind));
                assert_eq!(unexplained, [Time::ZERO; 5], "{about} at {value}: {formula}");
                events.finish
            };
            let is_convex = compare(&curve, time_at, &about);
            convex += u64::from(is_convex);
            leveled += u64::from(is_convex && parameter.level > 0 && curve.slope > 0);
            steep += u64::from(is_convex && name == "L" && curve.slope > 3);
        }
    }
    assert!(convex > 120 && leveled > 8 && steep > 8, "{convex} {leveled} {steep}");
}

/// Where ports and the capacity delay puts, requests and answers, nearly all values are those of runs.
#[test]
fn curves_of_contending_one_sided_programs_are_checked() {
    let (mut right, mut all, mut known, mut curves) = (0, 0, 0, 0);
    for RandomRun { trace, machine, .. } in seeds(30).filter_map(|seed| random_run(seed, true)) {
        let make_run = |machine| Ok(RunPath::from_trace(&replay_with(&trace, machine)?));
        for parameter in CurveRequest::parameters(&machine) {
            let (name, end) = (parameter.name(), parameter.number(&machine).unwrap() + 60);
            let curve = RunCurve::find(machine.clone(), &request(name, end), &make_run).unwrap();
            (curves, known) = (curves + 1, known + u64::from(curve.gaps.is_empty()));
            for value in curve.value..=curve.end {
                let again = replay_with(&trace, with(&machine, name, value)).unwrap();
                let time = Events::new(&again).finish;
                (right, all) = (right + u64::from(curve.time_at(value) == Some(time)), all + 1);
            }
        }
    }
    assert!(
        1000 * right > 999 * all && curves == known && curves > 75,
        "{right} of {all}, {known} of {curves}"
    );
}

/// A schedule with one-sided messages in a kept order is its play on any machine, with the same critical path; and its
/// curve is exact where that is said.
#[test]
fn one_sided_runs_in_a_kept_order_are_plays() {
    let (mut same, mut exact, mut contending) = (0, 0, 0);
    for seed in seeds(120) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (P, contends) = (rng.usize(2..6), rng.bool());
        let schedule = in_row(&random_programs(&mut rng, P, 6));
        let (ports, protocol) =
            (if rng.bool() { Ports::Single } else { Ports::Dual }, draw_protocol(&mut rng));
        // A kept order has the announcements of one S.
        let S = Some(rng.usize(0..6)).filter(|_| rng.bool());
        let mut draw = || draw_machine(&mut rng, P, contends, |_| S);
        let machine = draw();
        let player = |machine| Player::new(machine).ports(ports).rendezvous(protocol).trace(true);
        let Ok((report, kept)) = player(machine.clone()).run_keeping_order(&schedule) else { continue };
        let kept: KeptOrder = kept.unwrap();
        assert_eq!(kept.run(machine.clone()).unwrap().finishes(), report.finishes, "seed {seed}");
        for other in (0..4).map(|_| draw()) {
            let (run, play) =
                (kept.run(other.clone()).unwrap(), player(other.clone()).run(&schedule).unwrap());
            let about = format!("seed {seed}, {ports}, {other:?}");
            assert_eq!(run.finishes(), play.finishes, "{about}");
            let trace = play.trace.unwrap();
            assert_eq!(run.formula(), (RunPath::from_trace(&trace).formula)(), "{about}");
            same += 1;
        }
        for parameter in CurveRequest::parameters(&machine) {
            let (name, end) = (parameter.name(), parameter.number(&machine).unwrap() + 60);
            let curve = RunCurve::find_kept(machine.clone(), &request(name, end), &kept).unwrap();
            for value in curve.value..=curve.exact_until {
                let time = player(with(&machine, name, value)).run(&schedule).unwrap().time;
                assert_eq!(
                    curve.time_at(value),
                    Some(time),
                    "seed {seed}, {ports}, {machine:?}, {name} = {value}"
                );
            }
            exact += u64::from(curve.exact_until == curve.end);
            contending += u64::from(curve.exact_until == curve.end && kept.has_contention(&machine));
        }
    }
    assert!(same > 300 && exact > 300 && contending > 50, "{same} {exact} {contending}");
}
/// Long messages leave room in the times of a proof for the slopes of parameters that no word costs.
#[test]
fn proofs_have_room_beside_long_messages() {
    let long = 1 << 20;
    let programs: Vec<Vec<Act>> = (0..4)
        .map(|id| {
            let others = || (0..4).filter(move |other| *other != id);
            let sends = others().map(|to| Act::Send(to, long, id as u16));
            sends.chain(others().map(|from| Act::Receive(from, from as u16))).collect()
        })
        .collect();
    let params = Params::builder(4).set("L=1us,o=1us,g=1us,G=1ns,C=none,word=1").unwrap().build().unwrap();
    let (report, kept) = Player::new(params).run_keeping_order(&in_row(&programs)).unwrap();
    assert!(report.time > 6 * loggp::MS, "{}", report.time);
    for name in ["L", "o", "g"] {
        let curve = RunCurve::find_kept(params, &request(name, 1_100_000), &kept.clone().unwrap()).unwrap();
        assert_eq!(curve.exact_until, curve.end, "{name}: {curve:?}");
    }
}
