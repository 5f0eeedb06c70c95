//! Every closed form says what it is: exact, a bound or an estimate, and whose.

use loggp::params::{LogGps, Parameter};
use loggp::{Latency, Level, Noise, Params, Ties, Time, US, Work};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::{Algorithm, Case, ClosedForm, FormKind, PROGRAMS, Program};

use crate::case::{case, check_form, params};
use crate::every_program::draw_case_on;

/// Returns a random machine of any model, also with g < o, 2o > g, and parameters of 0.
fn draw_machine(rng: &mut fastrand::Rng, P: usize) -> Params {
    // A coarse unit, for which times coincide, or a fine one, for which they do not.
    let (unit, fine) = [(US, 1), (Time::from_ps(1), 1_000_000)][rng.usize(..2)];
    let mut time = |most: i64| if rng.u8(..6) == 0 { Time::ZERO } else { rng.i64(0..=most * fine) * unit };
    let [L, o, g, G, O] = [40, 12, 20, 3, 2].map(&mut time);
    let machine = Params::builder(P).L(L).o(o).g(g).word([1, 4, 8, 16][rng.usize(..4)]);
    let machine = match rng.usize(..4) {
        0 => machine,
        1 | 2 => machine.G(G),
        _ => {
            let s = rng.usize(..20);
            let G_l = if rng.bool() { G } else { -G.min(L) / 8 };
            let machine = machine.gps(LogGps { s, S: s + rng.usize(1..100), O_s: O, O_r: O, G_s: G, G_l });
            if rng.bool() { machine.R(O) } else { machine }
        }
    };
    machine.build().unwrap()
}

/// Returns a random case of which a closed form may say something.
fn draw_case(rng: &mut fastrand::Rng, program: &'static Program, algorithm: &Algorithm) -> Case {
    let case = Case { latency: Latency::Exact, ..draw_case_on(rng, program, algorithm, draw_machine) };
    let divisors: Vec<usize> =
        (1..=case.params.P).filter(|within| case.params.P.is_multiple_of(*within)).collect();
    let within = *rng.choice(&divisors).unwrap();
    let level = Params { word: case.params.word, ..draw_machine(rng, within) };
    let is_on_levels = algorithm.name == "levels" && case.params.is_loggp() && level.is_loggp();
    Case { levels: if is_on_levels { vec![Level::new(level)] } else { Vec::new() }, ..case }
}

/// What says exact is the model's time to the picosecond, and bounds are kept. Among many cases of what says
/// bound or estimate there is one with another time, or it would be exact.
#[test]
fn every_closed_form_is_what_it_says() {
    let mut rng = fastrand::Rng::with_seed(5);
    for program in PROGRAMS {
        for algorithm in program.algorithms {
            let name = format!("{} {}", program.name, algorithm.name);
            let (mut forms, mut off) = (0, Vec::new());
            for _ in 0..crate::cases::times(16) {
                let case = draw_case(&mut rng, program, algorithm);
                let Some((kind, late)) = check_form(&case) else { continue };
                let is_missing = matches!(algorithm.formula, ClosedForm::None(_));
                assert!(!is_missing || case.params.P == 1, "{name} has no form, and a time by it");
                forms += usize::from(!is_missing);
                off.extend((kind != FormKind::Exact).then_some(late != Time::ZERO));
            }
            assert_eq!(forms > 0, algorithm.formula.text().is_some(), "{name}");
            assert!(
                off.len() < 8 || off.contains(&true),
                "{name} has a form that is exact, and says that it is not"
            );
        }
    }
}

/// On a machine with a parameter that a form does not count with there is no time by it.
#[test]
fn forms_refuse_parameters_that_they_do_not_know() {
    let all: Vec<&str> = Parameter::ALL.iter().map(|parameter| parameter.name).collect();
    let mut rng = fastrand::Rng::with_seed(7);
    for program in PROGRAMS {
        for algorithm in program.algorithms {
            for _ in 0..20 {
                let case = draw_case(&mut rng, program, algorithm);
                let plan = case.plan().unwrap();
                let known = plan.known_parameters();
                assert!(known.iter().all(|name| all.contains(name)), "{known:?}");
                let there =
                    Parameter::ALL.iter().filter(|parameter| parameter.number(&case.params).is_some());
                let unknown = there.filter(|parameter| !known.contains(&parameter.name)).count();
                let has_phases = plan.phases().iter().any(|(_, time)| time.is_some());
                assert!(unknown == 0 || plan.form().is_none() && !has_phases, "{case:?}");
            }
        }
    }
}

/// A form is a paper's, with its place, or ours.
#[test]
fn every_closed_form_says_whose_it_is() {
    for algorithm in PROGRAMS.iter().flat_map(|program| program.algorithms) {
        let source = algorithm.formula.source();
        let papers = ["LogP, ", "LogGP, ", "LogGPS, ", "Karp et al., ", "Shankar et al., "];
        let is_known =
            |source: &str| source == "ours" || papers.iter().any(|paper| source.starts_with(paper));
        assert!(source.is_none_or(is_known), "{source:?}");
        assert_eq!(source.is_none(), algorithm.formula.why_missing().is_some());
    }
}

/// On machines that the papers do not have, nothing is exact.
#[test]
fn forms_are_estimates_off_the_papers_machines() {
    let kind = |case: &Case| case.plan().unwrap().form().unwrap().kind;
    let usual = case(&BROADCAST, "optimal", params("P=8,L=6us,o=2us,g=4us"), 1);
    assert_eq!(kind(&usual), FormKind::Exact);
    let changes: [fn(&mut Case); 6] = [
        |case| case.latency = Latency::Random { seed: 1 },
        |case| case.ties = Ties::Random { seed: 1 },
        |case| case.noise = Some("100us:9us".parse::<Noise>().unwrap()),
        |case| case.work = Work::Measured,
        |case| case.params = params("P=8,L=6us,o=2us,g=4us,C=1"),
        |case| case.levels = vec![Level::new(params("P=2,L=1us,o=1us,g=1us"))],
    ];
    for change in changes {
        let mut changed = usual.clone();
        change(&mut changed);
        assert_eq!(kind(&changed), FormKind::Estimate, "{changed:?}");
    }
}
