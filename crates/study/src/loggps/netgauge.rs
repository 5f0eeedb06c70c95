//! The output of Netgauge's pattern `loggp`, and the machine that it describes.
//!
//! Netgauge (Hoefler, Mehlan, Lumsdaine and Rehm) sends bursts of n messages, of growing sizes, and measures
//! the time until the answer. After each size it prints a line of its results so far, in microseconds and
//! bytes:
//!
//! > `L=0.6128 s=1025 o_s=0.458 o_r=1.163 g=0.448 G=0.000583 (..) lsqu(g,G)=..`
//!
//! - **L** is half of a round trip of the shortest message. It includes both overheads, which are subtracted;
//! - **o_s** and **o_r** are the overheads of messages of **s** bytes. A call that copies its message takes
//!   longer for each byte;
//! - **g** and **G** are the line g + sG through the times per message of a burst, over all sizes since the
//!   protocol last changed. After `we detected a protocol change at .. bytes`, the next line is the last one
//!   of the old protocol.
//!
//! So the overheads over s make lines, and their slopes are O_s and O_r. G also has the bytes' time in the
//! calls, so O_s and O_r are subtracted from it to give G_s before the first change and G_l after it; s is
//! the size of the first change. S does not show. A single size makes no line: the result is then a machine
//! of LogGP, whose G has the bytes, and o is the rest of the calls.

use loggp::params::LogGps;
use loggp::{Params, ParamsBuilder, Time};
use loggp_model::text::escaped;
use loggp_programs::{Refusal, refuse};

use super::RecoveredMachine;
use super::line::FittedLine;
use crate::calibration::{Amount, Bound, Finding};

/// A line of Netgauge's output, in bytes and microseconds; values that are not known yet are NaN.
#[derive(Clone, Copy, Debug)]
struct NetgaugeLine {
    s: f64,
    L: f64,
    o_s: f64,
    o_r: f64,
    g: f64,
    G: f64,
    /// Size at which Netgauge saw a change of the protocol before this line.
    change: Option<f64>,
}

/// Largest number that is accepted.
const MOST: f64 = 1e9;

/// Reads a machine from Netgauge's lines among other output; the builder has the rest. Returns `None` if there
/// are no such lines.
pub(super) fn read(text: &[u8], builder: ParamsBuilder) -> Option<Result<RecoveredMachine, Refusal>> {
    let text = String::from_utf8_lossy(text);
    let (mut lines, mut change) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        change = protocol_change(line).or(change);
        match parse_line(line) {
            Some(Ok(line)) => lines.push(NetgaugeLine { change: change.take(), ..line }),
            Some(Err(why)) => return Some(Err(format!("line {}: {why}", number + 1).into())),
            None => (),
        }
    }
    (!lines.is_empty()).then(|| machine(&lines, builder))
}

/// Returns the size at which a line reports a change of the protocol.
fn protocol_change(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("protocol change at ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Parses a line of parameters; `None` if it is none.
fn parse_line(line: &str) -> Option<Result<NetgaugeLine, String>> {
    let values = || line.split_whitespace().filter_map(|part| part.split_once('='));
    let text = |name: &str| values().find(|(other, _)| *other == name).map(|(_, value)| value);
    let number = |name: &str| {
        let text = text(name).unwrap_or("nan");
        match text.parse::<f64>() {
            Ok(number) if !number.is_finite() || number.abs() <= MOST => Ok(number),
            _ => Err(format!(
                "{name}={} is not a number of microseconds; Netgauge prints such as {name}=0.6128",
                escaped(text)
            )),
        }
    };
    let read = || {
        let (L, s, o_s, o_r) = (number("L")?, number("s")?, number("o_s")?, number("o_r")?);
        let (g, G) = (number("g")?, number("G")?);
        match [L, o_s, o_r].iter().all(|value| value.is_finite()) && s >= 0.0 {
            true => Ok(NetgaugeLine { s, L, o_s, o_r, g, G, change: None }),
            false => Err("L, s, o_s and o_r must be numbers".into()),
        }
    };
    ["L", "s", "o_s", "o_r"].into_iter().all(|name| text(name).is_some()).then(read)
}

/// Derives the machine of at least one line; the builder has the rest.
fn machine(lines: &[NetgaugeLine], builder: ParamsBuilder) -> Result<RecoveredMachine, Refusal> {
    // After a change the next line is the last one of the old protocol.
    let is_fit = |line: &&NetgaugeLine| line.g.is_finite() && line.G.is_finite();
    let Some(last) = lines.iter().rfind(is_fit) else {
        refuse!("Netgauge has not measured enough sizes to print g and G; let it go on");
    };
    let first = lines.iter().filter(is_fit).find(|line| line.change.is_some()).unwrap_or(last);
    let us = |value: f64| Time::from_ps((value.max(0.0) * 1e6).round() as i64);
    let over = |value: fn(&NetgaugeLine) -> f64| {
        let points: Vec<_> = lines.iter().map(|line| (line.s, value(line))).collect();
        let line = FittedLine::through(&points);
        FittedLine { slope: line.slope.max(0.0), ..line }
    };
    let (sender, receiver) = (over(|line| line.o_s), over(|line| line.o_r));
    let sizes = lines.windows(2).any(|pair| pair[0].s != pair[1].s);
    // G includes the bytes' time in the calls, which is not under way.
    let copied = if sizes { sender.slope + receiver.slope } else { 0.0 };
    let both = match sizes {
        true => sender.at_zero.max(0.0) + receiver.at_zero.max(0.0),
        false => (lines[0].o_s + lines[0].o_r - lines[0].s * first.G.max(0.0)).max(0.0),
    };
    let (L, o, g) = (us(lines[0].L - both), us(both / 2.0), us(first.g));
    let (O_s, O_r) = (us(sender.slope), us(receiver.slope));
    let [G_s, G_l] = [first, last].map(|line| us(line.G - copied));
    let s = first.change.map_or(Params::NO_LIMIT, |size| size as usize);
    let builder = builder.L(L).o(o).g(g);
    let builder = match sizes {
        true => builder.gps(LogGps { s, S: Params::NO_LIMIT, O_s, O_r, G_s, G_l }),
        false => builder.G(G_s),
    };
    let params = builder.build().map_err(|why| format!("what Netgauge found is no machine: {why}"))?;

    let from = |what: &str| format!("{what} over s, in {} lines", lines.len());
    let found = |parameter, amount, how: &str| Finding::new(parameter, amount, Bound::Exact, how.to_string());
    let time = |parameter, time: Time, how: &str| found(parameter, Amount::Time(time), how);
    let mut findings = vec![
        time("L", L, "Netgauge's L, half of a round trip, less both overheads"),
        time("o", o, "the middle of o_s and o_r, less what their bytes take"),
        time("g", g, "Netgauge's g"),
    ];
    match sizes {
        false => findings.push(time("G", G_s, "Netgauge's G")),
        true => findings.extend([
            time("O_s", O_s, &from("the slope of o_s")),
            time("O_r", O_r, &from("the slope of o_r")),
            time("G_s", G_s, "Netgauge's G, less O_s and O_r"),
        ]),
    }
    if sizes && let Some(change) = first.change {
        findings.push(time("G_l", G_l, "the same of the last protocol"));
        findings.push(found("s", Amount::Words(change as i64), "where Netgauge saw a protocol change"));
    }
    Ok(RecoveredMachine { params, findings, trips: None, ports: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{NS, PS};

    fn machine(text: &str) -> RecoveredMachine {
        read(text.as_bytes(), Params::builder(2).word(1)).unwrap().unwrap()
    }

    /// Writes a line as Netgauge prints it where the calls copy, and a burst's bytes go at `G`; L is half of
    /// a round trip of a byte.
    fn line(s: f64, g: f64, G: f64) -> String {
        let (o_s, o_r) = (0.5 + 0.001 * s, 0.7 + 0.002 * s);
        format!(
            " L=4.213  s={s}  o_s={o_s:.6}  o_r={o_r:.6}  g={g:.6}  G={G:.6} (0.1 GiB/s) lsqu(g,G)=0.01 \n"
        )
    }

    #[test]
    fn one_size_makes_a_machine_of_loggp() {
        let text = "Testing 1025 bytes 50 times:\n L=0.6128 s=1025 o_s=0.458 o_r=1.163 g=0.448 G=0.000583 (13.4 GiB/s)\n";
        let params = machine(text).params;
        assert_eq!((params.L, params.o, params.g), (Time::ZERO, 511_713 * PS, 448 * NS));
        assert_eq!(params.G(), Some(583 * PS));
    }

    #[test]
    fn several_sizes_make_a_machine_of_loggps() {
        let mut text = String::from(
            "# whatever else it says\n L=4.213 s=1 o_s=0.501 o_r=0.702 g=-nan G=-nan (nan GiB/s)\n",
        );
        (1..5).for_each(|i| text += &line(1024.0 * f64::from(i) + 1.0, 2.0, 0.013));
        let params = machine(&text).params;
        let gps = params.gps().unwrap();
        assert_eq!((params.L, params.o, params.g), (3013 * NS, 600 * NS, 2000 * NS));
        assert_eq!((gps.O_s, gps.O_r, gps.G_s, gps.G_l), (NS, 2 * NS, 10 * NS, 10 * NS));
        text += "we detected a protocol change at 4097 bytes:\n";
        text += &line(6145.0, 2.0, 0.013);
        text += &line(6145.0, 9.0, 0.007);
        let gps = machine(&text).params.gps().unwrap();
        assert_eq!((gps.G_s, gps.G_l, gps.s), (10 * NS, 4 * NS, 4097));
    }

    /// Over shared memory a message takes only the copy in the calls, which G includes: a byte counts once.
    #[test]
    fn bytes_copied_by_calls_are_not_under_way_too() {
        let mut text = String::new();
        for s in [1.0, 1025.0, 2049.0, 4097.0] {
            let (o_s, o_r) = (0.1 + 0.0002 * s, 0.1 + 0.0002 * s);
            text += &format!("L=0.35 s={s} o_s={o_s} o_r={o_r} g=0.12 G=0.00035\n");
        }
        let params = machine(&text).params;
        for k in [1, 1024, 4096] {
            let way = params.send_overhead(k) + params.stream(k) + params.L + params.recv_overhead(k);
            let measured = 0.35 + 0.0004 * k as f64;
            assert!((way.as_ns() / 1e3 / measured - 1.0).abs() < 0.01, "{k}: {way}");
        }
    }

    #[test]
    fn invalid_netgauge_output_is_refused() {
        assert!(read(b"k,w,time\n1,2,3\n", Params::builder(2)).is_none());
        let refused = |text: &[u8]| read(text, Params::builder(2)).unwrap().unwrap_err().to_string();
        let refusal = refused(b"\nL=much s=1 o_s=1 o_r=1 g=1 G=1");
        assert!(refusal.starts_with("line 2: L=much is not a number"), "{refusal}");
        assert!(refused(b"L=1 s=1 o_s=1 o_r=1 g=nan G=nan").contains("not measured enough sizes"));
    }
}
