//! Section 5.2: the parameters of LogP, from those of the hardware.

use super::table_1::ROWS;
use crate::prelude::*;
use loggp_predict::topology::TOPOLOGIES;

pub(super) const PARAMETERS: Exhibit = Exhibit {
    id: "logp-hardware",
    place: "section 5.2",
    title: "L, o and g of the CM-5 from its hardware",
    notes: "The hardware is the row CM-5 (AM) of table 1, with cycles of 25 ns. What comes out is compared with section 4.1.4, where o and L \
            were measured in experiments.",
    formulas: &[
        "o = (Tsnd + Trcv)/2, L = H r + ceil(M/w) with the maximum of H, g = M over the bisection bandwidth (section 5.2)",
    ],
    show: show_parameters,
    ..Exhibit::USUAL
};

/// Bytes of a message, and bytes per us through the bisection, for each processor (section 4.1.4).
const MESSAGE: f64 = 20.0;
const BANDWIDTH: f64 = 5.0;

fn show_parameters(sheet: &mut Sheet) -> Result<(), StudyError> {
    let row = ROWS.iter().find(|row| row.name == "CM-5 (AM)").expect("it is one of them");
    let us = |cycles: f64| cycles * row.cycle as f64 / 1e3;
    let tree =
        TOPOLOGIES.iter().find(|topology| topology.name == "4-ary fat tree").expect("it is one of them");
    let farthest = tree.distances(1024).counted.expect("a network of 1,024 is counted").farthest;
    let what = "o = (Tsnd + Trcv)/2 [us]";
    sheet.add_number(what, "4.1.4", "2", us(row.overheads / 2.0));
    let what = "L = H r + ceil(M/w), with the longest way between 1,024 processors [us]";
    sheet
        .add_number(what, "4.1.4", "6", us(row.latency(farthest as f64)))
        .expect_difference(
            DifferenceCause::Reading,
            "section 5.2's rule counts wires and switches, and section 4.1.4 measured 6 us on the machine",
            "the formula counts only the network: 10 links and 160 bits take 120 cycles of 25 ns. Section 4.1.4's 6 us were measured on an \
             unloaded network, and are twice that. The paper does not say what else is in them",
        );
    // Section 4.1.4's row of g, in figure 8, stands for the number.
    let what = "g = M over the bandwidth [us]";
    sheet.add_number(what, "4.1.4", "4", MESSAGE / BANDWIDTH).by_arithmetic().of_numbers(0);
    Ok(())
}
