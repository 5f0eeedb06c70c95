//! Table 1: the parameters of the Meiko CS-2, measured by a program on the machine, as the paper did.

use loggp::Ports;
use loggp_document::Cell;
use loggp_programs::Emulation;
use loggp_study::calibration::Calibration;

use crate::prelude::*;

pub(super) const TABLE_1: Exhibit = Exhibit {
    id: "loggp-table1",
    place: "table 1",
    title: "the parameters of the Meiko CS-2, found from inside",
    printed: 10,
    notes: "The paper timed loops that repeat a communication many times; so does a calibration, which is not told the parameters.",
    formulas: &[
        "a burst of short messages: a message each max(o, g); with a pause D after each, each o + D",
        "a round trip: 2L + 4o, and (k-1)G more if k words go one way",
        "bandwidth = 1/G (section 2)",
    ],
    show,
    ..Exhibit::USUAL
};

/// The table's rows: library, preset, and L, o, g and G per byte in us, and the bandwidth in MB/s.
const ROWS: [(&str, &str, [&str; 5]); 2] = [
    ("Split-C", "cs2-splitc", ["8.6", "1.7", "14.2", "0.03", "33.3"]),
    ("Elan lib", "cs2-elan", ["10", "3.8", "13.8", "0.023", "43"]),
];
const PARAMETERS: [&str; 5] = ["L [us]", "o [us]", "g [us]", "G per byte [us]", "bandwidth [MB/s]"];

/// Returns a calibration's results in the order of the table's columns.
fn found_values(calibration: &Calibration) -> [f64; 5] {
    let Calibration { params: Params { word, .. }, L, o, g, G, .. } = calibration;
    let per_byte = in_us(G.value) / word.get() as f64;
    [in_us(L.value), in_us(o.value), in_us(g.value), per_byte, 1.0 / per_byte]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table =
        Table::new("parameters", "Parameters by the paper, and as a program finds them that is not told")
            .text("library")
            .text("parameter")
            .exact("paper", "")
            .exact("model", "")
            .exact("measured", "")
            .percent("vs model")
            .text("held");
    let mut same = Vec::new();
    for (library, name, printed) in ROWS {
        let params = preset_machine(name, 2);
        let calibrate = |emulation: &Emulation| Calibration::study(params, Ports::default(), emulation);
        let model = found_values(&calibrate(&Emulation::default())?);
        let measured = if sheet.lab.is_wall() { Some(calibrate(&sheet.lab.emulation)?) } else { None };
        for (row, parameter) in PARAMETERS.into_iter().enumerate() {
            let paper: f64 = printed[row].parse().expect("the table has numbers");
            // The bandwidth follows from G.
            same.extend((row < 4).then(|| (model[row] - paper).abs() < 1e-9));
            let measured_value = measured.as_ref().map(|calibration| {
                let Calibration { L, o, g, G, .. } = calibration;
                (found_values(calibration)[row], [L.on_time, o.on_time, g.on_time, G.on_time, G.on_time][row])
            });
            let mut cells: Vec<Cell> =
                vec![library.into(), parameter.into(), paper.into(), model[row].into()];
            cells.extend([
                measured_value.map(|(value, _)| value).into(),
                measured_value.map(|(value, _)| value / model[row] - 1.0).into(),
                measured_value.map(|(_, on_time)| if on_time { "yes" } else { "late" }).into(),
            ]);
            table.push(cells);
        }
        let what = format!("the bandwidth with {library}, 1/G [MB/s]");
        sheet.add_number(what, "table 1", printed[4], model[4]).by_arithmetic();
    }
    let what = "L, o, g and G of both libraries, as a calibration finds them on machines that have them";
    sheet.add_read_back(what, "table 1", same).of_numbers(8);
    sheet.add_table(table);
    Ok(())
}
