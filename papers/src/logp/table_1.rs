//! Table 1: the time of a message through a network without load.

use loggp::{NS, preset};
use loggp_programs::broadcast::BROADCAST;

use crate::prelude::*;
use loggp_predict::topology::TOPOLOGIES;

pub(super) const TABLE_1: Exhibit = Exhibit {
    id: "logp-table1",
    place: "table 1",
    title: "how long a message of 160 bits takes through a network without load",
    printed: 42,
    notes: "Seven machines of 1,024 processors; the last two are those with Active Messages. o = (Tsnd + Trcv)/2 and L = H r + ceil(M/w), with \
            the table's H, which is an average.",
    formulas: &["T(M, H) = Tsnd + ceil(M/w) + H r + Trcv (section 5.2)", "L + 2o (section 5)"],
    unit: ("ns", NS),
    series: |_| ROWS.iter().map(|row| CaseSeries::from_case(row.name, case(row)).measured()).collect(),
    show: show_table_1,
    ..Exhibit::USUAL
};

/// The most of T that counts as a small part of it.
pub(super) const SMALL: f64 = 0.1;
/// The scale for a part of T, which is the same for the claims of sections 5.1 and 5.2.
pub(super) const SCALE: &str = "up to a tenth is small, more is significant, and more than half dominates";
/// Reason for accepting a number that the paper does not round.
const CUT: &str = "the paper cuts digits off where it does not round";

/// A row of table 1: a machine's network. Times are in cycles of its hardware.
pub(super) struct UnloadedNetwork {
    /// Name of the machine in the paper.
    pub name: &'static str,
    /// Preset of `loggp machines` that is made of the row.
    preset: &'static str,
    /// Length of a cycle, in ns.
    pub cycle: i64,
    /// Width of a channel, w, in bits.
    width: u32,
    /// Overheads of sender and receiver together, Tsnd + Trcv.
    pub overheads: f64,
    /// Delay through each node on the way, r.
    delay: f64,
    /// Average distance among 1,024 processors, H, in links.
    pub hops: f64,
    /// Time of a message of 160 bits, as it is printed.
    printed: &'static str,
}

/// Length of the message in table 1, M, in bits.
const M: u32 = 160;

/// The rows of table 1.
pub(super) const ROWS: [UnloadedNetwork; 7] = [
    row("nCUBE/2", "ncube2", [25, 1], [6400.0, 40.0, 5.0], "6760"),
    row("CM-5", "cm5-cmmd", [25, 4], [3600.0, 8.0, 9.3], "3714"),
    row("Dash", "dash", [30, 16], [30.0, 2.0, 6.8], "53"),
    row("J-Machine", "j-machine", [31, 8], [16.0, 2.0, 12.1], "60"),
    row("Monsoon", "monsoon", [20, 16], [10.0, 2.0, 5.0], "30"),
    row("nCUBE/2 (AM)", "ncube2-am", [25, 1], [1000.0, 40.0, 5.0], "1360"),
    row("CM-5 (AM)", "cm5-am", [25, 4], [132.0, 8.0, 9.3], "246"),
];

/// Makes a row, with the table's columns from the cycle to T(M = 160).
const fn row(
    name: &'static str,
    preset: &'static str,
    [cycle, width]: [u32; 2],
    [overheads, delay, hops]: [f64; 3],
    printed: &'static str,
) -> UnloadedNetwork {
    UnloadedNetwork { name, preset, cycle: cycle as i64, width, overheads, delay, hops, printed }
}

impl UnloadedNetwork {
    /// Returns L = H r + ceil(M/w) over H links, in cycles.
    pub(super) fn latency(&self, hops: f64) -> f64 {
        hops * self.delay + f64::from(M.div_ceil(self.width))
    }

    /// Returns T(M, H) = Tsnd + ceil(M/w) + H r + Trcv over H links, in cycles.
    pub(super) fn time(&self, hops: f64) -> f64 {
        self.overheads + self.latency(hops)
    }
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
        let what = format!("T(M = 160) of {}, of the other numbers in its row [cycles]", row.name);
        let added = sheet.add_number(what, "table 1", row.printed, row.time(row.hops));
        if row.printed == "53" {
            added.accept_within(1.0 / 53.0, CUT);
        }
        added.by_arithmetic();
    }
    let is_time = |row: &UnloadedNetwork| {
        let result = sheet.last_result(row.name);
        result.ran(|result| (result.model().in_units(row.cycle * NS) - row.time(row.hops)).abs() < 1e-6)
    };
    let checks = ROWS.each_ref().map(is_time);
    sheet.add_own_check(
        "T(M, H) is the time of a message in a run on a machine of that row, all seven machines",
        checks,
    );
    let is_read = |row: &UnloadedNetwork| {
        let params = case(row).params;
        let [o, L] = [params.o, params.L].map(|time| time.in_units(params.cycle));
        let is_row = (2.0 * o, L) == (row.overheads, row.latency(row.hops));
        is_row && params.cycle == row.cycle * NS
    };
    let what =
        "cycle, w, Tsnd + Trcv and r, which make the cycle, o and L of a machine here, all seven machines";
    sheet.add_read_back(what, "table 1", ROWS.each_ref().map(is_read)).of_numbers(28).with_repeats(6);
    show_distances(sheet);
    let parts = ROWS.each_ref().map(|row| row.overheads / row.time(row.hops));
    let quote = "message communication time through a lightly loaded network is dominated by the send and receive overheads";
    sheet
        .add_claim("the overheads' part of T, all seven machines", "5.2", quote, above(0.5).because(SCALE), parts)
        .expect_difference(
            DifferenceCause::Reading,
            "what dominates is our choice: overheads are a quarter of T on the J-Machine and a third on Monsoon",
            "the paper does not say whether it means the research machines too. By the table the overheads are a quarter of T on the J-Machine and a third of it on Monsoon, whose network interfaces were \
             built for small overheads",
        );
    let quote = "Although a significant improvement over the commercial machines, the overhead is still a significant fraction of the \
                 communication time.";
    let what = "the overheads' part of T, the three research machines";
    let research = parts[2..5].iter().copied();
    sheet.add_claim(what, "5.2", quote, above(SMALL).because(SCALE), research);
    let lines = ROWS.iter().enumerate().map(|(number, row)| {
        let over = (1..=24).map(f64::from).map(|H| (H, row.time(H))).collect();
        PlotLine::new(row.name, number, Look::Line, over)
    });
    let own = ROWS.iter().map(|row| (row.hops, row.time(row.hops))).collect();
    let plot =
        Plot::new("A message of 160 bits over the distance that it goes", "T(M, H) of table 1's machines")
            .x("distance H [links]", Scale::Linear)
            .y("T(M, H) [cycles]", Scale::Log)
            .lines(lines.chain([PlotLine::new("the table's H", 0, Look::Rings, own)]));
    sheet.add_plot("", "T(M, H) over the distance H; the rings are at the table's own H and T.", plot);
    Ok(())
}

/// Adds the rows of the column H: section 5.1 has averages of the same networks.
fn show_distances(sheet: &mut Sheet) {
    let average = |name: &str| {
        let topology = TOPOLOGIES.iter().find(|topology| topology.name == name);
        (topology.expect("it is one of them").average)(1024.0)
    };
    let cut = "the two tables contradict each other: section 5.1 has another average for the same network";
    for (machines, network, printed) in [
        ("nCUBE/2, nCUBE/2 (AM)", "hypercube", "5"),
        ("CM-5, CM-5 (AM)", "4-ary fat tree", "9.3"),
        ("Dash", "3d torus", "6.8"),
        ("J-Machine", "3d mesh", "12.1"),
        ("Monsoon", "butterfly", "5"),
    ] {
        let what = format!("H of {machines}: section 5.1's average of a {network} of 1,024 processors");
        let numbers = machines.split(", ").count();
        let row = sheet
            .add_number(what, "table 1", printed, average(network))
            .of_numbers(numbers)
            .with_repeats(numbers - 1);
        match machines {
            "Monsoon" => row.expect_difference(
                DifferenceCause::Reading,
                "the paper does not say how many links a switch has: with four, log4 1,024 is 5",
                "section 5.1 has log P for a butterfly, which is 10 with switches of two links on each side. With switches of four links \
                 it is log4 P, which is 5. The paper does not say which switches Monsoon has",
            ),
            "Dash" => row.expect_difference(
                DifferenceCause::Reading,
                "table 1 calls Dash's network a torus, and not of how many dimensions: a 3d one is our reading",
                "the column is an average among 1,024 processors, and the table says torus. A 3d torus is the nearest of section 5.1's \
                 networks, and its formula makes another average. The paper does not say where the column's value comes from",
            ),
            "J-Machine" => row.expect_difference(
                DifferenceCause::Misprint,
                cut,
                "the column is headed as an average among 1,024 processors, and section 5.1 has a formula for that, by which it is another. \
                 The paper does not say where the column's value comes from",
            ),
            _ => row,
        };
    }
}
