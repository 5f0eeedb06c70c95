//! Section 5.1: the distances of processors in a network.

use loggp_document::Cell;
use loggp_draw::digits::exact;

use super::about;
use super::table_1::{ROWS, SCALE, SMALL};
use crate::prelude::*;
use loggp_predict::topology::{Distances, TOPOLOGIES};

pub(super) const DISTANCES: Exhibit = Exhibit {
    id: "logp-distances",
    place: "section 5.1",
    title: "the average distance between processors, in seven networks",
    printed: 7,
    notes: "The table of section 5.1 has no number. 1,024 is no cube, so the 3d networks are built of 1,000 processors, 10 on a side. A processor \
            counts as 0 from itself; without such pairs averages are larger by 1/(P-1).",
    formulas: &[
        "log2 P / 2, log2 P, 2 log4 P - 2/3, 3/4 P^(1/3), P^(1/3), 1/2 P^(1/2), 2/3 P^(1/2) (section 5.1)",
        "with all terms kept: a ring of k has k/4, less 1/(4k) if k is odd; a row (k - 1/k)/3; a fat tree 2/(3 P) more",
    ],
    unit: ("cycles", US),
    show: show_distances,
    ..Exhibit::USUAL
};

/// Averages that section 5.1 prints, in the order of the networks.
const PRINTED: [&str; 7] = ["5", "10", "9.33", "7.5", "10", "16", "21"];
/// Processors of the table.
const P: usize = 1024;

fn show_distances(sheet: &mut Sheet) -> Result<(), StudyError> {
    let found = TOPOLOGIES.each_ref().map(|topology| topology.distances(P));
    let counted = found.each_ref().map(|one| one.counted.expect("a network of 1,024 is counted").average);
    for ((found, counted), printed) in found.iter().zip(counted).zip(PRINTED) {
        let what = format!(
            "{}: counted over all pairs of {} processors",
            found.topology.name,
            exact(found.P as f64)
        );
        let row = sheet.add_number(what, "section 5.1", printed, counted).by_count();
        if counted.fract() != 0.0 && !printed.contains('.') {
            row.accept_rounded();
        }
    }
    let agree = found.iter().zip(counted).map(|(found, counted)| (found.exact - counted).abs() < 1e-9);
    sheet.add_own_check("each network's average by formula, with all terms kept, is the counted one", agree);
    let printed = 4.0 * 5.0 - 2.0 / 3.0;
    let what = "fat tree: its formula as it is printed, 4 log4 P - 2/3";
    sheet
        .add_number(what, "5.1", "9.33", printed)
        .of_numbers(0)
        .expect_difference(
            DifferenceCause::Scan,
            "9.33 is 2 log4 P - 2/3, which is also what is counted: the 4 should be a 2",
            "the number 9.33 beside it is that of 2 log4 P - 2/3, and the count confirms it. In the same line our text has \"4^ds\" for the \
             degree of the tree",
        );
    let [hypercube, butterfly, fat_tree, torus, mesh_3d, torus_2d, mesh_2d] = counted;
    let most = |all: &[f64]| all.iter().map(|one| one / hypercube).fold(0.0, f64::max);
    let quote =
        "For configurations of practical interest the difference between topologies is a factor of two";
    let what = "the largest average of the other usual networks over the hypercube's";
    sheet
        .add_claim(what, "5.1", quote, about(2.0), [most(&[butterfly, fat_tree, torus, mesh_3d])])
        .by_count();
    let quote = "except for very primitive networks, such as a 2D mesh or torus. Even there, the difference is only a factor of four.";
    let what = "the larger average of the 2d networks over the hypercube's";
    sheet.add_claim(what, "5.1", quote, about(4.0), [most(&[torus_2d, mesh_2d])]).by_count();
    let far = TOPOLOGIES.iter().find(|topology| topology.name == "2d mesh").expect("it is one of them");
    let far = (far.average)(P as f64);
    let more = ROWS.iter().map(|row| (row.time(far) - row.time(row.hops)) / row.time(far));
    let quote = "this difference makes only a small contribution to total message transmission time";
    let what = "the part of T(M = 160) that is due to a 2d mesh instead of the network of table 1, each of its machines";
    sheet
        .add_claim(what, "5.1", quote, at_most(SMALL).because(SCALE), more)
        .expect_difference(
            DifferenceCause::Reading,
            "what is small is our choice: by table 1 it is less than a tenth with the two vendors' layers alone",
            "the paper does not say what it calls small. By its own table 1 the part is small for the nCUBE/2 and the CM-5 with their vendors' layers. On the research machines \
             and with Active Messages, whose overheads are small, it is a quarter to a half of T",
        );
    sheet.add_table(distance_table(&found));
    let caption = "Formulas as lines; a ring is what is counted in the nearest network that can be built.";
    sheet.add_plot("", caption, distance_plot(sheet.lab));
    Ok(())
}

/// Returns the table of the networks.
fn distance_table(found: &[Distances]) -> Table {
    let mut table = Table::new("distances", "Average distances of 1,024 processors, in links")
        .text("network")
        .text("formula")
        .exact("by formula", "")
        .text("built")
        .exact("with all terms", "")
        .exact("counted", "")
        .exact("farthest", "");
    for one in found {
        let counted = one.counted.expect("a network of 1,024 is counted");
        let built: [Cell; 4] =
            [one.shape.clone().into(), one.exact.into(), counted.average.into(), counted.farthest.into()];
        let network = [one.topology.name.into(), one.topology.formula.into(), one.closed_form.into()];
        table.push(network.into_iter().chain(built).collect());
    }
    table
}

/// Plots the average distance over the number of processors.
fn distance_plot(lab: &Lab) -> Plot {
    let most = lab.pick(10, 12);
    let mut counts = Vec::new();
    let mut lines = Vec::new();
    for (number, topology) in TOPOLOGIES.iter().enumerate() {
        let all: Vec<Distances> = (2..=most).map(|log| topology.distances(1 << log)).collect();
        let formula = all.iter().map(|one| (one.requested as f64, one.closed_form)).collect();
        lines.push(PlotLine::new(topology.name, number, Look::Line, formula));
        let counted = all.iter().filter(|one| one.P > 1);
        counts.extend(counted.filter_map(|one| Some((one.P as f64, one.counted?.average))));
    }
    counts.dedup();
    lines.push(PlotLine::new("counted", 0, Look::Rings, counts));
    Plot::new("Average distance between two processors", "in links, over all pairs")
        .x("processors P", Scale::Log)
        .y("average distance [links]", Scale::Log)
        .lines(lines)
}
