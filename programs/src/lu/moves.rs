//! The moves of rows when pivot rows take their places.

/// The move of a row's numbers to another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// Row of the numbers before.
    pub from: usize,
    /// Row of the numbers after.
    pub to: usize,
}

/// Returns the moves of all rows when the rows of a panel, which begins at row `k`, change places with these
/// pivots one after the other; in the order of their new places.
pub(super) fn moves(k: usize, pivots: &[usize]) -> Vec<Move> {
    let mut rows: Vec<usize> = (k..k + pivots.len()).chain(pivots.iter().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut from = rows.clone();
    let place = |row: usize| rows.binary_search(&row).expect("every row that moves is listed");
    for (j, pivot) in pivots.iter().enumerate() {
        from.swap(place(k + j), place(*pivot));
    }
    let moves = rows.iter().zip(from).map(|(to, from)| Move { from, to: *to });
    moves.filter(|Move { from, to }| from != to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_the_exchanges_one_after_the_other() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (n, k) = (12, rng.usize(0..6));
            let pivots: Vec<usize> = (k..k + rng.usize(1..5)).map(|row| rng.usize(row..n)).collect();
            let mut rows: Vec<usize> = (0..n).collect();
            pivots.iter().enumerate().for_each(|(j, pivot)| rows.swap(k + j, *pivot));
            let mut moved: Vec<usize> = (0..n).collect();
            for Move { from, to } in moves(k, &pivots) {
                moved[to] = from;
            }
            assert_eq!(moved, rows, "k = {k}, pivots {pivots:?}");
        }
    }
}
