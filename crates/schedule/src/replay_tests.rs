//! Schedules with times derived by hand, and random ones against the machine.

use loggp::Machine;
use loggp_model::error::Cause;
use loggp_model::message::Tag;
use loggp_model::params::{Latency, Level, LeveledParams, Noise, Params, Ports};
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::Rank;
use loggp_model::time::{Time, US};
use loggp_model::transport::{Ingress, Protocol};
use loggp_trace::audit::audit;

use super::operations::ANY;
use super::player::*;
use super::*;
use crate::{Operation, ScheduleBuilder};

/// An operation as tests write it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Send(usize, usize, u16),
    Recv(Option<usize>, u16),
    Calc(i64),
}

impl Op {
    fn operation(self) -> Operation {
        match self {
            Op::Send(to, bytes, tag) => {
                Operation::Send { to: to as u32, bytes: bytes as u64, tag: tag.into() }
            }
            Op::Recv(from, tag) => {
                Operation::Recv { from: from.map(|from| from as u32), bytes: 1, tag: Some(tag.into()) }
            }
            Op::Calc(units) => Operation::Calc(units * US),
        }
    }
}

/// Builds a schedule in which every operation waits for the one before it, or none for any.
fn schedule(ranks: &[Vec<Op>], in_row: bool) -> Schedule {
    let mut builder = ScheduleBuilder::new(ranks.len()).unwrap();
    for (rank, ops) in ranks.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for op in ops {
            let later = builder.add(op.operation()).unwrap();
            if in_row && later > 0 {
                builder.require_done(later, later - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// Returns the times at which ranks are done, in cycles.
fn finishes(rules: CostModel, params: &str, schedule: &Schedule) -> Vec<i64> {
    let params = Params::builder(1).set(params).unwrap().word(1).build().unwrap();
    let replayed = Player::new(params).rules(rules).run(schedule).unwrap();
    assert_eq!(replayed.time, replayed.finishes.iter().copied().max().unwrap());
    replayed.finishes.iter().map(|time| time.as_ps() / US.as_ps()).collect()
}

/// Builds a tree in which each rank sends to its children, or to its parent if `up`, as soon as it has
/// received.
fn tree(parents: &[Option<usize>], bytes: usize, up: bool) -> Schedule {
    let mut builder = ScheduleBuilder::new(parents.len()).unwrap();
    for (rank, parent) in parents.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        let children: Vec<usize> = (0..parents.len()).filter(|child| parents[*child] == Some(rank)).collect();
        let recv = |from: usize| Op::Recv(Some(from), 0).operation();
        let send = |to: usize| Op::Send(to, bytes, 0).operation();
        let froms = if up { children.clone() } else { parent.iter().copied().collect() };
        let tos = if up { parent.iter().copied().collect() } else { children };
        let recvs: Vec<u32> = froms.into_iter().map(|from| builder.add(recv(from)).unwrap()).collect();
        for to in tos {
            let later = builder.add(send(to)).unwrap();
            recvs.iter().for_each(|earlier| builder.require_done(later, *earlier).unwrap());
        }
    }
    builder.build().unwrap()
}

/// Sends at 0, 4 and 8, each g after the one before; the last keeps host 0 busy until 8 + o = 10. The first
/// byte of each arrives o + L = 8 later, at 8, 12 and 16, and costs o there: 10, 14, 18. The papers' rules
/// give the same: LogP's capacity of ceil(6/4) = 2 is just enough.
#[test]
fn flat_send() {
    let flat = tree(&[None, Some(0), Some(0), Some(0)], 1, false);
    for rules in [CostModel::LogGOPSim, CostModel::Papers] {
        assert_eq!(finishes(rules, "L=6,o=2,g=4,G=0", &flat), [10, 10, 14, 18], "{rules:?}");
    }
}

/// A detour of 4 every 100, from a random moment on. Rank 0 computes for 90 and sends; rank 1 receives and
/// computes for 5. Under both rules a detour lengthens the computation or overhead into which it falls. Under
/// LogGOPSim's rules the message leaves when its overhead would be over without noise.
#[test]
fn noise_lengthens_what_processors_do() {
    let ops = [vec![Op::Calc(90), Op::Send(1, 1, 0)], vec![Op::Recv(Some(0), 0), Op::Calc(5)]];
    let schedule = schedule(&ops, true);
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).word(1).build().unwrap();
    let mut sends_late = 0;
    for seed in 0..300 {
        let noise = Noise::from_periods([(100 * US, 4 * US)]).unwrap().seed(seed);
        let done = |id: usize, start: Time, time: Time| {
            let detours = noise.detours(id, start, start + 200 * US);
            let later =
                |end, (from, until): &(Time, Time)| if *from < end { end + (*until - *from) } else { end };
            detours.iter().fold(start + time, later)
        };
        let finishes = |rules| {
            let player = Player::new(params).rules(rules).noise(noise.clone());
            player.run(&schedule).unwrap().finishes
        };
        let thought = done(0, Time::ZERO, 90 * US);
        let sent = done(0, thought, 2 * US);
        let gets = |there: Time| done(1, done(1, there, 2 * US), 5 * US);
        assert_eq!(finishes(CostModel::Papers), [sent, gets(sent + 6 * US)], "seed {seed}");
        assert_eq!(finishes(CostModel::LogGOPSim), [sent, gets(thought + 8 * US)], "seed {seed}");
        sends_late += i32::from(sent > thought + 2 * US);
    }
    assert!(sends_late > 0);
}

/// Seven ranks in a binary tree, with L=6, o=2, g=4, G=1 and messages of 3 bytes.
///
/// LogGOPSim: the leaves 3 to 6 send at 0 and are free at o = 2. The first bytes are at 1 and 2 at o + L = 8.
/// There the message from the lower leaf costs o + 2G = 4, until 12. Its interface can receive again g + 2G =
/// 6 after 8, at 14, so the other one costs 14 to 18. 1 and 2 send at 18 and are free at 20; 0 gets the first
/// bytes at 26, spends 26 to 30, and on the other message, 6 after 26, 32 to 36.
///
/// The papers: the leaves' messages enter at o = 2, where the leaves are done. 1 and 2 have a port that takes
/// in one at a time: the first one's bytes come out in [8, 10), the second one's in [10, 12). The receptions
/// start at 10, and at 14, g later, and are over at 16. The messages of 1 and 2 enter at 18; at 0 they are
/// there at 26 and 28, and received from 26 to 28 and from 30 to 32.
#[test]
fn binary_reduction_tree() {
    let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
    let reduce = tree(&parents, 3, true);
    let params = "L=6,o=2,g=4,G=1";
    assert_eq!(finishes(CostModel::LogGOPSim, params, &reduce), [36, 20, 20, 2, 2, 2, 2]);
    assert_eq!(finishes(CostModel::Papers, params, &reduce), [32, 18, 18, 2, 2, 2, 2]);
}

/// Four ranks, each of which sends to the next and then, when it has heard from the one before, to the one
/// after next; L=6, o=2, g=4, G=1, 3 bytes.
///
/// LogGOPSim: all send at 0 and are free at 2; first bytes at 8, received by 8 + o + 2G = 12. The second send
/// needs its interface since g + 2G = 6, so it goes at 12, free at 14; first bytes at 20, and 6 since 8 are
/// over: done at 24.
///
/// The papers: enter at 2, arrival at 2 + 6 + 2 = 10, received from 10 to 12. Then sent: ready at 14, and the
/// port, which sends in [2, 4) and receives in [8, 10), is free. Arrival at 22, received from 22 to 24.
#[test]
fn dissemination() {
    let ranks: Vec<Vec<Op>> = (0..4)
        .map(|rank| {
            vec![
                Op::Send((rank + 1) % 4, 3, 0),
                Op::Recv(Some((rank + 3) % 4), 0),
                Op::Send((rank + 2) % 4, 3, 0),
                Op::Recv(Some((rank + 2) % 4), 0),
            ]
        })
        .collect();
    let schedule = schedule(&ranks, true);
    for rules in [CostModel::LogGOPSim, CostModel::Papers] {
        assert_eq!(finishes(rules, "L=6,o=2,g=4,G=1", &schedule), [24; 4], "{rules:?}");
    }
}

/// 0 sends 5 bytes each to 1, 2 and 3, with L=6, o=2, g=4, G=1.
///
/// LogGOPSim: its interface sends every g + 4G = 8, at 0, 8 and 16; busy until 18. First bytes 8 later, at 8,
/// 16, 24; each costs o + 4G = 6: 14, 22, 30.
///
/// The papers: a message enters at 2, and the next one when the last byte and the gap are over: 2 + 4G + g =
/// 10, and 18. Last bytes are there L + 4G = 10 after that, and received o = 2 later: 14, 22, 30. Host 0 goes
/// on at 18.
#[test]
fn scatter() {
    let scatter = tree(&[None, Some(0), Some(0), Some(0)], 5, false);
    for rules in [CostModel::LogGOPSim, CostModel::Papers] {
        assert_eq!(finishes(rules, "L=6,o=2,g=4,G=1", &scatter), [18, 14, 22, 30], "{rules:?}");
    }
}

/// The example on LogGOPSim's page: a binomial reduction of 1,024 bytes over 8 hosts with L=2500, o=1500,
/// g=1000, G=6. The leaves are free at o = 1500. Their first bytes arrive at o + L = 4000, and cost o + 1023G
/// = 7638, until 11638; then each level takes o to send, until 13138, and 4000 + 7638 from the send to its
/// reception: 23276, 34914.
#[test]
fn loggopsim_example() {
    let parents = [None, Some(0), Some(0), Some(1), Some(0), Some(1), Some(2), Some(3)];
    let reduce = tree(&parents, 1024, true);
    let params = "L=2500,o=1500,g=1000,G=6";
    let expected = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500];
    assert_eq!(finishes(CostModel::LogGOPSim, params, &reduce), expected);
}

/// With O a byte costs the processors time too: host 0 is busy for o + 4O = 10 with each send, host 1 for o +
/// max(4O, 4G). Above S the send is done when its receive is posted, here at 100; the message's cost was
/// spent on arrival, at 8.
#[test]
fn loggopsim_has_a_cost_per_byte_and_a_rendezvous() {
    let params = "L=6,o=2,g=4,O_s=2,O_r=2,G_s=1,G_l=1,s=1,S=5";
    let both = |bytes| {
        let ranks = [vec![Op::Send(1, bytes, 0), Op::Calc(1)], vec![Op::Calc(100), Op::Recv(Some(0), 0)]];
        finishes(CostModel::LogGOPSim, params, &schedule(&ranks, true))
    };
    assert_eq!(both(5), [11, 110]); // the message comes at 8, finds the processor taken, and costs 100 to 110
    assert_eq!(both(6), [101, 112]);
    let further = (1 << 32) + 1;
    assert_eq!(both(further as usize + 1), [3 + 2 * further, 102 + 2 * further]);
    let other = Params::builder(1).set("L=6,o=2,g=4,O_s=2,O_r=1,G_s=1,G_l=1,s=1,S=5").unwrap();
    let other = other.build().unwrap();
    let refused = Player::new(other).rules(CostModel::LogGOPSim).run(&schedule(&[vec![]], true)).unwrap_err();
    assert!(refused.to_string().contains("give O_s = O_r and G_s = G_l"), "{refused}");
}

/// Under LogGOPSim's rules other processors of the rank compute meanwhile; under the papers' rules a rank is
/// one processor.
#[test]
fn loggopsim_has_several_processors() {
    let mut builder = ScheduleBuilder::new(1).unwrap();
    builder.begin_rank(0).unwrap();
    for cpu in 0..3 {
        let operation = Operation::Calc(i64::from(cpu + 1) * US);
        builder.add_placed(crate::PlacedOperation { operation, cpu, nic: 0 }).unwrap();
    }
    let calcs = builder.build().unwrap();
    assert_eq!(finishes(CostModel::LogGOPSim, "L=1", &calcs), [3]);
    assert_eq!(finishes(CostModel::Papers, "L=1", &calcs), [6]);
}

/// A receive may name another length than its message has, as in LogGOPSim; it is said.
#[test]
fn receives_of_another_length_are_told() {
    let params =
        Params::builder(1).set("L=6,o=2,O_s=0,O_r=0,G_s=1,G_l=1,s=1,S=4").unwrap().word(1).build().unwrap();
    for rules in [CostModel::Papers, CostModel::LogGOPSim] {
        let warnings = |sent: &[usize]| {
            let sends = sent.iter().map(|bytes| Op::Send(1, *bytes, 0)).collect();
            let receives = vec![Op::Recv(Some(0), 0); sent.len()];
            Player::new(params).rules(rules).run(&schedule(&[sends, receives], true)).unwrap().warnings
        };
        assert_eq!(warnings(&[1, 1]), [""; 0]);
        assert_eq!(
            warnings(&[1, 0]),
            [
                "1 receive names another length than its message has, which counts; the first is number 1, counted from 0, \
              of rank 1, with 1 byte for a message of 0 from rank 0"
            ]
        );
        // A long message is taken once, though it takes several.
        assert_eq!(
            warnings(&[9, 1, 2]),
            [
                "2 receives name other lengths than their messages have, which count; the first is number 0, counted from \
              0, of rank 1, with 1 byte for a message of 9 from rank 0, which MPI refuses"
            ]
        );
    }
}

/// A rank that waits in a receive or for a gap can do what else is ready. Rank 0 sends from 0 to 2. The gap
/// lets it send again at 6, so the computation goes first, from 2 to 7; then the send, from 7 to 9; and the
/// message that arrives at 8 is received from 9 to 11. Rank 1 sends until 2, receives the message that
/// arrives at 8 until 10, and the one that arrives at 15 until 17.
#[test]
fn earliest_possible_act_goes_first() {
    let ranks = [
        vec![Op::Recv(Some(1), 0), Op::Send(1, 1, 0), Op::Send(1, 1, 1), Op::Calc(5)],
        vec![Op::Send(0, 1, 0), Op::Recv(Some(0), 0), Op::Recv(Some(0), 1)],
    ];
    let done = finishes(CostModel::Papers, "L=6,o=2,g=6,G=0", &schedule(&ranks, false));
    assert_eq!(done, [11, 17]);
}

/// A run that fails on the machine fails here with the same message.
#[test]
fn errors_are_those_of_the_machine() {
    let params = Params::builder(1).set("L=6,o=2,g=4").unwrap().build().unwrap();
    let error_of = |rules, ranks: &[Vec<Op>]| {
        Player::new(params).rules(rules).run(&schedule(ranks, true)).unwrap_err().to_string()
    };
    for rules in [CostModel::Papers, CostModel::LogGOPSim] {
        let waits = error_of(rules, &[vec![Op::Recv(Some(1), 7)], vec![Op::Calc(3)]]);
        let lines: Vec<&str> = waits.lines().collect();
        assert_eq!(
            lines,
            [
                "deadlock: 1 of 2 processors waits for messages that nobody sends",
                "  processor 0 at 0 us waited for a message from 1 with tag 7",
                "  processor 1 at 3 us had finished"
            ],
            "{rules:?}"
        );
        let left = error_of(rules, &[vec![Op::Send(1, 1, 7)], vec![]]);
        assert!(
            left.starts_with("a message was never received: from processor 0 to processor 1 with tag 7"),
            "{left}"
        );
        let late = error_of(rules, &[vec![Op::Calc(9_000_000_000_000); 2], vec![]]);
        assert!(late.contains("processor 0 came to the end of time"), "{late}");
    }
}

/// Random operations, nearly all of which have a partner: each message's receive is written some time after
/// its send.
fn random_ops(rng: &mut fastrand::Rng, P: usize, longest: usize) -> Vec<Vec<Op>> {
    let mut ranks = vec![Vec::new(); P];
    let mut under_way: Vec<(usize, usize, u16)> = Vec::new();
    let tags = rng.u16(1..3);
    let hurry = rng.usize(1..6);
    for _ in 0..rng.usize(1..40) {
        let (from, to, tag) = (rng.usize(0..P), rng.usize(0..P), rng.u16(0..tags));
        match rng.u8(0..5) {
            0 => ranks[from].push(Op::Calc(rng.i64(0..9))),
            1 | 2 => {
                let bytes = if rng.bool() { 1 } else { rng.usize(0..=longest) };
                ranks[from].push(Op::Send(to, bytes, tag));
                under_way.push((from, to, tag));
            }
            _ if under_way.len() >= hurry => {
                let (from, to, tag) = under_way.swap_remove(rng.usize(0..under_way.len()));
                ranks[to].push(Op::Recv(rng.bool().then_some(from), tag));
            }
            _ => (),
        }
    }
    for (from, to, tag) in under_way {
        ranks[to].push(Op::Recv(rng.bool().then_some(from), tag));
    }
    ranks
}

/// Random parameters of every model.
fn random_params(rng: &mut fastrand::Rng, P: usize) -> Params {
    let mut us = |most: i64| rng.i64(0..=most) * US;
    let plain = Params::builder(P).L(us(9)).o(us(4)).g(us(6));
    let G = us(3);
    let params = match rng.u8(0..4) {
        0 => plain,
        1 => plain.G(G),
        2 => {
            let s = rng.usize(0..6);
            let (S, G_l) = (s + rng.usize(0..8), rng.i64(0..20));
            let text = format!("O_s=1ns,O_r=2ns,G_s=20ns,G_l={G_l}ns,s={s},S={S}");
            plain.set(&text).unwrap()
        }
        _ => plain.L(9 * US).set("O_s=3ns,O_r=2ns,G_s=20ns,G_l=-8ns,s=4,S=9").unwrap(),
    };
    params.word(rng.usize(1..4)).build().unwrap()
}

/// Random levels within a machine with these parameters; mostly none.
fn random_levels(rng: &mut fastrand::Rng, outer: &Params) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut P = outer.P;
    while levels.len() < 2 && rng.bool() {
        let sizes: Vec<usize> = (1..P).filter(|size| P.is_multiple_of(*size)).collect();
        if sizes.is_empty() {
            break;
        }
        P = sizes[rng.usize(0..sizes.len())];
        let params = loop {
            let params = random_params(rng, P);
            if params.is_loggp() == outer.is_loggp() {
                break Params { word: outer.word, ..params };
            }
        };
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        levels.push(Level::new(params).ports(ports).one_port(rng.bool()));
    }
    levels
}

/// A schedule in which every operation waits for the one before it takes what the same program takes on the
/// virtual clock, at every processor, and fails as it fails.
#[test]
fn sequential_schedule_takes_as_long_as_the_program() {
    let (mut ended, mut long, mut stalled, mut leveled) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(1..9);
        let params = random_params(&mut rng, P);
        let levels = random_levels(&mut rng, &params);
        let ranks = random_ops(&mut rng, P, 14);
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let noise = [
            None,
            "40us:7us".parse::<Noise>().ok(),
            Noise::parse_record("3000 500\n9000 20000\n60000 1000").ok(),
        ];
        let noise = noise[rng.usize(0..3)].clone().map(|noise| noise.seed(seed));
        let machine = Machine::new(params).levels(levels.iter().copied()).ports(ports).noise(noise.clone());
        let program = machine.rate("compute", US).run(|p| {
            let tag = |tag| Tag::<Vec<u8>>::new(tag);
            for op in &ranks[p.id()] {
                match *op {
                    Op::Calc(units) => p.work("compute", units as u64, || ()),
                    Op::Send(to, bytes, number) => p.send(to, tag(number), vec![0; bytes]),
                    Op::Recv(Some(from), number) => drop(p.recv(tag(number).from(from))),
                    Op::Recv(None, number) => drop(p.recv(tag(number))),
                }
            }
        });
        let player =
            Player::new(LeveledParams::new(params, levels.iter().copied())).ports(ports).noise(noise.clone());
        let replayed = player.run(&schedule(&ranks, true));
        match (program, replayed) {
            (Ok(run), Ok(replayed)) => {
                let finishes: Vec<Time> = run.processors.iter().map(|stats| stats.finish).collect();
                assert_eq!(
                    replayed.finishes, finishes,
                    "seed {seed}: {params:?}, {levels:?}, {ports:?}, {noise:?}, {ranks:?}"
                );
                assert_eq!(replayed.messages, run.messages(), "seed {seed}");
                assert_eq!(replayed.stalls, run.stalls(), "seed {seed}");
                ended += 1;
                stalled += u64::from(replayed.stalls > 0);
                long += u64::from(params.gps().is_some());
                leveled += u64::from(!levels.is_empty());
            }
            (Err(program), Err(replay)) => {
                let causes = (&program.cause, &replay.cause);
                match causes {
                    (
                        Cause::NotReceived { count, from, to, .. },
                        Cause::NotReceived { count: c, from: f, to: t, .. },
                    ) => {
                        assert_eq!((count, from, to), (c, f, t), "seed {seed}");
                    }
                    (program, replay) => assert_eq!(program, replay, "seed {seed}"),
                }
            }
            (program, replay) => panic!("seed {seed}: {program:?} and {replay:?}: {params:?}, {ranks:?}"),
        }
    }
    assert!(
        ended > 1000 && long > 400 && stalled > 50 && leveled > 300,
        "{ended} ended, {long} long, {stalled} stalled, {leveled} with levels"
    );
}

/// Builds a schedule of random operations of which few wait for others.
fn loose_schedule(rng: &mut fastrand::Rng, ranks: &[Vec<Op>]) -> Schedule {
    let mut builder = ScheduleBuilder::new(ranks.len()).unwrap();
    for (rank, ops) in ranks.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for op in ops {
            let later = builder.add(op.operation()).unwrap();
            for _ in 0..if later > 0 { rng.u8(0..3) } else { 0 } {
                // Two receives posted at the same moment have an arbitrary order.
                let (earlier, begun) = (rng.u32(0..later), rng.bool() && !matches!(op, Op::Recv(..)));
                builder.require(crate::Requirement { later, earlier, begun }).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// A schedule without scripts: the operations of all ranks in a row, and the requirements among them.
struct FlatSchedule {
    operations: Vec<PackedOperation>,
    requirements: Vec<Requirement>,
}

impl FlatSchedule {
    fn new(schedule: &Schedule) -> FlatSchedule {
        let of = |id: usize| schedule.range(id).map(move |operation| schedule.operation(id, operation));
        let among_all = |id: usize| {
            let begin = schedule.range(id).start;
            schedule.requirements_of(id).map(move |Requirement { later, earlier, begun }| Requirement {
                later: begin + later,
                earlier: begin + earlier,
                begun,
            })
        };
        FlatSchedule {
            operations: (0..schedule.ranks()).flat_map(of).collect(),
            requirements: (0..schedule.ranks()).flat_map(among_all).collect(),
        }
    }
}

/// Makes an operation ready, and with a receive also the operations that wait for its beginning: it begins
/// when it is posted.
fn make_ready(
    schedule: &FlatSchedule,
    needs: &mut [u32],
    ready: &mut Vec<(Time, u32)>,
    operation: u32,
    at: Time,
) {
    ready.push((at, operation));
    if matches!(schedule.operations[operation as usize].kind, OperationKind::Recv(_)) {
        count_down(schedule, needs, ready, operation, true, at);
    }
}

/// Counts down the operations that wait for the beginning (`begun`) or the end of an operation.
fn count_down(
    schedule: &FlatSchedule,
    needs: &mut [u32],
    ready: &mut Vec<(Time, u32)>,
    operation: u32,
    begun: bool,
    at: Time,
) {
    let waits = |requirement: &&Requirement| (requirement.earlier, requirement.begun) == (operation, begun);
    for &Requirement { later, .. } in schedule.requirements.iter().filter(waits) {
        needs[later as usize] -= 1;
        if needs[later as usize] == 0 {
            make_ready(schedule, needs, ready, later, at);
        }
    }
}

/// Follows the rules of `docs/reference/replay.md` literally: each step looks at all acts that every rank
/// could perform, and matches messages with receives anew. Returns the time at which each rank is done and
/// the number of stalls, or `None` if not all are done.
fn by_hand(schedule: &Schedule, network: &Network) -> Option<(Vec<Time>, u64)> {
    struct RankByHand {
        rank: Rank,
        /// Operations that are ready, each with the time since which it is.
        ready: Vec<(Time, u32)>,
        /// Messages: arrival, sender, turn, tag and length.
        mail: Vec<(Time, u32, usize, u32, usize)>,
    }
    let P = schedule.ranks();
    let flat = &FlatSchedule::new(schedule);
    let mut needs = vec![0u32; schedule.len()];
    flat.requirements.iter().for_each(|requirement| needs[requirement.later as usize] += 1);
    let mut ranks: Vec<RankByHand> = (0..P)
        .map(|id| {
            let free: Vec<u32> =
                schedule.range(id).filter(|operation| needs[*operation as usize] == 0).collect();
            let mut ready = Vec::new();
            for operation in free {
                make_ready(flat, &mut needs, &mut ready, operation, Time::ZERO);
            }
            ready.sort();
            let mut rank = Rank::new(id, network);
            if !schedule.ranks[id].is_in_row {
                rank.egress.keep_order();
            }
            RankByHand { rank, ready, mail: Vec::new() }
        })
        .collect();
    let mut ingresses: Vec<Ingress> = (0..network.ingress_count()).map(|_| Ingress::default()).collect();
    let (mut left, mut stalls, mut turns) = (schedule.len(), 0, 0);
    loop {
        // The next act: its turn, rank, operation, beginning and message.
        let mut next: Option<(Time, usize, u32, Time, Option<usize>)> = None;
        for (id, rank) in ranks.iter().enumerate() {
            let mut could: Vec<(Time, Time, u32, Time, Option<usize>)> = Vec::new();
            let mut posted: Vec<(Time, u32)> = Vec::new();
            let mut first_send = true;
            for &(since, operation) in &rank.ready {
                let packed = flat.operations[operation as usize];
                match packed.kind {
                    OperationKind::Calc(_) | OperationKind::WaitUntil(_) => {
                        could.push((rank.rank.now, since, operation, rank.rank.now, None))
                    }
                    OperationKind::Recv(_) => posted.push((since, operation)),
                    OperationKind::Send(_) if std::mem::take(&mut first_send) => {
                        let words = network.params().words(packed.bytes() as usize);
                        let (begin, turn) = rank.rank.predict_send(network, packed.peer as usize, words);
                        could.push((begin, since, operation, turn, None));
                    }
                    _ => (),
                }
            }
            let mut mail: Vec<usize> = (0..rank.mail.len()).collect();
            mail.sort_by_key(|index| rank.mail[*index]);
            for index in mail {
                let (arrival, from, _, tag, words) = rank.mail[index];
                let takes = |&(_, receive): &(Time, u32)| {
                    let receive = flat.operations[receive as usize];
                    [ANY, from].contains(&receive.peer) && [ANY, tag].contains(&receive.tag)
                };
                if let Some(found) = posted.iter().position(takes) {
                    let (since, receive) = posted.remove(found);
                    let (begin, over) = rank.rank.predict_reception(network, (from as usize, words), arrival);
                    could.push((begin, since.max(arrival), receive, over, Some(index)));
                }
            }
            if let Some((begin, _, operation, turn, index)) = could.into_iter().min()
                && next.is_none_or(|(other, ..)| turn < other)
            {
                next = Some((turn, id, operation, begin, index));
            }
        }
        let Some((_, id, operation, begin, index)) = next else { break };
        let rank = &mut ranks[id];
        rank.ready.retain(|(_, other)| *other != operation);
        let packed = flat.operations[operation as usize];
        match (packed.kind, index) {
            (OperationKind::Recv(_), Some(index)) => {
                let (_, from, .., words) = rank.mail.remove(index);
                rank.rank.receive(network, (from as usize, words), begin);
            }
            (OperationKind::Send(_), _) => {
                let words = network.params().words(packed.bytes() as usize);
                let outgoing = rank.rank.prepare_send(network, packed.peer as usize, words);
                let passage =
                    network.serve(&mut *ingresses, &mut rank.rank.egress, outgoing.to, &outgoing.departure);
                rank.rank.now = passage.enter;
                stalls += u64::from(passage.admitted > passage.ready);
                turns += 1;
                let mail = (passage.arrival, id as u32, turns, packed.tag, words);
                ranks[packed.peer as usize].mail.push(mail);
            }
            (OperationKind::Calc(time), _) => rank.rank.now += time,
            _ => unreachable!("a receive has a message, and no rank waits for a moment"),
        }
        left -= 1;
        let rank = &mut ranks[id];
        let mut fresh = Vec::new();
        if !matches!(packed.kind, OperationKind::Recv(_)) {
            count_down(flat, &mut needs, &mut fresh, operation, true, begin);
        }
        count_down(flat, &mut needs, &mut fresh, operation, false, rank.rank.now);
        rank.ready.extend(fresh);
        rank.ready.sort();
    }
    let is_over = left == 0 && ranks.iter().all(|rank| rank.mail.is_empty());
    is_over.then(|| (ranks.iter().map(|rank| rank.rank.now).collect(), stalls))
}

/// The rules hold for operations that don't wait for each other, too.
#[test]
fn loose_schedule_follows_the_rules() {
    let (mut ended, mut stalled, mut leveled) = (0, 0, 0);
    for seed in 0..3500 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(1..7);
        let mut params = random_params(&mut rng, P);
        let mut levels = random_levels(&mut rng, &params);
        // Every act takes some time.
        let all = levels.iter_mut().map(|level| &mut level.params).chain([&mut params]);
        all.for_each(|params| params.o = params.o.max(US));
        let mut ranks = random_ops(&mut rng, P, 14);
        for op in ranks.iter_mut().flatten() {
            *op = if *op == Op::Calc(0) { Op::Calc(1) } else { *op };
        }
        let schedule = loose_schedule(&mut rng, &ranks);
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let player = Player::new(LeveledParams::new(params, levels.iter().copied())).ports(ports);
        let replayed = player.trace(true).run(&schedule);
        if let Ok(replayed) = &replayed {
            let found = audit(replayed.trace.as_ref().unwrap()).violations;
            assert!(found.is_empty(), "seed {seed}: {found:#?}");
        }
        if params.gps().is_some() {
            continue; // the test above checks handshakes
        }
        let network = Network::new(params, &levels, ports, Latency::Exact);
        let expected = by_hand(&schedule, &network);
        let found = replayed.ok().map(|replayed| (replayed.finishes, replayed.stalls));
        assert_eq!(
            found, expected,
            "seed {seed}: {params:?}, {levels:?}, {ports:?}, {ranks:?}, {schedule:?}"
        );
        ended += u64::from(expected.is_some());
        leveled += u64::from(expected.is_some() && !levels.is_empty());
        stalled += u64::from(expected.is_some_and(|(_, stalls)| stalls > 0));
    }
    assert!(
        ended > 500 && stalled > 20 && leveled > 200,
        "{ended} ended, {stalled} stalled, {leveled} with levels"
    );
}

/// A rank that computes while its message waits: if it has to push, the receiver waits for its next step; if the
/// receiver pulls, it does not.
#[test]
fn receiver_that_pulls_does_not_wait_for_a_sender_that_computes() {
    let mut builder = ScheduleBuilder::new(2).unwrap();
    builder.begin_rank(0).unwrap();
    builder.add(Operation::Send { to: 1, bytes: 10, tag: 0 }).unwrap();
    builder.add(Operation::Calc(100 * US)).unwrap();
    builder.begin_rank(1).unwrap();
    builder.add(Operation::Recv { from: Some(0), bytes: 10, tag: Some(0) }).unwrap();
    let schedule = builder.build().unwrap();
    let params = Params::builder(2).word(1).set("L=6,o=2,g=0,O_s=0,O_r=0,G_s=1,G_l=1,s=4,S=4").unwrap();
    let player = Player::new(params.build().unwrap()).trace(true);
    // The announcement is taken at 10. The grant is there at 18, and is taken at 104, after the computation; the data
    // enter at 104 + 2, and are there 16 later.
    let pushed = player.clone().run(&schedule).unwrap();
    assert_eq!(pushed.finishes, [106 * US, 124 * US]);
    // It reads from 10 on: o, L until 18, and 10 + 6 until they are there. What it says at 38 is there at 44.
    let pulled = player.rendezvous(Protocol::Pull).run(&schedule).unwrap();
    assert_eq!(pulled.finishes, [104 * US, 38 * US]);
    for report in [pushed, pulled] {
        assert_eq!(audit(&report.trace.unwrap()).violations, []);
    }
}
