//! The exhibits of Karp et al., their machines in cycles, and the sequence f.
//!
//! The paper has theorems and no numbers, so most rows check a theorem by a search.

mod all_to_all;
mod broadcast;
mod combining;
mod p_of_t;
pub(crate) mod search;
mod summation;
#[cfg(test)]
mod tests;

use loggp::{Time, US};

use super::Paper;

pub(crate) static PAPER: Paper = Paper {
    name: "Karp et al.",
    folder: "karp",
    source: "Karp, Sahay, Santos, Schauser: \
             \"Optimal Broadcast and Summation in the LogP Model\", SPAA 1993",
    text: "Our text of it was taken out of the file that was printed, and has lost signs of its formulas. What is called a misprint here is \
           one of the text that we have.",
    exhibits: &[
        broadcast::BROADCAST,
        p_of_t::P_OF_T,
        summation::SUMMATION,
        all_to_all::ALL_TO_ALL,
        combining::COMBINING,
    ],
    inventory: include_str!("inventory.txt"),
    pins: [include_str!("pins.txt"), include_str!("pins-full.txt")],
};

/// L, o and g of the CM-5, in microseconds. A cycle lasts one here: the paper counts everything in cycles.
const CM5: [i64; 3] = [6, 2, 4];

/// Returns the name of a machine with these L, o and g.
fn machine_name([L, o, g]: [i64; 3]) -> String {
    format!("L = {L}, o = {o}, g = {g}")
}

/// Converts a time to cycles, which are whole here.
fn cycles(time: Time) -> i64 {
    time.as_ps() / US.as_ps()
}

/// Returns the sequence f_0 to f_t for a latency of L steps: 1 below L, and f_(i-1) + f_(i-L) from there on
/// (definition 3.6).
fn f(L: usize, t: usize) -> Vec<u64> {
    let mut f: Vec<u64> = Vec::with_capacity(t + 1);
    (0..=t).for_each(|i| f.push(if i < L { 1 } else { f[i - 1] + f[i - L] }));
    f
}

/// Returns the last t by which a broadcast has reached at most `most` processors.
fn last_step(L: usize, most: u64) -> usize {
    (0..).take_while(|t| f(L, *t)[*t] <= most).count() - 1
}
