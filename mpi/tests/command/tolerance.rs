//! `loggp tolerance` of recordings: what the program did that its schedule does not say.

use serde_json::Value;

use crate::requests::{answer, row, stdout_of};

/// The percentages of which a report says how much more of a parameter the run tolerates.
const PARTS: [u32; 3] = [1, 2, 5];

/// What a program tolerates that exchanged messages without the recording having them is not known. The table says so, and has
/// no number in its place.
#[test]
fn one_sided_programs_have_no_answer() {
    let file = recording("unmodelled");
    let line = format!("tolerance {file} --params L=5us,o=1us,g=2us");
    let (status, table, warnings) = answer(&line);
    assert!(status == Some(0) && warnings.contains("MPI_Put is not modelled: 6 calls are computing time"));
    let lines: Vec<&str> = table.lines().filter(|line| line.contains(" us  ")).collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines.iter().all(|line| line.matches("not known").count() == 3), "{table}");
    assert!(
        table.contains("\nnot known: 20 calls that are not modelled (6 MPI_Put, 4 MPI_Win_fence, "),
        "{table}"
    );
    assert!(!table.contains("critical path") && !table.contains("does not depend"), "{table}");
    let (_, rows, _) = answer(&format!("{line} --format json"));
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((&row["is_known"], &row["not_modelled"]["calls"]), (&false.into(), &20.into()));
    let share = row["not_modelled"]["share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
    for name in ["slope", "share", "known_until_ns", "pieces", "latencies"] {
        assert!(row[name].is_null(), "{name}: {row}");
    }
    assert!(PARTS.iter().all(|part| row[format!("bears_{part}_percent")]["more_ns"].is_null()), "{row}");
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("it.svg");
    let (status, _, why) = answer(&format!("{line} --parameter L -o {}", picture.display()));
    assert_eq!(status, Some(2));
    assert!(
        why.ends_with("error: there is no picture: how much the run tolerates is not known\n")
            && !picture.exists()
    );
}

/// Of a program whose tests all found something it is known what it tolerates, for this order only.
#[test]
fn looks_that_found_something_are_said() {
    let machine = "--params L=5us,o=1us,g=2us --parameter L --no-pieces";
    let line = |name| format!("tolerance {} {machine}", recording(name));
    let table = stdout_of(&line("requests"));
    assert!(
        table.contains(
            "\nonly for the order that was recorded: 73 looks (MPI_Test, MPI_Iprobe and the like) "
        )
    );
    assert!(!stdout_of(&line("unfinished")).contains("only for"));
    let row = row(&line("requests"));
    assert_eq!(
        (&row["is_known"], &row["looks"]["found"], &row["looks"]["in_vain"]),
        (&true.into(), &73.into(), &0.into())
    );
}

fn recording(name: &str) -> String {
    format!("{}/../../mpi/recordings/tests/recordings/{name}.mpi", env!("CARGO_MANIFEST_DIR"))
}
