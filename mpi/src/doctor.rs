//! What `loggp doctor` says of this computer and MPI.

use loggp_command::host::executable::find_program;
use loggp_command::number::count;
use loggp_command::tell::diagnosis::Diagnosis;

use crate::record::library;
use crate::record::start::{Launcher, find_launcher};

/// Returns what there is for MPI programs.
pub(crate) fn diagnoses() -> Vec<Diagnosis> {
    vec![mpi(), recorder(), emulate()]
}

/// Returns the launcher of MPI programs, if there is one.
fn launcher() -> Option<(&'static str, Launcher)> {
    let name = ["mpirun", "mpiexec", "srun"].into_iter().find(|name| find_program(name).is_some())?;
    Some((name, find_launcher(&[name.into()]).1))
}

fn mpi() -> Diagnosis {
    let built = cfg!(feature = "link");
    let (mut found, advice) = match launcher() {
        None => ("no mpirun, mpiexec or srun".to_string(), "nothing, unless you have MPI programs"),
        Some((name, launcher)) => {
            let path = find_program(name).unwrap_or_default();
            let whose = launcher.mpi().map_or(String::new(), |mpi| format!(" of {mpi}"));
            let advice = match built {
                true => "to measure it, mpirun -n 2 loggp calibrate --on mpi",
                false => {
                    "for --on mpi build this command with --features mpi-link, as docs/start/cluster.md says"
                }
            };
            (format!("{}{whose}", path.display()), advice)
        }
    };
    found += if built { "; this command can measure on it" } else { "; this command was built without" };
    Diagnosis { subject: "MPI", good: None, found, advice: advice.into() }
}

fn recorder() -> Diagnosis {
    let found = library::find(launcher().and_then(|(_, launcher)| launcher.mpi()));
    let (found, advice) = match found {
        Ok(path) => {
            (path.display().to_string(), "to use it, loggp record -o run.mpi -- mpirun -n 4 ./app".into())
        }
        Err(why) => {
            let why = why.into_sentence().unwrap_or_default();
            let (found, advice) = why.split_once(": ").or(why.split_once("; ")).unwrap_or((&why, ""));
            let build = "loggp record --build --mpicc mpicc builds it";
            let advice = if advice.is_empty() { build } else { advice };
            (found.to_string(), format!("to record MPI programs, {}", advice.replace('`', "")))
        }
    };
    Diagnosis { subject: "recorder", good: None, found, advice }
}

/// Says whether MPI programs can run on the machine.
fn emulate() -> Diagnosis {
    let (found, advice) = room_for_ranks().unwrap_or_else(|(found, advice)| (found.to_string(), advice));
    Diagnosis { subject: "emulate", good: None, found, advice: advice.into() }
}

/// Returns what there is for ranks that are emulated, or what is missing, with an advice.
#[cfg(target_os = "linux")]
fn room_for_ranks() -> Result<(String, &'static str), (&'static str, &'static str)> {
    let shared = rustix::fs::statvfs("/dev/shm");
    let shared = shared
        .map_err(|_| ("there is no /dev/shm", "mount a tmpfs there, by which the ranks share memory"))?;
    let (_, launcher) =
        launcher().ok_or(("no mpirun, mpiexec or srun", "nothing, unless you have MPI programs"))?;
    library::find(launcher.mpi())
        .map_err(|_| ("the library is missing, as the line above says", "build it as that line says"))?;
    let ranks = shared.f_bavail * shared.f_frsize / loggp_emulate::RANK_BYTES;
    let advice = match ranks {
        0..64 => "give /dev/shm more room: mount -o remount,size=256m /dev/shm",
        _ => "to use it, loggp emulate --machine cm5 -- mpirun -n 4 ./app",
    };
    let most = ranks.min(loggp_emulate::MOST_RANKS as u64);
    Ok((format!("room for {} in /dev/shm", count(most as usize, "rank")), advice))
}

#[cfg(not(target_os = "linux"))]
fn room_for_ranks() -> Result<(String, &'static str), (&'static str, &'static str)> {
    Err(("not on this system", "emulate MPI programs on Linux; recordings are replayed anywhere"))
}
