//! `loggp record`, as far as it goes without MPI. `.ci/mpi` records programs.

use std::fs;

use crate::requests::{folder, refusal, stdout_of};

const RING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/ring.mpi");

#[test]
fn a_recording_is_listed() {
    let list = stdout_of(&format!("record --list {RING}"));
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].starts_with("# ") && lines[0].ends_with(", Open MPI v4.1.4, ranks=4"), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 4 * 22);
    let of = |rank: &str, what: &str| {
        let begin = format!("{rank} ");
        lines.iter().filter(|line| line.starts_with(&begin) && line.contains(what)).count()
    };
    for rank in ["0", "1", "2", "3"] {
        for (what, count) in [
            (" recv from=", 5),
            (" send mode=standard to=", 5),
            (" wait request=", 5),
            (" allreduce comm=0 sent=8 received=8 at=main file=./ring.c:31", 5),
            (" at=relax file=./ring.c:", 15),
            (" finalize", 1),
        ] {
            assert_eq!(of(rank, what), count, "{rank} {what}: {list}");
        }
    }
}

#[test]
fn a_wrong_request_to_record_is_refused() {
    let folder = folder("records");
    let file = |name: &str| folder.join(name).display().to_string();
    fs::write(folder.join("text"), "no recording\n").unwrap();
    let ring = fs::read(RING).unwrap();
    let at = ring.windows(8).position(|bytes| bytes == b"LOGGPREC").unwrap();
    fs::write(folder.join("rank.0"), &ring[at..]).unwrap();
    for (line, why) in [
        ("record".into(), "where is it to be written? give -o FILE"),
        (format!("record -o {}", file("a.mpi")), "what is to be recorded? give a command"),
        (format!("record --merge -o {}", file("a.mpi")), "which files? give those of all ranks"),
        (format!("record -o {} -- {}", file("a.mpi"), file("none")), "there is no program"),
        (format!("record --merge -o {} {}", file("a.mpi"), file("text")), "this is not the file of a rank"),
        (
            format!("record --merge -o {} {}", file("a.mpi"), file("rank.0")),
            "the file of rank 1 of 4 is missing",
        ),
        (format!("record --list {}", file("text")), "this is not a program that loggp recorded"),
        (format!("record --list {}", file("none")), "it cannot be read"),
        (format!("record --list {}", file("rank.0")), "`loggp record --merge -o run.mpi FILES` makes one"),
        (format!("record --build --mpicc {}", file("none")), "cannot be started"),
    ] {
        let said = refusal(&line);
        assert!(said.contains(why), "{line}: {said}");
    }
    assert!(!folder.join("a.mpi").exists());
}
