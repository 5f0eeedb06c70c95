//! What a build without annexes says of what they have.

use crate::requests::{assert_refused, stdout_of};

/// It names the feature that has it, for a subcommand and for a file alike, and the help lists it apart.
#[test]
fn what_a_build_does_not_have_is_said() {
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/ring.mpi");
    let without = |feature: &str| {
        format!(
            "this command was built without the feature {feature}; `cargo install loggp-cli --features {feature}` has it"
        )
    };
    let help = stdout_of("--help");
    if !cfg!(feature = "papers") {
        let absent = format!("`loggp reproduce` is not here: {}", without("papers"));
        assert_refused(&[("reproduce logp-fig3", &*absent)]);
        assert!(help.contains("\nNot in this build:\n  reproduce"), "{help}");
    }
    if !cfg!(feature = "mpi") {
        for (line, name) in [
            ("record --list x.mpi", "record"),
            ("emulate -- mpirun -n 2 ./app", "emulate"),
            ("check -- mpirun -n 2 ./app", "check -n 4 ./app"),
            ("check -n 2 ./app", "check -n 4 ./app"),
            ("mpi2goal x", "mpi2goal"),
        ] {
            assert_refused(&[(line, &*format!("`loggp {name}` is not here: {}", without("mpi")))]);
        }
        for name in ["bcast:openmpi", "barrier:mpich", "allreduce:nonoverlapping"] {
            let said = format!("{name} takes what a library of MPI chooses, and {}", without("mpi"));
            assert_refused(&[(format!("schedule {name}"), &*said), (format!("replay {name}"), &*said)]);
        }
        let tuned = stdout_of("tune collective allreduce");
        assert!(tuned.contains("; Open MPI's and MPICH's choices are not compared: this command"), "{tuned}");
        assert!(
            !tuned.contains("nonoverlapping")
                && stdout_of("schedule --help").contains("bcast:mpich (feature mpi).")
        );
        for verb in ["replay", "analyze", "tolerance", "timeline"] {
            let said = format!("`loggp record` wrote this file, and {}", without("mpi"));
            assert_refused(&[(format!("{verb} {ring}"), &*said)]);
        }
    }
    assert_eq!(help.contains("Not in this build"), !cfg!(feature = "full"));
}
