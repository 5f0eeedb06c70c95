//! Table 5: LogGPS's parameters of three platforms, from round trips alone.

use loggp::Ports;
use loggp::params::Parameter;
use loggp_programs::Emulation;
use loggp_study::calibration::Amount;
use loggp_study::loggps::{Equations, Estimate, LogGpsCalibration};

use super::platforms::PLATFORMS;
use crate::prelude::*;

pub(super) const TABLE_5: Exhibit = Exhibit {
    id: "loggps-table5",
    place: "table 5",
    title: "LogGPS's parameters of three platforms",
    printed: 24,
    notes: "s and S come from the libraries' documents, the others from the times of round trips: two values at length 0 and four gradients \
            make six equations. The paper prints their right sides for Myrinet alone.",
    formulas: &["the six equations of section 4.3"],
    show,
    ..Exhibit::USUAL
};

/// The table's parameters and their values for each platform, times in ns and lengths in bytes.
const PARAMETERS: [&str; 8] = ["L", "o", "O_s", "O_r", "G_s", "G_l", "s", "S"];
const TABLE: [[f64; 8]; 3] = [
    [640.0, 7820.0, 7.63, 12.77, 0.57, -12.74, 1028.0, 1028.0],
    [1160.0, 6550.0, 6.86, 2.57, 15.48, -0.74, 8191.0, 16_383.0],
    [35_220.0, 20_590.0, 10.67, 5.87, 191.89, 74.95, 1023.0, 16_383.0],
];
/// Right sides of the six equations for Myrinet, in ns; W = 500 us is subtracted from the second.
const RIGHT: [f64; 6] = [28_509.02, 13_099.0, 9.430_108, 49.814_55, 17.371_50, 15.546_69];

/// Returns a parameter of a machine; a time in ns.
fn parameter_value(params: &Params, name: &str) -> f64 {
    let parameter = Parameter::by_name(name).expect("it is a parameter");
    let number = parameter.number(params).expect("a machine of LogGPS has it") as f64;
    if parameter.is_time() { number / 1e3 } else { number }
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut table = Table::new(
        "parameters",
        "The parameters as round trips show them, to a program that does not know them",
    )
    .text("platform")
    .text("parameter")
    .exact("paper", "ns or bytes")
    .exact("virtual clock", "")
    .exact("wall clock", "")
    .rough("doubt", "")
    .text("held");
    // Round trips of one platform take half a minute on the wall clock.
    let to_measure = if sheet.lab.is_wall() { sheet.lab.pick(1, PLATFORMS.len()) } else { 0 };
    let mut right = Vec::new();
    for (index, (platform, row)) in PLATFORMS.iter().zip(TABLE).enumerate() {
        let params = platform.params();
        let study = |emulation: &Emulation| LogGpsCalibration::study(params, Ports::Single, emulation);
        let found = study(&Emulation::default())?;
        let measured = (index < to_measure).then(|| study(&sheet.lab.emulation)).transpose()?;
        for (name, paper) in PARAMETERS.into_iter().zip(row) {
            let ours = parameter_value(&found.recovered.params, name);
            right.push(found.ran(|_| (ours - paper).abs() < 1e-9));
            let finding = measured.as_ref().and_then(|measured| {
                measured.recovered.findings.iter().find(|finding| finding.parameter == name)
            });
            let amount = |amount: Amount| match amount {
                Amount::Time(time) => time.as_ns(),
                Amount::Count(number) | Amount::Words(number) => number as f64,
            };
            table.push(vec![
                platform.name.into(),
                if name == "o" { "o'" } else { name }.into(),
                paper.into(),
                ours.into(),
                finding.map(|finding| amount(finding.found)).into(),
                finding.and_then(|finding| finding.doubt.map(amount)).into(),
                finding.map(|finding| if finding.on_time { "yes" } else { "late" }).into(),
            ]);
        }
    }
    let what = "parameters of three platforms: told to the machine, and found again by round trips";
    // The rows of the six equations stand for the other six.
    sheet.add_read_back(what, "table 5", right).of_numbers(18);
    add_equations(sheet);
    sheet.add_table(table);
    Ok(())
}

/// Adds the rows of the six equations' solution, and of the sign of G_l.
fn add_equations(sheet: &mut Sheet) {
    let exactly = |value| Estimate { value, doubt: 0.0 };
    let [empty, loaded, overheads, single, several, synchronous] = RIGHT.map(exactly);
    let synchronous = Some(synchronous);
    let solution = Equations { empty, loaded, overheads, single, several, synchronous }.solve();
    for (name, paper, ours) in [
        ("L [us]", "1.16", solution.L.value / 1e3),
        ("o' [us]", "6.55", solution.o.value / 1e3),
        ("O_s [ns]", "6.86", solution.O_s.value),
        ("O_r [ns]", "2.57", solution.O_r.value),
        ("G_s [ns]", "15.48", solution.G_s.value),
        ("G_l [ns]", "-0.74", solution.G_l.value),
    ] {
        let what = format!("Myrinet: {name}, by the six equations of section 4.3");
        sheet.add_number(what, "table 5", paper, ours);
    }
    let G_l = PLATFORMS.iter().map(|platform| parameter_value(&platform.params(), "G_l"));
    let rule = below(0.0).for_any().because("a G_l can be negative, not each is");
    sheet.add_claim("G_l of three platforms [ns]", "4.2", "Note that G_l < 0 is true", rule, G_l);
}
