//! Calibration recovers the parameters of a machine: exactly on the virtual clock, and on the wall clock as
//! well as the host keeps time.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggp::{ClockKind, Dilation, NS, Params, Ports, Time, preset};
use loggp_programs::Emulation;
use loggp_study::calibration::{Amount, Bound, Calibration};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::busy::BusyCores;
use crate::cases::cases;
use crate::requests::{answer, row, rows};

/// Calibrates a machine on the virtual clock.
fn calibrate(params: Params, ports: Ports) -> Calibration {
    Calibration::study(params, ports, &Emulation::default()).unwrap()
}

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    let ps = Time::from_ps;
    Params::builder(P).L(ps(L)).o(ps(o)).g(ps(g)).G(ps(G)).build().unwrap()
}

/// Returns a time of any magnitude in ps, sometimes 0.
fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![1 => Just(0), 3 => 1..=40_i64, 3 => 1..=100_000_i64, 3 => 1..=100_000_000_i64]
}

fn any_ports() -> impl Strategy<Value = Ports> {
    prop_oneof![Just(Ports::Single), Just(Ports::Dual)]
}

proptest! {
    #![proptest_config(cases(300))]

    /// Every parameter is exact for any machine with g >= o. With L = 0 a message is in transit while its
    /// words are streamed. If that takes no time, or too little for any message, only a lower bound of the
    /// capacity can be measured.
    #[test]
    fn the_virtual_clock_is_calibrated_exactly(
        P in 2..6_usize, L in any_time(), o in any_time(), more in any_time(), G in any_time(),
        ports in any_ports(),
    ) {
        // g is at least a hundredth of L, so that the capacity can be counted.
        let g = (o + more).max(L / 100);
        let params = params(P, L, o, g, G);
        let found = calibrate(params, ports);
        let ps = Time::from_ps;
        let values = (found.o.value, found.g.value, found.L.value, found.G.value);
        prop_assert_eq!(values, (ps(o), ps(g), ps(L), ps(G)));
        match params.capacity() {
            Some(C) if L > 0 || o + g < 10_000_000 * G => {
                prop_assert_eq!((found.C.value, found.C.bound), (C, Bound::Exact), "{}", found.C.how);
            }
            Some(C) if found.C.bound == Bound::Exact => prop_assert_eq!(found.C.value, C),
            C => {
                prop_assert_eq!(found.C.bound, Bound::AtLeast);
                prop_assert!(C.is_none_or(|C| C >= found.C.value));
            }
        }
    }

    /// If o is longer than g, long messages show g and C; without them there are bounds for both, which hold.
    #[test]
    fn a_hidden_parameter_has_a_bound(
        L in any_time(), g in any_time(), more in 1..=1_000_000_i64, G in any_time(),
    ) {
        let g = g.max(L / 100);
        let params = params(3, L, g + more, g, G);
        let found = calibrate(params, Ports::Single);
        prop_assert_eq!((found.o.value, found.L.value, found.G.value), (params.o, params.L, params.G().unwrap()));
        match found.g.bound {
            Bound::Exact => prop_assert_eq!(found.g.value, params.g),
            Bound::AtMost => prop_assert!(params.g <= found.g.value),
            Bound::AtLeast | Bound::Any => prop_assert!(false),
        }
        prop_assert!(G == 0 || found.g.bound == Bound::Exact || params.o > 100_000 * params.G().unwrap());
        match found.C.bound {
            Bound::Exact => prop_assert_eq!(Some(found.C.value), params.capacity()),
            Bound::AtLeast => prop_assert!(params.capacity().is_none_or(|C| C >= found.C.value)),
            Bound::AtMost | Bound::Any => prop_assert!(false),
        }
    }
}

#[test]
fn the_signature_has_the_two_plateaus_of_the_papers() {
    let params = preset("cs2-splitc").unwrap().builder().P(2).build().unwrap();
    for series in calibrate(params, Ports::Single).signature {
        for (M, t) in series.bursts {
            let further = (M as i64 - 1) * params.g.max(params.o + series.pause);
            assert_eq!(t, params.o + further + series.pause, "M = {M}, pause = {}", series.pause);
        }
    }
}

#[test]
fn a_machine_without_a_gap_has_only_a_bound_for_its_capacity() {
    let found = calibrate(params(2, 6_000_000, 2_000_000, 0, 10_000), Ports::Single);
    assert_eq!((found.g.value, found.g.bound), (Time::ZERO, Bound::Exact));
    assert_eq!(found.C.bound, Bound::AtLeast);
    assert!(found.C.value > 1000);
}

#[test]
fn a_finding_has_its_difference_from_the_configured_value() {
    let found = calibrate(params(2, 6_000_000, 4_000_000, 2_000_000, 0), Ports::Single);
    let [o, g, .., C] = found.findings();
    assert_eq!((o.difference(), o.error()), (Some(Amount::Time(Time::ZERO)), Some(0.0)));
    // A bound has no difference.
    assert_eq!((g.bound, g.difference(), g.error()), (Bound::AtMost, None, None));
    assert_eq!((C.parameter, C.configured), ("C", Some(Amount::Count(3))));
}

#[test]
fn a_loggps_machine_is_refused() {
    let cenju4 = preset("cenju4").unwrap().builder().build().unwrap();
    let refusal = |params| {
        let refused = Calibration::study(params, Ports::Single, &Emulation::default());
        refused.unwrap_err().to_string()
    };
    assert!(refusal(cenju4).contains("LogGPS"));
    assert!(refusal(params(1, 1, 1, 1, 1)).contains("at least 2"));
}

#[test]
fn calibration_on_the_wall_clock_has_its_dilation() {
    assert_eq!(calibrate_on_wall_clock(params(2, 6_000_000, 2_000_000, 4_000_000, 0), 2.0).dilation, 2.0);
}

/// Values that are exact and on time are within 2% or 50 ns, and those of a stretched machine in its own time.
#[test]
#[ignore = "closeness: .ci/nightly"]
fn the_wall_clock_is_calibrated_closely() {
    for (name, dilation) in [("cs2-elan", 1.0), ("cs2-splitc", 1.0), ("cm5", 1.0), ("cm5", 2.0)] {
        let params = preset(name).unwrap().builder().P(2).build().unwrap();
        let found = calibrate_on_wall_clock(params, dilation);
        let Calibration { o, g, L, G, C, .. } = &found;
        let G_set = params.G().unwrap();
        for (found, set, noise) in
            [(o, params.o, 50 * NS), (g, params.g, 50 * NS), (L, params.L, 50 * NS), (G, G_set, NS)]
        {
            let off = (found.value - set).max(set - found.value);
            let near = off <= Time::from_ps(set.as_ps() / 50).max(noise);
            assert!(!found.on_time || near || found.bound != Bound::Exact, "{found:?} {params:?}");
        }
        assert!(!C.on_time || C.bound != Bound::Exact || Some(C.value) == params.capacity(), "{C:?}");
    }
}

/// Locks out other measurements, which would need the same cores.
fn lock_cores() -> MutexGuard<'static, ()> {
    static CORES: Mutex<()> = Mutex::new(());
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calibrates a machine on the wall clock.
fn calibrate_on_wall_clock(params: Params, dilation: f64) -> Calibration {
    let _alone = lock_cores();
    let emulation =
        Emulation { dilation: Dilation::Fixed(dilation), ..Emulation::with_clock(ClockKind::Wall) };
    Calibration::study(params, Ports::Single, &emulation).unwrap()
}

/// Calibrates by the command while every core is busy. Checks that it reports the parameters that are marked
/// as late, and returns the others.
fn calibrate_on_busy_cores(line: &str) -> Vec<Value> {
    let (_alone, _busy) = (lock_cores(), BusyCores::start());
    let (status, out, err) = answer(&format!("{line} --format json"));
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 5, "{err}");
    let (timely, late): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(|row| row["held"] == true);
    assert!(late.iter().all(|row| row["held"] == false), "{late:?}");
    let late: Vec<&str> = late.iter().map(|row| row["parameter"].as_str().unwrap()).collect();
    if late.is_empty() {
        assert_eq!((status, err.as_str()), (Some(0), ""));
    } else {
        assert_eq!(status, Some(1));
        let expected =
            format!("error: {} could not be measured: this computer was late too often; ", late.join(", "));
        assert!(err.starts_with(&expected) && err.lines().count() == 1, "{err}");
    }
    timely
}

#[test]
fn calibration_on_a_busy_computer_reports_what_was_late() {
    calibrate_on_busy_cores("calibrate --machine cm5 --dilation 1");
}

#[test]
#[ignore = "closeness: .ci/nightly"]
fn calibration_on_a_busy_computer_is_close_or_marked_late() {
    for line in [
        "calibrate --machine cm5 --dilation 1",
        "calibrate --machine cm5",
        "calibrate --machine cs2-elan --dilation 3",
        "calibrate --params L=20,o=2,g=4,G=0 --dilation 1",
    ] {
        for row in calibrate_on_busy_cores(line) {
            // A parameter of 0 has no relative error, and is found to 1 ns.
            let near = match row["error"].as_f64() {
                Some(error) => error.abs() <= 0.02,
                None => row["configured"] == 0 && row["difference"].as_f64().unwrap().abs() <= 1.0,
            };
            assert!(near, "{row}");
        }
    }
}

/// No computer is fast enough for this dilation.
#[test]
fn a_late_parameter_is_marked_in_every_format() {
    let _alone = lock_cores();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let [svg, csv, json] = ["late.svg", "late.csv", "late.json"].map(|name| folder.join(name));
    let files = [&svg, &csv, &json].map(|file| format!("-o {}", file.display())).join(" ");
    let (status, table, err) = answer(&format!("calibrate --machine cm5 --dilation 0.0001 {files}"));
    assert_eq!((status, svg.exists()), (Some(1), false));
    assert!(err.starts_with("error: o, g, L, G, C could not be measured: this computer was late"), "{err}");
    assert_eq!(table.matches("  late  ").count(), 5, "{table}");
    assert!(
        table
            .ends_with("\nlate: this computer was late too often to measure it, so do not trust its value\n")
    );
    let csv = fs::read_to_string(csv).unwrap();
    let place = csv.lines().next().unwrap().split(',').rev().position(|title| title == "held").unwrap();
    assert!(csv.lines().skip(1).all(|line| line.split(',').rev().nth(place) == Some("false")), "{csv}");
    let json = fs::read_to_string(json).unwrap();
    let held = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["held"].clone());
    assert_eq!(held.collect::<Vec<_>>(), [(); 5].map(|()| json!(false)));
}

#[test]
fn calibrate_has_a_row_for_every_parameter() {
    let rows = rows("calibrate --machine cm5 --clock virtual");
    let names: Vec<&str> = rows.iter().map(|row| row["parameter"].as_str().unwrap()).collect();
    assert_eq!(names, ["o", "g", "L", "G", "C"]);
    for row in rows {
        assert_eq!((&row["configured"], &row["difference"]), (&row["recovered"], &json!(0)), "{row}");
        assert_eq!((&row["bound"], &row["held"]), (&json!("exact"), &Value::Null));
    }
    let (_, table, _) = answer("calibrate --machine cs2-splitc --clock virtual");
    assert!(
        table.lines().nth(4).unwrap().starts_with("o                1.70       1.70        0.00  +0.00%"),
        "{table}"
    );
    let (_, csv, _) = answer("calibrate --machine cm5 --clock virtual --format csv");
    assert_eq!(csv.lines().count(), 6);
}

#[test]
fn calibrate_shows_the_bound_of_a_hidden_parameter() {
    let (status, table, _) = answer("calibrate --params L=6,o=4,g=2,G=0 --clock virtual");
    assert_eq!(status, Some(0));
    assert!(table.contains("<= 4") && table.contains("o hides a shorter g"), "{table}");
}

#[test]
fn calibrate_draws_the_signature() {
    let plot = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("signature.svg");
    let (status, ..) = answer(&format!("calibrate --machine cs2-elan --clock virtual -o {}", plot.display()));
    assert_eq!(status, Some(0));
    let svg = fs::read_to_string(plot).unwrap();
    for text in ["LogP signature of cs2-elan", "time per message [us]", "g = 13.8 us", "o = 3.8 us"] {
        assert!(svg.contains(text), "{text}");
    }
}

/// The sample beside `rtt.c`: Open MPI sends up to 4,096 bytes, headers included, without a handshake.
#[test]
fn round_trips_of_a_c_program_make_a_machine() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/rtt.csv");
    let machine = row(&format!("calibrate --from {table} -P 2"));
    assert_eq!(machine["params"]["S"], 3840, "{machine}");
}
