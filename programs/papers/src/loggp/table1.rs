//! Table 1: the parameters of the Meiko CS-2, found from inside as the paper found them.

use loggp::{NS, Params, Ports, Time, US};

use super::super::{Cell, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::common::cs2;
use loggp_draw::digits::exact;
use loggp_programs::Emulation;
use loggp_study::Failed;
use loggp_study::calibration::Calibration;

/// The table.
pub const TABLE_1: Exhibit = Exhibit {
    id: "loggp-table1",
    place: "table 1",
    title: "the parameters of the Meiko CS-2, found from inside",
    says: &[
        "On a Meiko CS-2 with 64 nodes the paper measured L, o, g and G of two communication libraries, each by timing a loop \
         that repeats a communication many times.",
        "Split-C: L = 8.6 us, o = 1.7 us, g = 14.2 us, G = 0.03 us per byte, and a bandwidth of 33.3 MB/s.",
        "Meiko's Elan library: L = 10 us, o = 3.8 us, g = 13.8 us, G = 0.023 us per byte, and 43 MB/s.",
        "G is the time per byte of a long message, and its reciprocal the bandwidth (section 2).",
    ],
    formulas: &[
        "a burst of short messages: a message each max(o, g); with a pause D after each, each o + D",
        "a round trip: 2L + 4o, and (k-1)G more if k words go one way",
        "bandwidth = 1/G (section 2)",
    ],
    commands: &["loggp calibrate --machine cs2-splitc -P 2", "loggp calibrate --machine cs2-elan -P 2"],
    seconds: Seconds { quick: 3.0, full: 4.0 },
    make,
};

/// What the table prints of a machine.
struct Machine {
    /// Its library, as the table has it.
    library: &'static str,
    /// Its name here.
    name: &'static str,
    /// L, o, g and G per byte in microseconds, and the bandwidth in MB/s.
    printed: [&'static str; 5],
}

const MACHINES: [Machine; 2] = [
    Machine { library: "Split-C", name: "cs2-splitc", printed: ["8.6", "1.7", "14.2", "0.03", "33.3"] },
    Machine { library: "Elan lib", name: "cs2-elan", printed: ["10", "3.8", "13.8", "0.023", "43"] },
];

const ROWS: [(&str, &str); 5] =
    [("L", "us"), ("o", "us"), ("g", "us"), ("G per byte", "us"), ("bandwidth", "MB/s")];

/// What a calibration found, as the table's columns have it.
fn found(calibration: &Calibration) -> [f64; 5] {
    let Calibration { params: Params { word, .. }, L, o, g, G, .. } = calibration;
    let per_byte = G.value.in_units(US) / word.get() as f64;
    let us = |time: Time| time.in_units(US);
    [us(L.value), us(o.value), us(g.value), per_byte, 1.0 / per_byte]
}

/// Whether the host was on time to find each.
fn held(calibration: &Calibration) -> [bool; 5] {
    let Calibration { L, o, g, G, .. } = calibration;
    [L.held, o.held, g.held, G.held, G.held]
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let mut table =
        Table::new("parameters", "Parameters by the paper, and as a program finds them that is not told")
            .text("library")
            .text("parameter")
            .text("unit")
            .exact("paper", "")
            .exact("model", "");
    if lab.is_wall() {
        table = table.exact("measured", "").percent("vs model").text("held");
    }
    let mut checks = Vec::new();
    let mut farthest = 0.0_f64;
    let mut all_held = true;
    for (number, Machine { library, name, printed }) in MACHINES.iter().enumerate() {
        let params = cs2(name, 2);
        let calibrate = |emulation: &Emulation| Calibration::study(params, Ports::default(), emulation);
        let model = found(&calibrate(&Emulation::default())?);
        let measured = if lab.is_wall() { Some(calibrate(&lab.emulation)?) } else { None };
        for (row, (parameter, unit)) in ROWS.iter().enumerate() {
            let paper: f64 = printed[row].parse().expect("the table has numbers");
            let mut cells: Vec<Cell> =
                vec![(*library).into(), (*parameter).into(), (*unit).into(), paper.into(), model[row].into()];
            if let Some(calibration) = &measured {
                let (value, held) = (found(calibration)[row], held(calibration)[row]);
                let error = value / model[row] - 1.0;
                if held {
                    farthest = farthest.max(error.abs());
                }
                all_held &= held;
                cells.extend([value.into(), error.into(), if held { "yes" } else { "late" }.into()]);
            }
            table.push(cells);
            checks.push(Check::equal(
                format!("{parameter} of the CS-2 with {library} [{unit}]"),
                printed[row],
                model[row],
            ));
        }
        lab.done((number + 1) as f64 / MACHINES.len() as f64);
    }
    let word = exact(cs2(MACHINES[0].name, 2).stream(2).in_units(NS));
    let mut verdict = format!(
        "A program that sends and looks at the clock finds every parameter of the table on the model; a word of 4 bytes has \
         a G of {word} ns with Split-C, which is the table's 0.03 us for each byte."
    );
    if lab.is_wall() {
        verdict += &match all_held {
            true => format!(" Measured, they came out within {:.2}% of that.", 100.0 * farthest),
            false => {
                " Measured, this computer was too late to find some of them, and those are marked.".into()
            }
        };
    }
    Ok(Finding::new(verdict).table(table).checks(checks))
}
