//! Machines with levels: small programs with hand-computed times, collectives against their formulas, and
//! refusals.
//!
//! The oracle tests random programs on machines with levels.

use loggp::{
    Carrier, ClockKind, Dilation, Group, Level, Machine, Params, Ports, Tag, Time, US, Work, collectives,
};
use proptest::prelude::*;

use crate::cases::cases;
use crate::collectives::{rounds, run as run_and_audit, tree_time};

const BYTES: Tag<Vec<u8>> = Tag::new(0);

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).word(1).build().unwrap()
}

/// Two processors of a node each send eleven words to another node at the same time.
#[test]
fn the_processors_of_a_node_may_share_a_port() {
    let network = params(4, 20, 2, 4, 1);
    let finish = |level: Level, ports: Ports| {
        let machine = Machine::new(network).levels([level]).ports(ports).trace(true);
        let run = run_and_audit(&machine, |p| match p.id() {
            0 | 1 => p.send(p.id() + 2, BYTES, vec![0; 11]),
            id => drop(p.recv(BYTES.from(id - 2))),
        });
        run.processors.iter().map(|stats| stats.finish).collect::<Vec<Time>>()
    };
    let own = Level::new(params(2, 1, 1, 1, 0));
    for ports in [Ports::Single, Ports::Dual] {
        assert_eq!(finish(own, ports), [2, 2, 34, 34].map(|time| time * US));
        // The second message waits for the card until the first has left it at 12, and leaves the other card
        // 10 later.
        assert_eq!(finish(own.one_port(true), ports), [2, 12, 34, 44].map(|time| time * US));
    }
}

/// Messages within a node and between nodes share only the processor and its gap.
#[test]
fn each_level_has_its_own_capacity_and_ports() {
    let network = params(4, 100, 1, 100, 9); // one message in transit
    let node = Level::new(params(2, 4, 1, 2, 1));
    let run = run_and_audit(&Machine::new(network).levels([node]).trace(true), |p| match p.id() {
        1 => {
            p.send(0, BYTES, vec![0; 5]);
            p.now()
        }
        0 => {
            p.send(2, BYTES, vec![0; 5]);
            let first = p.recv(BYTES.from(1)).len();
            assert_eq!(first, 5);
            p.now()
        }
        2 => {
            drop(p.recv(BYTES));
            p.now()
        }
        _ => Time::ZERO,
    });
    // From 1: enters at 1, arrives at 1 + 4 + 4 = 9, received at 10. To 2: enters at 1, arrives at 1 + 100 +
    // 36, received at 138.
    assert_eq!(run.results, [10 * US, US, 138 * US, Time::ZERO]);
}

/// Draws the sizes of levels, from all processors to the innermost group, and their parameters.
fn any_levels() -> impl Strategy<Value = (Vec<usize>, Vec<Params>)> {
    let cost = (1..60_i64, 0..20_i64, 1..40_i64);
    (1..6_usize, 1..5_usize, 1..5_usize, prop::array::uniform3(cost), 2..=3_usize).prop_map(
        |(nodes, sockets, cores, costs, levels)| {
            let sizes = [nodes + 1, sockets + 1, cores + 1];
            let P = |level: usize| sizes[level..levels].iter().product();
            // A gap that outlasts a message could still run at the start of the next level.
            let least = costs[..levels].iter().map(|(L, ..)| *L).min().unwrap();
            let of = |level: usize| {
                let (L, o, g) = costs[level];
                params(P(level), L, o, g.min(least), 0)
            };
            (sizes[..levels].to_vec(), (0..levels).map(of).collect())
        },
    )
}

proptest! {
    #![proptest_config(cases(60))]

    /// Results are those of a machine without levels, and times are the sums of the collectives' formulas
    /// over the levels.
    #[test]
    fn collectives_go_level_by_level((sizes, levels) in any_levels(), root: usize, c in 0..9_i64) {
        let P = levels[0].P;
        let root = root % P;
        let machine = Machine::new(levels[0]).levels(levels[1..].iter().copied().map(Level::new));
        let machine = machine.work(Work::Charged).rate("combine", c * US).trace(true);
        let sum = |of: &dyn Fn(usize, &Params) -> Time| -> Time {
            sizes.iter().zip(&levels).map(|(size, params)| of(*size, params)).sum()
        };
        let way = |params: &Params| params.L + 2 * params.o;

        let run = run_and_audit(&machine, |p| collectives::broadcast(p, root, (p.id() == root).then_some(7_u8)));
        prop_assert_eq!(run.results, vec![7; P]);
        prop_assert_eq!(run.time, sum(&|n, params| tree_time(n, way(params), params.g.max(params.o))));

        let steps = |n: usize, params: &Params| (rounds(n) - 1) * way(params).max(params.g) + way(params);
        let run = run_and_audit(&machine, collectives::barrier);
        prop_assert_eq!(run.time, sum(&steps));

        let run = run_and_audit(&machine, |p| collectives::all_gather(p, p.id() as u8));
        prop_assert_eq!(run.results, vec![(0..P as u8).collect::<Vec<_>>(); P]);
        let in_a_row = |n: usize, params: &Params| {
            (n as i64 - 2) * params.g.max(2 * params.o) + way(params)
        };
        // After an all-to-all, processors need not start the next step at the same time.
        if sizes.iter().zip(&levels).all(|(n, params)| steps(*n, params) <= in_a_row(*n, params)) {
            prop_assert_eq!(run.time, sum(&steps));
        }

        let digits = |p: &mut loggp::Proc, root| collectives::reduce(p, root, vec![p.id() as u8], |a, b| [a, b].concat());
        let run = run_and_audit(&machine, |p| digits(p, root));
        prop_assert_eq!(run.results[root].as_deref(), Some(&*(0..P as u8).collect::<Vec<_>>()));
        let c = c * US;
        let run = run_and_audit(&machine, |p| collectives::reduce(p, 0, 1_u8, |a, b| a + b));
        prop_assert_eq!(run.results[0], Some(P as u8));
        prop_assert_eq!(run.time, sum(&|n, params| tree_time(n, way(params) + c, params.g.max(params.o + c))));
    }
}

/// The collectives of a group of all processors go in one step, planned for the network.
#[test]
fn groups_ignore_levels() {
    let network = params(64, 60, 20, 40, 0);
    let machine = Machine::new(network).levels([Level::new(params(8, 6, 2, 4, 0))]).trace(true);
    let broadcast = |p: &mut loggp::Proc| collectives::broadcast(p, 0, (p.id() == 0).then_some(1_u8));
    let by_levels = run_and_audit(&machine, broadcast).time;
    let all = Group::new(0..64);
    let flat = run_and_audit(&machine, |p| broadcast(&mut p.within(&all))).time;
    assert_eq!(by_levels, tree_time(8, 100 * US, 40 * US) + tree_time(8, 10 * US, 4 * US));
    assert!(by_levels < flat && flat <= tree_time(64, 100 * US, 40 * US), "{by_levels}, {flat}");
    // The collectives of a node are planned for the node's costs.
    let node = |p: &mut loggp::Proc| {
        let node = Group::new(p.id() / 8 * 8..p.id() / 8 * 8 + 8);
        let first = p.id().is_multiple_of(8).then_some(1_u8);
        collectives::broadcast(&mut p.within(&node), 0, first)
    };
    assert_eq!(run_and_audit(&machine, node).time, tree_time(8, 10 * US, 4 * US));
}

/// Where a level's groups are as large as the machine or larger, its costs are those of the whole machine.
#[test]
fn a_level_may_have_all_processors() {
    let network = |P: usize| params(P, 600, 20, 40, 2);
    let node = params(1, 6, 2, 4, 1);
    let of = |P: usize, params: Params| Params { P, ..params };
    let socket = Level::new(params(2, 1, 1, 1, 0));
    for (P, size, within) in [(2, 2, None), (3, 8, None), (4, 4, Some(socket)), (6, 16, Some(socket))] {
        let level = Level::new(of(size, node)).one_port(size == 8);
        let part = Machine::new(network(P)).levels([level].into_iter().chain(within)).trace(true);
        let whole = Machine::new(of(P, node)).levels(within).trace(true);
        let program = |p: &mut loggp::Proc| {
            let first = collectives::broadcast(p, 1, (p.id() == 1).then_some(7_u8));
            let all = collectives::all_gather(p, p.id() as u8);
            let sum = collectives::reduce(p, 0, 1_u8, |a, b| a + b);
            p.send((p.id() + 1) % P, BYTES, vec![0; 9]);
            (first, all, sum, p.recv(BYTES).len())
        };
        let (part, whole) = (run_and_audit(&part, program), run_and_audit(&whole, program));
        assert_eq!((part.time, part.results), (whole.time, whole.results), "{P} of {size}");
    }
}

#[test]
fn levels_are_the_same_on_both_clocks() {
    let machine = Machine::new(params(12, 60, 20, 40, 1))
        .levels([Level::new(params(6, 6, 2, 4, 1)).one_port(true), Level::new(params(2, 1, 1, 1, 0))])
        .work(Work::Charged)
        .trace(true);
    let program = |p: &mut loggp::Proc| {
        let all = collectives::all_gather(p, vec![p.id() as u8; 3]);
        p.barrier();
        (all, p.now(), p.params_to(0).L, p.params_to(5).L)
    };
    let model = run_and_audit(&machine, program);
    for carrier in [Carrier::Thread, Carrier::Coroutine] {
        let wall = machine.clone().clock(ClockKind::Wall).carrier(carrier).dilation(Dilation::Fixed(1.0));
        let measured = run_and_audit(&wall, program);
        assert_eq!((&measured.results, &measured.trace), (&model.results, &model.trace));
    }
    let latencies = |id: usize| (model.results[id].2, model.results[id].3);
    assert_eq!(
        [0, 1, 2, 4, 6].map(latencies),
        [(1, 6), (1, 6), (6, 6), (6, 1), (60, 60)].map(|(a, b)| (a * US, b * US))
    );
}

#[test]
fn invalid_levels_are_refused() {
    let refused = |levels: &[Params]| {
        let levels = levels.iter().copied().map(Level::new);
        Machine::new(params(12, 6, 2, 4, 1)).levels(levels).run(|_| ()).unwrap_err().to_string()
    };
    let of = |P: usize| params(P, 1, 1, 1, 1);
    for (levels, sentence) in [
        (vec![of(5)], "groups of 5 do not divide 12 processors; give the level another P"),
        (vec![of(24), of(8)], "groups of 8 do not divide 12 processors; give the level another P"),
        (vec![of(12), of(12)], "groups of 12 do not divide 12 processors; give the level another P"),
        (vec![of(6), of(4)], "groups of 4 do not divide 6 processors; give the level another P"),
        (vec![of(6), of(3), of(1)], "3 levels within the machine are too many; give at most 2"),
        (vec![Params { cycle: 2 * US, ..of(6) }], "levels differ in word or cycle; give all the same"),
        (vec![Params { g: -US, ..of(6) }], "g = -1 us is negative; only G_l may be"),
    ] {
        assert_eq!(refused(&levels), sentence);
    }
}
