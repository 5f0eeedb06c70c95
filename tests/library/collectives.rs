//! Collectives: their results against sequential references, their times against their formulas, and their
//! errors.

use loggp::audit::audit;
use loggp::check::Check;
use loggp::collectives::BroadcastPlan;
use loggp::params::LogGps;
use loggp::{
    Carrier, Cause, ClockKind, Dilation, Group, Latency, Machine, Params, Ports, Proc, Run, RunError, Tag,
    Time, US, Work, collectives,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::cases::{cases, seeds, times};

const BYTE: Tag<u8> = Tag::new(0);
const PAIR: Tag<(usize, usize)> = Tag::new(1);

/// Creates a machine with charged work that traces everything.
fn machine(params: Params) -> Machine {
    Machine::new(params).work(Work::Charged).trace(true)
}

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

/// Returns the parameters of LogP's figure 3, with a G.
fn figure_3(P: usize) -> Params {
    params(P, 6, 2, 4, 1)
}

/// Runs a program and audits the run.
pub(crate) fn run<R: Send>(machine: &Machine, program: impl Fn(&mut Proc) -> R + Sync) -> Run<R> {
    let run = machine.run(program).unwrap_or_else(|error| panic!("{:?}: {error}", machine.params()));
    let audit = audit(run.trace.as_ref().unwrap());
    assert!(audit.is_clean(), "{:?}: {:?}", machine.params(), audit.violations);
    run
}

/// Returns ceil(log2 P).
pub(crate) fn rounds(P: usize) -> i64 {
    i64::from(P.next_power_of_two().ilog2())
}

/// Draws parameters, among them g < o, o = 0, g = 0, G = 0 and L + 2o < g.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (P, time(60), time(20), time(40), time(3)).prop_map(|(P, L, o, g, G)| params(P, L, o, g, G))
}

// Barriers.

/// Runs barriers after different work on each processor. None may return before all have called.
fn check_barriers(machine: &Machine, seed: u64) {
    let run = run(machine, |p| {
        let mut rng = fastrand::Rng::with_seed(seed ^ p.id() as u64);
        let mut moments = vec![];
        for _ in 0..4 {
            p.work("unequal", rng.u64(0..100), || ());
            let came = p.now();
            p.barrier();
            moments.push((came, p.now()));
        }
        moments
    });
    for barrier in 0..4 {
        let came = run.results.iter().map(|moments| moments[barrier].0).max().unwrap();
        assert!(run.results.iter().all(|moments| moments[barrier].1 >= came));
    }
}

#[test]
fn barrier_returns_only_after_all_have_called() {
    for P in (1..=33).chain([64, 100]) {
        check_barriers(&machine(figure_3(P)), P as u64);
        for seed in seeds(3) {
            check_barriers(&machine(figure_3(P)).latency(Latency::Random { seed }), seed);
        }
        check_barriers(&machine(figure_3(P)).barrier(3 * US), P as u64);
    }
    for P in [1, 2, 3, 5, 8] {
        let machine = machine(figure_3(P)).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        check_barriers(&machine, 1);
        check_barriers(&machine.barrier(3 * US), 1);
    }
}

#[test]
fn machine_barrier_ends_its_cost_after_the_last_call() {
    for (P, cost) in [(1, 5), (2, 0), (7, 5), (64, 1000)] {
        for clock in [ClockKind::Virtual, ClockKind::Wall] {
            if clock == ClockKind::Wall && P > 8 {
                continue;
            }
            let machine = machine(figure_3(P)).barrier(cost * US).clock(clock).dilation(Dilation::Fixed(1.0));
            let run = run(&machine, |p| {
                p.work("a", (p.id() * 5 % 7) as u64, || ());
                p.barrier();
                let first = p.now();
                p.work("b", (p.id() * 3 % 7) as u64, || ());
                p.barrier();
                (first, p.now())
            });
            let last = |step: usize| (0..P).map(|id| (id * step % 7) as i64).max().unwrap();
            let first = (last(5) + cost) * US;
            let second = first + (last(3) + cost) * US;
            assert_eq!(run.results, vec![(first, second); P]);
            assert_eq!(run.messages(), 0);
            for stats in &run.processors {
                assert_eq!((stats.received, stats.work + stats.idle), (0, stats.finish));
            }
        }
    }
}

/// The machine's barrier has no overhead, and neither waits for a gap nor starts one.
#[test]
fn machine_barrier_leaves_the_network_alone() {
    let run = run(&machine(figure_3(2)).barrier(Time::ZERO), |p| {
        let other = 1 - p.id();
        p.send(other, BYTE, 0_u8);
        p.barrier();
        assert_eq!((p.now(), p.next_send()), (2 * US, 4 * US));
        p.send(other, BYTE, 1_u8);
        assert_eq!(p.now(), 6 * US);
        for value in 0..2 {
            assert_eq!(p.recv(BYTE.from(other)), value);
            p.barrier();
        }
        p.now()
    });
    assert_eq!(run.results, [14 * US; 2]);
}

#[test]
fn negative_barrier_cost_is_refused() {
    let error = Machine::new(figure_3(2)).barrier(-US).run(|p| p.barrier()).unwrap_err();
    assert_eq!(error.to_string(), "a barrier that costs -1 us cannot be; give 0 or more");
    let error = machine(figure_3(2)).barrier(Time::MAX).run(|p| p.barrier()).unwrap_err();
    assert!(matches!(error.cause, Cause::EndOfTime { .. }), "{error}");
}

/// The run ends with an error if a processor ends without calling the barrier.
#[test]
fn missing_barrier_call_is_a_deadlock() {
    for absent in 0..5 {
        for clock in [ClockKind::Virtual, ClockKind::Wall] {
            let missing = |machine: &Machine| -> RunError {
                let machine = machine.clone().clock(clock).dilation(Dilation::Fixed(1.0));
                let come = |p: &mut Proc| {
                    p.barrier();
                    if p.id() != absent {
                        p.barrier();
                    }
                };
                machine.run(come).unwrap_err()
            };
            let error = missing(&machine(figure_3(5)).barrier(US));
            assert_eq!(error.cause, Cause::Deadlock { waiting: 4, of: 5 });
            assert!(error.to_string().contains(" in collective 1, the machine's barrier"), "{error}");
            let error = missing(&machine(figure_3(5)));
            assert!(matches!(error.cause, Cause::Deadlock { of: 5, .. }), "{error}");
            assert!(error.to_string().contains(" in collective 1, a barrier"), "{error}");
        }
    }
}

// Results.

/// Returns the concatenated values of processors `from` to `to` - 1. Concatenation does not commute.
fn text(from: usize, to: usize) -> String {
    (from..to).map(|id| format!("<{id}>")).collect()
}

/// Returns element `i` of the vector of processor `id`.
fn element(id: usize, i: usize) -> String {
    format!("{id}.{i} ")
}

/// Compares every collective with sequential references, for a root and vectors of m elements.
fn check_all(p: &mut Proc, root: usize, m: usize) {
    let place = (p.id(), p.P());
    check_all_as(p, place, root, m);
}

/// Compares every collective within a group.
fn check_all_within(p: &mut Proc, group: &Group, root: usize, m: usize) {
    let place = (group.rank(p.id()).unwrap(), group.members().len());
    check_all_as(&mut p.within(group), place, root, m);
}

/// Compares every collective as rank `id` of `P`.
fn check_all_as(p: &mut Proc, (id, P): (usize, usize), root: usize, m: usize) {
    let mine = || text(id, id + 1);
    let join = |a: String, b: String| a + &b;
    let vector = || (0..m).map(|i| element(id, i)).collect::<Vec<String>>();
    let joined =
        |to: usize| -> Vec<String> { (0..m).map(|i| (0..to).map(|id| element(id, i)).collect()).collect() };
    let at_root = id == root;
    let datum = vec![7_u64; root];

    assert_eq!(collectives::broadcast(p, root, at_root.then(|| datum.clone())), datum);
    let long: Vec<u32> = (0..m as u32).collect();
    assert_eq!(collectives::broadcast_vector(p, root, m, at_root.then(|| long.clone())), long);
    assert_eq!(collectives::broadcast_chain(p, root, m, at_root.then(|| long.clone())), long);
    assert_eq!(collectives::reduce(p, root, mine(), join), at_root.then(|| text(0, P)));
    let largest = collectives::all_max(p, id % 3, 100 - id, mine());
    let first = (0..P).rev().max_by_key(|id| (id % 3, *id)).unwrap();
    assert_eq!((largest.place, largest.with), (100 - first, text(first, first + 1)));
    let products = collectives::reduce(p, root, [id as u64 + 1; 3], |a, b| [0, 1, 2].map(|i| a[i].max(b[i])));
    assert_eq!(products, at_root.then_some([P as u64; 3]));
    collectives::barrier(p);
    assert_eq!(collectives::all_reduce(p, mine(), join), text(0, P));
    assert_eq!(collectives::scan(p, mine(), join), text(0, id + 1));
    assert_eq!(collectives::exclusive_scan(p, mine(), join), (id > 0).then(|| text(0, id)));
    let all = || (0..P).map(|id| text(id, id + 1)).collect::<Vec<_>>();
    assert_eq!(collectives::gather(p, root, mine()), at_root.then(&all));
    assert_eq!(collectives::gather(p, root, id as u32), at_root.then(|| (0..P as u32).collect()));
    let values = (0..P).map(|to| (id, to)).collect();
    assert_eq!(collectives::all_to_all(p, values), Vec::from_iter((0..P).map(|from| (from, id))));
    p.barrier();
    let pieces = || (0..P).map(|to| vec![to as u16; root]).collect::<Vec<_>>();
    assert_eq!(collectives::scatter(p, root, at_root.then(pieces)), vec![id as u16; root]);
    assert_eq!(collectives::scatter(p, root, at_root.then(|| (0..P).collect())), id);
    assert_eq!(collectives::all_gather(p, mine()), all());
    assert_eq!(collectives::all_gather(p, [id as u32; 5]), Vec::from_iter((0..P as u32).map(|id| [id; 5])));
    let counts: Vec<usize> = (0..P).map(|id| id * m % 7).collect();
    let of = |id: usize| vec![id as u64; counts[id]];
    assert_eq!(collectives::all_gather_vector(p, &counts, of(id)), Vec::from_iter((0..P).map(of)));
    let values = (0..P).map(|to| format!("{id}-{to} ")).collect();
    let expected: String = (0..P).map(|from| format!("{from}-{id} ")).collect();
    assert_eq!(collectives::reduce_scatter(p, values, join), expected);
    assert_eq!(collectives::reduce_vector(p, root, vector(), join), at_root.then(|| joined(P)));
    assert_eq!(collectives::all_reduce_vector(p, vector(), join), joined(P));
    assert_eq!(collectives::scan_vector(p, vector(), join), joined(id + 1));
}

#[test]
fn results_are_right_for_every_root() {
    let every = times(13).min(33) as usize;
    for P in (1..=every).chain([31, 32, 33, 64, 100]) {
        let roots = if P <= every { (0..P).collect() } else { vec![P / 3, P - 1] };
        for root in roots {
            run(&machine(figure_3(P)), |p| check_all(p, root, [0, 1, 5, 40][root % 4]));
        }
    }
}

/// Vectors are combined as a whole and in parts, and gathered with and without the tree.
#[test]
fn results_are_right_in_parts() {
    for P in 1..=9 {
        for (m, G) in [(1, 0), (7, 1), (100, 1), (300, 4)] {
            run(&machine(params(P, 20, 1, 4, G)), |p| check_all(p, P / 2, m));
        }
    }
}

#[test]
fn results_are_right_for_many_processors() {
    let run = Machine::new(figure_3(4096)).work(Work::Charged).run(|p| {
        let id = p.id() as u64;
        let sum = collectives::reduce(p, 4095, id, |a, b| a + b);
        let sum = collectives::broadcast(p, 4095, sum);
        (sum, collectives::scan(p, 1_u64, |a, b| a + b))
    });
    for (id, result) in run.unwrap().results.into_iter().enumerate() {
        assert_eq!(result, (4095 * 4096 / 2, id as u64 + 1));
    }
}

/// Returns the parameters of a LogGPS machine on which a message of more than S words waits for its receiver.
fn loggps(P: usize, S: usize) -> Params {
    let gps = LogGps { s: 1, S, O_s: US, O_r: US, G_s: 2 * US, G_l: US };
    Params::builder(P).L(6 * US).o(2 * US).gps(gps).build().unwrap()
}

#[test]
fn results_are_right_on_loggps_with_and_without_rendezvous() {
    for P in 1..=12 {
        for S in [1, 3, 20, 100_000] {
            for root in [0, P / 2, P - 1] {
                run(&machine(loggps(P, S)), |p| check_all(p, root, 9));
            }
        }
    }
}

/// Where no message waits for its receiver, an all-to-all on LogGPS takes the time of its formula with
/// LogGPS's overheads; where messages wait, it takes longer but does not deadlock.
#[test]
fn an_all_to_all_of_loggps_takes_a_gap_per_message() {
    for P in 2..=12 {
        let time = |S| {
            let params = Params { g: 20 * US, ..loggps(P, S) };
            time(&machine(params), |p| collectives::all_to_all(p, vec![[1_u64; 2]; P]))
        };
        // Two words: each adds 1 us to the overheads of 2 us, and their gaps are 2 us and 1 us.
        let (o, L, stream, g) = (4 * US, 6 * US, 3 * US, 20 * US);
        assert_eq!(time(2), (P as i64 - 2) * (stream + g) + o + L + stream + o);
        assert!(time(1) > time(2));
    }
}

#[test]
fn results_are_right_on_the_wall_clock() {
    for P in [1, 2, 5, 8] {
        let on_wall = |params| machine(params).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        run(&on_wall(figure_3(P)), |p| check_all(p, P / 2, 9));
        run(&on_wall(figure_3(P)).barrier(US), |p| check_all(p, 0, 40));
        run(&on_wall(loggps(P, 20)), |p| check_all(p, P / 2, 9));
        run(&on_wall(figure_3(P)).latency(Latency::Random { seed: 5 }), |p| check_all(p, P - 1, 9));
    }
}

#[test]
fn results_are_right_where_work_is_measured() {
    for P in [1, 7, 16] {
        run(&machine(figure_3(P)).work(Work::Measured), |p| check_all(p, P / 2, 100));
    }
}

/// Returns the number of distinct orders of each collective among P processors.
fn orders(P: usize) -> [usize; COLLECTIVES] {
    let check = Check::new().strategy(loggp::check::Strategy::Systematic).runs(100_000);
    std::array::from_fn(|which| {
        let checked = check.run(&machine(figure_3(P)), |p: &mut Proc| call(p, which)).unwrap();
        let coverage = checked.coverage.unwrap();
        assert!(coverage.is_complete() && coverage.beyond_failed == 0, "{P}, {which}: {coverage:?}");
        coverage.orders
    })
}

#[test]
fn results_are_right_under_every_order() {
    // A gather, an all-to-all, and the collectives made of that receive messages in the order of arrival.
    assert_eq!(orders(3), [1, 1, 1, 1, 1, 1, 2, 27, 1, 27, 27]);
    // This takes half a minute.
    if times(1) > 1 {
        assert_eq!(orders(4), [1, 1, 1, 1, 1, 1, 6, 1872, 1, 1872, 1872]);
    }
}

/// Messages of the program with small tags that are under way during collectives do not mix with theirs.
#[test]
fn messages_of_the_program_do_not_mix_with_those_of_collectives() {
    for seed in seeds(30) {
        let machine = machine(params(6, 50, 2, 4, 1)).latency(Latency::Random { seed });
        run(&machine, |p| {
            let (id, P) = (p.id(), p.P());
            let (to, from) = ((id + 1) % P, (id + P - 1) % P);
            for round in 0..3 {
                for tag in 0..4 {
                    p.send(to, PAIR.step(tag), (id, tag));
                }
                check_all(p, (round + 1) % P, 7);
                for tag in (0..4).rev() {
                    assert_eq!(p.recv_with_sender(PAIR.step(tag)), (from, (from, tag)));
                }
            }
        });
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// Among the processors are one that is early and one that is late.
    #[test]
    fn results_are_right_under_random_latency(
        params in any_params(1..20_usize),
        seed in any::<u64>(),
        root in any::<Index>(),
        m in 0..60_usize,
    ) {
        let root = root.index(params.P);
        run(&machine(params).latency(Latency::Random { seed }), |p| {
            let mut rng = fastrand::Rng::with_seed(seed ^ p.id() as u64);
            for _ in 0..2 {
                p.work("unequal", rng.u64(0..200), || ());
                check_all(p, root, m);
            }
        });
    }
}

// Groups.

/// Returns the rows and the columns of a grid of processors.
fn grid(rows: usize, columns: usize) -> [Vec<Group>; 2] {
    let row = |i: usize| Group::new(i * columns..(i + 1) * columns);
    let column = |j: usize| Group::new((j..rows * columns).step_by(columns));
    [(0..rows).map(row).collect(), (0..columns).map(column).collect()]
}

/// Returns the group of a processor.
fn group_of<'a>(groups: &'a [Group], p: &Proc) -> &'a Group {
    groups.iter().find(|group| group.rank(p.id()).is_some()).unwrap()
}

type TimeFormula = fn(&Params) -> Time;

/// Collectives of a word with root 0, by their numbers in [`call_as`], with their times where P is a power of
/// two or the formula is exact for all P.
const EXACT: [(usize, TimeFormula); 10] = [
    (0, |params| steps_time(params, 1, Time::ZERO)),
    (1, |params| tree_time(params.P, transit(params, 1), params.o.max(params.g))),
    (2, |params| tree_time(params.P, transit(params, 1) + US, params.g.max(params.o + US))),
    (3, |params| steps_time(params, 1, US)),
    (4, |params| steps_time(params, 1, US)),
    (6, |params| gather_times(params, 1).0.min(gather_times(params, 1).1)),
    (7, |params| all_to_all_time(params, 1).0),
    (8, |params| (transit(params, 1) + (params.P as i64 - 2) * params.g).min(halving_time(params, 1))),
    (9, |params| ((params.P as i64 - 2) * params.g + transit(params, 1)).min(halving_time(params, 1))),
    (10, |params| all_to_all_time(params, 1).0 + (params.P as i64 - 1) * US),
];

/// All rows of a 4 x 4 grid run a collective at once, then all columns; and all rows of a 3 x 5 grid.
#[test]
fn collectives_of_groups_take_the_documented_time() {
    for (rows, columns) in [(4, 4), (3, 5)] {
        let both = grid(rows, columns);
        for (L, o, g) in [(6, 2, 4), (8, 1, 4), (20, 2, 5), (3, 2, 12)] {
            let params = params(rows * columns, L, o, g, 0);
            for (which, formula) in EXACT {
                if columns == 5 && [3, 4].contains(&which) {
                    continue; // for P = 5 their formulas are bounds
                }
                let (_, fits, _) = all_to_all_time(&Params { P: columns, ..params }, 1);
                if !fits && [7, 9, 10].contains(&which) {
                    continue;
                }
                for groups in &both[..if rows == columns { 2 } else { 1 }] {
                    let size = groups[0].members().len();
                    let act = |p: &mut Proc| {
                        let group = group_of(groups, p);
                        let rank = group.rank(p.id()).unwrap();
                        call_as(&mut p.within(group), which, rank, size);
                        p.now()
                    };
                    let machine = machine(params).barrier(US);
                    let model = run(&machine, act);
                    let expected = formula(&Params { P: size, ..params });
                    for group in groups {
                        let last = group.members().iter().map(|id| model.results[*id]).max();
                        assert_eq!(last, Some(expected), "{which} of {group}: {params:?}");
                    }
                    let wall = run(&machine.clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0)), act);
                    assert_eq!(wall.results, model.results, "{which}: {params:?}");
                }
            }
        }
    }
}

#[test]
fn results_are_right_in_rows_and_columns() {
    for (rows, columns) in [(4, 4), (3, 5), (1, 6), (7, 2)] {
        let both = grid(rows, columns);
        let program = |p: &mut Proc| {
            for (round, groups) in both.iter().chain(&both).enumerate() {
                let group = group_of(groups, p);
                check_all_within(p, group, round % group.members().len(), 9);
            }
            check_all(p, rows - 1, 9);
        };
        let P = rows * columns;
        run(&machine(figure_3(P)), program);
        run(&machine(figure_3(P)).barrier(US).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0)), program);
        for S in [1, 3, 20] {
            run(&machine(loggps(P, S)), program);
        }
        for seed in seeds(2) {
            run(&machine(params(P, 50, 2, 4, 1)).latency(Latency::Random { seed }), program);
        }
    }
}

/// The numbers of groups in a trace do not depend on the order in which processors use them on this computer.
#[test]
fn traces_of_groups_are_the_same_on_both_clocks() {
    let program = |p: &mut Proc| {
        let id = p.id();
        if id == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let groups = [(id % 3..9).step_by(3).collect(), (id / 3 * 3..id / 3 * 3 + 3).collect(), vec![id]];
        for members in groups {
            let sum = collectives::all_reduce(&mut p.within(&Group::new(members)), id, |a, b| a + b);
            p.work("unequal", (sum % 4) as u64, || ());
        }
    };
    let machine = machine(figure_3(9));
    let model = run(&machine, program).trace;
    let wall = machine.clock(ClockKind::Wall).dilation(Dilation::Fixed(1e-3)).cores(4).oversubscribed(true);
    for carrier in [Carrier::Thread, Carrier::Coroutine].repeat(5) {
        assert!(run(&wall.clone().carrier(carrier), program).trace == model, "{carrier}");
    }
}

/// Groups share many processors in all orders, some of them are created anew each time, members call early
/// and late, and messages overtake each other.
#[test]
fn messages_of_overlapping_groups_do_not_mix() {
    for seed in seeds(30) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(2..9);
        let mut some = || {
            let mut all: Vec<usize> = (0..P).collect();
            rng.shuffle(&mut all);
            all.truncate(rng.usize(1..=P));
            Group::new(all)
        };
        let groups: Vec<Group> = (0..4).map(|_| some()).collect();
        let calls: Vec<usize> = (0..12).map(|_| rng.usize(0..4)).collect();
        run(&machine(params(P, 90, 1, 3, 1)).latency(Latency::Random { seed }), |p| {
            let mut rng = fastrand::Rng::with_seed(seed ^ p.id() as u64);
            for &call in &calls {
                let group = &groups[call];
                let anew = Group::new(group.members().to_vec());
                if group.rank(p.id()).is_none() {
                    continue;
                }
                p.work("unequal", rng.u64(0..100), || ());
                check_all_within(p, [group, &anew][rng.usize(0..2)], call % group.members().len(), 3);
            }
        });
    }
}

/// Three groups share processors 0 and 1, which call their collectives in opposite orders.
#[test]
fn messages_of_groups_can_be_received_out_of_order() {
    let groups = [Group::new([0, 1, 2]), Group::new([0, 1, 3]), Group::new([1, 0, 2])];
    let run = run(&machine(figure_3(4)), |p| {
        let of_all = |p: &mut Proc, i: usize| {
            let root = groups[i].rank(0).unwrap();
            let value = (p.id() == 0).then_some(i + 10);
            if groups[i].rank(p.id()).is_some() {
                collectives::broadcast(&mut p.within(&groups[i]), root, value)
            } else {
                0
            }
        };
        let order = if p.id() == 1 { [2, 1, 0] } else { [0, 1, 2] };
        order.map(|i| of_all(p, i))
    });
    assert_eq!(run.results, [[10, 11, 12], [12, 11, 10], [10, 0, 12], [0, 11, 0]]);
}

/// A processor that acts in a group can act in another group, whose barrier is not the machine's own.
#[test]
fn nested_groups_are_independent() {
    let (left, middle) = (Group::new([0, 1, 2]), Group::new([2, 1]));
    let run = run(&machine(figure_3(3)).barrier(US), |p| {
        let mut seen = vec![];
        {
            let mut outer = p.within(&left);
            let id = outer.id();
            assert_eq!(format!("{outer:?}"), format!("Proc({id} of 3) in the group of 0, 1, 2"));
            seen.push(collectives::all_gather(&mut outer, id));
            if id > 0 {
                seen.push(collectives::all_gather(&mut outer.within(&middle), 7 * id));
            }
            seen.push(collectives::all_gather(&mut outer, 1));
            outer.barrier();
            assert_eq!(outer.P(), 3);
        }
        let before = p.now();
        p.barrier();
        (seen, before)
    });
    assert_eq!(run.results[2].0, [vec![0, 1, 2], vec![14, 7], vec![1, 1, 1]]);
    let last = run.results.iter().map(|(_, before)| *before).max().unwrap();
    assert_eq!(run.time, last + US);
}

#[test]
fn a_group_whose_members_call_different_collectives_ends_the_run() {
    let group = Group::new([3, 1]);
    for (usual, other) in (0..11).flat_map(|a| (0..11).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let error = failure(&machine(figure_3(4)), |p| {
            if let Some(rank) = group.rank(p.id()) {
                call_as(&mut p.within(&group), if rank == 1 { other } else { usual }, rank, 2);
            }
        });
        assert!(matches!(error.cause, Cause::Deadlock { .. } | Cause::NotReceived { .. }), "{error}");
        assert!(error.to_string().contains(" in collective 0 of a group, "), "{usual} {other}: {error}");
    }
    let error = failure(&machine(figure_3(4)), |p| {
        if p.id() == 3 {
            collectives::barrier(&mut p.within(&group));
        }
    });
    let sentence =
        "processor 3 at 2 us waited for a message from 1 in collective 0 of a group, a barrier, step 0";
    assert!(error.to_string().contains(sentence), "{error}");
}

// Mistakes.

/// Returns the error of a run that must fail.
fn failure(machine: &Machine, program: impl Fn(&mut Proc) + Sync) -> RunError {
    machine.run(program).expect_err("a mistake must be noticed")
}

/// Calls collective number `which` among all processors.
fn call(p: &mut Proc, which: usize) {
    call_as(p, which, p.id(), p.P());
}

/// Number of collectives that [`call_as`] can call; the next number is the machine's barrier.
const COLLECTIVES: usize = 11;

/// Calls collective number `which` in the current group, as this rank of that many members. The combined
/// values are ranges of ranks, each of which must begin where the one before ends.
fn call_as(p: &mut Proc, which: usize, rank: usize, members: usize) {
    let range = |from: usize, to: usize| (from << 4 | to) as u8;
    let join = |a: u8, b: u8| {
        assert_eq!(a & 15, b >> 4);
        a & 0xf0 | b & 15
    };
    let (mine, at_root) = (range(rank, rank + 1), rank == 0);
    let ranges = |to: &dyn Fn(usize) -> u8| Vec::from_iter((0..members).map(to));
    match which {
        0 => collectives::barrier(p),
        1 => assert_eq!(collectives::broadcast(p, 0, at_root.then_some(7_u8)), 7),
        2 => assert_eq!(collectives::reduce(p, 0, mine, join), at_root.then_some(range(0, members))),
        3 => assert_eq!(collectives::all_reduce(p, mine, join), range(0, members)),
        4 => assert_eq!(collectives::scan(p, mine, join), range(0, rank + 1)),
        5 => assert_eq!(collectives::exclusive_scan(p, mine, join), (!at_root).then_some(range(0, rank))),
        6 => assert_eq!(collectives::gather(p, 0, mine), at_root.then(|| ranges(&|of| range(of, of + 1)))),
        7 => {
            let got = collectives::all_to_all(p, ranges(&|to| range(rank, to)));
            assert_eq!(got, ranges(&|from| range(from, rank)));
        }
        8 => assert_eq!(
            collectives::scatter(p, 0, at_root.then(|| ranges(&|to| range(to, 0)))),
            range(rank, 0)
        ),
        9 => assert_eq!(collectives::all_gather(p, mine), ranges(&|of| range(of, of + 1))),
        10 => assert_eq!(collectives::reduce_scatter(p, vec![mine; members], join), range(0, members)),
        _ => p.barrier(),
    }
}

#[test]
fn different_collectives_end_the_run() {
    for (P, clock) in [(2, ClockKind::Virtual), (5, ClockKind::Virtual), (4, ClockKind::Wall)] {
        for odd in [0, P - 1] {
            for (usual, other) in (0..=COLLECTIVES).flat_map(|a| (0..=COLLECTIVES).map(move |b| (a, b))) {
                let machine = machine(figure_3(P)).barrier(US).clock(clock).dilation(Dilation::Fixed(1.0));
                let program = |p: &mut Proc| call(p, if p.id() == odd { other } else { usual });
                if usual == other {
                    run(&machine, program);
                    continue;
                }
                let error = failure(&machine, program);
                assert!(matches!(error.cause, Cause::Deadlock { .. } | Cause::NotReceived { .. }), "{error}");
                assert!(error.to_string().contains(" in collective 0, "), "{usual} {other}: {error}");
                if clock == ClockKind::Virtual {
                    // And in the other order.
                    let (first, second) = (
                        |id: usize| if id == odd { other } else { usual },
                        |id: usize| {
                            if id == odd { usual } else { other }
                        },
                    );
                    let error = failure(&machine, |p| (call(p, first(p.id())), call(p, second(p.id()))).1);
                    assert!(error.to_string().contains(" in collective "), "{usual} {other}: {error}");
                }
            }
        }
    }
}

#[test]
fn unreceived_message_of_a_collective_is_named() {
    let error = failure(&machine(figure_3(2)), |p| {
        p.barrier();
        if p.id() == 1 {
            collectives::reduce(p, 0, 1_u8, |a, b| a + b);
        }
    });
    let alone = failure(&machine(figure_3(2)), |p| (0..1 - p.id()).for_each(|_| collectives::barrier(p)));
    let documented = include_str!("../../docs/reference/collectives.md");
    assert!(documented.contains(&alone.to_string()), "{alone}");
    let sentence = "a message was never received: from processor 1 to processor 0 in collective 1, \
                    a reduce, step 0, there at 18 us";
    assert!(error.to_string().starts_with(sentence), "{error}");
}

#[test]
fn invalid_arguments_of_collectives_are_refused_in_one_sentence() {
    // The errors without their locations, which are in this file.
    let refused = |program: &(dyn Fn(&mut Proc) + Sync)| {
        let cause = failure(&machine(figure_3(3)), program).cause.to_string();
        let (sentence, place) = cause.split_once(" (at ").expect(&cause);
        assert!(place.starts_with(&format!("{}:", file!())), "{cause}");
        sentence.to_string()
    };
    assert_eq!(
        refused(&|p| _ = collectives::broadcast::<u8>(p, 1, None)),
        "processor 1 is the root of a broadcast and gave no value"
    );
    assert_eq!(
        refused(&|p| _ = collectives::all_to_all(p, vec![1, 2])),
        "processor 0 gave 2 values to an all-to-all of 3 processors; give one for each"
    );
    assert_eq!(
        refused(&|p| _ = collectives::reduce_scatter(p, vec![1], |a, _| a)),
        "processor 0 gave 1 values to a reduce-scatter of 3 processors; give one for each"
    );
    let scatter = |p: &mut Proc, values| _ = collectives::scatter::<u8>(p, 2, values);
    assert_eq!(refused(&|p| scatter(p, None)), "processor 2 is the root of a scatter and gave no values");
    assert_eq!(
        refused(&|p| scatter(p, (p.id() == 2).then(Vec::new))),
        "processor 2 gave 0 values to a scatter to 3 processors; give one for each"
    );
    let row = Group::new([0, 2]);
    assert_eq!(
        refused(&|p| if p.id() == 1 {
            collectives::barrier(&mut p.within(&row))
        }),
        "processor 1 is not in the group of 0, 2, and only members can act in it"
    );
    assert_eq!(
        refused(&|p| if p.id() == 2 {
            _ = collectives::gather(&mut p.within(&row), 2, 1_u8)
        }),
        "processor 2 named rank 2 in the group of 0, 2, and there are 0 to 1"
    );
    assert_eq!(
        refused(&|p| _ = p.within(&Group::new([0, 1, 2, 1]))),
        "processor 0 acts in the group of 0, 1, 2, 1, in which processor 1 is twice; give each once"
    );
    for m in [1, 1000] {
        let unequal =
            |p: &mut Proc| _ = collectives::all_reduce_vector(p, vec![0_u8; m + p.id() / 2], |a, _| a);
        let sentence = refused(&unequal);
        assert!(sentence.ends_with("elements; give vectors of the same length everywhere"), "{sentence}");
    }
    let no_such = "processor 0 named processor 3, and there are 0 to 2";
    assert_eq!(refused(&|p| _ = collectives::broadcast(p, 3, Some(1_u8))), no_such);
    assert_eq!(refused(&|p| _ = collectives::reduce(p, 3, 1_u8, |a, _| a)), no_such);
    assert_eq!(refused(&|p| _ = collectives::gather(p, 3, 1_u8)), no_such);
    assert_eq!(refused(&|p| _ = collectives::scatter(p, 3, Some(vec![1_u8]))), no_such);
    assert_eq!(refused(&|p| _ = p.within(&Group::new(0..4))), no_such);
    assert_eq!(refused(&|p| _ = collectives::reduce_vector(p, 3, vec![1_u8], |a, _| a)), no_such);
}

// Times. c is a cycle of 1 us.

/// Returns L + 2o + (k-1)G.
fn transit(params: &Params, k: usize) -> Time {
    let Params { L, o, .. } = *params;
    let G = params.G().unwrap();
    L + 2 * o + (k as i64 - 1) * G
}

/// Returns the least time of a tree with D and d for P processors by trial: a node gives its child any
/// number.
pub(crate) fn tree_time(P: usize, D: Time, d: Time) -> Time {
    let mut least = vec![Time::ZERO; 2];
    for n in 2..=P {
        let stays = |rest: usize| if rest > 1 { d + least[rest] } else { Time::ZERO };
        least.push((1..n).map(|given| (D + least[given]).max(stays(n - given))).min().unwrap());
    }
    least[P]
}

/// Returns the time of R equal steps without the last gap.
fn steps_time(params: &Params, k: usize, c: Time) -> Time {
    let Params { L, o, g, P, .. } = *params;
    let G = params.G().unwrap();
    match rounds(P) {
        0 => Time::ZERO,
        R => (R - 1) * ((k as i64 - 1) * G + g.max(L + 2 * o + c)) + transit(params, k) + c,
    }
}

/// Returns the time of a program.
fn time<R: Send>(machine: &Machine, program: impl Fn(&mut Proc) -> R + Sync) -> Time {
    run(machine, program).time
}

/// Checks a time against its formula, which is exact or a bound.
fn check_time(took: Time, expected: Time, is_exact: bool, params: &Params) {
    assert!(took == expected || (took < expected && !is_exact), "{took}, {expected}: {params:?}");
}

fn barrier_is_exact(params: Params, root: usize) {
    let run = run(&machine(params), collectives::barrier);
    let time = steps_time(&params, 1, Time::ZERO);
    assert!(run.processors.iter().all(|stats| stats.finish == time), "{}, {time}: {params:?}", run.time);
    let unequal = |p: &mut Proc| {
        p.wait_until((p.id() + 1) as i64 * 37 % (1 + root as i64 * 5) * US);
        let came = p.now();
        collectives::barrier(p);
        came
    };
    let run = machine(params).run(unequal).unwrap();
    assert!(run.stalls() > 0 || run.time <= *run.results.iter().max().unwrap() + time, "{params:?}");
}

fn broadcast_is_exact<const K: usize>(params: Params, root: usize) {
    let Params { o, g, P, .. } = params;
    let G = params.G().unwrap();
    let stream = (K as i64 - 1) * G;
    let expected = tree_time(P, transit(&params, K), o.max(stream + g));
    let value = |p: &Proc| (p.id() == root).then_some([1_u64; K]);
    check_time(
        time(&machine(params), |p| collectives::broadcast(p, root, value(p))),
        expected,
        true,
        &params,
    );
}

fn reduce_is_exact_or_less<const K: usize>(params: Params, root: usize) {
    let Params { o, g, P, .. } = params;
    let G = params.G().unwrap();
    let d = ((K as i64 - 1) * G + g).max(o + US);
    let D = transit(&params, K) + US;
    let in_the_middle = 0 < root && root < P - 1;
    let expected = tree_time(P, if in_the_middle { D.max(d) } else { D }, d);
    let run = run(&machine(params), |p| collectives::reduce(p, root, [1_u64; K], |a, _| a));
    if root == 0 || (K == 1 && run.stalls() == 0) {
        check_time(run.time, expected, K == 1 && (D >= d || !in_the_middle), &params);
    }
}

fn all_reduce_is_exact_or_less<const K: usize>(params: Params, _: usize) {
    let Params { L, o, g, P, .. } = params;
    let G = params.G().unwrap();
    let expected = if P.is_power_of_two() {
        steps_time(&params, K, US)
    } else {
        i64::from(P.ilog2() + 1) * ((K as i64 - 1) * G + g.max(L + 2 * o + US)) + transit(&params, K)
    };
    let run_on =
        |ports| time(&machine(params).ports(ports), |p| collectives::all_reduce(p, [1_u64; K], |a, _| a));
    check_time(run_on(Ports::Dual), expected, P.is_power_of_two(), &params);
    if P.is_power_of_two() && (K as i64 - 1) * G <= L {
        check_time(run_on(Ports::Single), expected, true, &params);
    }
}

fn maximum_takes_as_long_as_an_all_reduce(params: Params, _: usize) {
    let params = Params { word: 32.try_into().unwrap(), ..params };
    let reduce = time(&machine(params), |p| collectives::all_reduce(p, 1_u64, |a, _| a));
    let max = time(&machine(params), |p| collectives::all_max(p, p.id() as u64, p.id(), ()));
    check_time(max, reduce, true, &params);
}

fn scans_are_exact_or_less<const K: usize>(params: Params, _: usize) {
    let Params { L, o, g, P, .. } = params;
    let step = |c: Time| (K as i64 - 1) * params.G().unwrap() + g.max(L + 2 * o + c);
    let exclusive = match rounds(P) {
        0 => Time::ZERO,
        1 => transit(&params, K),
        R => step(US) + (R - 2) * step(2 * US) + transit(&params, K) + US,
    };
    let machine = machine(params).ports(if K == 1 { Ports::Single } else { Ports::Dual });
    let took = time(&machine, |p| collectives::scan(p, [1_u64; K], |a, _| a));
    check_time(took, steps_time(&params, K, US), P.is_power_of_two(), &params);
    let took = time(&machine, |p| collectives::exclusive_scan(p, [1_u64; K], |a, _| a));
    check_time(took, exclusive, P.is_power_of_two(), &params);
}

/// Returns the times without the tree and with it.
fn gather_times(params: &Params, k: usize) -> (Time, Time) {
    let Params { o, g, P, .. } = *params;
    let G = params.G().unwrap();
    let flat = transit(params, k) + (P as i64 - 2) * o.max((k as i64 - 1) * G + g);
    let tree = (1..rounds(P)).map(|i| transit(params, k << i).max(g)).sum();
    (flat, transit(params, k) + tree)
}

fn gather_is_bounded(params: &Params, k: usize) -> bool {
    let (flat, tree) = gather_times(params, k);
    flat <= tree || (params.P.is_power_of_two() && transit(params, k) > Time::ZERO)
}

fn gather_is_exact(params: &Params, k: usize) -> bool {
    let (flat, tree) = gather_times(params, k);
    gather_is_bounded(params, k) && (flat > tree || k == 1)
}

fn gather_is_exact_or_less<const K: usize>(params: Params, root: usize) {
    let (flat, tree) = gather_times(&params, K);
    let expected = if params.P == 1 { Time::ZERO } else { flat.min(tree) };
    let run = run(&machine(params), |p| collectives::gather(p, root, [1_u64; K]));
    if gather_is_bounded(&params, K) || run.stalls() == 0 {
        check_time(run.time, expected, gather_is_exact(&params, K), &params);
    }
}

/// Returns the time, and whether it is exact with single ports and with dual ports.
fn all_to_all_time(params: &Params, k: usize) -> (Time, bool, bool) {
    let Params { L, o, g, P, .. } = *params;
    let G = params.G().unwrap();
    let stream = (k as i64 - 1) * G;
    let d = stream + g;
    let rest = |t: Time| if d > Time::ZERO { Time::from_ps(t.as_ps() % d.as_ps()) } else { t };
    let fits = 2 * o + rest(L + stream) <= d;
    let misses = stream == Time::ZERO || (stream <= rest(L) && rest(L) <= d - stream);
    let time = if P == 1 { Time::ZERO } else { (P as i64 - 2) * d + transit(params, k) };
    (time, fits && misses || P == 1, fits || P == 1)
}

/// A reduce-scatter is an all-to-all and the combinations after it.
fn all_to_all_and_reduce_scatter_are_exact<const K: usize>(params: Params, _: usize) {
    let (exchange, single, dual) = all_to_all_time(&params, K);
    for ports in
        [(Ports::Single, single), (Ports::Dual, dual)].into_iter().filter_map(|(p, fits)| fits.then_some(p))
    {
        let machine = machine(params).ports(ports);
        let values = || vec![[1_u64; K]; params.P];
        check_time(time(&machine, |p| collectives::all_to_all(p, values())), exchange, true, &params);
        let combined = time(&machine, |p| collectives::reduce_scatter(p, values(), |a, _| a));
        check_time(combined, exchange + (params.P as i64 - 1) * US, true, &params);
    }
}

/// Returns max(L + 2o, g) + L + 2o + ((P-1)k - R)G.
fn halving_time(params: &Params, k: usize) -> Time {
    let (G, Params { L, o, g, P, .. }) = (params.G().unwrap(), *params);
    match rounds(P) {
        0 => Time::ZERO,
        R => (R - 1) * g.max(L + 2 * o) + L + 2 * o + ((P as i64 - 1) * k as i64 - R) * G,
    }
}

/// The time does not depend on when the other processors call.
fn scatter_is_exact_or_less<const K: usize>(params: Params, root: usize) {
    let (G, Params { o, g, P, .. }) = (params.G().unwrap(), params);
    let flat = transit(&params, K) + (P as i64 - 2) * o.max((K as i64 - 1) * G + g);
    let tree = halving_time(&params, K);
    let expected = if P == 1 { Time::ZERO } else { flat.min(tree) };
    for late in [Time::ZERO, 100 * US] {
        let run = run(&machine(params), |p| {
            p.wait_until(if p.id() == root { late } else { Time::ZERO });
            collectives::scatter(p, root, (p.id() == root).then(|| vec![[1_u64; K]; P]))
        });
        let is_exact = flat <= tree || P.is_power_of_two();
        if is_exact || run.stalls() == 0 {
            check_time(run.time, expected + late, is_exact, &params);
        }
    }
}

fn all_gather_is_exact<const K: usize>(params: Params, _: usize) {
    let (G, Params { L, o, g, P, .. }) = (params.G().unwrap(), params);
    let steps = halving_time(&params, K);
    let direct = (P as i64 - 2) * ((K as i64 - 1) * G + g).max(2 * o) + transit(&params, K);
    let (expected, single, dual) = if P == 1 || direct < steps {
        all_to_all_time(&params, K)
    } else {
        (steps, (P * K / 2) as i64 * G <= L, true)
    };
    for (ports, is_exact) in [(Ports::Single, single), (Ports::Dual, dual)] {
        let took = time(&machine(params).ports(ports), |p| collectives::all_gather(p, [1_u64; K]));
        assert!(!is_exact || took == expected, "{took}, {expected}, {ports}: {params:?}");
    }
}

/// A chain for q pieces of m words takes (P-1) (L + 2o + (m-1)G) + (q-1) max((m-1)G + g, 2o).
fn a_chain_is_exact(params: Params, elements: usize, root: usize) {
    let (G, Params { L, o, g, P, .. }) = (params.G().unwrap(), params);
    let plan = BroadcastPlan::chain::<u64>(&params, P, elements);
    let piece = plan.piece.unwrap();
    let vector = |p: &Proc| (p.id() == root).then(|| vec![7_u64; elements]);
    let run_on = |ports| {
        run(&machine(params).ports(ports), |p| {
            assert_eq!(collectives::broadcast_chain(p, root, elements, vector(p)), vec![7; elements]);
            p.now()
        })
    };
    let (single, dual) = (run_on(Ports::Single), run_on(Ports::Dual));
    if P == 1 || elements == 0 {
        return assert_eq!([single.time, dual.time, plan.time], [Time::ZERO; 3]);
    }
    let (m, q) = (piece.min(elements) as i64, elements.div_ceil(piece) as i64);
    let hop = L + 2 * o + (m - 1) * G;
    let gap = ((m - 1) * G + g).max(o);
    if elements.is_multiple_of(piece) {
        let passed_on = if P == 2 { gap } else { gap.max(2 * o) };
        let time = (P as i64 - 1) * hop + (q - 1) * passed_on;
        assert_eq!(dual.time, time, "{elements} of {piece}: {params:?}");
        let next = dual.results[(root + 1) % P];
        assert!(next >= hop + (q - 1) * gap && next <= hop + (q - 1) * passed_on + o, "{params:?}");
        if m == 1 || P == 2 {
            assert_eq!((single.time, plan.time), (time, time), "{params:?}");
        }
    }
    // The root is done first, when it has sent the vector.
    assert_eq!(dual.results[root], o + (q - 1) * gap, "{params:?}");
}

/// Returns the time of a chain for pieces of so many values of `size` bytes.
fn chain_time(params: &Params, n: usize, size: usize, piece: usize) -> Time {
    let Params { L, o, g, P, .. } = *params;
    let stream = (piece * size).div_ceil(params.word.get()).saturating_sub(1) as i64 * params.G().unwrap();
    let gap = match P {
        2 => (stream + g).max(o),
        _ => (stream + g).max(2 * o).max(2 * stream),
    };
    (P as i64 - 1) * (L + 2 * o + stream) + (n.div_ceil(piece) as i64 - 1) * gap
}

/// No other number of pieces takes less time.
#[test]
fn a_chain_has_the_best_pieces() {
    let mut rng = fastrand::Rng::with_seed(1);
    for case in 0..times(4000) {
        let mut any = |most: i64| if rng.u8(0..4) == 0 { 0 } else { rng.i64(0..=most) };
        let (L, o, g, G) = (any(60), any(20), any(40), any(if case % 2 == 0 { 3 } else { 30 }));
        let params = params(rng.usize(2..40), L, o, g, G);
        let n = if case % 50 == 0 { rng.usize(1..20_000) } else { rng.usize(1..300) };
        let check = |size: usize, plan: BroadcastPlan| {
            let time = (1..=n.max(8 / size)).map(|piece| chain_time(&params, n, size, piece)).min().unwrap();
            let piece = plan.piece.unwrap();
            assert_eq!(
                (chain_time(&params, n, size, piece), plan.time),
                (time, time),
                "{n} {size} {params:?}"
            );
        };
        check(8, BroadcastPlan::chain::<u64>(&params, params.P, n));
        check(2, BroadcastPlan::chain::<u16>(&params, params.P, n));
        check(24, BroadcastPlan::chain::<[u64; 3]>(&params, params.P, n));
    }
}

/// On a LogP machine it goes word by word and takes L + 2o + (n(P-1) - 1) max(g, 2o).
fn a_gather_of_words_is_exact(params: Params, n: usize) {
    let Params { L, o, g, P, .. } = params;
    let time = time(&machine(params), |p| collectives::all_gather_vector(p, &vec![n; P], vec![1_u64; n]));
    let messages = (n * (P - 1)) as i64;
    if messages == 0 {
        return assert_eq!(time, Time::ZERO);
    }
    let expected = (messages - 1) * g.max(2 * o) + L + 2 * o;
    if n == 1 {
        return; // an all-gather of values of one word
    }
    if o == Time::ZERO {
        assert_eq!(time, expected, "{n} {params:?}");
    }
    // A reception may delay a send.
    assert!(
        time >= (messages - 1) * g + L + 2 * o && time <= expected + messages * (2 * o),
        "{n} {params:?}"
    );
}

/// Vectors of m = P K elements.
fn vectors_are_exact<const K: usize>(params: Params, root: usize) {
    let Params { L, o, g, P, .. } = params;
    let m = P * K;
    let (exchange, _, exact) = all_to_all_time(&params, K);
    let machine = machine(params).ports(Ports::Dual);
    let whole = transit(&params, m) + m as i64 * US;
    let each = ((K as i64 - 1) * params.G().unwrap() + g).max(2 * o);
    let c = ((P - 1) * K) as i64 * US;
    let in_parts = P > 1 && 2 * ((P as i64 - 2) * each + transit(&params, K)) + c < rounds(P) * whole;
    let vector = vec![1_u64; m];
    let all = time(&machine, |p| collectives::all_reduce_vector(p, vector.clone(), |a, b| a + b));
    let scan = time(&machine, |p| collectives::scan_vector(p, vector.clone(), |a, b| a + b));
    let reduce = time(&machine, |p| collectives::reduce_vector(p, root, vector.clone(), |a, b| a + b));
    if in_parts && exact {
        let between = c.max(g - L - 2 * o);
        assert_eq!((all, scan), (exchange + between + exchange, all), "{params:?}");
        let (flat, tree) = gather_times(&params, K);
        let expected = exchange + between + flat.min(tree);
        if gather_is_bounded(&params, K) {
            assert!(reduce <= expected, "{reduce}, {expected}: {params:?}");
        }
        if gather_is_exact(&params, K) {
            assert_eq!(reduce, expected, "{params:?}");
        }
    }
    if !in_parts {
        let steps = steps_time(&params, m, m as i64 * US);
        assert!(scan <= steps, "{params:?}");
        if P.is_power_of_two() {
            assert_eq!((all, scan), (steps, steps), "{params:?}");
        }
    }
}

/// Checks the times of a collective with these parameters and this root.
type TimeCheck = fn(Params, usize);

/// The checks of times, each with the largest number of processors for which it is fast.
const TIMES: [(usize, TimeCheck); 19] = [
    (19, barrier_is_exact),
    (19, broadcast_is_exact::<1>),
    (19, broadcast_is_exact::<6>),
    (19, reduce_is_exact_or_less::<1>),
    (19, reduce_is_exact_or_less::<6>),
    (19, |params, _| reduce_is_exact_or_less::<6>(params, 0)),
    (19, all_reduce_is_exact_or_less::<1>),
    (19, all_reduce_is_exact_or_less::<6>),
    (19, maximum_takes_as_long_as_an_all_reduce),
    (19, scans_are_exact_or_less::<1>),
    (19, scans_are_exact_or_less::<6>),
    (19, gather_is_exact_or_less::<1>),
    (19, gather_is_exact_or_less::<6>),
    (11, all_to_all_and_reduce_scatter_are_exact::<1>),
    (11, all_to_all_and_reduce_scatter_are_exact::<6>),
    (20, scatter_is_exact_or_less::<1>),
    (20, scatter_is_exact_or_less::<6>),
    (20, all_gather_is_exact::<1>),
    (20, all_gather_is_exact::<6>),
];

proptest! {
    #![proptest_config(cases(8000))]

    #[test]
    fn collectives_take_the_documented_time(
        params in any_params(1..21_usize),
        root in any::<Index>(),
        (most, check) in select(&TIMES[..]),
    ) {
        let params = Params { P: params.P.min(most), ..params };
        check(params, root.index(params.P));
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn chain_takes_the_documented_time(
        params in any_params(1..14_usize),
        elements in 0..60_usize,
        root in any::<Index>(),
    ) {
        a_chain_is_exact(params, elements, root.index(params.P));
    }
}

// These run several machines for each case.
proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn chain_and_gather_of_words_take_the_documented_time(
        params in any_params(1..10_usize),
        elements in 1..30_usize,
        root in any::<Index>(),
    ) {
        let Params { L, o, g, P, .. } = params;
        let params = Params::builder(P).L(L).o(o).g(g).build().unwrap();
        let plan = BroadcastPlan::best::<u64>(&params, P, elements);
        let root = root.index(P);
        let took = time(&machine(params), |p| {
            collectives::broadcast_vector(p, root, elements, (p.id() == root).then(|| vec![7_u64; elements]))
        });
        prop_assert_eq!(took, plan.time, "{} {:?}", elements, params);
        a_gather_of_words_is_exact(params, elements);
    }

    #[test]
    fn vector_collectives_take_the_documented_time(params in any_params(1..9_usize), root in any::<Index>()) {
        vectors_are_exact::<1>(params, root.index(params.P));
        vectors_are_exact::<6>(params, root.index(params.P));
    }
}
