//! Sizes and parameters at their limits: no function of the library panics, and no time is below 0.

use std::num::NonZeroUsize;
use std::time::Duration;

use loggp::collectives::{self, BroadcastPlan};
use loggp::params::{LogGps, LongMessages};
use loggp::replay::Replay;
use loggp::schedule::{CostModel, Operation, Player, ScheduleBuilder};
use loggp::trace::Trace;
use loggp::{
    ClockKind, Dilation, Group, Latency, Level, Machine, Noise, Params, Payload, Ports, Proc, SEC, Tag, Ties,
    Time, Traffic, US, Work,
};

/// The longest time of a parameter.
const LONGEST: Time = Time::from_ps(3600 * SEC.as_ps());
const SIZES: [usize; 8] =
    [0, 1, 2, 1000, u32::MAX as usize, i64::MAX as usize, i64::MAX as usize + 1, usize::MAX];

/// Returns machines of all three models with their times at the least and at the most.
fn machines() -> Vec<Params> {
    let mut all = Vec::new();
    for time in [Time::ZERO, Time::from_ps(1), LONGEST] {
        for word in [1, 8, Params::NO_LIMIT] {
            let logp = || Params::builder(1 << 24).L(time).o(time).g(time).word(word);
            let gps = |s, S| LogGps { s, S, O_s: time, O_r: time, G_s: time, G_l: time };
            let falling = LogGps { G_l: -time, ..gps(1, 1) };
            all.push(logp());
            all.extend([logp().G(Time::ZERO), logp().G(Time::from_ps(1)), logp().G(time)]);
            all.extend([
                logp().gps(gps(0, 0)),
                logp().gps(gps(9, Params::NO_LIMIT)),
                logp().gps(falling).R(time),
            ]);
        }
    }
    all.into_iter().map(|builder| builder.build().unwrap()).collect()
}

#[test]
fn costs_of_any_message_are_times() {
    for params in machines() {
        for k in SIZES {
            let costs = [params.send_overhead(k), params.recv_overhead(k)];
            assert!(costs.iter().all(|cost| *cost >= Time::ZERO), "{k}: {costs:?} {params:?}");
            let falls = params.gps().is_some_and(|gps| gps.G_l < Time::ZERO);
            assert!(falls || params.stream(k) >= Time::ZERO, "{k}: {params:?}");
            assert!(params.words(k) <= k.max(1));
            _ = params.is_synchronous(k);
        }
        assert!(
            params.stream(usize::MAX) == Time::MAX
                || params.stream(2) <= Time::from_ps(1)
                || params.gps().is_some()
        );
        _ = (params.capacity(), params.longest_message(), params.G());
    }
}

/// The plans of a vector that no memory holds take no time to make either.
#[test]
fn plans_for_any_sizes_are_times() {
    fn plan<T: Payload>(params: &Params) {
        for (P, elements) in SIZES.into_iter().flat_map(|P| SIZES.map(|elements| (P, elements))) {
            let chain = BroadcastPlan::chain::<T>(params, P, elements);
            let best = BroadcastPlan::best::<T>(params, P, elements);
            let is_free = P <= 1 || elements == 0;
            for plan in [chain, best] {
                assert!(
                    plan.time >= Time::ZERO && (plan.time == Time::ZERO || !is_free),
                    "{P} {elements} {plan:?}"
                );
            }
            assert!(best.time <= chain.time);
        }
    }
    for params in machines() {
        plan::<u8>(&params);
        plan::<u64>(&params);
        plan::<[u64; 100]>(&params);
        plan::<String>(&params);
        plan::<()>(&params);
    }
}

/// The ends of what fits into each number.
const TIMES: [Time; 6] =
    [Time::from_ps(i64::MIN), Time::from_ps(-1), Time::ZERO, LONGEST, Time::from_ps(1 << 60), Time::MAX];

#[test]
fn parameters_of_any_size_are_taken_or_refused() {
    for time in TIMES {
        for n in SIZES {
            let builder = || Params::builder(n).L(time).o(time).g(time).C(n).word(n).cycle(time);
            let gps = LogGps { s: n, S: n, O_s: time, O_r: time, G_s: time, G_l: time };
            for builder in [builder(), builder().G(time), builder().gps(gps).R(time)] {
                let built = builder.build();
                assert_eq!(
                    built.is_ok(),
                    (Time::ZERO..=LONGEST).contains(&time)
                        && (1..=1 << 24).contains(&n)
                        && time != Time::ZERO,
                    "{built:?}"
                );
            }
            // What the builder refuses the machine does too.
            let word = NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
            let long = LongMessages::LogGPS(gps);
            let params =
                Params { L: time, o: time, g: time, long, R: time, P: n, C: None, word, cycle: time };
            _ = (params.capacity(), params.longest_message(), params.stream(n), params.send_overhead(n));
            if n > 1 << 24 {
                assert!(Machine::new(params).run(|_| ()).is_err());
                assert!(Traffic::new(params, Ports::Single, Latency::Exact).is_err());
                assert!(Replay::new(&trace()).params(params).run().is_err());
            }
        }
    }
}

/// Returns a trace of two processors.
fn trace() -> Trace {
    let machine = Machine::new(Params::builder(2).build().unwrap()).trace(true);
    machine.run(|_| ()).unwrap().trace.unwrap()
}

#[test]
fn settings_of_any_size_are_taken_or_refused() {
    let machine = || Machine::new(Params::builder(2).L(US).build().unwrap());
    let program = |p: &mut Proc| {
        p.send(1 - p.id(), Tag::new(0), 1_u8);
        p.work("kind", 1, || ());
        p.barrier();
        p.recv(Tag::<u8>::new(0))
    };
    let ends = |machine: Machine| _ = machine.run(program).map_err(|error| error.to_string());
    for n in SIZES {
        ends(machine().cores(n));
        ends(machine().cores(n).clock(ClockKind::Wall).dilation(Dilation::Fixed(1e-3)));
        ends(machine().latency(Latency::Random { seed: n as u64 }).ties(Ties::Random { seed: n as u64 }));
        assert_eq!(Group::new([n]).rank(n), Some(0));
        assert!(machine().run(|p| drop(p.within(&Group::new([n, usize::MAX])))).is_err());
    }
    for time in TIMES {
        ends(machine().barrier(time));
        ends(machine().rate("kind", time));
        ends(machine().levels([Level::new(Params { L: time, ..Params::builder(2).build().unwrap() })]));
        let noises = [
            Noise::from_periods([(time, US)]),
            Noise::from_periods([(US, time)]),
            Noise::from_record([(time, US), (time, time)]),
        ];
        for noise in noises.into_iter().flatten() {
            ends(machine().noise(noise.clone()));
            _ = (
                noise.free(usize::MAX, time, time),
                noise.max_detours(time),
                noise.detours(usize::MAX, time, time),
            );
        }
    }
    for dilation in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, 1e-300] {
        ends(machine().clock(ClockKind::Wall).dilation(Dilation::Fixed(dilation)));
    }
    ends(machine().patience(Duration::MAX));
    ends(machine().patience(Duration::ZERO));
}

#[test]
fn calls_with_any_numbers_end_or_fail() {
    const BYTE: Tag<u8> = Tag::new(u16::MAX);
    let machine = Machine::new(Params::builder(2).L(US).build().unwrap()).work(Work::Charged);
    let call = |program: &(dyn Fn(&mut Proc) + Sync)| {
        _ = machine.run(|p| program(p)).map_err(|error| error.to_string())
    };
    for time in TIMES {
        call(&|p| p.wait_until(time));
        call(&|p| _ = p.recv_deadline(BYTE.step(u32::MAX as usize), time));
        let mut traffic = Traffic::new(*machine.params(), Ports::Single, Latency::Exact).unwrap();
        SIZES.iter().for_each(|words| traffic.send(0, 1, *words, time));
        assert_eq!(traffic.count(), SIZES.len());
    }
    for n in SIZES {
        call(&|p| p.work("kind", n as u64, || ()));
        call(&|p| p.send(n, BYTE, 0));
        call(&|p| _ = p.recv(BYTE.from(n)));
        call(&|p| _ = p.try_recv(BYTE.from(n)));
        call(&|p| _ = collectives::broadcast_vector::<u64>(p, 0, n, (p.id() == 0).then(Vec::new)));
        call(&|p| _ = collectives::all_gather_vector::<u64>(p, &[0, n], Vec::new()));
        call(&|p| _ = collectives::all_gather_vector::<u64>(p, &[n, n], Vec::new()));
        call(&|p| _ = collectives::broadcast(p, n, Some(1)));
    }
}

#[test]
fn schedules_with_any_numbers_end_or_fail() {
    for size in [0, 1, u64::from(u32::MAX), i64::MAX as u64, u64::MAX] {
        for time in TIMES {
            let mut builder = ScheduleBuilder::new(2).unwrap();
            for rank in 0..2 {
                builder.begin_rank(rank).unwrap();
                let to = 1 - rank as u32;
                let all = [
                    Operation::Calc(time),
                    Operation::Send { to, bytes: size, tag: u32::MAX - 1 },
                    Operation::Recv { from: Some(to), bytes: size, tag: None },
                    Operation::WaitUntil(time),
                ];
                for operation in all {
                    _ = builder.add(operation);
                }
            }
            let schedule = builder.build().unwrap();
            for params in machines() {
                let params = Params { P: 2, ..params };
                for rules in [CostModel::Papers, CostModel::LogGOPSim] {
                    let played = Player::new(params).rules(rules).run(&schedule);
                    let is_time = |time: &Time| (Time::ZERO..Time::MAX).contains(time);
                    assert!(
                        played.is_err() || played.as_ref().unwrap().finishes.iter().all(is_time),
                        "{size} {time} {params:?}: {played:?}"
                    );
                }
            }
        }
    }
}
