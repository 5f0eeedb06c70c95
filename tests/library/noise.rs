//! Noise: its effect on programs, hand-computed times, and its audit. The oracle tests random programs with
//! noise.

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::{Carrier, ClockKind, Dilation, Machine, Noise, PS, Params, Proc, Tag, Time, US, Work};

const WORD: Tag<u64> = Tag::new(0);

fn params(P: usize) -> Params {
    Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()
}

fn noise() -> Noise {
    "100us:7us,250us:40us".parse().unwrap()
}

/// A processor that computes in short steps finds its detours, as Netgauge's selfish detour does.
#[test]
fn short_steps_of_work_find_the_detours() {
    let run = Machine::new(params(3)).noise(noise().seed(5)).rate("step", PS * 100_000).run(|p| {
        let mut found = Vec::new();
        while p.now() < 1000 * US {
            let before = p.now();
            p.work("step", 1, || ());
            let lost = p.now() - before - PS * 100_000;
            found.extend((lost > Time::ZERO).then_some((before, lost)));
        }
        found
    });
    let mut all = Vec::new();
    for (id, found) in run.unwrap().results.into_iter().enumerate() {
        let detours = noise().seed(5).detours(id, Time::ZERO, 2000 * US);
        let detours = detours.into_iter().filter(|(start, _)| *start < 1000 * US);
        let detours: Vec<(Time, Time)> = detours.collect();
        assert_eq!(detours.len(), found.len(), "{id}: {detours:?}, {found:?}");
        for ((start, end), (at, lost)) in detours.iter().zip(&found) {
            assert!(*at <= *start && *start <= *at + PS * 100_000 && *end - *start == *lost, "{id}");
        }
        all.push(detours);
    }
    assert!(all[0] != all[1] && all[1] != all[2]);
}

/// Returns the end of work by the processor's detours: each that starts before the end delays it.
fn end_of_work(noise: &Noise, id: usize, start: Time, work: Time) -> Time {
    let detours = noise.detours(id, start, start + 10_000 * US);
    let put_off =
        |end: Time, (from, until): &(Time, Time)| if *from < end { end + (*until - *from) } else { end };
    detours.iter().fold(start + work, put_off)
}

/// One processor computes and sends, and the other receives and computes: work, o, L, o and work, each o and
/// work lengthened by its detours.
#[test]
fn message_under_noise_takes_the_computed_time() {
    let mut late = [0; 3];
    for seed in 0..200 {
        let noise = noise().seed(seed);
        let run = Machine::new(params(2)).noise(noise.clone()).rate("think", US).trace(true).run(|p| match p
            .id()
        {
            0 => {
                p.work("think", 90, || ());
                p.send(1, WORD, 7);
                p.now()
            }
            _ => {
                p.recv(WORD);
                let received = p.now();
                p.work("think", 10, || ());
                received
            }
        });
        let run = run.unwrap();
        let thought = end_of_work(&noise, 0, Time::ZERO, 90 * US);
        let sent = end_of_work(&noise, 0, thought, 2 * US);
        let received = end_of_work(&noise, 1, sent + 6 * US, 2 * US);
        assert_eq!((run.results[0], run.results[1]), (sent, received), "seed {seed}");
        assert_eq!(run.time, end_of_work(&noise, 1, received, 10 * US), "seed {seed}");
        assert_eq!(run.processors[0].work, thought);
        for (late, is) in
            late.iter_mut().zip([thought > 90 * US, sent > thought + 2 * US, received > sent + 8 * US])
        {
            *late += usize::from(is);
        }
        assert!(audit(run.trace.as_ref().unwrap()).is_clean());
    }
    assert!(late.iter().all(|late| *late > 0), "{late:?}");
}

/// Computes and exchanges messages with both neighbours, also by requests.
fn program(p: &mut Proc) -> Vec<Time> {
    let (P, id) = (p.P(), p.id());
    let mut times = Vec::new();
    for round in 0..6 {
        let request = p.isend((id + 1) % P, WORD, round);
        p.work("think", 20 + (id as u64 * 13 + round * 7) % 50, || ());
        p.recv(WORD.from((id + P - 1) % P));
        p.wait(request);
        p.send((id + 2) % P, WORD, round);
        p.recv(WORD.from((id + P - 2) % P));
        times.push(p.now());
    }
    times
}

#[test]
fn noise_is_the_same_on_both_clocks_and_any_cores() {
    let machine = Machine::new(params(6)).noise(noise().seed(3)).work(Work::Charged).trace(true);
    let run = machine.run(program).unwrap();
    let trace = run.trace.as_ref().unwrap();
    assert!(audit(trace).is_clean(), "{:?}", audit(trace).violations);
    let quiet = machine.clone().noise(None).run(program).unwrap();
    assert!(run.time > quiet.time + 40 * US, "{} and {}", run.time, quiet.time);

    for cores in [1, 3] {
        let several = machine.clone().cores(cores).oversubscribed(true);
        let measured = several.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
        let carried = measured.clone().carrier(Carrier::Coroutine);
        for other in [several, measured, carried] {
            let other = other.run(program).unwrap();
            assert_eq!(other.results, run.results, "{cores} cores");
            assert_eq!(other.trace.as_ref(), Some(trace), "{cores} cores");
        }
    }
    let again = machine.clone().noise(None).order(trace).run(program).unwrap();
    assert_eq!(again.trace.as_ref(), Some(trace));
    let replayed = Replay::new(trace).trace(true).run().unwrap();
    assert_eq!(replayed.trace.unwrap().activities, trace.activities);
    // Under other parameters the noise affects a replay at other calls, as it does the program.
    let faster = Params { L: 3 * US, ..params(6) };
    let program_faster = Machine::new(faster).noise(noise().seed(3)).run(program).unwrap();
    assert_eq!(Replay::new(trace).params(faster).run().unwrap().time, program_faster.time);
}

#[test]
fn auditor_detects_other_noise() {
    let trace =
        Machine::new(params(6)).noise(noise().seed(3)).trace(true).run(program).unwrap().trace.unwrap();
    for other in [None, Some(noise().seed(4)), "100us:7us".parse::<Noise>().ok().map(|noise| noise.seed(3))] {
        let forged = loggp::trace::Trace { noise: other.clone(), ..trace.clone() };
        assert!(!audit(&forged).is_clean(), "{other:?}");
    }
    let quiet = Machine::new(params(6)).trace(true).run(program).unwrap().trace.unwrap();
    let forged = loggp::trace::Trace { noise: trace.noise.clone(), ..quiet };
    let rules: Vec<_> = audit(&forged).violations.into_iter().map(|violation| violation.rule).collect();
    assert!(
        rules.contains(&loggp::audit::AuditRule::Noise) && rules.contains(&loggp::audit::AuditRule::Overhead),
        "{rules:?}"
    );
}

#[test]
fn independent_detours_slow_larger_machines_more() {
    let time = |P: usize, noise: Option<Noise>| {
        let machine = Machine::new(params(P)).noise(noise).rate("think", US);
        let run = machine.run(|p| {
            p.work("think", 100, || ());
            loggp::collectives::barrier(p);
        });
        run.unwrap().time
    };
    let rare: Noise = "10ms:250us".parse().unwrap();
    let slower = |P, noise: &Noise| time(P, Some(noise.clone())) - time(P, None);
    assert!(slower(1, &rare) < 250 * US && slower(1024, &rare) >= 250 * US);
    assert!(slower(1024, &rare.together()) <= 250 * US);
}
