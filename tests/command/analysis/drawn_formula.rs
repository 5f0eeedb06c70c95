//! The critical path as a formula, for the random programs of the oracle.

use loggp::params::{LeveledParams, Model};
use loggp::{Latency, PS, Params, Time};
use loggp_study::analysis::{Analysis, Formula, WhatIf};

use crate::cases::seeds;
use crate::drawn::draw;

/// Returns the terms of a formula besides parameters and work.
fn other_terms(formula: &Formula) -> Vec<&'static str> {
    let names = formula.rest.iter().map(|(name, _)| *name);
    names.filter(|name| !["work", "barrier", "idle"].contains(name)).collect()
}

/// The formula gives the run's time to the picosecond. Terms that follow from a parameter are written as that
/// parameter.
#[test]
fn formula_of_a_random_program_gives_its_time() {
    let (mut runs, mut replays, mut terms, mut leveled) = (0, 0, 0, 0);
    for seed in seeds(2400) {
        let case = draw(seed);
        // A failed run has no end.
        let Ok(run) = case.run_on(&case.machine()) else { continue };
        let trace = run.trace.unwrap();
        let analysis = Analysis::from_run(&trace);
        let formula = &analysis.formula;
        assert_eq!(formula.value(&trace.machine()), run.time, "{seed}: {formula:?}");
        let mut others = other_terms(formula);
        // Drawn times follow from no parameter, and a delay of one request by another has no cause yet.
        others.retain(|name| *name != "drawn latency" || trace.latency == Latency::Exact);
        others.retain(|name| !case.has_requests() || !["g", "stall", "port"].contains(name));
        // The time that noise adds to an overhead follows from no parameter.
        others.retain(|name| case.noise.is_none() || !["g", "stall", "port", "surcharge"].contains(name));
        assert!(others.is_empty(), "{seed}: {formula:?} {:?} {:?}", trace.params, case.levels);
        assert!(formula.rest("work") <= run.processors.iter().map(|one| one.work).sum::<Time>());
        terms += formula.counts.len();
        runs += 1;
        leveled += u32::from(formula.counts.iter().any(|(name, _)| name.ends_with("_1")));
        // The same holds for a replay with other parameters.
        let L = trace.params.L + 2 * PS;
        let longer = WhatIf {
            name: String::new(),
            machine: LeveledParams::new(Params { L, ..trace.params }, case.levels.iter().copied()),
            fragments: None,
            model: Model::LogGPS,
        };
        if let Ok(again) = longer.replay(&trace) {
            let again = Analysis::from_run(&again);
            assert_eq!(again.formula.value(&again.machine), again.time, "{seed}");
            replays += 1;
        }
    }
    assert!(
        runs >= 1000 && replays >= 1000 && terms >= 2000 && leveled >= 50,
        "{runs} {replays} {terms} {leveled}"
    );
}
