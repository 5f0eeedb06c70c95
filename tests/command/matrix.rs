//! `loggp matrix`: the matrices of the transportation primitive.

use crate::requests::{assert_refused, row, stdout_of};

#[test]
fn matrix_shows_matrices() {
    let right = "\
figure-9: P = 4, r = 17, c = 17, t = 17, f = 4, g = 4, h = 4
all-to-many, not uniform, equal traffic

     P0  P1  P2  P3  r_i  f_i
 P0  11   1   4   1   17    4
 P1   2       3  12   17    3
 P2   3  10   3   1   17    4
 P3   1   6   7   3   17    4
c_j  17  17  17  17
g_j   4   3   4   4
";
    assert_eq!(stdout_of("matrix figure-9"), right);

    // The CSV output can be read, drawn and run.
    let folder = tempfile::tempdir().unwrap();
    let (file, plot) = (folder.path().join("m.csv"), folder.path().join("m.svg"));
    let (file_name, plot_name) = (file.display(), plot.display());
    let csv = stdout_of("matrix random -P 5 --outgoing 50 --incoming 30 --format csv");
    std::fs::write(&file, &csv).unwrap();
    assert_eq!(stdout_of(&format!("matrix {file_name} --format csv -o {plot_name}")), csv);
    let picture = std::fs::read_to_string(&plot).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("r = 50, c = 30, t = 50"));
    let shown = row(&format!("matrix {file_name}"));
    assert_eq!(
        (&shown["r"], &shown["c"], shown["rows"].as_array().unwrap().len()),
        (&50.into(), &30.into(), 5)
    );
    let run = row(&format!("run transportation two-stage-alternate --matrix {file_name} -P 5"));
    assert_eq!(run["verified"], true);

    assert_refused(&[
        (format!("matrix {file_name} -P 6"), "it is for 5 processors, and there are 6; give -P 5"),
        (format!("run transportation --matrix {file_name} -P 4"), "give -P 5"),
    ]);
    for (text, why) in [
        ("1,2\n3\n", "row 1 of"),
        ("1,x\n3,4\n", "has \"x\" in row 0, column 1; give whole numbers up to"),
        ("1,-2\n3,4\n", "has \"-2\""),
        ("\n", "has no line; give a line of numbers for each processor"),
    ] {
        std::fs::write(&file, text).unwrap();
        assert_refused(&[(format!("matrix {file_name}"), why)]);
    }
}
