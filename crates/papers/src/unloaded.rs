//! The time of a message through a network without load: LogP, section 5.2 and table 1.

/// A row of LogP's table 1: a machine's network. Times are in cycles of its hardware.
#[derive(Debug)]
pub struct UnloadedNetwork {
    /// Name of the machine in the paper.
    pub name: &'static str,
    /// Preset of `loggp machines` that is made of the row.
    pub preset: &'static str,
    /// Kind of network.
    pub network: &'static str,
    /// Width of a channel, w, in bits.
    pub width: u32,
    /// Overheads of sender and receiver together, Tsnd + Trcv.
    pub overheads: f64,
    /// Delay through each node on the way, r.
    pub delay: f64,
    /// Average distance among 1,024 processors, H, in links.
    pub hops: f64,
    /// Time of a message of 160 bits, as it is printed.
    pub printed: &'static str,
}

/// Length of the message in table 1, M, in bits.
pub const M: u32 = 160;

/// The rows of table 1.
pub static TABLE_1: [UnloadedNetwork; 7] = [
    row("nCUBE/2", "ncube2", "hypercube", 1, 6400.0, 40.0, 5.0, "6760"),
    row("CM-5", "cm5-cmmd", "fat tree", 4, 3600.0, 8.0, 9.3, "3714"),
    row("Dash", "dash", "torus", 16, 30.0, 2.0, 6.8, "53"),
    row("J-Machine", "j-machine", "3d mesh", 8, 16.0, 2.0, 12.1, "60"),
    row("Monsoon", "monsoon", "butterfly", 16, 10.0, 2.0, 5.0, "30"),
    row("nCUBE/2 (AM)", "ncube2-am", "hypercube", 1, 1000.0, 40.0, 5.0, "1360"),
    row("CM-5 (AM)", "cm5-am", "fat tree", 4, 132.0, 8.0, 9.3, "246"),
];

/// Makes a row, with the table's columns from w to T(M = 160).
#[allow(clippy::too_many_arguments)] // as many as the table has columns
const fn row(
    name: &'static str,
    preset: &'static str,
    network: &'static str,
    width: u32,
    overheads: f64,
    delay: f64,
    hops: f64,
    printed: &'static str,
) -> UnloadedNetwork {
    UnloadedNetwork { name, preset, network, width, overheads, delay, hops, printed }
}

impl UnloadedNetwork {
    /// Returns T(M, H) = Tsnd + ceil(M/w) + H r + Trcv, in cycles: the time of a message of M bits over H
    /// links.
    pub fn time(&self, bits: u32, hops: f64) -> f64 {
        self.overheads + f64::from(bits.div_ceil(self.width)) + hops * self.delay
    }
}
