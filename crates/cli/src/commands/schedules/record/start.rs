//! Starts a program so that its ranks load the recorder, and nothing else does, where that can be said.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::attend::{self, End};
use super::library;
use crate::error::{CliError, system_reason};
use crate::host::executable::find_program;

/// The launcher of the ranks, which hands the recorder to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Launcher {
    OpenMpi,
    /// Hydra, that of MPICH.
    Hydra,
    Slurm,
    /// None that is known: what it starts inherits its environment.
    Other,
}

/// Returns the MPI of the program that a command starts, as the recorder names it, if it is known.
pub(crate) fn mpi_of_command(words: &[OsString]) -> Option<&'static str> {
    let of_program = || words.iter().find_map(|word| mpi_of(&find_program(word)?));
    find_launcher(words).1.mpi().or_else(of_program)
}

/// Runs the command to its end. Its ranks load the library, and have `variables`; the command itself has `settings` of its MPI.
pub(crate) fn run(
    words: &[OsString],
    variables: impl IntoIterator<Item = (&'static str, OsString)>,
    settings: &[(&str, &str)],
) -> Result<End, CliError> {
    if find_program(&words[0]).is_none() {
        let name = words[0].to_string_lossy();
        return Err(CliError::Request(format!(
            "there is no program {name}; give the command that starts yours"
        )));
    }
    let (at, launcher) = find_launcher(words);
    let library = library::find(mpi_of_command(words))?;
    let mut preload = library.into_os_string();
    if let Some(before) = env::var_os("LD_PRELOAD").filter(|before| !before.is_empty()) {
        preload.push(":");
        preload.push(before);
    }
    let variables: Vec<(&str, OsString)> = [("LD_PRELOAD", preload)].into_iter().chain(variables).collect();
    let mut words = words.to_vec();
    let mut command;
    match launcher {
        Launcher::Other => {
            command = Command::new(&words[0]);
            command.args(&words[1..]).envs(variables);
        }
        launcher => {
            add_variables(&mut words, at, launcher, &variables);
            command = Command::new(&words[0]);
            command.args(&words[1..]);
        }
    }
    attend::run(command.envs(settings.iter().copied())).map_err(|error| {
        CliError::Request(format!(
            "{} cannot be started: {}",
            words[0].to_string_lossy(),
            system_reason(&error)
        ))
    })
}

/// Adds what hands the variables to the ranks, behind the launcher's name, and for Open MPI at each further program.
fn add_variables(words: &mut Vec<OsString>, at: usize, launcher: Launcher, variables: &[(&str, OsString)]) {
    let pair = |name: &str, value: &OsString| {
        let mut pair = OsString::from(name);
        pair.push("=");
        pair.push(value);
        pair
    };
    let added: Vec<OsString> = match launcher {
        Launcher::Hydra => variables
            .iter()
            .flat_map(|(name, value)| ["-genv".into(), OsString::from(name), value.clone()])
            .collect(),
        Launcher::Slurm => {
            let mut export = OsString::from("--export=ALL");
            for (name, value) in variables {
                export.push(",");
                export.push(pair(name, value));
            }
            vec![export]
        }
        _ => variables.iter().flat_map(|(name, value)| ["-x".into(), pair(name, value)]).collect(),
    };
    let mut places: Vec<usize> = vec![at];
    if launcher == Launcher::OpenMpi {
        places.extend((at + 1..words.len()).filter(|&at| words[at] == ":"));
    }
    for place in places.into_iter().rev() {
        words.splice(place + 1..place + 1, added.iter().cloned());
    }
}

impl Launcher {
    /// Returns the MPI that the launcher belongs to, as the recorder names it, if it belongs to one.
    pub(crate) fn mpi(self) -> Option<&'static str> {
        match self {
            Launcher::OpenMpi => Some("openmpi"),
            Launcher::Hydra => Some("mpich"),
            Launcher::Slurm | Launcher::Other => None,
        }
    }
}

/// Finds the word that starts ranks, such as mpirun behind timeout, and whose it is.
pub(crate) fn find_launcher(words: &[OsString]) -> (usize, Launcher) {
    for (at, word) in words.iter().enumerate() {
        let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "srun" {
            return (at, Launcher::Slurm);
        }
        let is_launcher = ["mpirun", "mpiexec", "orterun", "prterun", "prun"].iter().any(|known| {
            name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
        });
        if is_launcher {
            return (at, version_of(word).unwrap_or(Launcher::Other));
        }
    }
    (0, Launcher::Other)
}

/// Asks a launcher whose it is.
fn version_of(launcher: &OsStr) -> Option<Launcher> {
    let said = Command::new(launcher).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).to_lowercase();
    if ["open mpi", "openrte", "prte", "prrte"].iter().any(|name| said.contains(name)) {
        Some(Launcher::OpenMpi)
    } else if ["hydra", "mpich", "intel(r) mpi"].iter().any(|name| said.contains(name)) {
        Some(Launcher::Hydra)
    } else {
        None
    }
}

/// Returns whose MPI a program is linked with, by the libraries that it names.
fn mpi_of(program: &Path) -> Option<&'static str> {
    let bytes = fs::read(program).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
    let names = |name: &&str| bytes.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    // Programs in Fortran may name the libraries of its bindings alone.
    let open_mpi = ["libmpi.so.40", "libmpi.so.80", "libmpi_mpifh.so", "libmpi_usempi"];
    let mpich =
        ["libmpich.so", "libmpi.so.12", "libmpi_cray", "libmpi_gnu", "libmpichfort.so", "libmpifort.so"];
    if open_mpi.iter().any(names) {
        Some("openmpi")
    } else if mpich.iter().any(names) {
        Some("mpich")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_of_a_program_is_known_by_the_libraries_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let of = |bytes: &[u8]| {
            let program = folder.path().join("app");
            fs::write(&program, bytes).unwrap();
            mpi_of(&program)
        };
        assert_eq!(of(b"\x7fELF...libmpi.so.40\0libc.so.6"), Some("openmpi"));
        assert_eq!(of(b"\x7fELF...libmpi_mpifh.so.40\0libgfortran.so.5"), Some("openmpi"));
        assert_eq!(of(b"\x7fELF...libmpichfort.so.12\0"), Some("mpich"));
        assert_eq!(of(b"\x7fELF...libmpi.so.12\0"), Some("mpich"));
        assert_eq!(of(b"\x7fELF...libc.so.6\0"), None);
        assert_eq!(of(b"#!/bin/sh\nlibmpi.so.40"), None);
    }
}
