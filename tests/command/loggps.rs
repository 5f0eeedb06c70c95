//! LogGPS's parameters from round trips: exact on the virtual clock, as good as the host keeps time on the
//! wall clock, and as good as noise allows from tables. Also machines in files.

use std::fs;
use std::path::PathBuf;

use loggp::params::LogGps;
use loggp::{ClockKind, Dilation, Params, ParamsBuilder, Ports, Time, US, preset};
use loggp_programs::Emulation;
use loggp_programs::rtt::RoundTrip;
use loggp_study::calibration::{Amount, Bound};
use loggp_study::loggps::{LogGpsCalibration, RecoveredMachine};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::cases;
use crate::requests::{assert_refused, loggp, row, rows, stdout_of};

const PLATFORMS: [&str; 3] = ["cenju4", "myrinet", "fast-ethernet"];

/// Calibrates a machine on the virtual clock.
fn calibrate(params: Params) -> LogGpsCalibration {
    LogGpsCalibration::study(params, Ports::Single, &Emulation::default()).unwrap()
}

fn platform(name: &str) -> Params {
    preset(name).unwrap().builder().P(2).build().unwrap()
}

/// Returns a time of any magnitude, sometimes 0.
fn any_time(most: i64) -> impl Strategy<Value = Time> {
    prop_oneof![1 => Just(0), 2 => 0..=10_i64, 4 => 0..=most].prop_map(Time::from_ps)
}

/// Returns a machine of LogGPS on which a message of S + 64 words can be sent.
fn any_loggps() -> impl Strategy<Value = Params> {
    let times =
        (any_time(40_000_000), any_time(40_000_000), any_time(20_000), any_time(20_000), any_time(200_000));
    let length = || prop_oneof![1..=20_usize, 1..=100_000_usize];
    (times, -20_000..80_000_i64, length(), prop_oneof![1 => Just(0), 3 => length()], 1..9_usize)
        .prop_filter_map(
            "long messages would arrive before they are sent",
            |((L, o, O_s, O_r, G_s), G_l, s, more, word)| {
                let gps = LogGps { s, S: s + more, O_s, O_r, G_s, G_l: Time::from_ps(G_l) };
                let params = Params::builder(2).L(L).o(o).word(word).gps(gps).build().ok()?;
                params.longest_message().is_none_or(|longest| longest >= s + more + 64).then_some(params)
            },
        )
}

proptest! {
    #![proptest_config(cases(40))]

    /// Every parameter that round trips show is exact, and the recovered machine takes as long as the
    /// configured one for messages of any length.
    #[test]
    fn the_virtual_clock_is_calibrated_exactly(
        params in any_loggps(), lengths in prop::collection::vec(0..400_000_usize, 50), w in any_time(900_000_000),
    ) {
        // If a very negative G_l hides all time in transit within overheads, round trips show less.
        let hidden = |k: usize| {
            let trip = RoundTrip::new(&params, k);
            trip.time(Time::from_ps(1)) > trip.time(Time::ZERO)
        };
        let gps = params.gps().unwrap();
        let longest = params.longest_message().unwrap_or(1 << 24);
        prop_assume!(params.o + params.L > Time::ZERO && ![1, gps.s + 1, gps.S, gps.S + 1, longest].into_iter().any(hidden));
        let found = calibrate(params);
        for finding in &found.recovered.findings {
            let is_exact = finding.bound != Bound::Exact || finding.configured == Some(finding.found);
            prop_assert!(is_exact, "{params:?} {finding:?}");
        }
        let exact = |name| found.recovered.findings.iter().any(|f| f.parameter == name && f.bound == Bound::Exact);
        prop_assert!(["L", "o", "O_s", "O_r", "S"].into_iter().all(exact));
        for k in lengths.into_iter().filter(|k| *k <= longest) {
            let [set, got] = [&params, &found.recovered.params].map(|params| RoundTrip::new(params, k).time(w));
            prop_assert_eq!(set, got, "{} words", k);
        }
    }

    /// No input makes the reader panic, or take memory out of proportion.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "((k|w|time|L|s|o_s|o_r|g|G)(=|_us|,|\\.|-|e|[0-9]|nan| |\n){0,4}){0,30}",
    ) {
        for bytes in [&bytes[..], text.as_bytes()] {
            if let Err(refusal) = RecoveredMachine::read(bytes, builder(), US) {
                prop_assert!(!refusal.to_string().contains('\n'), "{refusal}");
            }
        }
    }
}

/// Returns a machine without known parameters.
fn builder() -> ParamsBuilder {
    Params::builder(2).word(1)
}

#[test]
fn hidden_parameters_are_not_claimed() {
    // A machine without S, on which all words cost the same.
    let params = Params::builder(2)
        .set("L=3us,o=2us,O_s=4ns,O_r=2ns,G_s=7ns,G_l=7ns,word=1")
        .unwrap()
        .build()
        .unwrap();
    let found = calibrate(params);
    let bound =
        |name| found.recovered.findings.iter().find(|finding| finding.parameter == name).unwrap().bound;
    assert_eq!(["L", "o", "G_s"].map(bound), [Bound::Exact; 3]);
    assert_eq!(["O_s", "O_r", "G_l", "s"].map(bound), [Bound::Any; 4]);
    assert_eq!(bound("S"), Bound::AtLeast);
    let k = 123_456;
    let [set, got] =
        [&params, &found.recovered.params].map(|params| RoundTrip::new(params, k).time(Time::ZERO));
    assert_eq!(set, got);
}

/// Returns a table of round trips of a machine, with relative noise up to `noise` and some much longer times.
fn table(params: &Params, seed: u64, noise: f64) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut table = String::from("# round trips\nk,w_us,time_us\n");
    let gps = params.gps().unwrap();
    let most = params.longest_message().unwrap_or(usize::MAX).min(4 * gps.S);
    let lengths = (0..=96).map(|i| most * i / 96).chain([gps.S, gps.S + 1]);
    for k in lengths {
        let trip = RoundTrip::new(params, k);
        for w in [Time::ZERO, Time::from_ps(50_000 * US.as_ps())] {
            for _ in 0..9 {
                let late = if rng.u8(..) < 20 { 10.0 * rng.f64() } else { noise * rng.f64() };
                let time = trip.time(w);
                let time = time.in_units(US) + late * (time - w).in_units(US);
                table += &format!("{k},{},{time:.4}\n", w.in_units(US));
            }
        }
    }
    table
}

/// Returns the relative errors of the times, and of s and S.
fn errors(found: &Params, set: &Params) -> Vec<(&'static str, f64)> {
    let counts = |params: &Params| [params.gps().unwrap().s as f64, params.gps().unwrap().S as f64];
    let times = set.times().zip(found.times()).filter(|((name, _), _)| *name != "g");
    let times = times.map(|((name, set), (_, found))| (name, found.in_units(set) - 1.0));
    times
        .chain(
            ["s", "S"].into_iter().zip(counts(found).into_iter().zip(counts(set)).map(|(a, b)| a / b - 1.0)),
        )
        .collect()
}

#[test]
fn a_table_without_noise_makes_the_machine() {
    for name in PLATFORMS {
        let set = platform(name);
        let found = RecoveredMachine::read(table(&set, 1, 0.0).as_bytes(), builder(), US).unwrap();
        for (parameter, error) in errors(&found.params, &set) {
            assert!(error.abs() < 0.01, "{name}: {parameter} {error}");
        }
    }
}

/// Noise makes each time up to 1% longer, and a twelfth of them many times as long.
#[test]
fn a_table_with_noise_makes_nearly_the_machine() {
    for name in PLATFORMS {
        for seed in 0..5 {
            let set = platform(name);
            let found = RecoveredMachine::read(table(&set, seed, 0.01).as_bytes(), builder(), US).unwrap();
            let (middle, worst, sample) = found.trips.unwrap().model_errors(&found.params).unwrap();
            assert!(middle < 0.005 && worst < 0.05, "{name}: {middle} {worst} {sample:?}");
            for (parameter, error) in errors(&found.params, &set) {
                // Small differences of large values: the Cenju-4's L and G_s are a thirtieth of these.
                let small = matches!((name, parameter), ("cenju4", "L" | "G_s") | ("myrinet", "L" | "G_l"));
                assert!(error.abs() < 0.1 || small, "{name}: {parameter} {error}");
            }
        }
    }
}

/// Over shared memory a message takes only its calls: a long w does not shorten the round trip after it.
#[test]
fn round_trips_of_overheads_alone_make_a_machine() {
    let mut table = String::from("k,w_us,time_us\n");
    for k in [0, 64, 256, 1024, 2048] {
        let time = 0.4 + 0.0003 * f64::from(k);
        table += &format!("{k},0,{time}\n{k},20,{}\n", 20.02 + time);
    }
    let found = RecoveredMachine::read(table.as_bytes(), builder(), US).unwrap();
    assert_eq!((found.params.L, found.params.o), (Time::ZERO, Time::from_ps(100_000)));
    let how = |name| &found.findings.iter().find(|finding| finding.parameter == name).unwrap().how;
    assert!(how("o").ends_with("overheads overlap"), "{}", how("o"));
    let (_, worst, _) = found.trips.as_ref().unwrap().model_errors(&found.params).unwrap();
    assert!(worst < 0.15, "{worst}");
}

#[test]
fn tables_that_say_too_little_are_refused() {
    for (text, why) in [
        ("0,0,10\n8,0,12\n16,0,14\n", "there is no round trip with an imbalance"),
        ("0,0,10\n8,0,12\n0,50,55\n", "only one length with an imbalance"),
        ("0,50,55\n8,50,56\n16,50,57", "measure with w = 0 too"),
        ("0,0,10\n8,0,12\n0,1,10\n8,1,12\n", "there is no round trip with an imbalance that is longer"),
    ] {
        let refusal = RecoveredMachine::read(text.as_bytes(), builder(), US).unwrap_err().to_string();
        assert!(refusal.contains(why), "{text}: {refusal}");
    }
}

#[test]
#[ignore = "closeness, and a minute on the wall clock: .ci/nightly"]
fn the_wall_clock_is_calibrated() {
    for (name, dilation) in [("cenju4", 50.0), ("myrinet", 10.0), ("fast-ethernet", 1.0)] {
        assert_calibrated(name, dilation, 2);
    }
}

/// Checks that no round trip is a tenth too early, and that the best try on time recovers the machine.
fn assert_calibrated(name: &str, dilation: f64, tries: usize) {
    let set = platform(name);
    let emulation =
        Emulation { dilation: Dilation::Fixed(dilation), ..Emulation::with_clock(ClockKind::Wall) };
    let mut worst_errors = Vec::new();
    for _ in 0..tries {
        let found = LogGpsCalibration::study(set, Ports::Single, &emulation).unwrap();
        // A reading subtracts far less than a tenth for the host's own time.
        for trip in found.recovered.trips.as_ref().unwrap().samples().filter(|trip| trip.doubt.is_some()) {
            let least = RoundTrip::new(&set, trip.k).time(trip.w) * 9 / 10;
            assert!(trip.time >= least, "{name}: {trip:?} came too early");
        }
        if !found.is_on_time() {
            continue;
        }
        let S = set.gps().unwrap().S;
        let error = |k: usize, w: Time| {
            let [set, found] =
                [&set, &found.recovered.params].map(|params| RoundTrip::new(params, k).time(w));
            ((found - w).in_units(set - w) - 1.0).abs()
        };
        let lengths = [0, 100, S / 2, S, S + 1, 2 * S];
        let long = RoundTrip::new(&set, 2 * S).time(Time::ZERO);
        let errors = lengths.into_iter().flat_map(|k| [error(k, Time::ZERO), error(k, long)]);
        worst_errors.push(errors.fold(0.0, f64::max));
        if worst_errors.last().is_some_and(|worst| *worst < 0.01) {
            break;
        }
    }
    let best = worst_errors.iter().copied().reduce(f64::min);
    assert!(best.is_none_or(|best| best < 0.05), "{name}: {worst_errors:?}");
}

#[test]
fn machines_that_round_trips_do_not_show_are_refused() {
    let refusal = |params: ParamsBuilder| {
        let refused = LogGpsCalibration::study(params.build().unwrap(), Ports::Single, &Emulation::default());
        refused.unwrap_err().to_string()
    };
    let myrinet = || preset("myrinet").unwrap().builder();
    assert!(refusal(myrinet().P(1)).contains("at least 2"));
    assert!(refusal(myrinet().g(14 * US)).contains("give g of at most 2o = 13.1 us"));
    assert!(refusal(preset("cm5").unwrap().builder()).contains("give --find loggp"));
    let all = preset("myrinet").unwrap().builder().set("s=0,S=0").unwrap();
    assert!(refusal(all).contains("all messages but the shortest wait for their receiver"));
}

/// Writes a file, and returns its path.
fn write_file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn calibrate_finds_and_draws_table_5() {
    let plot = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("round-trips.svg");
    for name in PLATFORMS {
        let line = format!("calibrate --find loggps --machine {name} --clock virtual");
        let table = stdout_of(&format!("{line} -o {}", plot.display()));
        assert_eq!(table.matches("+0.00%  ").count(), 8, "{table}");
        assert!(table.contains("all within 0.00%"), "{table}");
        let svg = fs::read_to_string(&plot).unwrap();
        for text in [
            &format!("Round trips of {name}"),
            "by the model (LogGPS, figure 4)",
            "measured (LogGPS, figure 5)",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        let csv = stdout_of(&format!("{line} --format csv"));
        assert_eq!(csv.lines().count(), 9);
    }
}

/// The output is a machine for every other command.
#[test]
fn a_recovered_machine_works_in_every_command() {
    let json = stdout_of("calibrate --find loggps --machine myrinet -P 4 --clock virtual --format json");
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.lines().count(), 1);
    assert_eq!((&found["params"]["G_l"], &found["findings"][0]["recovered"]), (&json!(-740), &json!(1160)));
    let path = write_file("my-machine.json", &json);
    for line in [
        "run broadcast",
        "run rtt --size 20000",
        "compare scatter --clock virtual",
        "stress bursts --clock virtual",
    ] {
        let rows = |machine: &str| stdout_of(&format!("{line} --machine {machine} -P 2 --format json"));
        assert_eq!(rows(&path).lines().count(), rows("myrinet").lines().count());
        assert_eq!(rows(&path), rows("myrinet"), "its name and its numbers are the same");
    }
    let swept = stdout_of(&format!("sweep rtt --machine {path} --over size=0..40000:5 --format csv"));
    assert_eq!(swept.lines().count(), 6);
    let again =
        stdout_of(&format!("calibrate --find loggps --machine {path} -P 4 --clock virtual --format json"));
    assert_eq!(again, json);
}

#[test]
fn a_table_of_round_trips_makes_a_machine() {
    let set = platform("fast-ethernet");
    let path = write_file("rtt.csv", &table(&set, 3, 0.0));
    let json = stdout_of(&format!("calibrate --from {path} -P 16 --format json"));
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&found["params"]["P"], &found["params"]["S"]), (&json!(16), &json!(16383)));
    let machine = write_file("ethernet.json", &json);
    let heading = stdout_of(&format!("run rtt --machine {machine}"));
    assert!(heading.starts_with("rtt on ethernet: L = 35"), "{heading}");
    let table = stdout_of(&format!("calibrate --from {path} --find loggps"));
    assert!(table.contains("\n196 round trips of 98 lengths, times in ns\n"), "{table}");
    assert!(!table.contains("configured"), "{table}");
}

#[test]
fn netgauge_output_makes_a_machine() {
    let line = "L=0.6128 s=1025 o_s=0.458 o_r=1.163 g=0.448 G=0.000583";
    let path = write_file("netgauge.txt", &format!("Testing 1025 bytes 50 times:\n {line} (13.4 GiB/s)\n"));
    let json = stdout_of(&format!("calibrate --from {path} -P 4 --format json"));
    let machine = write_file("netgauge.json", &json);
    let run = row(&format!("run broadcast --machine {machine}"));
    let expected = json!({"L": 0, "o": 511_713, "g": 448_000, "G": 583, "P": 4, "word": 1});
    assert_eq!(run["params"], expected);
    assert_eq!(run["formula_ns"], run["model_ns"]);
}

#[test]
fn every_machine_is_listed_as_json() {
    let machines = rows("machines");
    let machine = |name: &str| machines.iter().find(|machine| machine["machine"] == name).unwrap();
    assert_eq!(machine("cs2-elan")["params"]["G"], 92_000);
    assert_eq!(
        (&machine("cm5")["params"]["G"], &machine("ncube2")["params"]["g"]),
        (&Value::Null, &Value::Null)
    );
    assert!(machine("ncube2")["sources"]["g"].as_str().unwrap().contains("LogP, section 5.2"));
    // Each listed machine, read from a file, takes as long as the built-in one.
    for machine in &machines {
        let name = machine["machine"].as_str().unwrap();
        let path = write_file(&format!("listed-{name}.json"), &machine.to_string());
        let time = |machine: &str| {
            stdout_of(&format!("run broadcast --machine {machine} --params g=30us -P 5 --format json"))
        };
        assert_eq!(time(&path), time(name));
    }
    // A machine's name precedes a file of that name.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join("cm5"), "nonsense").unwrap();
    let output = loggp("run broadcast --machine cm5").current_dir(&folder).output();
    assert!(output.unwrap().status.success());
}

#[test]
fn wrong_machines_and_tables_are_refused_in_a_sentence() {
    let open = write_file("open.json", "{\"params\": {\"L\": \"6us\", \"o\": \"2us\"}}");
    let broken = write_file("broken.json", "{\"params\": {\"L\": \n6us}}");
    let few = write_file("few.csv", "k,w,time\n0,0,1\n");
    let gauge = write_file("gauge.txt", "L=1 s=1 o_s=1 o_r=1 g=1 G=1\n");
    let folder = env!("CARGO_TARGET_TMPDIR");
    assert_refused(&[
        (format!("run broadcast --machine {open}"), "open.json leaves g open; give a value, as in g=4us"),
        (
            format!("run broadcast --machine {broken}"),
            "it is no JSON: `,` or `}` is missing, at line 2 column 2",
        ),
        (format!("run broadcast --machine {folder}"), "it cannot be read: "),
        (format!("calibrate --from {few}"), "there is no round trip with an imbalance"),
        (format!("calibrate --from {few} --machine cm5"), "leave it out"),
        (format!("calibrate --from {few} --find loggp"), "leave out --find loggp"),
        (format!("calibrate --from {gauge} -o x.svg"), "-o FILE.svg draws round trips"),
    ]);
}

/// Findings are numbers.
#[test]
fn findings_have_numbers() {
    let found = calibrate(platform("cenju4"));
    let S = found.recovered.findings.last().unwrap();
    assert_eq!((S.parameter, S.configured, S.found), ("S", Some(Amount::Words(1028)), Amount::Words(1028)));
    assert_eq!((S.difference(), S.error()), (Some(Amount::Words(0)), Some(0.0)));
}
