//! Collectives as libraries of MPI do them.

use serde_json::Value;

use crate::requests::{refusal, rows};

fn time(row: &Value) -> f64 {
    row["time_ns"].as_f64().unwrap_or_else(|| panic!("{row}"))
}

/// What a library takes is in the list of all ways to do a collective, and is one of the others, which is named.
#[test]
fn tuning_lists_what_libraries_take() {
    for line in [
        "bcast -P 9 --size 5000 --params L=6us,o=2us,g=4us,G=0.1us",
        "allreduce -P 8 --size 4k --machine myrinet --ports dual",
        "barrier -P 6",
    ] {
        let all = rows(&format!("tune collective {line} --all"));
        for library in ["openmpi", "mpich"] {
            let kind = line.split(' ').next().unwrap();
            let its = all.iter().find(|row| row["schedule"] == format!("{kind}:{library}")).unwrap();
            let ran = its["ran"].as_str().unwrap();
            let same = all.iter().find(|row| row["schedule"] == format!("{kind}:{ran}")).unwrap();
            assert_eq!(time(same), time(its), "{line}: {its}");
            let command = its["command"].as_str().unwrap().strip_prefix("loggp ").unwrap();
            assert_eq!(time(&rows(command)[0]), time(its), "{command}");
        }
    }
    let tuned = rows("tune collective allreduce -P 16 --machine cm5");
    for library in ["openmpi", "mpich"] {
        let its = tuned.iter().find(|row| row["schedule"] == format!("allreduce:{library}")).unwrap();
        assert_eq!(its["ran"], "recursive-doubling");
    }
}

/// The libraries are named where a name is wrong.
#[test]
fn a_refusal_names_the_libraries() {
    let sentence = refusal("schedule bcast:tree");
    assert!(sentence.ends_with("chain-swapped, openmpi or mpich"), "{sentence}");
    let sentence = refusal("schedule all-reduce");
    assert!(sentence.contains("for the collective there is allreduce:openmpi, say;"), "{sentence}");
}
