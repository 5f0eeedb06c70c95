//! The library that is preloaded: built, and found again.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use loggp_mpi_trace::recorder::{SOURCE, built_for};

use loggp_command::error::{CliError, system_reason};
use loggp_command::host::folder::own_folder;

/// The variable that names a library, or a folder with libraries.
pub(crate) const VARIABLE: &str = "LOGGP_MPI_RECORDER";

/// The kinds of MPI for which there are libraries, as the recorder names them.
const MPIS: [&str; 3] = ["openmpi", "mpich", "mpi"];

/// Builds the library with a compiler, and puts it into a folder, that of this command unless one is given.
pub(crate) fn build(mpicc: &OsStr, folder: Option<&Path>, out: &mut dyn Write) -> Result<(), CliError> {
    let name = mpicc.to_string_lossy();
    let io =
        |what: &str, error: std::io::Error| CliError::Request(format!("{what}: {}", system_reason(&error)));
    let scratch = tempfile::tempdir().map_err(|error| io("no folder to build in can be made", error))?;
    for (file, text) in SOURCE {
        let path = scratch.path().join(file);
        fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| io("the source cannot be written", error))?;
    }
    let built = scratch.path().join("libloggp-mpi.so");
    let mut compiler = Command::new(mpicc);
    compiler.args(["-O2", "-fPIC", "-shared", "-o"]).arg(&built);
    let compiled = SOURCE.iter().map(|(file, _)| scratch.path().join(file));
    compiler.args(compiled.filter(|file| file.extension().is_some_and(|end| end == "c")));
    let done = compiler.output().map_err(|error| {
        let install = "give the compiler of your MPI with --mpicc";
        CliError::Request(format!("{name} cannot be started: {error}; {install}"))
    })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().find(|line| line.contains("error")).or(said.lines().next());
        return Err(CliError::Request(format!(
            "{name} does not compile the recorder: {}",
            first.unwrap_or("it says no reason")
        )));
    }
    let library = fs::read(&built).map_err(|error| io("the library cannot be read", error))?;
    let file = file_name(built_for(&library).unwrap_or("mpi"));
    let folder = match folder {
        Some(folder) => folder.to_path_buf(),
        None => own_folder()
            .ok_or_else(|| CliError::request("this command's folder is not known; give -o FOLDER"))?,
    };
    let target = folder.join(file);
    // One that a program has loaded is not written over, but replaced.
    let draft = fs::create_dir_all(&folder).and_then(|()| tempfile::NamedTempFile::new_in(&folder));
    let written = draft.and_then(|mut draft| {
        draft.write_all(&library)?;
        set_permissions(draft.path())?;
        draft.persist(&target).map_err(|error| error.error)
    });
    written.map_err(|error| {
        CliError::Request(format!(
            "{} cannot be written: {}; give -o FOLDER, and that folder in {VARIABLE} when you record",
            target.display(),
            system_reason(&error)
        ))
    })?;
    writeln!(out, "{} records programs of the MPI of {name}", target.display())?;
    Ok(())
}

#[cfg(unix)]
fn set_permissions(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_permissions(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Returns the name of the library for an MPI.
fn file_name(mpi: &str) -> String {
    format!("libloggp-mpi-{mpi}.so")
}

/// Finds the library for an MPI: `openmpi`, `mpich`, or `None` if it is not known which it is.
pub(crate) fn find(mpi: Option<&str>) -> Result<PathBuf, CliError> {
    let given = env::var_os(VARIABLE).map(PathBuf::from);
    if let Some(given) = &given
        && given.is_file()
    {
        return given.canonicalize().map_err(|error| {
            CliError::Request(format!("{VARIABLE} is {}, which cannot be read: {error}", given.display()))
        });
    }
    let Some(folder) = given.clone().or_else(own_folder) else {
        return Err(CliError::Request(format!("this command's folder is not known; set {VARIABLE}")));
    };
    if given.is_some() && !folder.is_dir() {
        return Err(CliError::Request(format!(
            "{VARIABLE} is {}, which does not exist; name a library that `loggp record --build` built, or its folder",
            folder.display()
        )));
    }
    let Some(mpi) = mpi else {
        // If there is only one, it is meant.
        let built: Vec<PathBuf> =
            MPIS.iter().map(|mpi| folder.join(file_name(mpi))).filter(|path| path.is_file()).collect();
        return match &built[..] {
            [path] => Ok(path.canonicalize().unwrap_or_else(|_| path.clone())),
            _ => Err(CliError::Request(format!(
                "it is not seen which MPI the program uses; name the library in {VARIABLE}, such as {}",
                folder.join(file_name("mpich")).display()
            ))),
        };
    };
    match [file_name(mpi), file_name("mpi")].iter().map(|name| folder.join(name)).find(|path| path.is_file())
    {
        Some(path) => path
            .canonicalize()
            .map_err(|error| CliError::Request(format!("{} cannot be read: {error}", path.display()))),
        None => Err(CliError::Request(format!(
            "there is no {} in {}: `loggp record --build --mpicc mpicc` builds it, with the mpicc of that MPI",
            file_name(mpi),
            folder.display()
        ))),
    }
}
