//! Collectives: their results against sequential references, their times against their formulas, and what
//! happens around them.

#![allow(non_snake_case)] // L, G and P are the papers' names

use loggp::{
    Cause, ClockKind, Dilation, Latency, LogGps, Machine, Params, Ports, Proc, Run, RunError, Time, US, Work,
    audit, collectives,
};
use proptest::prelude::*;

/// A machine on which computing costs what it is charged, and everything is traced.
fn machine(params: Params) -> Machine {
    Machine::new(params).work(Work::Charged).trace(true)
}

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::new(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

/// LogP's example, and G.
fn figure_3(P: usize) -> Params {
    params(P, 6, 2, 4, 1)
}

/// Runs a program, which must keep to the rules.
fn run<R: Send>(machine: &Machine, program: impl Fn(&mut Proc) -> R + Sync) -> Run<R> {
    let run = machine.run(program).unwrap_or_else(|error| panic!("{:?}: {error}", machine.params()));
    let audit = audit(run.trace.as_ref().unwrap());
    assert!(audit.is_clean(), "{:?}: {:?}", machine.params(), audit.violations);
    run
}

/// ceil(log2 P).
fn rounds(P: usize) -> i64 {
    i64::from(P.next_power_of_two().ilog2())
}

/// Parameters of all kinds, with g < o, o = 0, g = 0, G = 0 and L + 2o < g among them.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (P, time(60), time(20), time(40), time(3)).prop_map(|(P, L, o, g, G)| params(P, L, o, g, G))
}

// Barriers.

/// Every processor works for a while of its own, and none leaves the barrier before all have come.
fn barriers(machine: &Machine, seed: u64) {
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
fn nobody_leaves_a_barrier_before_all_have_come() {
    for P in (1..=33).chain([64, 100]) {
        barriers(&machine(figure_3(P)), P as u64);
        for seed in 0..10 {
            barriers(&machine(figure_3(P)).latency(Latency::Random { seed }), seed);
        }
        barriers(&machine(figure_3(P)).barrier(3 * US), P as u64);
    }
    for P in [1, 2, 3, 5, 8] {
        let machine = machine(figure_3(P)).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        barriers(&machine, 1);
        barriers(&machine.barrier(3 * US), 1);
    }
}

#[test]
fn the_machines_barrier_ends_at_the_last_arrival_and_its_cost() {
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

/// It costs no overhead, and neither keeps nor begins a gap.
#[test]
fn the_machines_barrier_is_beside_the_network() {
    let run = run(&machine(figure_3(2)).barrier(Time::ZERO), |p| {
        let other = 1 - p.id();
        p.send(other, 0, 0_u8);
        p.barrier();
        assert_eq!((p.now(), p.next_send()), (2 * US, 4 * US));
        p.send(other, 0, 1_u8);
        assert_eq!(p.now(), 6 * US);
        for value in 0..2 {
            assert_eq!(p.recv_from::<u8>(other, 0), value);
            p.barrier();
        }
        p.now()
    });
    assert_eq!(run.results, [14 * US; 2]);
}

#[test]
fn a_barrier_that_gives_time_back_is_refused() {
    let error = Machine::new(figure_3(2)).barrier(-US).run(|p| p.barrier()).unwrap_err();
    assert_eq!(error.to_string(), "a barrier that costs -1 us cannot be; give 0 or more");
    let error = machine(figure_3(2)).barrier(Time::MAX).run(|p| p.barrier()).unwrap_err();
    assert!(matches!(error.cause, Cause::EndOfTime { .. }), "{error}");
}

/// Whoever does not come is not waited for in vain.
#[test]
fn a_processor_that_never_comes_to_a_barrier_is_a_deadlock() {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_barrier_takes_as_long_as_it_says(params in any_params(1..20_usize)) {
        let Params { L, o, g, P, .. } = params;
        let run = run(&machine(params), collectives::barrier);
        let time = if P == 1 { Time::ZERO } else { (rounds(P) - 1) * g.max(L + 2 * o) + L + 2 * o };
        prop_assert_eq!(run.time, time);
        prop_assert!(run.processors.iter().all(|stats| stats.finish == time));
    }
}

// Results.

/// The values of processors `from` to `to` - 1, concatenated: an operation that does not commute.
fn text(from: usize, to: usize) -> String {
    (from..to).map(|id| format!("<{id}>")).collect()
}

/// Element `i` of the vector of processor `id`.
fn element(id: usize, i: usize) -> String {
    format!("{id}.{i} ")
}

/// Every collective in a row, with `root` and vectors of m elements, against sequential references.
fn everything(p: &mut Proc, root: usize, m: usize) {
    let (id, P) = (p.id(), p.p());
    let mine = || text(id, id + 1);
    let join = |a: String, b: String| a + &b;
    let vector = || (0..m).map(|i| element(id, i)).collect::<Vec<String>>();
    let joined =
        |to: usize| -> Vec<String> { (0..m).map(|i| (0..to).map(|id| element(id, i)).collect()).collect() };
    let at_root = id == root;
    let datum = vec![7_u64; root];

    assert_eq!(collectives::broadcast(p, root, at_root.then(|| datum.clone())), datum);
    assert_eq!(collectives::reduce(p, root, mine(), join), at_root.then(|| text(0, P)));
    let products = collectives::reduce(p, root, [id as u64 + 1; 3], |a, b| [0, 1, 2].map(|i| a[i].max(b[i])));
    assert_eq!(products, at_root.then_some([P as u64; 3]));
    collectives::barrier(p);
    assert_eq!(collectives::all_reduce(p, mine(), join), text(0, P));
    assert_eq!(collectives::scan(p, mine(), join), text(0, id + 1));
    assert_eq!(collectives::exclusive_scan(p, mine(), join), (id > 0).then(|| text(0, id)));
    let all = || (0..P).map(|id| text(id, id + 1)).collect::<Vec<_>>();
    assert_eq!(collectives::gather(p, root, mine()), at_root.then(all));
    assert_eq!(collectives::gather(p, root, id as u32), at_root.then(|| (0..P as u32).collect()));
    let values = (0..P).map(|to| (id, to)).collect();
    assert_eq!(collectives::all_to_all(p, values), Vec::from_iter((0..P).map(|from| (from, id))));
    p.barrier();
    assert_eq!(collectives::reduce_vector(p, root, vector(), join), at_root.then(|| joined(P)));
    assert_eq!(collectives::all_reduce_vector(p, vector(), join), joined(P));
    assert_eq!(collectives::scan_vector(p, vector(), join), joined(id + 1));
}

#[test]
fn results_are_right_for_every_root() {
    for P in (1..=33).chain([64, 100]) {
        let roots = if P <= 33 { (0..P).collect() } else { vec![0, 1, P / 2, P - 1] };
        for root in roots {
            run(&machine(figure_3(P)), |p| everything(p, root, [0, 1, 5, 40][root % 4]));
        }
    }
}

/// Both ways to combine vectors, and both to gather.
#[test]
fn results_are_right_in_parts() {
    for P in 1..=9 {
        for (m, G) in [(1, 0), (7, 1), (100, 1), (300, 4)] {
            run(&machine(params(P, 20, 1, 4, G)), |p| everything(p, P / 2, m));
        }
    }
}

#[test]
fn results_are_right_for_very_many() {
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

/// A LogGPS machine on which a message of more than S words waits for its receiver.
fn loggps(P: usize, S: usize) -> Params {
    let gps = LogGps { s: 1, S, O_s: US, O_r: US, G_s: 2 * US, G_l: US };
    Params::new(P).L(6 * US).o(2 * US).gps(gps).build().unwrap()
}

#[test]
fn results_are_right_on_loggps_with_and_without_rendezvous() {
    for P in 1..=12 {
        for S in [1, 3, 20, 100_000] {
            for root in [0, P / 2, P - 1] {
                run(&machine(loggps(P, S)), |p| everything(p, root, 9));
            }
        }
    }
}

#[test]
fn results_are_right_on_the_wall_clock() {
    for P in [1, 2, 5, 8] {
        let on_wall = |params| machine(params).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        run(&on_wall(figure_3(P)), |p| everything(p, P / 2, 9));
        run(&on_wall(figure_3(P)).barrier(US), |p| everything(p, 0, 40));
        run(&on_wall(loggps(P, 20)), |p| everything(p, P / 2, 9));
        run(&on_wall(figure_3(P)).latency(Latency::Random { seed: 5 }), |p| everything(p, P - 1, 9));
    }
}

#[test]
fn results_are_right_where_work_is_measured() {
    for P in [1, 7, 16] {
        run(&machine(figure_3(P)).work(Work::Measured), |p| everything(p, P / 2, 100));
    }
}

/// Messages of the program with every small tag are under way around every collective, and stay apart.
#[test]
fn messages_of_the_program_do_not_mix_with_those_of_collectives() {
    for seed in 0..30 {
        let machine = machine(params(6, 50, 2, 4, 1)).latency(Latency::Random { seed });
        run(&machine, |p| {
            let (id, P) = (p.id(), p.p());
            let (to, from) = ((id + 1) % P, (id + P - 1) % P);
            for round in 0..3 {
                for tag in 0..4 {
                    p.send(to, tag, (id, tag));
                }
                everything(p, (round + 1) % P, 7);
                for tag in (0..4).rev() {
                    assert_eq!(p.recv::<(usize, u32)>(tag), (from, (from, tag)));
                }
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Also with a processor that is in a hurry and one that is late.
    #[test]
    fn results_are_right_under_random_latency(
        params in any_params(1..20_usize),
        seed in any::<u64>(),
        root in any::<prop::sample::Index>(),
        m in 0..60_usize,
    ) {
        let root = root.index(params.P);
        run(&machine(params).latency(Latency::Random { seed }), |p| {
            let mut rng = fastrand::Rng::with_seed(seed ^ p.id() as u64);
            for _ in 0..2 {
                p.work("unequal", rng.u64(0..200), || ());
                everything(p, root, m);
            }
        });
    }
}

// Times. c is a cycle, 1 us, per application.

/// L + 2o + (k-1)G.
fn way(params: &Params, k: usize) -> Time {
    let Params { L, o, G, .. } = *params;
    L + 2 * o + (k as i64 - 1) * G
}

/// The least time of a tree with D and d for P processors, by trying: who answers for n gives away any number.
fn tree_time(P: usize, D: Time, d: Time) -> Time {
    let mut least = vec![Time::ZERO; 2];
    for n in 2..=P {
        let stays = |rest: usize| if rest > 1 { d + least[rest] } else { Time::ZERO };
        least.push((1..n).map(|given| (D + least[given]).max(stays(n - given))).min().unwrap());
    }
    least[P]
}

/// R steps of the same kind, the last of which nothing follows.
fn steps_time(params: &Params, k: usize, c: Time) -> Time {
    let Params { L, o, g, G, P, .. } = *params;
    match rounds(P) {
        0 => Time::ZERO,
        R => (R - 1) * ((k as i64 - 1) * G + g.max(L + 2 * o + c)) + way(params, k) + c,
    }
}

/// How long a program takes.
fn time<R: Send>(machine: &Machine, program: impl Fn(&mut Proc) -> R + Sync) -> Time {
    run(machine, program).time
}

fn broadcast_is_exact<const K: usize>(params: Params, root: usize) {
    let Params { o, g, G, P, .. } = params;
    let stream = (K as i64 - 1) * G;
    let expected = tree_time(P, way(&params, K), o.max(stream + g));
    let value = |p: &Proc| (p.id() == root).then_some([1_u64; K]);
    assert_eq!(time(&machine(params), |p| collectives::broadcast(p, root, value(p))), expected, "{params:?}");
}

fn reduce_is_exact_or_less<const K: usize>(params: Params, root: usize) {
    let Params { o, g, G, P, .. } = params;
    let d = ((K as i64 - 1) * G + g).max(o + US);
    let D = way(&params, K) + US;
    let in_the_middle = 0 < root && root < P - 1;
    let expected = tree_time(P, if in_the_middle { D.max(d) } else { D }, d);
    let run = run(&machine(params), |p| collectives::reduce(p, root, [1_u64; K], |a, _| a));
    if root == 0 || (K == 1 && run.stalls() == 0) {
        assert!(run.time <= expected, "{}, {expected}: {root} {params:?}", run.time);
        if K == 1 && (D >= d || !in_the_middle) {
            assert_eq!(run.time, expected, "{root} {params:?}");
        }
    }
}

fn all_reduce_is_exact<const K: usize>(params: Params) {
    let expected = steps_time(&params, K, US);
    let run_on = |machine: Machine| time(&machine, |p| collectives::all_reduce(p, [1_u64; K], |a, _| a));
    let dual = run_on(machine(params).ports(Ports::Dual));
    if params.P.is_power_of_two() {
        assert_eq!(dual, expected, "{params:?}");
        if (K as i64 - 1) * params.G <= params.L {
            assert_eq!(run_on(machine(params)), expected, "{params:?}");
        }
    }
}

fn scan_is_exact<const K: usize>(params: Params) {
    let expected = steps_time(&params, K, US);
    let took = time(&machine(params).ports(Ports::Dual), |p| collectives::scan(p, [1_u64; K], |a, _| a));
    if params.P.is_power_of_two() {
        assert_eq!(took, expected, "{params:?}");
    }
    assert!(took <= expected, "{took} {expected} {params:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_broadcast_takes_as_long_as_it_says(params in any_params(1..20_usize), root in any::<prop::sample::Index>()) {
        let root = root.index(params.P);
        broadcast_is_exact::<1>(params, root);
        broadcast_is_exact::<6>(params, root);
    }

    #[test]
    fn a_reduce_takes_as_long_as_it_says(params in any_params(1..20_usize), root in any::<prop::sample::Index>()) {
        let root = root.index(params.P);
        reduce_is_exact_or_less::<1>(params, root);
        reduce_is_exact_or_less::<6>(params, root);
    }

    #[test]
    fn an_all_reduce_takes_as_long_as_it_says(params in any_params(1..20_usize)) {
        all_reduce_is_exact::<1>(params);
        all_reduce_is_exact::<6>(params);
    }

    #[test]
    fn a_scan_takes_as_long_as_it_says_1(params in any_params(1..20_usize)) {
        scan_is_exact::<1>(params);
    }

    #[test]
    fn a_scan_takes_as_long_as_it_says_6(params in any_params(1..20_usize)) {
        scan_is_exact::<6>(params);
    }
}
