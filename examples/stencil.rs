//! Heat spreads along a rod. Each processor has a piece of it, and in every step sends its neighbours the
//! temperatures at its ends.

use loggp::{Machine, NS, Params, RunError, Tag, US};

/// The temperatures at the ends of pieces, sent to the left and to the right.
const LEFTWARD: Tag<f64> = Tag::named(0, "leftward");
const RIGHTWARD: Tag<f64> = Tag::named(1, "rightward");

const CELLS: usize = 64; // of each processor
const STEPS: usize = 100;

/// Returns the temperatures after a step, given those beyond both ends.
fn step(left: f64, rod: &[f64], right: f64) -> Vec<f64> {
    let at = |i: usize| if i == 0 { left } else { *rod.get(i - 1).unwrap_or(&right) };
    (1..=rod.len()).map(|i| at(i) + 0.25 * (at(i - 1) - 2.0 * at(i) + at(i + 1))).collect()
}

pub fn main() -> Result<(), RunError> {
    let params @ Params { P, L, o, g, .. } = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
    let cell = 100 * NS; // the cost of a new temperature
    let mut rod = vec![0.0; P * CELLS];
    rod[P * CELLS / 2] = 1000.0;

    let run = Machine::new(params).rate("cell", cell).run(|p| {
        let (id, last) = (p.id(), p.P() - 1);
        let mut piece = rod[id * CELLS..][..CELLS].to_vec();
        for _ in 0..STEPS {
            if id > 0 {
                p.send(id - 1, LEFTWARD, piece[0]);
            }
            if id < last {
                p.send(id + 1, RIGHTWARD, piece[CELLS - 1]);
            }
            // Both ends of the rod stay cold.
            let right = if id < last { p.recv(LEFTWARD.from(id + 1)) } else { 0.0 };
            let left = if id > 0 { p.recv(RIGHTWARD.from(id - 1)) } else { 0.0 };
            piece = p.work("cell", CELLS as u64, || step(left, &piece, right));
        }
        piece
    })?;

    let alone = (0..STEPS).fold(rod.clone(), |rod, _| step(0.0, &rod, 0.0));
    assert_eq!(run.results.concat(), alone); // to the last bit
    let one = o + L + g + o + CELLS as i64 * cell; // two messages arrive a gap apart
    println!("{STEPS} steps of {} cells on {P} processors take {}, {one} each", rod.len(), run.time);
    println!("one processor would take {}", (STEPS * rod.len()) as i64 * cell);
    println!("the hottest cell has {:.1} of 1000", alone.iter().copied().fold(0.0, f64::max));
    assert_eq!(run.time, STEPS as i64 * one);
    Ok(())
}
