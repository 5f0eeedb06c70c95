//! Every program with every algorithm: right, by the rules, as predicted, and refused in a sentence.

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp::{ClockKind, Dilation, Latency, NS, Params, Ports, Stats, Time, US, Work};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::fft::FFT;
use loggp_programs::lu::LU;
use loggp_programs::radix_sort::RADIX_SORT;
use loggp_programs::scatter::{ALPHA, SCATTER};
use loggp_programs::{Algorithm, Case, Emulation, PROGRAMS, Program};
use loggp_study::Study;
use proptest::prelude::*;

use crate::case::{case, check_form, formula, model, outcome, params, refusal};
use crate::cases::cases;

/// Machines of LogP, LogGP and LogGPS. On the last ones messages have several packets, and all but short
/// ones, or all, wait for their receivers.
const MACHINES: [&str; 9] = [
    "L=6,o=2,g=4",
    "L=5,o=3,g=2,G=1",
    "L=40,o=1,g=4,G=1,word=4",
    "L=0,o=0,g=0",
    "L=9,g=1,G=2,word=16",
    "L=20,o=2,g=4,O_s=1,O_r=1,G_s=2,G_l=1,s=2,S=4",
    "L=20,o=2,g=4,O_s=1,O_r=3,G_s=2,G_l=1,s=4,S=16,word=4",
    "L=6,o=2,g=4,O_s=3ns,O_r=2ns,G_s=100ns,G_l=-1ns,s=40,S=80,word=1",
    "L=6,o=2,g=4,O_s=3ns,O_r=2ns,G_s=100ns,G_l=50ns,s=0,S=0",
];

/// Options of all programs, and values that are drawn for them.
const OPTIONS: [(&str, &[&str]); 22] = [
    ("alpha", &["0.1", "0.8"]),
    ("time", &["9", "99us"]),
    ("layout", &["cyclic", "blocked"]),
    ("butterfly", &["0us", "3us"]),
    ("point", &["0us", "2us"]),
    ("key-bits", &["32", "64"]),
    ("radix", &["1", "3", "6"]),
    ("input", &["uniform", "skewed", "sorted", "equal"]),
    ("entries", &["random", "hilbert", "graded", "triangular", "orthogonal"]),
    ("grid", &["1x4", "2x2", "2x3", "3x2", "6x1", "2x4", "3x4", "4x4"]),
    ("block", &["1", "2", "5", "23"]),
    (
        "matrix",
        &["skewed", "random", "uniform", "diagonal", "multiples", "remainders", "figure-1", "figure-9"],
    ),
    ("traffic", &["0", "7", "90", "600", "2000"]),
    ("fan-out", &["1", "3", "8", "any"]),
    ("outgoing", &["0", "30"]),
    ("incoming", &["10", "40"]),
    ("stage1", &["linear", "random", "random-improved"]),
    ("chunk", &["1", "40", "all"]),
    ("rounds", &["1", "3"]),
    ("imbalance", &["0us", "3us"]),
    ("receiver-delay", &["20us"]),
    ("meanwhile", &["20us"]),
];

/// Returns a random case that the program accepts, on a machine of [`MACHINES`].
fn draw_case(rng: &mut fastrand::Rng, program: &'static Program, algorithm: &Algorithm) -> Case {
    draw_case_on(rng, program, algorithm, |rng, P| {
        params(&format!("{},P={P}", rng.choice(MACHINES).unwrap()))
    })
}

/// Returns a random case that the program accepts, on one of these machines.
pub(crate) fn draw_case_on(
    rng: &mut fastrand::Rng,
    program: &'static Program,
    algorithm: &Algorithm,
    draw_machine: impl Fn(&mut fastrand::Rng, usize) -> Params,
) -> Case {
    loop {
        let P = if rng.bool() { 1 << rng.usize(..5) } else { rng.usize(1..=13) };
        let drawn = Case {
            seed: rng.u64(..),
            latency: if rng.u8(..4) == 0 { Latency::Exact } else { Latency::Random { seed: rng.u64(..) } },
            barrier: [None, Some(3 * US)][rng.usize(..2)],
            ports: [Ports::Single, Ports::Dual][rng.usize(..2)],
            work: Work::Charged,
            ..Case::new(program, algorithm.name, draw_machine(rng, P))
        };
        let mut with_options = drawn;
        for (name, values) in OPTIONS {
            let algorithms = program.option(name).map(|option| option.info().algorithms);
            let is_there = algorithms.is_some_and(|all| all.is_empty() || all.contains(&algorithm.name));
            if is_there && rng.bool() {
                with_options = with_options.with_text(name, rng.choice(values).unwrap()).unwrap();
            }
        }
        // Any size, the few that an FFT may have, and the default for what stands in place of a size.
        let sizes = [rng.usize(1..70), (P * P) << rng.usize(..4), with_options.size];
        let cases = sizes.map(|size| Case { size, ..with_options.clone() });
        if let Some(accepted) = cases.into_iter().find(|case| case.check().is_ok()) {
            return accepted;
        }
    }
}

/// Asserts that a trace keeps the rules.
fn assert_clean(case: &Case, trace: &Trace) {
    let violations = audit(trace).violations;
    assert!(violations.is_empty(), "{case:?}: {violations:?}");
}

/// On any machine, in whatever order messages arrive: the result is right, the trace keeps the rules, and a
/// replay is equal to the picosecond. A trace is read as it was written, in both forms. On the wall clock,
/// at a speed at which the host is always late, every processor acts at the same times.
#[test]
fn every_case_is_right_and_keeps_the_rules() {
    let mut rng = fastrand::Rng::with_seed(14);
    for program in PROGRAMS {
        for algorithm in program.algorithms {
            for n in 0..crate::cases::times(8) {
                let case = draw_case(&mut rng, program, algorithm);
                let model = outcome(&case, &Emulation::with_trace());
                let trace = model.run.trace.unwrap();
                assert_clean(&case, &trace);
                let again = Replay::new(&trace).trace(true).run().unwrap().trace.unwrap();
                let is_equal = again.activities == trace.activities && again.messages == trace.messages;
                assert!(is_equal, "{case:?}");
                if n % 8 > 0 {
                    continue;
                }
                let (mut text, mut compact) = (Vec::new(), Vec::new());
                trace.write(&mut text).unwrap();
                trace.write_compact(&mut compact).unwrap();
                assert!(trace.messages.len() < 20 || 4 * compact.len() < text.len(), "{case:?}");
                assert_eq!(Trace::read(&text[..]).unwrap(), trace, "{case:?}");
                assert_eq!(Trace::read(&compact[..]).unwrap(), trace, "{case:?}");
                let (clock, dilation) = (ClockKind::Wall, Dilation::Fixed(1.0));
                let wall = outcome(&case, &Emulation { clock, dilation, ..Emulation::with_trace() });
                assert_clean(&case, wall.run.trace.as_ref().unwrap());
                let finishes = |of: &[Stats]| of.iter().map(|stats| stats.finish).collect::<Vec<_>>();
                assert_eq!(finishes(&wall.run.processors), finishes(&model.run.processors), "{case:?}");
                assert!(wall.run.time >= model.run.time, "{case:?}");
            }
        }
    }
}

/// Sizes that are 0 or too large leave a sentence, or can be run.
#[test]
fn impossible_sizes_are_refused() {
    for program in PROGRAMS {
        for Algorithm { name, .. } in program.algorithms {
            for size in [0, 1 << 40, usize::MAX] {
                let why = refusal(&format!("{} {name} size={size}", program.name));
                let is_sentence = why.contains("give") || why.contains("too much");
                assert!(why.is_empty() && size == 0 || is_sentence && !why.contains('\n'), "{name}: {why}");
            }
        }
    }
}

#[test]
fn the_size_that_a_radix_sort_names_is_the_largest() {
    for name in ["long", "short"] {
        let refused = |size: usize| refusal(&format!("radix-sort {name} size={size}"));
        let why = refused(usize::MAX);
        let most: usize = why.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(refused(most).is_empty() && !refused(most + 1).is_empty(), "{why}");
    }
}

#[test]
fn impossible_cases_are_refused_with_possible_ones() {
    for (words, part) in [
        ("scatter optimal size=0", "give at least 1"),
        ("scatter fixed alpha=nan", "give a ratio between 0 and 1"),
        ("scatter fixed alpha=1", "give a ratio between 0 and 1"),
        ("fft short-staggered P=8 size=1000", "give 512 or 1024"),
        ("fft short-staggered P=8 size=32", "give at least 64"),
        ("fft short-staggered P=6 size=1024", "P = 6 is no power of two; give 4 or 8"),
        ("fft short-staggered P=16384 size=268435456", "give at most P = 8192"),
        ("fft short-staggered P=2 size=18446744073709551615", "give at most 67108864"),
        ("fft short-staggered layout=hybrid", "give cyclic or blocked"),
        ("fft short-staggered butterfly=-1us", "it is negative"),
        ("fft short-staggered point=fast", "no unit fast"),
        ("fft cyclic P=2 size=64 S=1", "give S = 2 or more"),
        ("lu grid-cyclic size=0", "leaves nothing to decompose; give at least 1"),
        ("lu grid-cyclic size=10000", "give at most 8192"),
        ("lu grid-cyclic P=6 size=9 grid=2x2", "a grid of 2x2 has 4 processors, and P = 6; give 2x3"),
        ("lu grid-cyclic grid=6", "grid = 6: a grid is RxC"),
        ("lu grid-cyclic block=0", "block = 0: give a whole number of at least 1"),
        ("lu grid-cyclic flop=-1us", "flop = -1us: it is negative"),
        ("lu grid-cyclic entries=magic", "there is no such matrix; give random, hilbert"),
        ("lu grid-cyclic entries=none.csv", "none.csv cannot be read"),
        ("gauss whole size=0", "leaves nothing to solve; give at least 1"),
        ("gauss whole size=10000", "give at most 8192"),
        ("gauss whole entries=none.csv", "none.csv cannot be read"),
        ("gauss shared P=6 size=9", "four processors share a block of rows, and P = 6 is no multiple of 4"),
        (
            "gauss fragmented size=9 S=0",
            "with S = 0 words it would wait for its receivers; give an S of at least",
        ),
        ("remap short-naive P=16 size=8388608", "messages are too many"),
        ("rtt blocking size=4334 P=2 machine=cenju4", "give a size of at most 4333 bytes"),
        ("rtt blocking P=1", "at least 2"),
        ("rtt blocking imbalance=-1us", "imbalance = -1us: it is negative; give 0 or more"),
        ("rtt blocking imbalance=1-2us", "it is not a time"),
        ("rtt blocking rounds=0", "give a whole number from 1"),
        ("radix-sort long size=0", "give at least 1"),
        ("radix-sort short size=40 S=0", "give an S of at least 1"),
        ("radix-sort long key-bits=33", "key-bits = 33: give 32 or 64"),
        ("radix-sort long radix=0", "radix = 0: give a whole number from 1 to 16"),
        ("radix-sort long radix=17", "radix = 17: give a whole number from 1 to 16"),
        ("radix-sort long input=odd", "input = odd: give uniform, skewed, sorted or equal"),
        ("radix-sort long key-move=-1us", "give 0 or more"),
        ("radix-sort long size=2000 machine=cenju4 P=16", "give a size of at most 1083"),
        ("radix-sort long size=5 radix=11 machine=cenju4 P=16", "give a smaller radix"),
        ("all-to-all-broadcast optimal size=1 S=0", "give S of at least 1"),
        ("combining optimal size=1 S=0", "give S of at least 1"),
        ("summation optimal time=-1", "give 0 or more"),
        ("summation binomial time=1000s", "give a shorter time"),
        ("summation optimal time=9000000s", "give a shorter time"),
        ("summation optimal time=soon", "there is no unit soon"),
        ("summation optimal size=5 time=28", "leave --size out"),
        ("stress bursts P=1", "at least 2"),
        ("stress bursts size=0", "at least 1"),
        (
            "transportation two-stage P=8 fan-out=9",
            "is not to be had from 8 processors; give one from 1 to 8",
        ),
        ("transportation two-stage P=8 fan-out=4 skew=1/3", "a skew of 1/3 gives 1.333 of 4 receivers"),
        ("transportation two-stage P=8 fan-out=1 skew=1/2", "leave --skew out"),
        ("transportation two-stage P=8 traffic=5", "give more traffic, or less fan-out"),
        (
            "transportation two-stage P=8 matrix=figure-9",
            "it is for 4 processors, and there are 8; give -P 4",
        ),
        ("transportation two-stage P=4 matrix=figure-9 traffic=5", "leave it out"),
        ("transportation linear matrix=diagonal skew=1/2", "--skew is for the matrix skewed; leave it out"),
        ("transportation linear outgoing=5", "--outgoing is for the matrix random; leave it out"),
        (
            "transportation linear P=8 matrix=random outgoing=100 incoming=12",
            "one processor sends 100, and all 8 together receive at most 96; give at most that",
        ),
        ("transportation linear P=8 matrix=remainders traffic=55", "give a traffic of at least 56"),
        ("transportation linear matrix=none.csv", "none.csv cannot be read"),
        ("transportation linear P=8 size=5000 traffic=5", "leave one of them out"),
        ("transportation two-stage P=257", "give at most 256"),
        (
            "transportation linear P=256 matrix=uniform traffic=16777216",
            "give less traffic or fewer processors",
        ),
        ("transportation linear P=8 machine=cenju4", "14336 words"),
        ("transportation random P=4 S=0", "give S of at least 1"),
    ] {
        let refusal = refusal(words);
        assert!(refusal.contains(part) && !refusal.contains('\n'), "{words}: {refusal}");
    }
    for accepted in [
        "fft long-staggered P=2 size=64 S=1",
        "gauss whole size=9 S=0",
        "remap short-naive P=16 size=524288",
        "rtt blocking size=4333 P=2 machine=cenju4",
        "radix-sort long size=1083 machine=cenju4 P=16",
        "summation optimal size=100 S=0",
        "transportation two-stage P=8 machine=cenju4",
        "transportation two-stage-alternate-combine P=4 S=0",
    ] {
        assert_eq!(refusal(accepted), "", "{accepted}");
    }
}

/// A matrix in a file has as many rows and numbers as the size says.
#[test]
fn a_wrong_file_of_a_matrix_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("matrix.csv");
    for (text, part) in [
        ("1,2\n3,NaN\n", "line 2 of"),
        ("1,2\n3,inf\n", "\"inf\" is not a finite number; give one"),
        ("1,2\n3\n", "has 1 numbers, and the size is 2"),
        ("1,2\n", "has 1 lines, and the size is 2"),
        ("1,2\n3,4\n5,6\n", "line 3 of"),
    ] {
        std::fs::write(&file, text).unwrap();
        let why = refusal(&format!("lu replicated P=1 size=2 entries={}", file.display()));
        assert!(why.contains(part), "{text}: {why}");
    }
}

fn machine(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

/// Returns parameters of all kinds, also with g < o, o = 0, g = 0, G = 0 and L + 2o < g.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (P, time(60), time(20), time(40), time(3)).prop_map(|(P, L, o, g, G)| machine(P, L, o, g, G))
}

#[test]
fn splitting_for_a_thousand_processors_ends_soon_and_is_no_slower() {
    let params = machine(1024, 30, 0, 10, 1);
    let split = model(&case(&SCATTER, "split", params, 100));
    assert!(split <= 102_419 * US, "{split}");
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn optimal_broadcast_takes_as_long_as_predicted(params in any_params(Just(1)), k in 1..8_usize) {
        for P in 1..=200 {
            let case = case(&BROADCAST, "optimal", Params { P, ..params }, k);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn broadcast_takes_as_long_as_predicted(params in any_params(1..100_usize), k in 1..8_usize) {
        for Algorithm { name, .. } in BROADCAST.algorithms {
            let case = case(&BROADCAST, name, params, k);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }

    #[test]
    fn scatter_takes_as_long_as_predicted(params in any_params(1..60_usize), k in 1..20_usize, alpha in 0.01..0.99) {
        for name in ["short", "long", "optimal", "fixed"] {
            let case = case(&SCATTER, name, params, k).with(&ALPHA, alpha);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }

    /// Lemma 2 claims equality for every P. Where it is no more than a bound, the new source has floor(P/2) sets
    /// and the old one, which starts earlier, one more, and the lemma counts the later start and the larger number.
    #[test]
    fn halving_takes_what_lemma_2_says_or_less(params in any_params(1..130_usize), k in 1..20_usize) {
        let (_, late) = check_form(&case(&SCATTER, "binomial", params, k)).unwrap();
        let slack = (params.L + 2 * params.o - params.g).max(Time::ZERO);
        let levels = i64::from(params.P.next_power_of_two().ilog2());
        prop_assert!(-late <= (levels - 1).max(0) * slack, "{late}");
    }

    #[test]
    fn optimal_is_no_slower_than_the_others_and_split_no_slower_than_optimal(
        params in any_params(1..40_usize), k in 1..40_usize, alpha in 0.01..0.99,
    ) {
        let time = |name| model(&case(&SCATTER, name, params, k).with(&ALPHA, alpha));
        let optimal = time("optimal");
        for other in ["long", "binomial", "fixed"] {
            prop_assert!(optimal <= time(other), "{}", other);
        }
        let split = time("split");
        prop_assert!(split <= optimal);
        prop_assert_eq!(split, time("split"));
    }
}

/// A prediction of measured work uses the cost of the computation in a run with free messages. At least one
/// pair of runs is close, however busy the host is.
#[test]
fn measured_work_is_predicted_from_the_same_work_without_messages() {
    for (program, size) in [(&FFT, 1 << 12), (&RADIX_SORT, 1 << 12), (&LU, 128)] {
        for (Algorithm { name, .. }, P) in
            program.algorithms.iter().flat_map(|algorithm| [(algorithm, 1), (algorithm, 4)])
        {
            let network = Params::builder(P).L(2 * US).o(500 * NS).g(500 * NS).G(NS).build().unwrap();
            let case = Case { work: Work::Measured, ..case(program, name, network, size) };
            let plan = case.plan().unwrap();
            assert_eq!((plan.formula(), plan.phases()), (None, vec![]));
            let close = |_| {
                let answers = Study::new(case.clone()).run().unwrap();
                assert_eq!(answers.wrong, None);
                let Some(formula) = answers.prediction.formula else {
                    assert_eq!((*name, P), ("short-naive", 4)); // the paper has no formula for it
                    return true;
                };
                (0.5..2.0).contains(&answers.prediction.model.unwrap().in_units(formula))
            };
            assert!((0..100).any(close), "{} {name} P = {P}", program.name);
        }
    }
}

/// Formula and runs of a study have the same machine, and all answers are numbers.
#[test]
fn answers_of_a_study_are_numbers() {
    let case = case(&SCATTER, "binomial", machine(64, 30, 0, 10, 1), 10);
    let answers = Study::new(case.clone()).run().unwrap();
    assert_eq!((answers.prediction.formula, answers.wrong), (answers.prediction.model, None));
    assert_eq!((answers.outcome.run.messages(), answers.phases.len()), (63, 0));
    assert!(answers.prediction.measured.is_none() && answers.outcome.run.host.is_none());

    let mut runs = 0;
    let study = Study { repeat: 3, ..Study::new(case).measured() };
    let answers = study.run_with_progress(|| runs += 1).unwrap();
    let times = answers.prediction.measured.unwrap();
    assert_eq!((runs, study.runs()), (6, 6));
    assert!(times.min <= times.median && times.median <= times.max);
    assert!(times.min >= answers.prediction.model.unwrap() && answers.outcome.run.host.is_some());

    let case = self::case(&SCATTER, "fixed", machine(4, 1, 1, 1, 1), 1);
    let refused = Study::new(case.clone().with(&ALPHA, 7.0)).run();
    assert_eq!(refused.unwrap_err().to_string(), "alpha = 7: give a ratio between 0 and 1");
    let refused = case.with_text("alpha", "seven").unwrap_err();
    assert_eq!(refused.to_string(), "alpha = seven: give a ratio between 0 and 1");
}

/// Every option is read by its own type, which refuses other values. The text of a value is read back.
#[test]
fn options_are_read_by_their_types() {
    for program in loggp_programs::PROGRAMS {
        for option in program.options {
            let case = Case::new(program, program.algorithms[0].name, machine(4, 6, 2, 4, 1));
            let name = option.name();
            for text in ["nonsense", "-1"] {
                let why = case.clone().with_text(name, text).unwrap_err().to_string();
                assert!(why.starts_with(&format!("{name} = {text}: ")), "{why}");
            }
            let is_known = |name: &&str| program.algorithm(name).is_some();
            assert!(option.info().algorithms.iter().all(is_known), "{} {name}", program.name);
            let usual = option.default().text();
            let again = case.clone().with_text(name, &usual).unwrap();
            assert_eq!(format!("{again:?}"), format!("{case:?}"), "{} {name}", program.name);
            for algorithm in program.algorithms {
                assert_eq!(
                    Case { algorithm, ..case.clone() }.check().map_err(|why| why.to_string()),
                    Ok(()),
                    "{} {name}",
                    program.name
                );
            }
        }
        let case = Case::new(program, program.algorithms[0].name, machine(4, 6, 2, 4, 1));
        let why = case.with_text("there-is-none", "1").unwrap_err().to_string();
        assert_eq!(why, format!("{} has no option there-is-none", program.name));
    }
}
