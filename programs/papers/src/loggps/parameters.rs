//! Table 5: LogGPS's parameters of three platforms, from round trips alone.

use loggp::{Parameter, Params, Ports};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::platforms::{PLATFORMS, two_of};
use loggp_programs::Emulation;
use loggp_study::Failed;
use loggp_study::calibration::Amount;
use loggp_study::loggps::{Equations, LogGpsCalibration, Value};

/// Table 5.
pub const TABLE_5: Exhibit = Exhibit {
    id: "loggps-table5",
    place: "table 5",
    title: "LogGPS's parameters of three platforms",
    says: &[
        "s and S come from the libraries' documents, the others from the times of round trips: two values at length 0 and four \
         gradients make six equations.",
        "On Myrinet, with W = 500 us, they are in ns: 4o' + 2L = 28,509.02, 2o' + W = 513,099.0, O_s + O_r = 9.430108, \
         2(O_s + O_r + G_s) = 49.81455, 2(O_s + O_r + G_l) = 17.37150 and 2O_s + O_r + G_l = 15.54669.",
        "G_l is negative on the Cenju-4 and on Myrinet, for the model disregards what happens inside a routine.",
        "The gap g has little effect and is disregarded.",
    ],
    formulas: &["the six equations of section 4.3"],
    commands: &[
        "loggp calibrate --find loggps --machine cenju4",
        "loggp calibrate --find loggps --machine myrinet",
        "loggp calibrate --find loggps --machine fast-ethernet",
    ],
    seconds: Seconds { quick: 2.0, full: 30.0 },
    make,
};

/// The parameters in the order of the table, and what it has for each platform, times in ns and lengths in bytes.
const PARAMETERS: [&str; 8] = ["L", "o", "O_s", "O_r", "G_s", "G_l", "s", "S"];
const TABLE: [[&str; 8]; 3] = [
    ["640", "7820", "7.63", "12.77", "0.57", "-12.74", "1028", "1028"],
    ["1160", "6550", "6.86", "2.57", "15.48", "-0.74", "8191", "16383"],
    ["35220", "20590", "10.67", "5.87", "191.89", "74.95", "1023", "16383"],
];

/// The equations for Myrinet: what stands left, what right, in ns, and how often half a hundredth of a unit the rounded values
/// of table 5 stand in it.
const W: f64 = 500_000.0;
const EQUATIONS: [(&str, &str, f64); 6] = [
    ("4o' + 2L", "28509.02", 30.0),
    ("2o' + W", "513099.0", 10.0),
    ("O_s + O_r", "9.430108", 0.01),
    ("2(O_s + O_r + G_s)", "49.81455", 0.03),
    ("2(O_s + O_r + G_l)", "17.37150", 0.03),
    ("2O_s + O_r + G_l", "15.54669", 0.02),
];

/// A parameter of a machine, a time in ns.
fn value(params: &Params, name: &str) -> f64 {
    let parameter = Parameter::named(name).expect("it is a parameter");
    let number = parameter.number(params).expect("a machine of LogGPS has it") as f64;
    if parameter.is_time() { number / 1e3 } else { number }
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let mut table = Table::new(
        "parameters",
        "The parameters as round trips show them, to a program that does not know them",
    )
    .text("platform")
    .text("parameter")
    .text("unit")
    .exact("paper", "")
    .exact("virtual clock", "")
    .exact("wall clock", "")
    .rough("doubt", "")
    .text("held");
    let mut checks = Vec::new();
    let (mut on_time, mut farthest) = (0, 0.0_f64);
    // Round trips of one platform take half a minute on the wall clock.
    let to_measure = if lab.is_wall() { lab.pick(1, PLATFORMS.len()) } else { 0 };
    for (place, (platform, row)) in PLATFORMS.iter().zip(TABLE).enumerate() {
        let params = platform.params();
        let study = |emulation: &Emulation| LogGpsCalibration::study(params, Ports::Single, emulation);
        let found = study(&Emulation::default())?;
        let measured = (place < to_measure).then(|| study(&lab.emulation)).transpose()?;
        on_time += usize::from(measured.as_ref().is_some_and(LogGpsCalibration::held));
        for (name, paper) in PARAMETERS.into_iter().zip(row) {
            let ours = value(&found.recovered.params, name);
            let finding = measured.as_ref().and_then(|measured| {
                measured.recovered.findings.iter().find(|finding| finding.parameter == name)
            });
            let amount = |amount: Amount| match amount {
                Amount::Time(time) => time.as_ns(),
                Amount::Count(number) | Amount::Words(number) => number as f64,
            };
            let paper_number: f64 = paper.parse().expect("the table has numbers");
            table.push(vec![
                platform.name.into(),
                if name == "o" { "o'" } else { name }.into(),
                if matches!(name, "s" | "S") { "bytes" } else { "ns" }.into(),
                paper_number.into(),
                ours.into(),
                finding.map(|finding| amount(finding.found)).into(),
                finding.and_then(|finding| finding.doubt.map(amount)).into(),
                finding.map(|finding| if finding.held { "yes" } else { "late" }).into(),
            ]);
            if let Some(finding) = finding.filter(|finding| finding.held && matches!(name, "L" | "o")) {
                farthest = farthest.max((amount(finding.found) - ours).abs() / params.o.as_ns());
            }
            checks.push(Check::equal(format!("{}: {name}", platform.name), paper, ours));
        }
        lab.done((place + 1) as f64 / PLATFORMS.len() as f64);
    }
    let (sums, solved) = equations();
    checks.extend(solved);
    let measured = match (to_measure, on_time) {
        (0, _) => "Nothing was measured.".into(),
        (_, 0) => "This computer was too busy to find them on the wall clock.".into(),
        (of, on_time) => format!(
            "On the wall clock this computer was on time for {on_time} of {of} that it was to measure; there L and o' are within {:.1}% of o', and \
             the doubt says how far small differences of large values may be.",
            100.0 * farthest
        ),
    };
    let verdict = format!(
        "The paper's values for Myrinet solve its six equations to the last digit that table 5 has. On the virtual clock round trips \
         alone show the values of all three platforms. {measured}"
    );
    Ok(Finding::new(verdict).table(table).table(sums).checks(checks))
}

/// The six equations: what their left sides are with table 5's values, and table 5's values by the solution of what stands
/// right.
fn equations() -> (Table, Vec<Check>) {
    let myrinet = two_of("myrinet");
    let [L, o, O_s, O_r, G_s, G_l, _, _] = PARAMETERS.map(|name| value(&myrinet, name));
    let left = [
        4.0 * o + 2.0 * L,
        2.0 * o + W,
        O_s + O_r,
        2.0 * (O_s + O_r + G_s),
        2.0 * (O_s + O_r + G_l),
        2.0 * O_s + O_r + G_l,
    ];
    let mut table =
        Table::new("equations", "The equations for Myrinet, with table 5's values on the left (W = 500 us)")
            .text("equation")
            .exact("paper", "ns")
            .exact("from table 5", "ns");
    let mut checks = Vec::new();
    for ((name, right, rounded), ours) in EQUATIONS.into_iter().zip(left) {
        let number: f64 = right.parse().expect("the equations have numbers");
        table.push(vec![name.into(), number.into(), ours.into()]);
        let why = "table 5 rounds its values";
        let check = Check::within(format!("Myrinet: {name} [ns]"), right, ours, rounded / number, why);
        checks.push(check.by(Answer::Formula));
    }
    let [empty, loaded, overheads, single, several, synchronous] =
        EQUATIONS.map(|(_, right, _)| right.parse::<f64>().expect("the equations have numbers"));
    let exactly = |value| Value { value, doubt: 0.0 };
    let solution = Equations {
        empty: exactly(empty),
        loaded: exactly(loaded - W),
        overheads: exactly(overheads),
        single: exactly(single),
        several: exactly(several),
        synchronous: Some(exactly(synchronous)),
    }
    .solve();
    let solved = [
        ("L [us]", "1.16", solution.L.value / 1e3),
        ("o' [us]", "6.55", solution.o.value / 1e3),
        ("O_s [ns]", "6.86", solution.O_s.value),
        ("O_r [ns]", "2.57", solution.O_r.value),
        ("G_s [ns]", "15.48", solution.G_s.value),
        ("G_l [ns]", "-0.74", solution.G_l.value),
    ];
    checks.extend(solved.map(|(name, paper, ours)| {
        Check::equal(format!("Myrinet: {name} by the six equations"), paper, ours).by(Answer::Formula)
    }));
    (table, checks)
}
