//! Starts a program so that its ranks load the recorder, and nothing else does, where that can be said.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::attend::{self, End};
use super::library;
use loggp_command::error::{CliError, system_reason};
use loggp_command::host::executable::find_program;

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
    find_launcher(words).1.mpi().or_else(|| find_mpi(words).map(|(_, mpi)| mpi))
}

/// Returns the MPI with which a program is linked, as the recorder names it, if it is known.
pub(crate) fn mpi_of_program(program: &OsStr) -> Option<&'static str> {
    mpi_of(&find_program(program)?)
}

/// Returns the first program among the words that is linked with an MPI, and whose that is.
fn find_mpi(words: &[OsString]) -> Option<(&OsString, &'static str)> {
    words.iter().find_map(|word| Some((word, mpi_of(&find_program(word)?)?)))
}

/// A command that starts a program, whose ranks load the library.
pub(crate) struct Launch {
    words: Vec<OsString>,
    /// The word that starts the ranks.
    at: usize,
    launcher: Launcher,
    preload: OsString,
}

impl Launch {
    /// Finds out whose the launcher is, and the library for its MPI.
    pub(crate) fn prepare(words: &[OsString]) -> Result<Launch, CliError> {
        Launch::with_launcher(words, find_launcher(words))
    }

    /// Finds the library for the MPI of a program that is started without a launcher.
    pub(crate) fn prepare_alone(words: &[OsString]) -> Result<Launch, CliError> {
        Launch::with_launcher(words, (0, Launcher::Other))
    }

    fn with_launcher(words: &[OsString], (at, launcher): (usize, Launcher)) -> Result<Launch, CliError> {
        if find_program(&words[0]).is_none() {
            let name = words[0].to_string_lossy();
            return Err(CliError::Request(match name.starts_with('-') {
                true => format!("there is no option {name}; --help lists those that there are"),
                false => format!("there is no program {name}; give the command that starts yours"),
            }));
        }
        let program = find_mpi(&words[at + usize::from(launcher.mpi().is_some())..]);
        if let (Some(starts), Some((word, mpi))) = (launcher.mpi(), program)
            && starts != mpi
        {
            return Err(CliError::Request(format!(
                "{} is a program of {mpi}, and {} starts those of {starts}; take the launcher of the program's MPI",
                word.display(),
                words[at].display()
            )));
        }
        let mpi = launcher.mpi().or(program.map(|(_, mpi)| mpi));
        let mut preload = library::find(mpi)?.into_os_string();
        if let Some(before) = env::var_os("LD_PRELOAD").filter(|before| !before.is_empty()) {
            preload.push(":");
            preload.push(before);
        }
        Ok(Launch { words: words.to_vec(), at, launcher, preload })
    }

    /// Returns the command. Its ranks have `variables`, and the launcher `settings` of its MPI.
    pub(crate) fn command(
        &self,
        variables: impl IntoIterator<Item = (&'static str, OsString)>,
        settings: &[(&str, &str)],
    ) -> Command {
        let preload = [("LD_PRELOAD", self.preload.clone())];
        let variables: Vec<(&str, OsString)> = preload.into_iter().chain(variables).collect();
        let mut words = self.words.clone();
        let is_known = self.launcher != Launcher::Other;
        if is_known {
            add_variables(&mut words, self.at, self.launcher, &variables);
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(settings.iter().copied());
        command.envs(variables.into_iter().filter(|_| !is_known));
        command
    }

    /// Runs the command to its end, with what it prints to go there.
    pub(crate) fn run(
        &self,
        variables: impl IntoIterator<Item = (&'static str, OsString)>,
        settings: &[(&str, &str)],
        stdout: Stdio,
    ) -> Result<End, CliError> {
        let mut command = self.command(variables, settings);
        attend::run(command.stdout(stdout)).map_err(|error| self.refusal(&error))
    }

    /// Returns the error of a command that cannot be started.
    pub(crate) fn refusal(&self, error: &io::Error) -> CliError {
        CliError::Request(format!(
            "{} cannot be started: {}",
            self.words[0].to_string_lossy(),
            system_reason(error)
        ))
    }
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
    let mut ends: Vec<usize> = vec![at];
    if launcher == Launcher::OpenMpi {
        ends.extend((at + 1..words.len()).filter(|&at| words[at] == ":"));
    }
    for end in ends.into_iter().rev() {
        words.splice(end + 1..end + 1, added.iter().cloned());
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
    const BEGIN: &[u8] = b"\0libmpi";
    let ends = bytes.windows(BEGIN.len()).enumerate().filter(|(_, begin)| *begin == BEGIN);
    let ends: Vec<&[u8]> = ends.map(|(at, _)| &bytes[at + BEGIN.len()..]).collect();
    let names = |end: &&str| ends.iter().any(|bytes| bytes.starts_with(end.as_bytes()));
    // Programs in Fortran may name the libraries of its bindings alone.
    let open_mpi = [".so.40", ".so.80", "_mpifh.so", "_usempi"];
    let mpich = ["ch.so", ".so.12", "_cray", "_gnu", "chfort.so", "fort.so"];
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
        assert_eq!(of(b"\x7fELF...\0libmpi.so.40\0libc.so.6"), Some("openmpi"));
        assert_eq!(of(b"\x7fELF...\0libmpi_mpifh.so.40\0libgfortran.so.5"), Some("openmpi"));
        assert_eq!(of(b"\x7fELF...\0libmpichfort.so.12\0"), Some("mpich"));
        assert_eq!(of(b"\x7fELF...\0libmpi.so.12\0"), Some("mpich"));
        assert_eq!(of(b"\x7fELF...libc.so.6\0"), None);
        assert_eq!(of(b"#!/bin/sh\nlibmpi.so.40"), None);
    }
}
