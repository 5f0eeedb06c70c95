//! Sections 5.1 and 5.2: the distances of processors in a network, and the time of a message through it.

use loggp::{NS, preset};
use loggp_programs::broadcast::BROADCAST;

use crate::prelude::*;
use crate::topology::{Distances, TOPOLOGIES};

pub const DISTANCES: Exhibit = Exhibit {
    id: "logp-distances",
    place: "section 5.1",
    title: "the average distance between processors, in seven networks",
    printed: 0,
    left_out: "",
    notes: "1,024 is no cube, so the 3d networks are built of 1,000 processors, 10 on a side. A processor counts as 0 from itself; without \
            such pairs averages are larger by 1/(P-1).",
    formulas: &[
        "log2 P / 2, log2 P, 2 log4 P - 2/3, 3/4 P^(1/3), P^(1/3), 1/2 P^(1/2), 2/3 P^(1/2) (section 5.1)",
        "with all terms kept: a ring of k has k/4, less 1/(4k) if k is odd; a row (k - 1/k)/3; a fat tree 2/(3 P) more",
    ],
    unit: ("cycles", US),
    series: |_| Vec::new(),
    show: show_distances,
};

pub const TABLE_1: Exhibit = Exhibit {
    id: "logp-table1",
    place: "table 1",
    title: "how long a message of 160 bits takes through a network without load",
    printed: 0,
    left_out: "",
    notes: "Seven machines of 1,024 processors; the last two are those with Active Messages. o = (Tsnd + Trcv)/2 and L = H r + ceil(M/w). H \
            is the table's: 5 for a butterfly, 6.8 for a torus and 12.1 for a 3d mesh are not section 5.1's averages, and the text does \
            not say where they come from.",
    formulas: &["T(M, H) = Tsnd + ceil(M/w) + H r + Trcv (section 5.2)", "L + 2o (section 5)"],
    unit: ("ns", NS),
    series: |_| ROWS.iter().map(|row| CaseSeries::from_case(row.name, case(row)).measured()).collect(),
    show: show_table_1,
};

/// Averages that section 5.1 prints, in the order of the networks.
const PRINTED: [&str; 7] = ["5", "10", "9.33", "7.5", "10", "16", "21"];
/// Processors of both tables.
const P: usize = 1024;
/// Reason for accepting a number that the paper does not round.
const CUT: &str = "the paper cuts digits off where it does not round";

/// A row of table 1: a machine's network. Times are in cycles of its hardware.
struct UnloadedNetwork {
    /// Name of the machine in the paper.
    name: &'static str,
    /// Preset of `loggp machines` that is made of the row.
    preset: &'static str,
    /// Width of a channel, w, in bits.
    width: u32,
    /// Overheads of sender and receiver together, Tsnd + Trcv.
    overheads: f64,
    /// Delay through each node on the way, r.
    delay: f64,
    /// Average distance among 1,024 processors, H, in links.
    hops: f64,
    /// Time of a message of 160 bits, as it is printed.
    printed: &'static str,
}

/// Length of the message in table 1, M, in bits.
const M: u32 = 160;

/// The rows of table 1.
const ROWS: [UnloadedNetwork; 7] = [
    row("nCUBE/2", "ncube2", 1, 6400.0, 40.0, 5.0, "6760"),
    row("CM-5", "cm5-cmmd", 4, 3600.0, 8.0, 9.3, "3714"),
    row("Dash", "dash", 16, 30.0, 2.0, 6.8, "53"),
    row("J-Machine", "j-machine", 8, 16.0, 2.0, 12.1, "60"),
    row("Monsoon", "monsoon", 16, 10.0, 2.0, 5.0, "30"),
    row("nCUBE/2 (AM)", "ncube2-am", 1, 1000.0, 40.0, 5.0, "1360"),
    row("CM-5 (AM)", "cm5-am", 4, 132.0, 8.0, 9.3, "246"),
];

/// Makes a row, with the table's columns from w to T(M = 160).
const fn row(
    name: &'static str,
    preset: &'static str,
    width: u32,
    overheads: f64,
    delay: f64,
    hops: f64,
    printed: &'static str,
) -> UnloadedNetwork {
    UnloadedNetwork { name, preset, width, overheads, delay, hops, printed }
}

impl UnloadedNetwork {
    /// Returns T(M, H) = Tsnd + ceil(M/w) + H r + Trcv over H links, in cycles.
    fn time(&self, hops: f64) -> f64 {
        self.overheads + f64::from(M.div_ceil(self.width)) + hops * self.delay
    }
}

fn show_distances(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut counts = Vec::new();
    let mut table = Table::new("distances", "Average distances of 1,024 processors, in links")
        .text("network")
        .text("formula")
        .text("built")
        .exact("with all terms", "")
        .exact("counted", "")
        .exact("farthest", "");
    for (topology, printed) in TOPOLOGIES.iter().zip(PRINTED) {
        let (found, name) = (topology.distances(P), topology.name);
        let counted = found.counted.expect("a network of 1,024 is counted");
        let what = format!("{name}: {} at 1,024", topology.formula);
        // The paper's own formula of the fat tree has a row below.
        if name != "4-ary fat tree" {
            let row = sheet.add_number(what, "5.1", printed, found.closed_form);
            if printed == "7.5" {
                row.accept_within(0.02, CUT);
            }
        }
        let what = format!("{name}: counted over all pairs of {} processors", found.P);
        let row = sheet.add_number(what, "5.1", printed, counted.average).by_count();
        if counted.average.fract() != 0.0 && !printed.contains('.') {
            row.accept_rounded();
        }
        counts.push(counted.average);
        let texts = [name.into(), topology.formula.into(), found.shape.into()];
        let numbers = [found.exact.into(), counted.average.into(), counted.farthest.into()];
        table.push(texts.into_iter().chain(numbers).collect());
    }
    let printed = 4.0 * 5.0 - 2.0 / 3.0;
    let what = "fat tree: its formula as it is printed, 4 log4 P - 2/3";
    sheet.add_number(what, "5.1", "9.33", printed).expect_difference(
        "19.333",
        "its 9.33 is that of 2 log4 P - 2/3, which the count confirms: the 4 of log4 seems to have gone before it too",
    );
    let [hypercube, butterfly, fat_tree, torus, mesh_3d, torus_2d, mesh_2d] = counts[..] else {
        unreachable!("there are seven")
    };
    let usual = [butterfly, fat_tree, torus, mesh_3d].map(|one| one / hypercube);
    let quote =
        "For configurations of practical interest the difference between topologies is a factor of two";
    sheet.add_claim("usual networks over the hypercube", "5.1", quote, at_most(2.0), usual).by_count();
    let primitive = [torus_2d, mesh_2d].map(|one| one / hypercube);
    let quote = "except for very primitive networks, such as a 2D mesh or torus. Even there, the difference is only a factor of four.";
    sheet.add_claim("2d networks over the hypercube", "5.1", quote, between(2.0, 4.5), primitive).by_count();
    let far = TOPOLOGIES.iter().find(|topology| topology.name == "2d mesh").expect("it is one of them");
    let more = ROWS.iter().map(|row| row.time((far.average)(P as f64)) / row.time(row.hops) - 1.0);
    let quote = "this difference makes only a small contribution to total message transmission time";
    let what = "what a 2d mesh would add to T(M) of table 1's machines, as a part";
    sheet.add_claim(what, "5.1", quote, below(0.5), more).expect_difference(
        "5 of 7; 0.0259 to 1.09, 0.419 in the mean",
        "it adds half and more on Dash and Monsoon, whose overheads are small; on the machines that are sold it is little",
    );
    sheet.add_table(table);
    let caption = "Formulas as lines, and what is counted in the nearest network that can be built as marks.";
    sheet.add_plot("", caption, distance_plot(sheet.lab));
    Ok(())
}

/// Plots the average distance over the number of processors.
fn distance_plot(lab: &Lab) -> Plot {
    let most = lab.pick(10, 12);
    let lines = TOPOLOGIES.iter().enumerate().flat_map(|(number, topology)| {
        let all: Vec<Distances> = (2..=most).map(|log| topology.distances(1 << log)).collect();
        let formula = all.iter().map(|one| (one.requested as f64, one.closed_form)).collect();
        let counted = all.iter().filter(|one| one.P > 1);
        let mut counted: Vec<(f64, f64)> =
            counted.filter_map(|one| Some((one.P as f64, one.counted?.average))).collect();
        counted.dedup();
        [
            PlotLine::new(topology.name, number, Look::Line, formula),
            PlotLine::new("counted", number, Look::Marks, counted),
        ]
    });
    Plot::new("Average distance between two processors", "in links, over all pairs")
        .x("processors", Scale::Log)
        .y("average distance [links]", Scale::Log)
        .lines(lines)
}

/// Returns the case of a message on a row's machine, of which two processors are enough. The table leaves g
/// open, but a single message waits for no gap.
fn case(row: &UnloadedNetwork) -> Case {
    let preset = preset(row.preset).expect("it is one of the papers' machines");
    let params = preset.builder().P(2).g(Time::ZERO).build().expect("it leaves only g open");
    Case::new(&BROADCAST, "flat", params)
}

fn show_table_1(sheet: &mut Sheet) -> Result<(), StudyError> {
    for row in &ROWS {
        let result = sheet.last_result(row.name);
        let model = result.model().in_units(case(row).params.cycle);
        let what = format!("T(M = 160) of {} [cycles]", row.name);
        let formula = row.time(row.hops);
        let cut = |row: &mut ExhibitRow| {
            if row.paper == "53" {
                row.accept_within(1.0 / 53.0, CUT);
            }
        };
        cut(sheet.add_number(&what, "table 1", row.printed, formula));
        cut(sheet.add_number(format!("{what}, a message on that machine"), "table 1", row.printed, model));
    }
    let parts = ROWS.iter().map(|row| row.overheads / row.time(row.hops)).collect::<Vec<_>>();
    let quote = "message communication time through a lightly loaded network is dominated by the send and receive overheads";
    sheet.add_claim("the overheads' part of T, all seven", "5.2", quote, above(0.5), parts.clone()).expect_difference(
        "5 of 7; 0.266 to 0.969, 0.621 in the mean",
        "they make up a quarter and a third on J-Machine and Monsoon, whose network interfaces were built for that",
    );
    let quote = "Although a significant improvement over the commercial machines, the overhead is still a significant fraction of the \
                 communication time.";
    let what = "the overheads' part of T, research machines, where more than a tenth is read as significant";
    sheet.add_claim(what, "5.2", quote, above(0.1), parts[2..5].to_vec());
    let plot = Plot::new("A message of 160 bits over the distance that it goes", "T(M, H) of LogP's table 1")
        .x("distance H [links]", Scale::Linear)
        .y("time [cycles]", Scale::Log);
    let lines = ROWS.iter().enumerate().flat_map(|(number, row)| {
        let over: Vec<(f64, f64)> = (1..=24).map(f64::from).map(|H| (H, row.time(H))).collect();
        let own = vec![(row.hops, row.time(row.hops))];
        [PlotLine::new(row.name, number, Look::Line, over), PlotLine::new("its H", number, Look::Marks, own)]
    });
    sheet.add_plot("", "T(M, H) over the distance H; the marks are the table's own H.", plot.lines(lines));
    Ok(())
}
