//! The programs' numerical kernels.

use loggp_programs::math::product::subtract_product;
use ndarray::{Array2, ShapeBuilder, s};

/// Parts of larger matrices, stored by rows and by columns, of small sizes and some larger ones.
#[test]
fn a_product_is_subtracted_from_its_part_only() {
    let sizes = [0, 1, 2, 3, 7, 8, 9, 17, 65];
    for (rows, inner, columns) in
        sizes.iter().flat_map(|r| sizes.iter().flat_map(move |i| sizes.map(|c| (*r, *i, c))))
    {
        for by_columns in [false, true] {
            let matrix = |rows: usize, columns: usize, factor: usize| {
                let entry = |(i, j): (usize, usize)| ((i * factor + j * 3) % 11) as f64 - 5.0;
                Array2::from_shape_fn((rows, columns).set_f(by_columns), entry)
            };
            let (before, l, u) =
                (matrix(rows + 2, columns + 3, 5), matrix(rows, inner, 7), matrix(inner, columns, 2));
            let mut a = before.clone();
            subtract_product(a.slice_mut(s![1..rows + 1, 2..columns + 2]), l.view(), u.view());
            for ((i, j), value) in a.indexed_iter() {
                let inside = (1..rows + 1).contains(&i) && (2..columns + 2).contains(&j);
                let taken: f64 =
                    if inside { (0..inner).map(|m| l[(i - 1, m)] * u[(m, j - 2)]).sum() } else { 0.0 };
                assert_eq!(*value, before[(i, j)] - taken, "{rows} {inner} {columns} at {i}, {j}");
            }
        }
    }
}
