//! Collectives: their results against sequential references, their times against their formulas, and what
//! happens around them.

#![allow(non_snake_case)] // L, G and P are the papers' names

use loggp::{
    Cause, ClockKind, Dilation, Latency, Machine, Params, Proc, Run, RunError, Time, US, Work, audit,
    collectives,
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
