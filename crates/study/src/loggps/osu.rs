//! The output of OSU's micro-benchmarks, and the machine that it describes.
//!
//! Each test prints two columns below a line with its name, such as `# OSU MPI Latency Test v7.3`; a file may
//! have several tests:
//!
//! - **osu_latency**: bytes, and half of a round trip in microseconds;
//! - **osu_bw**: bytes, and megabytes per second of 64 messages in a row, of which the last is answered;
//! - **osu_bibw**: the same with both sides sending. If that is much more than osu_bw's, each direction has a
//!   port.
//!
//! A search finds the parameters that explain the times (`real::fit`). No call is timed by itself, so that o
//! and L are not found separately: o is as much of half a round trip as the time per message in a row allows.
//! Messages above S in a row do not wait for one another, as those of a program do, and are not used.

use loggp::params::LogGps;
use loggp::{Params, ParamsBuilder, Ports, Time};
use loggp_programs::{Refusal, refuse};

use super::RecoveredMachine;
use super::line::NoiseBound;
use super::round_trips::{RoundTripSample, RoundTripSamples};
use crate::calibration::{Amount, Bound, Finding};
use crate::real::{CALL, FLOOD, MeasuredPoint, WAY, find_agreement_jump, fit};

/// Tests that are read: the text in their title line, and the index of their columns. A title with a longer
/// text comes first.
const TESTS: [(&str, usize); 4] = [
    ("Bi-Directional Bandwidth Test", BIBW),
    ("Bidirectional Bandwidth Test", BIBW),
    ("Bandwidth Test", BW),
    ("Latency Test", LATENCY),
];
const LATENCY: usize = 0;
const BW: usize = 1;
const BIBW: usize = 2;
/// Number of messages in a row.
const WINDOW: usize = 64;
/// Bound of times and lengths.
const MOST: f64 = 4e9;

/// The two columns of a test: a length in bytes, and the test's value.
type TestColumns = Vec<(usize, f64)>;

/// Reads a machine from the output of OSU's tests; the builder has the rest. Returns `None` if there is no title
/// line.
pub(super) fn read(text: &[u8], builder: ParamsBuilder) -> Option<Result<RecoveredMachine, Refusal>> {
    let text = String::from_utf8_lossy(text);
    text.lines().any(is_title).then(|| machine(parse_columns(&text)?, builder))
}

fn is_title(line: &str) -> bool {
    line.starts_with("# OSU MPI ")
}

/// Parses the columns of the three tests.
fn parse_columns(text: &str) -> Result<[TestColumns; 3], Refusal> {
    let (mut tests, mut test) = ([const { Vec::new() }; 3], None);
    for (line, number) in text.lines().zip(1..) {
        if is_title(line) {
            match TESTS.iter().find(|(name, _)| line.contains(&format!("MPI {name}"))) {
                Some((_, which)) => test = Some(*which),
                None => {
                    refuse!("line {number}: this test is not read; give osu_latency, osu_bw and osu_bibw")
                }
            }
        }
        let Some(test) = test.filter(|_| !line.starts_with('#') && !line.trim().is_empty()) else { continue };
        let mut words = line.split_whitespace();
        match (words.next().map(str::parse), words.next().map(str::parse)) {
            (Some(Ok(0)), _) => (), // an empty message shows no time per byte
            (Some(Ok(bytes)), Some(Ok(value))) if 0.0 < value && value < MOST && (bytes as f64) < MOST => {
                tests[test].push((bytes, value));
            }
            _ => refuse!("line {number}: there are no two columns of numbers, as OSU's tests print them"),
        }
    }
    for column in &mut tests {
        column.sort_by_key(|(bytes, _)| *bytes);
        column.dedup_by_key(|(bytes, _)| *bytes);
    }
    Ok(tests)
}

/// Derives the machine; the builder has the rest.
fn machine(
    [latency, bw, bibw]: [TestColumns; 3],
    builder: ParamsBuilder,
) -> Result<RecoveredMachine, Refusal> {
    for (test, column, shows) in [("osu_latency", &latency, "L and o"), ("osu_bw", &bw, "g")] {
        if column.len() < 3 {
            refuse!("there are no three lengths of {test}, which shows {shows}; add what it prints");
        }
    }
    let rate = |bytes: usize| bw.iter().find(|(other, _)| *other == bytes).map(|(_, rate)| *rate);
    let ways: TestColumns = latency.iter().map(|(bytes, us)| (*bytes, us * 1e3)).collect();
    let waits = find_agreement_jump(&ways);
    let S = waits.map_or(Params::NO_LIMIT, |(_, last, _)| last.0);
    let point = |&(k, way): &(usize, f64)| {
        let flood = rate(k).filter(|_| k <= S).map_or(f64::NAN, |rate| k as f64 / rate * 1e3);
        let mut times = [f64::NAN; 4];
        (times[WAY], times[FLOOD], times[CALL]) = (way, flood, flood.min(way / 2.0));
        MeasuredPoint { k, messages: WINDOW, times }
    };
    let points: Vec<MeasuredPoint> = ways.iter().map(point).collect();
    if !points[0].times[FLOOD].is_finite() {
        refuse!("osu_bw has no message as short as osu_latency's shortest; let both begin with 1 byte");
    }
    let params = fit(&points, S).set(builder).build();
    let params = params.map_err(|why| format!("what these times show is no machine: {why}"))?;
    // The longest messages show best whether directions share a port.
    let both = bibw.iter().rev().find_map(|(bytes, both)| Some(both / rate(*bytes)?));
    let ports = both.map(|ratio| if ratio > 1.5 { Ports::Dual } else { Ports::Single });
    let mut trips = RoundTripSamples::new(NoiseBound { absolute: 0.0, relative: 0.05 });
    for (k, way) in ways {
        let time = Time::from_ps((way * 2e3).round() as i64);
        trips.add(RoundTripSample { k, w: Time::ZERO, time, doubt: None });
    }
    let findings = findings(&params, waits.map(|(_, last, first)| (last.0, first)));
    Ok(RecoveredMachine { params, findings, trips: Some(trips), ports })
}

/// Returns how each parameter was found.
fn findings(params: &Params, jump: Option<(usize, usize)>) -> Vec<Finding<'static>> {
    const BEST: &str = "what explains all times best";
    let time = |(name, time): (&'static str, Time)| {
        let (bound, how) = match name {
            "L" => (Bound::AtLeast, "half a round trip of the shortest message, less 2o"),
            "o" => (Bound::AtMost, "a message in a row takes no less, nor does half of half a round trip"),
            "g" => (Bound::Exact, "what a short message in a row takes"),
            "R" => (
                Bound::Exact,
                "what messages above S take longer than their bytes, the request and the reply",
            ),
            _ => (Bound::Exact, BEST),
        };
        Finding::new(name, Amount::Time(time), bound, how)
    };
    let LogGps { s, S, .. } = params.gps().expect("it is one of LogGPS");
    let mut findings: Vec<Finding> = params.times().map(time).collect();
    findings.push(Finding::new("s", Amount::Words(s as i64), Bound::Exact, BEST));
    let S = Amount::Words(S as i64);
    findings.push(match jump {
        Some((last, first)) => {
            let how = format!("half a round trip jumps between {last} and {first} bytes");
            Finding::new("S", S, Bound::Exact, how)
        }
        None => Finding::new("S", S, Bound::Any, "half a round trip does not jump"),
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the tests' output for a time of a message, a time per message in a row, and the ratio of
    /// osu_bibw to osu_bw.
    fn printed(way: impl Fn(f64) -> f64, row: impl Fn(f64) -> f64, directions: f64) -> String {
        let sizes = || (0..=22).map(|i| 1_u32 << i);
        let mut text = String::from(
            "# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n",
        );
        sizes().for_each(|k| text += &format!("{k:<10} {:14.3}\n", way(k.into())));
        text += "\n# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n";
        sizes().for_each(|k| text += &format!("{k:<10} {:14.3}\n", f64::from(k) / row(k.into())));
        text += "# OSU MPI Bi-Directional Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n";
        sizes()
            .for_each(|k| text += &format!("{k:<10} {:14.3}\n", directions * f64::from(k) / row(k.into())));
        text
    }

    fn machine(text: &str) -> Result<RecoveredMachine, Refusal> {
        read(text.as_bytes(), Params::builder(2).word(1)).unwrap()
    }

    #[test]
    fn osu_columns_make_a_machine() {
        // A network: a byte in 0.1 ns, and messages above 8 KiB cost a request, a reply and 0.4 us more.
        let way = |k: f64| 1.5 + 0.0001 * k + if k > 8192.0 { 3.4 } else { 0.0 };
        let row = |k: f64| (63.0 * (0.3 + 0.0001 * k) + way(k) + way(0.0)) / 64.0;
        for (directions, ports) in [(1.9, Ports::Dual), (1.02, Ports::Single)] {
            let found = machine(&printed(way, row, directions)).unwrap();
            let params = found.params;
            assert_eq!((found.ports, params.gps().unwrap().S), (Some(ports), 8192));
            let (middle, worst, _) = found.trips.unwrap().model_errors(&params).unwrap();
            assert!(middle < 0.02 && worst < 0.2, "{middle}, {worst}: {params:?}");
            let around = |time: Time, ns: f64| (time.as_ns() / ns - 1.0).abs() < 0.1;
            assert!(around(2 * params.o + params.L, 1500.0) && around(params.g, 300.0), "{params:?}");
        }
    }

    #[test]
    fn invalid_osu_output_is_refused_in_a_sentence() {
        let way = |k: f64| 1.0 + k / 1e3;
        let all = printed(way, way, 1.0);
        let part = |from: usize| {
            all.split("# OSU").skip(from).take(1).map(|test| format!("# OSU{test}")).collect::<String>()
        };
        for (text, why) in [
            (part(1), "there are no three lengths of osu_bw, which shows g; add what it prints"),
            (part(2), "there are no three lengths of osu_latency, which shows L and o; add what it prints"),
            ("# OSU MPI Broadcast Latency Test\n1 2\n".into(), "line 1: this test is not read"),
            ("# OSU MPI Latency Test\n1 fast\n".into(), "line 2: there are no two columns of numbers"),
        ] {
            let refusal = machine(&text).unwrap_err().to_string();
            assert!(refusal.starts_with(why), "{refusal}");
        }
    }
}
